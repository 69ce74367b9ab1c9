/*
 * Which transcripts share lines.
 */
#ifndef ARBOR_STORE_SHARING_H
#define ARBOR_STORE_SHARING_H

#include "base/arena.h"
#include "store/store.h"

/* Rows of the transcripts that have a line or message of this one, or hang on one: in their order, in the arena.
 * Wants a read transaction. */
enum status sharing_list(struct store *s, int64_t session, struct arena *mem, int64_t **out, size_t *count,
			 struct err *err) MUST_USE;

#endif
