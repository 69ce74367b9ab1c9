/*
 * JSON as people read it.
 */
#include "base/json_plain.h"
#include "t.h"

static const struct {
	const char *json, *text;
} printed[] = {
	{ "1", "1\n" },
	{ "\"two\\nlines\\n\"", "two\nlines\n" },
	{ "\"\"", "\n" },
	{ "null", "null\n" },
	{ "{}", "{}\n" },
	{ "[]", "[]\n" },
	{ "{\"a\":1.50,\"b\":\"x\",\"c\":null,\"d\":true,\"e\":\"\"}",
	  "a: 1.50\nb: x\nc: null\nd: true\ne:\n" },
	{ "{\"a\":{\"b\":{\"c\":1},\"d\":{}},\"e\":2}", "a:\n  b:\n    c: 1\n  d: {}\ne: 2\n" },
	{ "{\"t\":\"one\\ntwo\\n\\nfour\",\"u\":1}", "t:\n  one\n  two\n  \n  four\nu: 1\n" },
	{ "[1,\"x\\ny\",[2,[3]],[]]", "- 1\n- x\n  y\n- - 2\n  - - 3\n- []\n" },
	{ "[{\"a\":1,\"b\":[1,2]},{\"c\":{\"d\":1}}]", "- a: 1\n  b:\n    - 1\n    - 2\n- c:\n    d: 1\n" },
	{ "{\"l\":[{\"x\":1,\"y\":2}]}", "l:\n  - x: 1\n    y: 2\n" },
	{ "{\"\\u00e9\\u0022\":\"\\u0022q\\u0022\"}", "\xC3\xA9\": \"q\"\n" },
};

static bool print(struct t *t, struct str json, size_t most, struct buf *out)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err err;

	buf_init(out, most);
	if (json_read(&j, json, 0, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return false;
	}
	json_plain(&j, json_root(&j), out);
	return true;
}

TEST(names_and_values_stand_in_lines_as_deep_as_they_are)
{
	for (size_t i = 0; i < COUNT(printed); i++) {
		struct buf out CLEANUP(buf_release) = { 0 };

		NEED(print(t, str_of(printed[i].json), MIB, &out));
		EQS(buf_as_str(&out), str_of(printed[i].text));
	}
}

TEST(what_is_very_deep_is_printed_as_it_is)
{
	struct buf json CLEANUP(buf_release) = BUF_INIT(MIB), out CLEANUP(buf_release) = { 0 };

	for (int i = 0; i < 1000; i++)
		buf_byte(&json, '[');
	buf_byte(&json, '1');
	for (int i = 0; i < 1000; i++)
		buf_byte(&json, ']');
	NEED(print(t, buf_as_str(&json), MIB, &out));
	CHECK(!out.failed);
	CHECK(str_has_prefix(buf_as_str(&out), STR("- - - - ")));
	CHECK(str_has_suffix(buf_as_str(&out), STR("]]]]\n")));
}

TEST(what_does_not_fit_is_noticed)
{
	struct buf out CLEANUP(buf_release) = { 0 };

	NEED(print(t, STR("{\"a\":[1,2,3,4],\"b\":\"cccccccccc\"}"), 12, &out));
	CHECK(out.failed);
	CHECK(out.n <= 12);
}

TEST(nothing_prints_nothing)
{
	struct json j = JSON_INIT;
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	json_plain(&j, JSON_NONE, &out);
	EQ(out.n, 0);
}

TESTS(CASE(names_and_values_stand_in_lines_as_deep_as_they_are), CASE(what_is_very_deep_is_printed_as_it_is),
      CASE(what_does_not_fit_is_noticed), CASE(nothing_prints_nothing))
