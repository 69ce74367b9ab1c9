/*
 * On which branch of git a line was written.
 */
#ifndef ARBOR_QUERY_BRANCHES_H
#define ARBOR_QUERY_BRANCHES_H

#include "base/map.h"
#include "store/branch.h"

/* Keeps what it has loaded of transcripts. */
struct branches {
	struct arena mem;
	struct map known; /* row -> its runs */
};

void branches_release(struct branches *b);

/* Of the line at an offset of a transcript, by its row; empty = on none. Good as long as `b` is. Wants a read
 * transaction. */
enum status branches_at(struct branches *b, struct store *s, int64_t session, int64_t offset, struct str *out,
			struct err *err) MUST_USE;

#endif
