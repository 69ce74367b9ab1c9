/*
 * Counting lines in bytes that arrive in pieces.
 */
#ifndef ARBOR_BASE_LINES_H
#define ARBOR_BASE_LINES_H

#include "base/str.h"

struct line_count {
	int64_t lines;   /* line feeds seen */
	int64_t tail;    /* bytes behind the last one */
	int64_t longest; /* longest line, the tail included, without its line feed */
};

/* The result is the same however the bytes are cut into pieces. */
void line_count_add(struct line_count *c, struct str piece);
bool line_count_eq(const struct line_count *a, const struct line_count *b);

#endif
