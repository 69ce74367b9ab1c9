/*
 * Time zones: how far the clocks of a place are from UTC at some moment.
 *
 * The C library knows one zone, that of the process; whoever asks for another one must
 * not change it for everybody. So named zones are read here.
 */
#ifndef ARBOR_BASE_ZONE_H
#define ARBOR_BASE_ZONE_H

#include "base/arena.h"
#include "base/err.h"

/* A day of the year on which clocks change, and at which second of it. */
struct zone_day {
	char kind; /* 'M': month, week, weekday; 'J': day 1..365 without leap day; 'D': day 0..365 */
	int month, week, day;
	int32_t second;
};

/* What holds after the last change that is listed, as POSIX writes it. */
struct zone_rule {
	bool known, has_summer;
	int32_t offset, summer_offset;
	struct zone_day begins, ends; /* of summer, by the clock as it is then */
};

struct zone_change {
	int64_t at; /* second */
	int32_t offset;
};

struct zone {
	bool is_local;	/* the process's own, by the C library */
	int32_t offset; /* seconds east of UTC, before the first change */
	const struct zone_change *changes;
	size_t count;
	struct zone_rule rule;
};

extern const struct zone zone_local, zone_utc;

/* "local", "UTC", a name of the system's list such as Europe/Berlin, or a rule as in the
 * variable TZ. STATUS_USAGE when it is none of them. */
enum status zone_find(struct str name, struct arena *mem, struct zone *out, struct err *err) MUST_USE;

/* The bytes of a TZif file (RFC 9636), and a rule; false when they are broken. */
bool zone_read(struct str bytes, struct arena *mem, struct zone *out);
bool zone_read_rule(struct str text, struct zone_rule *out);

/* Seconds east of UTC. */
int32_t zone_offset(const struct zone *z, int64_t ms);

/* What clocks there show, as if that were UTC: for the calendar. */
int64_t zone_to_clock(const struct zone *z, int64_t ms);

/* The moment at which clocks there show this: of two the first; of none, because clocks
 * were put forward over it, the one just after. */
int64_t zone_from_clock(const struct zone *z, int64_t clock_ms);

#endif
