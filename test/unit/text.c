/*
 * Measuring, cutting and wrapping text for a terminal.
 */
#include "face/text.c"
#include "t.h"

#include <string.h>

static const char *wrapped(const char *text, int columns, struct buf *out)
{
	struct str rest = str_of(text), line;

	buf_clear(out);
	while (text_wrap(&rest, columns, &line)) {
		buf_str(out, line);
		buf_byte(out, '|');
	}
	return out->p ? out->p : "";
}

TEST(text_wraps_at_blanks_and_line_ends)
{
	static const struct {
		const char *text;
		int columns;
		const char *lines;
	} cases[] = {
		{ "", 10, "" },
		{ "one", 10, "one|" },
		{ "one two", 7, "one two|" },
		{ "one two", 6, "one|two|" },
		{ "one two three", 8, "one two|three|" },
		{ "one two", 0, "one two|" },
		{ "a\nb\n", 10, "a|b|" },
		{ "a\n\nb", 10, "a||b|" },
		{ "\n", 10, "|" },
		{ "abcdefgh", 3, "abc|def|gh|" },
		{ "ab cdefgh", 4, "ab|cdef|gh|" },
		{ "abc  ", 3, "abc|" },
		{ "abc   def", 3, "abc|def|" },
		{ "    abcdef", 6, "    ab|cdef|" },
		{ "汉字汉字", 5, "汉字|汉字|" },
		{ "汉", 1, "汉|" },
		{ "abc\ndef", 3, "abc|def|" },
	};
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	for (size_t i = 0; i < COUNT(cases); i++)
		if (strcmp(wrapped(cases[i].text, cases[i].columns, &out), cases[i].lines) != 0)
			t_fail(t, __FILE__, __LINE__, "'%s' in %d: '%s', wanted '%s'", cases[i].text,
			       cases[i].columns, out.p ? out.p : "", cases[i].lines);
}

/* Every text of up to seven of these, in every width. */
TEST(wrapping_loses_nothing_but_blanks_and_is_never_too_wide)
{
	static const char letters[] = "a \n";
	char text[8];

	for (int n = 0; n < 3 * 3 * 3 * 3 * 3 * 3 * 3; n++) {
		int digits = n;

		for (size_t i = 0; i < 7; i++, digits /= 3)
			text[i] = letters[digits % 3];
		text[7] = '\0';
		for (int columns = 1; columns < 9; columns++) {
			struct str rest = str_of(text), line;
			size_t seen = 0, all = 0;

			while (text_wrap(&rest, columns, &line)) {
				CHECK(text_width(line) <= columns);
				CHECK(!str_has_byte(line, '\n'));
				for (size_t i = 0; i < line.n; i++)
					seen += line.p[i] == 'a';
			}
			for (size_t i = 0; i < 7; i++)
				all += text[i] == 'a';
			EQ(seen, all);
		}
	}
}

static void check_path(struct t *t, struct str path, int columns, const char *want)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	text_cut(&out, path, columns, true);
	EQS(buf_as_str(&out), str_of(want));
}

TEST(of_a_path_the_name_stays)
{
	struct str path = STR("/home/dev/webshop/src/money.ts");

	check_path(t, path, 30, "/home/dev/webshop/src/money.ts");
	check_path(t, path, 29, "…/dev/webshop/src/money.ts");
	check_path(t, path, 22, "…/webshop/src/money.ts");
	check_path(t, path, 21, "…/src/money.ts");
	check_path(t, path, 10, "…/money.ts");
	check_path(t, path, 9, "money.ts");
	check_path(t, path, 8, "money.ts");
	check_path(t, path, 7, "mo…y.ts");
	check_path(t, path, 1, "…");
	check_path(t, STR("no-folder-at-all"), 7, "no…-all");
	check_path(t, STR("/ends/with/"), 5, "…/");
}

TEST(the_last_folders_of_a_path_say_which_it_is)
{
	static const struct {
		const char *path, *shown;
	} cases[] = {
		{ "/home/dev/webshop", "webshop" }, { "/home/dev/runs/3", "runs/3" },
		{ "/srv/runs/2026/11/3", "runs/2026/11/3" }, { "/a", "/a" }, { "/a/b", "/a/b" }, { "/3", "/3" },
		{ "/", "/" }, { "", "" }, { "3", "3" }, { "/home/me/go", "home/me/go" },
		{ "/srv/\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xa9" },
		{ "/home/dev/v2.0", "v2.0" }, { "/home/dev/", "dev/" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		EQS(text_last_folders(str_of(cases[i].path)), str_of(cases[i].shown));
	EQ(text_last_folders((struct str){ 0 }).n, 0);
}

TEST(folders_that_are_called_alike_are_told_apart)
{
	static const struct str all[] = { { "/u/a/work/cli", 13 }, { "/u/b/work/cli", 13 }, { "/u/a/test/cli", 13 },
					  { "/cli", 4 },	     { "/u/a/work/cli", 13 }, { "/u/xcli", 7 } };
	static const char *const want[] = { "a/work/cli", "b/work/cli", "test/cli", "/cli", "a/work/cli", "xcli" };

	for (size_t i = 0; i < COUNT(all); i++)
		EQS(text_distinct_folders(all[i], all, COUNT(all)), str_of(want[i]));
	EQS(text_distinct_folders(STR("/u/a/work/cli"), NULL, 0), STR("cli"));
	EQ(text_distinct_folders((struct str){ 0 }, all, COUNT(all)).n, 0);
}

TEST(text_is_cut_at_its_end)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	text_cut(&out, STR("projects/a/b.jsonl"), 18, false);
	EQS(buf_as_str(&out), STR("projects/a/b.jsonl"));
	buf_clear(&out);
	text_cut(&out, STR("projects/a/b.jsonl"), 10, false);
	EQS(buf_as_str(&out), STR("projects/…"));
	for (int columns = -1; columns < 25; columns++) {
		buf_clear(&out);
		text_cut(&out, STR("汉字 a汉字汉"), columns, columns % 2);
		CHECK(text_width(buf_as_str(&out)) <= (columns > 0 ? columns : 0));
	}
}

TEST(tabs_go_to_the_next_stop)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	text_expand(&out, STR("a\tb\n\t汉\tc"));
	EQS(buf_as_str(&out), STR("a       b\n        汉      c"));
}

TEST(sizes_read_well)
{
	char out[SIZE_TEXT];

	EQS(str_of(size_text(0, out)), STR("0 B"));
	EQS(str_of(size_text(999, out)), STR("999 B"));
	EQS(str_of(size_text(1000, out)), STR("1.0 kB"));
	EQS(str_of(size_text(999949, out)), STR("999.9 kB"));
	EQS(str_of(size_text(999950, out)), STR("1.0 MB"));
	EQS(str_of(size_text(INT64_MAX, out)), STR("9223.4 PB"));
	EQS(str_of(size_text(INT64_MIN, out)), STR("-9223372036854775808 B"));
}

TEST(an_age_is_told_in_four_columns)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} cases[] = {
		{ -5, "now" },		   { 59, "now" },	     { 60, "1m" },
		{ 3599, "59m" },	   { 3600, "1h" },	     { 86400, "1d" },
		{ 13 * 86400, "13d" },	   { 14 * 86400, "2w" },     { 62 * 86400, "8w" },
		{ 63 * 86400, "2mo" },	   { 359 * 86400, "11mo" },  { 360 * 86400, "1y" },
		{ 800 * 86400, "2y" },	   { INT64_C(400000) * 86400, "old" },
	};
	char out[LOCAL_TEXT];

	for (size_t i = 0; i < COUNT(cases); i++)
		EQS(str_of(age_text(0, cases[i].seconds * 1000, out)), str_of(cases[i].text));
}

TESTS(CASE(an_age_is_told_in_four_columns),
      CASE(text_wraps_at_blanks_and_line_ends), CASE(wrapping_loses_nothing_but_blanks_and_is_never_too_wide),
      CASE(of_a_path_the_name_stays),
      CASE(the_last_folders_of_a_path_say_which_it_is), CASE(folders_that_are_called_alike_are_told_apart),
      CASE(text_is_cut_at_its_end),
      CASE(tabs_go_to_the_next_stop), CASE(sizes_read_well))
