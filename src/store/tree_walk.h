/*
 * Made trees from top to bottom: a node, then what is below it, then its next sibling.
 *
 * A walk can begin behind any node of its tree; that costs nothing but looking at this node. It looks up what it
 * comes to and remembers a part of the way, so a page of a large tree costs as much as one of a small one.
 */
#ifndef ARBOR_STORE_TREE_WALK_H
#define ARBOR_STORE_TREE_WALK_H

#include "store/tree.h"

struct walk_frame;

struct tree_walk {
	struct store *store;
	int64_t top; /* row it does not leave */
	bool archived;
	bool begun;
	struct walk_frame *frames; /* from some node down to the current one */
	size_t count, cap;
};

/* Below `top` and with it. `after` = the row of a node to go on behind; 0 = from the top. What is archived is left
 * out, unless `archived`. Reads want a read transaction around all of it. */
enum status walk_begin(struct tree_walk *w, struct store *s, int64_t top, int64_t after, bool archived,
		       struct err *err) MUST_USE;
void walk_release(struct tree_walk *w);

/* The next one's row; 0 = that was the last. */
enum status walk_next(struct tree_walk *w, int64_t *row, struct err *err) MUST_USE;

/* Whether the current one has something below it. */
enum status walk_is_leaf(struct tree_walk *w, bool *out, struct err *err) MUST_USE;

/* Whether a sibling follows: of the current one (0) or of one so many steps above it. Above the top there is none. */
enum status walk_has_next(struct tree_walk *w, size_t above, bool *out, struct err *err) MUST_USE;

#endif
