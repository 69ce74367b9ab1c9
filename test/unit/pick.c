/*
 * The picker's parts that need no terminal: frames, marked text, the window, the layout, and a
 * picture of every size.
 */
#include "face/edit.c"
#include "face/frame.c"
#include "face/marked.c"
#include "face/pick_ask.c"
#include "face/pick_draw.c"
#include "face/text.c"
#include "t.h"

#include <stdio.h>

/* What they need of parts that are not tested here. */
const char *style_code(enum style style, enum palette palette)
{
	static const char *const codes[STYLES] = { [STYLE_MARK] = "31", [STYLE_HEADING] = "1" };

	(void)palette;
	return codes[style] ? codes[style] : "2";
}

enum status face_open_store(void *face, bool make, struct store **out, struct err *err)
{
	(void)face;
	(void)make;
	(void)out;
	return err_fail(err, STATUS_INTERNAL, "there is no store");
}

/* ---- Frames ----------------------------------------------------------------------- */

/* Columns a line takes, our own sequences left out; one that moves to a column does so. */
static int line_width(struct str line)
{
	int width = 0, number = 0;

	for (size_t at = 0; at < line.n;) {
		if (line.p[at] != '\033') {
			width += next_width(line, &at);
			continue;
		}
		for (at += 2, number = 0; line.p[at] >= '0' && line.p[at] <= ';'; at++)
			number = line.p[at] == ';' ? 0 : number * 10 + line.p[at] - '0';
		if (line.p[at++] == 'G')
			width = width > number - 1 ? 10000 : number - 1; /* over what stands there */
	}
	return width;
}

TEST(a_pen_stays_in_its_part_of_a_line)
{
	struct frame f CLEANUP(frame_release) = { 0 };
	struct pen p;

	frame_begin(&f, 10, 2, PALETTE_FEW);
	p = frame_pen(&f, 0, 0, 4);
	pen_text(&p, STYLE_MARK, STR("ab"));
	pen_text(&p, STYLE_PLAIN, STR("cdef"));
	pen_text(&p, STYLE_PLAIN, STR("g"));
	EQS(buf_as_str(&f.lines[0]), STR("\033[31mab\033[0mcd"));
	p = frame_pen(&f, 0, 6, 100);
	pen_cut(&p, STYLE_PLAIN, STR("汉字汉字"));
	EQS(buf_as_str(&f.lines[0]), STR("\033[31mab\033[0mcd\033[7G汉…"));
	p = frame_pen(&f, 1, 0, 3);
	pen_text(&p, STYLE_PLAIN, STR("a汉字b")); /* what is too wide ends it, also when more would fit */
	pen_text(&p, STYLE_PLAIN, STR("x"));
	EQS(buf_as_str(&f.lines[1]), STR("a汉"));
	p = frame_pen(&f, 2, 0, 5);
	pen_text(&p, STYLE_PLAIN, STR("nowhere"));
	pen_skip(&p, 3);
	p = frame_pen(&f, 0, 10, 5);
	pen_text(&p, STYLE_PLAIN, STR("nowhere"));
}

TEST(only_lines_that_changed_are_written)
{
	struct frame a CLEANUP(frame_release) = { 0 }, b CLEANUP(frame_release) = { 0 };
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	frame_begin(&a, 10, 3, PALETTE_NONE);
	frame_begin(&b, 10, 3, PALETTE_NONE);
	buf_text(&a.lines[0], "same");
	buf_text(&b.lines[0], "same");
	buf_text(&a.lines[1], "old");
	buf_text(&b.lines[2], "new");
	frame_write(&b, &a, &out);
	EQS(buf_as_str(&out), STR("\033[?25l\033[2;1H\033[2K\033[3;1H\033[2Knew\033[1;1H\033[?25h"));
	buf_clear(&out);
	frame_write(&a, NULL, &out);
	EQS(buf_as_str(&out),
	    STR("\033[?25l\033[0m\033[2J\033[1;1H\033[2Ksame\033[2;1H\033[2Kold\033[1;1H\033[?25h"));
	buf_clear(&out);
	frame_begin(&b, 9, 3, PALETTE_NONE);
	frame_write(&b, &a, &out); /* another size */
	EQS(buf_as_str(&out), STR("\033[?25l\033[0m\033[2J\033[1;1H\033[?25h"));
}

/* ---- Marked text ------------------------------------------------------------------ */

static const char *show_marked(struct str text, const struct marks *m, char out[256])
{
	size_t n = 0;

	for (size_t i = 0; i <= text.n && n < 250; i++) {
		for (size_t k = 0; k < m->count; k++) {
			if (m->list[k].end == i)
				out[n++] = ']';
			if (m->list[k].start == i)
				out[n++] = '[';
		}
		if (i < text.n)
			out[n++] = text.p[i];
	}
	out[n] = '\0';
	return out;
}

TEST(a_snippet_is_found_in_its_text_whatever_the_blanks)
{
	static const struct {
		const char *text, *snippet, *shown; /* shown NULL = it is not found */
		struct marks marks;
	} cases[] = {
		{ "one two", "one two", "one [two]", { { { 4, 7 } }, 1 } },
		{ "one\n\n  two\tthree",
		  "one two three",
		  "[one]\n\n  two\t[three]",
		  { { { 0, 3 }, { 8, 13 } }, 2 } },
		{ "aaa one two", "…one two…", "aaa [one] two", { { { 3, 6 } }, 1 } },
		{ "on one", "one", "on [one]", { { { 0, 3 } }, 1 } },
		{ "one", "two", NULL, { { { 0, 3 } }, 1 } },
		{ "", "a", NULL, { { { 0, 1 } }, 1 } },
		{ "a", "……", NULL, { .count = 0 } },
		{ "a", "", NULL, { .count = 0 } },
		{ "ab", "abc", NULL, { { { 0, 3 } }, 1 } },
	};
	char out[256];

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str text = str_of(cases[i].text);
		struct marks found = { .count = 0 };
		bool is_found = marks_find(text, str_of(cases[i].snippet), &cases[i].marks, &found);

		EQ(is_found, cases[i].shown != NULL);
		if (is_found && cases[i].shown)
			EQS(str_of(show_marked(text, &found, out)), str_of(cases[i].shown));
	}
}

TEST(filtering_keeps_marks_where_they_were)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct marks marks = { { { 2, 5 }, { 7, 9 } }, 2 };
	struct marked m = marked_filter(&mem, STR("\033 one\n\ttwo"), &marks, TERM_LINE);
	char out[256];

	EQS(str_of(show_marked(m.text, &m.marks, out)), STR("␛ [one] [tw]o"));
	m = marked_filter(&mem, STR("\033 one\n\ttwo\r\n"), &marks, TERM_TEXT);
	EQS(str_of(show_marked(m.text, &m.marks, out)), STR("␛ [one]\n    [tw]o\n"));
}

TEST(marks_that_make_no_sense_are_left_out)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct marks marks;
	struct err err;
	char out[256];

	OK(json_read(&j,
		     STR("[{\"start\":0,\"length\":1},{\"start\":0,\"length\":2},{\"start\":-1,\"length\":9},"
			 "{\"start\":2,\"length\":0},{\"start\":2,\"length\":99},{},7,{\"start\":2,"
			 "\"length\":1}]"),
		     0, &err));
	marks_read(&j, json_root(&j), STR("abcd"), &marks);
	EQS(str_of(show_marked(STR("abcd"), &marks, out)), STR("[a]b[c]d"));
}

TEST(what_is_around_begins_at_a_line_or_near)
{
	char text[3 * AROUND];

	memset(text, 'x', sizeof text);
	EQ(begin_around(str_from(text, sizeof text), AROUND), 0);
	EQ(begin_around(str_from(text, sizeof text), 2 * AROUND), 2 * AROUND - LITTLE);
	text[2 * AROUND - LITTLE - 1] = '\xc3';
	text[2 * AROUND - LITTLE] = '\xa9';
	EQ(begin_around(str_from(text, sizeof text), 2 * AROUND), 2 * AROUND - LITTLE + 1);
	text[AROUND + 5] = '\n';
	EQ(begin_around(str_from(text, sizeof text), 2 * AROUND), AROUND + 6);
}

/* ---- What is looked for ----------------------------------------------------------- */

TEST(the_last_word_may_be_unfinished)
{
	static const struct {
		const char *typed, *words;
	} cases[] = {
		{ "check", "check*" },
		{ "integer cen", "integer cen*" },
		{ "ch", "ch" },
		{ "check ", "check " },
		{ "check*", "check*" },
		{ "\"open phr", "\"open phr" },
		{ "\"a b\" cen", "\"a b\" cen*" },
		{ "role:user", "role:user" },
		{ "one AND", "one AND" },
		{ "one NOT", "one NOT" },
		{ "", "" },
		{ "-wor", "-wor*" },
		{ "été", "été*" },
	};
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	for (size_t i = 0; i < COUNT(cases); i++) {
		buf_clear(&out);
		pick_words(str_of(cases[i].typed), &out);
		EQS(buf_as_str(&out), str_of(cases[i].words));
	}
}

/* ---- Window and layout ------------------------------------------------------------ */

TEST(a_window_follows_the_current_row)
{
	struct pick_window w = { .count = 10 };

	pick_window_move(&w, 4);
	pick_window_fit(&w, 3);
	EQ(w.top, 2);
	pick_window_move(&w, -3);
	pick_window_fit(&w, 3);
	EQ(w.top, 1);
	pick_window_move(&w, 100);
	pick_window_fit(&w, 3);
	EQ(w.at, 9);
	EQ(w.top, 7);
	pick_window_fit(&w, 20); /* the screen has grown */
	EQ(w.top, 0);
	pick_window_fit(&w, 0);
	EQ(w.top, 9);
	pick_window_move(&w, -INT32_MAX);
	EQ(w.at, 0);
	w.count = 0;
	pick_window_move(&w, 5);
	pick_window_fit(&w, 3);
	EQ(w.at, 0);
	EQ(w.top, 0);
}

static bool is_inside(struct pick_area a, int columns, int rows)
{
	return a.rows <= 0 ||
	       (a.row >= 0 && a.column >= 0 && a.row + a.rows <= rows && a.column + a.columns <= columns);
}

TEST(every_size_has_a_layout_in_which_nothing_overlaps)
{
	for (int columns = 0; columns < 240; columns++)
		for (int rows = 0; rows < 60; rows++)
			for (int with = 0; with < 2; with++) {
				struct pick_layout l = pick_arrange(columns, rows, with);
				bool good = is_inside(l.prompt, columns, rows) &&
					    is_inside(l.list, columns, rows) &&
					    is_inside(l.preview, columns, rows) &&
					    is_inside(l.foot, columns, rows);

				good = good && (rows < 2 || l.list.rows > 0) && (with || l.preview.rows <= 0);
				if (l.preview.rows > 0 && l.is_beside)
					good = good && l.preview.column > l.list.columns;
				else if (l.preview.rows > 0)
					good = good && l.preview.row > l.list.row + l.list.rows;
				if (l.foot.rows)
					good = good && l.list.row + l.list.rows <= l.foot.row &&
					       l.preview.row + l.preview.rows <= l.foot.row;
				if (!good)
					t_fail(t, __FILE__, __LINE__, "%dx%d", columns, rows);
			}
	CHECK(pick_arrange(200, 50, true).is_beside);
	CHECK(!pick_arrange(80, 24, true).is_beside);
	CHECK(pick_arrange(80, 24, true).preview.rows > 5);
	EQ(pick_arrange(20, 6, true).preview.rows, 0);
}

/* ---- A picture of every size ------------------------------------------------------ */

static void fill(struct pick_answer *a, struct pick_preview *p)
{
	enum { MANY = 30 };
	struct pick_row *rows = mem_alloc(MANY * sizeof *rows);
	struct marks marks = { { { 40, 45 } }, 1 };
	struct str text = STR(
		"汉字 some words that stand before it and found and behind it more words e\xcc\x81");

	a->rows = rows;
	a->count = MANY;
	for (size_t i = 0; i < MANY; i++) {
		rows[i] = (struct pick_row){ .session = STR("5abf9052-efc9-4b6d-8bd2-b863c3dbcb97"),
					     .hit = STR("h"),
					     .project = STR("/home/dev/webshop"),
					     .folder = STR("webshop"),
					     .title = STR("A title"),
					     .at = 1,
					     .snippet = text,
					     .marks = marks };
		rows[i].line = marked_filter(&a->mem, text, &marks, TERM_LINE);
	}
	add_head(p, &rows[0]);
	for (int i = 0; i < 40; i++)
		add_paragraph(p, STYLE_PLAIN, rows[0].line);
	p->list[p->count - 1].is_item = true;
}

TEST(a_picture_of_any_size_stays_inside)
{
	struct pick_answer answer = { 0 };
	struct pick_preview preview = { 0 };
	struct edit edit = { 0 };
	struct frame f CLEANUP(frame_release) = { 0 };

	fill(&answer, &preview);
	edit_insert(&edit, STR("something 汉字 that is looked for"));
	for (int columns = 0; columns < 230; columns += columns < 40 ? 1 : 13)
		for (int rows = 0; rows < 60; rows += rows < 20 ? 1 : 7) {
			struct pick_window window = { .at = 17 };
			int scroll = rows - 20;
			struct pick_picture p = { .edit = &edit,
						  .answer = &answer,
						  .window = &window,
						  .preview = &preview,
						  .scroll = &scroll,
						  .foot = STR("18/30 sessions  Enter takes"),
						  .now_ms = 1000 };

			frame_begin(&f, columns, rows, PALETTE_FEW);
			pick_draw(&p, &f);
			for (int i = 0; i < rows; i++)
				if (line_width(buf_as_str(&f.lines[i])) > columns)
					t_fail(t, __FILE__, __LINE__, "%dx%d: line %d: '%s'", columns, rows,
					       i, f.lines[i].p);
			CHECK(f.cursor_column < columns || columns == 0);
		}
	pick_answer_release(&answer);
	pick_preview_release(&preview);
}

TEST(what_was_found_is_seen_in_a_narrow_row)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct marks marks = { { { 50, 55 } }, 1 };
	struct str text = STR("a lot of words that stand in front of it, so that found is far behind");
	struct marked line = marked_filter(&mem, text, &marks, TERM_LINE);
	struct frame f CLEANUP(frame_release) = { 0 };
	struct pen pen;

	frame_begin(&f, 30, 1, PALETTE_NONE);
	pen = frame_pen(&f, 0, 0, 30);
	draw_line(&line, STYLE_PLAIN, &pen);
	EQS(buf_as_str(&f.lines[0]), STR("…, so that found is far behind"));
}

TESTS(CASE(a_pen_stays_in_its_part_of_a_line), CASE(only_lines_that_changed_are_written),
      CASE(a_snippet_is_found_in_its_text_whatever_the_blanks), CASE(filtering_keeps_marks_where_they_were),
      CASE(marks_that_make_no_sense_are_left_out), CASE(what_is_around_begins_at_a_line_or_near),
      CASE(the_last_word_may_be_unfinished), CASE(a_window_follows_the_current_row),
      CASE(every_size_has_a_layout_in_which_nothing_overlaps), CASE(a_picture_of_any_size_stays_inside),
      CASE(what_was_found_is_seen_in_a_narrow_row))
