/*
 * The two views that fit every method: a table of a stream's items, and the
 * fields of a single result.
 *
 * On a terminal columns are as wide as what the first rows need, so these are held
 * back until there are HELD_ROWS of them or no more; what comes later is cut to
 * those widths. The column that stretches stands last and takes what is left: two fifths of the screen at
 * least, for which wide texts beside it are cut. When even that is too wide, columns are left out from the right;
 * so are those in which nothing stands, or nothing but the usual. What names an item is cut last: it is typed again.
 *
 * In a pipe each item is a line, printed as it comes: whole values, a tab between.
 *
 * Where the caller says what there is to see (method->open), the first item has the columns. None
 * matters more than another, so the widest are cut until all fit, and where they do not, each value gets
 * a line. What is NULL is not empty.
 */
#include "face/view.h"

#include "face/text.h"

#include <ctype.h>
#include <string.h>

enum { COLUMNS = LIMIT_SQL_COLUMNS + 1, HELD_ROWS = 200, GAP = 2 };
enum { WIDEST = 32, LEAST_STRETCH = 12, LEAST_TEXT = 16, LEAST_OPEN = 8 };

struct column {
	const struct field *field;
	int width;
	bool left_out;
};

struct table {
	struct column columns[COLUMNS];
	size_t count;
	struct arena mem; /* of the rows held back */
	struct str *rows[HELD_ROWS];
	size_t held;
	bool running; /* widths are decided */
	bool open;    /* columns are what the caller asked for */
	bool upright; /* and there are too many: a line for each value */
};

static const char null_text[] = "NULL";

static void set_columns(struct table *t, const struct field *fields)
{
	const struct field *last = NULL;

	for (const struct field *f = fields; f && f->name && t->count < COLUMNS - 1; f++) {
		if (f->flags & FIELD_HIDDEN)
			continue;
		if ((f->flags & FIELD_STRETCH) && !last)
			last = f;
		else
			t->columns[t->count++].field = f;
	}
	if (last)
		t->columns[t->count++].field = last;
}

/* The columns of a table whose first item this is. */
static const struct field *fields_of(struct view *v, const struct json *j)
{
	struct arena *mem = &v->face->mem;
	struct field *fields, *f;

	if (!v->method->open)
		return v->method->fields;
	fields = f = arena_alloc(mem, (json_count(j, json_root(j)) + 1) * sizeof *fields);
	for (uint32_t k = json_first(j, 0); k != json_end(j, 0); k = json_next(j, k + 1), f++) {
		struct buf title CLEANUP(buf_release) = BUF_INIT(MIB);

		f->name = arena_cstr(mem, json_string_in(j, k, mem));
		term_filter(&title, str_of(f->name), TERM_LINE);
		f->title = arena_cstr(mem, buf_as_str(&title));
		f->type = json_is(j, k + 1, JSON_NUMBER) ? VALUE_INT : VALUE_TEXT;
	}
	return fields;
}

static bool is_number(const struct field *f)
{
	return !(f->flags & FIELD_LIST) && (f->type == VALUE_INT || f->type == VALUE_BYTES);
}

static void print_title(struct buf *out, const struct table *t, const struct field *f)
{
	if (t->open) { /* as the caller wrote it */
		buf_text(out, f->title);
		return;
	}
	for (const char *c = f->title ? f->title : f->name; *c; c++)
		buf_byte(out, (char)(*c == '_' ? ' ' : toupper((unsigned char)*c)));
}

/* ---- Widths ----------------------------------------------------------------- */

/* A cell without bytes at all is NULL. */
static int cell_width(struct str cell)
{
	return cell.p ? text_width(cell) : (int)strlen(null_text);
}

/* Whether all rows are known, and a column has nothing to tell apart. */
static bool is_usual(const struct table *t, size_t column)
{
	const char *usual = t->columns[column].field->usual;

	if (!usual || t->held == HELD_ROWS)
		return false;
	for (size_t r = 0; r < t->held; r++)
		if (!str_eq(t->rows[r][column], str_of(usual)))
			return false;
	return true;
}

static void natural_widths(struct table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct column *c = &t->columns[i];
		struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
		int widest = 0;

		print_title(&title, t, c->field);
		c->width = text_width(buf_as_str(&title));
		for (size_t r = 0; r < t->held; r++) {
			int width = cell_width(t->rows[r][i]);

			widest = width > widest ? width : widest;
		}
		c->width = widest > c->width ? widest : c->width;
		c->left_out = (!widest && (c->field->flags & FIELD_OPTIONAL)) || is_usual(t, i);
		if (!t->open && !(c->field->flags & (FIELD_STRETCH | FIELD_KEY)) && c->width > WIDEST)
			c->width = WIDEST;
	}
}

static int total_width(const struct table *t)
{
	int total = -GAP;

	for (size_t i = 0; i < t->count; i++)
		if (!t->columns[i].left_out)
			total += t->columns[i].width + GAP;
	return total;
}

/* Cuts the widest columns, as far as that makes sense. */
static void share_width(struct table *t, int columns)
{
	for (;;) {
		struct column *widest = t->columns;

		for (size_t i = 1; i < t->count; i++)
			if (t->columns[i].width > widest->width)
				widest = &t->columns[i];
		if (widest->width <= LEAST_OPEN || total_width(t) <= columns)
			return;
		if (widest->width > columns)
			widest->width = columns;
		else
			widest->width--;
	}
}

static bool is_text(const struct column *c)
{
	return !c->left_out && (c->field->type == VALUE_TEXT || c->field->type == VALUE_PATH) &&
	       !(c->field->flags & (FIELD_KEY | FIELD_STRETCH));
}

/* Texts beside the column that stretches give what it lacks, the widest first. */
static void make_room(struct table *t, int columns)
{
	struct column *last = &t->columns[t->count - 1];
	int wanted = columns * 2 / 5 < last->width ? columns * 2 / 5 : last->width;
	int lacking = total_width(t) - last->width + wanted - columns;

	for (; lacking > 0; lacking--) {
		struct column *widest = NULL;

		for (size_t i = 0; i < t->count; i++)
			if (is_text(&t->columns[i]) && (!widest || t->columns[i].width > widest->width))
				widest = &t->columns[i];
		if (!widest || widest->width <= LEAST_TEXT)
			return;
		widest->width--;
	}
}

static void fit(struct table *t, int columns)
{
	struct column *last = &t->columns[t->count - 1];
	int over;

	natural_widths(t);
	for (size_t i = 0; i + 1 < t->count; i++)
		if ((t->columns[i].field->flags & FIELD_KEY) && t->columns[i].width > columns - LEAST_STRETCH - GAP)
			t->columns[i].width = columns - LEAST_STRETCH - GAP;
	if (t->open) {
		share_width(t, columns);
		t->upright = total_width(t) > columns;
	}
	if (last->field->flags & FIELD_STRETCH)
		make_room(t, columns);
	over = total_width(t) - columns;
	if (over > 0 && (last->field->flags & FIELD_STRETCH)) {
		int width = last->width - over;
		int least = last->width < LEAST_STRETCH ? last->width : LEAST_STRETCH;

		last->width = width > least ? width : least;
	}
	/* The first column names the item and the last says most. */
	for (size_t i = t->count - 1; i-- > 1 && total_width(t) > columns;)
		t->columns[i].left_out = true;
	over = columns - total_width(t);
	if (over > 0 && (last->field->flags & FIELD_STRETCH))
		last->width += over;
}

/* ---- Rows ------------------------------------------------------------------- */

/* Text that may be many things and is a path: its name is what tells it from others. */
static bool is_absolute(struct str text)
{
	return str_has_prefix(text, STR("/")) && str_find(text, ' ') == SIZE_MAX;
}

static void print_cell(struct view *v, const struct column *c, struct str text, bool is_last, bool header)
{
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	const struct table *t = v->state;
	bool dim = header || !text.n;
	int room;

	if (!text.p)
		text = str_of(null_text);
	text_cut(&cut, text.n || header || t->open ? text : STR("-"), c->width,
		 c->field->type == VALUE_PATH || is_absolute(text));
	room = c->width - text_width(buf_as_str(&cut));
	if (is_number(c->field))
		out_pad(v->out, room);
	out_styled(v->out, dim ? STYLE_DIM : view_style(c->field), buf_as_str(&cut));
	if (!is_last && !is_number(c->field))
		out_pad(v->out, room);
	out_text(v->out, is_last ? "\n" : "  ");
}

static void print_upright(struct view *v, const struct str *cells)
{
	const struct table *t = v->state;

	for (size_t i = 0; i < t->count; i++) {
		const struct field *f = t->columns[i].field;

		out_styled(v->out, STYLE_DIM, str_of(f->title));
		out_text(v->out, ": ");
		out_styled(v->out, cells[i].p ? view_style(f) : STYLE_DIM, cells[i].p ? cells[i] : str_of(null_text));
		out_text(v->out, "\n");
	}
	out_text(v->out, "\n");
}

static void print_row(struct view *v, const struct str *cells, bool header)
{
	struct table *t = v->state;

	size_t last = t->count - 1;

	if (t->upright && !header)
		print_upright(v, cells);
	if (t->upright)
		return;
	while (last > 0 && t->columns[last].left_out)
		last--;
	for (size_t i = 0; i <= last; i++)
		if (!t->columns[i].left_out)
			print_cell(v, &t->columns[i], cells[i], i == last, header);
}

static void print_header(struct view *v)
{
	struct table *t = v->state;
	struct str titles[COLUMNS] = { 0 };

	for (size_t i = 0; i < t->count; i++) {
		struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

		print_title(&title, t, t->columns[i].field);
		titles[i] = arena_str(&t->mem, buf_as_str(&title));
	}
	print_row(v, titles, true);
}

/* Of which only the end is shown. */
static bool is_short_path(const struct field *f)
{
	return f->type == VALUE_PATH && (f->flags & FIELD_SHORT);
}

/* Folders that are called alike are told apart by more of their paths, which are known whole until here. */
static void shorten_paths(struct table *t, size_t column)
{
	struct str all[HELD_ROWS];

	for (size_t i = 0; i < t->held; i++)
		all[i] = t->rows[i][column];
	for (size_t i = 0; i < t->held; i++)
		if (all[i].n)
			t->rows[i][column] = text_distinct_folders(all[i], all, t->held);
}

static void print_held(struct view *v)
{
	struct table *t = v->state;

	if (t->running || !t->held)
		return;
	for (size_t i = 0; i < t->count; i++)
		if (is_short_path(t->columns[i].field))
			shorten_paths(t, i);
	fit(t, v->out->columns);
	t->running = true;
	print_header(v);
	for (size_t i = 0; i < t->held; i++)
		print_row(v, t->rows[i], false);
	arena_release(&t->mem);
}

static bool is_null(struct view *v, const struct json *j, const struct field *f)
{
	return v->method->open && json_is(j, json_get(j, json_root(j), str_of(f->name)), JSON_NULL);
}

static struct str *make_row(struct view *v, const struct json *j, struct arena *mem, bool held)
{
	struct table *t = v->state;
	struct str *row = arena_alloc(mem, t->count * sizeof *row);

	for (size_t i = 0; i < t->count; i++) {
		struct buf cell CLEANUP(buf_release) = BUF_INIT(64 * MIB);

		/* What somebody attached to it has no column of its own, since few have any. */
		if ((t->columns[i].field->flags & FIELD_STRETCH) && !t->open)
			view_attached(v, &cell, j, "", true);
		buf_text(&cell, cell.n ? "  " : "");
		if (held && is_short_path(t->columns[i].field))
			term_filter(&cell, view_path(v, j, json_root(j), t->columns[i].field->name), TERM_LINE);
		else
			view_value(v, &cell, j, json_root(j), t->columns[i].field);
		if (!is_null(v, j, t->columns[i].field))
			row[i] = arena_str(mem, buf_as_str(&cell));
	}
	return row;
}

static void print_tabbed(struct view *v, const struct json *j)
{
	struct table *t = v->state;

	for (size_t i = 0; i < t->count; i++) {
		struct buf cell CLEANUP(buf_release) = BUF_INIT(64 * MIB);

		view_value(v, &cell, j, json_root(j), t->columns[i].field);
		if (is_null(v, j, t->columns[i].field))
			buf_text(&cell, "\\N");
		out_styled(v->out, view_style(t->columns[i].field), buf_as_str(&cell));
		out_text(v->out, i + 1 == t->count ? "\n" : "\t");
	}
}

static void table_item(struct view *v, const struct json *j)
{
	struct table *t = v->state;

	if (!t->count) {
		t->open = v->method->open;
		set_columns(t, fields_of(v, j));
	}
	if (!v->out->terminal) {
		print_tabbed(v, j);
	} else if (t->running) {
		print_row(v, make_row(v, j, &v->mem, false), false);
	} else {
		t->rows[t->held++] = make_row(v, j, &t->mem, true);
		if (t->held == HELD_ROWS)
			print_held(v);
	}
}

static void table_end(struct view *v, enum status status)
{
	struct table *t = v->state;

	(void)status;
	print_held(v);
	arena_release(&t->mem);
}

const struct view_kind view_table = { .state = sizeof(struct table), .item = table_item, .end = table_end };

/* ---- A single result -------------------------------------------------------- */

static int name_width(const struct field *fields)
{
	int width = 0;

	for (const struct field *f = fields; f && f->name; f++) {
		int n = (int)strlen(f->name);

		width = n > width ? n : width;
	}
	return width;
}

static void record_item(struct view *v, const struct json *j)
{
	int width = v->out->terminal ? name_width(v->method->fields) : 0;

	for (const struct field *f = v->method->fields; f && f->name; f++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);

		if (f->flags & FIELD_HIDDEN)
			continue;
		view_value(v, &text, j, json_root(j), f);
		if (!text.n && (f->flags & FIELD_OPTIONAL))
			continue;
		out_styled(v->out, STYLE_DIM, str_of(f->name));
		out_text(v->out, v->out->terminal ? ": " : "\t");
		out_pad(v->out, width - (int)strlen(f->name));
		out_styled(v->out, view_style(f), buf_as_str(&text));
		out_text(v->out, "\n");
	}
}

const struct view_kind view_record = { .item = record_item };
