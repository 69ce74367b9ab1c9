/*
 * What a run of the client cost, from its own report of tokens by model. The report does not say how long
 * what was written to the cache is kept; the usage of the last turn does, and is taken for all of them. Where
 * that is mixed, nobody knows.
 */
#include "claude/price.h"

#include "base/json.h"

static int64_t number(const struct json *j, uint32_t object, const char *key)
{
	int64_t n = 0;

	return json_to_i64(j, json_get(j, object, str_of(key)), &n) && n > 0 ? n : 0;
}

/* The kind of what was written to the cache; TOKEN_KINDS when there are two. */
static enum token_kind write_kind(struct str usage)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	uint32_t written;
	struct err ignored;
	int64_t hour;

	if (!usage.p || json_read(&j, usage, LIMIT_JSON_DEPTH, &ignored))
		return TOKENS_WRITE;
	written = json_get(&j, json_root(&j), STR("cache_creation"));
	hour = number(&j, written, "ephemeral_1h_input_tokens");
	if (!hour)
		return TOKENS_WRITE;
	return number(&j, written, "ephemeral_5m_input_tokens") ? TOKEN_KINDS : TOKENS_WRITE_1H;
}

static bool price_of_model(const struct prices *p, const struct json *j, uint32_t key, enum token_kind write,
			   int64_t at, int64_t *nano)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const struct price *price = price_find(p, json_string_in(j, key, &mem), at);
	int64_t tokens[TOKEN_KINDS] = { [TOKENS_INPUT] = number(j, key + 1, "inputTokens"),
					[TOKENS_OUTPUT] = number(j, key + 1, "outputTokens"),
					[TOKENS_READ] = number(j, key + 1, "cacheReadInputTokens") };
	int64_t written = number(j, key + 1, "cacheCreationInputTokens");

	if (!price || (written && write == TOKEN_KINDS))
		return false;
	if (written)
		tokens[write] = written;
	return price_of(price, tokens, false, nano);
}

bool price_of_run(const struct prices *p, struct str model_usage, struct str usage, int64_t at, int64_t *nano)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	enum token_kind write = write_kind(usage);
	struct err ignored;
	int64_t one;

	*nano = 0;
	if (!model_usage.p || json_read(&j, model_usage, LIMIT_JSON_DEPTH, &ignored) ||
	    !json_count(&j, json_root(&j)))
		return false;
	for (uint32_t k = json_first(&j, 0); k != json_end(&j, 0); k = json_next(&j, k + 1)) {
		if (!price_of_model(p, &j, k, write, at, &one))
			return false;
		*nano = money_add(*nano, one);
	}
	return true;
}
