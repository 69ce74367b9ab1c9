/*
 * The table of commands.
 *
 * Taking is written down before anything is done, so that a command is done at most once, whatever happens to
 * who does it; one that was taken and never done is lost with the run, and whoever waits for it is told.
 */
#include "store/inbox.h"

#include "store/live_row.h"

enum { INBOX_ADD, INBOX_NEXT, INBOX_TAKE, INBOX_DONE, INBOX_GET, INBOX_STATEMENTS };

static const char *const sql[INBOX_STATEMENTS] = {
	[INBOX_ADD] = "INSERT INTO command(command_id, run, verb, data, created_at, rev)"
		      " SELECT ?1, id, ?3, ?4, ?5, ?6 FROM run WHERE id = ?2 AND ended_at IS NULL",
	[INBOX_NEXT] = "SELECT id, command_id, verb, data FROM command WHERE run = ?1 AND done_at IS NULL"
		       " AND taken_at IS NULL ORDER BY id LIMIT 1",
	[INBOX_TAKE] = "UPDATE command SET taken_at = ?2, rev = ?3 WHERE id = ?1 AND taken_at IS NULL",
	[INBOX_DONE] =
		"UPDATE command SET done_at = ?2, result = ?3, rev = ?4 WHERE id = ?1 AND done_at IS NULL",
	[INBOX_GET] = "SELECT c.done_at IS NOT NULL, r.ended_at IS NOT NULL, c.result FROM command c"
		      " JOIN run r ON r.id = c.run WHERE c.command_id = ?1",
};

const struct db_set inbox_statements = { DB_INBOX, sql, INBOX_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &inbox_statements, index, st, err);
}

enum status inbox_add(struct store *s, int64_t run, struct str verb, struct str data, struct uuid *id,
		      struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin_synced(s, &txn, true, err) || uuid_random(id, err) || db_rev(s, &rev, err) ||
	    use(s, INBOX_ADD, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_int(&st, 2, run);
	stmt_text(&st, 3, verb);
	stmt_text(&st, 4, data);
	stmt_int(&st, 5, store_now(s));
	stmt_int(&st, 6, rev);
	if (stmt_run_one(&st, "a run", err))
		return err->status == STATUS_CONFLICT
			       ? err_fail(err, STATUS_CONFLICT, "nothing is running any more")
			       : err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

static enum status find_next(struct store *s, int64_t run, struct arena *mem, struct inbox_command *out,
			     bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, INBOX_NEXT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run);
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found)
		*out = (struct inbox_command){ col_int(&st, 0), col_uuid(&st, 1), arena_str(mem, col_text(&st, 2)),
					 arena_str(mem, col_text(&st, 3)) };
	return STATUS_OK;
}

static enum status mark_taken(struct store *s, int64_t row, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, INBOX_TAKE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	return stmt_run_one(&st, "a command", err);
}

enum status inbox_take(struct store *s, int64_t run, struct arena *mem, struct inbox_command *out, bool *found,
		       struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	/* Mostly there is none, and looking is cheap. */
	if (find_next(s, run, mem, out, found, err))
		return err_failed(err->status);
	if (!*found)
		return STATUS_OK;
	if (live_begin(s, &txn, err) || find_next(s, run, mem, out, found, err) ||
	    (*found && mark_taken(s, out->row, err)))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status inbox_done(struct store *s, int64_t row, struct str result, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, INBOX_DONE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_int(&st, 2, store_now(s));
	stmt_text(&st, 3, result);
	stmt_int(&st, 4, rev);
	if (stmt_run_one(&st, "a command", err))
		return err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status inbox_get(struct store *s, const struct uuid *id, struct arena *mem, bool *done, bool *lost,
		      struct str *result, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, INBOX_GET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "there is no such command");
	*done = col_int(&st, 0) != 0;
	*lost = !*done && col_int(&st, 1) != 0;
	*result = *done ? arena_str(mem, col_text(&st, 2)) : (struct str){ 0 };
	return STATUS_OK;
}
