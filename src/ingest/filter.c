/*
 * Filtering paths.
 *
 * Names decide, never contents, so that what is excluded is not opened. A project is
 * known by the name of its folder below projects/, which the client makes of the
 * folder the project is in. Two projects can share such a name (/a/b and /a-b); they
 * share the folder then, too.
 */
#include "ingest/filter.h"

#include "claude/folder.h"
#include "claude/layout.h"

#include <fnmatch.h>
#include <string.h>

struct filter_rules {
	const struct filter *f;
	const char **paths; /* globs of paths below the root */
	size_t path_count;
	const char **names; /* globs of the names of projects' folders */
	size_t name_count;
	struct str project; /* name of the one folder */
};

/* A pattern's wildcards stay; a '-' in brackets means the same before and after. */
static const char *name_pattern(struct str cwd, struct arena *mem)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);

	while (cwd.n) {
		size_t n = 0;

		while (n < cwd.n && !strchr("*?[]!^", cwd.p[n]))
			n++;
		claude_encode_cwd(str_sub(cwd, 0, n), &name);
		if (n < cwd.n)
			buf_byte(&name, cwd.p[n]);
		cwd = str_sub(cwd, n + 1, SIZE_MAX);
	}
	return arena_cstr(mem, buf_as_str(&name));
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

	r->f = f;
	r->paths = arena_alloc(mem, (f->exclude_count + 1) * sizeof *r->paths);
	r->names = arena_alloc(mem, (f->exclude_count + 1) * sizeof *r->names);
	for (size_t i = 0; i < f->exclude_count; i++) {
		struct str pattern = f->exclude[i];

		if (!pattern.n || str_has_byte(pattern, '\0') || pattern.n >= LIMIT_PATH)
			return err_fail(err, STATUS_USAGE,
					"a pattern of what to exclude is empty or too long");
		if (pattern.n > 1 && pattern.p[pattern.n - 1] == '/')
			pattern.n--;
		if (pattern.p[0] == '/')
			r->names[r->name_count++] = name_pattern(pattern, mem);
		else
			r->paths[r->path_count++] = arena_cstr(mem, pattern);
	}
	if (f->session.p && f->session.n < LIMIT_ID_PREFIX)
		return err_fail(err, STATUS_USAGE, "'%.*s' is too short for the beginning of a session's id",
				STR_ARG(f->session));
	if (f->project.p)
		r->project = project_name(f->project, mem);
	*out = r;
	return STATUS_OK;
}

static bool matches(const char *const *patterns, size_t count, struct str text)
{
	char copy[LIMIT_PATH];

	if (count == 0 || text.n >= sizeof copy || str_has_byte(text, '\0'))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], copy, FNM_LEADING_DIR) == 0)
			return true;
	return false;
}

/* The name of the project's folder the path is in or is; p NULL = in none. */
static struct str project_of(struct str path)
{
	struct str rest, below;

	if (!str_eq(str_cut(path, '/', &rest), STR("projects")) || !rest.p)
		return (struct str){ 0 };
	return str_cut(rest, '/', &below);
}

static bool is_excluded(const struct filter_rules *r, struct str path)
{
	struct str name = project_of(path);

	return matches(r->paths, r->path_count, path) || (name.n && matches(r->names, r->name_count, name));
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
	struct str name = project_of(path);
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
	return !r || (!is_excluded(r, path) && is_asked_for(r, path, is_folder));
}

bool filter_fits(const struct filter_rules *r, int64_t size)
{
	return !r || !r->f->max_size || size <= r->f->max_size;
}
