/*
 * Whose a file is, when folders that were worked in are excluded (ingest/filter.h).
 *
 * First whatever names a folder is looked at or noted, then every file can be asked about:
 * also those that belong to a conversation only by its id.
 */
#ifndef ARBOR_INGEST_OWNER_H
#define ARBOR_INGEST_OWNER_H

#include "base/map.h"
#include "ingest/filter.h"

/* What is known so far; a watch keeps it from one sync to the next. */
struct owners {
	struct arena mem;
	struct map files;    /* by path */
	struct map sessions; /* by id */
	struct map projects; /* by the name of their folder */
};

void owners_release(struct owners *o);

/* Whether such a file names a folder: a transcript, the note of a running client. */
bool owner_is_named(struct str path);

/* Looks at a file up to where it names its folder. */
enum status owner_look(const struct filter_rules *r, int root_fd, struct str path, struct err *err) MUST_USE;

/* The same for a transcript of which that is known; p NULL = it names none. */
void owner_note(const struct filter_rules *r, struct str path, struct str folder);

/* Whether a file is left out. One that was not looked at is judged by its name. */
bool owner_is_excluded(const struct filter_rules *r, struct str path);

#endif
