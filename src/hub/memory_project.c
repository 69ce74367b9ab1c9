/*
 * memory.projects, and finding the project somebody means.
 *
 * A project is a cwd as its sessions name it. The client's folder for it follows from that
 * (claude/folder.h), not the other way round: it is how the project's memory is found, and
 * projects whose folders are called alike share it.
 *
 * People type what they see: the last part of a path, also one of which the middle or the front was left
 * out for want of room (…). Every project's path and those of the folders above it are compared with it,
 * most exact first; the first way that finds any decides. Where one of several holds all the others, it is
 * meant: a folder stands for what is below it, too.
 */
#include "hub/memory_project.h"

#include "base/near.h"
#include "base/term.h"
#include "base/utf8.h"
#include "claude/folder.h"
#include "hub/memory_session.h"
#include "store/find.h"

#include <string.h>

/* ---- memory.projects ---------------------------------------------------------- */

static const struct field project_fields[] = {
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "time of the last line there" },
	{ .name = "sessions", .type = VALUE_INT, .help = "that began there" },
	{ .name = "messages",
	  .type = VALUE_INT,
	  .title = "msgs",
	  .help = "of either side, in each session: what forks share counts for each" },
	{ .name = "memory",
	  .type = VALUE_INT,
	  .help = "files of its memory that are kept, also when they are gone outside" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = FIELD_KEY | FIELD_STRETCH,
	  .help = "the folder, as the sessions name it" },
	{ .name = "started",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "time of the first line there" },
	{ .name = "prompts", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "typed by a person, so too" },
	{ .name = "folder",
	  .type = VALUE_TEXT,
	  .flags = FIELD_HIDDEN,
	  .help = "what the client calls it below projects/" },
	{ 0 },
};

/* Files of a project's memory. Copies in several mirrored folders follow each other. */
struct remembered {
	struct arena *mem;
	struct str last;
	int64_t count;
};

static enum status count_file(void *ctx, const struct source_info *file, struct err *err)
{
	struct remembered *r = ctx;

	(void)err;
	if (!file->generation || str_eq(file->path, r->last))
		return STATUS_OK;
	r->last = arena_str(r->mem, file->path);
	r->count++;
	return STATUS_OK;
}

static enum status emit_project(void *ctx, const struct project *p, struct err *err)
{
	struct call *c = ctx;
	struct buf folder CLEANUP(buf_release) = BUF_INIT(KIB);
	struct remembered memory = { .mem = &c->mem };
	struct json_writer *w;

	if (call_is_cancelled(c))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	claude_encode_cwd(p->path, &folder);
	if (source_each_below(c->store,
			      arena_printf(&c->mem, "projects/%.*s/memory/", STR_ARG(buf_as_str(&folder))),
			      count_file, &memory, err))
		return err_failed(err->status);
	w = call_begin(c);
	if (p->updated_at)
		put_time(w, "updated", p->updated_at);
	put_int(w, "sessions", p->sessions);
	put_int(w, "messages", p->messages);
	put_int(w, "memory", memory.count);
	put_path(w, "path", p->path);
	if (p->started_at)
		put_time(w, "started", p->started_at);
	put_int(w, "prompts", p->prompts);
	put_text(w, "folder", buf_as_str(&folder));
	return call_emit(c, err);
}

static enum status run_projects(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	if (read_begin(c->store, &snapshot, err) || project_each(c->store, emit_project, c, err))
		return err_failed(err->status);
	warn_unread(c);
	return STATUS_OK;
}

const struct method memory_projects = {
	.name = "projects",
	.verb = "projects",
	.also = "folders repos workspaces",
	.group = "about",
	.summary = "List the folders in which people worked",
	.text = "The last touched first. What --project takes, whole or by its last part. A\n"
		"conversation counts for the folder it began in; messages that forks share count for each of\n"
		"them, where 'arbor stats' counts them once. MEMORY counts the files in which the\n"
		"client remembers things about a project; 'arbor sources' lists them, 'arbor export'\n"
		"prints one.\n",
	.kind = RESULT_STREAM,
	.fields = project_fields,
	.empty = "no session says where it worked; 'arbor sync' brings them in",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "projects", "where something happened last" },
					      { "projects -0 | xargs -0 -n 1 arbor list -n 1 --project",
						"the last conversation of each" },
					      { 0 } },
	.run = run_projects,
};

/* ---- Folders ------------------------------------------------------------------ */

struct folders {
	struct arena *mem;
	struct str *list;
	size_t count, cap;
	struct str typed; /* what somebody means by one of them */
};

static void add_folder(struct folders *f, struct str path)
{
	if (f->count == f->cap) {
		struct str *bigger = arena_alloc(f->mem,
						 (f->cap = f->cap ? 2 * f->cap : 64) * sizeof *bigger);

		for (size_t i = 0; i < f->count; i++)
			bigger[i] = f->list[i];
		f->list = bigger;
	}
	f->list[f->count++] = path;
}

static enum status take_project(void *ctx, const struct project *p, struct err *err)
{
	struct folders *f = ctx;

	(void)err;
	add_folder(f, arena_str(f->mem, p->path));
	return STATUS_OK;
}

static bool is_in(struct str path, struct str folder)
{
	return str_has_prefix(path, folder) &&
	       (path.n == folder.n || folder.p[folder.n - 1] == '/' || path.p[folder.n] == '/');
}

static bool has_folder(const struct folders *f, struct str path)
{
	for (size_t i = 0; i < f->count; i++)
		if (str_eq(f->list[i], path))
			return true;
	return false;
}

static bool holds_any(const struct folders *projects, struct str folder)
{
	for (size_t i = 0; i < projects->count; i++)
		if (is_in(projects->list[i], folder))
			return true;
	return false;
}

/* ---- Names -------------------------------------------------------------------- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool same(struct str a, struct str b, bool any_case)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (any_case ? lower(a.p[i]) != lower(b.p[i]) : a.p[i] != b.p[i])
			return false;
	return true;
}

static const struct str left_out = { "…", sizeof "…" - 1 };

/* Whether a path ends with a name, or with one of which the middle was left out. */
static bool ends_with(struct str path, struct str name, bool any_case)
{
	const char *gap = memmem(name.p, name.n, left_out.p, left_out.n);
	struct str front, last = str_basename(path);

	if (!gap)
		return path.n > name.n && path.p[path.n - name.n - 1] == '/' &&
		       same(str_sub(path, path.n - name.n, SIZE_MAX), name, any_case);
	front = str_sub(name, 0, (size_t)(gap - name.p));
	name = str_sub(name, front.n + left_out.n, SIZE_MAX);
	return last.n >= front.n + name.n && same(str_sub(last, 0, front.n), front, any_case) &&
	       same(str_sub(last, last.n - name.n, SIZE_MAX), name, any_case);
}

static bool contains(struct str path, struct str name)
{
	for (size_t at = 0; at + name.n <= path.n; at++)
		if (same(str_sub(path, at, name.n), name, true))
			return true;
	return false;
}

/* The projects whose paths end so; or folders above them. */
static void find_named(const struct folders *projects, struct str name, bool above, bool any_case,
		       struct folders *found)
{
	for (size_t i = 0; i < projects->count; i++)
		for (struct str path = projects->list[i]; path.n && path.n != SIZE_MAX;
		     path.n = above ? str_rfind(path, '/') : 0)
			if (ends_with(path, name, any_case) && !has_folder(found, path))
				add_folder(found, path);
}

/* The one that holds all others; none when there is no such. */
static struct str widest(const struct folders *found)
{
	for (size_t i = 0; i < found->count; i++) {
		size_t inside = 0;

		for (size_t k = 0; k < found->count; k++)
			inside += is_in(found->list[k], found->list[i]);
		if (inside == found->count)
			return found->list[i];
	}
	return (struct str){ 0 };
}

/* ---- What is not clear ---------------------------------------------------------- */

static enum status ambiguous(struct str name, const struct folders *found, struct err *err)
{
	enum { LISTED = 8 };
	struct buf lines CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);

	for (size_t i = 0; i < found->count && i < LISTED; i++) {
		buf_text(&lines, "\n  ");
		term_filter(&lines, found->list[i], TERM_LINE);
	}
	return err_fail(err, STATUS_AMBIGUOUS, "project '%.*s' could be%s%s", (int)size_min(name.n, 100),
			name.p, lines.p,
			found->count > LISTED ? "\n  and others; give more of the path" : "");
}

static bool is_near(struct str path, struct str name)
{
	struct str last = str_basename(path);

	return contains(last, name) || edit_distance(last, name) <= size_min(2, name.n / 2);
}

/* With those that may be meant; where none is like it, with the last ones. */
static enum status not_found(struct call *c, const struct folders *projects, struct str name, struct err *err)
{
	enum { NAMED = 3 };
	struct str typed = projects->typed, real = typed.n ? call_real_path(c, typed) : (struct str){ 0 };
	/* Where one is says more than a dot. */
	struct str given = str_sub(real.p && typed.p[0] == '.' ? real : typed, 0, 200);
	struct buf list CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	struct folders near = { .mem = &c->mem };
	const struct folders *named = &near;

	for (size_t i = 0; name.n && i < projects->count; i++)
		if (is_near(projects->list[i], str_basename(name)))
			add_folder(&near, projects->list[i]);
	if (!near.count)
		named = projects;
	for (size_t i = 0; i < NAMED && i < named->count; i++)
		buf_printf(&list, "%s%.*s", list.n ? ", " : "", STR_ARG(named->list[i]));
	given.n = utf8_valid_prefix(given);
	return err_fail(err, STATUS_NOT_FOUND, "no session of this project: '%.*s'%s%s%s", STR_ARG(given),
			!list.n	     ? ""
			: near.count ? "; did you mean "
				     : "; the last ones are ",
			list.n ? list.p : "", near.count ? "?" : "");
}

/* ---- All of it ------------------------------------------------------------------ */

static enum status find_folder(struct call *c, const struct folders *projects, struct str path,
			       struct str *out, struct err *err)
{
	struct str real = call_real_path(c, path);

	*out = real.p ? real : path;
	return holds_any(projects, *out) ? STATUS_OK : not_found(c, projects, path, err);
}

/* One, or all that it can be. */
static enum status find_name(struct call *c, const struct folders *projects, struct str name, struct folders *out,
			     struct err *err)
{
	struct str one;

	for (int way = 0; way < 4; way++) {
		struct folders found = { .mem = &c->mem };

		find_named(projects, name, way % 2, way / 2, &found);
		if (!found.count)
			continue;
		one = widest(&found);
		if (one.p)
			add_folder(out, one);
		else
			*out = found;
		return STATUS_OK;
	}
	if (find_folder(c, projects, name, &one, err))
		return err_failed(err->status);
	add_folder(out, one);
	return STATUS_OK;
}

/* A folder where it is, by its whole path or seen from the working one. Others may begin with a dot, too:
 * .dotfiles is a name. */
static bool is_place(struct str given)
{
	return given.p[0] == '/' || str_eq(given, STR(".")) || str_eq(given, STR("..")) ||
	       str_has_prefix(given, STR("./")) || str_has_prefix(given, STR("../"));
}

static enum status find_all(struct call *c, struct str given, struct folders *out, struct err *err)
{
	struct str one;
	struct folders projects = { .mem = &c->mem, .typed = given };

	given = call_from_home(c, given);
	while (given.n > 1 && given.p[given.n - 1] == '/')
		given.n--;
	if (str_has_prefix(given, STR("…/")))
		given = str_sub(given, left_out.n + 1, SIZE_MAX);
	if (project_each(c->store, take_project, &projects, err))
		return err_failed(err->status);
	if (!given.n)
		return not_found(c, &projects, given, err);
	if (!is_place(given))
		return find_name(c, &projects, given, out, err);
	if (find_folder(c, &projects, given, &one, err))
		return err_failed(err->status);
	add_folder(out, one);
	return STATUS_OK;
}

enum status projects_named(struct call *c, struct str given, struct str **out, size_t *count, struct err *err)
{
	struct folders found = { .mem = &c->mem };

	if (find_all(c, given, &found, err))
		return err_failed(err->status);
	*out = found.list;
	*count = found.count;
	return STATUS_OK;
}

enum status project_named(struct call *c, struct str given, struct str *out, struct err *err)
{
	struct folders found = { .mem = &c->mem };

	if (find_all(c, given, &found, err))
		return err_failed(err->status);
	*out = found.list[0];
	return found.count == 1 ? STATUS_OK : ambiguous(given, &found, err);
}

enum status project_of(struct call *c, struct str *out, struct err *err)
{
	struct str given = call_text(c, "project");

	*out = (struct str){ 0 };
	return given.p ? project_named(c, given, out, err) : STATUS_OK;
}
