/*
 * claudecode.cursor_*: places in streams that the store keeps for readers.
 */
#include "hub/claudecode_methods.h"

#include "hub/streamed.h"
#include "store/cursor.h"

#define NAME_PARAM \
	{ \
		.name = "name", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD, .shown = "NAME", \
		.help = "of the cursor, among those of the stream" \
	}

#define CURSOR_FIELDS \
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "of the cursor" }, \
		{ .name = "stream", .type = VALUE_ID, .help = "it is in" }, \
		{ .name = "cursor", .type = VALUE_TEXT, .title = "place", .help = "where it is" }, \
		{ .name = "behind", .type = VALUE_INT, .help = "events that it has not passed yet" }, \
		{ .name = "created", \
		  .type = VALUE_TIME, \
		  .flags = FIELD_HIDDEN, \
		  .help = "when it was made" }, \
	{ \
		.name = "updated", .type = VALUE_TIME, .flags = FIELD_SHORT, .help = "when it last moved" \
	}

static const struct field cursor_fields[] = { CURSOR_FIELDS, { 0 } };
static const struct field deleted_fields[] = {
	CURSOR_FIELDS,
	{ .name = "deleted", .type = VALUE_BOOL, .help = "that it is gone" },
	{ 0 },
};

static void put_cursor(struct json_writer *w, const struct stream *stream, const struct cursor *c)
{
	put_text(w, "name", c->name);
	put_uuid(w, "stream", &stream->id);
	put_place_text(w, "cursor", &c->place);
	put_int(w, "behind", c->place.seq < stream->last_seq ? stream->last_seq - c->place.seq : 0);
	put_time(w, "created", c->created_at);
	put_time(w, "updated", c->updated_at);
}

static enum status emit_cursor(struct call *c, const struct stream *stream, struct err *err)
{
	struct cursor cursor;

	if (cursor_get(c->store, stream, call_text(c, "name"), &c->mem, &cursor, err))
		return err_failed(err->status);
	put_cursor(call_begin(c), stream, &cursor);
	return call_emit(c, err);
}

/* ---- cursor_create -------------------------------------------------------------- */

static const struct param create_params[] = {
	STREAM_PARAM,
	NAME_PARAM,
	{ .name = "after",
	  .type = VALUE_TEXT,
	  .initial = "0",
	  .shown = "PLACE",
	  .help = "where it begins; left out: at the beginning" },
	{ 0 },
};

static enum status run_create(struct call *c, struct err *err)
{
	struct stream_place at;
	struct stream stream;

	if (streamed_find(c, call_text(c, "stream"), &stream, err) ||
	    place_read(call_text(c, "after"), &at, err) ||
	    cursor_create(c->store, &stream, call_text(c, "name"), &at, err))
		return err_failed(err->status);
	return emit_cursor(c, &stream, err);
}

const struct method claudecode_cursor_create = {
	.name = "cursor_create",
	.summary = "Have a place in a stream kept by name",
	.text = "For a reader that has no place of its own to remember where it was. 'claudecode.poll' with "
		"--cursor reads from "
		"there, and 'claudecode.cursor_advance' says what was read.\n",
	.params = create_params,
	.kind = RESULT_ONE,
	.fields = cursor_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.cursor_create fix-tests screen",
						"at the beginning" },
					      { 0 } },
	.run = run_create,
};

/* ---- cursor_advance ------------------------------------------------------------- */

static const struct param advance_params[] = {
	STREAM_PARAM,
	NAME_PARAM,
	{ .name = "to",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "PLACE",
	  .help = "as an answer gave it" },
	{ 0 },
};

static enum status run_advance(struct call *c, struct err *err)
{
	struct stream_place to;
	struct stream stream;

	if (streamed_find(c, call_text(c, "stream"), &stream, err) ||
	    place_read(call_text(c, "to"), &to, err) ||
	    cursor_advance(c->store, &stream, call_text(c, "name"), &to, err))
		return err_failed(err->status);
	return emit_cursor(c, &stream, err);
}

const struct method claudecode_cursor_advance = {
	.name = "cursor_advance",
	.summary = "Move a cursor behind what was read",
	.text = "Only this moves it, and only forwards; to where it is already is fine. So an event that was "
		"not said to be read "
		"is given again, and one that was never.\n",
	.params = advance_params,
	.kind = RESULT_ONE,
	.fields = cursor_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.cursor_advance fix-tests ui 1.3",
						"behind the third event" },
					      { 0 } },
	.run = run_advance,
};

/* ---- cursor_list ---------------------------------------------------------------- */

static const struct param list_params[] = { STREAM_PARAM, { 0 } };

struct listing {
	struct call *call;
	const struct stream *stream;
};

static enum status list_one(void *ctx, const struct cursor *cursor, struct err *err)
{
	struct listing *l = ctx;

	put_cursor(call_begin(l->call), l->stream, cursor);
	return call_emit(l->call, err);
}

static enum status run_list(struct call *c, struct err *err)
{
	struct stream stream;
	struct listing l = { c, &stream };

	if (streamed_find(c, call_text(c, "stream"), &stream, err))
		return err_failed(err->status);
	return cursor_each(c->store, &stream, list_one, &l, err);
}

const struct method claudecode_cursor_list = {
	.name = "cursor_list",
	.summary = "List the cursors of a stream",
	.text = "By name, with how many events each has not passed yet.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = cursor_fields,
	.empty = "this stream has no cursors",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.cursor_list fix-tests",
						"all of its last stream" },
					      { 0 } },
	.run = run_list,
};

/* ---- cursor_delete -------------------------------------------------------------- */

static const struct param delete_params[] = { STREAM_PARAM, NAME_PARAM, { 0 } };

static enum status run_delete(struct call *c, struct err *err)
{
	struct stream stream;
	struct cursor cursor;

	if (streamed_find(c, call_text(c, "stream"), &stream, err) ||
	    cursor_get(c->store, &stream, call_text(c, "name"), &c->mem, &cursor, err) ||
	    cursor_delete(c->store, &stream, cursor.name, err))
		return err_failed(err->status);
	put_cursor(call_begin(c), &stream, &cursor);
	put_bool(&c->writer, "deleted", true);
	return call_emit(c, err);
}

const struct method claudecode_cursor_delete = {
	.name = "cursor_delete",
	.summary = "Forget a cursor",
	.text = "The stream and what is in it stay as they are.\n",
	.params = delete_params,
	.kind = RESULT_ONE,
	.fields = deleted_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.cursor_delete fix-tests ui", "by its name" },
					      { 0 } },
	.run = run_delete,
};
