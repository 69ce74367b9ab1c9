/*
 * What a whole screen shows: lines of text with colours, and where the cursor is. Drawing fills
 * one from nothing; frame_write() then finds what is different from the one before.
 */
#ifndef ARBOR_FACE_FRAME_H
#define ARBOR_FACE_FRAME_H

#include "face/out.h"

struct frame {
	int columns, rows;
	enum palette colour;
	struct buf *lines;	       /* as they are written: filtered, with our own sequences */
	int cursor_row, cursor_column; /* from 0 */
};

void frame_begin(struct frame *f, int columns, int rows, enum palette colour);
void frame_release(struct frame *f);

/* Appends what turns the terminal from `before` into `now`; NULL, or another size: all of it. */
void frame_write(const struct frame *now, const struct frame *before, struct buf *out);

/* Writes from left to right into a part of a line, and never over its end. */
struct pen {
	struct buf *out; /* NULL = there is no such line */
	int left;	 /* columns */
	enum palette colour;
};

/* Pens of one line are used one after the other, from left to right. */
struct pen frame_pen(struct frame *f, int row, int column, int columns);

void pen_text(struct pen *p, enum style style, struct str safe); /* ours, or filtered; one line */
void pen_cut(struct pen *p, enum style style, struct str safe);	 /* with '…' when it is wider */
void pen_skip(struct pen *p, int columns);

#endif
