/*
 * The methods of storage.* that look into files; act_storage.c lists them.
 */
#ifndef ARBOR_HUB_STORAGE_FILES_H
#define ARBOR_HUB_STORAGE_FILES_H

#include "hub/method.h"

extern const struct method storage_todos, storage_plans, storage_history;

#endif
