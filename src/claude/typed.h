/*
 * One line of history.jsonl: what somebody typed into the client, whether it became part
 * of a conversation or not. Pure.
 */
#ifndef ARBOR_CLAUDE_TYPED_H
#define ARBOR_CLAUDE_TYPED_H

#include "base/json.h"

struct typed {
	struct str display;	     /* as it stood on the screen: what was pasted is a placeholder */
	struct str project, session; /* as they stand there; p NULL = none */
	int64_t at;		     /* ms */
	bool has_time;
	uint32_t pasted; /* object of what was pasted, on the reader's tape; JSON_NONE = nothing */
};

/* Keeps its memory from one line to the next; what a line gave is in the line or the
 * reader until then. */
struct typed_reader {
	struct json json;
	struct arena mem;
};

void typed_reader_release(struct typed_reader *r);

/* A line without its line feed. False when it is none of history. */
bool typed_read(struct typed_reader *r, struct str line, struct typed *out);

/* Appends all that was typed and pasted, a text a line. */
void typed_text(const struct typed_reader *r, const struct typed *t, struct buf *out);

#endif
