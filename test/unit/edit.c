/*
 * Editing a line, and what of it is seen.
 */
#include "face/edit.c"
#include "face/text.c"
#include "t.h"

static struct edit typed(const char *text)
{
	struct edit e = { 0 };

	edit_insert(&e, str_of(text));
	return e;
}

TEST(text_is_inserted_and_taken_off_at_the_cursor)
{
	struct edit e = typed("ac");

	edit_left(&e);
	CHECK(edit_insert(&e, STR("b")));
	EQS(edit_text(&e), STR("abc"));
	CHECK(edit_backspace(&e));
	EQS(edit_text(&e), STR("ac"));
	CHECK(edit_delete(&e));
	EQS(edit_text(&e), STR("a"));
	CHECK(!edit_delete(&e));
	edit_start(&e);
	CHECK(!edit_backspace(&e));
	edit_right(&e);
	edit_right(&e);
	EQ(e.at, 1);
}

TEST(a_character_is_one_step_with_what_combines_with_it)
{
	struct edit e = typed("汉e\xcc\x81z");

	edit_left(&e);
	edit_left(&e);
	EQ(e.at, 3);
	edit_right(&e);
	EQ(e.at, 6);
	edit_backspace(&e);
	EQS(edit_text(&e), STR("汉z"));
	edit_backspace(&e);
	EQS(edit_text(&e), STR("z"));
	e = typed("\xcc\x81"); /* nothing to combine with */
	edit_backspace(&e);
	EQ(e.n, 0);
}

TEST(words_and_lines_are_killed_before_the_cursor)
{
	struct edit e = typed("one two  ");

	CHECK(edit_kill_word(&e));
	EQS(edit_text(&e), STR("one "));
	CHECK(edit_kill_word(&e));
	CHECK(!edit_kill_word(&e));
	e = typed("one two");
	edit_left(&e);
	CHECK(edit_kill_line(&e));
	EQS(edit_text(&e), STR("o"));
	edit_end(&e);
	EQ(e.at, 1);
}

TEST(what_does_not_fit_is_not_inserted)
{
	struct edit e = { 0 };

	for (int i = 0; i < EDIT_MOST; i++)
		edit_insert(&e, STR("é"));
	EQ(e.n, EDIT_MOST);
	CHECK(utf8_valid(edit_text(&e)));
}

TEST(a_line_is_seen_around_the_cursor_and_filtered)
{
	struct edit e = typed("abcdef");
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	EQ(edit_show(&e, 10, &out), 6);
	EQS(buf_as_str(&out), STR("abcdef"));
	buf_clear(&out);
	EQ(edit_show(&e, 4, &out), 3);
	EQS(buf_as_str(&out), STR("def"));
	buf_clear(&out);
	edit_start(&e);
	EQ(edit_show(&e, 4, &out), 0);
	EQS(buf_as_str(&out), STR("abcd"));
	buf_clear(&out);
	e = typed("汉字");
	EQ(edit_show(&e, 4, &out), 2);
	EQS(buf_as_str(&out), STR("字"));
	buf_clear(&out);
	EQ(edit_show(&e, 0, &out), 0);
	EQ(edit_show(&e, 1, &out), 0);
	EQ(out.n, 0);
	e = typed("\xe2\x80\xae");
	edit_show(&e, 20, &out);
	EQS(buf_as_str(&out), STR("<U+202E>"));
}

TESTS(CASE(text_is_inserted_and_taken_off_at_the_cursor),
      CASE(a_character_is_one_step_with_what_combines_with_it),
      CASE(words_and_lines_are_killed_before_the_cursor), CASE(what_does_not_fit_is_not_inserted),
      CASE(a_line_is_seen_around_the_cursor_and_filtered))
