/*
 * Conversations and parts of them as items, for whoever gives them.
 */
#ifndef ARBOR_HUB_MEMORY_SHOW_H
#define ARBOR_HUB_MEMORY_SHOW_H

#include "hub/memory_message.h"
#include "hub/resolve.h"

struct show_manner {
	bool all;	 /* also what the client noted */
	bool bare;	 /* without the session in front, and a message as one item, whatever its lines say */
	int block;	 /* of a line: only this block; -1 = all */
	struct str tool; /* only blocks of this call; empty = all */
	struct window *window; /* NULL = everything */
};

/* Gives the items of a session, turn, message, block or line to the call, as memory.show does.
 * Wants a read transaction. */
enum status show_what(struct call *c, const struct resolved *what, const struct show_manner *how,
		      struct err *err) MUST_USE;

#endif
