/*
 * hub.resolve: what a handle stands for, to look at. First the handle and who answered; then the
 * members of the data, a line each, with parts of it below them; and what it says at the end, whole, since
 * that is what somebody wants to read. Which members there are is the plugin's affair: none of them is known
 * here but "text".
 */
#include "face/view.h"

#include "face/text.h"

enum { INDENT = 2 };

/* As much of it as fits behind what stands there already. What may be an id or a handle is never cut: half of one
 * names nothing. */
static struct str shown_line(struct view *v, struct str text, int used)
{
	enum { LEAST = 20 };

	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	term_filter(&safe, str_sub(text, 0, 4 * KIB), TERM_LINE);
	if (safe.n <= KIB && !str_has_byte(buf_as_str(&safe), ' '))
		return arena_str(&v->mem, buf_as_str(&safe));
	text_cut(&cut, buf_as_str(&safe), v->out->columns - used > LEAST ? v->out->columns - used : LEAST,
		 false);
	return arena_str(&v->mem, buf_as_str(&cut));
}

static bool is_list_of_objects(const struct json *j, uint32_t node)
{
	uint32_t first = json_first(j, node);

	return json_is(j, node, JSON_ARRAY) && first != json_end(j, node) && json_is(j, first, JSON_OBJECT);
}

/* How wide it is with its indent. */
static int print_name(struct view *v, const struct json *j, uint32_t key, int indent)
{
	struct str name = shown_line(v, json_string_in(j, key, &v->mem), indent);

	out_pad(v->out, indent);
	out_styled(v->out, STYLE_DIM, name);
	out_text(v->out, ":");
	return indent + text_width(name) + 1;
}

static void print_text(struct view *v, struct str text, int indent)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct buf wide CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct str rest, line;

	term_filter(&safe, text, TERM_TEXT);
	text_expand(&wide, buf_as_str(&safe));
	for (rest = buf_as_str(&wide); text_wrap(&rest, v->out->columns - indent, &line);) {
		out_pad(v->out, indent);
		out_str(v->out, line);
		out_text(v->out, "\n");
	}
}

/* Members but for texts, which come last, and lists of objects, which come below. */
static void print_short(struct view *v, const struct json *j, uint32_t object, int indent)
{
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		uint32_t value = k + 1;
		int used;

		if (json_string_eq(j, k, STR("text")) || is_list_of_objects(j, value))
			continue;
		used = print_name(v, j, k, indent) + 1;
		out_text(v->out, " ");
		out_str(v->out, shown_line(v,
					   json_is(j, value, JSON_STRING) ? json_string_in(j, value, &v->mem)
									  : json_raw(j, value),
					   used));
		out_text(v->out, "\n");
	}
}

static void print_said(struct view *v, const struct json *j, uint32_t object, int indent)
{
	struct str text = json_string_in(j, json_get(j, object, STR("text")), &v->mem);

	if (!text.n)
		return;
	out_text(v->out, "\n");
	print_text(v, text, indent);
}

/* Below a member that is a list of objects, each of them; in these, lists stay on their line. */
static void print_parts(struct view *v, const struct json *j, uint32_t object)
{
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		if (!is_list_of_objects(j, k + 1))
			continue;
		for (uint32_t i = json_first(j, k + 1); i != json_end(j, k + 1); i = json_next(j, i)) {
			out_text(v->out, "\n");
			print_name(v, j, k, 0);
			out_text(v->out, "\n");
			print_short(v, j, i, INDENT);
			print_said(v, j, i, INDENT);
		}
	}
}

static void resolve_item(struct view *v, const struct json *j)
{
	uint32_t data = json_get(j, 0, STR("data"));
	struct str by = view_text(v, j, 0, "by");

	out_style(v->out, STYLE_ID);
	out_foreign(v->out, view_text(v, j, 0, "handle"), TERM_LINE);
	out_plain(v->out);
	out_text(v->out, "\n");
	out_style(v->out, STYLE_DIM);
	out_foreign(v->out, view_text(v, j, 0, "kind"), TERM_LINE);
	out_text(v->out, ", by ");
	out_foreign(v->out, view_text(v, j, 0, "plugin"), TERM_LINE);
	out_text(v->out, " ");
	out_foreign(v->out, view_text(v, j, 0, "version"), TERM_LINE);
	out_text(v->out, by.n ? " of " : "");
	out_foreign(v->out, by, TERM_LINE);
	out_plain(v->out);
	out_text(v->out, "\n\n");
	print_short(v, j, data, 0);
	print_parts(v, j, data);
	print_said(v, j, data, 0);
}

const struct view_kind view_resolve = {
	.method = "hub.resolve",
	.terminal_only = true,
	.item = resolve_item,
};
