/*
 * English nouns in the singular and the plural, by their ends: enough that hooks and a hook, branches and a
 * branch are the same. No dictionary; what has an end like a plural's and is none is listed where it is often
 * written.
 */
#ifndef ARBOR_BASE_PLURAL_H
#define ARBOR_BASE_PLURAL_H

#include "base/buf.h"

/* Of a word in lower case, in `room` or as it was. */
struct str plural_singular(struct str word, struct buf *room);

/* The plural of a singular, the singular of a plural, so in `room`; empty where there is none. */
struct str plural_other(struct str word, struct buf *room);

#endif
