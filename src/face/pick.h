/*
 * The parts of 'arbor pick': what it asks for (pick_ask.c), how it looks (pick_draw.c), what keys
 * do (pick.c).
 */
#ifndef ARBOR_FACE_PICK_H
#define ARBOR_FACE_PICK_H

#include "face/edit.h"
#include "face/face.h"
#include "face/marked.h"

/* ---- Answers (pick_ask.c) --------------------------------------------------------- */

/* Something that can be chosen: a session, or what was found in one. Texts are filtered where it
 * says so. */
struct pick_row {
	struct str session; /* its id */
	struct str hit;	    /* id of what was found; empty = a session */
	struct str project; /* as it is */
	struct str folder;  /* its end, filtered */
	struct str title;   /* filtered */
	struct str in;	    /* which part of a conversation was found, filtered */
	struct str branch;  /* of git, filtered */
	int64_t at;	    /* 0 = unknown */
	int64_t messages;   /* 0 = unknown */
	struct str snippet; /* as it is, and its marks */
	struct marks marks;
	struct marked line; /* what stands behind the title: the snippet; empty = nothing */
	int more;	    /* hits in the same session that have no row */
};

struct pick_answer {
	struct arena mem;
	struct pick_row *rows; /* their texts are in `mem` */
	size_t count, room;
	size_t items; /* that were given: rows, and hits that have none */
	bool is_cut;  /* there are more sessions than were asked for, or more hits than were looked at */
};

void pick_answer_release(struct pick_answer *a);

struct pick_question {
	struct str words;   /* empty = the sessions last touched */
	struct str project; /* p NULL = of all */
	bool every_hit;	    /* not only the best of each session */
	bool is_typed;	    /* the last word may be unfinished */
	bool is_whole;	    /* sessions are counted, not the hits in them: it may take longer */
	size_t most;
	/* Asked now and then: whether somebody waits for something else; may be NULL. */
	bool (*is_stale)(void *ctx);
	void *ctx;
};

/* STATUS_NOT_FOUND with a sentence when there is nothing, STATUS_CANCELLED when it is stale; *out
 * is then as it was. */
enum status pick_ask(struct face *f, const struct pick_question *q, struct pick_answer *out,
		     struct err *err) MUST_USE;

/* Appends what is looked for when this was typed. */
void pick_words(struct str typed, struct buf *out);

enum { PREVIEW_PARAGRAPHS = 64 };

struct pick_paragraph {
	enum style style;
	bool is_item; /* of a list: has a dot in front */
	struct marked text;
};

/* What is shown of a row. */
struct pick_preview {
	struct arena mem;
	struct str of; /* the row's hit or session; empty = of none */
	struct pick_paragraph list[PREVIEW_PARAGRAPHS];
	size_t head; /* so many stand first, a line each, and do not move */
	size_t count;
};

void pick_preview_release(struct pick_preview *p);

/* What is already known of the row is shown also when this fails. */
enum status pick_preview(struct face *f, const struct pick_row *row, const struct pick_question *q,
			 struct pick_preview *out, struct err *err) MUST_USE;

/* ---- The picture (pick_draw.c) ---------------------------------------------------- */

/* A list of which some rows are seen, one of them the current one. */
struct pick_window {
	size_t count, at, top;
};

void pick_window_move(struct pick_window *w, int64_t by);
void pick_window_fit(struct pick_window *w, size_t rows);

struct pick_area {
	int row, column, rows, columns;
};

/* Where things stand; what has no room has no rows. */
struct pick_layout {
	struct pick_area prompt, list, preview, foot;
	bool is_beside; /* the preview stands right of the list, not below */
};

struct pick_layout pick_arrange(int columns, int rows, bool with_preview);

struct pick_picture {
	const struct edit *edit;
	const struct pick_answer *answer;
	struct pick_window *window;
	const struct pick_preview *preview; /* NULL = it is off */
	int *scroll;			    /* lines the preview was moved by */
	struct str message;		    /* filtered; instead of rows; empty = none */
	struct str foot;		    /* filtered */
	int64_t now_ms;
};

void pick_draw(const struct pick_picture *p, struct frame *f);

#endif
