/*
 * What may be kept of a file: its bytes as they are, but lines with a tombstone are blank from the
 * moment they are read.
 *
 * Everything that reads a file for the archive reads it through this, so a file is compared, packed,
 * recognised and repaired as what the archive has of it, and nothing else has to know of purging.
 */
#ifndef ARBOR_INGEST_SIEVE_H
#define ARBOR_INGEST_SIEVE_H

#include "store/gap.h"
#include "store/tombstone.h"

struct sieve {
	struct store *store; /* that has the tombstones */
	bool any;	     /* of lines; if there are none, everything passes */
	struct line_salt salt;
	struct buf piece; /* of a line that is longer than what is at hand */
	/* The file, and its line that was looked at last beyond what was at hand. */
	int fd;
	int64_t size;
	struct span line;
	bool line_goes;
};

/* `mark` is the store's (store/tombstone.h). */
enum status sieve_init(struct sieve *v, struct store *s, int64_t mark, struct err *err) MUST_USE;
void sieve_release(struct sieve *v);

/* The file to be read, as long as it was when it was opened. Whatever it is called: a copy of a transcript
 * may lie anywhere. */
void sieve_begin(struct sieve *v, int fd, int64_t size);

/* Overwrites what may not be kept of the file's bytes at an offset. The lines of which they are part
 * may begin before them and end behind; `fn` is told what of each was overwritten, may be NULL. */
typedef void sieve_fn(void *ctx, const struct span *span);
enum status sieve_bytes(struct sieve *v, int64_t offset, char *bytes, size_t n, sieve_fn *fn, void *ctx,
			struct err *err) MUST_USE;

/* The line with the byte at an offset, without its line feed, and whether it may not be kept. */
enum status sieve_line(struct sieve *v, int64_t offset, struct span *line, bool *goes,
		       struct err *err) MUST_USE;

#endif
