/*
 * memory.context as Markdown, or without its marks: a heading for each section, an item a line.
 * It is the same on a terminal and in a pipe: what is printed is given to an agent.
 */
#include "face/view.h"

#include "face/text.h"
#include "hub/params.h"

#include <string.h>

struct context_state {
	char section[32]; /* of the item before */
	bool plain;
};

static const struct {
	const char *section, *heading;
} headings[] = {
	{ "sessions", "Last sessions" },
	{ "todos", "Open tasks" },
	{ "plans", "Plans" },
	{ "prompts", "Last prompts" },
	{ "decisions", "Decisions" },
	{ "errors", "Errors that came up again" },
	{ "files", "Files changed most" },
	{ "issues", "Issues and pull requests" },
	{ "topics", "Topics" },
};

static void context_begin(struct view *v)
{
	const struct param *format = params_find(v->params, STR("format"));
	struct str value = format ? params_value(v->params, format)->text : (struct str){ 0 };
	struct context_state *s = v->state;

	s->plain = str_eq(value, STR("plain"));
	if (str_eq(value, STR("json")))
		v->face->json = true;
}

static void print_heading(struct view *v, struct str section)
{
	struct context_state *s = v->state;

	if (str_eq(section, str_of(s->section)))
		return;
	for (size_t i = 0; i < COUNT(headings); i++)
		if (str_eq(section, str_of(headings[i].section))) {
			memcpy(s->section, headings[i].section, strlen(headings[i].section) + 1);
			out_text(v->out, s->plain ? "\n" : "\n## ");
			out_styled(v->out, STYLE_HEADING, str_of(headings[i].heading));
			out_text(v->out, "\n");
		}
}

static void add_field(struct view *v, struct buf *out, const struct json *j, const char *name)
{
	term_filter(out, view_text(v, j, 0, name), TERM_LINE);
}

static void print_project(struct view *v, const struct json *j)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct context_state *s = v->state;

	add_field(v, &text, j, "text");
	out_text(v->out, s->plain ? "" : "# ");
	out_styled(v->out, STYLE_HEADING, buf_as_str(&text));
	out_printf(v->out, "\n%" PRId64 " session%s", view_int(j, 0, "times"),
		   view_int(j, 0, "times") == 1 ? "" : "s");
	out_text(v->out, ", the last on ");
	out_foreign(v->out, str_sub(view_text(v, j, 0, "at"), 0, 10), TERM_LINE);
	out_text(v->out, "\n");
}

/* A day, the text, and what else there is of it. */
static void add_item(struct view *v, struct buf *out, const struct json *j)
{
	struct context_state *s = v->state;
	bool is_session = strcmp(s->section, "sessions") == 0, is_file = strcmp(s->section, "files") == 0;
	const char *bold = is_session && !s->plain ? "**" : "";
	struct buf id CLEANUP(buf_release) = BUF_INIT(KIB), day CLEANUP(buf_release) = BUF_INIT(KIB);
	int64_t times = view_int(j, 0, "times"), sessions = view_int(j, 0, "sessions");

	term_filter(&id, str_sub(view_text(v, j, 0, "session"), 0, 8), TERM_LINE);
	term_filter(&day, str_sub(view_text(v, j, 0, "at"), 0, 10), TERM_LINE);
	if (day.n && !is_file)
		buf_printf(out, "%.*s ", STR_ARG(buf_as_str(&day)));
	buf_text(out, bold);
	add_field(v, out, j, "text");
	buf_text(out, bold);
	if (times > 1 && sessions > 1)
		buf_printf(out, " (%" PRId64 " times in %" PRId64 " sessions)", times, sessions);
	else if (times > 1)
		buf_printf(out, " (%" PRId64 " times)", times);
	if (id.n && !is_file)
		buf_printf(out, " [%.*s]", STR_ARG(buf_as_str(&id)));
	if (json_get(j, 0, STR("detail")) != JSON_NONE) {
		buf_text(out, is_session ? ": " : ", ");
		add_field(v, out, j, "detail");
	}
}

/* In a pipe an item is a line. */
static void print_item(struct view *v, const struct json *j)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct context_state *s = v->state;
	const char *mark = s->plain ? "  " : "- ";
	struct str rest, line;

	add_item(v, &text, j);
	for (rest = buf_as_str(&text); v->out->terminal && text_wrap(&rest, v->out->columns - 2, &line);
	     mark = "  ") {
		out_text(v->out, mark);
		out_str(v->out, line);
		out_text(v->out, "\n");
	}
	if (v->out->terminal)
		return;
	out_text(v->out, mark);
	out_str(v->out, buf_as_str(&text));
	out_text(v->out, "\n");
}

static void context_item(struct view *v, const struct json *j)
{
	struct str section = view_text(v, j, 0, "section");

	if (str_eq(section, STR("project"))) {
		print_project(v, j);
		return;
	}
	if (str_eq(section, STR("left_out"))) {
		out_text(v->out, "\nLeft out: ");
		out_foreign(v->out, view_text(v, j, 0, "text"), TERM_LINE);
		out_text(v->out, ".\n");
		return;
	}
	print_heading(v, section);
	print_item(v, j);
}

const struct view_kind view_context = {
	.method = "memory.context",
	.state = sizeof(struct context_state),
	.begin = context_begin,
	.item = context_item,
};
