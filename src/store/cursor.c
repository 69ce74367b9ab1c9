/*
 * The table of cursors.
 *
 * A cursor of a stream whose end was lost with the power is at a place that is none any more (store/event.h).
 * It is left there, so that its reader hears of it; then it may go anywhere.
 */
#include "store/cursor.h"

#include "store/annotation.h"
#include "store/lifecycle.h"
#include "store/live_row.h"

#include <string.h>

enum { CURSOR_GET, CURSOR_EACH, CURSOR_INSERT, CURSOR_MOVE, CURSOR_DELETE, CURSOR_BACK, CURSOR_STATEMENTS };

#define COLUMNS "SELECT name, incarnation, seq, created_at, updated_at FROM cursor WHERE stream = ?1 "

static const char *const sql[CURSOR_STATEMENTS] = {
	[CURSOR_GET] = COLUMNS "AND name = ?2",
	[CURSOR_EACH] = COLUMNS "ORDER BY name",
	[CURSOR_INSERT] = "INSERT INTO cursor(stream, name, incarnation, seq, created_at, updated_at, rev)"
			  " VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)",
	[CURSOR_MOVE] = "UPDATE cursor SET incarnation = ?3, seq = ?4, updated_at = ?5, rev = ?6"
			" WHERE stream = ?1 AND name = ?2",
	[CURSOR_DELETE] = "DELETE FROM cursor WHERE stream = ?1 AND name = ?2",
	[CURSOR_BACK] = "DELETE FROM deleted_row WHERE table_name = 'cursor' AND key = ?1",
};

const struct db_set cursor_statements = { DB_CURSOR, sql, CURSOR_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &cursor_statements, index, st, err);
}

static enum status use_named(struct store *s, int index, const struct stream *stream, struct str name,
			     struct stmt *st, struct err *err)
{
	if (use(s, index, st, err))
		return err_failed(err->status);
	stmt_int(st, 1, stream->row);
	stmt_text(st, 2, name);
	return STATUS_OK;
}

/* ---- Reading ---------------------------------------------------------------- */

static struct cursor cursor_of(const struct stmt *st)
{
	return (struct cursor){
		.name = col_text(st, 0),
		.place = { col_int(st, 1), col_int(st, 2) },
		.created_at = col_int(st, 3),
		.updated_at = col_int(st, 4),
	};
}

static enum status none(struct str name, struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "this stream has no cursor '%.*s'",
			(int)size_min(name.n, LIMIT_ANNOTATION_NAME), name.p ? name.p : "");
}

enum status cursor_get(struct store *s, const struct stream *stream, struct str name, struct arena *mem,
		       struct cursor *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use_named(s, CURSOR_GET, stream, name, &st, err) || stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return none(name, err);
	*out = cursor_of(&st);
	out->name = arena_str(mem, out->name);
	return STATUS_OK;
}

enum status cursor_each(struct store *s, const struct stream *stream, cursor_fn *fn, void *ctx,
			struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, CURSOR_EACH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream->row);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct cursor cursor = cursor_of(&st);

		if (fn(ctx, &cursor, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- Writing ---------------------------------------------------------------- */

/* Whether a reader can be there; *p then says by whom the event before it was written. */
static enum status check_place(struct store *s, const struct stream *stream, struct stream_place *p,
			       bool *good, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid id = event_id(&stream->id, p->seq);
	struct stream ignored;
	struct event e;

	if (event_is_place(s, stream, p, good, err))
		return err_failed(err->status);
	if (!*good || !p->seq)
		return STATUS_OK;
	if (event_get(s, &id, &mem, &ignored, &e, err))
		return err_failed(err->status);
	p->incarnation = e.incarnation;
	return STATUS_OK;
}

static enum status no_place(const struct stream_place *p, struct err *err)
{
	char text[STREAM_PLACE_TEXT];

	stream_place_print(p, text);
	return err_fail(err, STATUS_USAGE,
			"'%s' is no place of this stream: nobody can have read up to there", text);
}

static enum status insert_cursor(struct store *s, const struct stream *stream, struct str name,
				 const struct stream_place *at, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use_named(s, CURSOR_INSERT, stream, name, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 3, at->incarnation);
	stmt_int(&st, 4, at->seq);
	stmt_int(&st, 5, store_now(s));
	stmt_int(&st, 6, rev);
	if (!stmt_run(&st, err))
		return STATUS_OK;
	return err->status == STATUS_CONFLICT
		       ? err_fail(err, STATUS_CONFLICT, "this stream has a cursor '%.*s' already",
				  STR_ARG(name))
		       : err_failed(err->status);
}

/* What it is called in deleted_row: the stream's id with the name behind it. */
struct deleted_key {
	char bytes[UUID_BYTES + LIMIT_ANNOTATION_NAME];
	size_t n;
};

static struct deleted_key deleted_key(const struct stream *stream, struct str name)
{
	struct deleted_key key = { .n = UUID_BYTES + name.n };

	memcpy(key.bytes, stream->id.b, UUID_BYTES);
	memcpy(key.bytes + UUID_BYTES, name.p, name.n);
	return key;
}

static enum status take_back(struct store *s, const struct stream *stream, struct str name, struct err *err)
{
	struct deleted_key key = deleted_key(stream, name);
	STMT st = { 0 };

	if (use(s, CURSOR_BACK, &st, err))
		return err_failed(err->status);
	stmt_blob(&st, 1, key.bytes, key.n);
	return stmt_run(&st, err);
}

enum status cursor_create(struct store *s, const struct stream *stream, struct str name,
			  const struct stream_place *at, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct stream_place place = *at;
	bool good;

	if (annotation_check_name(name, err) || live_begin(s, &txn, err) ||
	    check_place(s, stream, &place, &good, err))
		return err_failed(err->status);
	if (!good)
		return no_place(at, err);
	if (insert_cursor(s, stream, name, &place, err) || take_back(s, stream, name, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status move(struct store *s, const struct stream *stream, struct str name,
			const struct stream_place *to, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use_named(s, CURSOR_MOVE, stream, name, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 3, to->incarnation);
	stmt_int(&st, 4, to->seq);
	stmt_int(&st, 5, store_now(s));
	stmt_int(&st, 6, rev);
	return stmt_run_one(&st, "a cursor", err);
}

enum status cursor_advance(struct store *s, const struct stream *stream, struct str name,
			   const struct stream_place *to, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct stream_place place = *to;
	struct cursor now;
	bool good, was_good;

	if (live_begin(s, &txn, err) || cursor_get(s, stream, name, &mem, &now, err) ||
	    check_place(s, stream, &place, &good, err) ||
	    event_is_place(s, stream, &now.place, &was_good, err))
		return err_failed(err->status);
	if (!good)
		return no_place(to, err);
	if (was_good && place.seq < now.place.seq) {
		char is[STREAM_PLACE_TEXT];

		stream_place_print(&now.place, is);
		return err_fail(err, STATUS_CONFLICT,
				"the cursor '%.*s' is at %s already, and does not go back", STR_ARG(name),
				is);
	}
	if (move(s, stream, name, &place, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status delete_row(struct store *s, const struct stream *stream, struct str name, struct err *err)
{
	STMT st = { 0 };

	if (use_named(s, CURSOR_DELETE, stream, name, &st, err) || stmt_run(&st, err))
		return err_failed(err->status);
	return sqlite3_changes64(s->db) ? STATUS_OK : none(name, err);
}

enum status cursor_delete(struct store *s, const struct stream *stream, struct str name, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct deleted_key key;

	if (live_begin(s, &txn, err) || delete_row(s, stream, name, err))
		return err_failed(err->status);
	key = deleted_key(stream, name);
	if (life_deleted_row(s, "cursor", str_from(key.bytes, key.n), err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}
