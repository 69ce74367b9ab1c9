/*
 * claudecode.chat, continue and tail as people follow them, and poll as they look at it: what an agent
 * thinks, says and does, as it comes.
 *
 *     thinking in dim letters                  text as it is, wrapped between words
 *     ● Bash  npm test                         a tool, and what it is about
 *       3 passed                               the first lines of what it gave
 *
 * Sub-agents' words are not shown, their tools are, indented. Of what somebody has to decide nothing is left
 * out (face/chat_ask.c). The same goes into a pipe, without colours and without being wrapped.
 */
#include "face/chat.h"

#include "claude/command.h"
#include "claude/permission.h"
#include "face/flow.h"
#include "face/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 2, MOST_LINES = 6, TOOLS = 16 };

enum block { BLOCK_NONE, BLOCK_THOUGHT, BLOCK_TEXT };

struct chat_state {
	enum block block; /* being printed */
	struct flow flow;
	bool begun;  /* anything was printed */
	bool spaced; /* the last was followed by an empty line */
	int64_t prompts;
	struct tool {
		uint64_t who; /* block and speaker */
		char name[64], id[64], about[80];
	} tools[TOOLS]; /* the last that were called */
	size_t tool;
	const struct tool *shown; /* what comes next, when it is of this one, needs no name */
};

static struct chat_state *state_of(struct view *v)
{
	return v->state;
}

/* ---- Between things ------------------------------------------------------------ */

static void end_block(struct view *v)
{
	struct chat_state *s = state_of(v);

	if (s->block == BLOCK_NONE)
		return;
	flow_end(&s->flow);
	out_plain(v->out);
	s->block = BLOCK_NONE;
}

/* Something of its own follows; an empty line in front when it is another kind of thing. */
static void next(struct view *v, bool spaced)
{
	struct chat_state *s = state_of(v);

	end_block(v);
	if (s->begun && (spaced || s->spaced))
		out_text(v->out, "\n");
	s->begun = true;
	s->spaced = spaced;
}

static bool is_inner(const struct json *j, uint32_t data)
{
	return json_is(j, json_get(j, data, STR("parent_tool_use_id")), JSON_STRING);
}

static void styled(struct view *v, enum style style, struct str foreign)
{
	out_style(v->out, style);
	out_foreign(v->out, foreign, TERM_LINE);
	out_plain(v->out);
}

static void note(struct view *v, enum style style, const char *front, struct str text)
{
	next(v, false);
	out_style(v->out, style);
	out_text(v->out, front);
	out_foreign(v->out, text, TERM_LINE);
	out_plain(v->out);
	out_text(v->out, "\n");
}

/* ---- Words --------------------------------------------------------------------- */

static void add_words(struct view *v, enum block block, struct str text)
{
	struct chat_state *s = state_of(v);

	if (s->block != block) {
		next(v, true);
		s->block = block;
		flow_begin(&s->flow, v->out, 0);
		if (block == BLOCK_THOUGHT) {
			out_style(v->out, STYLE_DIM);
			if (!v->out->colour)
				out_text(v->out, "(thinking)\n");
		}
	}
	flow_add(&s->flow, text);
}

static void on_thought(struct view *v, const struct json *j, uint32_t data)
{
	if (!is_inner(j, data))
		add_words(v, BLOCK_THOUGHT, view_text(v, j, data, "text"));
}

static void on_text(struct view *v, const struct json *j, uint32_t data)
{
	if (!is_inner(j, data))
		add_words(v, BLOCK_TEXT, view_text(v, j, data, "text"));
}

static void on_block_end(struct view *v, const struct json *j, uint32_t data)
{
	if (!is_inner(j, data))
		end_block(v);
}

/* What a command of the client's own printed; false: it is something else. */
static bool show_output(struct view *v, struct str text)
{
	static const char *const tags[][2] = { { "<local-command-stdout>", "</local-command-stdout>" },
					       { "<local-command-stderr>", "</local-command-stderr>" } };

	for (size_t i = 0; i < COUNT(tags); i++) {
		struct str open = str_of(tags[i][0]), close = str_of(tags[i][1]);

		if (!str_has_prefix(text, open) || !str_has_suffix(text, close))
			continue;
		text = str_trim(str_sub(text, open.n, text.n - open.n - close.n));
		if (text.n)
			note(v, STYLE_DIM, "", text);
		return true;
	}
	return false;
}

/* Of who types here the first is known. What the client tells its model is none of a person's. */
static void on_prompt(struct view *v, const struct json *j, uint32_t data)
{
	struct buf typed CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct chat_state *s = state_of(v);
	struct chat *c = v->face->chat;
	struct str text = view_text(v, j, data, "text");

	if (is_inner(j, data) || json_bool(j, json_get(j, data, STR("synthetic"))) ||
	    !json_bool(j, json_get(j, data, STR("replay"))) || show_output(v, text))
		return;
	if (s->prompts++ == 0 && c && c->given)
		return;
	if (command_typed(text, &typed, NULL))
		text = buf_as_str(&typed);
	next(v, true);
	out_style(v->out, STYLE_USER);
	out_text(v->out, "> ");
	flow_begin(&s->flow, v->out, 0);
	s->flow.column = 2;
	s->flow.indent = 2;
	flow_add(&s->flow, text);
	flow_end(&s->flow);
	out_plain(v->out);
}

/* ---- Tools --------------------------------------------------------------------- */

static uint64_t who_is(const struct json *j, uint32_t data)
{
	struct str raw = json_raw(j, json_get(j, data, STR("parent_tool_use_id")));
	uint64_t n = (uint64_t)view_int(j, data, "block") + 1;

	for (size_t i = 0; i < raw.n; i++)
		n = n * 1099511628211u + (unsigned char)raw.p[i];
	return n;
}

static void on_tool_start(struct view *v, const struct json *j, uint32_t data)
{
	struct chat_state *s = state_of(v);
	struct str name = view_text(v, j, data, "tool_name"), id = view_text(v, j, data, "tool_use_id");
	struct tool *t = &s->tools[s->tool++ % TOOLS];

	*t = (struct tool){ .who = who_is(j, data) };
	snprintf(t->name, sizeof t->name, "%.*s", (int)size_min(name.n, 60), name.p ? name.p : "");
	snprintf(t->id, sizeof t->id, "%.*s", (int)size_min(id.n, 63), id.p ? id.p : "");
}

/* The last one that this could be; NULL = none is known. */
static struct tool *find_tool(struct chat_state *s, uint64_t who, struct str id)
{
	for (size_t i = s->tool; i > 0 && i + TOOLS > s->tool; i--) {
		struct tool *t = &s->tools[(i - 1) % TOOLS];

		if (id.p ? str_eq(str_of(t->id), id) : t->who == who)
			return t;
	}
	return NULL;
}

/* What it is about, as one line; else all of its input. */
static struct str subject_of(struct view *v, struct str tool, struct str input)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str subject = { 0 };
	struct err ignored;

	if (json_read(&j, input, LIMIT_JSON_DEPTH, &ignored))
		return input;
	if (str_eq(tool, STR("AskUserQuestion")) || str_eq(tool, STR("ExitPlanMode")))
		return subject; /* the question says it */
	subject = permission_subject(tool, &j, &v->mem);
	if (!subject.p)
		subject = json_string_in(&j, json_get(&j, 0, STR("description")), &v->mem);
	if (subject.p)
		return arena_str(&v->mem, subject);
	return str_eq(input, STR("{}")) ? subject : input;
}

static void on_tool_end(struct view *v, const struct json *j, uint32_t data)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB),
			line CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct tool *known = find_tool(state_of(v), who_is(j, data), (struct str){ 0 });
	struct str tool = str_of(known ? known->name : "");
	int indent = is_inner(j, data) ? INDENT : 0, width = text_width(tool) + indent + 4;
	struct str input = json_raw(j, json_get(j, data, STR("input")));

	next(v, false);
	out_pad(v->out, indent);
	styled(v, STYLE_NAME, STR("● "));
	styled(v, STYLE_ASSISTANT, tool);
	term_filter(&safe, subject_of(v, tool, input.p ? input : view_text(v, j, data, "input_text")),
		    TERM_LINE);
	text_cut(&line, buf_as_str(&safe), v->out->columns > width ? v->out->columns - width : 400, false);
	out_text(v->out, "  ");
	out_str(v->out, buf_as_str(&line));
	out_text(v->out, "\n");
	state_of(v)->shown = known;
	if (!known)
		return;
	buf_clear(&line);
	text_cut(&line, buf_as_str(&safe), 40, false);
	snprintf(known->about, sizeof known->about, "%.*s", (int)size_min(line.n, 79), line.p ? line.p : "");
}

/* Where the result stands elsewhere than below its call, it says whose it is. */
static void name_tool(struct view *v, const struct json *j, uint32_t data, int indent)
{
	struct chat_state *s = state_of(v);
	const struct tool *t = find_tool(s, 0, view_text(v, j, data, "tool_use_id"));

	if (t && t != s->shown) {
		out_style(v->out, STYLE_DIM);
		out_pad(v->out, indent - INDENT);
		out_foreign(v->out, str_of(t->name), TERM_LINE);
		out_text(v->out, "  ");
		out_foreign(v->out, str_of(t->about), TERM_LINE);
		out_text(v->out, "\n");
		out_plain(v->out);
	}
	s->shown = t;
}

/* The first lines of what it gave. */
static void on_tool_result(struct view *v, const struct json *j, uint32_t data)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(256 * MIB),
			wide CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	bool failed = json_bool(j, json_get(j, data, STR("is_error")));
	int indent = INDENT + (is_inner(j, data) ? INDENT : 0);
	int columns = v->out->columns > 2 * indent ? v->out->columns - indent : 0;
	struct str rest, line;
	int64_t count = 0;

	next(v, false);
	name_tool(v, j, data, indent);
	term_filter(&safe, view_text(v, j, data, "output"), TERM_TEXT);
	text_expand(&wide, buf_as_str(&safe));
	out_style(v->out, failed ? STYLE_ERROR : STYLE_DIM);
	for (rest = str_trim(buf_as_str(&wide)); text_wrap(&rest, columns, &line); count++)
		if (count < MOST_LINES) {
			out_pad(v->out, indent);
			out_str(v->out, line);
			out_text(v->out, "\n");
		}
	if (count > MOST_LINES) {
		out_pad(v->out, indent);
		out_printf(v->out, "… %" PRId64 " more lines\n", count - MOST_LINES);
	}
	out_plain(v->out);
}

/* ---- Questions ------------------------------------------------------------------ */

static void on_question(struct view *v, const struct json *j, uint32_t data)
{
	if (!v->face->chat || !chat_must_ask(v, j, data))
		return;
	next(v, true);
	chat_ask(v, v->face->chat, j, data);
}

static void say_by(struct view *v, bool allowed, struct str by, struct str name)
{
	bool is_person = str_eq(by, STR("person")) && name.n;

	if (str_eq(by, STR("expiry"))) {
		out_text(v->out, "denied: nobody has answered in time\n");
		return;
	}
	out_text(v->out, allowed ? "allowed by " : "denied by ");
	if (!is_person) {
		out_text(v->out, "a ");
		out_foreign(v->out, by, TERM_LINE);
	}
	if (name.n) {
		out_text(v->out, is_person ? "" : ", ");
		out_foreign(v->out, name, TERM_LINE);
	}
	out_text(v->out, "\n");
}

/* Who answered, unless it was somebody here a moment ago. */
static void on_resolved(struct view *v, const struct json *j, uint32_t data)
{
	struct chat *c = v->face->chat;
	bool allowed = json_bool(j, json_get(j, data, STR("approved")));
	struct str edited = json_raw(j, json_get(j, data, STR("edited_input")));

	if (c && c->answered > 0) {
		c->answered--;
		return;
	}
	next(v, false);
	name_tool(v, j, data, INDENT);
	out_style(v->out, allowed ? STYLE_DIM : STYLE_ERROR);
	out_pad(v->out, INDENT);
	if (view_text(v, j, data, "void").n) {
		out_text(v->out, "nobody has to answer any more\n");
	} else {
		say_by(v, allowed, view_text(v, j, data, "by"), view_text(v, j, data, "by_name"));
	}
	if (edited.p) {
		out_text(v->out, "  what runs is: ");
		out_foreign(v->out, edited, TERM_LINE);
		out_text(v->out, "\n");
	}
	out_plain(v->out);
}

/* ---- The client's own ------------------------------------------------------------ */

static void on_other(struct view *v, const struct json *j, uint32_t data)
{
	struct str type = view_text(v, j, data, "event_type");
	uint32_t inside = json_get(j, data, STR("data"));

	if (str_eq(type, STR("stderr")) || str_eq(type, STR("raw_output")) || str_eq(type, STR("waiting")))
		note(v, STYLE_DIM, "", str_trim(view_text(v, j, data, "text")));
	else if (str_eq(type, STR("system/api_retry")))
		note(v, STYLE_DIM,
		     "the model does not answer, trying again: ", view_text(v, j, inside, "error"));
	else if (str_eq(type, STR("system/compact_boundary")))
		note(v, STYLE_DIM, "the conversation was summarised", (struct str){ 0 });
}

/* ---- The end --------------------------------------------------------------------- */

static int64_t all_input(const struct json *j, uint32_t usage)
{
	return view_int(j, usage, "input_tokens") + view_int(j, usage, "cache_read_input_tokens") +
	       view_int(j, usage, "cache_creation_input_tokens");
}

/* By the list of prices where it is known: what the client says may be of all that was ever said there. */
static bool find_cost(const struct json *j, uint32_t data, double *out)
{
	uint32_t priced = json_get(j, data, STR("priced_cost_usd"));

	return json_to_real(j, priced != JSON_NONE ? priced : json_get(j, data, STR("total_cost_usd")), out) &&
	       *out > 0;
}

static void on_complete(struct view *v, const struct json *j, uint32_t data)
{
	uint32_t usage = json_get(j, data, STR("usage")), spent = json_get(j, data, STR("spent"));
	double cost = 0;

	next(v, true);
	out_style(v->out, STYLE_DIM);
	out_text(v->out, "done");
	if (view_int(j, spent, "answers"))
		usage = spent; /* of all turns, and not of the last */
	if (view_int(j, usage, "output_tokens")) {
		out_printf(v->out, ", %" PRId64 " tokens in, %" PRId64 " out", all_input(j, usage),
			   view_int(j, usage, "output_tokens"));
		if (find_cost(j, data, &cost))
			out_printf(v->out, ", $%.*f", cost < 0.1 ? 4 : 2, cost);
	}
	out_plain(v->out);
	out_text(v->out, "\n");
}

/* What it ended with stands for itself. */
static void note_end(struct view *v, enum style style, const char *front, struct str text)
{
	state_of(v)->spaced = true;
	note(v, style, front, text);
}

static void on_error(struct view *v, const struct json *j, uint32_t data)
{
	note_end(v, STYLE_ERROR, "failed: ", view_text(v, j, data, "message"));
}

static void on_cancelled(struct view *v, const struct json *j, uint32_t data)
{
	(void)j;
	(void)data;
	note_end(v, STYLE_DIM, "stopped", (struct str){ 0 });
}

static void on_interrupted(struct view *v, const struct json *j, uint32_t data)
{
	struct chat *c = v->face->chat;

	note_end(v, STYLE_ERROR, "interrupted: ", view_text(v, j, data, "message"));
	if (!c || !c->name.p)
		return;
	out_text(v->out, "'arbor continue ");
	out_foreign(v->out, c->name, TERM_LINE);
	out_text(v->out, "' goes on\n");
}

static void on_start(struct view *v, const struct json *j, uint32_t data)
{
	struct chat *c = v->face->chat;

	if (c)
		c->name = arena_str(&v->face->mem, view_text(v, j, data, "name"));
}

static const struct {
	const char *type;
	void (*show)(struct view *v, const struct json *j, uint32_t data);
	bool ends;
} shown[] = {
	{ "start", on_start, false },
	{ "user_message", on_prompt, false },
	{ "thinking_delta", on_thought, false },
	{ "thinking_end", on_block_end, false },
	{ "content_delta", on_text, false },
	{ "content_end", on_block_end, false },
	{ "tool_use_start", on_tool_start, false },
	{ "tool_use_end", on_tool_end, false },
	{ "tool_result", on_tool_result, false },
	{ "awaiting_approval", on_question, false },
	{ "approval_resolved", on_resolved, false },
	{ "passthrough", on_other, false },
	{ "complete", on_complete, true },
	{ "error", on_error, true },
	{ "cancelled", on_cancelled, true },
	{ "interrupted", on_interrupted, true },
};

static void note_place(struct view *v, const struct json *j, struct str type, bool ends)
{
	struct chat *c = v->face->chat;
	struct str cursor = view_text(v, j, 0, "cursor");

	if (!c)
		return;
	snprintf(c->cursor, sizeof c->cursor, "%.*s", (int)size_min(cursor.n, 60), cursor.p ? cursor.p : "");
	if (ends)
		c->ended = arena_str(&v->face->mem, type);
}

static void chat_item(struct view *v, const struct json *j)
{
	struct str type = view_text(v, j, 0, "type");
	bool ends = false;

	for (size_t i = 0; i < COUNT(shown); i++)
		if (str_eq(type, str_of(shown[i].type))) {
			shown[i].show(v, j, json_get(j, json_root(j), STR("data")));
			ends = shown[i].ends;
		}
	note_place(v, j, type, ends);
}

/* A program is told how it ended by the exit code, too. */
static void chat_unseen(struct view *v, const struct json *j)
{
	struct str type = view_text(v, j, 0, "type");

	for (size_t i = 0; i < COUNT(shown); i++)
		if (shown[i].ends && str_eq(type, str_of(shown[i].type)))
			note_place(v, j, type, true);
}

static void chat_end(struct view *v, enum status status)
{
	(void)status;
	end_block(v);
}

#define CHAT_VIEW(name) \
	{ \
		.method = (name), .state = sizeof(struct chat_state), .item = chat_item, .unseen = chat_unseen, \
		.end = chat_end \
	}

/* ---- A page of events ------------------------------------------------------------- */

static void print_event(struct view *v, const struct json *j, uint32_t event)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(256 * MIB),
			safe CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct str type = view_text(v, j, event, "type");

	buf_printf(&line, "%6" PRId64 "  %-18.*s", view_int(j, event, "seq"), (int)size_min(type.n, 40),
		   type.p);
	term_filter(&safe, buf_as_str(&line), TERM_LINE);
	out_str(v->out, buf_as_str(&safe));
	buf_clear(&line);
	buf_clear(&safe);
	term_filter(&safe, json_raw(j, json_get(j, event, STR("data"))), TERM_LINE);
	text_cut(&line, buf_as_str(&safe), v->out->columns > 40 ? v->out->columns - 28 : 400, false);
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, buf_as_str(&line));
	out_text(v->out, "\n");
}

static void poll_item(struct view *v, const struct json *j)
{
	uint32_t events = json_get(j, json_root(j), STR("events"));

	for (uint32_t i = json_first(j, events); i != json_end(j, events); i = json_next(j, i))
		print_event(v, j, i);
	styled(v, STYLE_NAME, view_text(v, j, 0, "name"));
	out_text(v->out, " is ");
	out_foreign(v->out, view_text(v, j, 0, "state"), TERM_LINE);
	if (json_bool(j, json_get(j, 0, STR("over")))) {
		out_text(v->out, "; these were the last\n");
		return;
	}
	out_text(v->out, "; go on with --after ");
	out_foreign(v->out, view_text(v, j, 0, "cursor"), TERM_LINE);
	out_text(v->out, json_bool(j, json_get(j, 0, STR("more"))) ? ", there are more\n" : "\n");
}

const struct view_kind view_poll = { .method = "claudecode.poll", .terminal_only = true, .item = poll_item };
const struct view_kind view_chat = CHAT_VIEW("claudecode.chat");
const struct view_kind view_continue = CHAT_VIEW("claudecode.continue");
const struct view_kind view_tail = CHAT_VIEW("claudecode.tail");
