/*
 * storage.todos: what agents meant to do, from the files in which clients keep it, and from transcripts where
 * there is no such file: clients sweep them away, and transcripts stay (query/todo.h).
 *
 * Every session has a list: tasks, a file each, or todos of an older client, a file for
 * each agent. All of them are read and sorted before the first is given, because what is
 * open comes first. A task whose file is gone was deleted by the agent or swept away by
 * the client; either way nobody works on it, so it counts as not open and is named gone.
 *
 * Where several folders are mirrored, one may be a copy of another: of files with the same
 * path, the one with the latest date counts.
 */
#include "hub/storage_files.h"

#include "base/map.h"
#include "claude/layout.h"
#include "claude/task.h"
#include "hub/kept.h"
#include "hub/narrow.h"
#include "hub/storage_handles.h"
#include "query/todo.h"
#include "store/session.h"

#include <stdlib.h>

static const struct param todo_params[] = {
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .names = "memory.sessions",
	  .help = "only of this session; @ for the last" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only of sessions in this folder and below; its name, or the end of its path, will do" },
	{ .name = "all", .type = VALUE_BOOL, .letter = 'a', .help = "also what is done, and what is gone" },
	{ 0 },
};

static const struct field todo_fields[] = {
	{ .name = "session", .type = VALUE_ID, .help = "whose it is" },
	HANDLE_FIELD(""),
	TASK_FIELDS,
	{ .name = "waits_for",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "of the ids in blocked_by those that are not done" },
	{ .name = "agent",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the sub-agent whose list it is on" },
	{ .name = "title",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what the session is about" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "folder the session worked in" },
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "date of the file; of a list in a transcript, when it was changed last" },
	{ .name = "vanished_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when its file was gone outside the store" },
	{ .name = "root", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "label of the mirrored folder" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_HIDDEN, .help = "the file, below its folder" },
	{ 0 },
};

/* A session and its list. */
struct owner {
	struct uuid id;
	struct str title, project; /* p NULL = the session is not in the store */
	bool wanted;
	bool has_file; /* in which its client keeps it */
	bool has_open;
	int64_t updated; /* its newest file's date */
};

struct todo {
	struct task task;
	struct owner *owner;
	struct str agent, path, root;
	const struct todo_task *told; /* by a transcript; NULL = it is in a file: */
	struct uuid source; /* id of the file */
	int64_t number;	    /* in it; below 0 = it is the file */
	int64_t updated, vanished_at; /* 0 = unknown; 0 = still there */
	size_t order; /* in which it was read: by path, then as in the file */
};

struct listing {
	struct call *call;
	struct narrow narrow;
	struct map owners; /* by id */
	struct todo *list;
	size_t count, room;
	size_t from;	/* where the todos of the file before begin, and its path and date: */
	struct str path;
	int64_t updated;
	int64_t failed; /* files */
};

static void listing_release(struct listing *l)
{
	map_release(&l->owners);
	mem_free(l->list);
}

static bool is_open(const struct todo *t)
{
	return !t->vanished_at && t->task.state != TASK_COMPLETED;
}

/* ---- Reading ---------------------------------------------------------------- */

static enum status describe_owner(struct call *c, struct str id, struct owner *o, struct err *err)
{
	struct id_match match;
	struct session session;
	size_t count;

	if (id_search(c->store, id, 0, &match, 1, &count, err))
		return err_failed(err->status);
	if (!count || !match.is_session)
		return STATUS_OK;
	if (session_get(c->store, match.session, &c->mem, &session, err))
		return err_failed(err->status);
	o->title = session.title;
	o->project = session.project;
	return STATUS_OK;
}

static enum status find_owner(struct listing *l, const struct uuid *id, struct owner **out, struct err *err)
{
	struct arena *mem = &l->call->mem;
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	*out = map_get(&l->owners, str_from(text, UUID_TEXT));
	if (*out)
		return STATUS_OK;
	*out = arena_alloc(mem, sizeof **out);
	(*out)->id = *id;
	map_put(&l->owners, arena_str(mem, str_from(text, UUID_TEXT)), *out);
	if (!narrow_has_session(&l->narrow, str_from(text, UUID_TEXT)))
		return STATUS_OK;
	if (describe_owner(l->call, str_from(text, UUID_TEXT), *out, err))
		return err_failed(err->status);
	(*out)->wanted = narrow_has_project(&l->narrow, (*out)->project);
	return STATUS_OK;
}

static struct todo *add_todo(struct listing *l)
{
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->list = mem_resize(l->list, l->room * sizeof *l->list);
	}
	return &l->list[l->count];
}

/* Files with the same path follow each other. What an older one had is taken back. */
static bool is_newest(struct listing *l, struct str path, int64_t updated)
{
	if (str_eq(path, l->path)) {
		if (updated <= l->updated)
			return false;
		l->count = l->from;
	}
	l->path = path;
	l->updated = updated;
	l->from = l->count;
	return true;
}

static enum status read_file(struct listing *l, const struct source_info *file, struct owner *owner,
			     struct str agent, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	struct arena *mem = &l->call->mem;
	struct str path = arena_str(mem, file->path);
	struct generation g;
	struct task *tasks;
	bool is_list;
	size_t count;

	if (kept_read(l->call, file, 0, SIZE_MAX, &g, &bytes, err))
		return err_failed(err->status);
	if (task_read(arena_str(mem, buf_as_str(&bytes)), mem, &tasks, &count, err))
		return err_pass(err, "%.*s", STR_ARG(kept_name(l->call, file)));
	if (!is_newest(l, path, g.mtime_ms))
		return STATUS_OK;
	is_list = claude_kind_of(path) == CLAUDE_TODO;
	agent = arena_str(mem, agent);
	for (size_t i = 0; i < count; i++) {
		struct todo *t = add_todo(l);

		*t = (struct todo){ .task = tasks[i],
				    .owner = owner,
				    .agent = agent,
				    .path = path,
				    .root = arena_str(mem, file->root),
				    .source = file->id,
				    .number = is_list ? (int64_t)i : -1,
				    .updated = g.mtime_ms,
				    .vanished_at = file->vanished_at,
				    .order = l->count++ };
	}
	return STATUS_OK;
}

static void describe_lists(struct listing *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct todo *t = &l->list[i];

		t->owner->has_open |= is_open(t);
		if (t->updated > t->owner->updated)
			t->owner->updated = t->updated;
	}
}

static enum status take_file(void *ctx, const struct source_info *file, struct err *err)
{
	struct listing *l = ctx;
	struct owner *owner;
	struct uuid session;
	struct str agent;

	if (call_is_cancelled(l->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	if (!file->generation || !task_owner_of_path(file->path, &session, &agent))
		return STATUS_OK;
	if (find_owner(l, &session, &owner, err))
		return err_failed(err->status);
	owner->has_file = true;
	if (!owner->wanted || read_file(l, file, owner, agent, err) == STATUS_OK)
		return STATUS_OK;
	/* Nobody will mend a file that is gone: it is not complained of each time. */
	if (file->vanished_at && err->status == STATUS_FORMAT)
		return STATUS_OK;
	return kept_excuse(l->call, err, &l->failed) ? STATUS_OK : err_failed(err->status);
}

/* ---- Transcripts ------------------------------------------------------------ */

/* A list that its client keeps in files is read from these, even where some are gone. What goes wrong here goes
 * wrong again when the list is made. */
static bool is_told(void *ctx, const struct session *session)
{
	struct listing *l = ctx;
	struct owner *owner;
	struct err ignored;

	return find_owner(l, &session->id, &owner, &ignored) == STATUS_OK && owner->wanted && !owner->has_file;
}

static enum status take_list(struct listing *l, const struct todo_list *list, struct err *err)
{
	struct owner *owner;

	if (find_owner(l, &list->session.id, &owner, err))
		return err_failed(err->status);
	for (size_t i = 0; i < list->count; i++) {
		struct todo *t = add_todo(l);

		*t = (struct todo){ .task = list->tasks[i].task,
				    .owner = owner,
				    .agent = list->session.agent,
				    .path = list->session.path,
				    .root = list->session.root,
				    .told = &list->tasks[i],
				    .updated = list->at,
				    .order = l->count++ };
	}
	return STATUS_OK;
}

static enum status take_transcripts(struct listing *l, struct err *err)
{
	struct todo_list *lists;
	size_t count;

	if (todo_lists(l->call->store, is_told, l, &l->call->mem, &lists, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (take_list(l, &lists[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Order ------------------------------------------------------------------ */

static int compare_owners(const struct owner *a, const struct owner *b)
{
	if (a == b)
		return 0;
	if (a->has_open != b->has_open)
		return a->has_open ? -1 : 1;
	if (a->updated != b->updated)
		return a->updated > b->updated ? -1 : 1;
	return str_cmp(str_from((const char *)a->id.b, UUID_BYTES),
		       str_from((const char *)b->id.b, UUID_BYTES));
}

/* Task 10 comes behind task 9, though not its file. */
static int compare_ids(struct str a, struct str b)
{
	uint64_t x, y;

	if (!str_to_u64(a, &x) || !str_to_u64(b, &y))
		return 0;
	return x < y ? -1 : x > y;
}

static int compare(const void *left, const void *right)
{
	const struct todo *a = left, *b = right;
	int by_owner = compare_owners(a->owner, b->owner);
	int by_id = compare_ids(a->task.id, b->task.id);

	if (by_owner)
		return by_owner;
	if (is_open(a) != is_open(b))
		return is_open(a) ? -1 : 1;
	if (a->task.state != b->task.state)
		return a->task.state < b->task.state ? -1 : 1;
	if (by_id)
		return by_id;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- Giving ----------------------------------------------------------------- */

static void put_some(struct json_writer *w, const char *key, struct str text)
{
	if (text.n)
		put_text(w, key, text);
}

/* Whether a task of the same list is done or gone; nobody waits for one that is not there. */
static bool is_over(const struct listing *l, const struct todo *t, struct str id)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->list[i].owner == t->owner && str_eq(l->list[i].task.id, id) && is_open(&l->list[i]))
			return false;
	return true;
}

static void put_waits(struct json_writer *w, const struct listing *l, const struct todo *t)
{
	bool any = false;

	for (size_t i = 0; i < t->task.blocked_by_count; i++) {
		if (is_over(l, t, t->task.blocked_by[i]))
			continue;
		if (!any) {
			json_write_key(w, STR("waits_for"));
			json_write_array_begin(w);
			any = true;
		}
		json_write_string(w, t->task.blocked_by[i]);
	}
	if (any)
		json_write_array_end(w);
}

static enum status emit_todo(const struct listing *l, const struct todo *t, struct err *err)
{
	struct call *c = l->call;
	struct json_writer *w = call_begin(c);
	struct node_handle handle = t->told ? handle_of_block(&t->told->node, &t->told->call)
					    : handle_of_todo(&t->source, t->number);

	put_uuid(w, "session", &t->owner->id);
	put_handle(w, &handle);
	put_task(w, &t->task);
	put_waits(w, l, t);
	put_some(w, "agent", t->agent);
	put_some(w, "title", t->owner->title);
	if (t->owner->project.n)
		put_path(w, "project", t->owner->project);
	if (t->updated)
		put_time(w, "updated", t->updated);
	if (t->vanished_at)
		put_time(w, "vanished_at", t->vanished_at);
	put_text(w, "root", t->root);
	put_path(w, "path", t->path);
	return call_emit(c, err);
}

static enum status emit_all(struct listing *l, struct err *err)
{
	bool all = call_flag(l->call, "all");
	size_t hidden = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (!all && !is_open(&l->list[i]))
			hidden++;
		else if (emit_todo(l, &l->list[i], err))
			return err_failed(err->status);
	}
	if (hidden)
		call_note(l->call, "%zu more %s done or gone; --all lists %s", hidden,
			  hidden == 1 ? "is" : "are", hidden == 1 ? "it" : "them");
	return STATUS_OK;
}

static enum status run_todos(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l CLEANUP(listing_release) = { .call = c };

	if (read_begin(c->store, &snapshot, err) || narrow_read(c, &l.narrow, err) ||
	    source_each_below(c->store, STR("tasks/"), take_file, &l, err) ||
	    source_each_below(c->store, STR("todos/"), take_file, &l, err) || take_transcripts(&l, err))
		return err_failed(err->status);
	describe_lists(&l);
	if (l.count)
		qsort(l.list, l.count, sizeof *l.list, compare);
	if (emit_all(&l, err) || narrow_end(&l.narrow, l.count, err))
		return err_failed(err->status);
	return kept_end(l.failed, err);
}

const struct method storage_todos = {
	.name = "todos",
	.verb = "todos",
	.also = "tasks task todo",
	.group = "about",
	.summary = "List what agents meant to do and have not done",
	.text = "From the task lists of all sessions, also of older clients, the last changed first; of\n"
		"each what is in progress first, then what is pending. Where the client has kept no list,\n"
		"it is taken from the transcript, as the agent left it. A task whose file was deleted counts\n"
		"as not open; --all lists these too, and what is done. SESSION is a session's id or the\n"
		"first digits of it.\n",
	.params = todo_params,
	.kind = RESULT_STREAM,
	.fields = todo_fields,
	.empty = "nothing is open",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "todos", "what is open anywhere" },
					      { "todos --project webshop --all",
						"of one project, done ones too" },
					      { "todos --json", "for programs, with descriptions" },
					      { 0 } },
	.run = run_todos,
};
