/*
 * Links of transcripts. A row says what the lines of one transcript say, and nothing of others:
 * so it is the same in whatever order files are read, and goes when its transcript does. What
 * several have in common is found by its key when somebody asks (query/related.c).
 */
#include "store/link.h"

#include "base/hash.h"
#include "store/db.h"

enum { LINK_ADD, LINK_AGAIN, LINK_FORGET, LINK_EACH, LINK_STATEMENTS };

static const char *const sql[LINK_STATEMENTS] = {
	[LINK_ADD] =
		"INSERT INTO link(session, key, kind, name, offset, times) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[LINK_AGAIN] = "UPDATE link SET times = times + ?6 WHERE session = ?1 AND key = ?2",
	[LINK_FORGET] = "DELETE FROM link WHERE session = ?1",
	[LINK_EACH] = "SELECT kind, name, offset, times FROM link WHERE session = ?1 ORDER BY kind, name",
};

const struct db_set link_statements = { DB_LINK, sql, LINK_STATEMENTS };

int64_t link_key(int kind, struct str name)
{
	return (int64_t)(hash64(name.p, name.n) + (uint64_t)kind);
}

static enum status put(struct store *s, int index, int64_t session, const struct link *l, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &link_statements, index, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, link_key(l->kind, l->name));
	if (index == LINK_ADD) {
		stmt_int(&st, 3, l->kind);
		stmt_text(&st, 4, l->name);
		stmt_int(&st, 5, l->offset);
	}
	stmt_int(&st, 6, l->times);
	return stmt_run(&st, err);
}

/* Not one statement that does either: that opens a savepoint, for which FTS5 writes a
 * segment. */
enum status link_add(struct store *s, int64_t session, const struct link *l, bool is_new, struct err *err)
{
	if (!is_new && put(s, LINK_AGAIN, session, l, err))
		return err_failed(err->status);
	return !is_new && sqlite3_changes64(s->db) ? STATUS_OK : put(s, LINK_ADD, session, l, err);
}

enum status link_forget(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &link_statements, LINK_FORGET, session, err);
}

enum status link_each(struct store *s, int64_t session, link_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (stmt_use(s, &link_statements, LINK_EACH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct link l = { .kind = (int)col_int(&st, 0),
				  .name = col_bytes(&st, 1),
				  .offset = col_int(&st, 2),
				  .times = col_int(&st, 3) };

		if (fn(ctx, &l, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}
