/*
 * Gaps: bytes of the archive that were overwritten, and are marked so.
 *
 * What stands there is as long as what stood there, so that every other byte keeps its address:
 * blanks, and line feeds where line feeds were. A gap is one or more whole lines, without the
 * last one's line feed. Like blocks, gaps belong to the generation that stores the bytes; who
 * shares its beginning with that one has them, too.
 */
#ifndef ARBOR_STORE_GAP_H
#define ARBOR_STORE_GAP_H

#include "store/archive.h"

struct span {
	int64_t from, to;
};

/* Overwrites bytes in memory. */
void gap_fill(char *bytes, size_t n);

/* Whether that is what stands there. */
bool gap_is_filled(struct str bytes);

/* Overwrites these bytes, which are the generation's own, and marks them. Spans are in order. Blocks
 * that are damaged and lie in a span as a whole are replaced; others are STATUS_CORRUPT. Wants a
 * write transaction. */
enum status gap_make(struct store *s, int64_t generation, const struct span *spans, size_t count, int64_t at,
		     struct err *err) MUST_USE;

/* Marks only: the bytes are being written as they shall be. */
enum status gap_mark(struct store *s, int64_t generation, const struct span *span, int64_t at,
		     struct err *err) MUST_USE;

/* Gives a generation bytes of its own from `from` on, if it shares them with its base, gaps included:
 * before the two are overwritten differently. Wants a write transaction. */
enum status gap_part(struct store *s, int64_t generation, int64_t from, struct err *err) MUST_USE;

/* Overwrites bytes that may partly be its base's, which become its own first. Wants a write
 * transaction. */
enum status gap_make_tail(struct store *s, int64_t generation, struct span span, struct err *err) MUST_USE;

struct gap {
	struct span span;
	struct str reason;
	int64_t at; /* of the last of them */
};

/* The gaps in [offset, offset + length) of a generation, in order. Neighbours for the same reason,
 * with only a line feed between them, are one. Wants a read transaction. */
typedef enum status gap_fn(void *ctx, const struct gap *g, struct err *err);
enum status gap_each(struct store *s, int64_t generation, int64_t offset, int64_t length, gap_fn *fn,
		     void *ctx, struct err *err) MUST_USE;

/* Whether all of these bytes are in gaps, or line feeds between two. Wants a read transaction. */
enum status gap_covers(struct store *s, int64_t generation, const struct span *span, bool *out,
		       struct err *err) MUST_USE;

/* How many bytes are in them. */
enum status gap_bytes(struct store *s, int64_t generation, int64_t offset, int64_t length, int64_t *out,
		      struct err *err) MUST_USE;

#endif
