/*
 * Headings of sessions between items. Items come sorted by session; a heading stands where
 * it changes.
 */
#include "face/group.h"

#include "face/text.h"

static void add_part(struct view *v, struct buf *out, const struct json *j, const char *name,
		     enum value_type type)
{
	size_t before = out->n;

	buf_text(out, "  ");
	view_short(v, out, j, name, type);
	if (out->n == before + 2)
		out->n = before;
}

/* Of a long one the end, which says most; nothing where there is no room. Returns the columns it takes. */
static int add_end(struct buf *out, struct str text, int columns)
{
	enum { LEAST = 5 };
	bool is_long = text_width(text) > columns - 2;
	size_t before = out->n;

	if (!text.n || (is_long && columns - 2 < LEAST))
		return 0;
	buf_text(out, "  ");
	buf_text(out, is_long ? "…" : "");
	buf_str(out, is_long ? text_end(text, columns - 3) : text);
	return text_width(str_sub(buf_as_str(out), before, SIZE_MAX));
}

/* Project, time and branch, of which the names leave room for the title. */
static void add_where(struct view *v, struct buf *out, struct str id, struct str project, const struct json *j,
		      const char *when)
{
	struct buf folder CLEANUP(buf_release) = BUF_INIT(MIB), time CLEANUP(buf_release) = BUF_INIT(KIB),
		branch CLEANUP(buf_release) = BUF_INIT(MIB);
	int columns = v->out->columns, room;

	term_filter(&folder, project, TERM_LINE);
	view_short(v, &branch, j, "branch", VALUE_TEXT);
	add_part(v, &time, j, when, VALUE_TIME);
	room = columns - columns * 3 / 10 - text_width(id) - 2 - text_width(buf_as_str(&time));
	room -= add_end(out, buf_as_str(&folder), branch.n ? room / 2 : room);
	buf_str(out, buf_as_str(&time));
	add_end(out, buf_as_str(&branch), room < columns / 4 + 2 ? room : columns / 4 + 2);
}

void group_heading(struct view *v, struct str id, struct str title, struct str project, const struct json *j,
		   const char *when, bool begun)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf where CLEANUP(buf_release) = BUF_INIT(MIB);

	add_where(v, &where, id, project, j, when);
	term_filter(&safe, title, TERM_LINE);
	text_cut(&cut, safe.n ? buf_as_str(&safe) : STR("(untitled)"),
		 v->out->columns - text_width(buf_as_str(&where)) - text_width(id) - 2, false);
	out_text(v->out, begun ? "\n" : "");
	out_styled(v->out, STYLE_ID, id);
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_HEADING, buf_as_str(&cut));
	out_styled(v->out, STYLE_DIM, buf_as_str(&where));
	out_text(v->out, "\n");
}

static bool is_new_session(struct group *g, struct str session)
{
	size_t n = size_min(session.n, sizeof g->session - 1);

	if (g->begun && str_eq(str_sub(session, 0, n), str_of(g->session)))
		return false;
	for (size_t i = 0; i < n; i++)
		g->session[i] = session.p[i];
	g->session[n] = '\0';
	return true;
}

void group_item(struct view *v, struct group *g, const struct json *j)
{
	struct buf id CLEANUP(buf_release) = BUF_INIT(KIB);

	if (!is_new_session(g, view_text(v, j, 0, "session")))
		return;
	view_short(v, &id, j, "session", VALUE_ID);
	group_heading(v, buf_as_str(&id), view_text(v, j, 0, "title"), text_last_folders(view_path(v, j, 0, "project")),
		      j, "at", g->begun);
	g->begun = true;
}
