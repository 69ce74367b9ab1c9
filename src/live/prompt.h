/*
 * What is submitted to an agent (run.prompt, and what is queued): JSON that only these two know.
 */
#ifndef ARBOR_LIVE_PROMPT_H
#define ARBOR_LIVE_PROMPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/uuid.h"

struct prompt {
	struct str content;	  /* JSON: a string, or blocks */
	struct uuid uuid;	  /* that its line is to have */
	int64_t max_turns;	  /* requests to the model; 0 = as many as it takes */
	struct str allowed_tools; /* JSON array, beside those of the session; p NULL = none */
};

void prompt_write(struct buf *out, const struct prompt *p);

/* False when it is none. Texts are in the arena. */
bool prompt_read(struct str text, struct arena *mem, struct prompt *out);

#endif
