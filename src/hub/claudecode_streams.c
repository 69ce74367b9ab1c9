/*
 * claudecode.streams, poll, tail: what agents say and do, as it happens and afterwards.
 *
 * poll asks, tail follows. Both give what lies strictly behind a place, and the place behind that: who
 * keeps it misses nothing and gets nothing twice, however often they are gone in between.
 */
#include "hub/claudecode_methods.h"

#include "base/clock.h"
#include "hub/streamed.h"
#include "live/compact.h"
#include "live/lease.h"
#include "store/named.h"

/* How long a wait lasts at most before somebody looks again whether the driver still runs. */
enum { LOOK_MS = 2000 };

/* ---- claudecode.streams --------------------------------------------------------- */

static const struct param streams_params[] = {
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "SESSION",
	  .help = "only of this session" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "50",
	  .least = 1,
	  .most = 100000,
	  .help = "at most so many" },
	{ 0 },
};

struct listing {
	struct call *call;
	int64_t left;
};

static enum status list_one(void *ctx, const struct stream *stream, bool *go_on, struct err *err)
{
	struct listing *l = ctx;

	*go_on = --l->left > 0;
	return put_stream(call_begin(l->call), l->call->store, stream, err) ? err_failed(err->status)
									    : call_emit(l->call, err);
}

static enum status run_streams(struct call *c, struct err *err)
{
	struct listing l = { c, call_int(c, "limit") };
	struct named named = { 0 };

	if (call_text(c, "session").p && named_find(c->store, call_text(c, "session"), &c->mem, &named, err))
		return err_failed(err->status);
	if (lease_look_after_all(c->store, err))
		return err_failed(err->status);
	return stream_each(c->store, named.row, list_one, &l, err);
}

const struct method claudecode_streams = {
	.name = "streams",
	.verb = "streams",
	.also = "runs",
	.group = "agents",
	.summary = "List what agents were asked to do, the last first",
	.text = "Each start of an agent is a stream of events, kept from its first to its last. One whose "
		"driver is "
		"gone without having ended it is 'interrupted'.\n",
	.params = streams_params,
	.kind = RESULT_STREAM,
	.fields = streamed_fields,
	.empty = "no agent was started from here yet",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "streams", "all of them" },
					      { "streams fix-tests", "those of a session" },
					      { 0 } },
	.run = run_streams,
};

/* ---- claudecode.poll ------------------------------------------------------------ */

static const struct param poll_params[] = {
	STREAM_PARAM,
	PLACE_PARAMS,
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "100",
	  .least = 1,
	  .most = 10000,
	  .help = "at most so many events" },
	{ .name = "wait",
	  .type = VALUE_INT,
	  .initial = "0",
	  .least = 0,
	  .most = 86400,
	  .help = "seconds to wait for one when there is none" },
	{ 0 },
};

static const struct field poll_fields[] = {
	{ .name = "stream", .type = VALUE_ID, .flags = FIELD_KEY, .help = "whose events these are" },
	{ .name = "name", .type = VALUE_TEXT, .title = "session", .help = "of its session" },
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "id of that" },
	{ .name = "state", .type = VALUE_ENUM, .choices = stream_state_names, .help = "of the stream" },
	{ .name = "error", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "why it failed" },
	{ .name = "total", .type = VALUE_INT, .help = "events it has by now" },
	{ .name = "cursor",
	  .type = VALUE_TEXT,
	  .help = "the place behind these events, for 'after' of the next call" },
	{ .name = "more", .type = VALUE_BOOL, .help = "there are others behind it already" },
	{ .name = "over", .type = VALUE_BOOL, .help = "these were the last: there will be no others" },
	{ .name = "reset",
	  .type = VALUE_BOOL,
	  .help = "the place is none of this stream's any more, a power failure took its end: forget what "
		  "came behind it and begin anew" },
	{ .name = "events",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST,
	  .fields = event_item_fields,
	  .help = "in order" },
	{ 0 },
};

static enum status emit_page(struct call *c, const struct stream *stream, const struct event_page *p,
			     struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_uuid(w, "stream", &stream->id);
	put_text(w, "name", stream->session_name);
	put_uuid(w, "session", &stream->session_id);
	put_text(w, "state", str_of(stream_state_names[stream->state]));
	if (stream->error.p)
		put_text(w, "error", stream->error);
	put_int(w, "total", stream->last_seq);
	put_place_text(w, "cursor", &p->next);
	put_bool(w, "more", p->more);
	put_bool(w, "over", !p->more && !p->reset && stream_is_over(stream->state));
	put_bool(w, "reset", p->reset);
	json_write_key(w, STR("events"));
	json_write_array_begin(w);
	for (size_t i = 0; i < p->count; i++) {
		json_write_object_begin(w);
		put_chat_event(w, stream, &p->events[i]);
		json_write_object_end(w);
	}
	json_write_array_end(w);
	return call_emit(c, err);
}

/* What is left of the time to wait, in ms; it begins with the first call. */
static int64_t time_left(struct call *c)
{
	int64_t now = clock_monotonic_ns(), *until = c->state;

	if (!until) {
		c->state = until = arena_alloc(&c->mem, sizeof *until);
		*until = now + call_int(c, "wait") * 1000000000;
	}
	return (*until - now) / 1000000;
}

static enum status run_poll(struct call *c, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct event_ask ask = { .limit = call_int(c, "limit"), .bytes = LIMIT_POLL_BYTES };
	int64_t left = time_left(c);
	struct stream stream;
	struct event_page p;

	if (streamed_find(c, call_text(c, "stream"), &stream, err) ||
	    place_given(c, &stream, &ask.after, err) || event_page(c->store, &stream, &ask, &mem, &p, err))
		return err_failed(err->status);
	if (!p.count && !p.reset && !stream_is_over(stream.state) && left > 0)
		return call_wait(c, left < LOOK_MS ? (int)left : LOOK_MS);
	return emit_page(c, &stream, &p, err);
}

const struct method claudecode_poll = {
	.name = "poll",
	.verb = "poll",
	.also = "events",
	.group = "agents",
	.summary = "Ask a stream for its next events",
	.text = "Gives what lies strictly behind a place, and as 'cursor' the place behind that. Whoever "
		"keeps it and gives it "
		"as 'after' gets every event once and in order, also after a restart of either side, and any "
		"number "
		"may read the same stream.\n\n"
		"A named cursor keeps the place in the store ('claudecode.cursor_create'). It moves when it "
		"is told to, never by "
		"reading.\n\n"
		"With --wait the answer comes as soon as there is an event, at the latest after so many "
		"seconds.\n",
	.params = poll_params,
	.kind = RESULT_ONE,
	.fields = poll_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "poll fix-tests", "from the beginning" },
					      { "poll fix-tests --after 1.2 --limit 10",
						"behind the second event" },
					      { 0 } },
	.run = run_poll,
};

/* ---- claudecode.tail ------------------------------------------------------------ */

static const struct param tail_params[] = {
	STREAM_PARAM,
	PLACE_PARAMS,
	{ .name = "replay", .type = VALUE_BOOL, .help = "only what is there: do not wait for more" },
	{ 0 },
};

static enum status begin_tail(struct call *c, struct tailing **out, struct err *err)
{
	struct tailing *t = c->state;

	if (!t) {
		t = arena_alloc(&c->mem, sizeof *t);
		if (streamed_find(c, call_text(c, "stream"), &t->stream, err) ||
		    place_given(c, &t->stream, &t->at, err))
			return err_failed(err->status);
		c->state = t;
	}
	*out = t;
	return STATUS_OK;
}

/* One page; what was handed over is behind t->at, also when there was no room for all. */
static enum status tail_page(struct call *c, struct tailing *t, bool *more, struct err *err)
{
	enum { PAGE = 1000 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct event_ask ask = { t->at, PAGE, LIMIT_POLL_BYTES };
	struct event_page p;

	if (event_page(c->store, &t->stream, &ask, &mem, &p, err))
		return err_failed(err->status);
	if (p.reset)
		return err_fail(err, STATUS_CONFLICT,
				"the place is none of this stream's any more: a power failure took its end; "
				"begin anew");
	for (size_t i = 0; i < p.count; i++) {
		enum status status;

		put_chat_event(call_begin(c), &t->stream, &p.events[i]);
		status = call_emit(c, err);
		if (status)
			return status;
		t->at = (struct stream_place){ p.events[i].incarnation, p.events[i].seq_last };
	}
	*more = p.more;
	t->stream.session_name = t->stream.error = (struct str){ 0 }; /* went with the page */
	return STATUS_OK;
}

enum status streamed_follow(struct call *c, struct tailing *t, bool to_the_end, struct err *err)
{
	enum status status;
	bool more = true;

	while (more && !call_is_cancelled(c)) {
		status = tail_page(c, t, &more, err);
		if (status)
			return status;
	}
	if (stream_is_over(t->stream.state) || !to_the_end)
		return STATUS_OK;
	if (lease_look_after(c->store, &t->stream, err))
		return err_failed(err->status);
	call_flush(c);
	return call_wait(c, LOOK_MS);
}

static enum status run_tail(struct call *c, struct err *err)
{
	struct tailing *t;

	if (begin_tail(c, &t, err))
		return err_failed(err->status);
	return streamed_follow(c, t, !call_flag(c, "replay"), err);
}

const struct method claudecode_tail = {
	.name = "tail",
	.verb = "attach",
	.also = "tail follow",
	.group = "agents",
	.summary = "Follow a stream until it is over",
	.text = "Gives every event, from the beginning or behind a place, as soon as it is there, and ends "
		"with the stream. "
		"Each has the place behind it as 'cursor': who is cut off goes on from the last. --replay "
		"gives what there is "
		"and ends.\n",
	.params = tail_params,
	.kind = RESULT_STREAM,
	.fields = event_item_fields,
	.empty = "no events behind this place",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "attach fix-tests", "from the beginning to the end" },
					      { "attach fix-tests --after 1.2 --replay", "what is there" },
					      { 0 } },
	.run = run_tail,
};

/* ---- claudecode.compact --------------------------------------------------------- */

static const struct param compact_params[] = {
	{ .name = "before",
	  .type = VALUE_TIME,
	  .initial = "30d",
	  .help = "only streams that ended before then" },
	{ 0 },
};

static const struct field compact_fields[] = {
	{ .name = "streams", .type = VALUE_INT, .help = "that were looked through" },
	{ .name = "events", .type = VALUE_INT, .help = "that are parts of others now" },
	{ 0 },
};

static enum status run_compact(struct call *c, struct err *err)
{
	int64_t streams, events;
	struct json_writer *w;

	if (compact_streams(c->store, call_int(c, "before"), INT64_MAX, &streams, &events, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_int(w, "streams", streams);
	put_int(w, "events", events);
	return call_emit(c, err);
}

const struct method claudecode_compact = {
	.name = "compact",
	.summary = "Put old deltas of streams together",
	.text = "Word by word a stream takes ten times as much room as what was said. Of streams that ended "
		"long ago the "
		"deltas of each block become one event, which has the numbers of all of them: no place is "
		"lost, and "
		"who was in the middle of a block gets the whole of it.\n\n"
		"It happens by itself, after 'streams.delta_days': a few whenever an agent is started, and all with "
		"'arbor gc'.\n",
	.params = compact_params,
	.kind = RESULT_ONE,
	.fields = compact_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.compact", "older than a month" },
					      { "call claudecode.compact --before 7d", "than a week" },
					      { 0 } },
	.run = run_compact,
};
