/*
 * Documents of lines that stand more than once: in files that were forked or resumed, or twice in one. Of those that
 * say the same the first counts, by session and offset; the others are noted here, so that a search passes them over.
 */
#ifndef ARBOR_STORE_COPIED_H
#define ARBOR_STORE_COPIED_H

#include "base/arena.h"
#include "store/fulltext.h"

/* Looks at all lines with this key, which are in node_key. Wants a write transaction. */
enum status copied_note(struct store *s, int64_t key, struct err *err) MUST_USE;

/* Before a session and its kin are keyed again. Wants a write transaction. */
enum status copied_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

/* All of them, by sequence, as an array in the arena. */
enum status copied_load(struct store *s, struct arena *mem, struct doc_range **out, size_t *count,
			struct err *err) MUST_USE;

/* The lines that stand before one and say the same, by session and offset: as documents, with the same block. */
typedef enum status copied_fn(void *ctx, const struct doc *doc, bool *go_on, struct err *err);
enum status copied_before(struct store *s, const struct doc *doc, copied_fn *fn, void *ctx, bool *to_the_end,
			  struct err *err) MUST_USE;

#endif
