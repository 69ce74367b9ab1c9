/*
 * memory.context as text: a heading for each section, an item a line.
 */
#include "hub/context_text.h"

#include "base/term.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

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

static struct str heading_of(struct str section)
{
	for (size_t i = 0; i < COUNT(headings); i++)
		if (str_eq(section, str_of(headings[i].section)))
			return str_of(headings[i].heading);
	return (struct str){ 0 };
}

/* A field on one line, or how it begins. */
static void add_field(struct buf *out, const struct json *j, const char *name, size_t most, struct arena *mem)
{
	term_filter(out, str_sub(json_string_in(j, json_get(j, 0, str_of(name)), mem), 0, most), TERM_LINE);
}

static int64_t number(const struct json *j, const char *name)
{
	int64_t n = 0;

	json_to_i64(j, json_get(j, 0, str_of(name)), &n);
	return n;
}

static bool has(const struct json *j, const char *name)
{
	return json_get(j, 0, str_of(name)) != JSON_NONE;
}

enum { DAY = 10, ID = 8 };

static void add_project(struct buf *out, const struct json *j, struct arena *mem)
{
	int64_t sessions = number(j, "times");

	buf_printf(out, "%" PRId64 " session%s", sessions, sessions == 1 ? "" : "s");
	if (has(j, "detail")) {
		buf_byte(out, ' ');
		add_field(out, j, "detail", SIZE_MAX, mem);
	}
	buf_text(out, ", the last on ");
	add_field(out, j, "at", DAY, mem);
}

static void add_left_out(struct buf *out, const struct json *j, struct arena *mem)
{
	buf_text(out, "Left out: ");
	add_field(out, j, "text", SIZE_MAX, mem);
	buf_byte(out, '.');
}

/* A day, the text, and what else there is of it. */
static void add_item(struct buf *out, const struct json *j, struct str section, bool plain, struct arena *mem)
{
	bool is_session = str_eq(section, STR("sessions")), is_file = str_eq(section, STR("files"));
	const char *bold = is_session && !plain ? "**" : "";
	int64_t times = number(j, "times"), sessions = number(j, "sessions");

	if (has(j, "at") && !is_file) {
		add_field(out, j, "at", DAY, mem);
		buf_byte(out, ' ');
	}
	buf_text(out, bold);
	add_field(out, j, "text", SIZE_MAX, mem);
	buf_text(out, bold);
	if (times > 1 && sessions > 1)
		buf_printf(out, " (%" PRId64 " times in %" PRId64 " sessions)", times, sessions);
	else if (times > 1)
		buf_printf(out, " (%" PRId64 " times)", times);
	if (has(j, "session") && !is_file) {
		buf_text(out, " [");
		add_field(out, j, "session", ID, mem);
		buf_byte(out, ']');
	}
	if (has(j, "detail")) {
		buf_text(out, is_session ? ": " : ", ");
		add_field(out, j, "detail", SIZE_MAX, mem);
	}
}

void context_text(const struct json *j, bool plain, bool first, struct arena *mem, struct context_text *out)
{
	struct str section = json_string_in(j, json_get(j, 0, STR("section")), mem);
	struct buf heading CLEANUP(buf_release) = BUF_INIT(MIB), line CLEANUP(buf_release) = BUF_INIT(64 * MIB);

	*out = (struct context_text){ .front = plain ? "\n" : "\n## ", .mark = plain ? "  " : "- " };
	if (str_eq(section, STR("project"))) {
		out->front = plain ? "" : "# ";
		out->mark = "";
		add_field(&heading, j, "text", SIZE_MAX, mem);
		add_project(&line, j, mem);
	} else if (str_eq(section, STR("left_out"))) {
		out->mark = "\n";
		add_left_out(&line, j, mem);
	} else {
		if (first)
			buf_str(&heading, heading_of(section));
		add_item(&line, j, section, plain, mem);
	}
	out->heading = arena_str(mem, buf_as_str(&heading));
	out->line = arena_str(mem, buf_as_str(&line));
}

size_t context_characters(struct str text)
{
	size_t n = 0;

	for (size_t at = 0; at < text.n; n++)
		utf8_next(text, &at);
	return n;
}

size_t context_text_size(const struct context_text *t)
{
	size_t heading = t->heading.n ? strlen(t->front) + context_characters(t->heading) + 1 : 0;

	return heading + strlen(t->mark) + context_characters(t->line) + 1;
}
