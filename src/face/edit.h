/*
 * A line that is being typed: UTF-8, and where the cursor stands in it.
 */
#ifndef ARBOR_FACE_EDIT_H
#define ARBOR_FACE_EDIT_H

#include "base/buf.h"

enum { EDIT_MOST = 1024 };

struct edit {
	char text[EDIT_MOST];
	size_t n;
	size_t at; /* bytes before the cursor: always between characters */
};

struct str edit_text(const struct edit *e);

/* Each says whether the text has changed. What does not fit is not inserted. */
bool edit_insert(struct edit *e, struct str text);
bool edit_backspace(struct edit *e);
bool edit_delete(struct edit *e);
bool edit_kill_line(struct edit *e); /* what stands before the cursor */
bool edit_kill_word(struct edit *e);
/* These move the cursor alone. */
bool edit_left(struct edit *e);
bool edit_right(struct edit *e);
bool edit_start(struct edit *e);
bool edit_end(struct edit *e);

/* Appends what of it is seen in so many columns, filtered for a terminal, and returns in which of
 * them the cursor stands. */
int edit_show(const struct edit *e, int columns, struct buf *out);

#endif
