/*
 * The file of facts that newer clients write beside the transcript of a sub-agent.
 */
#ifndef ARBOR_HUB_AGENT_META_H
#define ARBOR_HUB_AGENT_META_H

#include "base/arena.h"
#include "store/session.h"

struct agent_meta {
	struct str type; /* of the agent */
	struct str call; /* that asked for it */
};

/* What is known; missing or broken, the file says nothing. Only root and path of the
 * session are used. */
enum status agent_meta_read(struct store *s, const struct session *session, struct arena *mem,
			    struct agent_meta *out, struct err *err) MUST_USE;

#endif
