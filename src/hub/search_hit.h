/*
 * What a search found, as it is given.
 */
#ifndef ARBOR_HUB_SEARCH_HIT_H
#define ARBOR_HUB_SEARCH_HIT_H

#include "hub/call.h"
#include "query/search.h"

/* Begins the call's item and writes the hit into it. */
void search_put_hit(struct call *c, const struct search_hit *hit);

#endif
