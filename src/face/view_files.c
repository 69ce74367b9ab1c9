/*
 * memory.files: tables of files and of changes; but what stood in a file, and a diff, as
 * they are.
 */
#include "face/view.h"

static void files_begin(struct view *v)
{
	v->state = arena_alloc(&v->face->mem, view_table.state);
	if (view_table.begin)
		view_table.begin(v);
}

static void files_item(struct view *v, const struct json *j)
{
	struct str text;

	if (json_get(j, 0, STR("text")) == JSON_NONE) {
		view_table.item(v, j);
		return;
	}
	text = view_path(v, j, 0, "text");
	if (v->out->terminal)
		out_foreign(v->out, text, TERM_TEXT);
	else
		out_raw(v->out, text);
}

static void files_end(struct view *v, enum status status)
{
	if (view_table.end)
		view_table.end(v, status);
}

const struct view_kind view_files = {
	.method = "memory.files",
	.begin = files_begin,
	.item = files_item,
	.end = files_end,
};
