/*
 * The queue of a session, as its lines are written one after the other.
 *
 * What results for a line depends on the lines before and behind it in its file and on nothing else: not on how
 * much of the file was there when it was read first.
 */
#include "store/queued.h"

#include "store/borrowed.h"
#include "store/db.h"
#include "store/session.h"

enum {
	QUEUED_ADD,
	QUEUED_FIRST,
	QUEUED_SAID,
	QUEUED_TAKEN,
	QUEUED_MARK,
	QUEUED_DROP,
	QUEUED_CLEAR,
	QUEUED_UNCOUNT,
	QUEUED_FORGET,
	QUEUED_STATEMENTS
};

static const char *const sql[QUEUED_STATEMENTS] = {
	[QUEUED_ADD] = "INSERT INTO queued(session, offset, said, waits) VALUES (?1, ?2, ?3, 1)",
	[QUEUED_FIRST] = "SELECT offset FROM queued WHERE session = ?1 AND waits = 1 ORDER BY offset LIMIT 1",
	[QUEUED_SAID] = ("SELECT offset, doc, docs FROM queued JOIN entry USING (session, offset)"
			 " WHERE session = ?1 AND said = ?2 ORDER BY offset LIMIT 1"),
	[QUEUED_TAKEN] = "UPDATE queued SET waits = 0 WHERE session = ?1 AND offset = ?2",
	[QUEUED_MARK] = "UPDATE entry@own SET flags = flags | ?3 WHERE session = ?1 AND offset = ?2",
	[QUEUED_DROP] = "DELETE FROM queued WHERE session = ?1 AND offset = ?2",
	[QUEUED_CLEAR] =
		"UPDATE entry@own SET flags = flags & ~?3, doc = NULL, docs = NULL WHERE session = ?1 AND offset = ?2",
	[QUEUED_UNCOUNT] = "UPDATE mirror_session SET prompts = prompts - 1 WHERE id = ?1",
	[QUEUED_FORGET] = "DELETE FROM queued WHERE session = ?1",
};

const struct db_set queued_statements = { DB_QUEUED, sql, QUEUED_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &queued_statements, index, st, err);
}

/* A statement about a line; with a third number if it has one. */
static enum status run_at(struct store *s, int index, int64_t session, int64_t offset, int64_t more, struct err *err)
{
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, offset);
	if (sqlite3_bind_parameter_count(st.st) > 2)
		stmt_int(&st, 3, more);
	return stmt_run(&st, err);
}

/* The same for what changes the line's row. */
static enum status change_line(struct store *s, int index, int64_t session, int64_t offset, int64_t more,
			       struct err *err)
{
	return borrowed_end(s, session, offset, err) ? err_failed(err->status)
						     : run_at(s, index, session, offset, more, err);
}

enum status queued_add(struct store *s, int64_t session, int64_t offset, uint64_t said, struct err *err)
{
	return run_at(s, QUEUED_ADD, session, offset, (int64_t)said, err);
}

/* The first that waits is done with; *any is false when none does. */
static enum status take_first(struct store *s, int64_t session, unsigned how, bool *any, struct err *err)
{
	int64_t offset;
	enum step step;
	STMT st = { 0 };

	if (use(s, QUEUED_FIRST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	step = stmt_step(&st, err);
	*any = step == STEP_ROW;
	if (step != STEP_ROW)
		return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
	offset = col_int(&st, 0);
	stmt_done(&st);
	return run_at(s, QUEUED_TAKEN, session, offset, 0, err) ? err_failed(err->status)
								: change_line(s, QUEUED_MARK, session, offset, how, err);
}

enum status queued_take(struct store *s, int64_t session, struct err *err)
{
	bool any;

	return take_first(s, session, ENTRY_SENT, &any, err);
}

enum status queued_take_back(struct store *s, int64_t session, struct err *err)
{
	for (bool any = true; any;)
		if (take_first(s, session, ENTRY_BACK, &any, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status queued_tell(struct store *s, int64_t session, uint64_t said, unsigned flag, struct doc_range *told,
			struct err *err)
{
	int64_t offset;
	enum step step;
	STMT st = { 0 };

	*told = (struct doc_range){ 0 };
	if (use(s, QUEUED_SAID, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, (int64_t)said);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
	offset = col_int(&st, 0);
	if (!col_null(&st, 1))
		*told = (struct doc_range){ col_int(&st, 1), col_int(&st, 2) };
	stmt_done(&st);
	if (run_at(s, QUEUED_DROP, session, offset, 0, err) || change_line(s, QUEUED_CLEAR, session, offset, flag, err))
		return err_failed(err->status);
	return stmt_run_with(s, &queued_statements, QUEUED_UNCOUNT, session, err);
}

enum status queued_forget(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &queued_statements, QUEUED_FORGET, session, err);
}
