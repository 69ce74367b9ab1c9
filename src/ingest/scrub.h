/*
 * Overwriting what has a tombstone, in the archive as it is.
 */
#ifndef ARBOR_INGEST_SCRUB_H
#define ARBOR_INGEST_SCRUB_H

#include "base/line_hash.h"
#include "store/store.h"

struct scrub_source {
	int64_t row;
	struct uuid id;
	struct str path;
	bool whole; /* all of it goes; else lines with a tombstone do */
};

/* In all versions of a source, in transactions of its own. What is derived of it is forgotten with the first
 * byte, and the source is unread afterwards. What has been overwritten already is left as it is. *damaged:
 * there are blocks that cannot be read; unless the source goes as a whole, so what is in them is left. */
enum status scrub_source(struct store *s, const struct line_salt *salt, const struct scrub_source *source,
			 bool *damaged, struct err *err) MUST_USE;

/* Where the line begins of which the byte at an offset of a generation is part. Wants a read transaction. */
enum status scrub_line_start(struct store *s, int64_t generation, int64_t offset, int64_t *out,
			     struct err *err) MUST_USE;

#endif
