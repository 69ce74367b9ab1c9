/*
 * The table alias. A look-up that finds no tree or node of an id asks here whether it is another name; one step,
 * because an alias never names an alias.
 */
#include "store/alias.h"

#include "store/db.h"
#include "store/tree_row.h"

enum { ALIAS_ADD, ALIAS_REMOVE, ALIAS_FOLLOW, ALIAS_OF, ALIAS_STATEMENTS };

static const char *const sql[ALIAS_STATEMENTS] = {
	[ALIAS_ADD] = "INSERT INTO alias(alias_id, target_id, subject, created_at, rev) VALUES (?1, ?2, ?3, ?4, ?5)",
	[ALIAS_REMOVE] = "DELETE FROM alias WHERE alias_id = ?1",
	[ALIAS_FOLLOW] = "SELECT target_id FROM alias WHERE alias_id = ?1 AND subject = ?2",
	[ALIAS_OF] = "SELECT alias_id, created_at FROM alias WHERE target_id = ?1 ORDER BY created_at, alias_id",
};

const struct db_set alias_statements = { DB_ALIAS, sql, ALIAS_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &alias_statements, index, st, err);
}

static struct str kind_name(enum subject_kind kind)
{
	return kind == SUBJECT_TREE ? STR("tree") : STR("node");
}

static enum status insert_alias(struct store *s, const struct uuid *alias, const struct subject *target,
				struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, ALIAS_ADD, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, alias);
	stmt_uuid(&st, 2, &target->id);
	stmt_text(&st, 3, kind_name(target->kind));
	stmt_int(&st, 4, store_now(s));
	stmt_int(&st, 5, rev);
	return stmt_run(&st, err);
}

enum status alias_add(struct store *s, const struct uuid *alias, const struct subject *target, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct subject real = *target;
	struct uuid id;
	bool found;

	if (tree_begin(s, &txn, err) || tree_new_id(s, alias, &id, err) ||
	    alias_follow(s, real.kind, &target->id, &real.id, &found, err) || insert_alias(s, &id, &real, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status alias_remove(struct store *s, const struct uuid *alias, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	char text[UUID_TEXT + 1];

	if (tree_begin(s, &txn, err))
		return err_failed(err->status);
	{
		STMT st = { 0 };

		if (use(s, ALIAS_REMOVE, &st, err))
			return err_failed(err->status);
		stmt_uuid(&st, 1, alias);
		if (stmt_run(&st, err))
			return err_failed(err->status);
	}
	uuid_print(alias, text);
	if (!sqlite3_changes64(s->db))
		return err_fail(err, STATUS_NOT_FOUND, "there is no alias %s", text);
	if (life_deleted_row(s, "alias", str_from((const char *)alias->b, UUID_BYTES), err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status alias_follow(struct store *s, enum subject_kind kind, const struct uuid *alias, struct uuid *out,
			 bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, ALIAS_FOLLOW, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, alias);
	stmt_text(&st, 2, kind_name(kind));
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found)
		*out = col_uuid(&st, 0);
	return STATUS_OK;
}

enum status alias_each(struct store *s, const struct uuid *target, alias_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, ALIAS_OF, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, target);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 0);

		if (fn(ctx, &id, col_int(&st, 1), err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}
