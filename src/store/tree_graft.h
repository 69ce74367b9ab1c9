/*
 * Made nodes that hang on mirrored ones.
 *
 * A mirrored node that something made hangs on has a row that stands for it: a root with its id, in a tree
 * with the id of the mirrored tree and the owner 'mirror'. So whatever holds for made nodes holds for these,
 * and what is written down of the mirrored tree's lifecycle is that of their tree. The tree has the id that
 * was current when the first of them was made; as any name of a tree it still leads there.
 */
#ifndef ARBOR_STORE_TREE_GRAFT_H
#define ARBOR_STORE_TREE_GRAFT_H

#include "store/tree.h"

/* Whether a row stands for something mirrored. */
bool tree_is_graft(const struct tree *t);

/* Whether there are any. */
enum status tree_has_grafts(struct store *s, bool *out, struct err *err) MUST_USE;

/* The row that stands for a mirrored node; 0 = none does. */
enum status tree_graft_row(struct store *s, const struct uuid *node, int64_t *row, struct err *err) MUST_USE;

/* Whether somebody claims a made node that hangs on a tree, by one of its names; and then one of those. */
enum status tree_graft_claimed(struct store *s, const struct uuid *tree, bool *out, struct uuid *node,
			       struct err *err) MUST_USE;

/* The tree with this id, of these or of made ones; 0 = there is none. */
enum status tree_graft_tree(struct store *s, const struct uuid *id, int64_t *row, struct err *err) MUST_USE;

/* A mirrored tree or node was purged: claims on it go, and a tree is written down as purged, unless made nodes
 * hang on it. These stay as they are. Wants a write transaction. */
enum status tree_graft_purged(struct store *s, const struct subject *what, struct err *err) MUST_USE;

/* Takes away what was made and hung on a mirrored tree, with the rows that stand for that. Adds to *nodes. */
enum status tree_graft_gone(struct store *s, const struct uuid *tree, int64_t row, int64_t *nodes,
			    struct err *err) MUST_USE;

/* Makes the rows that stand for a mirrored tree and a node of it, if they are not there; *home is the id that
 * the first of them has. Wants a write transaction. */
enum status tree_graft(struct store *s, const struct uuid *tree, const struct uuid *node, struct uuid *home,
		       struct err *err) MUST_USE;

/* Mirrored trees in this state (not ACTIVE), those that came into it last first, from behind `after` on (NULL
 * = from the first). */
typedef enum status graft_fn(void *ctx, const struct uuid *tree, const struct life *l, bool *go_on,
			     struct err *err);
enum status tree_each_mirrored(struct store *s, enum life_state state, const struct uuid *after, graft_fn *fn,
			       void *ctx, struct err *err) MUST_USE;

#endif
