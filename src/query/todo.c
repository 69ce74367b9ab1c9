/*
 * Lists, from the calls that made them.
 *
 * A call of TodoWrite has the whole list: only the last of a transcript is read. TaskCreate and TaskUpdate are steps,
 * which are done again one after the other; sub-agents work on the list of their session, so theirs are among them by
 * time. The id of a task is in the result of the call that made it; where that is missing, it is the next number.
 *
 * A client uses one or the other. Where a session has both, what was done last counts.
 */
#include "query/todo.h"

#include "base/map.h"
#include "query/called.h"

#include <stdio.h>
#include <stdlib.h>

struct step {
	struct session session;
	int64_t at, order;
	enum task_deed deed;
	struct todo_task what;
};

struct todos {
	struct store *store;
	todo_wanted_fn *wanted;
	void *wanted_ctx;
	struct arena *mem;
	struct transcript transcript;
	struct session session; /* of the row in hand; row 0 = it is not wanted */
	struct map lists;	/* by session and agent */
	struct todo_list **all;
	size_t count, cap;
	struct map calls; /* ids of those that are in steps */
	struct step *steps;
	size_t step_count, step_cap;
};

static void todos_release(struct todos *t)
{
	transcript_release(&t->transcript);
	map_release(&t->lists);
	map_release(&t->calls);
	mem_free(t->all);
	mem_free(t->steps);
}

/* What stands for an agent in the key of a list that was made in steps. */
#define IN_STEPS STR("\1")

static struct str key_of(struct todos *t, const struct session *session, struct str agent)
{
	char id[UUID_TEXT + 1];

	uuid_print(&session->id, id);
	return arena_printf(t->mem, "%s%.*s", id, STR_ARG(agent));
}

static struct todo_list *list_of(struct todos *t, const struct session *session, struct str agent)
{
	struct str key = key_of(t, session, agent);
	struct todo_list *list = map_get(&t->lists, key);

	if (list)
		return list;
	list = arena_alloc(t->mem, sizeof *list);
	list->session = *session;
	map_put(&t->lists, key, list);
	if (t->count == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 32;
		t->all = mem_resize(t->all, t->cap * sizeof(*t->all));
	}
	return t->all[t->count++] = list;
}

static void add_task(struct todos *t, struct todo_list *list, const struct todo_task *task)
{
	if (list->count == list->cap) {
		struct todo_task *old = list->tasks;

		list->cap = list->cap ? 2 * list->cap : 16;
		list->tasks = arena_alloc(t->mem, list->cap * sizeof *list->tasks);
		for (size_t i = 0; i < list->count; i++)
			list->tasks[i] = old[i];
	}
	list->tasks[list->count++] = *task;
}

/* ---- Calls --------------------------------------------------------------------------- */

/* The transcript of a call, if it is one that is asked for. */
static enum status go_to(struct todos *t, int64_t row, struct err *err)
{
	if (session_get(t->store, row, t->mem, &t->session, err))
		return err_failed(err->status);
	if (t->session.old || !t->wanted(t->wanted_ctx, &t->session))
		t->session.row = 0;
	return STATUS_OK;
}

/* Of a sub-agent, in the file of its conversation: it has a list of its own, which is none of the conversation's. A
 * message inside a progress line has no session of its own. */
static bool is_aside(const struct todos *t, const struct record *rec)
{
	return !t->session.agent.n && ((rec->flags & (RECORD_SIDECHAIN | RECORD_EMBEDDED)) || !rec->session.n);
}

/* The tasks of a call, with texts that stay. */
static enum task_deed read_call(struct todos *t, const struct transcript_line *line, const struct record_block *call,
				const struct uuid *id, struct todo_task *template, struct task **tasks, size_t *count)
{
	const struct json *j = &line->reader->json;
	uint32_t at = JSON_NONE;
	enum task_deed deed = task_deed(call->name, j, json_get(j, call->node, STR("input")), &at);
	struct err ignored;

	if (deed == TASK_NOTHING || at == JSON_NONE || (deed == TASK_LIST && is_aside(t, line->record)) ||
	    task_read(arena_str(t->mem, json_raw(j, at)), t->mem, tasks, count, &ignored))
		return TASK_NOTHING;
	*template = (struct todo_task){ .node = *id, .call = *call };
	template->call.name = arena_str(t->mem, call->name);
	template->call.tool = arena_str(t->mem, call->tool);
	return deed;
}

/* ---- Whole lists ----------------------------------------------------------------------- */

struct looking {
	struct todos *t;
	bool found;
};

static enum status take_list(void *ctx, const struct transcript_line *line, const struct record_block *call,
			     const struct uuid *id, struct err *err)
{
	struct looking *y = ctx;
	struct todos *t = y->t;
	int64_t at = line->record->has_time ? line->record->at : 0;
	struct todo_task task;
	struct todo_list *list;
	struct task *tasks;
	size_t count;

	(void)err;
	if (read_call(t, line, call, id, &task, &tasks, &count) != TASK_LIST)
		return STATUS_OK;
	y->found = true;
	list = list_of(t, &t->session, t->session.agent);
	if (list->at > at)
		return STATUS_OK;
	list->session = t->session;
	list->at = at;
	list->count = 0;
	for (size_t i = 0; i < count; i++) {
		task.task = tasks[i];
		add_task(t, list, &task);
	}
	return STATUS_OK;
}

/* The last call of a transcript that has a list; those before it do not matter. */
static enum status read_last(struct todos *t, const struct called *calls, size_t count, struct err *err)
{
	struct looking y = { .t = t };

	if (go_to(t, calls[0].row, err))
		return err_failed(err->status);
	for (size_t i = count; i-- > 0 && t->session.row && !y.found;)
		if (called_read(&t->transcript, t->store, &t->session, &calls[i], t->mem, take_list, &y, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status read_lists(struct todos *t, struct err *err)
{
	static const char *const tools[] = { "TodoWrite", NULL };
	struct called *calls;
	size_t count, end;

	if (called_find(t->store, tools, t->mem, &calls, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i = end) {
		for (end = i; end < count && calls[end].row == calls[i].row;)
			end++;
		if (read_last(t, &calls[i], end - i, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- Steps ------------------------------------------------------------------------------- */

/* The id that a new task got. */
struct making {
	struct arena *mem;
	struct str id;
};

static enum status take_result(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct making *m = ctx;

	(void)err;
	*go_on = false;
	if ((line->record->flags & RECORD_RESULT) && !m->id.p)
		m->id = task_created(&line->reader->json, m->mem);
	return STATUS_OK;
}

static enum status find_id(struct todos *t, struct todo_task *task, struct err *err)
{
	enum { MOST = 8 }; /* lines with one call: copies of it, and its result */
	struct making m = { .mem = t->mem };
	struct id_match found[MOST];
	size_t count;

	if (call_search(t->store, task->call.tool, t->session.row, found, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count && !m.id.p; i++) {
		const struct node *n = &found[i].node;

		if (transcript_each(&t->transcript, t->store, &t->session, n->offset, n->offset + n->length,
				    take_result, &m, err))
			return err_failed(err->status);
	}
	task->task.id = m.id;
	return STATUS_OK;
}

/* A line that stands in several files is one step. */
static enum status take_step(void *ctx, const struct transcript_line *line, const struct record_block *call,
			     const struct uuid *id, struct err *err)
{
	struct todos *t = ctx;
	struct step step = { .session = t->session, .order = (int64_t)t->step_count };
	struct task *tasks;
	size_t count;
	struct str key;

	(void)err;
	step.deed = read_call(t, line, call, id, &step.what, &tasks, &count);
	if (step.deed == TASK_NOTHING || step.deed == TASK_LIST || count != 1)
		return STATUS_OK;
	key = key_of(t, &t->session, step.what.call.tool);
	if (step.what.call.tool.n && map_get(&t->calls, key))
		return STATUS_OK;
	map_put(&t->calls, key, t);
	step.what.task = tasks[0];
	step.at = line->record->has_time ? line->record->at : 0;
	if (t->step_count == t->step_cap) {
		t->step_cap = t->step_cap ? 2 * t->step_cap : 64;
		t->steps = mem_resize(t->steps, t->step_cap * sizeof *t->steps);
	}
	t->steps[t->step_count++] = step;
	return STATUS_OK;
}

static enum status read_steps(struct todos *t, struct err *err)
{
	static const char *const tools[] = { "TaskCreate", "TaskUpdate", NULL };
	struct called *calls;
	size_t count;

	if (called_find(t->store, tools, t->mem, &calls, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		size_t before = t->step_count;

		if ((i == 0 || calls[i].row != calls[i - 1].row) && go_to(t, calls[i].row, err))
			return err_failed(err->status);
		if (!t->session.row)
			continue;
		if (called_read(&t->transcript, t->store, &t->session, &calls[i], t->mem, take_step, t, err))
			return err_failed(err->status);
		if (t->step_count > before && t->steps[before].deed == TASK_CREATE &&
		    find_id(t, &t->steps[before].what, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct todo_task *task_with(struct todo_list *list, struct str id)
{
	for (size_t i = 0; i < list->count; i++)
		if (str_eq(list->tasks[i].task.id, id))
			return &list->tasks[i];
	return NULL;
}

static struct str next_id(const struct todo_list *list, struct arena *mem)
{
	uint64_t most = 0, id;

	for (size_t i = 0; i < list->count; i++)
		if (str_to_u64(list->tasks[i].task.id, &id) && id > most)
			most = id;
	return arena_printf(mem, "%" PRIu64, most + 1);
}

static void apply(struct todos *t, struct todo_list *list, struct step *step)
{
	struct todo_task *there;

	if (step->deed == TASK_CREATE && !step->what.task.id.p)
		step->what.task.id = next_id(list, t->mem);
	if (step->deed == TASK_CREATE)
		step->what.task.state = TASK_PENDING;
	there = task_with(list, step->what.task.id);
	if (there && step->deed == TASK_CHANGE)
		task_change(&there->task, &step->what.task, t->mem);
	else if (there)
		*there = step->what;
	else if (step->deed == TASK_CREATE)
		add_task(t, list, &step->what);
}

static void drop_deleted(struct todo_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (!list->tasks[i].task.deleted)
			list->tasks[kept++] = list->tasks[i];
	list->count = kept;
}

static void apply_steps(struct todos *t)
{
	if (t->step_count)
		qsort(t->steps, t->step_count, sizeof *t->steps, by_time);
	for (size_t i = 0; i < t->step_count; i++) {
		struct step *step = &t->steps[i];
		struct todo_list *list = list_of(t, &step->session, IN_STEPS);

		if (!step->session.agent.n)
			list->session = step->session;
		list->at = step->at;
		apply(t, list, step);
	}
}

/* Of both kinds of lists of a session, whether this is the older. */
static bool is_overtaken(struct todos *t, const struct todo_list *list)
{
	const struct todo_list *whole = map_get(&t->lists, key_of(t, &list->session, STR("")));
	const struct todo_list *steps = map_get(&t->lists, key_of(t, &list->session, IN_STEPS));

	if (!whole || !steps)
		return false;
	return list == (whole->at > steps->at ? steps : whole);
}

enum status todo_lists(struct store *s, todo_wanted_fn *wanted, void *ctx, struct arena *mem, struct todo_list **out,
		       size_t *count, struct err *err)
{
	struct todos t CLEANUP(todos_release) = { .store = s, .wanted = wanted, .wanted_ctx = ctx, .mem = mem };

	transcript_init(&t.transcript);
	if (read_lists(&t, err) || read_steps(&t, err))
		return err_failed(err->status);
	apply_steps(&t);
	*count = 0;
	*out = arena_alloc(mem, (t.count + 1) * sizeof **out);
	for (size_t i = 0; i < t.count; i++) {
		drop_deleted(t.all[i]);
		if (t.all[i]->count && !is_overtaken(&t, t.all[i]))
			(*out)[(*count)++] = *t.all[i];
	}
	return STATUS_OK;
}
