/*
 * storage.plans with a name: the plan itself, to read.
 */
#include "face/view.h"

#include "face/text.h"

static void plan_item(struct view *v, const struct json *j)
{
	struct str text = view_text(v, j, 0, "text");
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct str rest, line;

	term_filter(&safe, text, TERM_TEXT);
	for (rest = buf_as_str(&safe); text_wrap(&rest, v->out->columns, &line);) {
		out_str(v->out, line);
		out_text(v->out, "\n");
	}
}

const struct view_kind view_plan = {
	.method = "storage.plans",
	.given = "name",
	.item = plan_item,
};
