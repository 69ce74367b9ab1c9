/*
 * What an agent means to do: tasks/SESSION/N.json, a task each, and the older
 * todos/SESSION-agent-AGENT.json, a list. Pure: bytes in, tasks out.
 */
#ifndef ARBOR_CLAUDE_TASK_H
#define ARBOR_CLAUDE_TASK_H

#include "base/json.h"
#include "base/uuid.h"

enum task_state {
	TASK_IN_PROGRESS,
	TASK_PENDING,
	TASK_UNKNOWN, /* says something else, or nothing: not known to be done */
	TASK_COMPLETED,
	TASK_STATES
};

const char *task_state_name(enum task_state state);

struct task {
	enum task_state state;
	struct str id;	    /* as it stands there, a number as its digits; p NULL = none */
	struct str subject; /* a todo's content; p NULL = none */
	struct str description, active_form, priority; /* p NULL = none */
	struct str *blocks, *blocked_by;
	size_t block_count, blocked_by_count;
};

/* What the name of such a file says. `agent` is a todo list's, p NULL when it is the
 * session itself or a task; borrowed from the path. */
bool task_owner_of_path(struct str path, struct uuid *session, struct str *agent);

/*
 * The tasks of a file of either kind, as an array in the arena; they borrow from the
 * text. What is no object is passed over. STATUS_FORMAT when it is no JSON, or
 * neither a task nor a list.
 */
enum status task_read(struct str text, struct arena *mem, struct task **out, size_t *count,
		      struct err *err) MUST_USE;

#endif
