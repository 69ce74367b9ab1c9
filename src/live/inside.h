/*
 * Which agents this process belongs to: an agent that runs a program is that program's parent, or the parent
 * of its parent, whatever the program's variables say.
 *
 * It is how an agent is kept from answering itself by mistake or by cleverness with its environment. It is no
 * wall: a process of the same user may have another one do something for it, or write to the store.
 */
#ifndef ARBOR_LIVE_INSIDE_H
#define ARBOR_LIVE_INSIDE_H

#include "store/run.h"

struct inside {
	int64_t *sessions; /* rows of those whose agent is above this process */
	size_t count;
};

/* In the arena. */
enum status inside_find(struct store *s, struct arena *mem, struct inside *out, struct err *err) MUST_USE;

bool inside_has(const struct inside *in, int64_t session);

#endif
