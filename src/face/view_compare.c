/*
 * claudecode.compare: what two branches share, then what each has alone, then files.
 *
 *     12 messages in common, up to a1b2c3d4  turn 3  Nov  3 10:22
 *       The parser reads the file twice, because …
 *     A  fix the parser  5abf9052  1 turn, 8 messages, 3 tools
 *       4  use the lexer instead                                8 messages, 3 tools
 *     B  …
 *     Files
 *       src/parse.c                           A 2 changes +10 -3   B unchanged   differ
 */
#include "face/view.h"

#include "face/text.h"

enum { LEAST_TEXT = 20 };

struct compare_state {
	bool files; /* their heading has been printed */
};

static void add_count(struct buf *out, int64_t n, const char *what)
{
	if (n)
		buf_printf(out, "%s%" PRId64 " %s%s", out->n ? ", " : "", n, what, n == 1 ? "" : "s");
}

/* A text in what is left of the line behind so many columns. */
static int print_cut(struct view *v, struct str text, int used)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	int room = v->out->columns - used;

	term_filter(&safe, text, TERM_LINE);
	if (v->out->terminal)
		text_cut(&cut, buf_as_str(&safe), room < LEAST_TEXT ? LEAST_TEXT : room, false);
	out_str(v->out, v->out->terminal ? buf_as_str(&cut) : buf_as_str(&safe));
	return text_width(v->out->terminal ? buf_as_str(&cut) : buf_as_str(&safe));
}

static void print_common(struct view *v, const struct json *j)
{
	struct buf counts CLEANUP(buf_release) = BUF_INIT(KIB);

	if (json_get(j, 0, STR("id")) == JSON_NONE) {
		out_text(v->out, "nothing in common\n");
		return;
	}
	add_count(&counts, view_int(j, 0, "messages"), "message");
	out_str(v->out, buf_as_str(&counts));
	out_text(v->out, " in common, up to");
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	out_printf(v->out, "  turn %" PRId64, view_int(j, 0, "number"));
	view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
	out_text(v->out, "\n  ");
	print_cut(v, view_text(v, j, 0, "text"), 2);
	out_text(v->out, "\n");
}

static void print_side(struct view *v, const struct json *j)
{
	struct buf counts CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf ids CLEANUP(buf_release) = BUF_INIT(KIB);

	add_count(&counts, view_int(j, 0, "turns"), "turn");
	add_count(&counts, view_int(j, 0, "messages"), "message");
	add_count(&counts, view_int(j, 0, "calls"), "tool");
	if (!counts.n)
		buf_text(&counts, "nothing of its own");
	view_short(v, &ids, j, "session", VALUE_ID);
	out_styled(v->out, STYLE_HEADING,
		   str_eq(view_text(v, j, 0, "side"), STR("a")) ? STR("A  ") : STR("B  "));
	print_cut(v, view_text(v, j, 0, "title"),
		  3 + 2 + text_width(buf_as_str(&ids)) + 2 + text_width(buf_as_str(&counts)));
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_ID, buf_as_str(&ids));
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, buf_as_str(&counts));
	out_text(v->out, "\n");
}

static void print_turn(struct view *v, const struct json *j)
{
	struct buf front CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf counts CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf id CLEANUP(buf_release) = BUF_INIT(KIB);

	view_short(v, &id, j, "id", VALUE_ID);
	buf_printf(&front, "  %" PRId64 "%s  ", view_int(j, 0, "number"),
		   json_bool(j, json_get(j, 0, STR("partial"))) ? "…" : "");
	add_count(&counts, view_int(j, 0, "messages"), "message");
	add_count(&counts, view_int(j, 0, "calls"), "tool");
	out_str(v->out, buf_as_str(&front));
	out_styled(v->out, STYLE_ID, buf_as_str(&id));
	out_text(v->out, "  ");
	print_cut(v, view_text(v, j, 0, "text"),
		  text_width(buf_as_str(&front)) + text_width(buf_as_str(&id)) + 4 +
			  text_width(buf_as_str(&counts)));
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, buf_as_str(&counts));
	out_text(v->out, "\n");
}

static void add_side(struct buf *out, const struct json *j, char side)
{
	char changes[] = "?_changes", added[] = "?_added", removed[] = "?_removed";

	changes[0] = added[0] = removed[0] = side;
	buf_printf(out, "%s%c ", out->n ? "  " : "", side - 'a' + 'A');
	if (json_get(j, 0, str_of(changes)) == JSON_NONE)
		buf_text(out, "unchanged");
	else
		buf_printf(out, "+%" PRId64 " -%" PRId64, view_int(j, 0, added), view_int(j, 0, removed));
}

static void print_file(struct view *v, const struct json *j)
{
	struct compare_state *s = v->state;
	struct buf path CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf sides CLEANUP(buf_release) = BUF_INIT(KIB);
	uint32_t same = json_get(j, 0, STR("same"));
	int room;

	if (!s->files)
		out_styled(v->out, STYLE_HEADING, STR("Files\n"));
	s->files = true;
	add_side(&sides, j, 'a');
	add_side(&sides, j, 'b');
	buf_text(&sides, same == JSON_NONE ? "  not known" : json_bool(j, same) ? "  the same" : "  differ");
	term_filter(&path, view_path(v, j, 0, "path"), TERM_LINE);
	room = v->out->columns - 4 - text_width(buf_as_str(&sides));
	if (v->out->terminal)
		text_cut(&cut, buf_as_str(&path), room < LEAST_TEXT ? LEAST_TEXT : room, true);
	out_text(v->out, "  ");
	out_str(v->out, v->out->terminal ? buf_as_str(&cut) : buf_as_str(&path));
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, buf_as_str(&sides));
	out_text(v->out, "\n");
}

static void compare_item(struct view *v, const struct json *j)
{
	struct str kind = view_text(v, j, 0, "kind");

	if (str_eq(kind, STR("common")))
		print_common(v, j);
	else if (str_eq(kind, STR("side")))
		print_side(v, j);
	else if (str_eq(kind, STR("turn")))
		print_turn(v, j);
	else if (str_eq(kind, STR("file")))
		print_file(v, j);
	else if (v->out->terminal)
		out_foreign(v->out, view_text(v, j, 0, "text"), TERM_TEXT);
	else
		out_raw(v->out, view_text(v, j, 0, "text"));
}

const struct view_kind view_compare = {
	.method = "claudecode.compare",
	.state = sizeof(struct compare_state),
	.item = compare_item,
};
