/*
 * Conditions that nothing can meet, since there is no such value.
 */
#ifndef ARBOR_QUERY_VALUES_H
#define ARBOR_QUERY_VALUES_H

#include "query/expr.h"
#include "store/store.h"

/* Appends for each condition on a tool, a model or a branch that is not in the store: that there is none, and which
 * there are, those first that look like it. For who found nothing: lists of the index are read. Wants a read
 * transaction. */
enum status values_advise(struct store *s, const struct expr *e, struct arena *mem, struct buf *out,
			  struct err *err) MUST_USE;

#endif
