/*
 * Patterns with wildcards over bytes that may come from anybody: no recursion, and no more steps than the
 * caller grants.
 *
 *     *    anything; in a path anything but '/'
 *     **   in a path: anything; between '/', or at its beginning, any number of folders, none too
 *     ?    in a path: one byte but '/'
 *     \x   x itself
 */
#ifndef ARBOR_BASE_GLOB_H
#define ARBOR_BASE_GLOB_H

#include "base/buf.h"

struct glob_how {
	bool path;
	bool (*may)(unsigned char c); /* what * may stand for; NULL = anything */
	int64_t *steps;		      /* that are left; below 0 = it was given up and matches nothing */
};

/* Whether the whole text is meant. */
bool glob_match(struct str pattern, struct str text, const struct glob_how *how);

/* Whether there is a wildcard in it. */
bool glob_is_wild(struct str pattern);

/* Adds a pattern that means this text alone. */
void glob_escape(struct buf *out, struct str text);

#endif
