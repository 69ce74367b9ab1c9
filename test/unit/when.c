/*
 * Moments as people say them. The numbers were computed with another
 * implementation (Python's datetime and zoneinfo).
 */
#include "base/clock.h"
#include "base/when.h"
#include "t.h"

#include <stdlib.h>
#include <time.h>

static const int64_t now = INT64_C(1794766713190); /* 2026-11-15T18:18:33.190Z, 19:18 in Berlin */

static void use_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static int64_t when(struct t *t, const char *text)
{
	int64_t ms = -1;

	if (!when_parse(str_of(text), now, &ms))
		t_fail(t, __FILE__, __LINE__, "'%s' is no time", text);
	return ms;
}

TEST(a_moment_with_a_zone_is_that_moment)
{
	use_zone("CET-1");
	EQ(when(t, "2026-11-15T18:18:33.190Z"), now);
	EQ(when(t, "2026-11-15 19:18:33.190+01:00"), now);
}

TEST(a_date_begins_at_midnight_where_one_is)
{
	use_zone("UTC");
	EQ(when(t, "2026-11-15"), INT64_C(1794700800000));
	EQ(when(t, "2026-11-15 18:18"), INT64_C(1794766680000));
	EQ(when(t, "2026-11-15T18:18"), INT64_C(1794766680000));
	EQ(when(t, "2026-11-15T18:18:33"), INT64_C(1794766713000));
	EQ(when(t, "2026-11-15 18:18:33.19"), now);
	use_zone("CET-1");
	EQ(when(t, "2026-11-15"), INT64_C(1794697200000));
	EQ(when(t, "2026-11-15 19:18:33.190"), now);
	EQ(when(t, "today"), INT64_C(1794697200000));
	EQ(when(t, "yesterday"), INT64_C(1794610800000));
	use_zone("PST8");
	EQ(when(t, "today"), INT64_C(1794729600000));
}

TEST(days_and_months_are_known_by_name_and_without_zeros)
{
	const int64_t day = 86400000, today = INT64_C(1794700800000); /* a Sunday */

	use_zone("UTC");
	EQ(when(t, "sunday"), today);
	EQ(when(t, "Sat"), today - day);
	EQ(when(t, "Monday"), today - 6 * day);
	EQ(when(t, "jan"), INT64_C(1767225600000));
	EQ(when(t, "December"), INT64_C(1764547200000)); /* of the year before */
	EQ(when(t, "Jan 20"), INT64_C(1768867200000));
	EQ(when(t, "20 jan"), INT64_C(1768867200000));
	EQ(when(t, "nov 16"), INT64_C(1763251200000)); /* tomorrow a year ago */
	EQ(when(t, "jan 2025"), INT64_C(1735689600000));
	EQ(when(t, "jan-20-2025"), INT64_C(1737331200000));
	EQ(when(t, "2026-1-5"), INT64_C(1767571200000));
	EQ(when(t, "2026/01/05"), INT64_C(1767571200000));
	EQ(when(t, "20260105"), INT64_C(1767571200000));
	EQ(when(t, "last friday"), today - 2 * day);
	EQ(when(t, "last-sunday"), today - 7 * day);
	EQ(when(t, "1y"), now - 365 * day);
	CHECK(when_goes_on(STR("Jan"), STR("20")));
	CHECK(!when_goes_on(STR("Jan"), STR("next")));
	CHECK(!when_goes_on(STR("monday"), STR("20")));
	CHECK(when_goes_on(STR("last"), STR("friday")));
}

TEST(a_day_may_have_25_hours)
{
	int64_t morning = INT64_C(1793005200000), ms; /* 2026-10-26 10:00, the day after clocks went back */

	use_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	CHECK(when_parse(STR("yesterday"), morning, &ms));
	EQ(ms, INT64_C(1792879200000)); /* 2026-10-25 00:00 +02:00 */
	CHECK(when_parse(STR("today"), morning, &ms));
	EQ(ms, INT64_C(1792969200000));
}

TEST(an_age_counts_back_from_now)
{
	EQ(when(t, "now"), now);
	EQ(when(t, "90s"), now - 90 * 1000);
	EQ(when(t, "30m"), now - 30 * 60 * 1000);
	EQ(when(t, "6h"), now - 6 * 3600 * 1000);
	EQ(when(t, "7d"), now - INT64_C(7) * 86400 * 1000);
	EQ(when(t, "2w"), now - INT64_C(14) * 86400 * 1000);
	EQ(when(t, "0d"), now);
}

TEST(an_age_may_be_said_as_people_say_it)
{
	const int64_t day = INT64_C(86400) * 1000;

	EQ(when(t, "7 days ago"), now - 7 * day);
	EQ(when(t, "2 weeks ago"), now - 14 * day);
	EQ(when(t, "2.weeks.ago"), now - 14 * day);
	EQ(when(t, "2-weeks"), now - 14 * day);
	EQ(when(t, "1 day ago"), now - day);
	EQ(when(t, "a week ago"), now - 7 * day);
	EQ(when(t, "an hour ago"), now - 3600 * 1000);
	EQ(when(t, "3 months ago"), now - 90 * day);
	EQ(when(t, "9mo"), now - 270 * day);
	EQ(when(t, "1 year ago"), now - 365 * day);
	EQ(when(t, "7d ago"), now - 7 * day);
	EQ(when(t, "7 d"), now - 7 * day);
}

TEST(everything_else_is_no_time)
{
	static const char *const texts[] = {
		"",
		"d",
		"7",
		"-7d",
		"1.5h",
		"2026-13-01",
		"2026-11-15T18:18:3",
		"2026-11-15T18:18:33.",
		"2026-11-15T18:18:33.1234567890123456789",
		"2026-11-15T25:18:33",
		"2026-02-29",
		"2026-13-1",
		"jan 32",
		"febru",
		"20",
		"2026-11-15T",
		"20261315",
		"2026-W00",
		"2025-W53",
		"2026-W5",
		"20261115x",
		"tomorrow",
		"Yesterday",
		"yesterday ",
		"99999999999999999999d",
		"9223372036854775807w",
		"2026-11-15 25:00",
		"2026-11-15 18:1",
		"2026-11-15 18:18Z",
		"2026/13/15",
		"11/15/2026",
		"last fri13",
		"ago",
		"days ago",
		"7 ago",
		"7 days before",
		"7 days long ago",
		"7ms",
		"two weeks ago",
		"7  days ago",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		int64_t ms = 12345;

		if (when_parse(str_of(texts[i]), now, &ms) || ms != 12345)
			t_fail(t, __FILE__, __LINE__, "'%s' was taken as %" PRId64, texts[i], ms);
	}
}

static void check_span(struct t *t, const char *text, const char *from, const char *to)
{
	int64_t got_from = -1, got_to = -1, want_from = 0, want_to = 0;

	CHECK(time_parse(str_of(from), &want_from) && time_parse(str_of(to), &want_to));
	if (!when_parse_span(str_of(text), now, &zone_local, &got_from, &got_to) || got_from != want_from ||
	    got_to != want_to)
		t_fail(t, __FILE__, __LINE__, "'%s' is %" PRId64 " to %" PRId64, text, got_from, got_to);
}

TEST(weeks_months_and_years_are_spans_and_begin_with_their_first_day)
{
	int64_t from = 1, to = 2;

	use_zone("CET-1"); /* now is a Sunday */
	EQ(when(t, "2026-01"), INT64_C(1767222000000));
	check_span(t, "2026-01", "2026-01-01T00:00:00+01:00", "2026-02-01T00:00:00+01:00");
	check_span(t, "2025-12", "2025-12-01T00:00:00+01:00", "2026-01-01T00:00:00+01:00");
	check_span(t, "2026", "2026-01-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00");
	check_span(t, "this week", "2026-11-09T00:00:00+01:00", "2026-11-16T00:00:00+01:00");
	check_span(t, "last week", "2026-11-02T00:00:00+01:00", "2026-11-09T00:00:00+01:00");
	check_span(t, "last-month", "2026-10-01T00:00:00+01:00", "2026-11-01T00:00:00+01:00");
	check_span(t, "this month", "2026-11-01T00:00:00+01:00", "2026-12-01T00:00:00+01:00");
	check_span(t, "last year", "2025-01-01T00:00:00+01:00", "2026-01-01T00:00:00+01:00");
	check_span(t, "yesterday", "2026-11-14T00:00:00+01:00", "2026-11-15T00:00:00+01:00");
	check_span(t, "2026-11-03", "2026-11-03T00:00:00+01:00", "2026-11-04T00:00:00+01:00");
	check_span(t, "2026-W05", "2026-01-26T00:00:00+01:00", "2026-02-02T00:00:00+01:00");
	check_span(t, "2026-W01", "2025-12-29T00:00:00+01:00", "2026-01-05T00:00:00+01:00");
	check_span(t, "2020-W53", "2020-12-28T00:00:00+01:00", "2021-01-04T00:00:00+01:00");
	check_span(t, "2026/11/03", "2026-11-03T00:00:00+01:00", "2026-11-04T00:00:00+01:00");
	check_span(t, "7d", "2026-11-08T00:00:00+01:00", "2026-11-09T00:00:00+01:00");
	CHECK(!when_parse_span(STR("2026-13"), now, &zone_local, &from, &to));
	CHECK(!when_parse_span(STR("last"), now, &zone_local, &from, &to));
	CHECK(!when_parse_span(STR("last weak"), now, &zone_local, &from, &to));
	CHECK(!when_parse_span(STR("this"), now, &zone_local, &from, &to));
	CHECK(!when_parse_span(STR(""), now, &zone_local, &from, &to));
	CHECK(from == 1 && to == 2);
}

TEST(the_month_before_january_is_that_of_the_year_before)
{
	int64_t january, from, to, want;

	use_zone("UTC");
	CHECK(time_parse(STR("2026-01-05T12:00:00Z"), &january));
	CHECK(when_parse_span(STR("last month"), january, &zone_local, &from, &to));
	CHECK(time_parse(STR("2025-12-01T00:00:00Z"), &want));
	EQ(from, want);
	CHECK(time_parse(STR("2026-01-01T00:00:00Z"), &want));
	EQ(to, want);
}

TESTS(CASE(a_moment_with_a_zone_is_that_moment), CASE(a_date_begins_at_midnight_where_one_is),
      CASE(days_and_months_are_known_by_name_and_without_zeros),
      CASE(a_day_may_have_25_hours), CASE(an_age_counts_back_from_now),
      CASE(an_age_may_be_said_as_people_say_it), CASE(everything_else_is_no_time),
      CASE(weeks_months_and_years_are_spans_and_begin_with_their_first_day),
      CASE(the_month_before_january_is_that_of_the_year_before))
