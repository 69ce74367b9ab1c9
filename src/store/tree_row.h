/*
 * Inside the store: what the modules of made trees share.
 */
#ifndef ARBOR_STORE_TREE_ROW_H
#define ARBOR_STORE_TREE_ROW_H

#include "store/db.h"
#include "store/tree.h"

/* A write transaction in a store that has the tables. */
enum status tree_begin(struct store *s, struct txn *txn, struct err *err) MUST_USE;

/* Whether it has taken so long that others should have their turn. One step is always taken. */
static inline bool tree_is_long(const struct store *s)
{
	return txn_is_long(s, LIMIT_TXN_NS, LIMIT_TXN_NS);
}

/* The id that something new gets: as asked for, if it can be given, or a random one. Wants a write transaction. */
enum status tree_new_id(struct store *s, const struct uuid *given, struct uuid *out, struct err *err) MUST_USE;

/* When something was purged that has no row; STATUS_NOT_FOUND when there never was one. */
enum status tree_find_purged(struct store *s, const struct subject *what, struct life *out, struct err *err) MUST_USE;

/* The one id that a statement gives for ids from ?1 to ?2, at most ?3 of them. */
enum status tree_find_prefix(struct store *s, const struct db_set *set, int index, const char *what, struct str text,
			     struct uuid *id, struct err *err) MUST_USE;

/* Size and syntax. */
enum status tree_check_metadata(struct str metadata, struct err *err) MUST_USE;

/* A row of a tree. Wants a write transaction. */
enum status tree_insert(struct store *s, const struct tree_new *what, const struct uuid *id, const struct uuid *root,
			int64_t *row, struct err *err) MUST_USE;

/* The root node of a new tree, or one that stands for a mirrored node. Wants a write transaction. */
enum status tree_add_root(struct store *s, int64_t tree, const struct uuid *id, struct err *err) MUST_USE;

/* After `row` has begun to stay: what is above it stays, too. Wants a write transaction. */
enum status tree_keep_above(struct store *s, int64_t row, struct err *err) MUST_USE;

#endif
