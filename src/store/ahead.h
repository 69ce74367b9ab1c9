/*
 * The blocks that are going to be read next, unpacked by another thread meanwhile.
 *
 * Only a hint: who asks for a block that was not announced, or not in time, unpacks it as always.
 */
#ifndef ARBOR_STORE_AHEAD_H
#define ARBOR_STORE_AHEAD_H

#include "base/buf.h"
#include "base/err.h"

struct ahead_block {
	int64_t data;  /* its row */
	uint64_t hash; /* of its bytes: the row may get others */
	size_t length; /* unpacked */
};

/* So many at a time. */
enum { AHEAD_BLOCKS = 4 };

struct ahead;

/* NULL where a second thread would not help: on one processor. */
struct ahead *ahead_new(void);
void ahead_free(struct ahead *a); /* NULL is fine */

bool ahead_has(struct ahead *a, const struct ahead_block *b);

/* Takes the place of the one announced first, unless that is being worked on: then nothing
 * happens. `packed` is copied. */
void ahead_announce(struct ahead *a, const struct ahead_block *b, int codec, struct str packed);

/* Appends the bytes of an announced block, which have its hash, to `out` and forgets it. False when it was not
 * announced; *status otherwise says how it went. */
bool ahead_take(struct ahead *a, const struct ahead_block *b, struct buf *out, enum status *status, struct err *err);

#endif
