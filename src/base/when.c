/*
 * Moments as people say them: days of their calendar, and how long ago.
 *
 * What has a zone in it is base/clock.c's. Without one, a date means the local
 * calendar, so this is the one place below the faces that asks the C library for
 * it. "7d" is seven times 24 hours, whatever clocks did meanwhile; "yesterday"
 * begins at a midnight, however long the day was.
 */
#include "base/when.h"

#include "base/clock.h"

#include <time.h>

/* The local midnight that began the day of this moment, `back` days earlier. */
static bool local_midnight(int64_t ms, int back, int64_t *out)
{
	time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));
	struct tm parts;

	if (!localtime_r(&seconds, &parts))
		return false;
	parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
	parts.tm_mday -= back;
	parts.tm_isdst = -1;
	seconds = mktime(&parts);
	*out = (int64_t)seconds * 1000;
	return true;
}

static bool parse_name(struct str text, int64_t now_ms, int64_t *ms)
{
	if (str_eq(text, STR("now"))) {
		*ms = now_ms;
		return true;
	}
	if (str_eq(text, STR("today")))
		return local_midnight(now_ms, 0, ms);
	return str_eq(text, STR("yesterday")) && local_midnight(now_ms, 1, ms);
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

/* The moment at which clocks of the local zone show what `utc_ms` is in UTC. */
static bool from_local(int64_t utc_ms, int64_t *ms)
{
	time_t seconds = (time_t)(utc_ms / 1000);
	struct tm parts;

	if (!gmtime_r(&seconds, &parts))
		return false;
	parts.tm_isdst = -1;
	*ms = (int64_t)mktime(&parts) * 1000;
	return true;
}

/* A date, or a date and hh:mm, without a zone: read as UTC first, by the one who
 * knows which dates there are. */
static bool parse_date(struct str text, int64_t *ms)
{
	char whole[] = "0000-00-00T00:00:00Z";
	const size_t date = 10, minutes = 16;
	int64_t utc;

	if (text.n != date && text.n != minutes)
		return false;
	for (size_t i = 0; i < text.n; i++)
		whole[i] = text.p[i];
	return time_parse(str_of(whole), &utc) && from_local(utc, ms);
}

bool when_parse(struct str text, int64_t now_ms, int64_t *ms)
{
	return time_parse(text, ms) || parse_name(text, now_ms, ms) || parse_age(text, now_ms, ms) ||
	       parse_date(text, ms);
}
