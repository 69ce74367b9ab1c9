/*
 * How the picker looks: the line that is typed on top, the list below it, the preview beside the
 * list where there is room for both, else below it, and a line that tells counts and keys.
 *
 * Everything follows from the size and from what is to be shown; nothing is remembered but what
 * the window and the preview were moved to. Whatever the size, nothing is drawn outside of it.
 */
#include "face/pick.h"

#include "face/text.h"

enum {
	BESIDE = 110, /* columns from which on the preview has room at the side */
	BELOW = 14,   /* rows from which on it has room below */
	POINTER = 2,  /* columns in front of a row */
	AGE = 4,
	WITH_AGE = 30,	  /* columns of a list from which on it tells the age, */
	WITH_FOLDER = 50, /* and the project */
	READABLE = 100,
	DOT = 2,
};

/* ---- Window ----------------------------------------------------------------------- */

void pick_window_move(struct pick_window *w, int64_t by)
{
	int64_t at = (int64_t)w->at + by;

	if (w->count == 0)
		w->at = 0;
	else
		w->at = at < 0 ? 0 : size_min((size_t)at, w->count - 1);
}

void pick_window_fit(struct pick_window *w, size_t rows)
{
	pick_window_move(w, 0);
	if (w->at < w->top || rows == 0)
		w->top = w->at;
	else if (w->at >= w->top + rows)
		w->top = w->at - rows + 1;
	/* No empty rows while there is something above. */
	if (w->count < w->top + rows)
		w->top = w->count > rows ? w->count - rows : 0;
}

/* ---- Layout ----------------------------------------------------------------------- */

struct pick_layout pick_arrange(int columns, int rows, bool with_preview)
{
	int middle = rows > 3 ? rows - 2 : rows > 1 ? rows - 1 : 0;
	struct pick_layout l = {
		.prompt = { 0, 0, rows > 0, columns },
		.list = { 1, 0, middle, columns },
		.foot = { rows - 1, 0, rows > 3, columns },
	};

	if (with_preview && columns >= BESIDE) {
		l.is_beside = true;
		l.list.columns = columns / 2 - 1;
		l.preview = (struct pick_area){ 1, columns / 2 + 2, middle, columns - columns / 2 - 2 };
	} else if (with_preview && rows >= BELOW) {
		l.list.rows = middle / 2;
		l.preview = (struct pick_area){ 1 + l.list.rows + 1, 0, middle - l.list.rows - 1, columns };
	}
	return l;
}

/* ---- List ------------------------------------------------------------------------- */

static void draw_folder(struct pen *p, const struct pick_row *row, int columns, enum style style)
{
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	int width;

	text_cut(&cut, row->folder, columns, true);
	width = text_width(buf_as_str(&cut));
	pen_text(p, style, buf_as_str(&cut));
	pen_skip(p, columns - width + 2);
}

/* Where the part begins that is seen: at the front, unless what was found would not be seen then. */
static size_t first_seen(const struct marked *line, int columns)
{
	struct str front;

	if (!line->marks.count || text_width(str_sub(line->text, 0, line->marks.list[0].end)) < columns)
		return 0;
	front = str_sub(line->text, 0, line->marks.list[0].start);
	return front.n - text_end(front, columns / 3).n;
}

static void draw_line(const struct marked *line, enum style style, struct pen *pen)
{
	size_t from = first_seen(line, pen->left), end;

	if (from)
		pen_text(pen, STYLE_DIM, STR("…"));
	end = from + text_start(str_sub(line->text, from, SIZE_MAX), pen->left).n;
	if (end < line->text.n && pen->left > 0)
		end = from + text_start(str_sub(line->text, from, SIZE_MAX), pen->left - 1).n;
	marked_write(line, from, end, pen, style);
	if (end < line->text.n)
		pen_text(pen, STYLE_DIM, STR("…"));
}

/* The title, and behind it what was found: half of the room for each, or what the other does not need. */
static void draw_said(const struct pick_row *row, bool is_current, struct pen *pen)
{
	enum { BETWEEN = 2 };
	int room = pen->left - BETWEEN, title = text_width(row->title), found = text_width(row->line.text);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);

	if (!row->line.text.n) {
		pen_cut(pen, is_current ? STYLE_HEADING : STYLE_PLAIN, row->title);
		return;
	}
	if (title + found > room && title > room / 2)
		title = found < room / 2 ? room - found : room / 2;
	if (title > 0) {
		text_cut(&cut, row->title, title, false);
		pen_text(pen, is_current ? STYLE_HEADING : STYLE_PLAIN, buf_as_str(&cut));
		pen_skip(pen, BETWEEN);
	}
	draw_line(&row->line, STYLE_DIM, pen);
}

static void draw_row(const struct pick_picture *p, const struct pick_row *row, bool is_current,
		     struct pen *pen)
{
	int columns = pen->left;
	char age[LOCAL_TEXT];
	struct str text;

	if (is_current)
		pen_text(pen, STYLE_MARK, STR("> "));
	else
		pen_skip(pen, POINTER);
	if (columns >= WITH_AGE) {
		text = row->at ? str_of(age_text(row->at, p->now_ms, age)) : STR("");
		pen_skip(pen, AGE - text_width(text));
		pen_text(pen, STYLE_DIM, text);
		pen_skip(pen, 2);
	}
	if (columns >= WITH_FOLDER)
		draw_folder(pen, row, columns / 6 < 20 ? columns / 6 : 20, STYLE_NAME);
	draw_said(row, is_current, pen);
}

/* As many lines as it needs and there are. */
static void draw_message(struct frame *f, struct pick_area area, struct str text)
{
	struct str line;

	for (int i = 0;
	     i < area.rows && area.columns > POINTER &&
	     text_wrap(&text, area.columns - POINTER < READABLE ? area.columns - POINTER : READABLE, &line);
	     i++) {
		struct pen pen = frame_pen(f, area.row + i, area.column, area.columns);

		pen_skip(&pen, POINTER);
		pen_text(&pen, STYLE_DIM, line);
	}
}

static void draw_list(const struct pick_picture *p, struct pick_area area, struct frame *f)
{
	struct pick_window *w = p->window;

	w->count = p->answer->count;
	pick_window_fit(w, (size_t)(area.rows > 0 ? area.rows : 0));
	for (int i = 0; i < area.rows && w->top + (size_t)i < w->count; i++) {
		size_t at = w->top + (size_t)i;
		struct pen pen = frame_pen(f, area.row + i, area.column, area.columns);

		draw_row(p, &p->answer->rows[at], at == w->at, &pen);
	}
	if (w->count == 0)
		draw_message(f, area, p->message);
}

/* ---- Preview ---------------------------------------------------------------------- */

/* Writes the lines first.. of what does not stand still into an area; returns how many lines there
 * are in all. *marked becomes the first line with a mark; -1 = none has one. */
static int write_body(const struct pick_preview *p, struct pick_area area, int first, struct frame *f,
		      int *marked)
{
	int lines = 0, columns = area.columns < READABLE ? area.columns : READABLE;

	*marked = -1;
	for (size_t i = p->head; i < p->count; i++) {
		const struct pick_paragraph *q = &p->list[i];
		struct str rest = q->text.text, line;
		int indent = q->is_item && columns > 2 * DOT ? DOT : 0;

		for (; text_wrap(&rest, columns - indent, &line); lines++) {
			size_t from = (size_t)(line.p - q->text.text.p), end = from + line.n;

			if (*marked < 0 && q->text.marks.count && q->text.marks.list[0].start < end)
				*marked = lines;
			if (f && lines >= first && lines < first + area.rows) {
				struct pen pen = frame_pen(f, area.row + lines - first, area.column,
							   area.columns);

				if (indent)
					pen_text(&pen, STYLE_DIM, from ? STR("  ") : STR("• "));
				marked_write(&q->text, from, end, &pen, q->style);
			}
		}
	}
	return lines;
}

/* What was found stands a third down, unless it was moved. */
static void draw_body(const struct pick_picture *p, struct pick_area area, struct frame *f)
{
	int marked, lines = write_body(p->preview, area, 0, NULL, &marked);
	int first = marked > area.rows / 3 ? marked - area.rows / 3 : 0;
	int last = lines > area.rows ? lines - area.rows : 0;

	if (first > last)
		first = last;
	if (*p->scroll > last - first)
		*p->scroll = last - first;
	if (*p->scroll < -first)
		*p->scroll = -first;
	write_body(p->preview, area, first + *p->scroll, f, &marked);
}

static void draw_edge(const struct pick_layout *l, struct frame *f)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);
	struct pen pen;

	for (int i = 0; l->is_beside && i < l->preview.rows; i++) {
		pen = frame_pen(f, l->preview.row + i, l->preview.column - 2, 1);
		pen_text(&pen, STYLE_DIM, STR("│"));
	}
	if (l->is_beside)
		return;
	for (int i = 0; i < l->preview.columns; i++)
		buf_text(&line, "─");
	pen = frame_pen(f, l->preview.row - 1, 0, l->preview.columns);
	pen_text(&pen, STYLE_DIM, buf_as_str(&line));
}

static void draw_preview(const struct pick_picture *p, struct pick_area area, struct frame *f)
{
	for (size_t i = 0; i < p->preview->head && area.rows > 0; i++, area.row++, area.rows--) {
		struct pen pen = frame_pen(f, area.row, area.column, area.columns);

		pen_cut(&pen, p->preview->list[i].style, p->preview->list[i].text.text);
	}
	if (area.rows > 0)
		draw_body(p, area, f);
}

/* ---- All of it -------------------------------------------------------------------- */

static void draw_prompt(const struct pick_picture *p, struct pick_area area, struct frame *f)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct pen pen = frame_pen(f, area.row, area.column, area.columns);

	f->cursor_row = area.row;
	f->cursor_column = POINTER + edit_show(p->edit, area.columns - POINTER, &text);
	if (f->cursor_column >= f->columns)
		f->cursor_column = f->columns > 0 ? f->columns - 1 : 0;
	pen_text(&pen, STYLE_ID, STR("❯ "));
	if (text.n)
		pen_text(&pen, STYLE_PLAIN, buf_as_str(&text));
	else
		pen_cut(&pen, STYLE_DIM, STR("type what was said"));
}

void pick_draw(const struct pick_picture *p, struct frame *f)
{
	struct pick_layout l = pick_arrange(f->columns, f->rows, p->preview != NULL);
	struct pen pen;

	draw_prompt(p, l.prompt, f);
	draw_list(p, l.list, f);
	if (l.preview.rows > 0) {
		draw_edge(&l, f);
		draw_preview(p, l.preview, f);
	}
	if (l.foot.rows > 0) {
		pen = frame_pen(f, l.foot.row, 0, l.foot.columns);
		pen_cut(&pen, STYLE_DIM, p->foot);
	}
}
