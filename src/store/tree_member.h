/*
 * Inside the store: made nodes and trees with their rows in lifecycle, and what keeps them.
 */
#ifndef ARBOR_STORE_TREE_MEMBER_H
#define ARBOR_STORE_TREE_MEMBER_H

#include "store/life_row.h"
#include "store/tree.h"

/* A node of a tree. */
struct member {
	int64_t row, tree, parent, position;
	struct subject what;
	struct life_row life;
};

/* The tree it is in. */
struct home {
	int64_t row;
	struct subject what;
	struct life_row life;
};

/* By its row; one that must be there; by an id that is no alias. */
enum status member_at(struct store *s, int64_t row, struct member *out, bool *found, struct err *err) MUST_USE;
enum status member_must(struct store *s, int64_t row, struct member *out, struct err *err) MUST_USE;
enum status member_by_id(struct store *s, const struct uuid *id, struct member *out, struct err *err) MUST_USE;
enum status home_at(struct store *s, int64_t row, struct home *out, struct err *err) MUST_USE;

/* By an id that somebody gave. What is purged is an error. */
enum status member_find(struct store *s, const struct uuid *id, struct member *m, struct home *tree,
			struct err *err) MUST_USE;
enum status home_find(struct store *s, const struct uuid *id, struct home *out, struct err *err) MUST_USE;

/* Makes a tree stay that was let go, as it did at first: claimed by whoever made it, where nobody else does. Wants a
 * write transaction. */
enum status home_take_back(struct store *s, const struct home *t, struct err *err) MUST_USE;

/* Whether a node can be claimed or changed: neither it nor its tree is archived. */
enum status member_alive(const struct member *m, const struct home *tree, struct err *err) MUST_USE;

/* A node that is held, after what held it may have gone: a claim, or the child at position `behind`. And what is
 * above it. Wants a write transaction, as do the next. */
enum status member_settle(struct store *s, int64_t row, int64_t behind, const struct life_windows *windows,
			  struct err *err) MUST_USE;

/* What is above a node that does not stay any more. */
enum status member_settle_above(struct store *s, const struct member *gone, const struct life_windows *windows,
				struct err *err) MUST_USE;

/* A tree that is held, after a claim on it or on a node of it may have gone. */
enum status home_settle(struct store *s, int64_t row, const struct life_windows *windows, struct err *err) MUST_USE;

/* A node of a tree that somebody claims. */
enum status home_claimed_node(struct store *s, int64_t tree, struct subject *out, bool *found,
			      struct err *err) MUST_USE;

/* Whether a child is less far along than a node is to be: one was added, or somebody claimed one. */
enum status member_is_held_back(struct store *s, const struct member *m, enum row_state to, bool *out,
				struct err *err) MUST_USE;

/* Rows of its children, by position. */
typedef void member_child_fn(void *ctx, int64_t row);
enum status member_children(struct store *s, int64_t row, member_child_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
