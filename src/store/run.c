/*
 * The table of runs.
 *
 * Who may write is said in one place, by the stream's incarnation; the lease says only who that is. Taking a
 * run is both in one transaction. Whoever held it finds out with the next thing it writes.
 *
 * A client id is looked for under the write lock, so of two who submit the same at once one submits it and
 * the other finds it. That a session has one open run, an index demands, too; that a conversation has, which
 * may go by several names, is looked for under the same lock.
 */
#include "store/run.h"

#include "store/live_row.h"

enum {
	RUN_OF_STREAM,
	RUN_OF_CLIENT,
	RUN_OF_SESSION,
	RUN_WRITER,
	RUN_OPEN,
	RUN_BESIDE,
	RUN_EACH_OPEN,
	RUN_INSERT,
	RUN_LEASE,
	RUN_RENEW,
	RUN_NOTE,
	RUN_OUTPUT,
	RUN_STATEMENTS
};

#define COLUMNS \
	"SELECT r.id, r.run_id, r.session, t.id, t.incarnation, t.stream_id, r.client_msg_id, r.prompt, " \
	"r.ephemeral," \
	" r.lease_host, r.lease_boot, r.lease_pid, r.lease_start, r.lease_at, r.started_at, r.ended_at" \
	" FROM run r JOIN stream t ON t.run = r.id "

static const char *const sql[RUN_STATEMENTS] = {
	[RUN_OF_STREAM] = COLUMNS "WHERE t.stream_id = ?1",
	[RUN_OF_CLIENT] = COLUMNS "WHERE r.session = ?1 AND r.client_msg_id = ?2",
	[RUN_OF_SESSION] = COLUMNS "WHERE r.session = ?1 AND r.ended_at IS NULL",
	[RUN_WRITER] = "SELECT id, incarnation FROM stream WHERE run = ?1",
	[RUN_OPEN] = "SELECT 1 FROM run WHERE session = ?1 AND ended_at IS NULL",
	[RUN_BESIDE] = "SELECT o.name FROM run r JOIN session o ON o.id = r.session JOIN session w ON w.id = ?1"
		       " WHERE r.ended_at IS NULL AND o.id <> ?1 AND o.claude_session_id = w.claude_session_id",
	[RUN_EACH_OPEN] = COLUMNS "WHERE r.ended_at IS NULL ORDER BY r.id",
	[RUN_INSERT] =
		"INSERT INTO run(run_id, session, client_msg_id, prompt, ephemeral, started_at, lease_host,"
		" lease_boot, lease_pid, lease_start, lease_at, rev)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?6, ?11)",
	[RUN_LEASE] = "UPDATE run SET lease_host = ?2, lease_boot = ?3, lease_pid = ?4, lease_start = ?5, "
		      "lease_at = ?6,"
		      " rev = ?7 WHERE id = ?1 AND ended_at IS NULL",
	[RUN_RENEW] = ("UPDATE run SET lease_at = ?4, rev = ?5 WHERE id = ?1 AND ended_at IS NULL AND"
		       " EXISTS (SELECT 1 FROM stream WHERE id = ?2 AND incarnation = ?3)"),
	[RUN_NOTE] =
		"UPDATE run SET argv = coalesce(?2, argv), init = coalesce(?3, init), rev = ?4 WHERE id = ?1",
	[RUN_OUTPUT] = "UPDATE run SET stdout_id = (SELECT source_id FROM source WHERE id = ?2), rev = ?3"
		       " WHERE id = ?1",
};

const struct db_set run_statements = { DB_RUN, sql, RUN_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &run_statements, index, st, err);
}

/* ---- Reading ---------------------------------------------------------------- */

/* Borrows from the row. */
static struct run run_of(const struct stmt *st)
{
	return (struct run){
		.row = col_int(st, 0),
		.id = col_uuid(st, 1),
		.session = col_int(st, 2),
		.writer = { col_int(st, 3), col_int(st, 4) },
		.stream = col_uuid(st, 5),
		.client_id = col_text(st, 6),
		.prompt = col_text(st, 7),
		.ephemeral = col_int(st, 8) != 0,
		.lease = { col_text(st, 9), col_text(st, 10), col_int(st, 11), col_int(st, 12),
			   col_int(st, 13) },
		.started_at = col_int(st, 14),
		.ended_at = col_int(st, 15),
	};
}

static void keep(struct run *run, struct arena *mem)
{
	if (run->client_id.p)
		run->client_id = arena_str(mem, run->client_id);
	run->prompt = arena_str(mem, run->prompt);
	run->lease.host = arena_str(mem, run->lease.host);
	run->lease.boot = arena_str(mem, run->lease.boot);
}

/* Of a statement that gives one or none. */
static enum status take_found(struct stmt *st, struct arena *mem, struct run *out, bool *found, struct err *err)
{
	if (stmt_found(st, found, err))
		return err_failed(err->status);
	if (*found) {
		*out = run_of(st);
		keep(out, mem);
	}
	return STATUS_OK;
}

enum status run_of_stream(struct store *s, const struct uuid *stream, struct arena *mem, struct run *out,
			  struct err *err)
{
	char text[UUID_TEXT + 1];
	bool found;
	STMT st = { 0 };

	if (use(s, RUN_OF_STREAM, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, stream);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	uuid_print(stream, text);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "there is no stream %s", text);
	*out = run_of(&st);
	keep(out, mem);
	return STATUS_OK;
}

enum status run_of_session(struct store *s, int64_t session, struct arena *mem, struct run *out, bool *found,
			   struct err *err)
{
	STMT st = { 0 };

	if (use(s, RUN_OF_SESSION, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	return take_found(&st, mem, out, found, err);
}

enum status run_writer(struct store *s, int64_t run, struct stream_writer *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, RUN_WRITER, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "there is no such run");
	*out = (struct stream_writer){ col_int(&st, 0), col_int(&st, 1) };
	return STATUS_OK;
}

enum status run_each_open(struct store *s, run_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, RUN_EACH_OPEN, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct run run = run_of(&st);

		if (fn(ctx, &run, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- Submitting ------------------------------------------------------------- */

static enum status find_client(struct store *s, const struct run_new *what, struct arena *mem,
			       struct run *out, bool *found, struct err *err)
{
	STMT st = { 0 };

	*found = false;
	if (!what->client_id.p)
		return STATUS_OK;
	if (use(s, RUN_OF_CLIENT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, what->session);
	stmt_text(&st, 2, what->client_id);
	return take_found(&st, mem, out, found, err);
}

static enum status check_alone(struct store *s, const struct run_new *what, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, RUN_OPEN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, what->session);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	return found ? err_fail(err, STATUS_BUSY, "this session is at work; wait for it, or queue the prompt")
		     : STATUS_OK;
}

/* Two clients that write to one transcript at once would not know of each other. */
static enum status check_beside(struct store *s, const struct run_new *what, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, RUN_BESIDE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, what->session);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	return found ? err_fail(err, STATUS_BUSY, "'%.*s' is at work on the same conversation; wait for it",
				STR_ARG(col_text(&st, 0)))
		     : STATUS_OK;
}

static enum status insert_run(struct store *s, const struct run_new *what, struct uuid *id, int64_t *row,
			      struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (uuid_random(id, err) || db_rev(s, &rev, err) || use(s, RUN_INSERT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_int(&st, 2, what->session);
	stmt_text_or_null(&st, 3, what->client_id);
	stmt_text(&st, 4, what->prompt);
	stmt_int(&st, 5, what->ephemeral);
	stmt_int(&st, 6, store_now(s));
	stmt_text(&st, 7, what->lease.host);
	stmt_text(&st, 8, what->lease.boot);
	stmt_int(&st, 9, what->lease.pid);
	stmt_int(&st, 10, what->lease.start);
	stmt_int(&st, 11, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*row = sqlite3_last_insert_rowid(s->db);
	return STATUS_OK;
}

static enum status insert_all(struct store *s, const struct run_new *what, struct uuid *stream,
			      struct err *err)
{
	struct stream_new made = { .session = what->session,
				   .continues = what->continues,
				   .root = what->root };
	struct stream_change first = { .events = &what->first, .count = 1, .state = STREAM_RUNNING };
	struct stream_writer w;
	struct uuid id;

	if (check_alone(s, what, err) || check_beside(s, what, err) || insert_run(s, what, &id, &made.run, err) ||
	    stream_insert(s, &made, stream, &w, err))
		return err_failed(err->status);
	return stream_write(s, &w, &first, err);
}

enum status run_submit(struct store *s, const struct run_new *what, struct arena *mem, struct run *out,
		       bool *again, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct uuid stream;

	if (live_begin_synced(s, &txn, true, err) || find_client(s, what, mem, out, again, err))
		return err_failed(err->status);
	if (!*again && (insert_all(s, what, &stream, err) || run_of_stream(s, &stream, mem, out, err)))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* ---- Holding ---------------------------------------------------------------- */

static enum status write_lease(struct store *s, const struct run *run, const struct lease *l, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, RUN_LEASE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run->row);
	stmt_text(&st, 2, l->host);
	stmt_text(&st, 3, l->boot);
	stmt_int(&st, 4, l->pid);
	stmt_int(&st, 5, l->start);
	stmt_int(&st, 6, store_now(s));
	stmt_int(&st, 7, rev);
	return stmt_run_one(&st, "a run", err);
}

enum status run_take(struct store *s, struct run *run, const struct lease *lease, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct stream_writer w = run->writer;

	if (live_begin(s, &txn, err) || stream_take(s, &w, err) || write_lease(s, run, lease, err) ||
	    txn_commit(&txn, err))
		return err_failed(err->status);
	run->writer = w;
	run->lease = *lease;
	return STATUS_OK;
}

enum status run_renew(struct store *s, const struct run *run, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, RUN_RENEW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run->row);
	stmt_int(&st, 2, run->writer.stream);
	stmt_int(&st, 3, run->writer.incarnation);
	stmt_int(&st, 4, store_now(s));
	stmt_int(&st, 5, rev);
	if (stmt_run_one(&st, "a run", err))
		return err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status run_note(struct store *s, const struct run *run, struct str argv, struct str init,
		     struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, RUN_NOTE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run->row);
	stmt_text_or_null(&st, 2, argv);
	stmt_text_or_null(&st, 3, init);
	stmt_int(&st, 4, rev);
	if (stmt_run_one(&st, "a run", err))
		return err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status run_note_output(struct store *s, const struct run *run, int64_t source, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, RUN_OUTPUT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run->row);
	stmt_int(&st, 2, source);
	stmt_int(&st, 3, rev);
	return stmt_run_one(&st, "a run", err);
}
