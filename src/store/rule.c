/*
 * The table of rules.
 *
 * A rule never changes. One that is removed keeps its row: approvals say which rule answered them. One whose
 * time is over is in use no longer, and stays as it is.
 */
#include "store/rule.h"

#include "store/live_row.h"
#include "store/tree_row.h"

const char *const rule_decision_names[] = {
	[RULE_ALLOW] = "allow",
	[RULE_DENY] = "deny",
	[RULE_ASK] = "ask",
	[RULE_DECISIONS] = NULL,
};

enum { RULE_GET, RULE_PREFIX, RULE_EACH, RULE_EACH_FOR, RULE_INSERT, RULE_REMOVE, RULE_STATEMENTS };

#define COLUMNS \
	"SELECT r.id, r.rule_id, r.session, s.name, r.claude_session_id, r.tool_name, r.pattern, " \
	"r.decision, r.message," \
	" r.created_by, r.created_at, r.expires_at FROM approval_rule r LEFT JOIN session s ON s.id = " \
	"r.session "
#define IN_USE "WHERE r.deleted_at IS NULL AND (r.expires_at IS NULL OR r.expires_at > ?1) "

static const char *const sql[RULE_STATEMENTS] = {
	[RULE_GET] = COLUMNS "WHERE r.rule_id = ?1",
	[RULE_PREFIX] = "SELECT rule_id FROM approval_rule WHERE rule_id BETWEEN ?1 AND ?2 LIMIT ?3",
	[RULE_EACH] = COLUMNS IN_USE "ORDER BY r.id",
	[RULE_EACH_FOR] = COLUMNS IN_USE
	"AND (r.session IS NULL OR r.session = ?2)"
	" AND (r.claude_session_id IS NULL OR r.claude_session_id = ?3) ORDER BY r.id",
	[RULE_INSERT] =
		"INSERT INTO approval_rule(rule_id, session, claude_session_id, tool_name, pattern, decision,"
		" message, created_by, created_at, expires_at, rev)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
	[RULE_REMOVE] =
		"UPDATE approval_rule SET deleted_at = ?2, rev = ?3 WHERE id = ?1 AND deleted_at IS NULL",
};

const struct db_set rule_statements = { DB_RULE, sql, RULE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &rule_statements, index, st, err);
}

/* ---- Reading ---------------------------------------------------------------- */

/* The table has a CHECK. */
static enum rule_decision decision_of(struct str name)
{
	enum rule_decision d = 0;

	while (d < RULE_DECISIONS - 1 && !str_eq(name, str_of(rule_decision_names[d])))
		d++;
	return d;
}

/* Borrows from the row. */
static struct rule rule_of(const struct stmt *st)
{
	return (struct rule){
		.row = col_int(st, 0),
		.id = col_uuid(st, 1),
		.session = col_int(st, 2),
		.session_name = col_text(st, 3),
		.has_claude_session = !col_null(st, 4),
		.claude_session = col_uuid(st, 4),
		.tool = col_text(st, 5),
		.pattern = col_text(st, 6),
		.decision = decision_of(col_text(st, 7)),
		.message = col_text(st, 8),
		.created_by = col_text(st, 9),
		.created_at = col_int(st, 10),
		.expires_at = col_int(st, 11),
	};
}

static void keep(struct rule *r, struct arena *mem)
{
	struct str *texts[] = { &r->session_name, &r->tool, &r->pattern, &r->message, &r->created_by };

	for (size_t i = 0; i < COUNT(texts); i++)
		if (texts[i]->p)
			*texts[i] = arena_str(mem, *texts[i]);
}

enum status rule_find(struct store *s, struct str text, struct arena *mem, struct rule *out, struct err *err)
{
	bool found;
	struct uuid id;
	STMT st = { 0 };

	if (tree_find_prefix(s, &rule_statements, RULE_PREFIX, "rule", text, &id, err) ||
	    use(s, RULE_GET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "there is no rule %.*s", (int)size_min(text.n, 60),
				text.p);
	*out = rule_of(&st);
	keep(out, mem);
	return STATUS_OK;
}

static enum status each(struct stmt *st, rule_fn *fn, void *ctx, struct err *err)
{
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW) {
		struct rule r = rule_of(st);

		if (fn(ctx, &r, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status rule_each(struct store *s, rule_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, RULE_EACH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, store_now(s));
	return each(&st, fn, ctx, err);
}

enum status rule_each_for(struct store *s, int64_t session, const struct uuid *claude_session, rule_fn *fn,
			  void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, RULE_EACH_FOR, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, store_now(s));
	stmt_int(&st, 2, session);
	stmt_uuid_or_null(&st, 3, claude_session);
	return each(&st, fn, ctx, err);
}

/* ---- Writing ---------------------------------------------------------------- */

static enum status insert(struct store *s, struct rule *r, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (uuid_random(&r->id, err) || db_rev(s, &rev, err) || use(s, RULE_INSERT, &st, err))
		return err_failed(err->status);
	r->created_at = store_now(s);
	stmt_uuid(&st, 1, &r->id);
	stmt_int_or_null(&st, 2, r->session, !r->session);
	stmt_uuid_or_null(&st, 3, r->has_claude_session ? &r->claude_session : NULL);
	stmt_text(&st, 4, r->tool);
	stmt_text_or_null(&st, 5, r->pattern);
	stmt_text(&st, 6, str_of(rule_decision_names[r->decision]));
	stmt_text_or_null(&st, 7, r->message);
	stmt_text_or_null(&st, 8, r->created_by);
	stmt_int(&st, 9, r->created_at);
	stmt_int_or_null(&st, 10, r->expires_at, !r->expires_at);
	stmt_int(&st, 11, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	r->row = sqlite3_last_insert_rowid(s->db);
	return STATUS_OK;
}

enum status rule_add(struct store *s, struct rule *rule, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (live_begin_synced(s, &txn, true, err) || insert(s, rule, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status rule_remove(struct store *s, const struct rule *rule, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin_synced(s, &txn, true, err) || db_rev(s, &rev, err) || use(s, RULE_REMOVE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, rule->row);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	if (sqlite3_changes64(s->db) != 1)
		return err_fail(err, STATUS_CONFLICT, "this rule was removed already");
	stmt_done(&st);
	return txn_commit(&txn, err);
}
