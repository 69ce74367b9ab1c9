/*
 * Moments as people say them.
 */
#ifndef ARBOR_BASE_WHEN_H
#define ARBOR_BASE_WHEN_H

#include "base/zone.h"

/*
 * Reads a moment: RFC 3339; a date, or a date and hh:mm, of the local time zone
 * (2026-11-15, 2026-11-15 18:00); the beginning of a month or year (2026-11, 2026); now,
 * today, yesterday (from midnight on), this or last week, month, year ("last week",
 * last-week); or how long before `now_ms` it was: 90s, 30m, 6h, 7d, 2w, "7 days ago", 2.weeks.ago
 * (a month is 30 days then, a year 365); the last monday there was, or mon; the last january, jan, "jan 20"; 2026-1-5.
 * False leaves *ms untouched.
 */
bool when_parse(struct str text, int64_t now_ms, int64_t *ms);

/* Whether a time of several words goes on with the next: "last" with "week", "jan" with "20". */
bool when_goes_on(struct str word, struct str next);

/* The same for dates of another zone. */
bool when_parse_in(struct str text, int64_t now_ms, const struct zone *zone, int64_t *ms);

/* Up to when: a day, or whatever else is named, is over only at its end. */
bool when_parse_end(struct str text, int64_t now_ms, const struct zone *zone, int64_t *ms);

/* From when up to when: what is named, or the day in which a moment is. */
bool when_parse_span(struct str text, int64_t now_ms, const struct zone *zone, int64_t *from, int64_t *to);

/* What may be given, for an error that says so. */
#define WHEN_EXAMPLES "a time such as 2026-11-15, yesterday, 7d, '2 weeks ago' or 2026-11-15T18:00:00Z"

#endif
