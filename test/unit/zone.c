/*
 * Time zones. The offsets were computed with another implementation (Python's zoneinfo).
 */
#include "base/clock.h"
#include "base/when.h"
#include "base/zone.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";

static int64_t moment(struct t *t, const char *text)
{
	int64_t ms = -1;

	if (!time_parse(str_of(text), &ms))
		t_fail(t, __FILE__, __LINE__, "'%s' is no time", text);
	return ms;
}

static struct zone zone_of(struct t *t, const char *name, struct arena *mem)
{
	struct zone z;
	struct err err;

	if (zone_find(str_of(name), mem, &z, &err))
		t_fail(t, __FILE__, __LINE__, "%s: %s", name, err.text);
	return z;
}

TEST(a_rule_says_when_clocks_change)
{
	static const struct {
		const char *rule, *at;
		int offset;
	} cases[] = {
		{ berlin, "2026-03-29T00:59:59Z", 3600 },
		{ berlin, "2026-03-29T01:00:00Z", 7200 },
		{ berlin, "2026-10-25T00:59:59Z", 7200 },
		{ berlin, "2026-10-25T01:00:00Z", 3600 },
		{ "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18000 },
		{ "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14400 },
		{ "EST5EDT,M3.2.0,M11.1.0", "2026-11-01T05:59:59Z", -14400 },
		{ "EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -18000 },
		{ "AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39600 },
		{ "AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01T00:00:00Z", 36000 },
		{ "AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-12-31T23:59:59Z", 39600 },
		{ "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-15T00:00:00Z", 0 },
		{ "IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-15T00:00:00Z", 3600 },
		{ "<+0545>-5:45", "2026-07-15T00:00:00Z", 20700 },
		{ "XXX3YYY,J60/0,J300/0", "2024-02-29T12:00:00Z", -10800 },
		{ "XXX3YYY,J60/0,J300/0", "2024-03-01T12:00:00Z", -7200 },
		{ "XXX3YYY,59/0,299/0", "2024-02-29T12:00:00Z", -7200 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct zone z = { 0 };

		CHECK(zone_read_rule(str_of(cases[i].rule), &z.rule));
		EQ(zone_offset(&z, moment(t, cases[i].at)), cases[i].offset);
	}
}

TEST(a_broken_rule_is_none)
{
	static const char *const broken[] = { "",
					      "X",
					      "CET",
					      "CET-",
					      "CET-1CEST",
					      "CET-1CEST,M3.5.0",
					      "CET-1CEST,M0.1.0,M1.1.0",
					      "CET-1CEST,M3.6.0,M1.1.0",
					      "CET-1CEST,M3.5.0,M10.5.0/",
					      "<CET-1",
					      "CET-1 ",
					      "CET-999",
					      "CET-1:99" };
	struct zone_rule rule;

	for (size_t i = 0; i < COUNT(broken); i++)
		if (zone_read_rule(str_of(broken[i]), &rule))
			t_fail(t, __FILE__, __LINE__, "'%s' is a rule", broken[i]);
}

TEST(what_clocks_show_becomes_a_moment)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct zone z = zone_of(t, berlin, &mem), brazil = zone_of(t, "<-03>3<-02>,M10.3.0/0,M2.3.0/0", &mem);

	EQ(zone_from_clock(&z, moment(t, "2026-07-01T12:00:00Z")), moment(t, "2026-07-01T10:00:00Z"));
	EQ(zone_from_clock(&z, moment(t, "2026-12-01T12:00:00Z")), moment(t, "2026-12-01T11:00:00Z"));
	/* It is half past two twice: the first. It never is: the moment as clocks were before. */
	EQ(zone_from_clock(&z, moment(t, "2026-10-25T02:30:00Z")), moment(t, "2026-10-25T00:30:00Z"));
	EQ(zone_from_clock(&z, moment(t, "2026-03-29T02:30:00Z")), moment(t, "2026-03-29T01:30:00Z"));
	/* A day that begins at one o'clock. */
	EQ(zone_from_clock(&brazil, moment(t, "2018-10-21T00:00:00Z")), moment(t, "2018-10-21T03:00:00Z"));
}

/* A file as zic writes it: one change, at `at`, from UTC+0 to UTC+1. */
static struct str make_file(char out[256], int64_t at, const char *rule)
{
	static const unsigned char header[44] = { 'T', 'Z', 'i', 'f', '2', [35] = 1, [39] = 2, [43] = 4 };
	char *to = out;

	memset(out, 0, 256);
	memcpy(to, "TZif2", 5); /* the part of 32 bit, empty */
	memcpy(to += 44, header, 44);
	to += 44;
	for (int i = 7; i >= 0; i--)
		*to++ = (char)(at >> (8 * i));
	*to++ = 1;
	memcpy(to, "\0\0\0\0\0\0\0\0\x0e\x10\1\0abc", 16);
	to += 16;
	*to++ = '\n';
	memcpy(to, rule, strlen(rule));
	to += strlen(rule);
	*to++ = '\n';
	return str_from(out, (size_t)(to - out));
}

TEST(a_file_lists_changes_and_ends_with_a_rule)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	int64_t at = moment(t, "2007-06-01T00:00:00Z") / 1000;
	char bytes[256];
	struct zone z;
	struct str file = make_file(bytes, at, berlin);

	CHECK(zone_read(file, &mem, &z));
	EQ(zone_offset(&z, at * 1000 - 1), 0);
	EQ(zone_offset(&z, at * 1000), 7200); /* by the rule */
	EQ(zone_offset(&z, moment(t, "2040-01-01T00:00:00Z")), 3600);
	CHECK(zone_read(make_file(bytes, at, ""), &mem, &z));
	EQ(zone_offset(&z, at * 1000), 3600); /* by the list */
	file = make_file(bytes, at, berlin);
	for (size_t n = 0; n < file.n; n++) {
		char *exact = malloc(n ? n : 1); /* so that a sanitizer sees the end */

		memcpy(exact, bytes, n);
		CHECK(!zone_read(str_from(exact, n), &mem, &z));
		free(exact);
	}
}

TEST(damaged_files_are_refused_or_read_within_bounds)
{
	char bytes[256], good[256];
	struct str file = make_file(good, 1000, berlin);

	for (size_t i = 0; i < file.n; i++)
		for (int flip = 1; flip < 256; flip <<= 1) {
			struct arena mem CLEANUP(arena_release) = ARENA_INIT;
			struct zone z;

			memcpy(bytes, good, sizeof bytes);
			bytes[i] = (char)(bytes[i] ^ flip);
			if (zone_read(str_from(bytes, file.n), &mem, &z))
				CHECK(zone_offset(&z, 0) < 10 * 86400);
		}
}

TEST(names_are_those_of_the_system)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct zone z;
	struct err err;

	z = zone_of(t, "UTC", &mem);
	EQ(zone_offset(&z, moment(t, "2026-07-01T00:00:00Z")), 0);
	setenv("TZ", "PST8", 1);
	tzset();
	z = zone_of(t, "local", &mem);
	EQ(zone_offset(&z, moment(t, "2026-07-01T00:00:00Z")), -28800);
	static const char *const bad[] = { "",		"/etc/passwd", "../zoneinfo/UTC", "Europe/../UTC",
					   "Mars/Base", "Europe" };
	for (size_t i = 0; i < COUNT(bad); i++)
		EQ(zone_find(str_of(bad[i]), &mem, &z, &err), STATUS_USAGE);
	if (access("/usr/share/zoneinfo/America/New_York", R_OK))
		SKIP("the system has no list of time zones; named ones are NOT CHECKED");
	z = zone_of(t, "America/New_York", &mem);
	EQ(zone_offset(&z, moment(t, "1995-07-01T00:00:00Z")), -14400);
	EQ(zone_offset(&z, moment(t, "2026-11-01T05:59:59Z")), -14400);
	EQ(zone_offset(&z, moment(t, "2026-11-01T06:00:00Z")), -18000);
	EQ(zone_offset(&z, moment(t, "2100-07-01T00:00:00Z")), -14400);
}

TEST(a_day_is_one_of_the_zone)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct zone z = zone_of(t, berlin, &mem);
	int64_t ms, now = moment(t, "2026-10-25T12:00:00Z");

	CHECK(when_parse_in(STR("2026-10-25"), now, &z, &ms));
	EQ(ms, moment(t, "2026-10-24T22:00:00Z"));
	CHECK(when_parse_end(STR("2026-10-25"), now, &z, &ms)); /* 25 hours later */
	EQ(ms, moment(t, "2026-10-25T23:00:00Z"));
	CHECK(when_parse_end(STR("today"), now, &z, &ms));
	EQ(ms, moment(t, "2026-10-25T23:00:00Z"));
	CHECK(when_parse_end(STR("2026-10-25 12:00"), now, &z, &ms));
	EQ(ms, moment(t, "2026-10-25T11:00:00Z"));
}

TESTS(CASE(a_rule_says_when_clocks_change), CASE(a_broken_rule_is_none),
      CASE(what_clocks_show_becomes_a_moment), CASE(a_file_lists_changes_and_ends_with_a_rule),
      CASE(damaged_files_are_refused_or_read_within_bounds), CASE(names_are_those_of_the_system),
      CASE(a_day_is_one_of_the_zone))
