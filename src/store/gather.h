/*
 * What is written to the log of a store, gathered into larger writes.
 *
 * Only saves time: without it SQLite does the same in as many small ones.
 */
#ifndef ARBOR_STORE_GATHER_H
#define ARBOR_STORE_GATHER_H

#include "store/store.h"

struct gather;

/* From now on until the end, for what is written with this connection, outside of a transaction. NULL when it
 * cannot be done. */
struct gather *gather_begin(struct store *writer);

/* In the thread that writes, outside of a transaction and before the connection is closed. NULL is fine. */
void gather_end(struct gather *g);

#endif
