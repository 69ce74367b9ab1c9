/*
 * Tasks and todos.
 *
 * A task is an object in a file of its own, rewritten whenever it changes; a todo list
 * of the older client is an array in one file. Both name the same things, some of them
 * differently (subject, content), so they are read alike, and a task that is missing
 * something, or has a number where a text is expected, is still a task.
 *
 * So are the inputs of the tools with which lists are made: TodoWrite has a whole list, TaskCreate a task
 * without an id, TaskUpdate the id and what changes.
 *
 * Ids refer to each other (blocks, blockedBy). These are given as they stand: whether
 * there is such a task, or a circle of them, is nobody's business here.
 */
#include "claude/task.h"

static const char *const names[TASK_STATES] = {
	[TASK_IN_PROGRESS] = "in_progress",
	[TASK_PENDING] = "pending",
	[TASK_UNKNOWN] = "unknown",
	[TASK_COMPLETED] = "completed",
};

const char *task_state_name(enum task_state state)
{
	return names[state];
}

/* ---- Whose it is ------------------------------------------------------------ */

static bool task_owner(struct str rest, struct uuid *session)
{
	struct str name, folder = str_cut(rest, '/', &name);

	return name.n && !str_has_byte(name, '/') && str_has_suffix(name, STR(".json")) &&
	       uuid_parse(folder, session);
}

static bool todo_owner(struct str name, struct uuid *session, struct str *agent)
{
	const struct str middle = STR("-agent-"), end = STR(".json");

	if (!str_has_suffix(name, end) || !uuid_parse(str_sub(name, 0, UUID_TEXT), session))
		return false;
	name = str_sub(name, 0, name.n - end.n);
	*agent = str_sub(name, UUID_TEXT + middle.n, SIZE_MAX);
	if (!str_has_prefix(str_sub(name, UUID_TEXT, SIZE_MAX), middle) || !agent->n ||
	    str_has_byte(*agent, '/'))
		return false;
	if (str_eq(*agent, str_sub(name, 0, UUID_TEXT)))
		*agent = (struct str){ 0 };
	return true;
}

bool task_owner_of_path(struct str path, struct uuid *session, struct str *agent)
{
	struct str rest, folder = str_cut(path, '/', &rest);

	*agent = (struct str){ 0 };
	if (str_eq(folder, STR("tasks")))
		return task_owner(rest, session);
	return str_eq(folder, STR("todos")) && todo_owner(rest, session, agent);
}

/* ---- What it says ----------------------------------------------------------- */

/* A text, or a number's digits; p NULL for anything else. */
static struct str text_of(const struct json *j, uint32_t node, struct arena *mem)
{
	return json_is(j, node, JSON_NUMBER) ? json_raw(j, node) : json_string_in(j, node, mem);
}

static struct str member(const struct json *j, uint32_t task, struct str name, struct arena *mem)
{
	return text_of(j, json_get(j, task, name), mem);
}

static void read_ids(const struct json *j, uint32_t list, struct arena *mem, struct str **out, size_t *count)
{
	*count = 0;
	if (!json_is(j, list, JSON_ARRAY) || !json_count(j, list))
		return;
	*out = arena_alloc(mem, json_count(j, list) * sizeof **out);
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i)) {
		struct str id = text_of(j, i, mem);

		if (id.p)
			(*out)[(*count)++] = id;
	}
}

static enum task_state state_of(const struct json *j, uint32_t node)
{
	for (int i = 0; i < TASK_STATES; i++)
		if (json_string_eq(j, node, str_of(names[i])))
			return (enum task_state)i;
	return TASK_UNKNOWN;
}

/* As files call it, or as calls do. */
static uint32_t either(const struct json *j, uint32_t node, struct str name, struct str other)
{
	uint32_t at = json_get(j, node, name);

	return at == JSON_NONE ? json_get(j, node, other) : at;
}

static void read_task(const struct json *j, uint32_t node, struct arena *mem, struct task *out)
{
	*out = (struct task){
		.state = state_of(j, json_get(j, node, STR("status"))),
		.id = member(j, node, STR("id"), mem),
		.subject = member(j, node, STR("subject"), mem),
		.description = member(j, node, STR("description"), mem),
		.active_form = member(j, node, STR("activeForm"), mem),
		.priority = member(j, node, STR("priority"), mem),
	};
	if (!out->subject.p)
		out->subject = member(j, node, STR("content"), mem);
	if (!out->id.p)
		out->id = member(j, node, STR("taskId"), mem);
	out->deleted = json_string_eq(j, json_get(j, node, STR("status")), STR("deleted"));
	read_ids(j, either(j, node, STR("blocks"), STR("addBlocks")), mem, &out->blocks, &out->block_count);
	read_ids(j, either(j, node, STR("blockedBy"), STR("addBlockedBy")), mem, &out->blocked_by,
		 &out->blocked_by_count);
}

enum status task_read(struct str text, struct arena *mem, struct task **out, size_t *count, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	uint32_t root;

	*count = 0;
	if (json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	root = json_root(&j);
	if (json_is(&j, root, JSON_OBJECT)) {
		*out = arena_alloc(mem, sizeof **out);
		read_task(&j, root, mem, &(*out)[(*count)++]);
		return STATUS_OK;
	}
	if (!json_is(&j, root, JSON_ARRAY))
		return err_fail(err, STATUS_FORMAT, "neither a task nor a list of them");
	*out = arena_alloc(mem, (json_count(&j, root) + (size_t)1) * sizeof **out);
	for (uint32_t i = json_first(&j, root); i != json_end(&j, root); i = json_next(&j, i))
		if (json_is(&j, i, JSON_OBJECT))
			read_task(&j, i, mem, &(*out)[(*count)++]);
	return STATUS_OK;
}

/* ---- Calls ------------------------------------------------------------------ */

enum task_deed task_deed(struct str tool, const struct json *j, uint32_t input, uint32_t *tasks)
{
	static const struct {
		const char *tool;
		enum task_deed deed;
	} deeds[] = { { "TodoWrite", TASK_LIST }, { "TaskCreate", TASK_CREATE }, { "TaskUpdate", TASK_CHANGE } };

	for (size_t i = 0; i < COUNT(deeds); i++) {
		if (!str_eq(tool, str_of(deeds[i].tool)))
			continue;
		*tasks = deeds[i].deed == TASK_LIST ? json_get(j, input, STR("todos")) : input;
		return deeds[i].deed;
	}
	return TASK_NOTHING;
}

static void take_text(struct str *to, struct str from)
{
	if (from.p)
		*to = from;
}

static void add_ids(struct str **ids, size_t *count, const struct str *more, size_t more_count, struct arena *mem)
{
	struct str *all = arena_alloc(mem, (*count + more_count + 1) * sizeof *all);

	for (size_t i = 0; i < *count; i++)
		all[i] = (*ids)[i];
	for (size_t i = 0; i < more_count; i++)
		all[(*count)++] = more[i];
	*ids = all;
}

void task_change(struct task *task, const struct task *by, struct arena *mem)
{
	if (by->state != TASK_UNKNOWN)
		task->state = by->state;
	task->deleted |= by->deleted;
	take_text(&task->subject, by->subject);
	take_text(&task->description, by->description);
	take_text(&task->active_form, by->active_form);
	add_ids(&task->blocks, &task->block_count, by->blocks, by->block_count, mem);
	add_ids(&task->blocked_by, &task->blocked_by_count, by->blocked_by, by->blocked_by_count, mem);
}

struct str task_created(const struct json *line, struct arena *mem)
{
	uint32_t result = json_get(line, json_root(line), STR("toolUseResult"));
	struct str id = member(line, json_get(line, result, STR("task")), STR("id"), mem);

	return id.p ? arena_str(mem, id) : id;
}
