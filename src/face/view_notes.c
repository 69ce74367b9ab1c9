/*
 * arbor.note_list on a terminal: what somebody wrote, to its end, below a line that says when and on what. Prose
 * does not fit into a column.
 */
#include "face/view.h"

#include "face/text.h"

enum { INDENT = 2, READABLE = 100 };

/* Its id and time, and what it is on. */
static void print_heading(struct view *v, const struct json *j)
{
	struct buf front CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf what CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	size_t id;

	view_short(v, &front, j, "id", VALUE_ID);
	id = front.n;
	buf_text(&front, "  ");
	view_short(v, &front, j, "updated", VALUE_TIME);
	buf_text(&front, "  on ");
	view_short(v, &front, j, "subject", VALUE_ID);
	view_short(v, &what, j, "what", VALUE_TEXT);
	if (json_get(j, json_root(j), STR("gone")) != JSON_NONE)
		buf_text(&what, "(not here)");
	text_cut(&cut, buf_as_str(&what), v->out->columns - text_width(buf_as_str(&front)) - 2, false);
	out_styled(v->out, STYLE_ID, str_sub(buf_as_str(&front), 0, id));
	out_styled(v->out, STYLE_DIM, str_sub(buf_as_str(&front), id, SIZE_MAX));
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, buf_as_str(&cut));
	out_text(v->out, "\n");
}

static void note_item(struct view *v, const struct json *j)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	int columns = v->out->columns - INDENT;
	struct str rest, line;

	print_heading(v, j);
	term_filter(&safe, view_text(v, j, 0, "text"), TERM_TEXT);
	text_expand(&text, buf_as_str(&safe));
	rest = buf_as_str(&text);
	while (text_wrap(&rest, columns > READABLE ? READABLE : columns, &line)) {
		out_pad(v->out, line.n ? INDENT : 0);
		out_str(v->out, line);
		out_text(v->out, "\n");
	}
}

const struct view_kind view_notes = { .method = "arbor.note_list", .terminal_only = true, .item = note_item };
