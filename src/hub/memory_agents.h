/*
 * A sub-agent as results show it.
 */
#ifndef ARBOR_HUB_MEMORY_AGENTS_H
#define ARBOR_HUB_MEMORY_AGENTS_H

#include "hub/subagents.h"

extern const struct field agent_fields[];

/* Into an object that is open. */
void put_subagent(struct json_writer *w, const struct forest *f, const struct subagent *a);

#endif
