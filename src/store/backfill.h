/*
 * Carrying the log of a store over into its file beside the thread that writes.
 *
 * Only saves time: without it whoever commits does the same now and then.
 */
#ifndef ARBOR_STORE_BACKFILL_H
#define ARBOR_STORE_BACKFILL_H

#include "store/store.h"

struct backfill;

/* From now on until the end, for what is written with this connection. NULL when no thread can be had. */
struct backfill *backfill_begin(struct store *writer);

/* In the thread that writes. NULL is fine. */
void backfill_end(struct backfill *b);

#endif
