/*
 * Finding the store and the settings. Nothing here is remembered between calls, and nothing
 * of the process is changed, so that a program may do this in any thread; the environment must
 * not be changed by another one meanwhile.
 */
#include "hub/where.h"

#include "hub/children.h"
#include "ingest/rebuild.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *env_text(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] ? v : NULL;
}

/* Without HOME, what the system's own list of users says. Lists kept elsewhere would
 * need libraries at run time, which a program linked statically has not. */
static const char *find_home(struct arena *mem)
{
	char line[4 * LIMIT_PATH];
	struct passwd entry, *user = NULL;
	const char *home = env_text("HOME");
	FILE *list;

	if (home)
		return arena_cstr(mem, str_of(home));
	list = fopen("/etc/passwd", "re");
	while (list && fgetpwent_r(list, &entry, line, sizeof line, &user) == 0 && user->pw_uid != getuid())
		user = NULL;
	if (list)
		fclose(list);
	return user ? arena_cstr(mem, str_of(user->pw_dir)) : "/";
}

static const char *get_env(void *ctx, const char *name)
{
	(void)ctx;
	return env_text(name);
}

enum status where_load_settings(struct arena *mem, const struct log *log, const struct settings **out,
				struct err *err)
{
	struct settings *s = arena_alloc(mem, sizeof *s);
	char cwd[LIMIT_PATH];
	struct settings_where where = {
		.home = find_home(mem),
		.cwd = getcwd(cwd, sizeof cwd),
		.uid = getuid(),
		.env = get_env,
	};

	if (settings_load(&where, mem, log, s, err))
		return err_failed(err->status);
	*out = s;
	return STATUS_OK;
}

/* Programs we start want to know where the user is at home, even where nobody told us. */
static const char *get_env_for_child(void *ctx, const char *name)
{
	const struct settings *settings = ctx;

	return strcmp(name, "HOME") == 0 && settings ? settings->home : env_text(name);
}

void where_environment(const struct settings *settings, struct environment *out)
{
	*out = (struct environment){ .get = get_env_for_child };
	memcpy(&out->ctx, &settings, sizeof out->ctx); /* it is not written to */
}

struct children *where_find_hubs(const struct settings *settings)
{
	struct environment e;

	where_environment(settings, &e);
	return children_new(settings, &e);
}

/* Below the folder that programs keep their data in. */
static int print_usual_place(const struct settings *settings, char out[LIMIT_PATH])
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const char *data = env_text("XDG_DATA_HOME");

	if (data)
		return snprintf(out, LIMIT_PATH, "%s/arbor/arbor.db", data);
	return snprintf(out, LIMIT_PATH, "%s/.local/share/arbor/arbor.db",
			settings && settings->home ? settings->home : find_home(&mem));
}

enum status where_find_store(struct str given, const struct settings *settings, struct store_place *out,
			     struct err *err)
{
	const char *own = env_text("ARBOR_HOME");
	struct str set = settings_text(settings, "store");
	int n;

	out->own_folder = false;
	out->given = given.p != NULL;
	if (given.p)
		n = snprintf(out->path, sizeof out->path, "%.*s", STR_ARG(given));
	else if (own)
		n = snprintf(out->path, sizeof out->path, "%s/arbor.db", own);
	else if (set.p)
		n = snprintf(out->path, sizeof out->path, "%.*s", STR_ARG(set));
	else {
		n = print_usual_place(settings, out->path);
		out->own_folder = true;
	}
	if (n >= (int)sizeof out->path)
		return err_fail(err, STATUS_LIMIT, "%.100s...: path too long", out->path);
	return STATUS_OK;
}

enum status where_open_store(const struct store_place *place, const struct where_opening *o,
			     struct store **out, struct err *err)
{
	struct store_options options = {
		.path = place->path,
		.create = o->make,
		.own_folder = place->own_folder,
		.given = place->given,
		.log = o->log,
		.cancel = o->cancel,
	};
	struct read_options reading = { .cancel = o->cancel, .progress = o->progress, .ctx = o->ctx };
	struct store *s CLEANUP(store_closep) = NULL;
	bool rebuilt;

	if (store_open(&options, &s, err) || rebuild_if_stale(s, &reading, &rebuilt, err))
		return err_failed(err->status);
	*out = s;
	s = NULL;
	return STATUS_OK;
}
