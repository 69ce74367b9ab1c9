/*
 * The methods of storage.* that have a file of their own; act_storage.c lists them.
 */
#ifndef ARBOR_HUB_STORAGE_FILES_H
#define ARBOR_HUB_STORAGE_FILES_H

#include "hub/method.h"

extern const struct method storage_todos, storage_plans, storage_history, storage_sql;

#endif
