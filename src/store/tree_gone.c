/*
 * Purging made trees and nodes.
 *
 * Of a node its row goes, with its claims. What stays says that it was there: a row in deleted_row, from
 * which others who have a copy learn of it, and for one that was purged by itself a tombstone, which no way
 * in passes, and its row in lifecycle.
 *
 * A tree may have a million nodes. It is marked as purged first, which nobody can take back; then its nodes
 * go, last made first and so children before parents, as many as fit into a transaction; the row of the tree
 * goes with the last. While some are left, the mark has a due_at, by which whoever comes next finds it: a
 * purge that was killed is completed by the next gc.
 *
 * What SQLite and its index keep of rows that were deleted is not wiped here, only noted as undone
 * (purge_state_words()): that takes transactions of its own.
 */
#include "store/tree_gone.h"

#include "store/db.h"
#include "store/life_row.h"
#include "store/made_text.h"
#include "store/tombstone.h"
#include "store/tree_row.h"

enum { GONE_HAS_CHILDREN, GONE_NODE, GONE_LAST, GONE_TREE_ID, GONE_TREE, GONE_NEXT, GONE_STATEMENTS };

static const char *const sql[GONE_STATEMENTS] = {
	[GONE_HAS_CHILDREN] = "SELECT EXISTS (SELECT 1 FROM node WHERE parent = ?1)",
	[GONE_NODE] = "DELETE FROM node WHERE id = ?1",
	[GONE_LAST] = "SELECT id, node_id FROM node WHERE tree = ?1 ORDER BY id DESC LIMIT 1",
	[GONE_TREE_ID] = "SELECT tree_id FROM tree WHERE id = ?1",
	[GONE_TREE] = "DELETE FROM tree WHERE id = ?1",
	[GONE_NEXT] = ("SELECT t.id FROM lifecycle l CROSS JOIN tree t ON t.tree_id = l.subject_id"
		       " WHERE l.state = 'purged' AND l.due_at > 0 AND l.subject = 'tree' LIMIT 1"),
};

const struct db_set tree_gone_statements = { DB_TREE_GONE, sql, GONE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &tree_gone_statements, index, st, err);
}

enum status tree_has_children(struct store *s, int64_t row, bool *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, GONE_HAS_CHILDREN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (stmt_row(&st, "whether there are children", err))
		return err_failed(err->status);
	*out = col_int(&st, 0) != 0;
	return STATUS_OK;
}

/* The row itself, its claims and words, and that it was there. */
static enum status remove_row(struct store *s, int statement, const char *table, int64_t row,
			      const struct uuid *id, struct err *err)
{
	if (claim_forget(s, id, err) || (statement == GONE_NODE && made_text_leave(s, row, err)) ||
	    stmt_run_with(s, &tree_gone_statements, statement, row, err))
		return err_failed(err->status);
	return life_deleted_row(s, table, str_from((const char *)id->b, UUID_BYTES), err);
}

enum status tree_node_gone(struct store *s, int64_t row, const struct uuid *id, struct err *err)
{
	struct subject what = { SUBJECT_NODE, *id };
	struct life_row life;

	if (row_get(s, id, &life, err) || life_bury(s, &what, err) ||
	    row_enter(s, &what, &life, ROW_PURGED, NULL, err) || purge_state_words(s, err))
		return err_failed(err->status);
	return remove_row(s, GONE_NODE, "node", row, id, err);
}

enum status tree_gone_begin(struct store *s, const struct uuid *id, struct err *err)
{
	struct subject what = { SUBJECT_TREE, *id };
	struct life_row life = { .state = ROW_PURGED, .since_at = store_now(s), .due_at = store_now(s) };

	return life_bury(s, &what, err) ? err_failed(err->status) : row_put(s, &what, &life, err);
}

/* The node that was made last; *found false = there is none any more. */
static enum status last_node(struct store *s, int64_t tree, int64_t *row, struct uuid *id, bool *found,
			     struct err *err)
{
	STMT st = { 0 };

	if (use(s, GONE_LAST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, tree);
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found) {
		*row = col_int(&st, 0);
		*id = col_uuid(&st, 1);
	}
	return STATUS_OK;
}

/* *found false: somebody else was faster. */
static enum status id_of_tree(struct store *s, int64_t tree, struct uuid *id, bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, GONE_TREE_ID, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, tree);
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found)
		*id = col_uuid(&st, 0);
	return STATUS_OK;
}

static enum status remove_tree(struct store *s, int64_t tree, struct err *err)
{
	struct subject what = { .kind = SUBJECT_TREE };
	struct life_row life;
	bool found;

	if (id_of_tree(s, tree, &what.id, &found, err))
		return err_failed(err->status);
	if (!found)
		return STATUS_OK;
	if (row_get(s, &what.id, &life, err))
		return err_failed(err->status);
	life.due_at = 0;
	if (row_put(s, &what, &life, err))
		return err_failed(err->status);
	return remove_row(s, GONE_TREE, "tree", tree, &what.id, err);
}

enum status tree_gone_some(struct store *s, int64_t tree, int64_t limit, int64_t *nodes, bool *done,
			   struct err *err)
{
	static const struct life_row no_row = { .state = ROW_NONE };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct subject node = { .kind = SUBJECT_NODE };
	int64_t row = 0, count = 0;
	bool found = true;

	if (tree_begin(s, &txn, err) || purge_state_words(s, err))
		return err_failed(err->status);
	while (found && (!limit || count < limit) && (!count || !tree_is_long(s))) {
		if (last_node(s, tree, &row, &node.id, &found, err) ||
		    (found && row_put(s, &node, &no_row, err)) ||
		    (found && remove_row(s, GONE_NODE, "node", row, &node.id, err)))
			return err_failed(err->status);
		count += found;
	}
	if ((!found && remove_tree(s, tree, err)) || txn_commit(&txn, err))
		return err_failed(err->status);
	*nodes += count;
	*done = !found;
	return STATUS_OK;
}

enum status tree_gone_all(struct store *s, int64_t tree, int64_t *nodes, struct err *err)
{
	for (bool done = false; !done;) {
		if (store_is_cancelled(s))
			return err_fail(err, STATUS_CANCELLED,
					"stopped; 'arbor gc' goes on with what is left of the tree");
		if (tree_gone_some(s, tree, 0, nodes, &done, err))
			return err_failed(err->status);
		txn_pause(s);
	}
	return STATUS_OK;
}

enum status tree_gone_next(struct store *s, int64_t *tree, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, GONE_NEXT, &st, err) || stmt_found(&st, &found, err))
		return err_failed(err->status);
	*tree = found ? col_int(&st, 0) : 0;
	return STATUS_OK;
}
