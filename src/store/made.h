/*
 * Nodes and trees that were made through arbor.*, by their ids.
 */
#ifndef ARBOR_STORE_MADE_H
#define ARBOR_STORE_MADE_H

#include "base/arena.h"
#include "store/store.h"

/* A node or tree that was made through arbor.*, by the beginning of its id: as many as begin so, and the
 * first of them. Its text, if it has one, is in the arena. */
struct made {
	struct uuid id;
	bool is_tree;
	struct str text;
};
enum status made_search(struct store *s, struct str prefix, struct arena *mem, struct made *out,
			size_t *count, struct err *err) MUST_USE;

#endif
