/*
 * loopback.pending on a terminal: what wants to run, as it would run.
 *
 * Somebody decides by what they see here, so nothing is left out unseen: lines are wrapped and not cut, and
 * where a long input is shown in part, it says how much is missing and how to see it. One that is asked for
 * by its id is whole.
 */
#include "face/view.h"

#include "face/text.h"

enum { INDENT = 4, MOST_LINES = 6 };

/* A text below its heading; at most so many lines, 0 = all. */
static void print_lines(struct view *v, struct str text, int most)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct buf wide CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	int columns = v->out->columns > 2 * INDENT ? v->out->columns - INDENT : 0;
	struct str rest, line;
	int64_t count = 0;

	term_filter(&safe, text, TERM_TEXT);
	text_expand(&wide, buf_as_str(&safe));
	for (rest = buf_as_str(&wide); text_wrap(&rest, columns, &line); count++)
		if (!most || count < most) {
			out_pad(v->out, INDENT);
			out_str(v->out, line);
			out_text(v->out, "\n");
		}
	if (!most || count <= most)
		return;
	out_pad(v->out, INDENT);
	out_style(v->out, STYLE_ERROR);
	out_printf(v->out, "and %" PRId64 " more lines, shown with its id", count - most);
	out_plain(v->out);
	out_text(v->out, "\n");
}

void view_input(struct view *v, const struct json *j, uint32_t input)
{
	if (!json_is(j, input, JSON_OBJECT)) {
		print_lines(v, json_raw(j, input), 0);
		return;
	}
	for (uint32_t k = json_first(j, input); k != json_end(j, input); k = json_next(j, k + 1)) {
		out_text(v->out, "  ");
		out_style(v->out, STYLE_DIM);
		out_foreign(v->out, json_string_in(j, k, &v->mem), TERM_LINE);
		out_text(v->out, ":");
		out_plain(v->out);
		out_text(v->out, "\n");
		print_lines(v,
			    json_is(j, k + 1, JSON_STRING) ? json_string_in(j, k + 1, &v->mem)
							   : json_raw(j, k + 1),
			    0);
	}
}

static void print_heading(struct view *v, const struct json *j)
{
	if (v->items > 1)
		out_text(v->out, "\n");
	out_style(v->out, STYLE_USER);
	out_foreign(v->out, view_text(v, j, 0, "tool"), TERM_LINE);
	out_plain(v->out);
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "name", VALUE_TEXT, STYLE_NAME);
	view_field(v, j, "asked", VALUE_TIME, STYLE_DIM);
	view_field(v, j, "cwd", VALUE_PATH, STYLE_DIM);
	out_text(v->out, "\n");
}

static void print_answer(struct view *v, const struct json *j)
{
	if (str_eq(view_text(v, j, 0, "state"), STR("pending")))
		return;
	view_field(v, j, "state", VALUE_TEXT, STYLE_PLAIN);
	view_field(v, j, "decision", VALUE_TEXT, STYLE_NAME);
	view_field(v, j, "by", VALUE_TEXT, STYLE_PLAIN);
	view_field(v, j, "by_name", VALUE_TEXT, STYLE_PLAIN);
	view_field(v, j, "void_reason", VALUE_TEXT, STYLE_DIM);
	view_field(v, j, "message", VALUE_TEXT, STYLE_DIM);
	out_text(v->out, "\n");
}

static void approval_item(struct view *v, const struct json *j)
{
	bool whole = view_param(v, "approval").p != NULL;
	uint32_t edited = json_get(j, json_root(j), STR("edited_input"));

	print_heading(v, j);
	if (whole)
		view_input(v, j, json_get(j, json_root(j), STR("input")));
	else
		print_lines(v, view_text(v, j, 0, "what"), MOST_LINES);
	print_answer(v, j);
	if (edited == JSON_NONE)
		return;
	out_text(v->out, "  runs instead:\n");
	print_lines(v, json_raw(j, edited), whole ? 0 : MOST_LINES);
}

const struct view_kind view_approvals = {
	.method = "loopback.pending",
	.terminal_only = true,
	.item = approval_item,
};
