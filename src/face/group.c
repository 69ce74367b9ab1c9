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

/* Of a long one the end, so that there is room for the title. */
static void add_branch(struct view *v, struct buf *out, const struct json *j)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(MIB);
	int columns = v->out->columns / 4;

	view_short(v, &name, j, "branch", VALUE_TEXT);
	if (!name.n)
		return;
	buf_text(out, "  ");
	if (text_width(buf_as_str(&name)) > columns) {
		buf_text(out, "…");
		buf_str(out, text_end(buf_as_str(&name), columns - 1));
	} else {
		buf_str(out, buf_as_str(&name));
	}
}

void group_heading(struct view *v, struct str id, struct str title, struct str project, const struct json *j,
		   const char *when, bool begun)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf where CLEANUP(buf_release) = BUF_INIT(MIB);

	if (project.n) {
		buf_text(&where, "  ");
		term_filter(&where, project, TERM_LINE);
	}
	add_part(v, &where, j, when, VALUE_TIME);
	add_branch(v, &where, j);
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
