/*
 * Rows that stand for something mirrored, and what is written down of mirrored trees.
 */
#include "store/tree_graft.h"

#include "store/life_row.h"
#include "store/tree_gone.h"
#include "store/tree_row.h"

enum { GRAFT_ANY, GRAFT_ROW, GRAFT_HOME, GRAFT_TREE, GRAFT_CLAIMED, GRAFT_IN_STATE, GRAFT_STATEMENTS };

#define OF_MIRROR "owner = '" CLAIM_MIRROR "'"

static const char *const sql[GRAFT_STATEMENTS] = {
	[GRAFT_ANY] = "SELECT 1 FROM tree WHERE " OF_MIRROR " LIMIT 1",
	[GRAFT_ROW] = "SELECT n.id FROM node n JOIN tree t ON t.id = n.tree AND t." OF_MIRROR
		      " WHERE n.node_id = ?1 AND n.parent IS NULL",
	[GRAFT_HOME] = "SELECT t.tree_id FROM node n JOIN tree t ON t.id = n.tree WHERE n.id = ?1",
	[GRAFT_TREE] = "SELECT id FROM tree WHERE tree_id = ?1",
	[GRAFT_CLAIMED] = "SELECT c.subject_id FROM tree t JOIN claim c ON c.tree = t.id AND c.count > 0 WHERE "
			  "t.tree_id = ?1 LIMIT 1",
	[GRAFT_IN_STATE] = "SELECT l.subject_id, " ROW_COLUMNS(
		"l") " FROM lifecycle l WHERE l.state = ?1 AND l.subject = 'tree'"
		     " AND NOT EXISTS (SELECT 1 FROM tree t WHERE t.tree_id = l.subject_id AND NOT "
		     "t." OF_MIRROR ")"
		     " AND (?2 IS NULL OR (-l.since_at, l.subject_id) >"
		     " (SELECT -since_at, subject_id FROM lifecycle WHERE subject_id = ?2))"
		     " ORDER BY -l.since_at, l.subject_id",
};

const struct db_set tree_graft_statements = { DB_TREE_GRAFT, sql, GRAFT_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &tree_graft_statements, index, st, err);
}

bool tree_is_graft(const struct tree *t)
{
	return str_eq(t->owner, STR(CLAIM_MIRROR));
}

enum status tree_has_grafts(struct store *s, bool *out, struct err *err)
{
	STMT st = { 0 };

	return use(s, GRAFT_ANY, &st, err) ? err_failed(err->status) : stmt_found(&st, out, err);
}

enum status tree_graft_row(struct store *s, const struct uuid *node, int64_t *row, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, GRAFT_ROW, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, node);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*row = found ? col_int(&st, 0) : 0;
	return STATUS_OK;
}

enum status tree_graft_claimed(struct store *s, const struct uuid *tree, bool *out, struct uuid *node,
			       struct err *err)
{
	STMT st = { 0 };

	if (use(s, GRAFT_CLAIMED, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, tree);
	if (stmt_found(&st, out, err))
		return err_failed(err->status);
	if (*out)
		*node = col_uuid(&st, 0);
	return STATUS_OK;
}

static enum status home_of(struct store *s, int64_t node, struct uuid *home, struct err *err)
{
	STMT st = { 0 };

	if (use(s, GRAFT_HOME, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, node);
	if (stmt_row(&st, "the tree of a node", err))
		return err_failed(err->status);
	*home = col_uuid(&st, 0);
	return STATUS_OK;
}

enum status tree_graft_tree(struct store *s, const struct uuid *id, int64_t *row, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, GRAFT_TREE, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*row = found ? col_int(&st, 0) : 0;
	return STATUS_OK;
}

enum status tree_graft(struct store *s, const struct uuid *tree, const struct uuid *node, struct uuid *home,
		       struct err *err)
{
	static const struct tree_new of_mirror = { .owner = { CLAIM_MIRROR, sizeof CLAIM_MIRROR - 1 } };
	int64_t row;

	if (tree_graft_row(s, node, &row, err))
		return err_failed(err->status);
	if (row)
		return home_of(s, row, home, err);
	*home = *tree;
	if (tree_graft_tree(s, tree, &row, err) || (!row && tree_insert(s, &of_mirror, tree, tree, &row, err)))
		return err_failed(err->status);
	return tree_add_root(s, row, node, err);
}

enum status tree_graft_purged(struct store *s, const struct subject *what, struct err *err)
{
	struct life_row life;
	int64_t row;

	if (claim_forget(s, &what->id, err))
		return err_failed(err->status);
	if (what->kind == SUBJECT_NODE)
		return STATUS_OK;
	if (row_get(s, &what->id, &life, err) || tree_graft_tree(s, &what->id, &row, err))
		return err_failed(err->status);
	return row ? life_put(s, what, LIFE_ACTIVE, NULL, err)
		   : row_enter(s, what, &life, ROW_PURGED, NULL, err);
}

enum status tree_graft_gone(struct store *s, const struct uuid *tree, int64_t row, int64_t *nodes,
			    struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (tree_begin(s, &txn, err) || tree_gone_begin(s, tree, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return tree_gone_all(s, row, nodes, err);
}

enum status tree_each_mirrored(struct store *s, enum life_state state, const struct uuid *after, graft_fn *fn,
			       void *ctx, struct err *err)
{
	enum step step = STEP_DONE;
	bool go_on = true;
	STMT st = { 0 };

	if (use(s, GRAFT_IN_STATE, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, str_of(life_state_names[state]));
	if (after)
		stmt_uuid(&st, 2, after);
	while (go_on && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct life_row r = row_read(&st, 1);
		struct life life = life_of_row(&r);
		struct uuid id = col_uuid(&st, 0);

		if (fn(ctx, &id, &life, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}
