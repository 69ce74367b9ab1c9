/*
 * The turns of a forest: which follow which, which were started in which, and where files
 * would go on.
 */
#ifndef ARBOR_QUERY_TURNS_H
#define ARBOR_QUERY_TURNS_H

#include "query/forest.h"

/* By message, for those that begin a turn or stand before the first. */
struct turn {
	uint32_t line;	   /* node it is named by: its first line, be it an event */
	uint32_t top;	   /* event that its first message hangs on in the end; FOREST_NONE = on none, or it
			    * follows another message */
	uint32_t parent;   /* turn it follows, or was started in */
	uint32_t hangs_on; /* message it goes on from; FOREST_NONE = it follows nothing, or was started */
	uint32_t child, next; /* turns that follow it; their list */
	uint32_t started;     /* sub-agents' turns that were started in it; so too */
	uint32_t asker;	      /* of a sub-agent's first: message that asked for it; FOREST_NONE = not known */
	uint32_t messages, calls;
	int64_t number; /* counted along its way */
	bool wanted;	/* on the way to where the conversation is now */
	uint32_t head;	/* first of the list of sources that would go on from it */
};

struct turns {
	struct arena *mem;
	const struct forest *forest;
	uint32_t source; /* that was asked for */
	bool agents;	 /* sub-agents' too */
	const uint32_t
		*askers; /* by message: what asked for the sub-agent that begins there; NULL = nobody asks */
	/* Found: */
	bool of_agent;		 /* a sub-agent's conversation was asked for */
	struct turn *list;	 /* by message */
	uint32_t *of;		 /* by canonical message: the one its turn begins with */
	uint32_t *order, count;	 /* all of them, the latest first */
	uint32_t roots;		 /* turns that follow none */
	uint32_t *first, *after; /* messages of each turn: list */
	uint32_t *next_head;	 /* by source */
	uint32_t *leaves;	 /* by source: message, FOREST_NONE */
	uint32_t *leaf_nodes;	 /* by source: of its last line; FOREST_NONE */
};

void turns_find(struct turns *t);

/* The way that is wanted leads to this message instead. */
void turns_want(struct turns *t, uint32_t message);

/* Whether a message is in any: those of sub-agents are not, unless they are wanted. */
bool turns_show(const struct turns *t, uint32_t message);

/* How many a session counts a message as: what the model said is one, and so is each line of the other side, results
 * of tools included; not what the client put beside them. */
uint32_t turns_messages_in(const struct forest *f, const struct forest_message *m);

#endif
