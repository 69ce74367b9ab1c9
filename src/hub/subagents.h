/*
 * The sub-agents of a conversation: which there are, and what asked for each.
 */
#ifndef ARBOR_HUB_SUBAGENTS_H
#define ARBOR_HUB_SUBAGENTS_H

#include "hub/call.h"
#include "query/forest.h"

struct subagent {
	struct str name; /* its id; of an inline one the uuid of its first line */
	uint32_t root;	 /* message it begins with */
	bool is_inline;	 /* in the file of the conversation itself, as old clients wrote it */
	bool warmup;	 /* started by the client alone */
	int64_t messages, tools;
	struct str type;   /* where the client says it */
	struct str call;   /* that asked for it, where that is known */
	struct str prompt; /* how it begins, on one line */
};

struct subagents {
	struct subagent *list;
	uint32_t count;
	uint32_t *of; /* by message: its place in the list; FOREST_NONE = the conversation's own */
};

/* Those of a forest, in the call's memory. Reads every line with calls or results. */
enum status subagents_find(struct call *c, const struct forest *f, struct subagents *out,
			   struct err *err) MUST_USE;

/* The one that begins with this message; NULL = none does. */
const struct subagent *subagents_at(const struct subagents *all, const struct forest *f, uint32_t message);

/* By message that begins one: the message that asked for it; FOREST_NONE = not known. In the arena. */
uint32_t *subagents_askers(const struct subagents *all, const struct forest *f, struct arena *mem);

#endif
