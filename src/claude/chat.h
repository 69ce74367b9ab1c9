/*
 * What the client prints while it works (stream-json), as events of a chat. Pure: lines in, events out.
 *
 * The client says most things twice: as pieces while a model speaks, and as the line that goes into the
 * transcript. The pieces become start, delta, delta, ..., end; the line says which node that is, and what a
 * tool's input really was. What came as a line only (a sub-agent's words, an answer that was not streamed)
 * becomes the same events, so whoever listens need not care. Whatever is begun is ended: a block that was cut
 * off is `partial`.
 *
 * Nothing is dropped: what is not known, and what is no JSON, is handed on as `passthrough`. What the client
 * wants from whoever started it (questions, answers to ours, lines of transcripts) is no event; it is told
 * apart for the driver.
 */
#ifndef ARBOR_CLAUDE_CHAT_H
#define ARBOR_CLAUDE_CHAT_H

#include "base/arena.h"
#include "base/json.h"

/* Types of events, with their names. Those that only a driver can tell are here, too, so that there is one
 * list. */
#define CHAT_EVENTS(X) \
	X(START, "start") \
	X(INIT, "init") \
	X(USER_MESSAGE, "user_message") \
	X(THINKING_START, "thinking_start") \
	X(THINKING_DELTA, "thinking_delta") \
	X(THINKING_END, "thinking_end") \
	X(CONTENT_START, "content_start") \
	X(CONTENT_DELTA, "content_delta") \
	X(CONTENT_END, "content_end") \
	X(TOOL_USE_START, "tool_use_start") \
	X(TOOL_USE_DELTA, "tool_use_delta") \
	X(TOOL_USE_END, "tool_use_end") \
	X(TOOL_RESULT, "tool_result") \
	X(ASSISTANT_MESSAGE, "assistant_message") \
	X(RESULT, "result") \
	X(PASSTHROUGH, "passthrough") \
	X(AWAITING_APPROVAL, "awaiting_approval") \
	X(APPROVAL_RESOLVED, "approval_resolved") \
	X(ERROR, "error") \
	X(COMPLETE, "complete") \
	X(CANCELLED, "cancelled") \
	X(INTERRUPTED, "interrupted")

enum chat_type {
#define CHAT_ENUM(id, name) CHAT_##id,
	CHAT_EVENTS(CHAT_ENUM)
#undef CHAT_ENUM
		CHAT_TYPES
};

const char *chat_type_name(enum chat_type type);

/* The node an event is about, as a part of a line of the transcript: a block from 0 on, or */
enum {
	CHAT_PART_MESSAGE = -2, /* the message that begins with the line */
	CHAT_PART_LINE = -1	/* the line itself */
};

struct chat_event {
	enum chat_type type;
	struct str uuid; /* of the line; p NULL = it is about no node, or that is not known */
	int part;
	bool inner;	 /* a sub-agent's */
	struct str data; /* a JSON object, valid during the call */
};

typedef enum status chat_fn(void *ctx, const struct chat_event *e, struct err *err);

struct chat_reader;
struct chat_reader *chat_new(chat_fn *fn, void *ctx);
void chat_free(struct chat_reader *r); /* NULL is fine */

/* What a line is, beside its events. */
enum chat_line {
	CHAT_LINE_SAID,
	CHAT_LINE_INIT,	    /* the client says what it is and has; before every turn */
	CHAT_LINE_TAKEN,    /* it has begun with a prompt it was told */
	CHAT_LINE_RESULT,   /* a turn is over; there may be others */
	CHAT_LINE_MIRROR,   /* lines that went into a transcript */
	CHAT_LINE_ASKED,    /* control_request */
	CHAT_LINE_ANSWERED, /* control_response */
	CHAT_LINE_WITHDRAWN /* control_cancel_request */
};

/* One line without its line feed. *j is the line, read, for what is to be done about it; empty when it is no
 * JSON. Fails only when the function does. */
enum status chat_read(struct chat_reader *r, struct str line, enum chat_line *what, const struct json **j,
		      struct err *err) MUST_USE;

/* There will be no more lines: ends what was begun. */
enum status chat_end(struct chat_reader *r, struct err *err) MUST_USE;

/* Puts deltas of one block together, as event_merge (store/event.h) wants it. False: it is no delta, or not
 * of that block. */
struct chat_merge;
struct chat_merge *chat_merge_new(void);
void chat_merge_free(struct chat_merge *m);
bool chat_merge_begin(struct chat_merge *m, struct str type, struct str data);
bool chat_merge_add(struct chat_merge *m, struct str type, struct str data);
struct str chat_merge_end(struct chat_merge *m); /* valid until the next begin */

#endif
