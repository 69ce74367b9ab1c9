/*
 * memory.*: what is remembered of the conversations.
 */
#include "hub/activations.h"

#include "hub/memory_find.h"
#include "hub/memory_project.h"
#include "hub/memory_purge.h"
#include "hub/memory_sync.h"
#include "hub/method.h"

static const struct method *const methods[] = {
	&memory_sessions, &memory_show,	   &memory_log,	     &memory_tree,  &memory_search,
	&memory_agents,	  &memory_files,   &memory_projects, &memory_usage, &memory_stats,
	&memory_related,  &memory_context, &memory_sync,     &memory_purge, NULL,
};

const struct activation activation_memory = {
	.name = "memory",
	.version = "1.0.0",
	.summary = "What is remembered of the conversations",
	.methods = methods,
};
