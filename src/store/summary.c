/*
 * From summaries to the transcripts they are about.
 *
 * A summary may be read before or after the line it names, and either file may be read anew
 * at any time. So both sides look for the other: a summary when its session's keys are
 * complete, a line when its key is entered (store/keys.c). What results is a set of pairs,
 * which is the same whoever came first. The title is chosen when somebody asks for it
 * (store/session.c).
 */
#include "store/summary.h"

#include "store/db.h"
#include "store/keys.h"

#include <stdlib.h>

enum {
	SUMMARY_ANY,
	SUMMARY_FIRST,
	SUMMARY_ADD,
	SUMMARY_AGAIN,
	SUMMARY_KEYS,
	SUMMARY_NAMES,
	SUMMARY_FIND,
	SUMMARY_FORGET_NAMED,
	SUMMARY_FORGET_LINES,
	SUMMARY_FORGET,
	SUMMARY_STATEMENTS
};

static const char *const sql[SUMMARY_STATEMENTS] = {
	[SUMMARY_ANY] = "SELECT 1 FROM summarised WHERE session = ?1 LIMIT 1",
	[SUMMARY_FIRST] = (SUMMARY_OF("?1")),
	[SUMMARY_ADD] = "INSERT INTO summary(session, about, title) VALUES (?1, ?2, ?3)",
	[SUMMARY_AGAIN] = "UPDATE summary SET title = ?3 WHERE session = ?1 AND about = ?2",
	[SUMMARY_KEYS] = "SELECT DISTINCT about FROM summary ORDER BY about",
	[SUMMARY_NAMES] = "INSERT OR IGNORE INTO summarised(session, offset, about) VALUES (?1, ?2, ?3)",
	[SUMMARY_FIND] =
		("INSERT OR IGNORE INTO summarised(session, offset, about)"
		 " SELECT k.session, k.offset, y.about FROM summary y JOIN node_key k ON k.key = y.about"
		 " AND k.part = -1 JOIN mirror_session m ON m.id = k.session AND m.old = 0"
		 " WHERE y.session = ?1"),
	/* Lines that nothing else names. */
	[SUMMARY_FORGET_NAMED] = ("DELETE FROM summarised WHERE about IN (SELECT y.about FROM summary y"
				  " WHERE y.session = ?1 AND NOT EXISTS (SELECT 1 FROM summary o"
				  " WHERE o.about = y.about AND o.session <> ?1))"),
	[SUMMARY_FORGET_LINES] = "DELETE FROM summarised WHERE session = ?1",
	[SUMMARY_FORGET] = "DELETE FROM summary WHERE session = ?1",
};

const struct db_set summary_statements = { DB_SUMMARY, sql, SUMMARY_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &summary_statements, index, st, err);
}

/* Few transcripts have summaries. Asking whether costs much less than preparing to look for the right one. */
enum status summary_title(struct store *s, int64_t session, struct arena *mem, struct str *title, struct err *err)
{
	bool found;

	for (int index = SUMMARY_ANY; index <= SUMMARY_FIRST; index++) {
		STMT st = { 0 };

		if (use(s, index, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, session);
		if (stmt_found(&st, &found, err))
			return err_failed(err->status);
		if (!found)
			break;
		if (index == SUMMARY_FIRST)
			*title = arena_str(mem, col_bytes(&st, 0));
	}
	return STATUS_OK;
}

static enum status put(struct store *s, int index, int64_t session, int64_t about, struct str title,
		       struct err *err)
{
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, about);
	stmt_text(&st, 3, title);
	return stmt_run(&st, err);
}

/* Not one statement that does either: that opens a savepoint, for which FTS5 writes a
 * segment. */
enum status summary_add(struct store *s, int64_t session, const struct uuid *line, struct str title,
			struct err *err)
{
	int64_t about = key_of_line(line);

	if (put(s, SUMMARY_AGAIN, session, about, title, err))
		return err_failed(err->status);
	return sqlite3_changes64(s->db) ? STATUS_OK : put(s, SUMMARY_ADD, session, about, title, err);
}

/* ---- Lines that are named ---------------------------------------------------- */

void named_lines_release(struct named_lines *n)
{
	mem_free(n->keys);
	*n = (struct named_lines){ 0 };
}

enum status named_lines_load(struct store *s, struct named_lines *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	out->count = 0;
	if (use(s, SUMMARY_KEYS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (out->count == out->cap) {
			out->cap = out->cap ? out->cap * 2 : 256;
			out->keys = mem_resize(out->keys, out->cap * sizeof *out->keys);
		}
		out->keys[out->count++] = col_int(&st, 0);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

bool named_lines_has(const struct named_lines *n, int64_t key)
{
	return n->count && bsearch(&key, n->keys, n->count, sizeof key, by_number);
}

enum status summary_names(struct store *s, int64_t session, int64_t offset, int64_t key, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SUMMARY_NAMES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, offset);
	stmt_int(&st, 3, key);
	return stmt_run(&st, err);
}

enum status summary_find_lines(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &summary_statements, SUMMARY_FIND, session, err);
}

enum status summary_forget(struct store *s, int64_t session, struct err *err)
{
	if (stmt_run_with(s, &summary_statements, SUMMARY_FORGET_NAMED, session, err) ||
	    stmt_run_with(s, &summary_statements, SUMMARY_FORGET_LINES, session, err))
		return err_failed(err->status);
	return stmt_run_with(s, &summary_statements, SUMMARY_FORGET, session, err);
}
