/*
 * Time text: the table test/table/time.test, and properties over many moments.
 * The dates are checked against a calendar that counts day by day.
 */
#include "base/clock.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

/* splitmix64: the same moments in every run. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static const int64_t first_ms = INT64_C(-62167219200000);
static const int64_t last_ms = INT64_C(253402300799999);

/* One line of the table: "text" => number or no. */
static void run_line(struct t *t, struct str line)
{
	size_t end = str_rfind(line, '"');
	struct str text, want;
	int64_t ms = 12345, want_ms;
	bool parsed;

	NEED(line.p[0] == '"' && end != SIZE_MAX && end > 0);
	text = str_sub(line, 1, end - 1);
	want = str_sub(line, end + 1, SIZE_MAX);
	NEED(str_has_prefix(want, STR(" => ")));
	want = str_sub(want, 4, SIZE_MAX);
	parsed = time_parse(text, &ms);
	if (str_eq(want, STR("no"))) {
		if (parsed || ms != 12345)
			t_fail(t, __FILE__, __LINE__, "'%.*s' was taken as %" PRId64, STR_ARG(text), ms);
		return;
	}
	NEED(str_to_i64(want, &want_ms));
	if (!parsed || ms != want_ms)
		t_fail(t, __FILE__, __LINE__, "'%.*s' gave %" PRId64 ", wanted %" PRId64,
		       STR_ARG(text), ms, want_ms);
}

TEST(every_text_in_the_table_is_read_as_it_says)
{
	struct buf file;
	struct str rest, line;
	int cases = 0;

	if (!t_read_file(t, "test/table/time.test", &file))
		return;
	for (rest = buf_as_str(&file); rest.n;) {
		line = str_cut(rest, '\n', &rest);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		run_line(t, line);
		cases++;
	}
	CHECK(cases > 150);
	buf_release(&file);
}

TEST(bytes_a_table_cannot_hold_are_refused)
{
	int64_t ms = 7;

	CHECK(!time_parse((struct str){ 0 }, &ms));
	CHECK(!time_parse(STR("2026-01-01T00:00:00Z\n"), &ms));
	CHECK(!time_parse(STR("2026-01-01T00:00:00Z\0"), &ms));
	CHECK(!time_parse(STR("2026-01-01\0" "00:00:00Z"), &ms));
	CHECK(!time_parse(STR("2026-01-01\n00:00:00Z"), &ms));
	CHECK(!time_parse(STR("2026-01-01T00:00:00\xff"), &ms));
	EQ(ms, 7);
}

TEST(each_place_takes_only_what_makes_a_moment_there)
{
	static const char good[] = "2026-11-15T18:18:33.190Z", any[] = "0123456789";
	static const char *const takes[TIME_TEXT] = {
		any, any, any, any, "-", "01", "012", "-", "012", any,
		"Tt ", "01", any, ":", "012345", any, ":", "012345", any,
		".", any, any, any, "Zz",
	};

	for (size_t i = 0; i < TIME_TEXT; i++) {
		for (int c = 0; c < 256; c++) {
			bool want = c != 0 && strchr(takes[i], c);
			char text[TIME_TEXT];
			int64_t ms;

			memcpy(text, good, TIME_TEXT);
			text[i] = (char)c;
			if (time_parse(str_from(text, TIME_TEXT), &ms) != want)
				t_fail(t, __FILE__, __LINE__, "byte %d at %zu: wanted %d", c, i, want);
		}
	}
}

TEST(moments_outside_the_years_are_printed_as_the_nearest)
{
	static const struct {
		int64_t ms;
		const char *want;
	} rows[] = {
		{ INT64_MIN, "0000-01-01T00:00:00.000Z" },
		{ INT64_C(-62167219200001), "0000-01-01T00:00:00.000Z" },
		{ INT64_C(-62167219200000), "0000-01-01T00:00:00.000Z" },
		{ INT64_C(-62167219199999), "0000-01-01T00:00:00.001Z" },
		{ -1, "1969-12-31T23:59:59.999Z" },
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ INT64_C(951782400000), "2000-02-29T00:00:00.000Z" },
		{ INT64_C(253402300799999), "9999-12-31T23:59:59.999Z" },
		{ INT64_C(253402300800000), "9999-12-31T23:59:59.999Z" },
		{ INT64_MAX, "9999-12-31T23:59:59.999Z" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[TIME_TEXT + 1];

		time_print(rows[i].ms, text);
		EQS(str_of(text), str_of(rows[i].want));
	}
}

static int month_length(int year, int month)
{
	if (month == 2)
		return year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) ? 29 : 28;
	return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

TEST(every_day_of_ten_thousand_years_has_its_date)
{
	int year = 0, month = 1, day = 1;

	for (int64_t ms = first_ms; ms <= last_ms; ms += 86400000) {
		char text[TIME_TEXT + 1], want[64];
		int64_t back = 0;

		snprintf(want, sizeof want, "%04d-%02d-%02dT00:00:00.000Z", year, month, day);
		time_print(ms, text);
		NEED(memcmp(text, want, sizeof text) == 0);
		NEED(time_parse(str_from(text, TIME_TEXT), &back) && back == ms);
		if (++day > month_length(year, month)) {
			day = 1;
			month++;
		}
		if (month > 12) {
			month = 1;
			year++;
		}
	}
	EQ(year, 10000);
}

TEST(random_moments_survive_printing_and_parsing)
{
	uint64_t state = 1;
	char before[TIME_TEXT + 1] = "";
	int64_t before_ms = 0;

	for (int i = 0; i < 400000; i++) {
		uint64_t after_first = next_random(&state) % (uint64_t)(last_ms - first_ms + 1);
		int64_t ms = first_ms + (int64_t)after_first, back = 0;
		char text[TIME_TEXT + 1];

		time_print(ms, text);
		NEED(strlen(text) == TIME_TEXT);
		NEED(time_parse(str_from(text, TIME_TEXT), &back));
		NEED(back == ms);
		/* The order of texts is the order of moments. */
		if (i)
			NEED((strcmp(before, text) < 0) == (before_ms < ms));
		memcpy(before, text, sizeof before);
		before_ms = ms;
	}
}

static int64_t frozen_ms(void *ctx)
{
	return *(int64_t *)ctx;
}

TEST(a_clock_can_be_set)
{
	int64_t now = 42;
	struct clock c = { frozen_ms, &now };

	EQ(clock_now(&c), 42);
	now = -7;
	EQ(clock_now(&c), -7);
}

TEST(the_system_clock_shows_this_century_and_the_monotonic_one_goes_on)
{
	struct clock c = clock_system();
	int64_t ms = clock_now(&c), before = clock_monotonic_ns(), ns = before;

	CHECK(ms > INT64_C(1700000000000) && ms < INT64_C(4102444800000));
	for (int i = 0; i < 1000; i++) {
		int64_t later = clock_monotonic_ns();

		CHECK(later >= ns);
		ns = later;
	}
	CHECK(ns > before);
	CHECK(ns - before < INT64_C(60000000000));
}

TESTS(CASE(every_text_in_the_table_is_read_as_it_says),
      CASE(bytes_a_table_cannot_hold_are_refused),
      CASE(each_place_takes_only_what_makes_a_moment_there),
      CASE(moments_outside_the_years_are_printed_as_the_nearest),
      CASE(every_day_of_ten_thousand_years_has_its_date),
      CASE(random_moments_survive_printing_and_parsing),
      CASE(a_clock_can_be_set),
      CASE(the_system_clock_shows_this_century_and_the_monotonic_one_goes_on))
