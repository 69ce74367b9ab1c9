/*
 * What to try when nothing was found.
 */
#ifndef ARBOR_QUERY_SUGGEST_H
#define ARBOR_QUERY_SUGGEST_H

#include "query/expr.h"
#include "store/store.h"

/* Appends advice: words that are in no text, with what is near them; or that the words are
 * there, but not together, or not where they were looked for. `narrowed`: more was asked than the index knows. Some
 * milliseconds; wants a read transaction. */
enum status suggest(struct store *s, const struct expr *e, bool narrowed, struct buf *out, struct err *err) MUST_USE;

#endif
