/*
 * Filling the derived tables from the facts.
 */
#ifndef ARBOR_INGEST_REBUILD_H
#define ARBOR_INGEST_REBUILD_H

#include "store/store.h"

/* Rebuilds when the store's derived tables are not what this program makes;
 * *done says whether it had to. One transaction: who is killed or fails leaves
 * the store as it was. */
enum status rebuild_if_stale(struct store *s, bool *done, struct err *err) MUST_USE;

#endif
