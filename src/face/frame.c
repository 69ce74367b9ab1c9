/*
 * Frames and pens.
 *
 * A part of a line is begun by moving the cursor to its column and not by blanks: a terminal may
 * find a text narrower or wider than we do (joined emoji), and what stands beside it stays where
 * it belongs. Lines that changed are erased and written in one piece, so nothing flickers.
 *
 * Invariant: a line takes at most `columns` columns, by the widths of base/utf8.h.
 */
#include "face/frame.h"

#include "face/text.h"

/* No terminal is larger; what says so is mistaken. */
enum { MOST_COLUMNS = 2000, MOST_ROWS = 1000 };

static int bounded(int n, int most)
{
	return n < 0 ? 0 : n > most ? most : n;
}

void frame_begin(struct frame *f, int columns, int rows, enum palette colour)
{
	frame_release(f);
	*f = (struct frame){ .columns = bounded(columns, MOST_COLUMNS),
			     .rows = bounded(rows, MOST_ROWS),
			     .colour = colour };
	f->lines = mem_alloc((size_t)f->rows * sizeof *f->lines);
	for (int i = 0; i < f->rows; i++)
		buf_init(&f->lines[i], MIB);
}

void frame_release(struct frame *f)
{
	for (int i = 0; i < f->rows && f->lines; i++)
		buf_release(&f->lines[i]);
	mem_free(f->lines);
	*f = (struct frame){ 0 };
}

void frame_write(const struct frame *now, const struct frame *before, struct buf *out)
{
	bool all = !before || before->columns != now->columns || before->rows != now->rows;

	buf_text(out, all ? "\033[?25l\033[0m\033[2J" : "\033[?25l");
	for (int i = 0; i < now->rows; i++) {
		struct str line = buf_as_str(&now->lines[i]);

		if (all ? line.n == 0 : str_eq(line, buf_as_str(&before->lines[i])))
			continue;
		buf_printf(out, "\033[%d;1H\033[2K", i + 1);
		buf_str(out, line);
	}
	buf_printf(out, "\033[%d;%dH\033[?25h", now->cursor_row + 1, now->cursor_column + 1);
}

struct pen frame_pen(struct frame *f, int row, int column, int columns)
{
	struct pen p = { .colour = f->colour };

	if (row < 0 || row >= f->rows || column < 0 || column >= f->columns)
		return p;
	p.out = &f->lines[row];
	p.left = bounded(columns, f->columns - column);
	if (column && p.left)
		buf_printf(p.out, "\033[%dG", column + 1);
	return p;
}

void pen_text(struct pen *p, enum style style, struct str safe)
{
	struct str fits = text_start(safe, p->left);
	bool styled = p->colour && style != STYLE_PLAIN;

	if (!p->out || !fits.n)
		return;
	if (styled)
		buf_printf(p->out, "\033[%sm", style_code(style, p->colour));
	buf_str(p->out, fits);
	if (styled)
		buf_text(p->out, "\033[0m");
	p->left -= text_width(fits);
	if (fits.n < safe.n)
		p->left = 0; /* what is wider than the rest ends the line */
}

void pen_cut(struct pen *p, enum style style, struct str safe)
{
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);

	text_cut(&cut, safe, p->left, false);
	pen_text(p, style, buf_as_str(&cut));
}

void pen_skip(struct pen *p, int columns)
{
	columns = bounded(columns, p->left);
	if (p->out && columns)
		buf_printf(p->out, "%*s", columns, "");
	p->left -= columns;
}
