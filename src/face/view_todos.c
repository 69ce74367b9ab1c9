/*
 * storage.todos on a terminal: what is to be done, below the session it is on the list of.
 */
#include "face/view.h"

#include "face/group.h"
#include "face/text.h"

static const struct {
	const char *status, *mark;
} marks[] = { { "in_progress", "[>]" }, { "pending", "[ ]" }, { "completed", "[x]" } };

static const char *mark_of(struct str status)
{
	for (size_t i = 0; i < COUNT(marks); i++)
		if (str_eq(status, str_of(marks[i].status)))
			return marks[i].mark;
	return "[?]";
}

static void add_remark(struct buf *out, const char *front, const struct buf *what)
{
	if (what->n)
		buf_printf(out, "  %s%.*s", front, STR_ARG(buf_as_str(what)));
}

/* What stands dim behind the subject. */
static void add_remarks(struct view *v, struct buf *out, const struct json *j)
{
	static const struct field blocked = { .name = "waits_for", .type = VALUE_TEXT, .flags = FIELD_LIST };
	struct buf priority CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf waits CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf agent CLEANUP(buf_release) = BUF_INIT(MIB);

	view_short(v, &priority, j, "priority", VALUE_TEXT);
	view_value(v, &waits, j, json_root(j), &blocked);
	view_short(v, &agent, j, "agent", VALUE_TEXT);
	add_remark(out, "", &priority);
	add_remark(out, "waits for ", &waits);
	add_remark(out, "agent ", &agent);
	if (json_get(j, json_root(j), STR("vanished_at")) != JSON_NONE)
		buf_text(out, "  gone");
}

static void todo_item(struct view *v, const struct json *j)
{
	struct str status = view_text(v, j, 0, "status");
	struct buf subject CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf remarks CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf all CLEANUP(buf_release) = BUF_INIT(MIB);
	int columns = v->out->columns - 6;

	group_item(v, v->state, j);
	view_short(v, &subject, j, "id", VALUE_TEXT);
	buf_text(&subject, subject.n ? "  " : "");
	view_short(v, &subject, j, "subject", VALUE_TEXT);
	add_remarks(v, &all, j);
	/* Remarks are short but for what nobody wrote in earnest; half the line is theirs. */
	text_cut(&remarks, buf_as_str(&all), columns / 2, false);
	text_cut(&cut, buf_as_str(&subject), columns - text_width(buf_as_str(&remarks)), false);
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_NAME, str_of(mark_of(status)));
	out_text(v->out, " ");
	out_styled(v->out, str_eq(status, STR("completed")) ? STYLE_DIM : STYLE_PLAIN, buf_as_str(&cut));
	out_styled(v->out, STYLE_DIM, buf_as_str(&remarks));
	out_text(v->out, "\n");
}

const struct view_kind view_todos = {
	.method = "storage.todos",
	.terminal_only = true,
	.state = sizeof(struct group),
	.item = todo_item,
};
