/*
 * What the client of a driver asks about its tools: kept, put to whoever answers (live/question.h), and
 * answered.
 *
 *     asking_add() ──► asked in the store ──► asking_look(), until somebody has answered ──► told to the
 * client └──► asking_withdraw() when the client wants to know no more
 *
 * It never blocks. What cannot be written just now is tried again by the next asking_look().
 */
#ifndef ARBOR_LIVE_ASKING_H
#define ARBOR_LIVE_ASKING_H

#include "base/json.h"
#include "live/question.h"

struct asking_hooks {
	/* The client can be told something, and all that it said before is in the stream; else it waits. */
	bool (*ready)(void *ctx);
	void (*tell)(void *ctx, const struct buf *line); /* a line for the client */
	void *ctx;
};

struct asking_new {
	struct store *store;
	const struct run *run; /* whose questions they are; has to stay */
	struct str cwd, home;  /* so do these; p NULL = not known */
	int64_t expire_ms;     /* after which a question is denied; 0 = never */
	struct asking_hooks hooks;
};

struct asking;
struct asking *asking_new(const struct asking_new *what);
void asking_free(struct asking *a); /* what is open stays so for the stream's end; NULL is fine */

/* A control_request "can_use_tool", of this session of the client's (NULL = not known yet). */
void asking_add(struct asking *a, const struct json *line, const struct uuid *claude_session);

/* A control_cancel_request; of what was never asked it means nothing. */
void asking_withdraw(struct asking *a, const struct json *line);

/* Does what can be done: asks, hands answers over, withdraws. `changed`: the store has. */
void asking_look(struct asking *a, bool changed);

bool asking_is_open(const struct asking *a);	     /* somebody is asked: the stream awaits permission */
bool asking_is_waiting(const struct asking *a);	     /* or is to be */
bool asking_has_interrupted(const struct asking *a); /* somebody has ended the turn with their answer */

#endif
