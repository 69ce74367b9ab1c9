/*
 * claudecode.merge_note: of a prompt nothing but its text, for a pipe into 'arbor chat' or to be copied.
 */
#include "face/view.h"

static void merge_item(struct view *v, const struct json *j)
{
	struct str text = view_text(v, j, 0, "text");

	if (!str_eq(view_text(v, j, 0, "as"), STR("prompt"))) {
		view_record.item(v, j);
		return;
	}
	if (v->out->terminal)
		out_foreign(v->out, text, TERM_TEXT);
	else
		out_raw(v->out, text);
	out_text(v->out, "\n");
}

const struct view_kind view_merge = { .method = "claudecode.merge_note", .item = merge_item };
