/*
 * Staying in step: a sync, and then what changes, as it changes.
 */
#ifndef ARBOR_INGEST_WATCH_H
#define ARBOR_INGEST_WATCH_H

#include "ingest/sync.h"

struct watch_options {
	/* Of the first sync, which is of everything. Later ones compare only what has
	 * changed, and have no progress. Trouble with a file is told once, not each time. */
	struct sync_options sync;
	int64_t poll_ms; /* > 0: hear of nothing, look at everything this often */
	/* After the first sync, and after each that brought news. Anything but STATUS_OK ends
	 * the watch. */
	enum status (*synced)(void *ctx, const struct sync_report *r, bool first, struct err *err);
};

/* Until cancelled, which is STATUS_CANCELLED, or something is wrong that does not pass. */
enum status watch_run(struct store *s, const struct watch_options *o, struct err *err) MUST_USE;

#endif
