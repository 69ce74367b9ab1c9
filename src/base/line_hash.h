/*
 * A keyed hash of each line, out of bytes that arrive in pieces.
 *
 * A line goes without its line feed. White space alone is no line: it says nothing, and it is
 * what stands where something was overwritten.
 */
#ifndef ARBOR_BASE_LINE_HASH_H
#define ARBOR_BASE_LINE_HASH_H

#include "base/err.h"
#include "base/hash.h"

/* What a line is hashed with: SHA-256 of a key and its bytes. */
struct line_salt {
	struct sha sha; /* with the key in it */
};

struct line_salt line_salt_of(struct str key);

/* Of one line at hand; false when it is white space alone. */
bool line_hash(const struct line_salt *salt, struct str line, uint8_t out[SHA256_BYTES]);

struct hashed_line {
	int64_t offset, length;
	struct str text;     /* p NULL = it was in several pieces */
	const uint8_t *hash; /* SHA256_BYTES */
};

typedef enum status line_hash_fn(void *ctx, const struct hashed_line *line, struct err *err);

struct line_hasher {
	const struct line_salt *salt;
	line_hash_fn *fn;
	void *ctx;
	const uint64_t *lengths; /* bits of the lengths that are wanted, by line_length_bit(); NULL = all */
	int64_t at;		 /* offset of the next byte */
	/* The line in hand, when its first bytes were in an earlier piece. */
	bool open, solid; /* there is one; it is more than white space */
	int64_t start;
	struct sha sha;
};

enum { LINE_LENGTHS = 1 << 16 };
static inline unsigned line_length_bit(int64_t length)
{
	return (unsigned)length % LINE_LENGTHS;
}

/* `at` is the offset of the first byte, where a line begins. */
void line_hasher_begin(struct line_hasher *h, const struct line_salt *salt, int64_t at, line_hash_fn *fn,
		       void *ctx);
enum status line_hasher_add(struct line_hasher *h, struct str piece, struct err *err) MUST_USE;

/* What has no line feed behind it is a line, too. */
enum status line_hasher_end(struct line_hasher *h, struct err *err) MUST_USE;

#endif
