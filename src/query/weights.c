/*
 * Places weigh differently: what a person asked says more about a conversation than
 * what a tool printed, and what somebody found worth noting says most. What the client tells the model at length, as
 * skills and reminders, has all words there are and says least.
 *
 * The setting search.weights is read here, too. No weight is 0: a place that is not wanted is left out of a query, and
 * not ranked.
 */
#include "query/weights.h"

#include "base/json.h"
#include "base/limits.h"

#include <string.h>

const double search_weights[SEARCH_PLACES] = {
	[PLACE_PROMPT] = 2.0, [PLACE_ANSWER] = 1.5, [PLACE_THINKING] = 0.9, [PLACE_INPUT] = 1.0,
	[PLACE_OUTPUT] = 0.6, [PLACE_OTHER] = 1.2,  [PLACE_CLIENT] = 0.4, [PLACE_NOTE] = 3.0,
};

static const char *const names[SEARCH_PLACES] = {
	[PLACE_PROMPT] = "prompt", [PLACE_ANSWER] = "answer", [PLACE_THINKING] = "thinking", [PLACE_INPUT] = "input",
	[PLACE_OUTPUT] = "output", [PLACE_OTHER] = "other",   [PLACE_CLIENT] = "client",     [PLACE_NOTE] = "note",
};

/* Two decimals are enough to put things in order. */
static bool read_weight(struct str text, double *out)
{
	enum { DECIMALS = 2, MOST = 100 };
	struct str fraction, whole = str_cut(text, '.', &fraction);
	uint64_t value, part = 0;

	if (!str_to_u64(whole, &value) || value > MOST || fraction.n > DECIMALS ||
	    (fraction.p && !str_to_u64(fraction, &part)))
		return false;
	for (size_t i = fraction.n; i < DECIMALS; i++)
		part *= 10;
	*out = (double)(value * 100 + part) / 100;
	return *out > 0 && *out <= MOST;
}

static enum status read_member(const struct json *j, uint32_t key, struct arena *mem, double *out, struct err *err)
{
	struct str name = json_string_in(j, key, mem);
	int place = 0;

	while (place < SEARCH_PLACES && !str_eq(name, str_of(names[place])))
		place++;
	if (place == SEARCH_PLACES)
		return err_fail(err, STATUS_FORMAT,
				"'%.*s' is none of prompt, answer, thinking, input, output, other, client, note",
				(int)size_min(name.n, 60), name.p ? name.p : "");
	if (!read_weight(json_raw(j, key + 1), &out[place]))
		return err_fail(err, STATUS_FORMAT, "%s is not a number from 0.01 to 100, such as 2 or 0.25",
				names[place]);
	return STATUS_OK;
}

enum status weights_read(struct str text, struct arena *mem, double out[SEARCH_PLACES], struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;

	memcpy(out, search_weights, sizeof search_weights);
	if (json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (!json_is(&j, json_root(&j), JSON_OBJECT))
		return err_fail(err, STATUS_FORMAT, "weights are an object such as " WEIGHTS_EXAMPLE);
	for (uint32_t k = json_first(&j, 0); k != json_end(&j, 0); k = json_next(&j, k + 1))
		if (read_member(&j, k, mem, out, err))
			return err_failed(err->status);
	return STATUS_OK;
}
