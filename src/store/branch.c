/*
 * Runs of lines on one branch. A line that says nothing of it, as titles and notes of the client do, counts as
 * written on the branch of the line before.
 *
 * A run begins where a line says something else than the last that said anything: so the rows are the same however the
 * file was cut into pieces when it was read.
 */
#include "store/branch.h"

#include "store/db.h"

enum { BRANCH_LAST, BRANCH_ADD, BRANCH_FORGET, BRANCH_LIST, BRANCH_NAMES, BRANCH_STATEMENTS };

static const char *const sql[BRANCH_STATEMENTS] = {
	[BRANCH_LAST] = "SELECT branch FROM branch_run WHERE session = ?1 ORDER BY offset DESC LIMIT 1",
	[BRANCH_ADD] = "INSERT INTO branch_run(session, offset, branch) VALUES (?1, ?2, ?3)",
	[BRANCH_FORGET] = "DELETE FROM branch_run WHERE session = ?1",
	[BRANCH_LIST] = "SELECT offset, branch FROM branch_run WHERE session = ?1 ORDER BY offset",
	[BRANCH_NAMES] =
		"SELECT branch FROM branch_run WHERE branch <> '' GROUP BY 1 ORDER BY count(DISTINCT session) DESC, 1",
};

const struct db_set branch_statements = { DB_BRANCH, sql, BRANCH_STATEMENTS };

static enum status goes_on(struct store *s, int64_t session, struct str branch, bool *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (stmt_use(s, &branch_statements, BRANCH_LAST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW && str_eq(col_bytes(&st, 0), branch);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status branch_add(struct store *s, int64_t session, const struct branch_run *run, struct err *err)
{
	bool known;
	STMT st = { 0 };

	if (goes_on(s, session, run->branch, &known, err))
		return err_failed(err->status);
	if (known)
		return STATUS_OK;
	if (stmt_use(s, &branch_statements, BRANCH_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, run->offset);
	stmt_text(&st, 3, run->branch);
	return stmt_run(&st, err);
}

enum status branch_forget(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &branch_statements, BRANCH_FORGET, session, err);
}

enum status branch_list(struct store *s, int64_t session, struct arena *mem, struct branch_run **out, size_t *count,
			struct err *err)
{
	size_t cap = 0;
	enum step step;
	STMT st = { 0 };

	*out = NULL;
	*count = 0;
	if (stmt_use(s, &branch_statements, BRANCH_LIST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (*count == cap) {
			struct branch_run *more = arena_alloc(mem, (cap ? cap * 2 : 8) * sizeof *more);

			for (size_t i = 0; i < *count; i++)
				more[i] = (*out)[i];
			*out = more;
			cap = cap ? cap * 2 : 8;
		}
		(*out)[(*count)++] =
			(struct branch_run){ col_int(&st, 0), arena_str(mem, col_bytes(&st, 1)) };
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status branch_names(struct store *s, branch_name_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (stmt_use(s, &branch_statements, BRANCH_NAMES, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		fn(ctx, col_bytes(&st, 0));
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}
