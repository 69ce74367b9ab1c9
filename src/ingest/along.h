/*
 * Reading what a sync has archived while it goes on archiving.
 */
#ifndef ARBOR_INGEST_ALONG_H
#define ARBOR_INGEST_ALONG_H

#include "ingest/read.h"

struct along;

/* Begins to read, in a thread and with a connection of its own. NULL when neither can be
 * had, or what is derived is another version's: then all is read later. */
struct along *along_begin(struct store *s, const atomic_bool *cancel);

/* Ends as soon as what is being read has been; tells then of lines that could not be understood, as
 * read_unread() does, and adds up what was read. NULL is fine. */
void along_end(struct along *a, const struct read_options *o);

#endif
