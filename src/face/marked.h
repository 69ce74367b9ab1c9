/*
 * Text in which parts stand out: a snippet with what was found in it, or the text it was cut from.
 */
#ifndef ARBOR_FACE_MARKED_H
#define ARBOR_FACE_MARKED_H

#include "base/arena.h"
#include "base/json.h"
#include "face/frame.h"

struct mark {
	size_t start, end;
};

enum { MARKS_MOST = 32 };

/* Sorted, inside the text, none over another. */
struct marks {
	struct mark list[MARKS_MOST];
	size_t count;
};

/* Filtered for a terminal. */
struct marked {
	struct str text;
	struct marks marks;
};

/* The ranges that a hit has; those that are not in `raw` are left out. */
void marks_read(const struct json *j, uint32_t list, struct str raw, struct marks *out);

/* Where a snippet stands in the text it was cut from: blanks may differ, and its ends may have an
 * ellipsis. False when it does not; else *marks are those of the text. */
bool marks_find(struct str text, struct str snippet, const struct marks *of, struct marks *out);

/* TERM_LINE: runs of blanks are one. TERM_TEXT: tabs are blanks. */
struct marked marked_filter(struct arena *mem, struct str raw, const struct marks *marks,
			    enum term_mode mode);

/* Writes the bytes from..end with what of the marks lies in them. */
void marked_write(const struct marked *m, size_t from, size_t end, struct pen *p, enum style style);

#endif
