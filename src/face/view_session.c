/*
 * A conversation above what is shown of it: its title, and on one line what else is known,
 * where that is not what it always is.
 */
#include "face/view.h"

#include "face/text.h"

void view_title(struct view *v, const struct json *j)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str text = view_text(v, j, 0, "title");

	term_filter(&title, text.n ? text : STR("(untitled)"), TERM_LINE);
	if (v->out->terminal)
		text_cut(&cut, buf_as_str(&title), v->out->columns, false);
	out_styled(v->out, STYLE_HEADING, v->out->terminal ? buf_as_str(&cut) : buf_as_str(&title));
	out_text(v->out, "\n");
}

/* The first few of a list, from its item `first` on. */
static void add_some(struct view *v, struct buf *out, const struct json *j, const char *list, uint32_t first,
		     const char *front)
{
	enum { SHOWN = 3 };
	uint32_t node = json_get(j, json_root(j), str_of(list)), at = 0;

	if (json_count(j, node) <= first)
		return;
	buf_printf(out, "%s%s", out->n ? "  " : "", front);
	for (uint32_t i = json_first(j, node); i != json_end(j, node) && at < first + SHOWN;
	     i = json_next(j, i)) {
		struct str text = json_string_in(j, i, &v->mem);

		if (at++ < first)
			continue;
		buf_text(out, at - 1 > first ? ", " : "");
		if (json_is(j, i, JSON_OBJECT))
			buf_printf(out, "#%" PRId64, view_int(j, i, "number"));
		else
			term_filter(out, str_eq(str_of(list), STR("cwds")) ? str_basename(text) : text,
				    TERM_LINE);
	}
	if (json_count(j, node) > at)
		buf_printf(out, " and %" PRIu32 " more", json_count(j, node) - at);
}

/* A word, unless it is what it always is. */
static void add_word(struct view *v, struct buf *out, const struct json *j, const char *name,
		     const char *front, const char *usual)
{
	struct str text = view_text(v, j, 0, name);

	if (!text.n || str_eq(text, str_of(usual)))
		return;
	buf_printf(out, "%s%s", out->n ? "  " : "", front);
	term_filter(out, text, TERM_LINE);
}

static void add_names(struct view *v, struct buf *out, const struct json *j, const char *list, const char *sign,
		      const char *front)
{
	uint32_t node = json_get(j, json_root(j), str_of(list));
	size_t begin = out->n;

	for (uint32_t i = json_first(j, node); i != json_end(j, node); i = json_next(j, i)) {
		buf_printf(out, "%s%s", out->n == begin ? front : " ", sign);
		term_filter(out, json_string_in(j, i, &v->mem), TERM_LINE);
	}
}

void view_attached(struct view *v, struct buf *out, const struct json *j, const char *front, bool count_notes)
{
	int64_t notes = json_count(j, json_get(j, json_root(j), STR("notes"))), all = view_int(j, 0, "noted");
	size_t begin = out->n;

	add_names(v, out, j, "bookmarks", "@", front);
	add_names(v, out, j, "tags", "#", out->n == begin ? front : "  ");
	notes = all > notes ? all : notes;
	if (notes && count_notes)
		buf_printf(out, "%s%" PRId64 " note%s", out->n == begin ? front : "  ", notes, notes == 1 ? "" : "s");
}

void view_facts(struct view *v, const struct json *j)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);

	add_word(v, &line, j, "agent", "sub-agent ", "");
	/* Outside of git the client calls it HEAD. */
	if (!str_eq(view_text(v, j, 0, "branch"), STR("HEAD")))
		add_some(v, &line, j, "git_branches", 0, "on ");
	add_word(v, &line, j, "tag", "tag ", "");
	view_attached(v, &line, j, line.n ? "  " : "", false);
	add_some(v, &line, j, "prs", 0, "PR ");
	add_word(v, &line, j, "mode", "mode ", "normal");
	add_word(v, &line, j, "permission_mode", "permissions ", "default");
	add_some(v, &line, j, "cwds", 1, "also in ");
	if (!line.n)
		return;
	if (v->out->terminal)
		text_cut(&cut, buf_as_str(&line), v->out->columns - 2, false);
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, v->out->terminal ? buf_as_str(&cut) : buf_as_str(&line));
	out_text(v->out, "\n");
}
