/*
 * Blocks that were just packed, as they were before: for who reads them next.
 */
#ifndef ARBOR_INGEST_FRESH_H
#define ARBOR_INGEST_FRESH_H

#include "store/archive.h"

struct fresh;

struct fresh_block {
	struct fresh_block *next;
	int64_t generation, offset;
	uint64_t hash;
	size_t n;
	char bytes[];
};

struct fresh *fresh_new(const atomic_bool *cancel); /* cancel may be NULL */
void fresh_free(struct fresh *f); /* NULL is fine, here and below; all others must have ended */

/* A copy of a block's bytes, before it is known where they will be. Waits for room as long as somebody
 * reads. NULL when it is not worth it. */
struct fresh_block *fresh_copy(struct fresh *f, struct str raw, int64_t offset, uint64_t hash);

/* It is archived there: whoever reads may have it. */
void fresh_give(struct fresh *f, struct fresh_block *block, int64_t generation);

/* The bytes of a stored block, whole; whoever takes it lets it go. NULL = they have to be unpacked. */
struct fresh_block *fresh_take(struct fresh *f, int64_t generation, const struct archive_block *b);
void fresh_drop(struct fresh *f, struct fresh_block *block); /* NULL is fine */

/* Nobody will ask any more for what a generation has before an offset. */
void fresh_forget(struct fresh *f, int64_t generation, int64_t before);

/* Nobody reads any more: nobody waits for room. */
void fresh_end(struct fresh *f);

#endif
