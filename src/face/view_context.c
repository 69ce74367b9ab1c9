/*
 * memory.context as Markdown, or without its marks (hub/context_text.h).
 * It is the same on a terminal and in a pipe: what is printed is given to an agent.
 */
#include "face/view.h"

#include "face/text.h"
#include "hub/context_text.h"

#include <stdio.h>

struct context_state {
	char section[32]; /* of the item before */
	bool plain;
};

static void context_begin(struct view *v)
{
	struct str format = view_param(v, "format");
	struct context_state *s = v->state;

	s->plain = str_eq(format, STR("plain"));
	if (str_eq(format, STR("json")))
		v->face->json = true;
}

/* Whether no item before this one was of its section. */
static bool begins_section(struct context_state *s, struct str section)
{
	if (str_eq(section, str_of(s->section)))
		return false;
	snprintf(s->section, sizeof s->section, "%.*s", STR_ARG(section));
	return true;
}

/* In a pipe an item is a line. */
static void print_line(struct view *v, const char *mark, struct str text)
{
	struct str line;

	for (; text_wrap(&text, v->out->terminal ? v->out->columns - 2 : 0, &line); mark = "  ") {
		out_text(v->out, mark);
		out_str(v->out, line);
		out_text(v->out, "\n");
	}
}

static void context_item(struct view *v, const struct json *j)
{
	struct context_state *s = v->state;
	struct context_text t;

	context_text(j, s->plain, begins_section(s, view_text(v, j, 0, "section")), &v->mem, &t);
	if (t.heading.n) {
		out_text(v->out, t.front);
		out_styled(v->out, STYLE_HEADING, t.heading);
		out_text(v->out, "\n");
	}
	print_line(v, t.mark, t.line);
}

const struct view_kind view_context = {
	.method = "memory.context",
	.state = sizeof(struct context_state),
	.begin = context_begin,
	.item = context_item,
};
