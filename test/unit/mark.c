/*
 * Marks: words that no text has, whatever a tool or a file is called.
 */
#include "base/mark.h"
#include "base/utf8.h"
#include "t.h"

#include <string.h>

static void check_mark(struct t *t, struct str name, struct str want)
{
	char room[WORD_MAX];
	struct str got = mark_word(MARK_TOOL, name, room);

	if (!str_eq(got, want))
		t_fail(t, __FILE__, __LINE__, "'%.*s' is marked '%.*s'", STR_ARG(name), STR_ARG(got));
}

TEST(a_mark_is_a_name_in_lower_case_behind_what_no_word_begins_with)
{
	check_mark(t, STR("Bash"), STR("\1tbash"));
	check_mark(t, STR("mcp__x__Do-It.v2"), STR("\1tmcp__x__do-it.v2"));
	check_mark(t, STR(""), STR("\1t"));
	check_mark(t, STR("a\"b\nc\0d\x7f"), STR("\1ta_b_c_d_"));
	check_mark(t, STR("\u00c9t\u00e9"), STR("\1t\u00c9t\u00e9"));
	check_mark(t,
		   STR("ok\xff"
		       "bad"),
		   STR("\1tok"));
}

TEST(a_long_name_is_cut_behind_a_character_and_packed_like_a_word)
{
	struct buf packed CLEANUP(buf_release) = BUF_INIT(KIB), name CLEANUP(buf_release) = BUF_INIT(KIB);
	struct str rest, word;
	unsigned flags;

	for (int i = 0; i < 100; i++)
		buf_text(&name, "\u00e9");
	buf_byte(&name, 'x');
	mark_pack(&packed, MARK_FILE, buf_as_str(&name));
	mark_pack(&packed, MARK_ERROR, STR(""));
	rest = buf_as_str(&packed);
	CHECK(words_next(&rest, &word, &flags) && word.n <= WORD_MAX && word.n > WORD_MAX - 4 && !flags);
	CHECK(utf8_valid(word) && str_has_prefix(word, STR("\1f\u00e9")));
	CHECK(words_next(&rest, &word, &flags) && str_eq(word, STR("\1e")));
	CHECK(!words_next(&rest, &word, &flags));
}

TESTS(CASE(a_mark_is_a_name_in_lower_case_behind_what_no_word_begins_with),
      CASE(a_long_name_is_cut_behind_a_character_and_packed_like_a_word))
