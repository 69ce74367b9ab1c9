/*
 * The table of streams, and the way in for their events.
 *
 * stream_write() is the only way. It has the write lock when it looks whether the writer still is one, and
 * numbers the events behind the newest, so they are dense whoever writes and whenever one is killed. State
 * and events change together: who sees that a stream is over has all of its events.
 *
 * Deltas are many and worth little by themselves, so their commits are not waited for to be on the disk; a
 * power failure may take the last ones back. A kill takes back nothing: what was committed is with the
 * system. What was promised to somebody (submitted, approved, ended) is written with `synced`, and all that
 * came before is on the disk with it.
 *
 * Invariants
 *   (1) last_seq is the seq_last of the newest event, and events cover 1 .. last_seq without holes.
 *   (2) ended_at is set exactly when the state is one that is over; then the run has ended, too, and nobody is asked
 *       any more what it wanted to know (store/approval.c).
 *   (3) Events of an incarnation were written while the stream had that incarnation: it never falls.
 */
#include "store/stream.h"

#include "store/approval.h"
#include "store/live_row.h"
#include "store/tree_row.h"

const char *const stream_state_names[] = {
	[STREAM_RUNNING] = "running",	  [STREAM_AWAITING] = "awaiting_permission",
	[STREAM_COMPLETE] = "complete",	  [STREAM_FAILED] = "failed",
	[STREAM_CANCELLED] = "cancelled", [STREAM_INTERRUPTED] = "interrupted",
	[STREAM_STATES] = NULL,
};

#define BIT(state) (1u << (state))
#define ENDS	   (BIT(STREAM_COMPLETE) | BIT(STREAM_FAILED) | BIT(STREAM_CANCELLED) | BIT(STREAM_INTERRUPTED))

/* What may follow each. */
static const unsigned transitions[STREAM_STATES] = {
	[STREAM_RUNNING] = BIT(STREAM_RUNNING) | BIT(STREAM_AWAITING) | ENDS,
	[STREAM_AWAITING] = BIT(STREAM_RUNNING) | BIT(STREAM_AWAITING) | ENDS,
};

bool stream_is_over(enum stream_state state)
{
	return BIT(state) & ENDS;
}

bool stream_may_become(enum stream_state from, enum stream_state to)
{
	return transitions[from] & BIT(to);
}

enum {
	STREAM_GET,
	STREAM_EACH,
	STREAM_EACH_OF,
	STREAM_PREFIX,
	STREAM_INSERT,
	STREAM_OPEN,
	STREAM_TAKE,
	STREAM_GROW,
	STREAM_END,
	STREAM_RUN_END,
	STREAM_EVENT,
	STREAM_STATEMENTS
};

#define COLUMNS \
	"SELECT t.id, t.stream_id, t.session, t.run, s.session_id, r.run_id, s.name, t.state, " \
	"t.continues_id," \
	" t.root_id, t.head_id, t.incarnation, t.last_seq, t.error, t.started_at, t.ended_at, " \
	"t.compacted_at, r.stdout_id" \
	" FROM stream t JOIN session s ON s.id = t.session JOIN run r ON r.id = t.run "

static const char *const sql[STREAM_STATEMENTS] = {
	[STREAM_GET] = COLUMNS "WHERE t.stream_id = ?1",
	[STREAM_EACH] = COLUMNS "ORDER BY t.id DESC",
	[STREAM_EACH_OF] = COLUMNS "WHERE t.session = ?1 ORDER BY t.id DESC",
	[STREAM_PREFIX] = "SELECT stream_id FROM stream WHERE stream_id BETWEEN ?1 AND ?2 LIMIT ?3",
	[STREAM_INSERT] =
		"INSERT INTO stream(stream_id, session, run, state, continues_id, root_id, started_at, rev)"
		" VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, ?7)",
	[STREAM_OPEN] =
		"SELECT state, last_seq, session FROM stream WHERE id = ?1 AND incarnation = ?2 AND ended_at IS NULL",
	[STREAM_TAKE] = "UPDATE stream SET incarnation = incarnation + 1, rev = ?3"
			" WHERE id = ?1 AND incarnation = ?2 AND ended_at IS NULL",
	[STREAM_GROW] = "UPDATE stream SET last_seq = ?2, state = ?3, rev = ?4 WHERE id = ?1",
	[STREAM_END] = "UPDATE stream SET last_seq = ?2, state = ?3, rev = ?4, head_id = ?5, error = ?6, "
		       "ended_at = ?7"
		       " WHERE id = ?1",
	[STREAM_RUN_END] =
		"UPDATE run SET ended_at = ?2, exit_code = ?3, exit_signal = ?4, usage = ?5, cost_micro = ?6,"
		" rev = ?7 WHERE id = (SELECT run FROM stream WHERE id = ?1)",
	[STREAM_EVENT] = "INSERT INTO event(stream, seq, seq_last, incarnation, type, node_id, at, rev, data)"
			 " VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
};

const struct db_set stream_statements = { DB_STREAM, sql, STREAM_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &stream_statements, index, st, err);
}

/* ---- Reading ---------------------------------------------------------------- */

/* The table has a CHECK. */
static enum stream_state state_of(struct str name)
{
	enum stream_state state = 0;

	while (state < STREAM_STATES - 1 && !str_eq(name, str_of(stream_state_names[state])))
		state++;
	return state;
}

static struct stream stream_of(const struct stmt *st)
{
	return (struct stream){
		.row = col_int(st, 0),
		.id = col_uuid(st, 1),
		.session = col_int(st, 2),
		.run = col_int(st, 3),
		.session_id = col_uuid(st, 4),
		.run_id = col_uuid(st, 5),
		.session_name = col_text(st, 6),
		.state = state_of(col_text(st, 7)),
		.has_continues = !col_null(st, 8),
		.continues = col_uuid(st, 8),
		.has_root = !col_null(st, 9),
		.root = col_uuid(st, 9),
		.has_head = !col_null(st, 10),
		.head = col_uuid(st, 10),
		.incarnation = col_int(st, 11),
		.last_seq = col_int(st, 12),
		.error = col_text(st, 13),
		.started_at = col_int(st, 14),
		.ended_at = col_int(st, 15),
		.compacted_at = col_int(st, 16),
		.has_output = !col_null(st, 17),
		.output = col_uuid(st, 17),
	};
}

enum status stream_get(struct store *s, const struct uuid *id, struct arena *mem, struct stream *out,
		       struct err *err)
{
	char text[UUID_TEXT + 1];
	bool found;
	STMT st = { 0 };

	if (use(s, STREAM_GET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	uuid_print(id, text);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "there is no stream %s", text);
	*out = stream_of(&st);
	out->session_name = arena_str(mem, out->session_name);
	if (out->error.p)
		out->error = arena_str(mem, out->error);
	return STATUS_OK;
}

enum status stream_find(struct store *s, struct str text, struct arena *mem, struct stream *out,
			struct err *err)
{
	struct uuid id;

	if (tree_find_prefix(s, &stream_statements, STREAM_PREFIX, "stream", text, &id, err))
		return err_failed(err->status);
	return stream_get(s, &id, mem, out, err);
}

enum status stream_each(struct store *s, int64_t session, stream_fn *fn, void *ctx, struct err *err)
{
	enum step step = STEP_DONE;
	bool go_on = true;
	STMT st = { 0 };

	if (use(s, session ? STREAM_EACH_OF : STREAM_EACH, &st, err))
		return err_failed(err->status);
	if (session)
		stmt_int(&st, 1, session);
	while (go_on && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct stream stream = stream_of(&st);

		if (fn(ctx, &stream, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- Writing ---------------------------------------------------------------- */

enum status stream_insert(struct store *s, const struct stream_new *what, struct uuid *id,
			  struct stream_writer *w, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (uuid_random(id, err) || db_rev(s, &rev, err) || use(s, STREAM_INSERT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_int(&st, 2, what->session);
	stmt_int(&st, 3, what->run);
	stmt_uuid_or_null(&st, 4, what->continues);
	stmt_uuid_or_null(&st, 5, what->root);
	stmt_int(&st, 6, store_now(s));
	stmt_int(&st, 7, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*w = (struct stream_writer){ .stream = sqlite3_last_insert_rowid(s->db), .incarnation = 1 };
	return STATUS_OK;
}

static enum status not_yours(struct err *err)
{
	return err_fail(err, STATUS_CONFLICT, "this stream is over, or somebody else writes it now");
}

enum status stream_take(struct store *s, struct stream_writer *w, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, STREAM_TAKE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->stream);
	stmt_int(&st, 2, w->incarnation);
	stmt_int(&st, 3, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	if (sqlite3_changes64(s->db) != 1)
		return not_yours(err);
	stmt_done(&st);
	if (txn_commit(&txn, err))
		return err_failed(err->status);
	w->incarnation++;
	return STATUS_OK;
}

/* What it is before the change, if this writer may change it. */
static enum status read_open(struct store *s, const struct stream_writer *w, struct stream *out,
			     struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, STREAM_OPEN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->stream);
	stmt_int(&st, 2, w->incarnation);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return not_yours(err);
	out->state = state_of(col_text(&st, 0));
	out->last_seq = col_int(&st, 1);
	out->session = col_int(&st, 2);
	return STATUS_OK;
}

static enum status insert_event(struct store *s, const struct stream_writer *w, int64_t seq,
				const struct event_new *e, int64_t rev, struct err *err)
{
	STMT st = { 0 };

	if (use(s, STREAM_EVENT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->stream);
	stmt_int(&st, 2, seq);
	stmt_int(&st, 3, w->incarnation);
	stmt_text(&st, 4, e->type);
	stmt_uuid_or_null(&st, 5, e->has_node ? &e->node : NULL);
	stmt_int(&st, 6, e->at);
	stmt_int(&st, 7, rev);
	stmt_text(&st, 8, e->data);
	return stmt_run(&st, err);
}

static enum status update_stream(struct store *s, const struct stream_writer *w,
				 const struct stream_change *what, int64_t seq, int64_t rev, struct err *err)
{
	bool over = stream_is_over(what->state);
	STMT st = { 0 };

	if (use(s, over ? STREAM_END : STREAM_GROW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->stream);
	stmt_int(&st, 2, seq);
	stmt_text(&st, 3, str_of(stream_state_names[what->state]));
	stmt_int(&st, 4, rev);
	if (over) {
		stmt_uuid_or_null(&st, 5, what->end->has_head ? &what->end->head : NULL);
		stmt_text_or_null(&st, 6, what->end->error);
		stmt_int(&st, 7, store_now(s));
	}
	return stmt_run(&st, err);
}

static enum status end_run(struct store *s, const struct stream_writer *w, const struct stream_end *end,
			   int64_t rev, struct err *err)
{
	STMT st = { 0 };

	if (use(s, STREAM_RUN_END, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->stream);
	stmt_int(&st, 2, store_now(s));
	stmt_int_or_null(&st, 3, end->code, !end->has_code);
	stmt_int_or_null(&st, 4, end->signal, !end->signal);
	stmt_text_or_null(&st, 5, end->usage);
	stmt_int_or_null(&st, 6, end->cost_micro, end->cost_micro < 0);
	stmt_int(&st, 7, rev);
	return stmt_run(&st, err) ? err_failed(err->status) : approval_end_stream(s, w->stream, err);
}

static enum status write_end(struct store *s, const struct stream_writer *w, const struct stream *stream,
			     const struct stream_end *end, int64_t rev, struct err *err)
{
	if (end_run(s, w, end, rev, err))
		return err_failed(err->status);
	return end->session ? named_set_head(s, stream->session, end->session, err) : STATUS_OK;
}

static enum status write_all(struct store *s, const struct stream_writer *w, const struct stream_change *what,
			     struct err *err)
{
	struct stream is = { 0 };
	int64_t seq, rev;

	if (read_open(s, w, &is, err) || db_rev(s, &rev, err))
		return err_failed(err->status);
	if (!stream_may_become(is.state, what->state) || (stream_is_over(what->state) && !what->end))
		return err_fail(err, STATUS_INTERNAL, "a stream that is %s cannot become %s so",
				stream_state_names[is.state], stream_state_names[what->state]);
	seq = is.last_seq;
	for (size_t i = 0; i < what->count; i++)
		if (insert_event(s, w, ++seq, &what->events[i], rev, err))
			return err_failed(err->status);
	if (update_stream(s, w, what, seq, rev, err))
		return err_failed(err->status);
	return stream_is_over(what->state) ? write_end(s, w, &is, what->end, rev, err) : STATUS_OK;
}

enum status stream_write(struct store *s, const struct stream_writer *w, const struct stream_change *what,
			 struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (live_begin_synced(s, &txn, what->synced, err) || write_all(s, w, what, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}
