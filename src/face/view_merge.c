/*
 * claudecode.merge_note: of a prompt nothing but its text, for a pipe into 'arbor chat' or to be copied.
 */
#include "face/view.h"

#include "base/term.h"
#include "face/text.h"

static void merge_item(struct view *v, const struct json *j)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED),
		   expanded CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_LINE_PARSED);
	struct str text = view_text(v, j, 0, "text");

	if (!str_eq(view_text(v, j, 0, "as"), STR("prompt"))) {
		view_record.item(v, j);
		return;
	}
	if (v->out->terminal) {
		term_filter(&safe, text, TERM_TEXT);
		text_expand(&expanded, buf_as_str(&safe));
		out_str(v->out, buf_as_str(&expanded));
	} else {
		out_raw(v->out, text);
	}
	out_text(v->out, "\n");
}

const struct view_kind view_merge = { .method = "claudecode.merge_note", .item = merge_item };
