/*
 * The methods of hub.* that show what handles stand for.
 */
#ifndef ARBOR_HUB_HUB_RESOLVE_H
#define ARBOR_HUB_HUB_RESOLVE_H

#include "hub/method.h"

extern const struct method hub_resolve_method, hub_resolve_many;

#endif
