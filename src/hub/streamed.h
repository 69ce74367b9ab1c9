/*
 * Streams and their events as methods find and show them.
 */
#ifndef ARBOR_HUB_STREAMED_H
#define ARBOR_HUB_STREAMED_H

#include "hub/call.h"
#include "store/event.h"

#define STREAM_PARAM \
	{ \
		.name = "stream", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD, \
		.shown = "STREAM", .names = "claudecode.streams", \
		.help = "id of a stream, or name of a session: its last one" \
	}

/* Where reading begins; place_given() reads both. */
#define PLACE_PARAMS \
	{ .name = "after", \
	  .type = VALUE_TEXT, \
	  .shown = "PLACE", \
	  .help = "behind this place, as an answer gave it; left out: from the beginning" }, \
	{ \
		.name = "cursor", .type = VALUE_TEXT, .shown = "NAME", \
		.help = "behind the place of this cursor instead" \
	}

/* By what was typed. */
enum status streamed_find_as_it_is(struct call *c, struct str text, struct stream *out, struct err *err) MUST_USE;

/* The same, closed when whoever wrote it is gone. Texts are in the call's memory. */
enum status streamed_find(struct call *c, struct str text, struct stream *out, struct err *err) MUST_USE;

enum status place_given(struct call *c, const struct stream *stream, struct stream_place *out,
			struct err *err) MUST_USE;
enum status place_read(struct str text, struct stream_place *out, struct err *err) MUST_USE;
void put_place_text(struct json_writer *w, const char *key, const struct stream_place *p);

/* Members of an object that is open. */
enum status put_stream(struct json_writer *w, struct store *s, const struct stream *stream,
		       struct err *err) MUST_USE;
void put_chat_event(struct json_writer *w, const struct stream *stream, const struct event *e);

#define STREAM_FIELDS \
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the stream" }, \
		{ .name = "handle", \
		  .type = VALUE_HANDLE, \
		  .flags = FIELD_HIDDEN, \
		  .help = "names it everywhere" }, \
		{ .name = "name", .type = VALUE_TEXT, .title = "session", .help = "of its session" }, \
		{ .name = "session", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "id of that" }, \
		{ .name = "run", \
		  .type = VALUE_ID, \
		  .flags = FIELD_HIDDEN, \
		  .help = "the start of an agent whose stream it is" }, \
		{ .name = "state", \
		  .type = VALUE_ENUM, \
		  .choices = stream_state_names, \
		  .help = "running, waiting for an answer, or how it ended" }, \
		{ .name = "events", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "how many it has" }, \
		{ .name = "started", .type = VALUE_TIME, .flags = FIELD_SHORT, .help = "when" }, \
		{ .name = "ended", \
		  .type = VALUE_TIME, \
		  .flags = FIELD_HIDDEN | FIELD_SHORT | FIELD_OPTIONAL, \
		  .help = "when" }, \
		{ .name = "continues", \
		  .type = VALUE_ID, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "the interrupted stream it goes on from" }, \
		{ .name = "root", \
		  .type = VALUE_ID, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "node of the prompt" }, \
		{ .name = "head", \
		  .type = VALUE_ID, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "node of the last message, once it is complete" }, \
		{ .name = "output", \
		  .type = VALUE_ID, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "source that has what the client printed, where it wrote no file: for 'arbor export'" }, \
		{ .name = "error", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "why it failed" }, \
	{ \
		.name = "prompt", .type = VALUE_TEXT, .flags = FIELD_STRETCH, \
		.help = "how what was asked for begins, on one line" \
	}

#define EVENT_ITEM_FIELDS \
	{ .name = "seq", .type = VALUE_INT, .help = "its number, from 1 on" }, \
		{ .name = "seq_last", \
		  .type = VALUE_INT, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "it stands for all up to this one: deltas that were put together" }, \
		{ .name = "id", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "of the event" }, \
		{ .name = "handle", \
		  .type = VALUE_HANDLE, \
		  .flags = FIELD_HIDDEN, \
		  .help = "names it everywhere" }, \
		{ .name = "cursor", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_HIDDEN, \
		  .help = "the place behind it" }, \
		{ .name = "at", .type = VALUE_TIME, .flags = FIELD_SHORT, .help = "when" }, \
		{ .name = "type", .type = VALUE_TEXT, .help = "what happened" }, \
		{ .name = "node", \
		  .type = VALUE_ID, \
		  .flags = FIELD_OPTIONAL, \
		  .help = "what it is about; may come into the store a moment later" }, \
	{ \
		.name = "data", .type = VALUE_JSON, .flags = FIELD_STRETCH, \
		.help = "all about it, by its type" \
	}

/* A stream that is followed, across waits. */
struct tailing {
	struct stream stream;
	struct stream_place at;
};

/* Gives its events until it is over, or as far as they are there. STATUS_WAIT: call again. */
enum status streamed_follow(struct call *c, struct tailing *t, bool to_the_end, struct err *err) MUST_USE;

extern const struct field streamed_fields[], event_item_fields[];

struct resolving;
enum status streamed_resolve(struct resolving *r, struct err *err);
enum status chat_event_resolve(struct resolving *r, struct err *err);

#endif
