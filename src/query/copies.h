/*
 * Where else a line stands: in conversations that were forked, resumed or copied.
 */
#ifndef ARBOR_QUERY_COPIES_H
#define ARBOR_QUERY_COPIES_H

#include "query/forest.h"

/* Keeps what it loaded for the next line. */
struct copies {
	struct forest forest;
	bool loaded;
	bool looked, any; /* whether any transcript shares lines with another */
	bool renamed;	  /* a conversation that was met has copies with ids of their own */
};

#define COPIES_INIT \
	{ \
		.forest = FOREST_INIT \
	}
void copies_release(struct copies *c);

struct copy_found {
	int64_t session, offset; /* the canonical one: row, and where it stands there */
	int64_t at;		 /* its time, ms; 0 = unknown */
	bool renamed;		 /* it has another uuid */
	int64_t others;		 /* conversations that have it beside that one's */
};

/* Of a line by its transcript's row and offset. Wants a read transaction. */
enum status copies_find(struct copies *c, struct store *s, int64_t session, int64_t offset, struct copy_found *out,
			struct err *err) MUST_USE;

#endif
