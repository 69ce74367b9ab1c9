/*
 * memory.sync; act_memory.c lists it.
 */
#ifndef ARBOR_HUB_MEMORY_SYNC_H
#define ARBOR_HUB_MEMORY_SYNC_H

#include "hub/method.h"

extern const struct method memory_sync;

#endif
