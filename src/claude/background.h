/*
 * What a client has going in the background: shells and sub-agents that go on behind its turns. Pure: its
 * lines in, what is still going out.
 */
#ifndef ARBOR_CLAUDE_BACKGROUND_H
#define ARBOR_CLAUDE_BACKGROUND_H

#include "base/json.h"
#include "base/limits.h"

struct background {
	uint64_t going[LIMIT_BACKGROUND]; /* hashes of their ids */
	size_t count;
	size_t news; /* ended, and the model does not know yet: each is the beginning of a turn */
};

/* Every line of the client. */
void background_hear(struct background *b, const struct json *j);

/* Whether a line of a user's is the client's, with which it tells the model during a turn what has ended. */
bool background_is_news(const struct json *j);

#endif
