/*
 * Where in a conversation something is that somebody named.
 */
#ifndef ARBOR_HUB_MEMORY_PLACE_H
#define ARBOR_HUB_MEMORY_PLACE_H

#include "hub/resolve.h"
#include "query/ways.h"

struct place {
	uint32_t source, line;
	uint32_t message; /* the line is a part of */
};

/* All that a sub-agent said and did, from its first message on, in order: those that follow on it. In the arena. */
uint32_t *place_agent(const struct forest *f, uint32_t first, struct arena *mem, uint32_t *count);

/* A session is where the client would go on, a sub-agent where it ended; a line that is no part of a message, the
 * nearest above it that is. STATUS_NOT_FOUND when it is not in this forest. */
enum status place_find(const struct forest *f, const struct resolved *what, struct place *out,
		       struct err *err) MUST_USE;

/* The same where what is named stands for a way: a turn, by the id that 'tree' shows, for all of it. */
enum status place_find_end(const struct ground *g, const struct resolved *what, struct place *out,
			   struct err *err) MUST_USE;

/* The way there, over compactions; in the arena. A sub-agent's that is told in another's file has one of its own. */
uint32_t *place_path(const struct ground *g, uint32_t message, struct arena *mem, uint32_t *count);

#endif
