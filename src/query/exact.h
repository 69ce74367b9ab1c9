/*
 * Texts that have what was typed with its signs, before those that only have its words.
 */
#ifndef ARBOR_QUERY_EXACT_H
#define ARBOR_QUERY_EXACT_H

#include "query/expr.h"
#include "query/rank.h"

/* Of so many of the best; a fixed number, so that the order is the same on every page. */
enum { EXACT_FIRST = 50 };

/* Moves them to the front, and else keeps the order. Nothing to do unless the query cites something. Wants a ranking of
 * EXACT_FIRST at least, if there are as many, and a read transaction. */
enum status exact_first(struct store *s, const struct expr *e, struct ranking *r, struct err *err) MUST_USE;

/* Of all of them keeps those that have names with signs, as C++, the way they were typed; where none has, the words of
 * the index are all there is to them, and nothing is left out. Wants a read transaction. */
enum status exact_signs(struct store *s, const struct expr *e, struct ranking *r, struct err *err) MUST_USE;

#endif
