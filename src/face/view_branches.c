/*
 * claudecode.list_branches: a line for each way, those that a session is on first.
 *
 *     * b3eb42c2  Nov  3 10:22    41 messages  fix the parser              ← 5abf9052
 *       71cb55c8  Nov  4 09:10     2 messages  no, the other one           ← fix-tests
 */
#include "face/view.h"

#include "face/text.h"

enum { WANTED_TEXT = 16, LEAST_TEXT = 3, HEADS_WIDE = 24, HEADS_LEAST = 8, COUNT_WIDE = 6, TIME_WIDE = 12 };

/* Sessions that are on it, those with a name by that; the first, and how many more. */
static void add_heads(struct view *v, const struct json *j, int room, struct buf *out)
{
	enum { ID_SHOWN = 8 };
	struct buf name CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf more CLEANUP(buf_release) = BUF_INIT(KIB);
	uint32_t list = json_get(j, 0, STR("here")), count = json_count(j, list), first;
	struct str text;

	if (!count)
		return;
	first = json_first(j, list);
	text = view_text(v, j, first, "name");
	term_filter(&name, text.n ? text : str_sub(view_text(v, j, first, "session"), 0, ID_SHOWN),
		    TERM_LINE);
	buf_text(out, "← ");
	if (count > 1)
		buf_printf(&more, " +%" PRIu32, count - 1);
	room -= 2 + text_width(buf_as_str(&more));
	text_cut(out, buf_as_str(&name), room < HEADS_LEAST ? HEADS_LEAST : room > HEADS_WIDE ? HEADS_WIDE : room,
		 false);
	buf_str(out, buf_as_str(&more));
}

static void pad_to(struct out *o, const struct buf *b, int columns)
{
	int width = text_width(buf_as_str(b));

	out_pad(o, width < columns ? columns - width : 0);
}

static void branches_item(struct view *v, const struct json *j)
{
	struct buf id CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf at CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf count CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf heads CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf title CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	int64_t messages = view_int(j, 0, "messages");
	int room;

	view_short(v, &id, j, "id", VALUE_ID);
	view_short(v, &at, j, "updated", VALUE_TIME);
	buf_printf(&count, "%" PRId64, messages);
	term_filter(&title, view_text(v, j, 0, "title"), TERM_LINE);
	room = v->out->columns - 2 - text_width(buf_as_str(&id)) - 2 - TIME_WIDE - COUNT_WIDE - 9 - 2;
	add_heads(v, j, room - WANTED_TEXT - 2, &heads);
	room -= heads.n ? 2 + text_width(buf_as_str(&heads)) : 0;
	text_cut(&cut, buf_as_str(&title), room < LEAST_TEXT ? LEAST_TEXT : room, false);
	out_text(v->out, json_bool(j, json_get(j, 0, STR("current"))) ? "* " : "  ");
	out_styled(v->out, STYLE_ID, buf_as_str(&id));
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, buf_as_str(&at));
	pad_to(v->out, &at, TIME_WIDE);
	pad_to(v->out, &count, COUNT_WIDE);
	out_str(v->out, buf_as_str(&count));
	out_styled(v->out, STYLE_DIM, messages == 1 ? STR(" message ") : STR(" messages"));
	out_text(v->out, "  ");
	out_str(v->out, buf_as_str(&cut));
	if (heads.n) {
		pad_to(v->out, &cut, room);
		out_text(v->out, "  ");
		out_styled(v->out, STYLE_ID, buf_as_str(&heads));
	}
	out_text(v->out, "\n");
}

const struct view_kind view_branches = {
	.method = "claudecode.list_branches",
	.terminal_only = true,
	.item = branches_item,
};
