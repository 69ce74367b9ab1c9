/*
 * Is a file still what is archived of it?
 */
#ifndef ARBOR_INGEST_COMPARE_H
#define ARBOR_INGEST_COMPARE_H

#include "ingest/sieve.h"

/* Damaged blocks that one comparison remembers; the rest is found by the next. */
enum { COMPARE_DAMAGED = 64 };

struct comparison {
	int64_t equal;           /* leading bytes of file and generation that are the same */
	struct line_count lines; /* of these bytes */
	/* COMPARE_DEEP: blocks that cannot be unpacked although the file still has
	 * their bytes, by their hash. */
	struct archive_block damaged[COMPARE_DAMAGED];
	size_t damaged_count;
};

enum compare_depth {
	COMPARE_QUICK, /* only the first block and the last ones, at least LIMIT_VERIFY_TAIL
	                  bytes; everything when these differ */
	COMPARE_WHOLE, /* every byte of the file against the hashes of the archive */
	COMPARE_DEEP,  /* the same, and the archive against its own hashes */
};

/*
 * Compares what may be kept of the beginning of the file with a generation. A block that differs and
 * is damaged counts as different from its first byte on. `size` is the file's; the sieve
 * has begun with it. Wants a read transaction.
 */
enum status compare_file(struct store *s, struct sieve *sieve, int fd, int64_t size,
			 const struct generation *g, enum compare_depth depth, struct comparison *out,
			 struct err *err) MUST_USE;

#endif
