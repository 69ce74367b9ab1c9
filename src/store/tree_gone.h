/*
 * Inside the store: taking made trees and nodes away for good.
 */
#ifndef ARBOR_STORE_TREE_GONE_H
#define ARBOR_STORE_TREE_GONE_H

#include "store/store.h"

enum status tree_has_children(struct store *s, int64_t row, bool *out, struct err *err) MUST_USE;

/* A node that has no children any more. Wants a write transaction. */
enum status tree_node_gone(struct store *s, int64_t row, const struct uuid *id, struct err *err) MUST_USE;

/* A tree: from then on nothing of it can be read, and its nodes go in transactions of their own. The first wants
 * a write transaction. */
enum status tree_gone_begin(struct store *s, const struct uuid *id, struct err *err) MUST_USE;

/* Some of them, no more than `limit` (0 = as many as fit into a transaction); *done = that was all, the tree
 * included. Adds to *nodes. */
enum status tree_gone_some(struct store *s, int64_t tree, int64_t limit, int64_t *nodes, bool *done,
			   struct err *err) MUST_USE;
enum status tree_gone_all(struct store *s, int64_t tree, int64_t *nodes, struct err *err) MUST_USE;

/* A tree of which some is left; 0 = there is none. */
enum status tree_gone_next(struct store *s, int64_t *tree, struct err *err) MUST_USE;

#endif
