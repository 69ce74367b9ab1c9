/*
 * Finding a stream, and writing streams and events into results.
 *
 * Every way to a stream leads past lease_look_after(), so nobody is shown one as running whose driver is
 * dead.
 */
#include "hub/streamed.h"

#include "base/utf8.h"
#include "hub/handle_node.h"
#include "hub/handle_resolve.h"
#include "live/lease.h"
#include "store/cursor.h"
#include "store/named.h"
#include "store/run.h"

const struct field streamed_fields[] = { STREAM_FIELDS, { 0 } };
const struct field event_item_fields[] = { EVENT_ITEM_FIELDS, { 0 } };

/* ---- Finding ----------------------------------------------------------------- */

static enum status take_first(void *ctx, const struct stream *stream, bool *go_on, struct err *err)
{
	(void)err;
	((struct stream *)ctx)->id = stream->id;
	((struct stream *)ctx)->row = stream->row;
	*go_on = false;
	return STATUS_OK;
}

/* The last stream of a session. */
static enum status find_last(struct call *c, struct str name, struct stream *out, struct err *err)
{
	struct stream last = { 0 };
	struct named named;

	if (named_find(c->store, name, &c->mem, &named, err) ||
	    stream_each(c->store, named.row, take_first, &last, err))
		return err_failed(err->status);
	if (!last.row)
		return err_fail(err, STATUS_NOT_FOUND, "nothing was said to '%.*s' yet", STR_ARG(named.name));
	return stream_get(c->store, &last.id, &c->mem, out, err);
}

enum status streamed_find_as_it_is(struct call *c, struct str text, struct stream *out, struct err *err)
{
	enum status status = find_last(c, text, out, err);
	struct err other;

	if (status != STATUS_NOT_FOUND)
		return status;
	status = stream_find(c->store, text, &c->mem, out, &other);
	if (status == STATUS_USAGE || status == STATUS_NOT_FOUND)
		return err_fail(err, STATUS_NOT_FOUND, "'%.*s' is no stream, and no session that has one",
				(int)size_min(text.n, 60), text.p ? text.p : "");
	if (status)
		*err = other;
	return status;
}

enum status streamed_find(struct call *c, struct str text, struct stream *out, struct err *err)
{
	if (streamed_find_as_it_is(c, text, out, err) || lease_look_after(c->store, out, err))
		return err_failed(err->status);
	return STATUS_OK;
}

enum status place_read(struct str text, struct stream_place *out, struct err *err)
{
	if (stream_place_parse(text, out))
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE,
			"'%.*s' is no place in a stream: answers give such as 1.42, and 0 is the beginning",
			(int)size_min(text.n, 60), text.p ? text.p : "");
}

enum status place_given(struct call *c, const struct stream *stream, struct stream_place *out,
			struct err *err)
{
	struct str after = call_text(c, "after"), name = call_text(c, "cursor");
	struct cursor cursor;

	*out = (struct stream_place){ 0 };
	if (after.p && name.p)
		return err_fail(err, STATUS_USAGE, "a place or a cursor, not both");
	if (after.p)
		return place_read(after, out, err);
	if (!name.p)
		return STATUS_OK;
	if (cursor_get(c->store, stream, name, &c->mem, &cursor, err))
		return err_failed(err->status);
	*out = cursor.place;
	return STATUS_OK;
}

/* ---- Showing ----------------------------------------------------------------- */

void put_place_text(struct json_writer *w, const char *key, const struct stream_place *p)
{
	char text[STREAM_PLACE_TEXT];

	stream_place_print(p, text);
	put_text(w, key, str_of(text));
}

/* What was said, without the files that went with it: those are in front of it (hub/submitted.c). */
static struct str words_of(const struct json *j, struct arena *mem)
{
	uint32_t content = json_get(j, 0, STR("content")), last = JSON_NONE;

	if (json_is(j, content, JSON_STRING))
		return json_string_in(j, content, mem);
	for (uint32_t i = json_first(j, content); i != json_end(j, content); i = json_next(j, i))
		last = i;
	if (last == JSON_NONE)
		return (struct str){ 0 };
	return json_string_in(j, json_get(j, last, STR("text")), mem);
}

static enum status put_prompt(struct json_writer *w, struct store *s, const struct stream *stream,
			      struct err *err)
{
	enum { COLUMNS = 200 };
	struct buf line CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct run run;

	if (run_of_stream(s, &stream->id, &mem, &run, err) ||
	    json_read(&j, run.prompt, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	utf8_line(&line, words_of(&j, &mem), COLUMNS);
	put_text(w, "prompt", buf_as_str(&line));
	return STATUS_OK;
}

enum status put_stream(struct json_writer *w, struct store *s, const struct stream *stream, struct err *err)
{
	struct node_handle handle = handle_of_stream(&stream->id);

	put_uuid(w, "id", &stream->id);
	put_handle(w, &handle);
	put_text(w, "name", stream->session_name);
	put_uuid(w, "session", &stream->session_id);
	put_uuid(w, "run", &stream->run_id);
	put_text(w, "state", str_of(stream_state_names[stream->state]));
	put_int(w, "events", stream->last_seq);
	put_time(w, "started", stream->started_at);
	if (stream->ended_at)
		put_time(w, "ended", stream->ended_at);
	if (stream->has_continues)
		put_uuid(w, "continues", &stream->continues);
	if (stream->has_root)
		put_uuid(w, "root", &stream->root);
	if (stream->has_head)
		put_uuid(w, "head", &stream->head);
	if (stream->has_output)
		put_uuid(w, "output", &stream->output);
	if (stream->error.p)
		put_text(w, "error", stream->error);
	return put_prompt(w, s, stream, err);
}

void put_chat_event(struct json_writer *w, const struct stream *stream, const struct event *e)
{
	struct uuid id = event_id(&stream->id, e->seq);
	struct node_handle handle = handle_of_chat_event(&id, e->type);

	put_int(w, "seq", e->seq);
	if (e->seq_last != e->seq)
		put_int(w, "seq_last", e->seq_last);
	put_uuid(w, "id", &id);
	put_handle(w, &handle);
	put_place_text(w, "cursor", &(struct stream_place){ e->incarnation, e->seq_last });
	put_time(w, "at", e->at);
	put_text(w, "type", e->type);
	if (e->has_node)
		put_uuid(w, "node", &e->node);
	json_write_key(w, STR("data"));
	json_write_raw(w, e->data);
}

/* ---- Handles ----------------------------------------------------------------- */

static struct uuid id_of(const struct resolving *r)
{
	struct uuid id = { 0 };

	uuid_parse(handle_meta(r->handle, 0), &id);
	return id;
}

enum status streamed_resolve(struct resolving *r, struct err *err)
{
	struct uuid id = id_of(r);
	struct stream stream;

	if (stream_get(r->call->store, &id, r->mem, &stream, err))
		return err_pass(err, "handle");
	return put_stream(r->w, r->call->store, &stream, err);
}

enum status chat_event_resolve(struct resolving *r, struct err *err)
{
	struct str type = handle_meta(r->handle, 1);
	struct uuid id = id_of(r);
	struct stream stream;
	struct event e;

	if (event_get(r->call->store, &id, r->mem, &stream, &e, err))
		return err_pass(err, "handle");
	if (type.n && !str_eq(type, e.type))
		return err_fail(err, STATUS_FORMAT, "handle: this event is '%.*s' and not '%.*s'",
				STR_ARG(e.type), (int)size_min(type.n, 60), type.p);
	put_uuid(r->w, "stream", &stream.id);
	put_uuid(r->w, "session", &stream.session_id);
	put_chat_event(r->w, &stream, &e);
	return STATUS_OK;
}
