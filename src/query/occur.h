/*
 * Where a text has what is looked for.
 */
#ifndef ARBOR_QUERY_OCCUR_H
#define ARBOR_QUERY_OCCUR_H

#include "query/expr.h"

struct occurrence {
	size_t start, end; /* bytes of the text */
	size_t first, last; /* so too words, counted from 1 */
	uint8_t which;	   /* item of the query; where they are loose, word of it */
	uint8_t group;	   /* struct expr_phrase */
};

struct occurrences {
	struct occurrence *list; /* by start */
	size_t count, cap;
	size_t most; /* words that different ones can have together */
	bool loose;  /* no phrase is there, these are its words */
};

void occurrences_find(struct occurrences *out, struct str text, const struct expr *e);
void occurrences_release(struct occurrences *o);

#endif
