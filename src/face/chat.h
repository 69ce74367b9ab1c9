/*
 * A chat at a terminal: what the view, the questions and the keyboard share.
 */
#ifndef ARBOR_FACE_CHAT_H
#define ARBOR_FACE_CHAT_H

#include "face/view.h"

struct chat {
	bool asks;	  /* somebody is here who can be asked */
	bool given;	  /* the prompt was typed here: it need not be shown */
	struct str name;  /* of the session; p NULL = not known */
	struct str ended; /* type of the last event; p NULL = it goes on */
	char cursor[64];  /* behind what was shown; empty = nothing was */
	bool stopping;	  /* its turn was told to end, here */
	int64_t answered; /* here, and not heard of yet in the stream */
};

/* Whether a verb is one of these, and what a person at a terminal, or a pipe, gets of it. */
bool chat_is_due(const struct face *f, const char *activation, const struct method *m);
enum status chat_run(struct face *f, const char *activation, const struct method *m, struct params *p,
		     struct err *err) MUST_USE;

/* A method, for the chat's own purposes. *out is the last of its results, in the arena; p NULL = there was
 * none. Both NULL: it is not wanted. */
enum status chat_call(struct face *f, const char *method, struct str params, struct arena *mem,
		      struct str *out, struct err *err) MUST_USE;

/* Of an awaiting_approval's data: whether it still waits for an answer. */
bool chat_must_ask(struct view *v, const struct json *j, uint32_t data);

/* Asks whoever is there, and hands the answer over. */
void chat_ask(struct view *v, struct chat *c, const struct json *j, uint32_t data);

#endif
