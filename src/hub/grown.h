/*
 * Whether the client has gone on writing since the last sync.
 */
#ifndef ARBOR_HUB_GROWN_H
#define ARBOR_HUB_GROWN_H

#include "hub/call.h"
#include "query/forest.h"

/* Tells so: what somebody has just said is not in what they are about to read. Wants a read transaction. */
void warn_grown(struct call *c, const struct forest *f);

/* Whether what the client wrote last in the folder we are in has not been read. */
bool grown_here(struct call *c);

#define GROWN_HERE "the client has written in this folder since the last sync; 'arbor sync' brings that in"

#endif
