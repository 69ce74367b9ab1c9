/*
 * Reading what a sync has archived while it goes on archiving.
 */
#ifndef ARBOR_INGEST_ALONG_H
#define ARBOR_INGEST_ALONG_H

#include "ingest/queue.h"
#include "ingest/read.h"

struct along;

/* Threads begin to read. NULL when none can be had, or what is derived is another version's: then all is
 * read later. All that follows is called by one thread, the one that writes. */
struct along *along_begin(struct store *s, struct queue_meet *meet, const struct read_options *o);

/* What they have read comes in here, and meets others at `meet`. */
struct queue *along_queue(struct along *a);

/* Writes what is ready. */
void along_write(struct along *a);

/* More is archived. */
void along_more(struct along *a);

/* No more comes: writes all that is left and ends; at once when nobody wants it any more. NULL is fine. */
void along_end(struct along *a);

#endif
