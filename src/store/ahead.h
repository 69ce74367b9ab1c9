/*
 * Blocks that are going to be read, unpacked by another thread meanwhile.
 *
 * Only hints: who asks for a block that was not announced, or not in time, unpacks it as always.
 */
#ifndef ARBOR_STORE_AHEAD_H
#define ARBOR_STORE_AHEAD_H

#include "base/buf.h"
#include "base/err.h"

/* Which block, and how much of it. */
struct ahead_block {
	int64_t data;	/* its row */
	uint64_t hash;	/* of its bytes: the row may get others */
	size_t length;	/* unpacked */
	size_t wanted;	/* of them, from the front */
};

struct ahead;

/* NULL where a second thread would not help: on one processor, or without memory. */
struct ahead *ahead_new(void);
void ahead_free(struct ahead *a); /* NULL is fine */

/* So many can wait; announcing more than that does nothing. */
enum { AHEAD_BLOCKS = 16 };

/* Whether it is announced already, with as much of it. */
bool ahead_has(struct ahead *a, const struct ahead_block *b);
void ahead_announce(struct ahead *a, const struct ahead_block *b, int codec, struct str packed);

/* Appends the wanted bytes of an announced block to `out` and forgets it. False when it was not
 * announced; *status otherwise says how it went. */
bool ahead_take(struct ahead *a, const struct ahead_block *b, struct buf *out, enum status *status, struct err *err);

#endif
