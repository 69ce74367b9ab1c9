/*
 * The methods of memory.* that look at conversations; act_memory.c lists them.
 */
#ifndef ARBOR_HUB_MEMORY_FIND_H
#define ARBOR_HUB_MEMORY_FIND_H

#include "hub/method.h"

extern const struct method memory_sessions, memory_show, memory_search, memory_log, memory_tree,
	memory_usage, memory_stats, memory_agents, memory_files,
	memory_related, memory_context;

#endif
