/*
 * Conversations that are archived (store/lifecycle.h): lists and searches leave them out.
 */
#ifndef ARBOR_QUERY_HIDDEN_H
#define ARBOR_QUERY_HIDDEN_H

#include "store/session.h"

/* Transcripts by their rows, sorted. */
struct hidden {
	int64_t *rows;
	size_t count, cap;
};

#define HIDDEN_INIT \
	{ \
		0 \
	}
void hidden_release(struct hidden *h);

/* Costs next to nothing while no conversation is archived. Wants a read transaction. */
enum status hidden_load(struct store *s, struct hidden *out, struct err *err) MUST_USE;
bool hidden_has(const struct hidden *h, int64_t row);

#endif
