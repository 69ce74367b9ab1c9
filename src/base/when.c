/*
 * Moments as people say them: days of their calendar, and how long ago.
 *
 * What has a zone in it is base/clock.c's. Without one, a date means the calendar of the
 * zone that is asked for, mostly the local one.
 * "7d" is seven times 24 hours, whatever clocks did meanwhile; "yesterday"
 * begins at a midnight, however long the day was.
 */
#include "base/when.h"

#include "base/clock.h"

enum { MS_DAY = 24 * 3600 * 1000 };

/* The midnight that began the day of this moment, `back` days earlier. */
static int64_t midnight(const struct zone *zone, int64_t ms, int back)
{
	int64_t clock = zone_to_clock(zone, ms);
	int64_t days = clock / MS_DAY - (clock % MS_DAY < 0);

	return zone_from_clock(zone, (days - back) * MS_DAY);
}

static bool parse_name(struct str text, int64_t now_ms, const struct zone *zone, int64_t *ms)
{
	if (str_eq(text, STR("now")))
		*ms = now_ms;
	else if (str_eq(text, STR("today")))
		*ms = midnight(zone, now_ms, 0);
	else if (str_eq(text, STR("yesterday")))
		*ms = midnight(zone, now_ms, 1);
	else
		return false;
	return true;
}

/* A number and its unit. */
static bool parse_age(struct str text, int64_t now_ms, int64_t *ms)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	const uint64_t most = 100000; /* weeks: further back than any date */
	uint64_t n;

	if (text.n < 2 || !str_to_u64(str_sub(text, 0, text.n - 1), &n))
		return false;
	for (size_t i = 0; i < COUNT(units); i++)
		if (text.p[text.n - 1] == units[i].letter &&
		    n <= most * 7 * 86400 / (uint64_t)units[i].seconds) {
			*ms = now_ms - (int64_t)n * units[i].seconds * 1000;
			return true;
		}
	return false;
}

/* A date, or a date and hh:mm, without a zone: read as UTC first, by the one who
 * knows which dates there are. */
static bool parse_date(struct str text, const struct zone *zone, int64_t *ms)
{
	char whole[] = "0000-00-00T00:00:00Z";
	const size_t date = 10, minutes = 16;
	int64_t utc;

	if (text.n != date && text.n != minutes)
		return false;
	for (size_t i = 0; i < text.n; i++)
		whole[i] = text.p[i];
	if (!time_parse(str_of(whole), &utc))
		return false;
	*ms = zone_from_clock(zone, utc);
	return true;
}

bool when_parse_in(struct str text, int64_t now_ms, const struct zone *zone, int64_t *ms)
{
	return time_parse(text, ms) || parse_name(text, now_ms, zone, ms) || parse_age(text, now_ms, ms) ||
	       parse_date(text, zone, ms);
}

bool when_parse(struct str text, int64_t now_ms, int64_t *ms)
{
	return when_parse_in(text, now_ms, &zone_local, ms);
}

bool when_parse_end(struct str text, int64_t now_ms, const struct zone *zone, int64_t *ms)
{
	const size_t date = 10;
	bool is_day = text.n == date || str_eq(text, STR("today")) || str_eq(text, STR("yesterday"));

	if (!when_parse_in(text, now_ms, zone, ms))
		return false;
	if (is_day)
		*ms = midnight(zone, *ms, -1);
	return true;
}
