/*
 * Stepping through UTF-8 that may be broken.
 */
#ifndef ARBOR_BASE_UTF8_H
#define ARBOR_BASE_UTF8_H

#include "base/buf.h"

enum { UTF8_BAD = -1 };

/*
 * Decodes one code point at *at (< s.n) and moves *at past it. Overlong forms,
 * surrogates, values over U+10FFFF and cut sequences give UTF8_BAD and move by
 * the length of the maximal valid prefix, at least one byte (the practice of
 * Unicode §3.9, so that one broken character becomes one U+FFFD as in every
 * browser).
 */
int32_t utf8_next(struct str s, size_t *at);

/* Writes 1..4 bytes and returns how many. `c` must be a scalar value. */
size_t utf8_encode(uint32_t c, char out[4]);

/* Length of the longest prefix that is valid. */
size_t utf8_valid_prefix(struct str s);
bool   utf8_valid(struct str s);

/* Copies, turning each broken part into U+FFFD. */
void utf8_repair(struct buf *out, struct str s);

/* Whether a text on one line has a blank instead: white space, line and paragraph
 * separators, control characters. */
bool utf8_is_blank(int32_t c);

/* Whether one of the ranges, which are sorted and do not overlap, holds `c`. */
struct utf8_range {
	uint32_t first, last;
};
bool utf8_in(const struct utf8_range *table, size_t count, uint32_t c);

/* Columns a code point takes on a terminal: 0 for combining marks, 2 for wide
 * East Asian and emoji, else 1. Control characters count 0. */
int utf8_width(uint32_t c);

/* Appends the text on one line: blanks of any kind, in a row, become one; what is broken becomes U+FFFD; what is
 * wider than `columns` ends with '…'. Looks no further than it takes. Returns the columns used. */
int utf8_line(struct buf *out, struct str s, int columns);

#endif
