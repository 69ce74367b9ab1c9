/* Patterns of other programs in the language of the C library. */
#include "query/pattern.h"
#include "t.h"

TEST(what_other_programs_know_is_written_for_the_matcher)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "a.b*", "a.b*" },
		{ "\\d+\\D", "[0-9]+[^0-9]" },
		{ "C\\+\\+", "C\\+\\+" },
		{ "\\w\\s\\bx\\S\\W\\B", "\\w\\s\\bx\\S\\W\\B" },
		{ "\\x41\\x2a\\x20", "A\\* " },
		{ "a\\tb", "a\tb" },
		{ "[\\d.]", "[0-9.]" },
		{ "[^\\w-]", "[^A-Za-z0-9_-]" },
		{ "[\\w\\-.]", "[A-Za-z0-9_.-]" },
		{ "[]\\d]", "[]0-9]" },
		{ "[[:alpha:]\\d]", "[[:alpha:]0-9]" },
		{ "[\\\\/]", "[\\/]" },
		{ "[\\x41-\\x43]", "[A-C]" },
		{ "[a", "[a" },
		{ "(a)\\1", "(a)\\1" },
		{ "a\\", "a\\" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

		CHECK(pattern_translate(rows[i][0], &out) == NULL);
		EQS(buf_as_str(&out), str_of(rows[i][1]));
	}
}

TEST(what_cannot_be_written_is_refused)
{
	static const char *const rows[] = { "\\p{L}", "\\q",  "\\Z",  "a\\nb",	  "\\x4",    "\\x0a", "\\xe9",
					    "[\\q]",  "[\\]", "[\\]]", "[\\^a]", "[\\x00]", "\\u0041" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

		if (!pattern_translate(rows[i], &out))
			t_fail(t, __FILE__, __LINE__, "'%s' is taken", rows[i]);
	}
}

TESTS(CASE(what_other_programs_know_is_written_for_the_matcher), CASE(what_cannot_be_written_is_refused))
