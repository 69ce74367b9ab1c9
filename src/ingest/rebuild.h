/*
 * Making everything derived anew.
 */
#ifndef ARBOR_INGEST_REBUILD_H
#define ARBOR_INGEST_REBUILD_H

#include "ingest/read.h"

/* Drops what is derived, and reads all sources again. Ids stay what they were: they
 * follow from the facts. Who is interrupted leaves a store that the next sync
 * completes. */
enum status rebuild_all(struct store *s, const struct read_options *o, struct err *err) MUST_USE;

/* `o` may be NULL. The same, only when the store's derived tables are not what this program makes;
 * *done says whether it had to. */
enum status rebuild_if_stale(struct store *s, const struct read_options *o, bool *done, struct err *err) MUST_USE;

#endif
