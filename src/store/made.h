/*
 * Nodes and trees that were made through arbor.*, by their ids.
 */
#ifndef ARBOR_STORE_MADE_H
#define ARBOR_STORE_MADE_H

#include "base/arena.h"
#include "store/store.h"

/* A node or tree that was made through arbor.*, in any state but purged. */
struct made {
	struct uuid id; /* or another id of it, by which it was asked for */
	bool is_tree;
	struct str text; /* how a node begins, in the arena */
};

/* Those whose ids begin so, at most `most`, by id. Rows that stand for something mirrored are left out. */
enum status made_search(struct store *s, struct str prefix, struct arena *mem, struct made *out, size_t most,
			size_t *count, struct err *err) MUST_USE;

#endif
