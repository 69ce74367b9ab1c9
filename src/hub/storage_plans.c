/*
 * storage.plans: the plans of plan mode, listed, or one of them read.
 *
 * Whose a plan is its conversation says, whose lines have the plan's name (query/papers.c).
 *
 * A plan is rewritten as a whole; each time a sync saw it is a version. Of a listed plan
 * only the beginning is read, for its title.
 *
 * Where several folders are mirrored, one may be a copy of another: plans with the same path
 * that say the same are one.
 *
 * A plan whose file is not here, and was not, is taken from the calls that gave it to be approved (query/planned.h).
 */
#include "hub/storage_files.h"

#include "base/term.h"
#include "claude/plan.h"
#include "hub/kept.h"
#include "hub/narrow.h"
#include "hub/storage_handles.h"
#include "query/papers.h"
#include "query/planned.h"

#include <stdlib.h>

enum { LISTED = 5 };

static const struct param plan_params[] = {
	{ .name = "name",
	  .type = VALUE_PATH,
	  .flags = PARAM_WORD,
	  .shown = "NAME",
	  .names = "storage.plans",
	  .help = "show this one: its name or the beginning of it" },
	{ .name = "version",
	  .type = VALUE_INT,
	  .least = 1,
	  .most = INT64_MAX,
	  .help = "of NAME: an older version; 1 is the first that was kept" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only of sessions in this folder and below; its name, or the end of its path, will do" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .letter = 's',
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "only of this session; @ for the last" },
	{ 0 },
};

static const struct field plan_fields[] = {
	{ .name = "name", .type = VALUE_PATH, .flags = FIELD_KEY, .help = "what it is called" },
	HANDLE_FIELD(""),
	{ .name = "modified",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .title = "date",
	  .help = "the file's own date; where there is no file, when it was given to be approved" },
	{ .name = "bytes", .type = VALUE_BYTES, .title = "size", .help = "its size" },
	{ .name = "versions", .type = VALUE_INT, .usual = "1", .help = "how many versions of it are kept" },
	{ .name = "vanished_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .title = "gone",
	  .help = "when it was gone outside the store" },
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "its first heading" },
	{ .name = "session",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the conversation that made it, of several the last touched" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL,
	  .help = "folder that worked in" },
	{ .name = "root", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "label of the mirrored folder" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = FIELD_HIDDEN,
	  .help = "the file, below its folder; where there is none, the transcript that has it" },
	{ .name = "version",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of NAME: which one this is" },
	{ .name = "text",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of NAME: what it says" },
	{ 0 },
};

struct plan {
	const struct planned *told; /* by transcripts; NULL = it is a file */
	struct source_info file; /* texts in the call's arena; of one that was told, of its last transcript */
	struct generation shown;
	struct str title;
	struct str text; /* p NULL = only listed */
	struct paper_found of; /* what it belongs to */
};

struct listing {
	struct call *call;
	struct plan *list;
	size_t count, room;
	int64_t failed;
	struct narrow narrow;
};

static void listing_release(struct listing *l)
{
	mem_free(l->list);
}

static struct str name_of(const struct plan *p)
{
	return p->told ? p->told->name : plan_name(p->file.path);
}

static struct node_handle handle_of(const struct plan *p)
{
	const struct planned_version *v = p->told ? &p->told->versions[p->shown.number - 1] : NULL;

	return v ? handle_of_block(&v->node, &v->call) : handle_of_plan(&p->file.id, p->text.p ? p->shown.number : 0);
}

static enum status emit_plan(struct call *c, const struct plan *p, struct err *err)
{
	struct json_writer *w = call_begin(c);
	struct node_handle handle = handle_of(p);

	put_path(w, "name", name_of(p));
	put_handle(w, &handle);
	if (p->shown.mtime_ms)
		put_time(w, "modified", p->shown.mtime_ms);
	put_int(w, "bytes", p->shown.length);
	put_int(w, "versions", p->file.generations);
	if (p->file.vanished_at)
		put_time(w, "vanished_at", p->file.vanished_at);
	put_text(w, "title", p->title);
	if (p->of.session.row) {
		put_uuid(w, "session", &p->of.session.id);
		put_path(w, "project", p->of.project);
	}
	put_text(w, "root", p->file.root);
	put_path(w, "path", p->file.path);
	if (p->text.p) {
		put_int(w, "version", p->shown.number);
		put_text(w, "text", p->text);
	}
	return call_emit(c, err);
}

static struct plan *add_plan(struct listing *l)
{
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->list = mem_resize(l->list, l->room * sizeof *l->list);
	}
	return &l->list[l->count++];
}

static enum status take_file(void *ctx, const struct source_info *file, struct err *err)
{
	struct listing *l = ctx;
	struct plan *p;

	(void)err;
	if (!file->generation)
		return STATUS_OK;
	p = add_plan(l);
	*p = (struct plan){ .file = *file };
	p->file.path = arena_str(&l->call->mem, file->path);
	p->file.root = arena_str(&l->call->mem, file->root);
	return STATUS_OK;
}

static bool is_file(const struct listing *l, struct str name)
{
	for (size_t i = 0; i < l->count; i++)
		if (!l->list[i].told && str_eq(name, plan_name(l->list[i].file.path)))
			return true;
	return false;
}

/* Those that have no file, behind the files. */
static enum status take_told(struct listing *l, struct err *err)
{
	struct planned *told;
	size_t count;

	if (planned_find(l->call->store, &l->call->mem, &told, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		const struct session *last = &told[i].versions[told[i].count - 1].session;

		if (is_file(l, told[i].name))
			continue;
		*add_plan(l) = (struct plan){ .told = &told[i],
					      .file = { .path = last->path,
							.root = last->root,
							.generations = (int64_t)told[i].count },
					      .of = { .session = *last, .project = last->project } };
	}
	return STATUS_OK;
}

/* A version of one that was told; 0 = the last. */
static enum status read_told(struct call *c, struct plan *p, uint64_t version, size_t most, struct err *err)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	const struct planned_version *v;

	if (version > p->told->count)
		return err_fail(err, STATUS_NOT_FOUND, "%.*s has versions 1 to %zu", STR_ARG(p->told->name),
				p->told->count);
	p->shown.number = version ? (int64_t)version : (int64_t)p->told->count;
	v = &p->told->versions[p->shown.number - 1];
	p->shown.mtime_ms = v->at;
	p->shown.length = (int64_t)v->text.n;
	plan_title(v->text, &title);
	p->title = arena_str(&c->mem, buf_as_str(&title));
	if (most == SIZE_MAX)
		p->text = v->text;
	return STATUS_OK;
}

/* Reads at most so much of it. */
static enum status read_plan(struct call *c, struct plan *p, uint64_t version, size_t most, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

	if (p->told)
		return read_told(c, p, version, most, err);
	if (kept_read(c, &p->file, version, most, &p->shown, &bytes, err))
		return err_failed(err->status);
	plan_title(buf_as_str(&bytes), &title);
	p->title = arena_str(&c->mem, buf_as_str(&title));
	if (most == SIZE_MAX)
		p->text = arena_str(&c->mem, buf_as_str(&bytes));
	return STATUS_OK;
}

/* ---- Whose ------------------------------------------------------------------ */

static bool is_wanted(const struct listing *l, const struct plan *p)
{
	char id[UUID_TEXT + 1] = "";

	if (p->of.session.row)
		uuid_print(&p->of.session.id, id);
	return (!l->narrow.session.p || narrow_has_session(&l->narrow, str_of(id))) &&
	       narrow_has_project(&l->narrow, p->of.project);
}

/* Finds out what they belong to, and leaves those that are asked for. */
static enum status find_owners(struct listing *l, struct err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct plan *p = &l->list[i];

		p->of.paper = (struct paper){ .kind = CLAUDE_PLAN, .path = p->file.path };
		if (!p->told && papers_belong(l->call->store, &p->of, &l->call->mem, err))
			return err_failed(err->status);
		if (is_wanted(l, p))
			l->list[kept++] = *p;
	}
	l->count = kept;
	return STATUS_OK;
}

/* ---- Copies ----------------------------------------------------------------- */

static bool is_copy(struct call *c, const struct plan *a, const struct plan *b)
{
	struct buf one CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	struct buf other CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	struct generation g;
	struct err ignored;

	return !a->told && !b->told && a->file.bytes == b->file.bytes && str_eq(a->file.path, b->file.path) &&
	       kept_read(c, &a->file, 0, SIZE_MAX, &g, &one, &ignored) == STATUS_OK &&
	       kept_read(c, &b->file, 0, SIZE_MAX, &g, &other, &ignored) == STATUS_OK &&
	       str_eq(buf_as_str(&one), buf_as_str(&other));
}

/* Those with the same path follow each other. One that is not gone stands for the others. */
static void drop_copies(struct listing *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct plan *before = kept ? &l->list[kept - 1] : NULL;

		if (!before || !is_copy(l->call, before, &l->list[i]))
			l->list[kept++] = l->list[i];
		else if (before->file.vanished_at)
			*before = l->list[i];
	}
	l->count = kept;
}

/* ---- All -------------------------------------------------------------------- */

static int newest_first(const void *left, const void *right)
{
	const struct plan *a = left, *b = right;

	if (a->shown.mtime_ms != b->shown.mtime_ms)
		return a->shown.mtime_ms > b->shown.mtime_ms ? -1 : 1;
	return str_cmp(a->file.path, b->file.path);
}

static enum status list_plans(struct listing *l, struct err *err)
{
	for (size_t i = 0; i < l->count; i++) {
		if (call_is_cancelled(l->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		/* One that cannot be read is still there. */
		if (read_plan(l->call, &l->list[i], 0, PLAN_TITLE_BYTES, err) &&
		    !kept_excuse(l->call, err, &l->failed))
			return err_failed(err->status);
	}
	if (l->count)
		qsort(l->list, l->count, sizeof *l->list, newest_first);
	for (size_t i = 0; i < l->count; i++)
		if (emit_plan(l->call, &l->list[i], err))
			return err_failed(err->status);
	return kept_end(l->failed, err);
}

/* ---- One -------------------------------------------------------------------- */

static bool is_called(struct call *c, const struct plan *p, struct str name)
{
	if (p->told)
		return str_eq(name, p->told->name);
	return str_eq(name, plan_name(p->file.path)) || str_eq(name, p->file.path) ||
	       str_eq(name, str_basename(p->file.path)) || str_eq(name, kept_name(c, &p->file)) ||
	       str_eq(name, arena_printf(&c->mem, "%.*s:%.*s", STR_ARG(p->file.root), STR_ARG(p->file.path)));
}

static bool begins_so(struct call *c, const struct plan *p, struct str name)
{
	(void)c;
	return name.n && str_has_prefix(name_of(p), name);
}

/* How many are called so, the first of them, and their names. */
static size_t match(struct listing *l, bool (*fits)(struct call *, const struct plan *, struct str),
		    struct str name, struct plan **first, struct buf *names)
{
	size_t count = 0;

	for (size_t i = 0; i < l->count; i++) {
		const struct source_info *file = &l->list[i].file;

		if (!fits(l->call, &l->list[i], name))
			continue;
		if (count++ == 0)
			*first = &l->list[i];
		if (count <= LISTED) {
			buf_printf(names, "\n  %.*s:", STR_ARG(file->root));
			term_filter(names, l->list[i].told ? l->list[i].told->name : file->path, TERM_LINE);
		}
	}
	return count;
}

static enum status find_plan(struct listing *l, struct str name, struct plan **out, struct err *err)
{
	struct buf names CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	size_t count = match(l, is_called, name, out, &names);

	if (!count)
		count = match(l, begins_so, name, out, &names);
	if (!count)
		return err_fail(err, STATUS_NOT_FOUND, "no plan is called '%.*s'; 'arbor plans' lists them",
				(int)size_min(name.n, 200), name.p);
	if (count > 1)
		return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be %zu plans:%s",
				(int)size_min(name.n, 100), name.p, count, names.p ? names.p : "");
	return STATUS_OK;
}

static enum status show_plan(struct listing *l, struct str name, struct err *err)
{
	struct plan *p = NULL;

	if (find_plan(l, name, &p, err) ||
	    read_plan(l->call, p, (uint64_t)call_int(l->call, "version"), SIZE_MAX, err) ||
	    emit_plan(l->call, p, err))
		return err_failed(err->status);
	if (p->file.vanished_at || p->file.generations > 1)
		call_note(l->call, "version %" PRId64 " of %" PRId64 "%s", p->shown.number,
			  p->file.generations, p->file.vanished_at ? "; the file is gone" : "");
	return STATUS_OK;
}

static enum status run_plans(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l CLEANUP(listing_release) = { .call = c };
	struct str name = call_text(c, "name");

	if (!name.p && call_int(c, "version"))
		return err_fail(err, STATUS_USAGE, "--version: of which plan?");
	if (read_begin(c->store, &snapshot, err) || narrow_read(c, &l.narrow, err) ||
	    source_each_below(c->store, STR("plans/"), take_file, &l, err) || take_told(&l, err) ||
	    find_owners(&l, err) ||
	    narrow_end(&l.narrow, l.count, err))
		return err_failed(err->status);
	if (!str_has_byte(name, ':')) /* who names a folder means that one */
		drop_copies(&l);
	return name.p ? show_plan(&l, name, err) : list_plans(&l, err);
}

const struct method storage_plans = {
	.name = "plans",
	.verb = "plans",
	.also = "plan",
	.group = "about",
	.summary = "List the plans of plan mode, or read one",
	.text = "The newest first, also those whose file is gone. A plan that was rewritten keeps its\n"
		"older versions: --version shows one. Which conversation made it is known where that is\n"
		"kept. 'arbor export' gives the same bytes back.\n\n"
		"A plan whose file is not here is taken from the conversation in which it was given to be approved.\n",
	.params = plan_params,
	.kind = RESULT_STREAM,
	.fields = plan_fields,
	.empty = "there are no plans",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "plans", "all of them" },
					      { "plans --project dotfiles", "those of one project" },
					      { "plans shell --version 1",
						"as it was first, by the beginning of its name" },
					      { 0 } },
	.run = run_plans,
};
