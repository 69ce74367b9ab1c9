/*
 * memory.usage on a terminal: numbers short enough to compare, and bars of what they cost.
 *
 * Everything is held back until the end, because bars are measured by the largest. Where
 * no price is known bars are of tokens. When the screen is narrow, bars go first, then the
 * columns that say least.
 */
#include "face/view.h"

#include "face/chart.h"
#include "face/text.h"

#include <ctype.h>
#include <string.h>

enum { GAP = 2, LEAST_NAME = 10, MOST_NAME = 36, LEAST_BAR = 6, MOST_BAR = 24 };
enum column { MODEL, ANSWERS, INPUT, OUTPUT, WRITTEN, READ, COST, COLUMNS };

static const struct {
	const char *field, *title;
} columns[COLUMNS] = {
	[MODEL] = { "model", "MODEL" },
	[ANSWERS] = { "answers", "ANSWERS" },
	[INPUT] = { "input", "INPUT" },
	[OUTPUT] = { "output", "OUTPUT" },
	[WRITTEN] = { "cache_write", "WRITTEN" },
	[READ] = { "cache_read", "READ" },
	[COST] = { "cost", "COST" },
};

/* What is left out first when there is no room. */
static const enum column expendable[] = { ANSWERS, WRITTEN, INPUT, READ, OUTPUT };

struct row {
	struct str name, title;
	struct str cells[COLUMNS];
	int64_t nano, tokens;
	bool is_total;
};

struct listing {
	struct arena mem;
	struct row *rows;
	size_t count, cap;
	char heading[16];
	int width[COLUMNS];
	int name_width, title_width, bar_width;
};

/* ---- Rows --------------------------------------------------------------------------- */

static struct str safe(struct listing *l, struct str text)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);

	term_filter(&line, text, TERM_LINE);
	return arena_str(&l->mem, buf_as_str(&line));
}

/* Ids and folders as people know them. */
static struct str name_of(struct view *v, struct listing *l, const struct json *j, struct str kind)
{
	enum value_type type = VALUE_TEXT;
	struct buf name CLEANUP(buf_release) = BUF_INIT(MIB);

	if (str_eq(kind, STR("session")))
		type = VALUE_ID;
	if (str_eq(kind, STR("project")))
		type = VALUE_PATH;
	view_value(v, &name, j, json_root(j), &(struct field){ .name = "key", .type = type });
	return arena_str(&l->mem, buf_as_str(&name));
}

static struct row *add_row(struct listing *l)
{
	if (l->count == l->cap) {
		struct row *bigger = arena_alloc(&l->mem,
						 (l->cap = l->cap ? 2 * l->cap : 64) * sizeof *bigger);

		if (l->count)
			memcpy(bigger, l->rows, l->count * sizeof *bigger);
		l->rows = bigger;
	}
	return &l->rows[l->count++];
}

static struct str cell_of(struct view *v, struct listing *l, const struct json *j, enum column c)
{
	int64_t n = view_int(j, 0, columns[c].field);
	char number[COUNT_TEXT];

	if (c == MODEL || c == COST)
		return safe(l, view_text(v, j, 0, columns[c].field));
	if (c == ANSWERS)
		return arena_printf(&l->mem, "%" PRId64, n);
	return arena_str(&l->mem, str_of(count_text(n, number)));
}

static void usage_item(struct view *v, const struct json *j)
{
	struct listing *l = v->state;
	struct str kind = view_text(v, j, 0, "kind");
	struct row *row = add_row(l);

	row->is_total = str_eq(kind, STR("total"));
	row->name = name_of(v, l, j, kind);
	row->title = safe(l, view_text(v, j, 0, "title"));
	row->nano = view_int(j, 0, "nanodollars");
	row->tokens = view_int(j, 0, "tokens");
	if (l->count == 1)
		for (size_t i = 0; i < kind.n && i + 1 < sizeof l->heading; i++)
			l->heading[i] = (char)toupper((unsigned char)kind.p[i]);
	for (int c = 0; c < COLUMNS; c++)
		row->cells[c] = cell_of(v, l, j, (enum column)c);
}

/* ---- Widths -------------------------------------------------------------------------- */

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static void natural_widths(struct listing *l)
{
	bool modelled = false;

	l->name_width = text_width(str_of(l->heading));
	for (int c = 0; c < COLUMNS; c++)
		l->width[c] = text_width(str_of(columns[c].title));
	for (const struct row *row = l->rows; row < l->rows + l->count; row++) {
		l->name_width = larger(l->name_width, text_width(row->name));
		l->title_width = larger(l->title_width, text_width(row->title));
		modelled |= row->cells[MODEL].n > 0;
		for (int c = 0; c < COLUMNS; c++)
			l->width[c] = larger(l->width[c], text_width(row->cells[c]));
	}
	if (!modelled)
		l->width[MODEL] = 0;
	if (l->name_width > MOST_NAME)
		l->name_width = MOST_NAME;
}

static int used(const struct listing *l)
{
	int total = l->name_width;

	for (int c = 0; c < COLUMNS; c++)
		total += l->width[c] ? l->width[c] + GAP : 0;
	return total;
}

static void fit(struct listing *l, int screen)
{
	int room;

	natural_widths(l);
	if (used(l) > screen)
		l->name_width = larger(LEAST_NAME, l->name_width - (used(l) - screen));
	for (size_t i = 0; i < COUNT(expendable) && used(l) > screen; i++)
		l->width[expendable[i]] = 0;
	if (used(l) > screen && l->width[MODEL])
		l->width[MODEL] = larger(LEAST_NAME, l->width[MODEL] - (used(l) - screen));
	room = screen - used(l) - GAP;
	/* A title says more than a bar. */
	if (l->title_width)
		l->title_width = room < LEAST_NAME ? 0 : room;
	else
		l->bar_width = room < LEAST_BAR ? 0 : room > MOST_BAR ? MOST_BAR : room;
}

/* ---- Printing ------------------------------------------------------------------------ */

static void print_cut(struct view *v, struct str text, int width, bool right, enum style style)
{
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	bool is_path = text.n && (text.p[0] == '/' || text.p[0] == '~');
	int room;

	text_cut(&cut, text, width, is_path);
	room = width - text_width(buf_as_str(&cut));
	if (right)
		out_pad(v->out, room);
	out_styled(v->out, style, buf_as_str(&cut));
	if (!right)
		out_pad(v->out, room);
}

static void print_cells(struct view *v, const struct listing *l, const struct str cells[COLUMNS],
			enum style style)
{
	for (int c = 0; c < COLUMNS; c++) {
		if (!l->width[c])
			continue;
		out_pad(v->out, GAP);
		print_cut(v, cells[c], l->width[c], c != MODEL, style);
	}
}

static void print_header(struct view *v, const struct listing *l)
{
	struct str titles[COLUMNS];

	for (int c = 0; c < COLUMNS; c++)
		titles[c] = str_of(columns[c].title);
	print_cut(v, str_of(l->heading), l->name_width, false, STYLE_DIM);
	print_cells(v, l, titles, STYLE_DIM);
	out_text(v->out, "\n");
}

static void print_row(struct view *v, const struct listing *l, const struct row *row, int64_t most,
		      bool by_cost)
{
	struct buf end CLEANUP(buf_release) = BUF_INIT(MIB);

	print_cut(v, row->name, l->name_width, false, row->is_total ? STYLE_HEADING : STYLE_ID);
	print_cells(v, l, row->cells, row->is_total ? STYLE_HEADING : STYLE_PLAIN);
	if (l->title_width)
		text_cut(&end, row->title, l->title_width, false);
	else if (!row->is_total)
		chart_bar(&end, by_cost ? row->nano : row->tokens, most, l->bar_width);
	if (end.n) {
		out_pad(v->out, GAP);
		out_styled(v->out, l->title_width ? STYLE_PLAIN : STYLE_NAME, buf_as_str(&end));
	}
	out_text(v->out, "\n");
}

static void usage_end(struct view *v, enum status status)
{
	struct listing *l = v->state;
	int64_t dearest = 0, most = 0;

	(void)status;
	for (const struct row *row = l->rows; row < l->rows + l->count; row++) {
		if (row->is_total)
			continue;
		dearest = row->nano > dearest ? row->nano : dearest;
		most = row->tokens > most ? row->tokens : most;
	}
	if (l->count) {
		fit(l, v->out->columns);
		print_header(v, l);
	}
	for (const struct row *row = l->rows; row < l->rows + l->count; row++)
		print_row(v, l, row, dearest ? dearest : most, dearest > 0);
	arena_release(&l->mem);
}

const struct view_kind view_usage = {
	.method = "memory.usage",
	.terminal_only = true,
	.state = sizeof(struct listing),
	.item = usage_item,
	.end = usage_end,
};
