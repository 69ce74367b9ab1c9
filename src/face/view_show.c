/*
 * memory.show: a conversation to read.
 *
 * Each item is the session, a message with its blocks, an event, or a text of a file beside
 * the conversations. Prompts and answers are whole; a tool call is one line with what matters
 * of its input; its result is indented and cut, because most are long and few are read. Into
 * a pipe everything goes whole: nothing is wrapped there, nothing cut.
 */
#include "face/view.h"

#include "base/clock.h"
#include "base/uuid.h"
#include "face/text.h"

#include <stdio.h>
#include <string.h>

enum { RESULT_LINES = 10, INDENT = 2 };

struct showing {
	bool whole; /* a part is shown by itself, and nothing of it left out */
	bool begun; /* something stands above */
	char file[UUID_TEXT + 1]; /* whose text that is; empty = no file's */
};

/* ---- Text -------------------------------------------------------------------- */

/* Filtered, tabs expanded, in the item's memory. */
static struct str prepare(struct view *v, struct str text)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct buf wide CLEANUP(buf_release) = BUF_INIT(256 * MIB);

	term_filter(&safe, text, TERM_TEXT);
	if (!v->out->terminal || !str_has_byte(buf_as_str(&safe), '\t'))
		return arena_str(&v->mem, buf_as_str(&safe));
	text_expand(&wide, buf_as_str(&safe));
	return arena_str(&v->mem, buf_as_str(&wide));
}

static struct str without_last_newlines(struct str s)
{
	while (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	return s;
}

static void print_line(struct view *v, struct str line, int indent, enum style style)
{
	out_pad(v->out, indent);
	out_styled(v->out, line.n ? style : STYLE_PLAIN, line);
	out_text(v->out, "\n");
}

static void print_text(struct view *v, struct str text, int indent, enum style style)
{
	int columns = v->out->columns > indent + 20 ? v->out->columns - indent : v->out->columns;
	struct str line, rest = without_last_newlines(prepare(v, text));

	while (text_wrap(&rest, columns, &line))
		print_line(v, line, indent, style);
}

static size_t count_lines(struct str text)
{
	size_t lines = 0;

	for (struct str line; text_wrap(&text, 0, &line);)
		lines++;
	return lines;
}

/* The first lines, each cut to the screen, and how many more there are. */
static void print_cut(struct view *v, struct str text, enum style style)
{
	struct str line, rest = without_last_newlines(prepare(v, text));
	size_t lines = count_lines(rest);

	/* One line more takes no more room than saying so. */
	if (lines == RESULT_LINES + 1)
		lines = RESULT_LINES;
	for (size_t i = 0; (i < RESULT_LINES || lines <= RESULT_LINES) && text_wrap(&rest, 0, &line); i++) {
		struct buf cut CLEANUP(buf_release) = BUF_INIT(64 * MIB);

		text_cut(&cut, line, v->out->columns - INDENT, false);
		print_line(v, buf_as_str(&cut), INDENT, style);
	}
	if (lines > RESULT_LINES) {
		out_style(v->out, STYLE_DIM);
		out_printf(v->out, "  … %zu more lines (--full)", lines - RESULT_LINES);
		out_plain(v->out);
		out_text(v->out, "\n");
	}
}

/* ---- Notes ------------------------------------------------------------------- */

/* What somebody noted about the item: whole, with the id it is changed and removed by. */
static void print_notes(struct view *v, const struct json *j)
{
	const struct field id = { .name = "id", .type = VALUE_ID };
	uint32_t notes = json_get(j, json_root(j), STR("notes"));

	for (uint32_t n = json_first(j, notes); n != json_end(j, notes); n = json_next(j, n)) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

		buf_text(&text, "note ");
		view_value(v, &text, j, n, &id);
		buf_text(&text, "  ");
		buf_str(&text, view_text(v, j, n, "text"));
		print_text(v, buf_as_str(&text), INDENT, STYLE_NAME);
	}
}

/* Bookmarks and tags, at the end of a line. */
static void print_attached(struct view *v, const struct json *j)
{
	struct buf names CLEANUP(buf_release) = BUF_INIT(MIB);

	view_attached(v, &names, j, "  ", false);
	out_styled(v->out, STYLE_NAME, buf_as_str(&names));
}

/* ---- Headings ---------------------------------------------------------------- */

static void gap(struct view *v)
{
	struct showing *s = v->state;

	if (s->begun)
		out_text(v->out, "\n");
	s->begun = true;
}

static void print_count(struct view *v, int64_t n, const char *front, const char *what)
{
	out_printf(v->out, "%s%" PRId64 " %s%s", front, n, what, n == 1 ? "" : "s");
}

static void print_session(struct view *v, const struct json *j)
{
	/* Of several, each begins a little apart. */
	if (((struct showing *)v->state)->begun)
		out_text(v->out, "\n");
	gap(v);
	view_title(v, j);
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "project", VALUE_PATH, STYLE_PLAIN);
	view_field(v, j, "started", VALUE_TIME, STYLE_DIM);
	print_count(v, view_int(j, 0, "prompts"), "  ", "prompt");
	print_count(v, view_int(j, 0, "messages"), ", ", "message");
	print_count(v, view_int(j, 0, "tools"), ", ", "tool");
	if (json_bool(j, json_get(j, json_root(j), STR("alive"))))
		out_styled(v->out, STYLE_NAME, STR("  open now"));
	out_text(v->out, "\n");
	if (((struct showing *)v->state)->whole)
		return;
	view_facts(v, j);
	print_notes(v, j);
}

/* Who a message comes from. To the model everything that is not its own comes from
 * the user; to people that is what somebody typed. */
static struct str speaker(struct view *v, const struct json *j)
{
	struct str role = view_text(v, j, 0, "role");
	uint32_t prompt = json_get(j, json_root(j), STR("prompt")),
		 blocks = json_get(j, json_root(j), STR("blocks"));

	if (!str_eq(role, STR("user")) || prompt == JSON_NONE || json_bool(j, prompt))
		return role;
	for (uint32_t b = json_first(j, blocks); b != json_end(j, blocks); b = json_next(j, b))
		if (str_eq(view_text(v, j, b, "kind"), STR("tool_result")))
			return STR("result");
	return STR("client");
}

/* Where one part is shown, or a message has only one: its id, by which a search names it. */
static void print_part(struct view *v, const struct json *j)
{
	static const struct field id = { .name = "id", .type = VALUE_ID };
	uint32_t blocks = json_get(j, json_root(j), STR("blocks"));
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	if (!((struct showing *)v->state)->whole || json_count(j, blocks) != 1)
		return;
	view_value(v, &text, j, json_first(j, blocks), &id);
	out_styled(v->out, STYLE_DIM, text.n ? STR("  part ") : STR(""));
	out_styled(v->out, STYLE_ID, buf_as_str(&text));
}

/* Of a prompt that waited for a turn to end, or went into one. */
static void print_queued(struct view *v, const struct json *j)
{
	struct str state = view_text(v, j, 0, "queued");

	if (!state.n)
		return;
	out_style(v->out, STYLE_DIM);
	out_printf(v->out, "  queued, %s",
		   str_eq(state, STR("sent"))	     ? "sent into the turn"
		   : str_eq(state, STR("taken-back")) ? "taken back"
						      : "waiting");
	out_plain(v->out);
}

static void print_heading(struct view *v, const struct json *j)
{
	struct str who = view_text(v, j, 0, "queued").n ? STR("user") : speaker(v, j);
	enum style style = str_eq(who, STR("user"))	   ? STYLE_USER
			   : str_eq(who, STR("assistant")) ? STYLE_ASSISTANT
							   : STYLE_DIM;

	gap(v);
	out_style(v->out, style);
	out_foreign(v->out, who, TERM_LINE);
	out_plain(v->out);
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
	view_field(v, j, "model", VALUE_TEXT, STYLE_DIM);
	print_part(v, j);
	if (view_text(v, j, 0, "variant").n) {
		out_styled(v->out, STYLE_DIM, STR("  variant"));
		view_field(v, j, "variant", VALUE_ID, STYLE_ID);
	}
	print_queued(v, j);
	print_attached(v, j);
	out_text(v->out, "\n");
	print_notes(v, j);
}

/* ---- Blocks ------------------------------------------------------------------ */

/* What somebody wants to know of a tool's input: the first of these it has. */
static struct str main_argument(struct view *v, const struct json *j, uint32_t input)
{
	static const char *const names[] = {
		"command", "file_path", "notebook_path", "pattern", "query", "url", "description", "subject",
		"plan", "prompt", "skill"
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		struct str text = view_text(v, j, input, names[i]);

		if (text.n)
			return text;
	}
	return json_is(j, input, JSON_STRING) ? json_string_in(j, input, &v->mem) : json_raw(j, input);
}

/* Whether nothing is to be left out: asked for, or a part that is shown by itself. */
static bool is_whole(struct view *v)
{
	const struct showing *s = v->state;

	return s->whole || view_switch(v, "full");
}

/* Everything a tool was given: a member a line, texts as they are. */
static void print_input(struct view *v, const struct json *j, uint32_t input)
{
	if (!json_is(j, input, JSON_OBJECT)) {
		print_text(v, json_raw(j, input), INDENT, STYLE_PLAIN);
		return;
	}
	for (uint32_t k = json_first(j, input); k != json_end(j, input); k = json_next(j, k + 1)) {
		struct str name = json_string_in(j, k, &v->mem);
		struct str value = json_is(j, k + 1, JSON_STRING) ? json_string_in(j, k + 1, &v->mem)
								  : json_raw(j, k + 1);

		if (str_has_byte(value, '\n')) {
			print_text(v, arena_printf(&v->mem, "%.*s:", STR_ARG(name)), INDENT, STYLE_DIM);
			print_text(v, value, 2 * INDENT, STYLE_PLAIN);
		} else {
			print_text(v, arena_printf(&v->mem, "%.*s: %.*s", STR_ARG(name), STR_ARG(value)),
				   INDENT, STYLE_PLAIN);
		}
	}
}

static void print_tool_use(struct view *v, const struct json *j, uint32_t block)
{
	struct str name = view_text(v, j, block, "name");
	struct str what = main_argument(v, j, json_get(j, block, STR("input")));
	struct buf line CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf safe CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str rest;

	term_filter(&safe, name.n ? name : STR("tool"), TERM_LINE);
	out_styled(v->out, STYLE_NAME, STR("● "));
	out_styled(v->out, STYLE_NAME, buf_as_str(&safe));
	if (is_whole(v)) {
		out_text(v->out, "\n");
		print_input(v, j, json_get(j, block, STR("input")));
		return;
	}
	/* On a terminal the first line of a long command says enough. */
	term_filter(&line, v->out->terminal ? str_cut(what, '\n', &rest) : what, TERM_LINE);
	if (v->out->terminal && str_has_byte(what, '\n'))
		buf_text(&line, " …");
	if (v->out->terminal)
		text_cut(&cut, buf_as_str(&line), v->out->columns - 4 - text_width(buf_as_str(&safe)), false);
	out_text(v->out, line.n ? "  " : "");
	out_str(v->out, v->out->terminal ? buf_as_str(&cut) : buf_as_str(&line));
	out_text(v->out, "\n");
}

static void print_thinking(struct view *v, struct str text)
{
	out_styled(v->out, STYLE_DIM, STR("(thinking)"));
	out_text(v->out, "\n");
	print_text(v, text, 0, STYLE_DIM);
}

/* Of a block as the API has it: the first text in it, wherever it keeps that. */
static struct str api_text(struct view *v, const struct json *j, uint32_t block)
{
	uint32_t content = json_get(j, block, STR("content"));

	if (json_is(j, content, JSON_STRING))
		return json_string_in(j, content, &v->mem);
	if (json_is(j, content, JSON_ARRAY) && json_count(j, content))
		return view_text(v, j, json_first(j, content), "text");
	return view_text(v, j, block, "thinking");
}

static void print_block(struct view *v, const struct json *j, uint32_t block)
{
	struct str kind = view_text(v, j, block, "kind"), text = view_text(v, j, block, "text");
	bool error = json_bool(j, json_get(j, block, STR("error"))) ||
		     json_bool(j, json_get(j, block, STR("is_error")));
	enum style style = error ? STYLE_ERROR : STYLE_PLAIN;

	if (!kind.n) {
		kind = view_text(v, j, block, "type");
		text = text.n ? text : api_text(v, j, block);
	}
	if (str_eq(kind, STR("tool_use")))
		print_tool_use(v, j, block);
	else if (str_eq(kind, STR("tool_result")) && v->out->terminal && !is_whole(v))
		print_cut(v, text, style);
	else if (str_eq(kind, STR("tool_result")))
		print_text(v, text, INDENT, style);
	else if (str_eq(kind, STR("thinking")))
		print_thinking(v, text);
	else if (text.n)
		print_text(v, text, 0, style);
	else
		print_text(v, arena_printf(&v->mem, "[%.*s]", STR_ARG(kind)), 0, STYLE_DIM);
}

/* On a terminal in one line, unless it alone was asked for: then all of it follows. */
static void print_event(struct view *v, const struct json *j)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct str text = view_text(v, j, 0, "text"), subtype = view_text(v, j, 0, "subtype");
	struct str brief = view_text(v, j, 0, "brief");
	struct showing *s = v->state;

	s->begun = true;
	buf_text(&line, "· ");
	term_filter(&line, view_text(v, j, 0, "type"), TERM_LINE);
	buf_text(&line, subtype.n ? "/" : "");
	term_filter(&line, subtype, TERM_LINE);
	if (brief.n && (v->out->terminal || !text.n))
		text = s->whole ? text : brief;
	if (text.n && !s->whole) {
		buf_text(&line, "  ");
		term_filter(&line, text, TERM_LINE);
	}
	if (v->out->terminal)
		text_cut(&cut, buf_as_str(&line), v->out->columns, false);
	out_styled(v->out, STYLE_DIM, v->out->terminal ? buf_as_str(&cut) : buf_as_str(&line));
	print_attached(v, j);
	out_text(v->out, "\n");
	print_notes(v, j);
	if (s->whole)
		print_text(v, text, 0, STYLE_PLAIN);
}

/* Texts of one file follow each other below one heading; what was typed was so at different times and places. */
static void print_file(struct view *v, const struct json *j)
{
	struct showing *s = v->state;
	struct str id = view_text(v, j, 0, "id");
	bool is_next = str_eq(id, str_of(s->file));

	gap(v);
	if (is_next && str_eq(view_text(v, j, 0, "type"), STR("history"))) {
		out_styled(v->out, STYLE_DIM, STR("history"));
		view_field(v, j, "project", VALUE_PATH, STYLE_PLAIN);
		view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
		out_text(v->out, "\n");
	} else if (!is_next) {
		snprintf(s->file, sizeof s->file, "%.*s", STR_ARG(id));
		out_style(v->out, STYLE_NAME);
		out_foreign(v->out, view_text(v, j, 0, "type"), TERM_LINE);
		out_plain(v->out);
		view_field(v, j, "id", VALUE_ID, STYLE_ID);
		view_field(v, j, "path", VALUE_TEXT, STYLE_PLAIN);
		view_field(v, j, "project", VALUE_PATH, STYLE_PLAIN);
		view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
		if (view_text(v, j, 0, "session").n) {
			out_styled(v->out, STYLE_DIM, STR("  of"));
			view_field(v, j, "session", VALUE_ID, STYLE_ID);
		}
		out_text(v->out, "\n");
	}
	print_text(v, view_text(v, j, 0, "text"), 0, STYLE_PLAIN);
}

/* A tree of somebody's own, whose nodes follow. */
static void print_tree(struct view *v, const struct json *j)
{
	gap(v);
	out_styled(v->out, STYLE_NAME, STR("tree"));
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
	view_field(v, j, "owner", VALUE_TEXT, STYLE_PLAIN);
	print_count(v, view_int(j, 0, "nodes"), "  ", "node");
	view_field(v, j, "state", VALUE_TEXT, STYLE_DIM);
	view_field(v, j, "metadata", VALUE_JSON, STYLE_PLAIN);
	print_attached(v, j);
	out_text(v->out, "\n");
	print_notes(v, j);
}

/* A node: its role, and what it says; or the handle it holds, and what that stands for. */
static void print_node(struct view *v, const struct json *j)
{
	struct str role = view_text(v, j, 0, "role"), names = view_text(v, j, 0, "names");

	gap(v);
	out_style(v->out, str_eq(role, STR("user"))	   ? STYLE_USER
			  : str_eq(role, STR("assistant")) ? STYLE_ASSISTANT
							   : STYLE_DIM);
	out_foreign(v->out, role.n ? role : STR("handle"), TERM_LINE);
	out_plain(v->out);
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
	view_field(v, j, "state", VALUE_TEXT, STYLE_DIM);
	view_field(v, j, "metadata", VALUE_JSON, STYLE_PLAIN);
	print_attached(v, j);
	out_text(v->out, "\n");
	print_notes(v, j);
	if (names.n)
		print_text(v, names, 0, STYLE_DIM);
	print_text(v, view_text(v, j, 0, "text"), 0, STYLE_PLAIN);
}

/* What somebody wrote; what it is on follows. */
static void print_note(struct view *v, const struct json *j)
{
	gap(v);
	out_style(v->out, STYLE_NAME);
	out_foreign(v->out, view_text(v, j, 0, "kind"), TERM_LINE);
	out_plain(v->out);
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
	view_field(v, j, "author", VALUE_TEXT, STYLE_DIM);
	out_text(v->out, "  on ");
	out_foreign(v->out, view_text(v, j, 0, "on"), TERM_LINE);
	view_field(v, j, "subject", VALUE_ID, STYLE_ID);
	if (json_bool(j, json_get(j, 0, STR("gone"))))
		out_styled(v->out, STYLE_DIM, STR("  which is not here, or no more"));
	out_text(v->out, "\n");
	print_text(v, view_text(v, j, 0, "text"), 0, STYLE_PLAIN);
	print_text(v, view_text(v, j, 0, "name"), 0, STYLE_PLAIN);
}

static const struct {
	const char *kind;
	void (*print)(struct view *v, const struct json *j);
} printers[] = {
	{ "event", print_event }, { "file", print_file }, { "tree", print_tree },
	{ "node", print_node },	  { "note", print_note }, { "bookmark", print_note },
};

static void show_item(struct view *v, const struct json *j)
{
	struct str kind = view_text(v, j, 0, "kind");
	uint32_t blocks = json_get(j, 0, str_eq(kind, STR("sent")) ? STR("content") : STR("blocks"));
	bool is_queued = str_eq(kind, STR("event")) && view_text(v, j, 0, "queued").n;

	for (size_t i = 0; i < COUNT(printers) && !is_queued; i++) {
		if (str_eq(kind, str_of(printers[i].kind))) {
			printers[i].print(v, j);
			return;
		}
	}
	if (str_eq(kind, STR("session"))) {
		((struct showing *)v->state)->whole = json_bool(j, json_get(j, 0, STR("part")));
		print_session(v, j);
		return;
	}
	print_heading(v, j);
	if (is_queued)
		print_text(v, view_text(v, j, 0, "text"), 0, STYLE_PLAIN);
	for (uint32_t i = json_first(j, blocks); i != json_end(j, blocks); i = json_next(j, i))
		print_block(v, j, i);
}

const struct view_kind view_log = {
	.method = "memory.log",
	.state = sizeof(struct showing),
	.item = show_item,
};

const struct view_kind view_show = {
	.method = "memory.show",
	.state = sizeof(struct showing),
	.item = show_item,
};
