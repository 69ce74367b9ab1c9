/*
 * Patterns as people know them from other programs, written for the matcher of the C library.
 */
#ifndef ARBOR_QUERY_PATTERN_H
#define ARBOR_QUERY_PATTERN_H

#include "base/buf.h"

/* Appends an extended regular expression of POSIX that means the same; NULL, or why there is none. */
const char *pattern_translate(const char *pattern, struct buf *out);

/* Appends what means the same to a matcher that knows bytes alone, in texts that are UTF-8: a character is
 * whole. `any_case`: of letters outside of ASCII; the others are left to the matcher. NULL, or why it cannot
 * be written. */
const char *pattern_in_bytes(const char *posix, bool any_case, struct buf *out);

/* How long what stands there within brackets is, when it is [:alpha:] or the like; else 0. */
size_t pattern_class_length(const char *p);

#endif
