/*
 * How two texts differ, line by line.
 */
#ifndef ARBOR_BASE_DIFF_H
#define ARBOR_BASE_DIFF_H

#include "base/buf.h"

struct diff_size {
	int64_t added, removed; /* lines */
};

struct diff_size diff_count(struct str before, struct str after);

/* A unified diff with three lines of context, without the two lines that name the files;
 * nothing when the texts are the same. */
void diff_unified(struct str before, struct str after, struct buf *out);

/* The lines of a text; one that is not ended counts too. */
int64_t diff_lines(struct str text);

#endif
