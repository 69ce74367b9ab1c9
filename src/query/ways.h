/*
 * Ways through a forest: what goes on from each message, and what all that follows it comes to.
 *
 * A way goes over compactions, and over what is missing; a path (forest_path()) ends there. Sub-agents are
 * not on any, unless one was asked for.
 */
#ifndef ARBOR_QUERY_WAYS_H
#define ARBOR_QUERY_WAYS_H

#include "query/grove.h"

/* By canonical message. */
struct way {
	uint32_t from;	      /* message it goes on from; FOREST_NONE = it begins */
	uint32_t child, next; /* messages that go on from it, the earliest first; their list */
	bool wanted;	      /* on the way to where the conversation that was asked for is now */
	int64_t said;	      /* the last time of its lines; 0 = unknown */
	/* Of itself and all that follows it: */
	uint32_t messages; /* as a session counts them */
	uint32_t turns;	   /* that begin */
	uint32_t heads;	   /* files that would go on from there */
	int64_t updated;   /* the last time of any; 0 = unknown */
};

struct ways {
	const struct turns *turns; /* found */
	struct arena *mem;
	/* Found: */
	struct way *list;
	uint32_t *order, count; /* messages that are on any, each behind what it goes on from */
	uint32_t roots;		/* those that go on from nothing */
};

void ways_find(struct ways *w);

/* The messages that lead on from one, or begin (FOREST_NONE): what is looked through left out, and those from
 * which nothing comes. In the arena, the earliest first. Two or more are a branch. */
uint32_t *ways_on(const struct ways *w, uint32_t message, struct arena *mem, uint32_t *count);

/* From the first message to this one. */
uint32_t *ways_path(const struct ways *w, uint32_t message, struct arena *mem, uint32_t *count);

/* The last message of the way that begins with a message, or of the turn that this is in: of several the one that
 * the session is on, else the last touched. */
uint32_t ways_end(const struct ways *w, uint32_t message, bool of_turn);

/* How many messages two such paths have in common at their beginning. */
uint32_t ways_shared(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count);

/* A conversation with all that belongs to it, its turns and ways. Stays where it is: its parts point to each
 * other. */
struct ground {
	struct grove grove;
	struct turns turns;
	struct ways ways;
	struct arena mem;
};

#define GROUND_INIT \
	{ \
		0 \
	}
void ground_release(struct ground *g);

/* Of a transcript, by its row. Wants a read transaction. */
enum status ground_load(struct store *s, int64_t session, struct ground *out, struct err *err) MUST_USE;

/* The same of a grove that is loaded briefly. */
enum status ground_load_brief(struct store *s, int64_t session, struct ground *out, struct err *err) MUST_USE;

#endif
