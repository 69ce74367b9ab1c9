/*
 * Prices of models.
 *
 * Names of models in transcripts have vendors in front and dates behind them:
 * claude-sonnet-4-5-20250929, us.anthropic.claude-sonnet-4-20250514-v1:0,
 * claude-opus-4-1@20250805, claude-sonnet-4-5[1m]. plain_name() takes that off. What is left
 * must be in the list as a whole: claude-opus-4 says nothing about a claude-opus-4-9.
 *
 * Prices of the list are those of https://platform.claude.com/docs/en/about-claude/pricing;
 * batches, regions and what resellers take are not in them. Answers of models that are no
 * longer sold keep the price they had.
 */
#include "claude/price.h"

#include "base/json.h"

/* Dollars per million tokens, with at most three decimals, as pico-dollars a token. */
#define MILLI(x) ((int64_t)((x)*1000.0 + 0.5) * 1000)
#define TOKENS(input, output, write, write_1h, read) \
	{ \
		MILLI(input), MILLI(output), MILLI(write), MILLI(write_1h), MILLI(read) \
	}

#define OPUS_OLD    TOKENS(15, 75, 18.75, 30, 1.50)
#define OPUS	    TOKENS(5, 25, 6.25, 10, 0.50)
#define SONNET	    TOKENS(3, 15, 3.75, 6, 0.30)
#define SONNET_LONG TOKENS(6, 22.50, 7.50, 12, 0.60)

enum { LONG_PROMPT = 200000, LONG_PROMPT_HAIKU = 100000 };
#define OCTOBER_7_2026 INT64_C(1791331200000)

const struct price price_list[] = {
	{ .model = "claude-3-opus", .tokens = OPUS_OLD },
	{ .model = "claude-3-sonnet", .tokens = SONNET },
	{ .model = "claude-3-haiku", .tokens = TOKENS(0.25, 1.25, 0.30, 0.50, 0.03) },
	{ .model = "claude-3-5-sonnet", .tokens = SONNET },
	{ .model = "claude-3-5-haiku", .tokens = TOKENS(0.80, 4, 1, 1.60, 0.08) },
	{ .model = "claude-3-7-sonnet", .tokens = SONNET },
	{ .model = "claude-opus-4", .tokens = OPUS_OLD },
	{ .model = "claude-opus-4-0", .tokens = OPUS_OLD },
	{ .model = "claude-opus-4-1", .tokens = OPUS_OLD },
	{ .model = "claude-opus-4-5", .tokens = OPUS },
	{ .model = "claude-opus-4-6", .tokens = OPUS, .fast = 6 },
	{ .model = "claude-opus-4-7", .tokens = OPUS, .fast = 6 },
	{ .model = "claude-opus-4-8", .tokens = OPUS, .fast = 2 },
	{ .model = "claude-opus-5", .tokens = OPUS, .fast = 2 },
	{ .model = "claude-opus-5-5", .tokens = TOKENS(4, 20, 5, 8, 0.20), .fast = 2 },
	{ .model = "claude-sonnet-4",
	  .tokens = SONNET,
	  .long_over = LONG_PROMPT,
	  .long_tokens = SONNET_LONG },
	{ .model = "claude-sonnet-4-0",
	  .tokens = SONNET,
	  .long_over = LONG_PROMPT,
	  .long_tokens = SONNET_LONG },
	{ .model = "claude-sonnet-4-5",
	  .tokens = SONNET,
	  .long_over = LONG_PROMPT,
	  .long_tokens = SONNET_LONG },
	{ .model = "claude-sonnet-4-6", .tokens = SONNET },
	{ .model = "claude-sonnet-5", .tokens = TOKENS(2, 10, 2.50, 4, 0.20) },
	{ .model = "claude-sonnet-5-5", .tokens = TOKENS(2, 10, 2.50, 4, 0.20) },
	{ .model = "claude-sonnet-5-5", .since = OCTOBER_7_2026, .tokens = TOKENS(2, 10, 2.50, 4, 0.10) },
	{ .model = "claude-haiku-4-5", .tokens = TOKENS(1, 5, 1.25, 2, 0.10) },
	{ .model = "claude-haiku-5-5",
	  .tokens = TOKENS(0.10, 0.50, 0.125, 0.20, 0.01),
	  .long_over = LONG_PROMPT_HAIKU,
	  .long_tokens = TOKENS(0.50, 2.50, 0.625, 1, 0.05) },
	{ .model = "claude-fable-5", .tokens = TOKENS(10, 50, 12.50, 20, 1) },
	{ .model = "claude-fable-5-1", .tokens = TOKENS(10, 50, 12.50, 20, 0.25) },
	{ .model = "claude-mythos-5", .tokens = TOKENS(10, 50, 12.50, 20, 1) },
	{ .model = "claude-mythos-5-1", .tokens = TOKENS(10, 50, 12.50, 20, 0.25) },
	{ .model = NULL },
};

/* ---- Names ---------------------------------------------------------------------- */

enum { NAME_MOST = 128 };

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* Without what a vendor put in front of it. */
static struct str without_vendor(struct str name)
{
	const struct str family = STR("claude-");

	for (size_t i = 0; i + family.n <= name.n; i++)
		if (str_has_prefix(str_sub(name, i, SIZE_MAX), family) &&
		    (!i || name.p[i - 1] == '.' || name.p[i - 1] == '/'))
			return str_sub(name, i, SIZE_MAX);
	return name;
}

static void cut_at(struct str *name, char c)
{
	size_t at = str_find(*name, c);

	if (at != SIZE_MAX)
		name->n = at;
}

/* Without date, version of a vendor, and window. Points in numbers become dashes. */
static struct str plain_name(struct str model, char room[NAME_MOST])
{
	struct str name = str_sub(without_vendor(model), 0, NAME_MOST), tail;
	size_t dash;

	cut_at(&name, '[');
	cut_at(&name, '@');
	cut_at(&name, ':');
	for (int round = 0; round < 2; round++) {
		dash = str_rfind(name, '-');
		tail = str_sub(name, dash == SIZE_MAX ? name.n : dash + 1, SIZE_MAX);
		if ((tail.n == 8 && is_digits(tail)) || str_eq(tail, STR("latest")) ||
		    (tail.n == 2 && tail.p[0] == 'v' && is_digits(str_sub(tail, 1, 1))))
			name.n = dash;
	}
	for (size_t i = 0; i < name.n; i++)
		room[i] = name.p[i] == '.' ? '-' : name.p[i];
	return str_from(room, name.n);
}

/* Whether a name is what the pattern says. Goes back only to the last '*', which is enough. */
static bool matches(struct str pattern, struct str name)
{
	size_t p = 0, n = 0, star = SIZE_MAX, from = 0;

	while (n < name.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			from = n;
		} else if (p < pattern.n && pattern.p[p] == name.p[n]) {
			p++;
			n++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			n = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

/* ---- Finding -------------------------------------------------------------------- */

static const struct price *find_in(const struct price *list, struct str model, struct str plain, int64_t at)
{
	const struct price *best = NULL;

	for (const struct price *p = list; p && p->model; p++) {
		struct str pattern = str_of(p->model);

		if ((p->since && at < p->since) || !(matches(pattern, model) || matches(pattern, plain)))
			continue;
		/* Of equal ones the later: prices of the list are in the order of their dates. */
		if (!best || pattern.n >= str_of(best->model).n)
			best = p;
	}
	return best;
}

const struct price *price_find(const struct prices *p, struct str model, int64_t at)
{
	char room[NAME_MOST];
	struct str plain = plain_name(model, room);
	const struct price *own = find_in(p->own, model, plain, at);

	return own ? own : find_in(price_list, model, plain, at);
}

void price_era(int64_t at, int64_t *from, int64_t *until)
{
	*from = INT64_MIN;
	*until = INT64_MAX;
	for (const struct price *p = price_list; p->model; p++) {
		if (!p->since) /* always */
			continue;
		if (p->since <= at && p->since > *from)
			*from = p->since;
		if (p->since > at && p->since < *until)
			*until = p->since;
	}
}

/* ---- Money ---------------------------------------------------------------------- */

int64_t money_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t money_times(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

bool price_of(const struct price *p, const int64_t tokens[TOKEN_KINDS], bool fast, int64_t *nano)
{
	int64_t prompt = tokens[TOKENS_INPUT] + tokens[TOKENS_WRITE] + tokens[TOKENS_WRITE_1H] +
			 tokens[TOKENS_READ];
	const int64_t *price = p->long_over && prompt > p->long_over ? p->long_tokens : p->tokens;
	int64_t pico = 0;

	if (fast && !p->fast)
		return false;
	for (int kind = 0; kind < TOKEN_KINDS; kind++) {
		if (tokens[kind] && price[kind] == PRICE_UNKNOWN)
			return false;
		pico = money_add(pico, money_times(tokens[kind], tokens[kind] ? price[kind] : 0));
	}
	*nano = money_times(pico / 1000 + (pico % 1000 >= 500), fast ? p->fast : 1);
	return true;
}

/* ---- Prices of one's own ---------------------------------------------------------- */

static const char *const kind_names[TOKEN_KINDS] = {
	[TOKENS_INPUT] = "input",	[TOKENS_OUTPUT] = "output",
	[TOKENS_WRITE] = "cache_write", [TOKENS_WRITE_1H] = "cache_write_1h",
	[TOKENS_READ] = "cache_read",
};

/* Dollars per million tokens, at most six decimals, into pico-dollars a token. */
static bool read_dollars(struct str text, int64_t *out)
{
	enum { DECIMALS = 6 };
	struct str fraction, whole = str_cut(text, '.', &fraction);
	uint64_t value, part = 0;

	if (!str_to_u64(whole, &value) || value > 1000000 || fraction.n > DECIMALS ||
	    (fraction.p && !str_to_u64(fraction, &part)))
		return false;
	for (size_t i = fraction.n; i < DECIMALS; i++)
		part *= 10;
	*out = (int64_t)(value * 1000000 + part);
	return true;
}

static bool read_times(struct str text, int *out)
{
	uint64_t n;

	if (!str_to_u64(text, &n) || n < 1 || n > 100)
		return false;
	*out = (int)n;
	return true;
}

unsigned price_lacks(const struct price *p, const int64_t tokens[TOKEN_KINDS], bool fast)
{
	unsigned lacks = fast && !p->fast ? 1u << TOKEN_KINDS : 0;

	for (int kind = 0; kind < TOKEN_KINDS; kind++)
		if (tokens[kind] && p->tokens[kind] == PRICE_UNKNOWN)
			lacks |= 1u << kind;
	return lacks;
}

const char *price_part(int part)
{
	return part < TOKEN_KINDS ? kind_names[part] : "fast";
}

static int kind_of(struct str name)
{
	for (int kind = 0; kind < TOKEN_KINDS; kind++)
		if (str_eq(name, str_of(kind_names[kind])))
			return kind;
	return -1;
}

static enum status read_member(const struct json *j, uint32_t key, struct arena *mem, struct price *out,
			       struct err *err)
{
	struct str name = json_string_in(j, key, mem), value = json_raw(j, key + 1);
	int kind = kind_of(name);

	if (str_eq(name, STR("fast")))
		return read_times(value, &out->fast)
			       ? STATUS_OK
			       : err_fail(err, STATUS_FORMAT,
					  "fast of '%s' is not how many times as much, from 1 to 100",
					  out->model);
	if (kind < 0)
		return err_fail(err, STATUS_FORMAT,
				"'%.*s' of '%s' is none of input, output, cache_write, cache_write_1h, "
				"cache_read, fast",
				(int)size_min(name.n, 60), name.p ? name.p : "", out->model);
	if (!read_dollars(value, &out->tokens[kind]))
		return err_fail(err, STATUS_FORMAT,
				"%s of '%s' is not dollars per million tokens such as 3 or 0.25",
				kind_names[kind], out->model);
	return STATUS_OK;
}

static enum status read_price(const struct json *j, uint32_t object, struct arena *mem, struct price *out,
			      struct err *err)
{
	for (int kind = 0; kind < TOKEN_KINDS; kind++)
		out->tokens[kind] = PRICE_UNKNOWN;
	if (!json_is(j, object, JSON_OBJECT))
		return err_fail(err, STATUS_FORMAT,
				"the price of '%s' is no object such as " PRICE_EXAMPLE, out->model);
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1))
		if (read_member(j, k, mem, out, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status prices_read(struct str text, struct arena *mem, struct prices *out, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct price *list;
	size_t count = 0;

	*out = (struct prices){ 0 };
	if (json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (!json_is(&j, json_root(&j), JSON_OBJECT))
		return err_fail(err, STATUS_FORMAT, "prices are an object such as " PRICES_EXAMPLE);
	list = arena_alloc(mem, (j.count + 1) * sizeof *list);
	for (uint32_t k = json_first(&j, 0); k != json_end(&j, 0); k = json_next(&j, k + 1)) {
		struct price *p = &list[count++];

		*p = (struct price){ .model = arena_cstr(mem,
							 str_sub(json_string_in(&j, k, mem), 0, NAME_MOST)) };
		if (read_price(&j, k + 1, mem, p, err))
			return err_failed(err->status);
	}
	out->own = list;
	return STATUS_OK;
}
