/*
 * The part of a text that shows why it was found.
 */
#ifndef ARBOR_QUERY_SNIPPET_H
#define ARBOR_QUERY_SNIPPET_H

#include "query/expr.h"

enum { SNIPPET_MARKS = 32 };

/* Bytes of the snippet that are a word or a phrase looked for. */
struct snippet_mark {
	size_t start, length;
};

struct snippet {
	struct buf text; /* on one line; "…" where something was left out */
	struct snippet_mark marks[SNIPPET_MARKS];
	size_t mark_count;
	bool loose; /* the text has no phrase that is looked for: words of them are marked */
};

/* Bytes of a text. */
struct snippet_range {
	size_t start, end;
};

/* About `width` bytes of `text`. */
void snippet_make(struct snippet *s, struct str text, const struct expr *e, size_t width);

/* The same around what was found otherwise, by start. */
void snippet_make_at(struct snippet *s, struct str text, const struct snippet_range *found, size_t count, size_t width);
void snippet_release(struct snippet *s);

#endif
