/*
 * What an agent means to do: tasks/SESSION/N.json, a task each, and the older
 * todos/SESSION-agent-AGENT.json, a list; and what calls of tools make of either. Pure: bytes in, tasks out.
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
	bool deleted; /* its status says so: it is on no list any more */
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

/* What a call of a tool does to the list of its session. */
enum task_deed {
	TASK_NOTHING,
	TASK_LIST,   /* TodoWrite: this is the list from now on */
	TASK_CREATE, /* one more; the result says its id */
	TASK_CHANGE, /* of the one with this id what the call says */
};

/* By the tool's name; *tasks is then where the call's input, JSON at `input`, has what task_read() takes. */
enum task_deed task_deed(struct str tool, const struct json *j, uint32_t input, uint32_t *tasks);

/* What another says of it is so from now on; what that leaves unsaid stays. */
void task_change(struct task *task, const struct task *by, struct arena *mem);

/* The id that the result of a call gives to the task it made, a line of the transcript being its JSON; p NULL =
 * it says none. */
struct str task_created(const struct json *line, struct arena *mem);

#endif
