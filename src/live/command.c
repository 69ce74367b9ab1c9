/*
 * The list of variables, and the search in PATH.
 *
 * The list is what a program needs to find its user, its files and its language.
 * A way to further rights is not on it: SSH_AUTH_SOCK and the like have to be handed
 * on by name, by whoever writes the command.
 */
#include "live/command.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usual_path[] = "/usr/local/bin:/usr/bin:/bin";

static const char *const handed_on[] = {
	"HOME",
	"USER",
	"LOGNAME",
	"SHELL",
	"PATH",
	"TMPDIR",
	"TZ",
	"LANG",
	"LANGUAGE",
	"LC_ALL",
	"LC_CTYPE",
	"LC_COLLATE",
	"LC_MESSAGES",
	"LC_NUMERIC",
	"LC_TIME",
	"LC_MONETARY",
	"XDG_CONFIG_HOME",
	"XDG_DATA_HOME",
	"XDG_STATE_HOME",
	"XDG_CACHE_HOME",
	"XDG_RUNTIME_DIR",
};

const char *environment_get(const struct environment *e, const char *name)
{
	return e->get ? e->get(e->ctx, name) : NULL;
}

bool variable_is_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && !(i && c >= '0' && c <= '9'))
			return false;
	}
	return name.n > 0;
}

static bool is_own(const struct variable *own, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(own[i].name, str_of(name)))
			return true;
	return false;
}

static const char *pair(struct arena *mem, struct str name, struct str value)
{
	char *out = arena_alloc(mem, name.n + value.n + 2);

	memcpy(out, name.p, name.n);
	out[name.n] = '=';
	if (value.n)
		memcpy(out + name.n + 1, value.p, value.n);
	return out;
}

const char *const *environment_for_child(const struct environment *e, const struct variable *own,
					 size_t count, struct arena *mem)
{
	const char **out = arena_alloc(mem, (COUNT(handed_on) + count + 1) * sizeof *out);
	size_t n = 0;

	for (size_t i = 0; i < COUNT(handed_on); i++) {
		const char *value = environment_get(e, handed_on[i]);

		if (value && !is_own(own, count, handed_on[i]))
			out[n++] = pair(mem, str_of(handed_on[i]), str_of(value));
	}
	for (size_t i = 0; i < count; i++) {
		struct str value = own[i].value;

		if (!value.p)
			value = str_of(environment_get(e, arena_cstr(mem, own[i].name)));
		if (value.p)
			out[n++] = pair(mem, own[i].name, value);
	}
	return out;
}

/* ---- The program ------------------------------------------------------------- */

bool command_is_name(struct str name)
{
	return name.n && !str_has_byte(name, '\0') &&
	       (!str_has_byte(name, '/') || name.p[0] == '/' || str_has_prefix(name, STR("~/")));
}

/* 0 when it can be executed, else an errno. */
static int try_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

/* An entry that is not absolute means the folder somebody happens to be in, which may be
 * anybody's. */
static const char *search(struct str path, struct str name, struct arena *mem, int *number)
{
	*number = ENOENT;
	while (path.p) {
		struct str folder = str_cut(path, ':', &path);
		const char *file;
		int problem;

		if (!str_has_prefix(folder, STR("/")))
			continue;
		file = arena_printf(mem, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name)).p;
		problem = try_program(file);
		if (problem == 0)
			return file;
		if (problem == EACCES)
			*number = problem;
	}
	return NULL;
}

enum status command_find(const struct environment *e, struct str name, struct arena *mem, const char **path,
			 struct err *err)
{
	const char *home = environment_get(e, "HOME"), *list = environment_get(e, "PATH"), *found = NULL;
	int number = ENOENT;

	if (!command_is_name(name))
		return err_fail(err, STATUS_USAGE,
				"'%.*s' is not the name of a program, or a path that begins with / or ~/",
				(int)size_min(name.n, 200), name.p ? name.p : "");
	if (!str_has_byte(name, '/'))
		found = search(str_of(list ? list : usual_path), name, mem, &number);
	else if (name.p[0] == '/')
		found = arena_cstr(mem, name);
	else if (home)
		found = arena_printf(mem, "%s%.*s", home, STR_ARG(str_sub(name, 1, SIZE_MAX))).p;
	if (found && str_has_byte(name, '/') && (number = try_program(found)) != 0)
		found = NULL;
	if (!found)
		return err_fail_errno(err, number, "%.*s", (int)size_min(name.n, 200), name.p);
	*path = found;
	return STATUS_OK;
}
