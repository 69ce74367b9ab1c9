/*
 * Asking for less, when no text has all that was asked for.
 */
#ifndef ARBOR_QUERY_FORGIVE_H
#define ARBOR_QUERY_FORGIVE_H

#include "query/expr.h"
#include "store/store.h"

enum forgive_way {
	FORGIVE_SMALL, /* without words that say nothing: where, did, we */
	FORGIVE_FORMS, /* and with other forms of the rest that texts have: hook, hooks */
	FORGIVE_ONE,   /* and any one of them may be missing */
	FORGIVE_WAYS
};

/* The query asked for in another way, and as text what that is, appended to `said`. False in *asks when this way
 * changes nothing, or there is nothing to change: of queries with brackets and OR what was typed is meant. Wants a read
 * transaction. */
enum status forgive(struct store *s, const struct expr *e, enum forgive_way way, struct expr *out, struct buf *said,
		    bool *asks, struct arena *mem, struct err *err) MUST_USE;

/* Where few texts have all words: the same with those that say nothing, and also without; the texts that have all
 * come first. False where there are none of them, or fewer than two others. */
bool forgive_few(const struct expr *e, struct expr *out, struct buf *said, struct arena *mem) MUST_USE;

#endif
