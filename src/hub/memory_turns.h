/*
 * The turns of a forest: which follow which, which were started in which, and where files
 * would go on.
 */
#ifndef ARBOR_HUB_MEMORY_TURNS_H
#define ARBOR_HUB_MEMORY_TURNS_H

#include "hub/subagents.h"

/* By message, for those that begin a turn or stand before the first. */
struct turn {
	uint32_t parent;      /* turn it follows, or was started in */
	uint32_t child, next; /* turns that follow it; their list */
	uint32_t started;     /* sub-agents' turns that were started in it; so too */
	uint32_t asker;	      /* of a sub-agent's first: message that asked for it; FOREST_NONE = not known */
	uint32_t messages, calls;
	int64_t number;
	bool wanted;   /* on the way to where the conversation is now */
	uint32_t head; /* first of the list of sources that would go on from it */
};

struct turns {
	struct arena *mem;
	const struct forest *forest;
	uint32_t source;	    /* that was asked for */
	bool agents;		    /* sub-agents' too */
	struct subagents subagents; /* then */
	/* Found: */
	struct turn *list;	 /* by message */
	uint32_t roots;		 /* turns that follow none */
	uint32_t *first, *after; /* messages of each turn: list */
	uint32_t *next_head;	 /* by source */
	uint32_t *leaves;	 /* by source: message, FOREST_NONE */
	uint32_t *leaf_lines;	 /* by source */
	struct numbers calls;	 /* hash of a call -> message */
};

void turns_find(struct turns *t);

/* The sub-agent that begins with this message; NULL = none does. */
const struct subagent *turns_agent(const struct turns *t, uint32_t message);

#endif
