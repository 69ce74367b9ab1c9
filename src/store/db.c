/*
 * Statements, transactions and errors over one SQLite connection.
 *
 * Statements are prepared on first use and live in the connection until it is
 * closed (as FTS5 keeps its own). A write transaction begins IMMEDIATE: it has
 * the write lock before it reads what it will decide on, so it can never fail
 * half way with a stale snapshot.
 *
 * Invariants
 *   (1) depth > 0 exactly while a write transaction is open.
 *   (2) A transaction whose inner part was abandoned is never committed.
 *   (3) The bell rings after a commit that wrote, never before it.
 */
#include "store/db.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct db_set *const db_sets[DB_SLOTS] = {
	[DB_STORE] = &store_statements,
	[DB_SOURCE] = &source_statements,
	[DB_FIND] = &find_statements,
	[DB_ARCHIVE] = &archive_statements,
	[DB_LIKE] = &like_statements,
	[DB_FIRSTS] = &firsts_statements,
	[DB_CHECK] = &check_statements,
	[DB_FULLTEXT] = &fulltext_statements,
	[DB_POSTINGS] = &postings_statements,
	[DB_MIRROR] = &mirror_statements,
	[DB_QUEUED] = &queued_statements,
	[DB_COPIED] = &copied_statements,
	[DB_BORROWED] = &borrowed_statements,
	[DB_SESSION] = &session_statements,
	[DB_KEYS] = &keys_statements,
	[DB_SUMMARY] = &summary_statements,
	[DB_LINK] = &link_statements,
	[DB_BRANCH] = &branch_statements,
	[DB_BEGINNING] = &beginning_statements,
	[DB_SHARING] = &sharing_statements,
	[DB_VARIANT] = &variant_statements,
	[DB_TEMPLATE] = &template_statements,
	[DB_ANNOTATION] = &annotation_statements,
	[DB_TAG] = &tag_statements,
	[DB_MADE] = &made_statements,
	[DB_MADE_TEXT] = &made_text_statements,
	[DB_ALIAS] = &alias_statements,
	[DB_TREE] = &tree_statements,
	[DB_TREE_NODE] = &tree_node_statements,
	[DB_TREE_WALK] = &tree_walk_statements,
	[DB_LIFECYCLE] = &lifecycle_statements,
	[DB_TREE_MEMBER] = &tree_member_statements,
	[DB_TREE_GONE] = &tree_gone_statements,
	[DB_TREE_GRAFT] = &tree_graft_statements,
	[DB_GC] = &gc_statements,
	[DB_CHECK_TREES] = &check_trees_statements,
	[DB_PAPER] = &paper_statements,
	[DB_TOMBSTONE] = &tombstone_statements,
	[DB_GAP] = &gap_statements,
	[DB_WIPE] = &wipe_statements,
	[DB_LINE_PARENT] = &line_parent_statements,
	[DB_NAMED] = &named_statements,
	[DB_RUN] = &run_statements,
	[DB_STREAM] = &stream_statements,
	[DB_EVENT] = &event_statements,
	[DB_CURSOR] = &cursor_statements,
	[DB_INBOX] = &inbox_statements,
	[DB_APPROVAL] = &approval_statements,
	[DB_RULE] = &rule_statements,
};

/* Modules that ask tables which not every store has. */
static const enum store_part db_parts[DB_SLOTS] = {
	[DB_TREE] = STORE_TREES,      [DB_TREE_NODE] = STORE_TREES, [DB_TREE_WALK] = STORE_TREES,
	[DB_LIFECYCLE] = STORE_TREES, [DB_TREE_MEMBER] = STORE_TREES, [DB_GC] = STORE_TREES,
	[DB_CHECK_TREES] = STORE_TREES, [DB_ALIAS] = STORE_TREES, [DB_TREE_GONE] = STORE_TREES,
	[DB_TREE_GRAFT] = STORE_TREES,  [DB_HIDDEN] = STORE_TREES,   [DB_MADE_TEXT] = STORE_TREES,
	[DB_LINE_PARENT] = STORE_PURGED, [DB_LIKE] = STORE_BASES,
	[DB_NAMED] = STORE_LIVE,      [DB_RUN] = STORE_LIVE,	      [DB_STREAM] = STORE_LIVE,
	[DB_EVENT] = STORE_LIVE,      [DB_CURSOR] = STORE_LIVE,	      [DB_INBOX] = STORE_LIVE,
	[DB_APPROVAL] = STORE_LIVE,   [DB_RULE] = STORE_LIVE,
};

/* ---- Errors ---------------------------------------------------------------- */

static enum status status_of_code(int code)
{
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL: /* the lock was lost to others too often */
		return STATUS_BUSY;
	case SQLITE_FULL:
		return STATUS_FULL;
	case SQLITE_CORRUPT:
		return STATUS_CORRUPT;
	case SQLITE_NOTADB:
		return STATUS_NOT_A_STORE;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_AUTH:
		return STATUS_DENIED;
	case SQLITE_IOERR:
		return STATUS_IO;
	case SQLITE_CONSTRAINT:
		/* Somebody else's row is in the way; anything else is a bug. */
		return code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ? STATUS_CONFLICT
												 : STATUS_INTERNAL;
	case SQLITE_TOOBIG:
	case SQLITE_NOMEM:
		return STATUS_LIMIT;
	case SQLITE_INTERRUPT:
		return STATUS_CANCELLED;
	default:
		return STATUS_INTERNAL;
	}
}

static const char *advice(enum status s)
{
	switch ((int)s) {
	case STATUS_BUSY:
		return "; another program has held the store for long, try again when it is done";
	case STATUS_FULL:
		return "; free some space and run the same command again, nothing is lost";
	case STATUS_CORRUPT:
		return "; 'arbor check' looks at all of it. Restore the file from a backup; without one, "
		       "move it away and "
		       "run 'arbor sync', which brings in all that Claude Code still has";
	default:
		return "";
	}
}

enum status db_fail(struct store *s, int code, const char *what, struct err *err)
{
	int number = s->db ? sqlite3_system_errno(s->db) : 0;
	enum status status = status_of_code(code);
	const char *reason = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code);

	if (status == STATUS_BUSY && s->cancel && atomic_load(s->cancel))
		return err_fail(err, STATUS_CANCELLED, "%s: stopped while waiting for another program", s->path);
	/* SQLite reports a full disk during a WAL write as an I/O error. */
	if (status == STATUS_IO && (number == ENOSPC || number == EDQUOT))
		status = STATUS_FULL;
	return err_fail(err, status, "%s: %s: %s%s%s%s", s->path, what, reason, number ? ", " : "",
			number ? strerrordesc_np(number) : "", advice(status));
}

/* ---- Statements ------------------------------------------------------------ */

/*
 * FTS5 looks at its tables while SQLite prepares a statement, and fails when another program has made or dropped some
 * since this connection last looked: parts of a store come when they are first needed. Any statement has SQLite look
 * again; then it goes. False when it is something else, or happens too often.
 */
static bool has_looked_again(struct store *s, int code, int *tries)
{
	enum { MOST_TRIES = 20 };
	static const char torn[] = "vtable constructor failed";

	if (code != SQLITE_SCHEMA &&
	    (code != SQLITE_ERROR || strncmp(sqlite3_errmsg(s->db), torn, sizeof torn - 1) != 0))
		return false;
	return ++*tries < MOST_TRIES &&
	       sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL) == SQLITE_OK;
}

static int prepare(struct store *s, const char *sql, sqlite3_stmt **out)
{
	int code, tries = 0;

	do
		code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
	while (has_looked_again(s, code, &tries));
	return code;
}

static const char own[] = "@own";

/* With the names that tables have here. */
static int prepare_own(struct store *s, const char *sql, sqlite3_stmt **out)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	const char *found;

	for (; (found = strstr(sql, own)); sql = found + strlen(own)) {
		buf_add(&text, sql, (size_t)(found - sql));
		buf_text(&text, s->lends ? "_own" : "");
	}
	buf_text(&text, sql);
	return prepare(s, text.p, out);
}

enum status stmt_use(struct store *s, const struct db_set *set, int index, struct stmt *out, struct err *err)
{
	sqlite3_stmt ***list = &s->prepared[set->slot];
	enum store_part part = db_parts[set->slot];
	const char *sql = set->sql[index];
	int code;

	if (part && !(s->parts & 1u << part) && db_see(s, part, err))
		return err_failed(err->status);
	if (!*list) {
		*list = mem_alloc(2 * set->count * sizeof **list);
		s->prepared_count[set->slot] = 2 * set->count;
	}
	if (s->lends && strstr(sql, own)) /* another one than before rows were borrowed */
		index += (int)set->count;
	if (!(*list)[index]) {
		code = prepare_own(s, sql, &(*list)[index]);
		if (code != SQLITE_OK)
			return db_fail(s, code, "preparing a statement", err);
	}
	*out = (struct stmt){ .store = s, .st = (*list)[index] };
	return STATUS_OK;
}

void stmt_done(struct stmt *st)
{
	if (!st->st)
		return;
	sqlite3_reset(st->st);
	sqlite3_clear_bindings(st->st);
	st->st = NULL;
}

static void note_bind(struct stmt *st, int code)
{
	if (code != SQLITE_OK && !st->bind_error)
		st->bind_error = code;
}

void stmt_int(struct stmt *st, int at, int64_t v)
{
	note_bind(st, sqlite3_bind_int64(st->st, at, v));
}

void stmt_int_or_null(struct stmt *st, int at, int64_t v, bool is_null)
{
	note_bind(st, is_null ? sqlite3_bind_null(st->st, at) : sqlite3_bind_int64(st->st, at, v));
}

void stmt_text(struct stmt *st, int at, struct str v)
{
	note_bind(st, sqlite3_bind_text64(st->st, at, v.p ? v.p : "", v.n, SQLITE_STATIC, SQLITE_UTF8));
}

void stmt_blob(struct stmt *st, int at, const void *p, size_t n)
{
	note_bind(st, sqlite3_bind_blob64(st->st, at, p ? p : "", n, SQLITE_STATIC));
}

void stmt_uuid(struct stmt *st, int at, const struct uuid *u)
{
	stmt_blob(st, at, u->b, UUID_BYTES);
}

void stmt_text_range(struct stmt *st, int at, struct str pattern, struct buf *room)
{
	bool prefix = str_has_suffix(pattern, STR("*"));

	if (prefix)
		pattern.n--;
	buf_str(room, pattern);
	buf_text(room, prefix ? "\xff" : ""); /* no text has this byte: it is behind all that begin so */
	stmt_text(st, at, pattern);
	stmt_text(st, at + 1, buf_as_str(room));
}

/* SQLite prepares again what was prepared for tables that have changed since, at the first step. */
static int step(struct stmt *st)
{
	bool is_first = !sqlite3_stmt_busy(st->st);
	int code = sqlite3_step(st->st), tries = 0;

	while (is_first && has_looked_again(st->store, code, &tries)) {
		sqlite3_reset(st->st);
		code = sqlite3_step(st->st);
	}
	return code;
}

enum step stmt_step(struct stmt *st, struct err *err)
{
	int code = st->bind_error ? st->bind_error : step(st);

	if (code == SQLITE_ROW)
		return STEP_ROW;
	if (code == SQLITE_DONE)
		return STEP_DONE;
	db_fail(st->store, code, sqlite3_stmt_readonly(st->st) ? "reading" : "writing", err);
	return STEP_FAILED;
}

struct row_taker {
	row_fn *fn;
	void *ctx;
	enum status status;
	struct err *err;
};

/* The SQL function arbor_row: never true, so that the statement itself has no rows. */
static void hand_over(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct row_taker *t = ((struct store *)sqlite3_user_data(result))->taker;

	(void)count;
	if (t)
		t->status = t->fn(t->ctx, row, t->err);
	if (t && t->status == STATUS_OK)
		sqlite3_result_int(result, 0);
	else
		sqlite3_result_error_code(result, SQLITE_ABORT);
}

enum status db_register_rows(struct store *s, struct err *err)
{
	int code = sqlite3_create_function_v2(s->db, "arbor_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, s, hand_over,
					      NULL, NULL, NULL);

	return code == SQLITE_OK ? STATUS_OK : db_fail(s, code, "registering a function", err);
}

enum status stmt_each(struct stmt *st, row_fn *fn, void *ctx, struct err *err)
{
	struct row_taker taker = { fn, ctx, STATUS_OK, err }, *outer = st->store->taker;
	struct err here = { 0 };
	enum step step;

	st->store->taker = &taker;
	step = stmt_step(st, &here);
	st->store->taker = outer;
	if (taker.status != STATUS_OK)
		return taker.status;
	if (step == STEP_FAILED)
		*err = here;
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status stmt_row(struct stmt *st, const char *what, struct err *err)
{
	switch (stmt_step(st, err)) {
	case STEP_ROW:
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_CORRUPT, "%s: %s is missing", st->store->path, what);
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

enum status stmt_found(struct stmt *st, bool *out, struct err *err)
{
	enum step step = stmt_step(st, err);

	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status stmt_run(struct stmt *st, struct err *err)
{
	enum step step;

	do {
		step = stmt_step(st, err);
	} while (step == STEP_ROW);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (!sqlite3_stmt_readonly(st->st))
		st->store->wrote = true;
	return STATUS_OK;
}

enum status stmt_run_with(struct store *s, const struct db_set *set, int index, int64_t number, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, set, index, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, number);
	return stmt_run(&st, err);
}

enum status stmt_run_one(struct stmt *st, const char *what, struct err *err)
{
	if (stmt_run(st, err))
		return err_failed(err->status);
	if (sqlite3_changes64(st->store->db) != 1)
		return err_fail(err, STATUS_CONFLICT, "%s: changed by another program", what);
	return STATUS_OK;
}

int64_t col_int(const struct stmt *st, int at)
{
	return sqlite3_column_int64(st->st, at);
}

bool col_null(const struct stmt *st, int at)
{
	return sqlite3_column_type(st->st, at) == SQLITE_NULL;
}

struct str col_bytes(const struct stmt *st, int at)
{
	const char *p = sqlite3_column_blob(st->st, at);

	return str_from(p, (size_t)sqlite3_column_bytes(st->st, at));
}

struct str col_text(const struct stmt *st, int at)
{
	struct str v = col_bytes(st, at);

	return v.p || col_null(st, at) ? v : STR("");
}

struct uuid col_uuid(const struct stmt *st, int at)
{
	struct str bytes = col_bytes(st, at);
	struct uuid out = { 0 };

	if (bytes.n == UUID_BYTES)
		memcpy(out.b, bytes.p, UUID_BYTES);
	return out;
}

enum status db_exec(struct store *s, const char *sql, struct err *err)
{
	int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? STATUS_OK : db_fail(s, code, "preparing the store", err);
}

/* ---- Transactions ---------------------------------------------------------- */

static enum status run_transaction_word(struct store *s, const char *word, struct err *err)
{
	int code = sqlite3_exec(s->db, word, NULL, NULL, NULL);

	bell_leave_queue(&s->bell); /* where wait_for_lock() may have queued up */
	return code == SQLITE_OK ? STATUS_OK : db_fail(s, code, word, err);
}

enum status db_set_up_writing(struct store *s, struct err *err)
{
	char pragmas[200];

	if (s->may_write)
		return STATUS_OK;
	snprintf(pragmas, sizeof pragmas,
		 "PRAGMA cache_size=-16384; PRAGMA wal_autocheckpoint=%d; PRAGMA foreign_keys=ON;"
		 "PRAGMA journal_size_limit=%zu; PRAGMA cell_size_check=ON; PRAGMA secure_delete=FAST",
		 DB_LOG_FRAMES, LIMIT_WAL_BYTES);
	if (db_exec(s, pragmas, err))
		return err_failed(err->status);
	s->may_write = true;
	return STATUS_OK;
}

enum status txn_begin(struct store *s, struct txn *t, struct err *err)
{
	if (s->access != DB_WRITE)
		return err_fail(err, STATUS_DENIED,
				"%s: the store cannot be written, the file or its folder is read-only", s->path);
	if (s->depth == 0) {
		if (db_set_up_writing(s, err) || run_transaction_word(s, "BEGIN IMMEDIATE", err))
			return err_failed(err->status);
		s->doomed = false;
		s->wrote = false;
		s->rev = 0;
		s->locked_ns = clock_monotonic_ns();
	}
	s->depth++;
	t->store = s;
	/* With the lock in hand nobody can change it any more. */
	if (s->depth > 1)
		return STATUS_OK;
	return db_check_version(s, err) ? err_failed(err->status) : db_see_lending(s, err);
}

static void roll_back(struct store *s)
{
	/* After some errors SQLite has rolled back by itself. */
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

enum status txn_commit(struct txn *t, struct err *err)
{
	struct store *s = t->store;
	enum status status;

	t->store = NULL;
	if (--s->depth > 0)
		return STATUS_OK;
	if (s->doomed) {
		roll_back(s);
		return err_fail(err, STATUS_INTERNAL, "%s: a part of this change was abandoned", s->path);
	}
	status = run_transaction_word(s, "COMMIT", err);
	s->held_ns += clock_monotonic_ns() - s->locked_ns;
	if (s->full_sync) {
		s->full_sync = false;
		sqlite3_exec(s->db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
	}
	if (status != STATUS_OK) {
		roll_back(s);
		return status;
	}
	if (s->wrote)
		bell_ring(&s->bell);
	return STATUS_OK;
}

void txn_end(struct txn *t)
{
	struct store *s = t->store;

	if (!s)
		return;
	t->store = NULL;
	s->doomed = true;
	if (--s->depth == 0)
		roll_back(s);
}

enum status save_begin(struct store *s, struct save *v, struct err *err)
{
	if (run_transaction_word(s, "SAVEPOINT part", err))
		return err_failed(err->status);
	v->store = s;
	v->rev = s->rev;
	return STATUS_OK;
}

enum status save_keep(struct save *v, struct err *err)
{
	struct store *s = v->store;

	v->store = NULL;
	return run_transaction_word(s, "RELEASE part", err);
}

void save_end(struct save *v)
{
	if (!v->store)
		return;
	if (!sqlite3_get_autocommit(v->store->db))
		sqlite3_exec(v->store->db, "ROLLBACK TO part; RELEASE part", NULL, NULL, NULL);
	/* A revision taken inside was taken back with the rest. */
	v->store->rev = v->rev;
	v->store = NULL;
}

enum status store_sync_next_commit(struct store *s, struct err *err)
{
	if (db_exec(s, "PRAGMA synchronous=FULL", err))
		return err_failed(err->status);
	s->full_sync = true;
	return STATUS_OK;
}

enum status read_begin(struct store *s, struct read_txn *t, struct err *err)
{
	if (!sqlite3_get_autocommit(s->db))
		return STATUS_OK;
	if (run_transaction_word(s, "BEGIN", err))
		return err_failed(err->status);
	t->store = s;
	return STATUS_OK;
}

enum status read_join(struct store *s, struct read_txn *t, struct err *err)
{
	return sqlite3_get_autocommit(s->db) ? read_begin(s, t, err) : STATUS_OK;
}

void read_end(struct read_txn *t)
{
	if (t->store && !sqlite3_get_autocommit(t->store->db))
		sqlite3_exec(t->store->db, "COMMIT", NULL, NULL, NULL);
	t->store = NULL;
}
