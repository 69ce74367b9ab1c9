/*
 * Running SQL that somebody typed.
 *
 * It runs on a connection of its own that is opened for this one query, can only read (query_only),
 * and sees one snapshot. What else holds is in four places:
 *
 *   the authorizer   is asked for everything a statement would do while it is prepared, and lets pass:
 *                    SELECT, recursion, the documented tables, functions known to be harmless. So
 *                    there is no ATTACH, no PRAGMA but those that describe tables, no transaction.
 *   limits           of SQLite: lengths, columns, depth, memory.
 *   the handler      that SQLite calls every few thousand steps: the time is up, or somebody wants
 *                    it to stop.
 *   one statement    and only one that SQLite says is read-only.
 *
 * The functions and tables run statements of ours on the same connection, so that all see the same
 * snapshot; these are not what somebody typed, and pass (struct sql, `inside`).
 */
#include "query/sql.h"

#include "query/sql_inside.h"

#include <stdio.h>
#include <string.h>

void sql_count_memory(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
}

/* ---- What is allowed --------------------------------------------------------------------- */

static int deny(struct sql *q, const char *what, const char *name)
{
	if (!q->denied[0])
		snprintf(q->denied, sizeof q->denied, "%s%s%.80s%s", what, name ? " '" : "", name ? name : "",
			 name ? "'" : "");
	return SQLITE_DENY;
}

/* What it is called in SQL; the rest is said in general. Whoever makes or drops a table writes to
 * one of SQLite's own first. */
static const char *action_name(int action, const char *table)
{
	if (table && strncmp(table, "sqlite_", 7) == 0)
		return "changing what tables there are";
	switch (action) {
	case SQLITE_INSERT:
		return "INSERT";
	case SQLITE_UPDATE:
		return "UPDATE";
	case SQLITE_DELETE:
		return "DELETE";
	case SQLITE_ATTACH:
		return "ATTACH";
	case SQLITE_DETACH:
		return "DETACH";
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return "a transaction";
	default:
		return "this";
	}
}

static int authorize(void *ctx, int action, const char *first, const char *second, const char *database,
		     const char *view)
{
	struct sql *q = ctx;

	(void)database;
	(void)view;
	if (q->inside)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		/* Where no column is read, it may be a name that the query has given itself. */
		return !second[0] || sql_table_allowed(first) ? SQLITE_OK : deny(q, "the table", first);
	case SQLITE_FUNCTION:
		return sql_function_allowed(second) ? SQLITE_OK : deny(q, "the function", second);
	case SQLITE_PRAGMA:
		return sqlite3_stricmp(first, "table_info") == 0 ? SQLITE_OK : deny(q, "PRAGMA", first);
	default:
		return deny(q, action_name(action, first), NULL);
	}
}

static void set_limits(sqlite3 *db)
{
	static const struct {
		int limit, value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, (int)LIMIT_SQL_VALUE },
		{ SQLITE_LIMIT_SQL_LENGTH, (int)LIMIT_SQL_TEXT },
		{ SQLITE_LIMIT_COLUMN, LIMIT_SQL_COLUMNS },
		{ SQLITE_LIMIT_EXPR_DEPTH, 200 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 100 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < COUNT(limits); i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
}

/* Whether to stop. */
static int look_around(void *ctx)
{
	struct sql *q = ctx;

	q->too_long |= q->deadline_ns && clock_monotonic_ns() >= q->deadline_ns;
	return q->too_long || (q->cancel && atomic_load(q->cancel));
}

static enum status set_up(struct sql *q, struct err *err)
{
	enum { STEPS = 2000 };
	sqlite3 *db = q->store->db;
	int code;

	if (db_exec(q->store, "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF; PRAGMA cache_size=-8192",
		    err) ||
	    db_see(q->store, STORE_TREES, err) || db_see(q->store, STORE_LIVE, err))
		return err_failed(err->status);
	code = sql_register_functions(q);
	if (code == SQLITE_OK)
		code = sql_register_parts(q);
	if (code == SQLITE_OK)
		code = sql_register_tables(q);
	if (code != SQLITE_OK)
		return db_fail(q->store, code, "registering tables", err);
	set_limits(db);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_hard_heap_limit64((sqlite3_int64)LIMIT_SQL_MEMORY);
	sqlite3_progress_handler(db, STEPS, look_around, q);
	return STATUS_OK;
}

/* ---- A statement --------------------------------------------------------------------------- */

struct running {
	struct sql q;
	sqlite3_stmt *st;
	struct arena mem;
};

static void running_release(struct running *r)
{
	sqlite3_finalize(r->st);
	sqlite3_hard_heap_limit64(0);
	lines_set_release(&r->q.lines);
	grove_release(&r->q.grove);
	buf_release(&r->q.text);
	arena_release(&r->q.mem);
	arena_release(&r->mem);
	store_close(r->q.store);
}

/* In SQLite's words where it is the SQL that is wrong. */
static enum status explain(struct running *r, int code, struct err *err)
{
	struct sql *q = &r->q;
	int at = sqlite3_error_offset(q->store->db);

	if (q->err.status) {
		*err = q->err;
		return err_failed(err->status);
	}
	if (q->denied[0])
		return err_fail(
			err, STATUS_USAGE,
			"%s is not allowed: 'arbor help sql' says which tables can be read; nothing can be "
			"written",
			q->denied);
	switch (code & 0xff) {
	case SQLITE_INTERRUPT:
		return q->too_long ? err_fail(err, STATUS_LIMIT,
					      "stopped, since it took too long; --timeout gives it more")
				   : err_fail(err, STATUS_CANCELLED, "cancelled");
	case SQLITE_NOMEM:
		return err_fail(err, STATUS_LIMIT, "stopped, since it took more than %zu MiB of memory",
				LIMIT_SQL_MEMORY / MIB);
	case SQLITE_TOOBIG:
		return err_fail(err, STATUS_LIMIT, "%s", sqlite3_errmsg(q->store->db));
	case SQLITE_ERROR:
	case SQLITE_AUTH:
	case SQLITE_MISMATCH:
	case SQLITE_RANGE:
	case SQLITE_CONSTRAINT:
		if (at >= 0)
			return err_fail(err, STATUS_USAGE, "%s, at character %d",
					sqlite3_errmsg(q->store->db), at + 1);
		return err_fail(err, STATUS_USAGE, "%s", sqlite3_errmsg(q->store->db));
	default:
		return db_fail(q->store, code, "running the query", err);
	}
}

/* White space, comments and semicolons are no second statement. */
static bool is_nothing(sqlite3 *db, const char *text)
{
	while (*text) {
		sqlite3_stmt *st = NULL;
		bool is_empty = sqlite3_prepare_v2(db, text, -1, &st, &text) == SQLITE_OK && !st;

		sqlite3_finalize(st);
		if (!is_empty)
			return false;
	}
	return true;
}

static enum status prepare(struct running *r, struct str text, struct err *err)
{
	const char *sql = arena_cstr(&r->mem, text), *rest = sql;
	sqlite3 *db = r->q.store->db;
	int code;

	if (text.n > LIMIT_SQL_TEXT)
		return err_fail(err, STATUS_LIMIT, "the query is longer than %zu bytes", LIMIT_SQL_TEXT);
	if (strlen(sql) != text.n)
		return err_fail(err, STATUS_USAGE, "there is a NUL in the query");
	while (*rest && !r->st) { /* a comment is a statement that does nothing */
		code = sqlite3_prepare_v2(db, rest, -1, &r->st, &rest);
		if (code != SQLITE_OK)
			return explain(r, code, err);
	}
	if (!r->st)
		return err_fail(err, STATUS_USAGE, "there is no query");
	if (!sqlite3_stmt_readonly(r->st))
		return err_fail(err, STATUS_USAGE, "it would write; only reading is allowed");
	if (!is_nothing(db, rest))
		return err_fail(err, STATUS_USAGE, "one statement at a time; there is more behind the first");
	return STATUS_OK;
}

static struct sql_value read_value(sqlite3_stmt *st, int column)
{
	const char *bytes;

	switch (sqlite3_column_type(st, column)) {
	case SQLITE_INTEGER:
		return (struct sql_value){ .type = SQL_INT, .number = sqlite3_column_int64(st, column) };
	case SQLITE_FLOAT:
		return (struct sql_value){ .type = SQL_REAL, .real = sqlite3_column_double(st, column) };
	case SQLITE_TEXT:
		bytes = (const char *)sqlite3_column_text(st, column);
		return (struct sql_value){
			.type = SQL_TEXT, .bytes = str_from(bytes, (size_t)sqlite3_column_bytes(st, column))
		};
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(st, column);
		return (struct sql_value){
			.type = SQL_BLOB, .bytes = str_from(bytes, (size_t)sqlite3_column_bytes(st, column))
		};
	default:
		return (struct sql_value){ .type = SQL_NULL };
	}
}

static enum status give_rows(struct running *r, const struct sql_query *query, sql_fn *fn, void *ctx,
			     struct sql_report *report, struct err *err)
{
	size_t count = (size_t)sqlite3_column_count(r->st);
	struct str *names = arena_alloc(&r->mem, (count + 1) * sizeof *names);
	struct sql_value *values = arena_alloc(&r->mem, (count + 1) * sizeof *values);
	int64_t given = 0;
	int code;

	for (size_t i = 0; i < count; i++)
		names[i] = arena_str(&r->mem, str_of(sqlite3_column_name(r->st, (int)i)));
	while ((code = sqlite3_step(r->st)) == SQLITE_ROW) {
		if (query->rows && given++ == query->rows) {
			report->more = true;
			return STATUS_OK;
		}
		for (size_t i = 0; i < count; i++)
			values[i] = read_value(r->st, (int)i);
		if (fn(ctx, &(struct sql_row){ count, names, values }, err))
			return err_failed(err->status);
	}
	return code == SQLITE_DONE ? STATUS_OK : explain(r, code, err);
}

enum status sql_run(struct store *s, const struct sql_query *query, sql_fn *fn, void *ctx,
		    struct sql_report *report, struct err *err)
{
	struct running r CLEANUP(running_release) = { .q = { .cancel = query->cancel,
							     .text = BUF_INIT(2 * LIMIT_LINE_PARSED) } };
	struct read_txn snapshot; /* ends with the connection */
	int64_t now = clock_monotonic_ns();

	*report = (struct sql_report){ 0 };
	if (query->timeout_ms > 0 && query->timeout_ms < (INT64_MAX - now) / 1000000)
		r.q.deadline_ns = now + query->timeout_ms * 1000000;
	if (store_open_again(s, &r.q.store, err) || read_begin(r.q.store, &snapshot, err) ||
	    set_up(&r.q, err))
		return err_failed(err->status);
	/* From here on. */
	sqlite3_set_authorizer(r.q.store->db, authorize, &r.q);
	if (prepare(&r, query->text, err))
		return err_failed(err->status);
	return give_rows(&r, query, fn, ctx, report, err);
}
