/*
 * Claude Code's folder: which file is what, and which are never touched.
 */
#ifndef ARBOR_CLAUDE_LAYOUT_H
#define ARBOR_CLAUDE_LAYOUT_H

#include "base/str.h"
#include "base/uuid.h"

enum claude_kind {
	CLAUDE_NONE,          /* not ours to read */
	CLAUDE_TRANSCRIPT,    /* projects/P/SESSION.jsonl */
	CLAUDE_SUBAGENT,      /* projects/P/agent-ID.jsonl, projects/P/SESSION/subagents/.../agent-ID.jsonl */
	CLAUDE_SUBAGENT_META, /* projects/P/SESSION/subagents/.../X.meta.json */
	CLAUDE_TOOL_RESULT,   /* projects/P/SESSION/tool-results/ */
	CLAUDE_MEMORY,        /* projects/P/memory/ */
	CLAUDE_TASK,          /* tasks/ */
	CLAUDE_TODO,          /* todos/ */
	CLAUDE_PLAN,          /* plans/ */
	CLAUDE_FILE_HISTORY,  /* file-history/ */
	CLAUDE_HISTORY,       /* history.jsonl */
	CLAUDE_LIVE,          /* sessions/PID.json */
	CLAUDE_OTHER,         /* anything else below projects/ */
	CLAUDE_KINDS
};

/* Of a path below the folder. CLAUDE_NONE means: do not open. */
enum claude_kind claude_kind_of(struct str path);
const char *claude_kind_name(enum claude_kind kind);

/* The name of the project's folder a path is in or is; p NULL = in none. */
struct str claude_project_of(struct str path);

/* Whether anything below this folder could be wanted. */
bool claude_wants_folder(struct str path);

/* Names at the top of the folder of files that hold secrets; NULL ends them. A file
 * that is the same by another name (a hard link) holds them too. */
extern const char *const claude_secret_names[];

/* Names at the top of the folder below which, or as which, files are wanted; NULL
 * ends them. */
extern const char *const claude_top_names[];

/* Whether it is kept for a session, by the session's id: its transcript, what lies below a folder of
 * that name, its todos. */
bool claude_session_of(struct str path, struct uuid *session);

/* Whether it is made of records, a line each, or may be a copy of such a file. */
bool claude_file_has_lines(struct str path);

/* Whether the client appends to such a file: growing is then not a new version. */
bool claude_file_grows(struct str path);

#endif
