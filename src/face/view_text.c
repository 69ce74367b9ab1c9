/*
 * Results that are a text to read: a plan, what a handle stands for.
 */
#include "face/view.h"

#include "face/text.h"

static void text_item(struct view *v, const struct json *j)
{
	struct str text = view_text(v, j, 0, "text");
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct buf wide CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct str rest, line;

	term_filter(&safe, text, TERM_TEXT);
	if (v->out->columns) /* where lines are wrapped, tabs have to be as wide as they are */
		text_expand(&wide, buf_as_str(&safe));
	for (rest = buf_as_str(v->out->columns ? &wide : &safe); text_wrap(&rest, v->out->columns, &line);) {
		out_str(v->out, line);
		out_text(v->out, "\n");
	}
}

const struct view_kind view_plan = {
	.method = "storage.plans",
	.given = "name",
	.item = text_item,
};

const struct view_kind view_render = {
	.method = "hub.render",
	.item = text_item,
};
