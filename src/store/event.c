/*
 * The table of events.
 *
 * A page is read in one snapshot together with the stream's row, so "over, and nothing behind it" is the
 * truth and not two moments. It is read as a whole before anybody gets it: who takes their time does not keep
 * a snapshot open, behind which the log would grow.
 *
 * Each row has to begin where the one before it ended. Where it does not, the store is damaged, and the
 * reader is told so instead of being given what is left.
 *
 * Compaction replaces rows seq, seq + 1, ... by the first of them, which then ends where the last did:
 * numbers stay dense, and every place that somebody may remember stays one.
 */
#include "store/event.h"

#include "store/live_row.h"

#include <stdio.h>
#include <string.h>

enum {
	EVENT_AT,
	EVENT_FROM,
	EVENT_STREAM,
	EVENT_COUNT,
	EVENT_DROP,
	EVENT_MERGED,
	EVENT_COMPACTED,
	EVENT_UNCOMPACTED,
	EVENT_UNCOMPACTED_COUNT,
	EVENT_STATEMENTS
};

/* Streams that ended before a moment, and whose deltas are all there. */
#define WHOLE	"WHERE compacted_at IS NULL AND ended_at IS NOT NULL AND ended_at < ?1 "
#define COLUMNS "SELECT seq, seq_last, incarnation, type, node_id, at, data FROM event "

static const char *const sql[EVENT_STATEMENTS] = {
	[EVENT_AT] = COLUMNS "WHERE stream = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1",
	[EVENT_FROM] = COLUMNS "WHERE stream = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
	[EVENT_STREAM] = "SELECT stream_id FROM stream WHERE stream_id BETWEEN ?1 AND ?2 LIMIT 1",
	[EVENT_COUNT] =
		"SELECT count(*), max(seq_last) FROM event WHERE stream = ?1 AND seq BETWEEN ?2 AND ?3",
	[EVENT_DROP] = "DELETE FROM event WHERE stream = ?1 AND seq > ?2 AND seq <= ?3",
	[EVENT_MERGED] = "UPDATE event SET seq_last = ?3, data = ?4, rev = ?5 WHERE stream = ?1 AND seq = ?2",
	[EVENT_COMPACTED] = "UPDATE stream SET compacted_at = ?2, rev = ?3 WHERE id = ?1",
	[EVENT_UNCOMPACTED] = ("SELECT stream_id FROM stream " WHOLE "ORDER BY ended_at LIMIT 1"),
	[EVENT_UNCOMPACTED_COUNT] = ("SELECT count(*) FROM stream " WHOLE),
};

const struct db_set event_statements = { DB_EVENT, sql, EVENT_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &event_statements, index, st, err);
}

/* ---- Places and ids ---------------------------------------------------------- */

void stream_place_print(const struct stream_place *p, char out[STREAM_PLACE_TEXT])
{
	if (p->seq && p->incarnation)
		snprintf(out, STREAM_PLACE_TEXT, "%" PRId64 ".%" PRId64, p->incarnation, p->seq);
	else
		snprintf(out, STREAM_PLACE_TEXT, "%" PRId64, p->seq);
}

bool stream_place_parse(struct str text, struct stream_place *out)
{
	struct stream_place p = { 0 };
	struct str seq, first = str_cut(text, '.', &seq);

	if (seq.p && (!str_to_i64(first, &p.incarnation) || p.incarnation < 1))
		return false;
	if (!str_to_i64(seq.p ? seq : first, &p.seq) || p.seq < 0)
		return false;
	*out = p;
	return true;
}

/* Version 8: ten bytes of the stream's id, six of the number (docs/DATA.md). */
enum { OF_STREAM = 10, VERSION_BYTE = 6, VERSION_STREAM = 0x40, VERSION_EVENT = 0x80, NUMBER_BYTES = 6 };

static void set_version(struct uuid *id, int version)
{
	id->b[VERSION_BYTE] = (uint8_t)((id->b[VERSION_BYTE] & 0x0f) | version);
}

struct uuid event_id(const struct uuid *stream, int64_t seq)
{
	struct uuid id = *stream;

	set_version(&id, VERSION_EVENT);
	for (int i = 0; i < NUMBER_BYTES; i++)
		id.b[OF_STREAM + i] = (uint8_t)(seq >> 8 * (NUMBER_BYTES - 1 - i));
	return id;
}

static int64_t seq_of_id(const struct uuid *id)
{
	int64_t seq = 0;

	for (int i = OF_STREAM; i < UUID_BYTES; i++)
		seq = seq << 8 | id->b[i];
	return seq;
}

/* ---- Reading ---------------------------------------------------------------- */

/* Borrows from the row. */
static struct event event_of(const struct stmt *st)
{
	return (struct event){
		.seq = col_int(st, 0),
		.seq_last = col_int(st, 1),
		.incarnation = col_int(st, 2),
		.type = col_text(st, 3),
		.has_node = !col_null(st, 4),
		.node = col_uuid(st, 4),
		.at = col_int(st, 5),
		.data = col_text(st, 6),
	};
}

static struct event event_in(const struct stmt *st, struct arena *mem)
{
	struct event e = event_of(st);

	e.type = arena_str(mem, e.type);
	e.data = arena_str(mem, e.data);
	return e;
}

/* The event that has this number; seq 0 of *out = there is none. */
static enum status find_at(struct store *s, int64_t stream, int64_t seq, struct arena *mem, struct event *out,
			   struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, EVENT_AT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream);
	stmt_int(&st, 2, seq);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*out = (struct event){ 0 };
	if (found && seq <= col_int(&st, 1))
		*out = event_in(&st, mem);
	return STATUS_OK;
}

/* Where reading goes on behind a place; 0 = it is none. */
static enum status begin_behind(struct store *s, const struct stream *stream, const struct stream_place *p,
				int64_t *from, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct event at;

	*from = 1;
	if (p->seq == 0)
		return STATUS_OK;
	if (find_at(s, stream->row, p->seq, &mem, &at, err))
		return err_failed(err->status);
	if (!at.seq || (p->incarnation && p->incarnation != at.incarnation))
		*from = 0;
	else
		*from = p->seq < at.seq_last ? at.seq : at.seq_last + 1;
	return STATUS_OK;
}

enum status event_is_place(struct store *s, const struct stream *stream, const struct stream_place *p,
			   bool *out, struct err *err)
{
	int64_t from;

	if (begin_behind(s, stream, p, &from, err))
		return err_failed(err->status);
	*out = from > 0;
	return STATUS_OK;
}

static enum status has_hole(const struct stream *stream, int64_t seq, struct err *err)
{
	char id[UUID_TEXT + 1];

	uuid_print(&stream->id, id);
	return err_fail(err, STATUS_CORRUPT, "stream %s: event %" PRId64 " is missing", id, seq);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static enum status read_events(struct store *s, const struct stream *stream, const struct event_ask *ask,
			       int64_t from, struct arena *mem, struct event_page *out, struct err *err)
{
	size_t bytes = 0, room = (size_t)least(ask->limit, stream->last_seq - from + 1);
	enum step step = STEP_DONE;
	STMT st = { 0 };

	out->events = arena_alloc(mem, (room + 1) * sizeof *out->events);
	if (use(s, EVENT_FROM, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream->row);
	stmt_int(&st, 2, from);
	stmt_int(&st, 3, (int64_t)room);
	while (out->count < room && (!out->count || bytes < ask->bytes) &&
	       (step = stmt_step(&st, err)) == STEP_ROW) {
		struct event *e = &out->events[out->count++];

		*e = event_in(&st, mem);
		bytes += e->data.n;
		if (e->seq != from)
			return has_hole(stream, from, err);
		from = e->seq_last + 1;
		out->next = (struct stream_place){ e->incarnation, e->seq_last };
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	out->more = from <= stream->last_seq;
	return out->more && !out->count ? has_hole(stream, from, err) : STATUS_OK;
}

enum status event_page(struct store *s, struct stream *stream, const struct event_ask *ask, struct arena *mem,
		       struct event_page *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct uuid id = stream->id;
	int64_t from;

	*out = (struct event_page){ .next = ask->after };
	if (read_join(s, &snapshot, err) || stream_get(s, &id, mem, stream, err) ||
	    begin_behind(s, stream, &ask->after, &from, err))
		return err_failed(err->status);
	if (from == 0) {
		*out = (struct event_page){ .reset = true };
		return STATUS_OK;
	}
	return from > stream->last_seq ? STATUS_OK : read_events(s, stream, ask, from, mem, out, err);
}

static enum status stream_of_event(struct store *s, const struct uuid *id, struct uuid *stream, bool *found,
				   struct err *err)
{
	struct uuid low = *id, high = *id;
	STMT st = { 0 };

	set_version(&low, VERSION_STREAM);
	set_version(&high, VERSION_STREAM);
	memset(low.b + OF_STREAM, 0, NUMBER_BYTES);
	memset(high.b + OF_STREAM, 0xff, NUMBER_BYTES);
	if (use(s, EVENT_STREAM, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found)
		*stream = col_uuid(&st, 0);
	return STATUS_OK;
}

enum status event_get(struct store *s, const struct uuid *id, struct arena *mem, struct stream *stream,
		      struct event *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	char text[UUID_TEXT + 1];
	struct uuid of;
	bool found = id->b[VERSION_BYTE] >> 4 == VERSION_EVENT >> 4;

	*out = (struct event){ 0 };
	if (read_join(s, &snapshot, err) || (found && stream_of_event(s, id, &of, &found, err)))
		return err_failed(err->status);
	if (found &&
	    (stream_get(s, &of, mem, stream, err) || find_at(s, stream->row, seq_of_id(id), mem, out, err)))
		return err_failed(err->status);
	uuid_print(id, text);
	return out->seq ? STATUS_OK : err_fail(err, STATUS_NOT_FOUND, "there is no event %s", text);
}

/* ---- Compaction ---------------------------------------------------------------- */

enum status stream_uncompacted(struct store *s, int64_t before, struct arena *mem, struct stream *out,
			       bool *found, struct err *err)
{
	struct uuid id;

	{
		STMT st = { 0 };

		if (use(s, EVENT_UNCOMPACTED, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, before);
		if (stmt_found(&st, found, err))
			return err_failed(err->status);
		if (*found)
			id = col_uuid(&st, 0);
	}
	return *found ? stream_get(s, &id, mem, out, err) : STATUS_OK;
}

enum status stream_uncompacted_count(struct store *s, int64_t before, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, EVENT_UNCOMPACTED_COUNT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, before);
	if (stmt_row(&st, "a count", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

/* Events of one kind that follow each other. */
struct deltas {
	int64_t first, last; /* the number of the first, and the last of them all */
	int64_t count;
	struct str data; /* of all, when there are several */
};

/* The next that can be put together from *from on, which is moved behind it; at the stream's end it is 0. */
static enum status next_deltas(struct store *s, const struct stream *stream, const struct event_merge *how,
			       int64_t *from, struct deltas *out, struct err *err)
{
	int64_t incarnation = 0;
	enum step step;
	STMT st = { 0 };

	*out = (struct deltas){ 0 };
	if (use(s, EVENT_FROM, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream->row);
	stmt_int(&st, 2, *from);
	stmt_int(&st, 3, INT64_MAX);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct event e = event_of(&st);

		if (out->count && e.incarnation == incarnation && how->add(how->ctx, &e)) {
			out->last = e.seq_last;
			out->count++;
			continue;
		}
		if (out->count > 1)
			break;
		incarnation = e.incarnation;
		*out = (struct deltas){ e.seq, e.seq_last, how->begin(how->ctx, &e), { 0 } };
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (out->count > 1)
		out->data = how->end(how->ctx);
	*from = step == STEP_ROW ? out->last + 1 : 0;
	return STATUS_OK;
}

/* Whether they are still as they were read: another program may do the same just now. */
static enum status are_there(struct store *s, const struct stream *stream, const struct deltas *d, bool *out,
			     struct err *err)
{
	STMT st = { 0 };

	if (use(s, EVENT_COUNT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream->row);
	stmt_int(&st, 2, d->first);
	stmt_int(&st, 3, d->last);
	if (stmt_row(&st, "a count", err))
		return err_failed(err->status);
	*out = col_int(&st, 0) == d->count && col_int(&st, 1) == d->last;
	return STATUS_OK;
}

static enum status drop_behind_first(struct store *s, const struct stream *stream, const struct deltas *d,
				     struct err *err)
{
	STMT st = { 0 };

	if (use(s, EVENT_DROP, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream->row);
	stmt_int(&st, 2, d->first);
	stmt_int(&st, 3, d->last);
	return stmt_run(&st, err);
}

static enum status widen_first(struct store *s, const struct stream *stream, const struct deltas *d,
			       struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, EVENT_MERGED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream->row);
	stmt_int(&st, 2, d->first);
	stmt_int(&st, 3, d->last);
	stmt_text(&st, 4, d->data);
	stmt_int(&st, 5, rev);
	return stmt_run_one(&st, "an event", err);
}

static enum status replace(struct store *s, const struct stream *stream, const struct deltas *d,
			   int64_t *gone, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool same;

	if (live_begin(s, &txn, err) || are_there(s, stream, d, &same, err))
		return err_failed(err->status);
	if (same && (drop_behind_first(s, stream, d, err) || widen_first(s, stream, d, err)))
		return err_failed(err->status);
	*gone += same ? d->count - 1 : 0;
	return txn_commit(&txn, err);
}

static enum status note_compacted(struct store *s, const struct stream *stream, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, EVENT_COMPACTED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream->row);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status event_compact(struct store *s, const struct stream *stream, const struct event_merge *how,
			  int64_t *gone, struct err *err)
{
	int64_t from = 1;
	struct deltas d;

	*gone = 0;
	if (!stream_is_over(stream->state))
		return err_fail(err, STATUS_USAGE, "a stream that goes on is left as it is");
	while (from) {
		if (next_deltas(s, stream, how, &from, &d, err) ||
		    (d.count > 1 && replace(s, stream, &d, gone, err)))
			return err_failed(err->status);
		txn_pause(s);
	}
	return note_compacted(s, stream, err);
}
