/*
 * Whether a process runs, and is the one that was meant.
 *
 * Numbers of processes are used again. What tells one from a later one of its number is when it
 * started, in ticks since the machine did.
 */
#ifndef ARBOR_BASE_PROC_H
#define ARBOR_BASE_PROC_H

#include "base/str.h"

/* From the text of /proc/PID/stat: whether it has not ended, and started then; `start` p NULL = whenever. */
bool proc_stat_is(struct str stat, struct str start);

/* When it started; false = there is none. */
bool proc_start(int64_t pid, int64_t *out);

/* The process above it, 0 = none can be seen; false = there is none of this number. */
bool proc_parent(int64_t pid, int64_t *out);

#endif
