/*
 * The type of a sub-agent whose messages a conversation tells in progress lines.
 */
#ifndef ARBOR_HUB_AGENT_TYPE_H
#define ARBOR_HUB_AGENT_TYPE_H

#include "base/arena.h"
#include "store/session.h"

/* As the call that asked for it says; empty where nothing does. Wants a read transaction. */
enum status agent_type_told(struct store *s, int64_t conversation, struct str agent, struct arena *mem, struct str *out,
			    struct err *err) MUST_USE;

#endif
