/*
 * Whether one JSON value is part of another.
 */
#include "base/json_match.h"
#include "t.h"

static bool contains(struct t *t, const char *whole, const char *part)
{
	struct json a CLEANUP(json_release) = JSON_INIT, b CLEANUP(json_release) = JSON_INIT;
	struct err err;

	if (json_read(&a, str_of(whole), 64, &err) || json_read(&b, str_of(part), 64, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return false;
	}
	return json_contains(&a, 0, &b, 0);
}

TEST(scalars_are_compared_by_value)
{
	CHECK(contains(t, "1", "1") && contains(t, "1.0", "1") && contains(t, "1e2", "100") &&
	      contains(t, "0", "-0"));
	CHECK(!contains(t, "1", "2") && !contains(t, "1", "\"1\"") &&
	      !contains(t, "9007199254740993", "9007199254740992"));
	CHECK(contains(t, "\"a\\u0062c\"", "\"abc\"") && !contains(t, "\"abc\"", "\"ab\"") &&
	      contains(t, "\"\"", "\"\""));
	CHECK(contains(t, "true", "true") && !contains(t, "true", "false") && contains(t, "null", "null"));
	CHECK(!contains(t, "null", "0") && !contains(t, "{}", "[]") && !contains(t, "[]", "{}"));
}

TEST(an_object_is_part_of_one_that_has_its_members_and_more)
{
	const char *whole = "{\"a\":1,\"b\":{\"c\":[1,2,{\"d\":\"x\",\"e\":null}]}}";

	CHECK(contains(t, whole, "{}") && contains(t, whole, "{\"a\":1}") && contains(t, whole, whole));
	CHECK(contains(t, whole, "{\"b\":{}}") && contains(t, whole, "{\"b\":{\"c\":[]}}"));
	CHECK(contains(t, whole, "{\"b\":{\"c\":[{\"e\":null},2]}}"));
	CHECK(!contains(t, whole, "{\"a\":2}") && !contains(t, whole, "{\"z\":null}"));
	CHECK(!contains(t, whole, "{\"b\":{\"c\":[3]}}") &&
	      !contains(t, whole, "{\"b\":{\"c\":[{\"d\":\"y\"}]}}"));
	CHECK(contains(t, "{\"a\":1,\"a\":2}", "{\"a\":2}") &&
	      !contains(t, "{\"a\":1,\"a\":2}", "{\"a\":1}"));
	CHECK(contains(t, "{\"\\u0061\":1}", "{\"a\":1}"));
}

TEST(a_list_is_part_of_one_that_has_its_elements_in_any_order)
{
	CHECK(contains(t, "[1,2,3]", "[3,1]") && contains(t, "[1]", "[1,1]") &&
	      contains(t, "[[1,2],[3]]", "[[2]]"));
	CHECK(!contains(t, "[1,2,3]", "[4]") && !contains(t, "[1,2,3]", "1") && !contains(t, "[]", "[null]"));
}

TESTS(CASE(scalars_are_compared_by_value), CASE(an_object_is_part_of_one_that_has_its_members_and_more),
      CASE(a_list_is_part_of_one_that_has_its_elements_in_any_order))
