/*
 * Lines out of bytes that arrive in pieces.
 */
#ifndef ARBOR_BASE_SPLIT_H
#define ARBOR_BASE_SPLIT_H

#include "base/buf.h"
#include "base/hash.h"

struct split_line {
	struct str text; /* without its line feed; p NULL = it is too long */
	int64_t offset;	 /* of its first byte */
	int64_t length;
	const uint8_t *digest; /* SHA-256, when it is too long */
};

/* False ends the splitting. */
typedef bool split_fn(void *ctx, const struct split_line *line);

struct split {
	split_fn *fn;
	void *ctx;
	int64_t at;	  /* offset of the next byte */
	struct buf carry; /* the beginning of a line that goes on in the next piece */
	int64_t start;	  /* its offset */
	bool too_long;	  /* the line in hand: only digest and length are kept */
	struct sha digest;
};

/* Lines longer than `most` bytes are not kept. `at` is the offset of the first byte. */
void split_begin(struct split *s, size_t most, int64_t at, split_fn *fn, void *ctx);
void split_release(struct split *s);

/* Lines that lie in one piece are handed over where they are. False when the
 * function has said so. */
bool split_add(struct split *s, struct str piece);

/* What has no line feed behind it yet; empty when there is nothing, or when it is too
 * long. */
struct str split_rest(const struct split *s);

/* Hands that over as a line, if there is anything. */
bool split_end(struct split *s);

#endif
