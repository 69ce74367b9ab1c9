/*
 * The layout of ~/.claude as a pure function of paths.
 *
 * Top-level folders are an allow-list: credentials, settings, plugins, caches,
 * snapshots, debug logs and whatever the client invents next are not in it and
 * so are never opened. A few names are refused at every depth, because they
 * hold secrets, mean nothing without the process that made them, or are what a file is called while it is
 * written.
 */
#include "claude/layout.h"

static const struct {
	struct str name;
	enum claude_kind kind;
} folders[] = {
	{ { "projects", 8 }, CLAUDE_OTHER },
	{ { "tasks", 5 }, CLAUDE_TASK },
	{ { "todos", 5 }, CLAUDE_TODO },
	{ { "plans", 5 }, CLAUDE_PLAN },
	{ { "file-history", 12 }, CLAUDE_FILE_HISTORY },
	{ { "sessions", 8 }, CLAUDE_LIVE },
};

const char *const claude_secret_names[] = {
	".credentials.json", ".claude.json", "settings.json", "settings.local.json", NULL,
};

const char *const claude_top_names[] = {
	"projects", "history.jsonl", "tasks", "todos", "plans", "file-history", "sessions", NULL,
};

static const char *const names[CLAUDE_KINDS] = {
	[CLAUDE_NONE] = "none",
	[CLAUDE_TRANSCRIPT] = "transcript",
	[CLAUDE_SUBAGENT] = "subagent",
	[CLAUDE_SUBAGENT_META] = "subagent-meta",
	[CLAUDE_TOOL_RESULT] = "tool-result",
	[CLAUDE_MEMORY] = "memory",
	[CLAUDE_TASK] = "task",
	[CLAUDE_TODO] = "todo",
	[CLAUDE_PLAN] = "plan",
	[CLAUDE_FILE_HISTORY] = "file-history",
	[CLAUDE_HISTORY] = "history",
	[CLAUDE_LIVE] = "live",
	[CLAUDE_OTHER] = "other",
};

const char *claude_kind_name(enum claude_kind kind)
{
	return names[kind];
}

/* "X.tmp.1f053daa", "X.tmp.PID.MORE": the client writes beside a file and renames. Whoever looked in between
 * would know the file by a random name for ever. */
static bool is_unfinished(struct str name)
{
	enum { RANDOM = 8 };
	size_t digits = 0, hex = 0;
	struct str mark = STR(".tmp."), rest, first;

	while (name.n > mark.n && !str_has_prefix(name, mark))
		name = str_sub(name, 1, SIZE_MAX);
	first = str_cut(str_sub(name, mark.n, SIZE_MAX), '.', &rest);
	for (size_t i = 0; i < first.n; i++) {
		digits += first.p[i] >= '0' && first.p[i] <= '9';
		hex += first.p[i] >= 'a' && first.p[i] <= 'f';
	}
	return first.n && (digits == first.n || (first.n == RANDOM && digits + hex == RANDOM));
}

static bool is_refused_name(struct str name)
{
	return str_eq(name, STR(".credentials.json")) || str_has_prefix(name, STR(".claude.json")) ||
	       (str_has_prefix(name, STR("settings")) && str_has_suffix(name, STR(".json"))) ||
	       str_has_suffix(name, STR(".lock")) || is_unfinished(name);
}

static enum claude_kind top_kind(struct str first)
{
	for (size_t i = 0; i < COUNT(folders); i++)
		if (str_eq(first, folders[i].name))
			return folders[i].kind;
	return CLAUDE_NONE;
}

static bool has_component(struct str path, struct str wanted)
{
	while (path.p)
		if (str_eq(str_cut(path, '/', &path), wanted))
			return true;
	return false;
}

/* `rest` is the path below projects/. */
static enum claude_kind project_kind(struct str rest)
{
	struct str name = str_basename(rest), below;
	bool jsonl = str_has_suffix(name, STR(".jsonl"));

	str_cut(rest, '/', &below);
	if (!below.p)
		return CLAUDE_OTHER;
	if (has_component(below, STR("subagents"))) {
		if (str_has_suffix(name, STR(".meta.json")))
			return CLAUDE_SUBAGENT_META;
		if (jsonl && str_has_prefix(name, STR("agent-")))
			return CLAUDE_SUBAGENT;
		return CLAUDE_OTHER;
	}
	if (!str_has_byte(below, '/') && jsonl)
		return str_has_prefix(name, STR("agent-")) ? CLAUDE_SUBAGENT : CLAUDE_TRANSCRIPT;
	if (has_component(below, STR("tool-results")))
		return CLAUDE_TOOL_RESULT;
	if (str_has_prefix(below, STR("memory/")))
		return CLAUDE_MEMORY;
	return CLAUDE_OTHER;
}

enum claude_kind claude_kind_of(struct str path)
{
	struct str rest;
	struct str first = str_cut(path, '/', &rest);
	enum claude_kind kind = top_kind(first);

	if (is_refused_name(str_basename(path)))
		return CLAUDE_NONE;
	if (!rest.p)
		return str_eq(path, STR("history.jsonl")) ? CLAUDE_HISTORY : CLAUDE_NONE;
	if (kind == CLAUDE_OTHER)
		return project_kind(rest);
	if (kind == CLAUDE_LIVE && (str_has_byte(rest, '/') || !str_has_suffix(rest, STR(".json"))))
		return CLAUDE_NONE;
	return kind;
}

struct str claude_project_of(struct str path)
{
	struct str rest, below;

	if (!str_eq(str_cut(path, '/', &rest), STR("projects")) || !rest.p)
		return (struct str){ 0 };
	return str_cut(rest, '/', &below);
}

bool claude_wants_folder(struct str path)
{
	struct str rest;
	struct str first = str_cut(path, '/', &rest);
	enum claude_kind kind = top_kind(first);

	return kind != CLAUDE_NONE && !(kind == CLAUDE_LIVE && rest.p) && !is_refused_name(str_basename(path));
}

bool claude_file_grows(struct str path)
{
	return str_has_suffix(path, STR(".jsonl"));
}

/* Ids stand at the beginning of what is below tasks/, todos/ and file-history/, and below a project's
 * folder. */
bool claude_session_of(struct str path, struct uuid *session)
{
	struct str project = claude_project_of(path), name;

	if (project.p)
		name = str_sub(path, STR("projects/").n + project.n + 1, SIZE_MAX);
	else
		str_cut(path, '/', &name);
	switch (claude_kind_of(path)) {
	case CLAUDE_TRANSCRIPT:
	case CLAUDE_SUBAGENT:
	case CLAUDE_SUBAGENT_META:
	case CLAUDE_TOOL_RESULT:
	case CLAUDE_OTHER:
	case CLAUDE_TASK:
	case CLAUDE_TODO:
	case CLAUDE_FILE_HISTORY:
		return uuid_parse(str_sub(name, 0, UUID_TEXT), session);
	case CLAUDE_NONE:
	case CLAUDE_MEMORY:
	case CLAUDE_PLAN:
	case CLAUDE_HISTORY:
	case CLAUDE_LIVE:
	case CLAUDE_KINDS:
		break;
	}
	return false;
}

bool claude_file_has_lines(struct str path)
{
	enum claude_kind kind = claude_kind_of(path);

	return kind == CLAUDE_TRANSCRIPT || kind == CLAUDE_SUBAGENT || kind == CLAUDE_HISTORY ||
	       kind == CLAUDE_OTHER;
}
