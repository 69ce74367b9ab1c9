/*
 * What plans are called and what they are about.
 */
#include "base/utf8.h"
#include "claude/plan.h"
#include "t.h"

static void check_title(struct t *t, struct str text, const char *want)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

	plan_title(text, &title);
	EQS(buf_as_str(&title), str_of(want));
}

TEST(a_plan_is_called_like_its_file)
{
	EQS(plan_name(STR("plans/shell-startup.md")), STR("shell-startup"));
	EQS(plan_name(STR("plans/a/b.md")), STR("a/b"));
	EQS(plan_name(STR("plans/notes.txt")), STR("notes.txt"));
	EQS(plan_name(STR("plans/.md")), STR(".md"));
	EQS(plan_name(STR("plans/")), STR(""));
}

TEST(its_title_is_the_first_heading)
{
	check_title(t, STR("# A faster start\n\n1. x\n"), "A faster start");
	check_title(t, STR("intro\n\n## Second level ##\n# First\n"), "Second level");
	check_title(t, STR("\xef\xbb\xbf#\tTab and BOM\r\n"), "Tab and BOM");
	check_title(t, STR("# C# and F#"), "C# and F#");
	check_title(t, STR("  ###### six"), "six");
}

TEST(comments_in_code_are_no_headings)
{
	check_title(t, STR("```sh\n# not this\n```\n# but this\n"), "but this");
	check_title(t, STR("~~~\n# never closed\n"), "~~~");
	check_title(t, STR("#!/bin/sh\n####### seven\n#tag\n"), "#!/bin/sh");
}

TEST(without_a_heading_it_is_the_first_line)
{
	check_title(t, STR("\n\n  just\ta   text \nmore"), "just a text");
	check_title(t, STR("#\n# \nx"), "#");
	check_title(t, STR(""), "");
	check_title(t, STR(" \n\t\n"), "");
	check_title(t, (struct str){ 0 }, "");
}

TEST(any_bytes_give_a_short_good_text)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * MIB);
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

	buf_text(&text, "# ");
	for (size_t i = 0; i < MIB; i++)
		buf_byte(&text, (char)(i * 7 + 128));
	plan_title(buf_as_str(&text), &title);
	CHECK(!title.failed && title.n < 300 && utf8_valid(buf_as_str(&title)));
	buf_clear(&text);
	buf_clear(&title);
	for (size_t i = 0; i < MIB; i++)
		buf_text(&text, "#\n");
	plan_title(buf_as_str(&text), &title);
	EQS(buf_as_str(&title), STR("#"));
}

TESTS(CASE(a_plan_is_called_like_its_file), CASE(its_title_is_the_first_heading),
      CASE(comments_in_code_are_no_headings), CASE(without_a_heading_it_is_the_first_line),
      CASE(any_bytes_give_a_short_good_text))
