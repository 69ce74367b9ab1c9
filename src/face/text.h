/*
 * Text on a terminal: how wide it is, how it is cut and wrapped, how numbers and
 * times read. All of it works on text that has been through base/term.h.
 */
#ifndef ARBOR_FACE_TEXT_H
#define ARBOR_FACE_TEXT_H

#include "base/buf.h"

int text_width(struct str text);

/* The longest beginning, and the longest end, that is at most so wide. */
struct str text_start(struct str text, int columns);
struct str text_end(struct str text, int columns);

/* Appends the text, cut with '…' when it is wider: at its end; of a path the folders in front,
 * so that the name stays. */
void text_cut(struct buf *out, struct str text, int columns, bool is_path);

/* The end of a path that says which folder it is: its last part, or more when that is a number
 * or hardly a word. */
struct str text_last_folders(struct str path);

/* So too, with as many folders more as tell it from the others, some of which may be the same path. */
struct str text_distinct_folders(struct str path, const struct str *others, size_t count);

/* Takes the next line that is at most so wide from *text: up to a line end, else
 * up to a blank where there is one. 0 columns = no limit. False at the end. */
bool text_wrap(struct str *text, int columns, struct str *line);

/* Appends the text with tabs as blanks up to the next multiple of eight. */
void text_expand(struct buf *out, struct str text);

enum { SIZE_TEXT = 24 };
const char *size_text(int64_t bytes, char out[SIZE_TEXT]); /* 12.3 MB */

enum { LOCAL_TEXT = 24 };
const char *local_time_text(int64_t ms, char out[LOCAL_TEXT]); /* 2026-11-15 18:18 */
const char *clock_text(int64_t ms, char out[LOCAL_TEXT]); /* 18:18:33 */

/* As 'ls' has it: Nov 15 18:18, or the year where it is not near to now. */
const char *short_time_text(int64_t ms, int64_t now_ms, char out[LOCAL_TEXT]);

/* How long ago, in at most four columns: now, 5m, 3h, 2d, 6w, 7mo, 2y. */
const char *age_text(int64_t ms, int64_t now_ms, char out[LOCAL_TEXT]);

#endif
