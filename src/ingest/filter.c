/*
 * Filtering paths, and folders that were worked in.
 *
 * A pattern of folders has two forms. The exact one is compared with the folder that a
 * conversation names (ingest/owner.c). The other is made of the names the client gives such
 * folders below projects/, in which most characters become the same one: what it matches
 * may be an excluded folder, or another one of that name.
 *
 * Which patterns were of use is noted as they are asked, by one thread at a time.
 */
#include "ingest/filter.h"

#include "base/utf8.h"
#include "claude/folder.h"
#include "claude/layout.h"
#include "ingest/owner.h"

#include <fnmatch.h>
#include <string.h>

/* One of several globs made of a pattern. */
struct glob {
	const char *text;
	size_t pattern; /* its index */
};

struct globs {
	struct glob *list;
	size_t count;
};

struct filter_rules {
	const struct filter *f;
	struct globs paths;   /* of paths below the root */
	struct globs folders; /* of folders that were worked in */
	struct globs names;   /* of what projects' folders are called */
	bool *used;	      /* by index of a pattern */
	struct str project;   /* name of the one folder */
	struct owners *owners;
};

static void add_glob(struct globs *g, const char *text, size_t pattern)
{
	g->list[g->count++] = (struct glob){ text, pattern };
}

/* ---- Patterns of folders ---------------------------------------------------- */

/* "/a/" and "/a/" with a star behind mean the folder and what is in it, as "/a" does. */
static struct str trim_folder(struct str pattern)
{
	while (pattern.n > 1 && str_has_suffix(pattern, STR("*")) && strchr("/*", pattern.p[pattern.n - 2]))
		pattern.n--;
	while (pattern.n > 1 && str_has_suffix(pattern, STR("/")))
		pattern.n--;
	return pattern.n == 1 ? STR("/*") : pattern;
}

/* Wildcards stay; a '-' in brackets means the same before and after. A name that the client
 * has cut is compared as far as it goes. */
static void add_names(struct globs *names, struct str folder, size_t pattern, struct arena *mem)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);

	for (size_t at = 0; at < folder.n;) {
		size_t from = at;

		utf8_next(folder, &at);
		if (strchr("*?[]!^", folder.p[from]))
			buf_byte(&name, folder.p[from]);
		else if (folder.p[from] != '\\')
			claude_encode_cwd(str_sub(folder, from, at - from), &name);
	}
	if (name.n >= CLAUDE_FOLDER_WHOLE) {
		name.n = CLAUDE_FOLDER_WHOLE;
		buf_byte(&name, '*');
		add_glob(names, arena_cstr(mem, buf_as_str(&name)), pattern);
		return;
	}
	add_glob(names, arena_cstr(mem, buf_as_str(&name)), pattern);
	buf_text(&name, "-*"); /* what is below it */
	add_glob(names, arena_cstr(mem, buf_as_str(&name)), pattern);
}

static void add_folder(struct filter_rules *r, struct str folder, size_t pattern, struct arena *mem)
{
	folder = trim_folder(folder);
	add_glob(&r->folders, arena_cstr(mem, folder), pattern);
	add_names(&r->names, folder, pattern, mem);
}

/* ---- Rules ------------------------------------------------------------------ */

static enum status add_pattern(struct filter_rules *r, size_t index, struct arena *mem, struct err *err)
{
	const struct filter_pattern *p = &r->f->exclude[index];
	struct str glob = p->glob;

	if (!glob.n || str_has_byte(glob, '\0') || glob.n >= LIMIT_PATH)
		return err_fail(err, STATUS_USAGE, "a pattern of what to exclude is empty or too long");
	if (glob.p[0] == '/') {
		add_folder(r, glob, index, mem);
		if (p->real.p && !str_eq(p->real, glob))
			add_folder(r, p->real, index, mem);
		return STATUS_OK;
	}
	if (glob.n > 1 && glob.p[glob.n - 1] == '/')
		glob.n--;
	add_glob(&r->paths, arena_cstr(mem, glob), index);
	return STATUS_OK;
}

static struct str project_name(struct str cwd, struct arena *mem)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(CLAUDE_FOLDER_MAX);

	while (cwd.n > 1 && cwd.p[cwd.n - 1] == '/')
		cwd.n--;
	claude_encode_cwd(cwd, &name);
	return arena_str(mem, buf_as_str(&name));
}

enum status filter_make(const struct filter *f, struct arena *mem, const struct filter_rules **out,
			struct err *err)
{
	struct filter_rules *r = arena_alloc(mem, sizeof *r);
	size_t most = f->exclude_count + 1;

	r->f = f;
	r->paths.list = arena_alloc(mem, most * sizeof(struct glob));
	r->folders.list = arena_alloc(mem, 2 * most * sizeof(struct glob)); /* as given, and resolved */
	r->names.list = arena_alloc(mem, 4 * most * sizeof(struct glob));   /* itself, and below */
	r->used = arena_alloc(mem, most * sizeof *r->used);
	r->owners = arena_alloc(mem, sizeof *r->owners);
	for (size_t i = 0; i < f->exclude_count; i++)
		if (add_pattern(r, i, mem, err))
			return err_failed(err->status);
	if (f->session.p && f->session.n < LIMIT_ID_PREFIX)
		return err_fail(err, STATUS_USAGE, "'%.*s' is too short for the beginning of a session's id",
				STR_ARG(f->session));
	if (f->project.p)
		r->project = project_name(f->project, mem);
	*out = r;
	return STATUS_OK;
}

void filter_release(const struct filter_rules *const *r)
{
	if (*r)
		owners_release((*r)->owners);
}

/* ---- Asking ----------------------------------------------------------------- */

/* Each pattern is asked, so that none seems to be of no use because of another. */
static bool matches(const struct filter_rules *r, const struct globs *globs, struct str text)
{
	char copy[LIMIT_PATH];
	bool any = false;

	if (globs->count == 0 || text.n >= sizeof copy || str_has_byte(text, '\0'))
		return false;
	if (text.n)
		memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	for (size_t i = 0; i < globs->count; i++) {
		if (fnmatch(globs->list[i].text, copy, FNM_LEADING_DIR) != 0)
			continue;
		r->used[globs->list[i].pattern] = true;
		any = true;
	}
	return any;
}

static bool has_session(struct str path, struct str session)
{
	while (path.p)
		if (str_has_prefix(str_cut(path, '/', &path), session))
			return true;
	return false;
}

/* A folder at the top, or of a project, may hold what is asked for. */
static bool is_asked_for(const struct filter_rules *r, struct str path, bool is_folder)
{
	struct str name = claude_project_of(path);
	bool is_top = is_folder && !str_has_byte(path, '/');
	bool is_project_folder = is_folder && name.p && name.p + name.n == path.p + path.n;

	if (r->f->project.p && !(name.p ? str_eq(name, r->project) : is_top && str_eq(path, STR("projects"))))
		return false;
	return !r->f->session.p || is_top || is_project_folder || has_session(path, r->f->session);
}

bool filter_wants(const struct filter_rules *r, struct str path, bool is_folder)
{
	if (is_folder ? !claude_wants_folder(path) : claude_kind_of(path) == CLAUDE_NONE)
		return false;
	return !r || (is_asked_for(r, path, is_folder) && !matches(r, &r->paths, path));
}

bool filter_fits(const struct filter_rules *r, int64_t size)
{
	return !r || !r->f->max_size || size <= r->f->max_size;
}

bool filter_has_folders(const struct filter_rules *r)
{
	return r && r->folders.count;
}

bool filter_excludes_folder(const struct filter_rules *r, struct str folder)
{
	return matches(r, &r->folders, folder);
}

bool filter_excludes_name(const struct filter_rules *r, struct str name)
{
	return matches(r, &r->names, name);
}

struct owners *filter_owners(const struct filter_rules *r)
{
	return r->owners;
}

bool filter_was_used(const struct filter_rules *r, size_t index)
{
	return r->used[index];
}
