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
	static const char *const rows[] = { "\\p{L}", "\\q",  "\\Z",   "a\\nb",	 "\\x4",    "\\x0a",  "\\xe9",
					    "[\\q]",  "[\\]", "[\\]]", "[\\^a]", "[\\x00]", "\\u0041" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

		if (!pattern_translate(rows[i], &out))
			t_fail(t, __FILE__, __LINE__, "'%s' is taken", rows[i]);
	}
}

/* What is matched by them: test/unit/grep.c. */
TEST(a_pattern_of_ascii_stays_as_it_is_where_that_makes_no_difference)
{
	static const char *const rows[] = { "colou?r",	   "a.*b",	"\\S*x",       "\"[^\"]*\"",
					    "[a-z]+\\.go", "(a|b){2}$", "[[:alpha:]]", "[a" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

		CHECK(pattern_in_bytes(rows[i], true, &out) == NULL);
		EQS(buf_as_str(&out), str_of(rows[i]));
	}
}

TEST(a_set_of_letters_is_the_sequences_of_their_bytes)
{
	static const char *const rows[][2] = {
		{ "\xc3\xa9?", "(\xc3\xa9)?" },
		{ ".", "([^\x80-\xff]|[\xc2-\xf4][\x80-\xbf]+)" },
		{ ".+", "(([^\x80-\xff]|[\xc2-\xf4][\x80-\xbf]+).*)" },
		{ "[x\xc3\xa9\xc3\xaa-]", "([x-]|\xc3[\xa9-\xaa])" },
		{ "[\xd0\xb0-\xd1\x8f]", "(\xd0[\xb0-\xbf]|\xd1[\x80-\x8f])" },
		{ "[^\xc2\x80-\xdf\xbf]", "([^\x80-\xff]|\xe0[\xa0-\xbf][\x80-\xbf]|"
					  "[\xe1-\xef][\x80-\xbf][\x80-\xbf]|"
					  "\xf0[\x90-\xbf][\x80-\xbf][\x80-\xbf]|"
					  "[\xf1-\xf3][\x80-\xbf][\x80-\xbf][\x80-\xbf]|"
					  "\xf4[\x80-\x8f][\x80-\xbf][\x80-\xbf])" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

		CHECK(pattern_in_bytes(rows[i][0], false, &out) == NULL);
		EQS(buf_as_str(&out), str_of(rows[i][1]));
	}
}

TEST(what_is_no_set_is_refused)
{
	static const char *const rows[] = { "[\xc3\xa9-a]", "[\xc3\xbf-\xc3\xa0]", "[\xff]" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

		CHECK(pattern_in_bytes(rows[i], false, &out) != NULL);
	}
}

TESTS(CASE(a_pattern_of_ascii_stays_as_it_is_where_that_makes_no_difference),
      CASE(a_set_of_letters_is_the_sequences_of_their_bytes), CASE(what_is_no_set_is_refused),
      CASE(what_other_programs_know_is_written_for_the_matcher), CASE(what_cannot_be_written_is_refused))
