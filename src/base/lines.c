/*
 * One memchr a line. The state is three numbers, so a count can be stored and
 * continued when the file has grown.
 */
#include "base/lines.h"

#include <string.h>

static void note_length(struct line_count *c)
{
	if (c->tail > c->longest)
		c->longest = c->tail;
}

void line_count_add(struct line_count *c, struct str piece)
{
	while (piece.n) {
		const char *end = memchr(piece.p, '\n', piece.n);
		size_t n = end ? (size_t)(end - piece.p) : piece.n;

		c->tail += (int64_t)n;
		note_length(c);
		if (!end)
			return;
		c->lines++;
		c->tail = 0;
		piece = str_sub(piece, n + 1, SIZE_MAX);
	}
}

bool line_count_eq(const struct line_count *a, const struct line_count *b)
{
	return a->lines == b->lines && a->tail == b->tail && a->longest == b->longest;
}
