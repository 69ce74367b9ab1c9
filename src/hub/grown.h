/*
 * Whether the client has gone on writing since the last sync.
 */
#ifndef ARBOR_HUB_GROWN_H
#define ARBOR_HUB_GROWN_H

#include "hub/call.h"
#include "query/forest.h"

/* Tells so: what somebody has just said is not in what they are about to read. True when it did. Wants a read
 * transaction, as the others do. */
bool warn_grown(struct call *c, const struct forest *f);

/* The same of all the client writes in the folder we are in, for who wants to read the last conversation. */
void warn_grown_here(struct call *c);

/* Whether something of that has not been read. */
bool grown_here(struct call *c);

#define GROWN_HERE "the client has written in this folder since the last sync; 'arbor sync' brings that in"

#endif
