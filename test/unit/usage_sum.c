/*
 * Adding answers up: parts of the calendar, billing blocks, prices. Weeks and days were
 * computed with another implementation (Python's datetime and zoneinfo).
 */
#include "base/clock.h"
#include "query/usage_sum.h"
#include "t.h"

#include <stdio.h>

static int64_t moment(struct t *t, const char *text)
{
	int64_t ms = -1;

	if (!time_parse(str_of(text), &ms))
		t_fail(t, __FILE__, __LINE__, "'%s' is no time", text);
	return ms;
}

static struct zone rule(struct t *t, const char *text)
{
	struct zone z = { 0 };

	CHECK(zone_read_rule(str_of(text), &z.rule));
	return z;
}

static void check_name(struct t *t, enum usage_period period, const struct zone *z, const char *at,
		       const char *want)
{
	char name[PERIOD_TEXT];

	EQS(usage_period_name(period, z, moment(t, at), name), str_of(want));
}

TEST(a_week_is_of_the_year_of_its_thursday)
{
	check_name(t, USAGE_WEEK, &zone_utc, "2024-12-29T23:59:59Z", "2024-W52");
	check_name(t, USAGE_WEEK, &zone_utc, "2024-12-30T00:00:00Z", "2025-W01");
	check_name(t, USAGE_WEEK, &zone_utc, "2026-01-01T00:00:00Z", "2026-W01");
	check_name(t, USAGE_WEEK, &zone_utc, "2026-01-04T12:00:00Z", "2026-W01");
	check_name(t, USAGE_WEEK, &zone_utc, "2026-01-05T00:00:00Z", "2026-W02");
	check_name(t, USAGE_WEEK, &zone_utc, "2027-01-03T00:00:00Z", "2026-W53");
	check_name(t, USAGE_WEEK, &zone_utc, "2023-01-01T00:00:00Z", "2022-W52");
}

TEST(days_and_months_are_those_of_the_zone)
{
	struct zone tokyo = rule(t, "JST-9"), york = rule(t, "EST5EDT,M3.2.0,M11.1.0");

	check_name(t, USAGE_DAY, &zone_utc, "2026-02-28T23:30:00Z", "2026-02-28");
	check_name(t, USAGE_DAY, &tokyo, "2026-02-28T23:30:00Z", "2026-03-01");
	check_name(t, USAGE_MONTH, &tokyo, "2026-02-28T23:30:00Z", "2026-03");
	check_name(t, USAGE_MONTH, &york, "2026-03-01T04:59:59Z", "2026-02");
	check_name(t, USAGE_DAY, &york, "2026-07-01T03:59:59Z", "2026-06-30");
	check_name(t, USAGE_DAY, &york, "2026-07-01T04:00:00Z", "2026-07-01");
	check_name(t, USAGE_WEEK, &york, "2026-01-05T04:59:59Z", "2026-W01");
}

TEST(an_hour_that_comes_twice_has_two_names)
{
	struct zone berlin = rule(t, "CET-1CEST,M3.5.0,M10.5.0/3");

	check_name(t, USAGE_HOUR, &berlin, "2026-10-24T10:15:00Z", "2026-10-24 12:00");
	check_name(t, USAGE_HOUR, &berlin, "2026-10-25T00:30:00Z", "2026-10-25 02:00 +02:00");
	check_name(t, USAGE_HOUR, &berlin, "2026-10-25T01:30:00Z", "2026-10-25 02:00 +01:00");
	check_name(t, USAGE_HOUR, &berlin, "2026-10-25T02:30:00Z", "2026-10-25 03:00");
}

TEST(what_has_no_time_is_in_no_part_of_the_calendar)
{
	char name[PERIOD_TEXT];

	EQS(usage_period_name(USAGE_DAY, &zone_utc, 0, name), STR("unknown"));
}

static void check_blocks(struct t *t, const char *const times[][2], size_t count)
{
	struct usage_blocks blocks = { 0 };

	for (size_t i = 0; i < count; i++)
		EQ(usage_block(&blocks, moment(t, times[i][0])), moment(t, times[i][1]));
}

TEST(a_block_begins_at_a_full_hour_and_lasts_for_five)
{
	static const char *const times[][2] = {
		{ "2026-01-05T10:55:00Z", "2026-01-05T10:00:00Z" },
		{ "2026-01-05T14:59:59Z", "2026-01-05T10:00:00Z" },
		{ "2026-01-05T15:00:00Z", "2026-01-05T10:00:00Z" }, /* the very end is in it */
		{ "2026-01-05T15:00:00.001Z", "2026-01-05T15:00:00Z" },
		{ "2026-01-05T20:30:00Z", "2026-01-05T20:00:00Z" },
	};

	check_blocks(t, times, COUNT(times));
}

TEST(a_block_before_1970_begins_before_its_answers)
{
	static const char *const times[][2] = { { "1969-12-31T22:30:00Z", "1969-12-31T22:00:00Z" } };

	check_blocks(t, times, COUNT(times));
}

TEST(a_block_is_over_after_five_quiet_hours)
{
	static const char *const times[][2] = {
		{ "2026-01-05T10:00:00Z", "2026-01-05T10:00:00Z" },
		{ "2026-01-05T15:00:00.500Z", "2026-01-05T15:00:00Z" },
		{ "2026-01-06T15:30:00Z", "2026-01-06T15:00:00Z" },
	};

	check_blocks(t, times, COUNT(times));
}

TEST(a_sum_says_which_tokens_have_no_price)
{
	struct usage_prices prices = { 0 };
	struct usage_sum sum = { 0 };
	struct usage known = { .at = 1000,
			       .input = 1000,
			       .written = 30,
			       .written_1h = 10,
			       .model = STR("claude-opus-4-8"),
			       .final = true },
		     strange = { .at = 5000, .output = 7, .model = STR("someone-elses") },
		     nameless = { .read = 3 };

	CHECK(usage_sum_add(&sum, &known, &prices));
	EQ(sum.nano, 1000 * 5000 + 20 * 6250 + 10 * 10000);
	CHECK(!usage_sum_add(&sum, &strange, &prices));
	CHECK(!usage_sum_add(&sum, &nameless, &prices));
	EQ(sum.nano, 1000 * 5000 + 20 * 6250 + 10 * 10000);
	EQ(sum.unpriced, 10);
	EQ(sum.answers, 3);
	EQ(sum.provisional, 2);
	EQ(sum.first, 1000);
	EQ(sum.last, 5000);
	EQ(usage_tokens(&sum), 1040);
}

TEST(an_answer_has_the_price_of_its_time_in_whichever_order_answers_come)
{
	struct usage_prices prices = { 0 };
	struct usage answers[] = {
		{ .at = INT64_C(1791331200000), .read = 1000, .model = STR("claude-sonnet-5-5") },
		{ .at = INT64_C(1791331199999), .read = 1000, .model = STR("claude-sonnet-5-5") },
		{ .at = INT64_C(1791331200001), .read = 1000, .model = STR("claude-sonnet-5-5") },
	};
	int64_t nano[COUNT(answers)];

	for (size_t i = 0; i < COUNT(answers); i++) {
		struct usage_sum sum = { 0 };

		answers[i].model.p = answers[0].model.p;
		CHECK(usage_sum_add(&sum, &answers[i], &prices));
		nano[i] = sum.nano;
	}
	EQ(nano[0], 1000 * 100);
	EQ(nano[1], 1000 * 200);
	EQ(nano[2], 1000 * 100);
}

TEST(sums_are_kept_by_name_and_model)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct usage_sums sums CLEANUP(usage_sums_release) = { .mem = &mem };
	struct usage_sum *first, *other;
	bool is_new;

	first = usage_sums_get(&sums, STR("day"), STR("a"), &is_new);
	CHECK(is_new);
	other = usage_sums_get(&sums, STR("day"), STR("b"), &is_new);
	CHECK(is_new && other != first);
	CHECK(usage_sums_get(&sums, STR("day"), STR("a"), &is_new) == first && !is_new);
	for (int i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof name, "%d", i);
		usage_sums_get(&sums, str_of(name), (struct str){ 0 }, &is_new);
		CHECK(is_new);
	}
	EQ(sums.count, 1002);
	EQS(sums.list[1001]->key, STR("999"));
}

TESTS(CASE(a_week_is_of_the_year_of_its_thursday), CASE(days_and_months_are_those_of_the_zone),
      CASE(an_hour_that_comes_twice_has_two_names), CASE(what_has_no_time_is_in_no_part_of_the_calendar),
      CASE(a_block_begins_at_a_full_hour_and_lasts_for_five),
      CASE(a_block_before_1970_begins_before_its_answers), CASE(a_block_is_over_after_five_quiet_hours),
      CASE(a_sum_says_which_tokens_have_no_price),
      CASE(an_answer_has_the_price_of_its_time_in_whichever_order_answers_come),
      CASE(sums_are_kept_by_name_and_model))
