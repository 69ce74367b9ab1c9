/*
 * Time: int64 milliseconds since 1970-01-01T00:00:00Z, and its RFC 3339 text.
 *
 * What is stored or compared comes from a struct clock, so that tests set it.
 * clock_monotonic_ns() is for durations only and cannot be set.
 */
#ifndef ARBOR_BASE_CLOCK_H
#define ARBOR_BASE_CLOCK_H

#include "base/str.h"

struct clock {
	int64_t (*now_ms)(void *ctx);
	void *ctx;
};

struct clock clock_system(void);
int64_t clock_now(const struct clock *c);
int64_t clock_monotonic_ns(void);

enum { TIME_TEXT = 24 }; /* 2026-11-15T18:18:33.190Z */

/* Prints UTC with milliseconds and a NUL. Years outside 0000..9999 are printed
 * as the nearest representable moment. */
void time_print(int64_t ms, char out[TIME_TEXT + 1]);

/* RFC 3339: date, 'T' or 't' or a space, time, optional fraction of any length
 * (cut to milliseconds), 'Z', 'z' or +hh:mm. Second 60 is taken as the first
 * of the next minute. False leaves *ms untouched. */
bool time_parse(struct str text, int64_t *ms);

/* ---- The calendar ---- */

struct date {
	int year, month, day; /* from 1 on */
};

int64_t days_of_date(struct date d);	   /* since 1970-01-01 */
struct date date_of_days(int64_t days); /* the inverse, for days from 0000-01-01 on */
int days_in_month(int year, int month);

#endif
