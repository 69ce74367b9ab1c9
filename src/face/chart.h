/*
 * Numbers to look at: bars, a line of columns, shades. All of it is text of one column a
 * character.
 */
#ifndef ARBOR_FACE_CHART_H
#define ARBOR_FACE_CHART_H

#include "base/buf.h"

/* 950, 12.3k, 4.56M, 789M: never more than five characters up to a million million. */
enum { COUNT_TEXT = 24 };
const char *count_text(int64_t n, char out[COUNT_TEXT]);

/* A bar as long as `value` is of `most`, at most so many columns; what is not nothing is
 * seen. */
void chart_bar(struct buf *out, int64_t value, int64_t most, int columns);

/* ▁▃█ for each value; a blank for nothing. */
void chart_line(struct buf *out, const int64_t *values, size_t count);

/* One of five shades; '·' for nothing. */
const char *chart_shade(int64_t value, int64_t most);

#endif
