/*
 * Numbers to look at.
 */
#include "face/chart.c"
#include "t.h"

static void check_count(struct t *t, int64_t n, const char *want)
{
	char text[COUNT_TEXT];

	EQS(str_of(count_text(n, text)), str_of(want));
}

TEST(large_numbers_are_short)
{
	check_count(t, 0, "0");
	check_count(t, 999, "999");
	check_count(t, 1000, "1.00k");
	check_count(t, 9994, "9.99k");
	check_count(t, 9996, "10.0k");
	check_count(t, 99960, "100k");
	check_count(t, 999499, "999k");
	check_count(t, 999600, "1.00M");
	check_count(t, 675807313, "676M");
	check_count(t, INT64_MAX, "9.22E");
}

static void check_bar(struct t *t, int64_t value, int64_t most, int columns, const char *want)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	chart_bar(&out, value, most, columns);
	EQS(buf_as_str(&out), str_of(want));
}

TEST(a_bar_is_as_long_as_its_value)
{
	check_bar(t, 10, 10, 3, "███");
	check_bar(t, 5, 10, 3, "█▌");
	check_bar(t, 1, 1000000, 3, "▏");
	check_bar(t, 0, 10, 3, "");
	check_bar(t, 5, 0, 3, "");
	check_bar(t, 5, 10, -3, "");
	check_bar(t, INT64_MAX, INT64_MAX, 2, "██");
}

TEST(a_line_has_a_column_for_each_value)
{
	static const int64_t values[] = { 0, 1, 4, 8, 100 }, none[] = { 0, 0 };
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	chart_line(&out, values, COUNT(values));
	EQS(buf_as_str(&out), STR(" ▁▁▁█"));
	buf_clear(&out);
	chart_line(&out, none, COUNT(none));
	EQS(buf_as_str(&out), STR("  "));
}

TEST(nothing_has_a_shade_of_its_own)
{
	EQS(str_of(chart_shade(0, 10)), STR("·"));
	EQS(str_of(chart_shade(1, 1000)), STR("░"));
	EQS(str_of(chart_shade(1000, 1000)), STR("█"));
}

TESTS(CASE(large_numbers_are_short), CASE(a_bar_is_as_long_as_its_value),
      CASE(a_line_has_a_column_for_each_value), CASE(nothing_has_a_shade_of_its_own))
