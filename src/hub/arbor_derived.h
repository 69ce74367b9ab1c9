/*
 * The methods of arbor.* that concern what follows from the archive; act_arbor.c
 * lists them.
 */
#ifndef ARBOR_HUB_ARBOR_DERIVED_H
#define ARBOR_HUB_ARBOR_DERIVED_H

#include "hub/method.h"

extern const struct method arbor_rebuild, arbor_dump;

#endif
