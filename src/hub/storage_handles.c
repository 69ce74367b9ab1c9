/*
 * What handles of storage stand for: a kept file or one of its versions; a plan; a task; a line that was typed.
 *
 * All are found by the id of their source, which says machine, folder and first path and so is the
 * same in every store that mirrors it. What is gone outside of the store is still here.
 */
#include "hub/storage_handles.h"

#include "claude/layout.h"
#include "claude/plan.h"
#include "hub/activations.h"
#include "hub/handle_resolve.h"
#include "hub/kept.h"
#include "hub/window.h"
#include "query/papers.h"

#include <stdio.h>

static struct node_handle of_storage(const char *method, const struct uuid *source, int64_t number)
{
	struct node_handle h = handle_of_file(source, 0);

	h.method = method;
	if (number >= 0)
		snprintf(h.second, sizeof h.second, "%" PRId64, number);
	return h;
}

struct node_handle handle_of_plan(const struct uuid *source, int64_t version)
{
	return of_storage("plan", source, version ? version : -1);
}

struct node_handle handle_of_todo(const struct uuid *source, int64_t number)
{
	return of_storage("todo", source, number);
}

/* ---- Finding them ------------------------------------------------------------------------ */

static enum status find(struct store *s, const struct handle *h, struct arena *mem, struct source_info *out,
			int64_t *number, struct err *err)
{
	struct uuid id;
	uint64_t second = 0;

	if (!uuid_parse(handle_meta(h, 0), &id))
		return err_fail(err, STATUS_FORMAT, "handle: meta[0] is no UUID");
	*number = str_to_u64(handle_meta(h, 1), &second) && second <= INT64_MAX ? (int64_t)second : -1;
	if (source_get(s, &id, mem, out, err) == STATUS_OK)
		return STATUS_OK;
	if (err->status != STATUS_NOT_FOUND)
		return err_failed(err->status);
	return err_fail(err, STATUS_NOT_FOUND,
			"handle: this %.*s is not in this store: it was never mirrored here, or is newer than the"
			" last 'arbor sync'",
			STR_ARG(h->method));
}

enum status storage_handle_file(struct call *c, struct str text, struct source_info *out, int64_t *version,
				struct err *err)
{
	const struct handle_kind *kind = NULL;
	struct handle h;
	struct uuid plugin;

	if (handle_parse(text, &c->mem, &h, err))
		return err_failed(err->status);
	plugin = handle_plugin_id(&h);
	if (h.hub.n || !activation_owns(&activation_storage, &plugin))
		return err_fail(err, STATUS_USAGE, "this is no handle of a kept file; 'arbor resolve' shows it");
	if (handle_fit(&activation_storage, &h, &c->mem, &kind, &h, err) ||
	    find(c->store, &h, &c->mem, out, version, err))
		return err_failed(err->status);
	if (*version < 0 || str_eq(h.method, STR("todo")))
		*version = 0;
	return STATUS_OK;
}

/* ---- Files ------------------------------------------------------------------------------- */

static void put_file(struct resolving *r, const struct source_info *file, const struct generation *g)
{
	put_uuid(r->w, "id", &file->id);
	put_text(r->w, "host", file->host);
	put_text(r->w, "root", file->root);
	put_path(r->w, "path", file->path);
	put_text(r->w, "type", str_of(kept_kind(file)));
	put_int(r->w, "version", g->number);
	put_int(r->w, "versions", file->generations);
	if (g->mtime_ms)
		put_time(r->w, "modified", g->mtime_ms);
	if (file->vanished_at)
		put_time(r->w, "vanished_at", file->vanished_at);
}

#define FILE_FIELDS \
	{ .name = "id", .type = VALUE_ID, .help = "of the source" }, \
	{ .name = "host", .type = VALUE_TEXT, .help = "label of the machine" }, \
	{ .name = "root", .type = VALUE_TEXT, .help = "label of the mirrored folder" }, \
	{ .name = "path", .type = VALUE_PATH, .help = "below that" }, \
	{ .name = "type", .type = VALUE_TEXT, .help = "what it is: transcript, subagent, plan and so on" }, \
	{ .name = "version", .type = VALUE_INT, .help = "which one this is" }, \
	{ .name = "versions", .type = VALUE_INT, .help = "how many there are" }, \
	{ .name = "modified", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "the file's own date" }, \
	{ .name = "vanished_at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, \
	  .help = "when it was gone outside the store" }, \
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "what stands in it" }, \
	{ .name = "base64", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "the same where it is no text" }, \
	WINDOW_FIELDS

static const struct field file_data[] = { FILE_FIELDS, { 0 } };

static const struct field plan_data[] = {
	{ .name = "name", .type = VALUE_PATH, .help = "what it is called" },
	{ .name = "title", .type = VALUE_TEXT, .help = "its first heading" },
	FILE_FIELDS,
	{ 0 },
};

static enum status find_version(struct resolving *r, struct source_info *file, struct generation *g, struct err *err)
{
	int64_t version;

	if (find(r->call->store, r->handle, r->mem, file, &version, err))
		return err_failed(err->status);
	if (generation_pick(r->call->store, file->row, version < 0 ? 0 : (uint64_t)version, g, err))
		return err_pass(err, "handle");
	return STATUS_OK;
}

static enum status put_bytes(struct resolving *r, const struct generation *g, struct err *err)
{
	struct window window = { .from = (size_t)r->from, .left = (size_t)r->most };
	bool binary = false;

	if (kept_window(r->call, r->w, &(struct kept_span){ g->row, 0, g->length }, &window, &binary, err))
		return err_failed(err->status);
	if (binary)
		r->kind = CONTENT_BINARY;
	return STATUS_OK;
}

static enum status resolve_file(struct resolving *r, struct err *err)
{
	struct source_info file;
	struct generation g;

	if (find_version(r, &file, &g, err))
		return err_failed(err->status);
	put_file(r, &file, &g);
	return put_bytes(r, &g, err);
}

static enum status resolve_plan(struct resolving *r, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	struct source_info file;
	struct generation g;

	if (find_version(r, &file, &g, err))
		return err_failed(err->status);
	if (claude_kind_of(file.path) != CLAUDE_PLAN)
		return err_fail(err, STATUS_FORMAT, "handle: what has this id is no plan, but a file");
	if (kept_read(r->call, &file, (uint64_t)g.number, PLAN_TITLE_BYTES, &g, &bytes, err))
		return err_failed(err->status);
	plan_title(buf_as_str(&bytes), &title);
	put_path(r->w, "name", plan_name(file.path));
	put_text(r->w, "title", buf_as_str(&title));
	put_file(r, &file, &g);
	return put_bytes(r, &g, err);
}

/* ---- Tasks ------------------------------------------------------------------------------- */

const char *const task_states[] = { "in_progress", "pending", "unknown", "completed", NULL };

static void put_some(struct json_writer *w, const char *key, struct str text)
{
	if (text.n)
		put_text(w, key, text);
}

static void put_ids(struct json_writer *w, const char *key, const struct str *ids, size_t count)
{
	if (!count)
		return;
	json_write_key(w, str_of(key));
	json_write_array_begin(w);
	for (size_t i = 0; i < count; i++)
		json_write_string(w, ids[i]);
	json_write_array_end(w);
}

void put_task(struct json_writer *w, const struct task *task)
{
	put_some(w, "id", task->id);
	put_text(w, "status", str_of(task_state_name(task->state)));
	put_some(w, "priority", task->priority);
	put_ids(w, "blocked_by", task->blocked_by, task->blocked_by_count);
	put_text(w, "subject", task->subject);
	put_some(w, "description", task->description);
	put_some(w, "active_form", task->active_form);
	put_ids(w, "blocks", task->blocks, task->block_count);
}

static const struct field todo_data[] = {
	TASK_FIELDS,
	{ .name = "session", .type = VALUE_ID, .help = "whose it is" },
	{ .name = "agent", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "the sub-agent whose list it is on" },
	{ .name = "updated", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "date of the file" },
	{ .name = "vanished_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "when its file was gone outside the store" },
	{ .name = "root", .type = VALUE_TEXT, .help = "label of the mirrored folder" },
	{ .name = "path", .type = VALUE_PATH, .help = "the file, below that" },
	{ 0 },
};

static enum status resolve_todo(struct resolving *r, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	struct source_info file;
	struct generation g;
	struct uuid session;
	struct task *tasks;
	struct str agent;
	int64_t number;
	size_t count;

	if (find(r->call->store, r->handle, r->mem, &file, &number, err))
		return err_failed(err->status);
	if (!task_owner_of_path(file.path, &session, &agent))
		return err_fail(err, STATUS_FORMAT, "handle: what has this id is no list of tasks, but a file");
	if (kept_read(r->call, &file, 0, SIZE_MAX, &g, &bytes, err) ||
	    task_read(buf_as_str(&bytes), r->mem, &tasks, &count, err))
		return err_pass(err, "handle");
	if ((size_t)(number < 0 ? 0 : number) >= count)
		return err_fail(err, STATUS_NOT_FOUND, "handle: this list of tasks has %zu of them by now", count);
	put_task(r->w, &tasks[number < 0 ? 0 : number]);
	put_uuid(r->w, "session", &session);
	put_some(r->w, "agent", agent);
	if (g.mtime_ms)
		put_time(r->w, "updated", g.mtime_ms);
	if (file.vanished_at)
		put_time(r->w, "vanished_at", file.vanished_at);
	put_text(r->w, "root", file.root);
	put_path(r->w, "path", file.path);
	return STATUS_OK;
}

/* ---- What was typed ------------------------------------------------------------------------ */

static const struct field typed_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the line" },
	{ .name = "text", .type = VALUE_TEXT, .help = "what was typed" },
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when" },
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "the conversation it was typed into" },
	{ .name = "project", .type = VALUE_PATH, .flags = FIELD_OPTIONAL, .help = "folder it was typed in" },
	{ .name = "path", .type = VALUE_PATH, .help = "the file, below its folder" },
	WINDOW_FIELDS,
	{ 0 },
};

static enum status resolve_typed(struct resolving *r, struct err *err)
{
	struct window window = { .from = (size_t)r->from, .left = (size_t)r->most };
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct str part, shown;
	struct paper_found p;
	int64_t row;
	size_t count;

	if (paper_search(r->call->store, handle_meta(r->handle, 0), &row, 1, &count, err))
		return err_failed(err->status);
	if (!count)
		return err_fail(err, STATUS_NOT_FOUND,
				"handle: this line was not typed here, or is in the history no more");
	if (papers_find(r->call->store, row, r->mem, &p, err) || papers_text(r->call->store, &p, r->mem, &text, err))
		return err_failed(err->status);
	part = str_sub(buf_as_str(&text), window.from, window.left);
	shown = window_trim(part, window.from > 0, window.from + part.n < text.n);
	put_uuid(r->w, "id", &p.paper.id);
	put_text(r->w, "text", shown);
	put_window_size(r->w, text.n, shown.n, &window);
	if (p.paper.at)
		put_time(r->w, "at", p.paper.at);
	if (p.paper.has_session)
		put_uuid(r->w, "session", &p.paper.session);
	if (p.project.n)
		put_path(r->w, "project", p.project);
	put_path(r->w, "path", p.paper.path);
	return STATUS_OK;
}

/* ---- The table --------------------------------------------------------------------------- */

static const struct meta_field file_meta[] = {
	{ .name = "source", .type = VALUE_ID, .help = "id of the source" },
	{ .name = "version", .type = VALUE_INT, .flags = META_OPTIONAL, .help = "number of one; else the newest" },
	{ 0 },
};

static const struct meta_field todo_meta[] = {
	{ .name = "source", .type = VALUE_ID, .help = "id of the file it stands in" },
	{ .name = "number", .type = VALUE_INT, .flags = META_OPTIONAL, .help = "of one in a list, from 0 on" },
	{ 0 },
};

static const struct meta_field typed_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the line" },
	{ 0 },
};

const struct handle_kind storage_handle_kinds[] = {
	{ .method = "file",
	  .summary = "a kept file, or one version of it",
	  .kind = CONTENT_DOCUMENT,
	  .meta = file_meta,
	  .fields = file_data,
	  .need = NEED_STORE,
	  .resolve = resolve_file },
	{ .method = "plan",
	  .summary = "a plan of plan mode",
	  .kind = CONTENT_DOCUMENT,
	  .meta = file_meta,
	  .fields = plan_data,
	  .need = NEED_STORE,
	  .resolve = resolve_plan },
	{ .method = "todo",
	  .summary = "what an agent means to do",
	  .kind = CONTENT_DOCUMENT,
	  .meta = todo_meta,
	  .fields = todo_data,
	  .need = NEED_STORE,
	  .resolve = resolve_todo },
	{ .method = "typed",
	  .summary = "a line of typed history",
	  .kind = CONTENT_MESSAGE,
	  .meta = typed_meta,
	  .fields = typed_data,
	  .need = NEED_STORE,
	  .resolve = resolve_typed },
	{ 0 },
};
