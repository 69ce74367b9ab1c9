/*
 * Comparing JSON values by their parts. Every pair of a wanted value and one that stands in its place is compared
 * at most once, because a pair has one pair of parents.
 */
#include "base/json_match.h"

/* Numbers that fit are compared exactly; of others, what a double makes of them. */
static bool same_number(const struct json *a, uint32_t x, const struct json *b, uint32_t y)
{
	int64_t i, k;
	double p, q;

	if (str_eq(json_raw(a, x), json_raw(b, y)))
		return true;
	if (json_to_i64(a, x, &i) && json_to_i64(b, y, &k))
		return i == k;
	return json_to_real(a, x, &p) && json_to_real(b, y, &q) && !(p < q) && !(p > q);
}

static bool same_string(const struct json *a, uint32_t x, const struct json *b, uint32_t y)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;

	return json_string_eq(a, x, json_string_in(b, y, &mem));
}

static bool has_member(const struct json *whole, uint32_t object, const struct json *part, uint32_t key)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	uint32_t value = json_get(whole, object, json_string_in(part, key, &mem));

	return value != JSON_NONE && json_contains(whole, value, part, key + 1);
}

static bool has_element(const struct json *whole, uint32_t array, const struct json *part, uint32_t wanted)
{
	for (uint32_t i = json_first(whole, array); i != json_end(whole, array); i = json_next(whole, i))
		if (json_contains(whole, i, part, wanted))
			return true;
	return false;
}

bool json_contains(const struct json *whole, uint32_t value, const struct json *part, uint32_t wanted)
{
	enum json_kind kind = json_kind(part, wanted);

	if (json_kind(whole, value) != kind)
		return false;
	switch (kind) {
	case JSON_NUMBER:
		return same_number(whole, value, part, wanted);
	case JSON_STRING:
		return same_string(whole, value, part, wanted);
	case JSON_OBJECT:
		for (uint32_t k = json_first(part, wanted); k != json_end(part, wanted);
		     k = json_next(part, k + 1))
			if (!has_member(whole, value, part, k))
				return false;
		return true;
	case JSON_ARRAY:
		for (uint32_t i = json_first(part, wanted); i != json_end(part, wanted);
		     i = json_next(part, i))
			if (!has_element(whole, value, part, i))
				return false;
		return true;
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_TRUE:
		break;
	}
	return true;
}
