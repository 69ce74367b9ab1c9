/*
 * memory.purge; act_memory.c lists it.
 */
#ifndef ARBOR_HUB_MEMORY_PURGE_H
#define ARBOR_HUB_MEMORY_PURGE_H

#include "hub/call.h"
#include "ingest/purge.h"

extern const struct method memory_purge;

/* Purges for a call, telling how far it is and, as a note, what went. Progress and context of the options are
 * the call's. */
enum status memory_purge_run(struct call *c, const struct purge_subject *list, size_t count,
			     const struct purge_options *o, struct purge_report *report,
			     struct err *err) MUST_USE;

#endif
