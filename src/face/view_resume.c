/*
 * claudecode.resume at a terminal: the program becomes the client, once all of its own is done (cli.c). What
 * was said at the place it goes on from is shown before, to be copied; of a long one the beginning, since the
 * client takes the screen next. A pager would stand between: nobody expects the client to come when that is
 * left.
 */
#include "face/view.h"

#include "base/shell.h"
#include "base/term.h"
#include "face/text.h"

enum { LINES = 8 };

static void keep_words(struct view *v, const struct json *j)
{
	struct face *f = v->face;
	uint32_t list = json_get(j, 0, STR("words"));
	const char **words = arena_alloc(&f->mem, (json_count(j, list) + 1) * sizeof *words);
	size_t n = 0;

	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i))
		words[n++] = arena_cstr(&f->mem, json_string_in(j, i, &v->mem));
	f->then.words = words;
	f->then.folder = arena_cstr(&f->mem, view_path(v, j, 0, "cwd"));
}

static void resume_begin(struct view *v)
{
	v->out->may_page = false;
}

static void say_rest(struct view *v, const struct json *j)
{
	struct buf id CLEANUP(buf_release) = BUF_INIT(MIB), text CLEANUP(buf_release) = BUF_INIT(MIB);

	view_short(v, &id, j, "prompt_id", VALUE_ID);
	buf_text(&text, "…");
	if (id.n) {
		buf_printf(&text, " the rest: arbor show %.*s", STR_ARG(buf_as_str(&id)));
		if (v->face->store.p) {
			buf_text(&text, " --store ");
			shell_quote(&text, v->face->store);
		}
	}
	out_foreign(v->out, buf_as_str(&text), TERM_LINE);
	out_text(v->out, "\n");
}

/* The client says nothing of where it is. */
static void say_beside(struct view *v, const struct json *j)
{
	struct buf id CLEANUP(buf_release) = BUF_INIT(MIB), from CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str session = view_text(v, j, 0, "session"), other = view_text(v, j, 0, "from");

	if (!session.n || !other.n || str_eq(session, other) || view_text(v, j, 0, "name").n)
		return;
	view_short(v, &id, j, "session", VALUE_ID);
	view_short(v, &from, j, "from", VALUE_ID);
	out_text(v->out, "It goes on as ");
	out_str(v->out, buf_as_str(&id));
	out_text(v->out, ", made of ");
	out_str(v->out, buf_as_str(&from));
	out_text(v->out, ".\n");
}

static void resume_item(struct view *v, const struct json *j)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED),
		   text CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_LINE_PARSED);
	struct str prompt = view_text(v, j, 0, "prompt"), rest, line;

	keep_words(v, j);
	say_beside(v, j);
	if (!prompt.n)
		return;
	term_filter(&safe, prompt, TERM_TEXT);
	text_expand(&text, buf_as_str(&safe));
	out_styled(v->out, STYLE_HEADING, STR("What was said there"));
	out_text(v->out, "\n");
	rest = buf_as_str(&text);
	for (int i = 0; i < LINES && text_wrap(&rest, v->out->columns, &line); i++) {
		out_str(v->out, line);
		out_text(v->out, "\n");
	}
	if (rest.n)
		say_rest(v, j);
}

const struct view_kind view_resume = {
	.method = "claudecode.resume",
	.terminal_only = true,
	.runs_client = true,
	.begin = resume_begin,
	.item = resume_item,
};
