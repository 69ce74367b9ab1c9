/*
 * Patterns as people know them from other programs, written for the matcher of the C library.
 */
#ifndef ARBOR_QUERY_PATTERN_H
#define ARBOR_QUERY_PATTERN_H

#include "base/buf.h"

/* Appends an extended regular expression of POSIX that means the same; NULL, or why there is none. */
const char *pattern_translate(const char *pattern, struct buf *out);

#endif
