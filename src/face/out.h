/*
 * Where everything that is printed goes.
 *
 * Data goes to standard output through the out_*() functions: directly, or on a
 * terminal through a pager once it is longer than the screen. A failed write is
 * remembered and found by out_check(). Everything else goes to standard error
 * through say*(). Foreign text goes through base/term.h in both, whether there is
 * a terminal or not: a control character must not break a line either.
 */
#ifndef ARBOR_FACE_OUT_H
#define ARBOR_FACE_OUT_H

#include "base/err.h"
#include "base/term.h"
#include "face/pager.h"

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Which colours there are: the eight of every terminal, which look as its owner likes, or 256 that look the same
 * everywhere. */
enum palette { PALETTE_NONE, PALETTE_FEW, PALETTE_MANY };

/* What stands out, and how: see the table in out.c. */
enum style {
	STYLE_PLAIN,
	STYLE_ID,
	STYLE_DIM,
	STYLE_HEADING,
	STYLE_USER,
	STYLE_ASSISTANT,
	STYLE_NAME,
	STYLE_MARK,
	STYLE_ERROR,
	STYLES
};

/* One line on a terminal's standard error that says how far something is. */
struct progress {
	const char *what; /* is done just now; NULL = nothing reported yet */
	int64_t begun_ns;
	int64_t appears_ns; /* not before: most things are done by then */
	int64_t first;	  /* bytes done already when it began */
	int64_t drawn_ns;
	bool shown;
};

struct out {
	bool terminal;	   /* standard output is one */
	bool err_terminal; /* so is standard error, and lines can be redrawn there */
	enum palette colour;
	enum palette tty_colour; /* the same for what is drawn on the terminal itself, wherever standard output goes */
	bool quiet;
	int columns; /* of the terminal; 0 = there is none: nothing is cut or wrapped */
	int rows;
	bool may_page;
	struct buf held; /* not written yet */
	int held_rows;	 /* lines it takes on the screen */
	int held_column;
	bool in_escape; /* a colour sequence is being counted */
	struct pager pager;
	void (*on_pager)(void); /* called when it starts; may be NULL */
	int error;		/* errno of the first write that failed */
	bool closed;		/* the pager was left: nobody reads on */
	struct progress progress;
};

/* Some terminals do no more than show characters. */
bool terminal_is_able(void);
void terminal_size(int fd, int *columns, int *rows);

/* What stands between "ESC [" and "m". */
const char *style_code(enum style style, enum palette palette);

void out_init(struct out *o, enum colour colour, bool may_page, bool quiet);

void out_str(struct out *o, struct str safe); /* ours, or filtered already */
void out_text(struct out *o, const char *ours);
void out_printf(struct out *o, const char *format, ...) ATTR_PRINTF(2, 3);
void out_foreign(struct out *o, struct str text, enum term_mode mode);
void out_raw(struct out *o, struct str bytes); /* never to a terminal */
void out_pad(struct out *o, int columns);

/* Between these two text stands out; nothing is printed where there is no colour. */
void out_style(struct out *o, enum style style);
void out_plain(struct out *o);
void out_styled(struct out *o, enum style style, struct str safe);

/* STATUS_CANCELLED when nobody reads on, else what failed. */
enum status out_check(const struct out *o, struct err *err) MUST_USE;

/* Writes what is held, so that it stands above what is said next. */
void out_flush(struct out *o);

/* The same, and waits for the pager. */
enum status out_end(struct out *o, struct err *err) MUST_USE;

/* ---- Standard error -------------------------------------------------------- */

void say(struct out *o, const char *format, ...) ATTR_PRINTF(2, 3); /* ours */
void say_foreign(struct out *o, const char *front, struct str text);
void say_dim(struct out *o, struct str ours);
void say_error(struct out *o, const struct err *err);

/* ---- Progress (progress.c) ------------------------------------------------- */

/* Bytes of what is done, "reading" say; total 0 = unknown. */
void progress_report(struct out *o, const char *what, int64_t done, int64_t total);
void progress_erase(struct out *o);

#endif
