/*
 * What nobody wants to be mirrored: patterns of the setting sync.exclude, and those that are given.
 */
#ifndef ARBOR_HUB_EXCLUDED_H
#define ARBOR_HUB_EXCLUDED_H

#include "hub/call.h"
#include "ingest/filter.h"

/* Into *f, in the call's arena. `given` may be NULL. */
void excluded_take(struct call *c, const struct value *given, struct filter *f);

#endif
