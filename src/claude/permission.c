/*
 * Rules as text, and which part of a tool's input their patterns are about.
 *
 * How a command, a path and an address are compared is in permission_match.c. Here is what comes before:
 * which tools a rule names, and the one string of the input that counts. A reader of JSON may take the first
 * or the last of two members of the same name, so strictly there has to be exactly one, and it has to be good
 * text; widely any of them will do, and what cannot be understood at all might be anything.
 */
#include "claude/permission.h"

#include "claude/permission_match.h"

#include <string.h>

static const struct subject {
	const char *tool, *member;
	enum permission_kind kind;
	const char *family; /* rules for this tool are for it, too; NULL = none are */
	bool is_all;	    /* a rule for it is one for what was asked, and not for much more */
	/* What else may be said beside it, blanks between, where a pattern is to allow it: another member may
	 * let a command out of its sandbox. NULL = anything. */
	const char *beside;
} subjects[] = {
	{ "Bash", "command", PERMISSION_COMMAND, NULL, true,
	  "command description timeout run_in_background" },
	{ "Read", "file_path", PERMISSION_PATH, NULL, true, NULL },
	{ "NotebookRead", "notebook_path", PERMISSION_PATH, "Read", true, NULL },
	{ "Glob", "path", PERMISSION_PATH, "Read", true, NULL },
	{ "Grep", "path", PERMISSION_PATH, "Read", true, NULL },
	{ "LS", "path", PERMISSION_PATH, "Read", true, NULL },
	{ "Edit", "file_path", PERMISSION_PATH, NULL, true, NULL },
	{ "MultiEdit", "file_path", PERMISSION_PATH, "Edit", true, NULL },
	{ "Write", "file_path", PERMISSION_PATH, "Edit", true, NULL },
	{ "NotebookEdit", "notebook_path", PERMISSION_PATH, "Edit", true, NULL },
	{ "WebFetch", "url", PERMISSION_ADDRESS, NULL, false, NULL },
	{ "WebSearch", "query", PERMISSION_TEXT, NULL, true, NULL },
	{ "Agent", "subagent_type", PERMISSION_TEXT, "Task", false, NULL },
	{ "Task", "subagent_type", PERMISSION_TEXT, "Agent", false, NULL },
	{ "Skill", "skill", PERMISSION_TEXT, NULL, false, NULL },
};

#define ASKS_A_PERSON "AskUserQuestion"
#define SHOWS_A_PLAN  "ExitPlanMode"

static const struct subject *subject_of(struct str tool)
{
	for (size_t i = 0; i < COUNT(subjects); i++)
		if (str_eq(tool, str_of(subjects[i].tool)))
			return &subjects[i];
	return NULL;
}

/* ---- As text ---------------------------------------------------------------- */

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       str_has_byte(STR("_-.:*"), c);
}

static bool is_tool_name(struct str name)
{
	bool good = name.n && name.n <= LIMIT_RULE_TOOL;

	for (size_t i = 0; good && i < name.n; i++)
		good = is_name_byte(name.p[i]);
	return good;
}

static enum status check_pattern(const struct permission *p, struct err *err)
{
	const struct subject *s = subject_of(p->tool);

	if (!p->pattern.n || p->pattern.n > LIMIT_RULE_PATTERN || str_has_byte(p->pattern, '\0'))
		return err_fail(err, STATUS_USAGE, "a pattern has 1 to %zu bytes, and none of them is NUL",
				LIMIT_RULE_PATTERN);
	if (!s)
		return err_fail(err, STATUS_USAGE,
				"what the input of '%.*s' means is not known here; leave the pattern out",
				STR_ARG(p->tool));
	if (s->kind == PERMISSION_ADDRESS && !permission_is_domain(p->pattern))
		return err_fail(err, STATUS_USAGE, "a pattern for %s looks like domain:example.com", s->tool);
	return STATUS_OK;
}

enum status permission_check(const struct permission *p, struct err *err)
{
	if (!is_tool_name(p->tool))
		return err_fail(err, STATUS_USAGE,
				"'%.*s' is no name of a tool: letters, digits, '_', '-', and '*' for any",
				(int)size_min(p->tool.n, 60), p->tool.p ? p->tool.p : "");
	return p->pattern.p ? check_pattern(p, err) : STATUS_OK;
}

enum status permission_read(struct str text, struct permission *out, struct err *err)
{
	struct str rest;

	*out = (struct permission){ .tool = str_cut(str_trim(text), '(', &rest) };
	if (rest.p) {
		if (!str_has_suffix(rest, STR(")")))
			return err_fail(err, STATUS_USAGE, "'%.*s' has no ')' at its end",
					(int)size_min(text.n, 60), text.p);
		rest.n--;
		if (rest.n && !str_eq(rest, STR("*")))
			out->pattern = rest;
	}
	return permission_check(out, err);
}

struct str permission_text(const struct permission *p, struct arena *mem)
{
	return p->pattern.p ? arena_printf(mem, "%.*s(%.*s)", STR_ARG(p->tool), STR_ARG(p->pattern))
			    : p->tool;
}

/* ---- Which tools ------------------------------------------------------------ */

/* "mcp__server" means all tools of that server. */
static bool is_server_of(struct str rule, struct str tool)
{
	return str_has_prefix(rule, STR("mcp__")) && str_has_prefix(tool, rule) &&
	       str_has_prefix(str_sub(tool, rule.n, SIZE_MAX), STR("__"));
}

/* Strictly a name alone is that of one tool: who lets files be edited has not said that they may be written
 * anew. */
static bool means_tool(const struct permission *p, struct str tool, bool strictly)
{
	const struct subject *s = subject_of(tool);
	int64_t steps = LIMIT_RULE_STEPS;
	struct glob_how how = { .steps = &steps };

	if (str_eq(p->tool, tool) || is_server_of(p->tool, tool) || glob_match(p->tool, tool, &how))
		return true;
	return s && s->family && str_eq(p->tool, str_of(s->family)) && (p->pattern.p || !strictly);
}

bool permission_may_allow(const struct permission *p, struct str tool)
{
	if (str_eq(tool, STR(ASKS_A_PERSON)))
		return false;
	return !str_eq(tool, STR(SHOWS_A_PLAN)) || str_eq(p->tool, tool);
}

/* ---- Which input ------------------------------------------------------------ */

/* The next member of that name from `at` on; JSON_NONE = there is none. */
static uint32_t next_member(const struct json *j, const struct subject *s, uint32_t at)
{
	uint32_t root = json_root(j);

	for (uint32_t k = at == JSON_NONE ? json_first(j, root) : json_next(j, at); k != json_end(j, root);
	     k = json_next(j, k + 1))
		if (json_string_eq(j, k, str_of(s->member)))
			return k + 1;
	return JSON_NONE;
}

/* The one good string that counts. */
static bool only_text(const struct json *j, const struct subject *s, struct buf *out)
{
	uint32_t v = json_is(j, json_root(j), JSON_OBJECT) ? next_member(j, s, JSON_NONE) : JSON_NONE;

	if (!json_is(j, v, JSON_STRING) || next_member(j, s, v) != JSON_NONE ||
	    (j->tape[v].flags & (JSON_BAD_UTF8 | JSON_LONE_SURROGATE)))
		return false;
	return json_string(j, v, out);
}

static bool is_listed(const char *list, const struct json *j, uint32_t key)
{
	struct str rest = str_of(list);

	while (rest.n)
		if (json_string_eq(j, key, str_cut(rest, ' ', &rest)))
			return true;
	return false;
}

static bool says_no_more(const struct json *j, const struct subject *s)
{
	uint32_t root = json_root(j);

	for (uint32_t k = json_first(j, root); s->beside && k != json_end(j, root); k = json_next(j, k + 1))
		if (!is_listed(s->beside, j, k))
			return false;
	return true;
}

static bool means_strictly(const struct permission *p, const struct permission_question *q,
			   const struct subject *s)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);

	return only_text(q->input, s, &text) && says_no_more(q->input, s) &&
	       permission_match(s->kind, p->pattern, buf_as_str(&text), q, true);
}

static bool means_widely(const struct permission *p, const struct permission_question *q,
			 const struct subject *s)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	const struct json *j = q->input;
	bool any = false;

	if (!json_is(j, json_root(j), JSON_OBJECT))
		return true;
	for (uint32_t v = next_member(j, s, JSON_NONE); v != JSON_NONE; v = next_member(j, s, v)) {
		any = true;
		buf_clear(&text);
		if (!json_string(j, v, &text) ||
		    permission_match(s->kind, p->pattern, buf_as_str(&text), q, false))
			return true;
	}
	return !any;
}

bool permission_means(const struct permission *p, const struct permission_question *q, bool strictly)
{
	const struct subject *s = subject_of(q->tool);

	if (!means_tool(p, q->tool, strictly))
		return false;
	if (!p->pattern.p)
		return true;
	if (!s)
		return !strictly;
	return strictly ? means_strictly(p, q, s) : means_widely(p, q, s);
}

/* ---- A rule for one question ------------------------------------------------- */

enum status permission_exact(const struct permission_question *q, struct arena *mem, struct permission *out,
			     struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct buf pattern CLEANUP(buf_release) = BUF_INIT(LIMIT_RULE_PATTERN);
	const struct subject *s = subject_of(q->tool);

	*out = (struct permission){ 0 };
	if (s && s->is_all && only_text(q->input, s, &text) && says_no_more(q->input, s) &&
	    permission_exact_pattern(s->kind, buf_as_str(&text), q, &pattern) && pattern.n)
		*out = (struct permission){ arena_str(mem, q->tool), arena_str(mem, buf_as_str(&pattern)) };
	if (!out->pattern.p || permission_check(out, err))
		return err_fail(err, STATUS_USAGE,
				"there is no rule for exactly this; give a pattern of your own, or '*' for "
				"whatever this tool wants");
	return STATUS_OK;
}

struct str permission_subject(struct str tool, const struct json *input, struct arena *mem)
{
	const struct subject *s = subject_of(tool);

	return s ? json_string_in(input, json_get(input, json_root(input), str_of(s->member)), mem)
		 : (struct str){ 0 };
}

bool permission_is_question(struct str tool)
{
	return str_eq(tool, STR(ASKS_A_PERSON));
}

bool permission_is_for_once(struct str tool)
{
	return str_eq(tool, STR(ASKS_A_PERSON)) || str_eq(tool, STR(SHOWS_A_PLAN));
}

struct str permission_path(const struct permission_question *q, struct arena *mem)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	const struct subject *s = subject_of(q->tool);
	struct str path;

	if (!s || s->kind != PERMISSION_PATH || !only_text(q->input, s, &text) ||
	    str_has_byte(buf_as_str(&text), '\0'))
		return (struct str){ 0 };
	path = buf_as_str(&text);
	if (str_has_prefix(path, STR("~/")) && q->home.n)
		return arena_printf(mem, "%.*s%.*s", STR_ARG(q->home), STR_ARG(str_sub(path, 1, SIZE_MAX)));
	if (str_has_prefix(path, STR("/")))
		return arena_str(mem, path);
	return q->cwd.n ? arena_printf(mem, "%.*s/%.*s", STR_ARG(q->cwd), STR_ARG(path)) : (struct str){ 0 };
}
