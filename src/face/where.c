/*
 * Where things are: the store, and the folder of Claude Code. The environment is
 * read here and for the terminal (out.c, pager.c), nowhere else.
 */
#include "face/face.h"

#include "ingest/rebuild.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

/* Without HOME, what the system's own list of users says. Lists kept elsewhere would
 * need libraries at run time, which a program linked statically has not. */
const char *home_dir(void)
{
	const char *h = env_text("HOME");
	const struct passwd *user = NULL;
	FILE *list;

	if (h)
		return h;
	list = fopen("/etc/passwd", "re");
	while (list && (user = fgetpwent(list)) && user->pw_uid != getuid())
		;
	if (list)
		fclose(list);
	return user ? user->pw_dir : "/";
}

static enum status find_store(const struct face *f, char out[LIMIT_PATH], struct err *err)
{
	int n;

	if (f->store.p)
		n = snprintf(out, LIMIT_PATH, "%.*s", STR_ARG(f->store));
	else if (env_text("ARBOR_HOME"))
		n = snprintf(out, LIMIT_PATH, "%s/arbor.db", env_text("ARBOR_HOME"));
	else if (settings_text(f->settings, "store").p)
		n = snprintf(out, LIMIT_PATH, "%.*s", STR_ARG(settings_text(f->settings, "store")));
	else if (env_text("XDG_DATA_HOME"))
		n = snprintf(out, LIMIT_PATH, "%s/arbor/arbor.db", env_text("XDG_DATA_HOME"));
	else
		n = snprintf(out, LIMIT_PATH, "%s/.local/share/arbor/arbor.db", home_dir());
	if (n >= LIMIT_PATH)
		return err_fail(err, STATUS_LIMIT, "%.100s...: path too long", out);
	return STATUS_OK;
}

/* After an update of Arbor, what follows from the archive may have to be made anew. */
static void on_rebuild(void *ctx, int64_t done, int64_t total)
{
	struct face *f = ctx;

	progress_report(&f->out, "updating the index", done, total);
}

enum status face_open_store(void *face, bool make, struct store **out, struct err *err)
{
	struct face *f = face;
	char path[LIMIT_PATH];
	struct store_options o = {
		.path = path,
		.create = make,
		.own_folder = !f->store.p && !env_text("ARBOR_HOME") && !settings_text(f->settings, "store").p,
		.log = &f->log,
		.cancel = f->cancel,
	};
	struct store *s CLEANUP(store_closep) = NULL;
	struct read_options reading = { .cancel = f->cancel, .progress = on_rebuild, .ctx = f };
	bool rebuilt;

	if (find_store(f, path, err) || store_open(&o, &s, err) || rebuild_if_stale(s, &reading, &rebuilt, err))
		return err_failed(err->status);
	*out = s;
	s = NULL;
	return STATUS_OK;
}

static const char *get_env(void *ctx, const char *name)
{
	(void)ctx;
	return env_text(name);
}

enum status face_load_settings(struct face *f, struct err *err)
{
	struct settings *s = arena_alloc(&f->mem, sizeof *s);
	char cwd[LIMIT_PATH];
	struct settings_where where = {
		.home = home_dir(),
		.cwd = getcwd(cwd, sizeof cwd),
		.uid = getuid(),
		.env = get_env,
	};

	if (settings_load(&where, &f->mem, &f->log, s, err))
		return err_failed(err->status);
	f->settings = s;
	return STATUS_OK;
}
