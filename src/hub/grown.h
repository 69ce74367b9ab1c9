/*
 * Whether the client has gone on writing since the last sync.
 */
#ifndef ARBOR_HUB_GROWN_H
#define ARBOR_HUB_GROWN_H

#include "hub/call.h"
#include "query/forest.h"

/* Tells so: what somebody has just said is not in what they are about to read. Wants a read transaction. */
void warn_grown(struct call *c, const struct forest *f);

#endif
