/*
 * Where messages of a transcript begin that has been read further than it has keys: while a large file comes in, and
 * after a kill.
 */
#ifndef ARBOR_STORE_FIRSTS_H
#define ARBOR_STORE_FIRSTS_H

#include "store/store.h"

/* Lines of a session that an earlier reading left. */
struct firsts_of {
	int64_t session;
	int64_t reading; /* as in sql/derived.sql: another one whenever its lines are read anew */
	int64_t before;	 /* offset: of the lines up to here */
};

/* The offset of the first of them with this message (entry.message), of those without keys; -1 = there is none. */
enum status firsts_find(struct store *s, const struct firsts_of *of, uint64_t message, int64_t *out,
			struct err *err) MUST_USE;

/* What the store remembers of it. */
struct firsts;
void firsts_free(struct firsts *f); /* NULL is fine */

#endif
