/*
 * A purged line has no bytes that could say what it hung on. What follows it says only that it follows the
 * purged one. So that is written down here when a line goes, and asked for by who meets a line that hangs on
 * one that is not there.
 */
#include "store/line_parent.h"

#include "store/db.h"

enum { LINE_PARENT_KEEP, LINE_PARENT_GET, LINE_PARENT_STATEMENTS };

static const char *const sql[LINE_PARENT_STATEMENTS] = {
	[LINE_PARENT_KEEP] = "INSERT OR IGNORE INTO line_parent(uuid, parent, rev) VALUES (?1, ?2, ?3)",
	[LINE_PARENT_GET] = "SELECT parent FROM line_parent WHERE uuid = ?1",
};

const struct db_set line_parent_statements = { DB_LINE_PARENT, sql, LINE_PARENT_STATEMENTS };

enum status line_parent_keep(struct store *s, const struct uuid *line, const struct uuid *parent,
			     struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || stmt_use(s, &line_parent_statements, LINE_PARENT_KEEP, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, line);
	if (parent)
		stmt_uuid(&st, 2, parent);
	stmt_int(&st, 3, rev);
	return stmt_run(&st, err);
}

/* One step up. */
static enum status go_up(struct store *s, struct uuid *line, bool *purged, bool *hangs, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &line_parent_statements, LINE_PARENT_GET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, line);
	if (stmt_found(&st, purged, err))
		return err_failed(err->status);
	if (!*purged)
		return STATUS_OK;
	*hangs = col_bytes(&st, 0).n == UUID_BYTES;
	if (*hangs)
		*line = col_uuid(&st, 0);
	return STATUS_OK;
}

/* Lines can hang on each other in a circle: then one that was passed after 2^n steps comes again. */
enum status line_parent_above(struct store *s, struct uuid *line, bool *hangs, struct err *err)
{
	struct uuid passed = *line;
	bool purged = true;

	*hangs = true;
	for (uint64_t step = 1, next = 1; purged && *hangs; step++) {
		if (go_up(s, line, &purged, hangs, err))
			return err_failed(err->status);
		if (purged && uuid_eq(line, &passed))
			*hangs = false;
		if (step == next) {
			passed = *line;
			next *= 2;
		}
	}
	return STATUS_OK;
}
