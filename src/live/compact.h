/*
 * Old deltas, put together.
 */
#ifndef ARBOR_LIVE_COMPACT_H
#define ARBOR_LIVE_COMPACT_H

#include "store/event.h"

/* Of streams that ended before that moment, at most so many. Counts streams, and events that are parts of others
 * now. */
enum status compact_streams(struct store *s, int64_t before, int64_t most, int64_t *streams, int64_t *events,
			    struct err *err) MUST_USE;

/* What `before` is when deltas are kept for so many days; 0 days = for ever. */
int64_t compact_before(const struct store *s, int64_t days);

#endif
