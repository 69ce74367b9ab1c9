/*
 * From when up to when: the parameters of every listing by time, and what they mean together.
 */
#ifndef ARBOR_HUB_PERIOD_H
#define ARBOR_HUB_PERIOD_H

#include "base/zone.h"
#include "hub/call.h"

/* For the tables of methods; `what` begins the sentences. */
#define PERIOD_PARAMS(what) \
	{ .name = "since", \
	  .type = VALUE_TIME, \
	  .help = what " from then on: 2026-11-15, 2026-11, yesterday, 7d, '2 weeks ago'" }, \
	{ .name = "before", .type = VALUE_TIME, .help = what " before that" }, \
	{ .name = "until", .type = VALUE_TIME, .help = what " up to then; a day counts as a whole" }, \
	{ .name = "days", \
	  .type = VALUE_INT, \
	  .least = 1, \
	  .most = 100000, \
	  .help = what " of the last so many days" }

struct period {
	int64_t from, to; /* ms; `to` is not in it any more. INT64_MIN, INT64_MAX = no bound */
};

/* Whether any of them was given. */
bool period_is_given(const struct call *c);

/* Of a call whose method has these parameters: what all that were given leave. Dates are of the zone. Wants a
 * store. Whoever asks for no time at all is told so. */
struct period period_read(const struct call *c, const struct zone *zone);

bool period_has(const struct period *p, int64_t at);

#endif
