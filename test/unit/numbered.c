/* Texts of files that were read, without the numbers of their lines. */
#include "claude/numbered.h"
#include "t.h"

static struct str stripped(struct buf *b, const char *text, size_t from)
{
	buf_clear(b);
	buf_text(b, text);
	numbered_strip(b, from);
	return buf_as_str(b);
}

TEST(numbers_in_front_of_lines_are_left_out)
{
	struct buf b CLEANUP(buf_release) = BUF_INIT(KIB);

	EQS(stripped(&b, "     1→int a;\n    12→\n   300→\tif (b)", 0), STR("int a;\n\n\tif (b)"));
	EQS(stripped(&b, "Here is a part:\n7→x\n8→y\n", 0), STR("Here is a part:\nx\ny\n"));
	EQS(stripped(&b, "1→2→3", 0), STR("2→3"));
}

TEST(everything_else_stays_as_it_is)
{
	static const char *const texts[] = { "",	 "12",	    "a 1→b",	  "→x",	   "  →x",  "1 →x",
					     "1\tx\n2", "-1→x", "1\xe2\x86", "1\xe2", "x\n1-→" };
	struct buf b CLEANUP(buf_release) = BUF_INIT(KIB);

	for (size_t i = 0; i < COUNT(texts); i++)
		EQS(stripped(&b, texts[i], 0), str_of(texts[i]));
}

TEST(what_stands_in_front_of_the_text_is_not_looked_at)
{
	struct buf b CLEANUP(buf_release) = BUF_INIT(KIB);

	EQS(stripped(&b, "1→a\n2→b", 6), STR("1→a\nb"));
}

TESTS(CASE(numbers_in_front_of_lines_are_left_out), CASE(everything_else_stays_as_it_is),
      CASE(what_stands_in_front_of_the_text_is_not_looked_at))
