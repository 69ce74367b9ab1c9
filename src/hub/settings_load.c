/*
 * Where settings files are, and which of them are believed.
 *
 * The user's file is the user's own affair: it may be a link (people keep such
 * files elsewhere), and when it is there it must be readable and right.
 *
 * A project's file is .arbor/settings.json in the working folder or the nearest
 * folder above it. The search ends with the top of the git repository, and before
 * HOME: what lies there is not a project's, and above it nothing is either. Outside
 * of HOME it ends with "/". A file that could be somebody else's word is ignored,
 * and the user is told: one of another user (a shared folder such as /tmp is
 * anybody's to put it into), one behind a link, one that is not a plain file.
 * Root's are believed, as everywhere. So is one ignored, whole, that cannot be
 * understood: whoever works in a folder must not be stopped by what lies in it.
 *
 * Invariants: what is checked is what is read, because both use the same open
 * file; no link below the project's folder is followed; at most LIMIT_SETTINGS
 * bytes of a file are looked at.
 */
#include "hub/settings.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROJECT_FILE ".arbor/settings.json"

static enum status read_file(int fd, const char *path, struct buf *out, struct err *err)
{
	char *to = buf_reserve(out, LIMIT_SETTINGS + 1); /* one more byte is one too many */
	size_t got;

	if (file_read_at(fd, 0, to, LIMIT_SETTINGS + 1, &got, err))
		return err_pass(err, "%s", path);
	if (got > LIMIT_SETTINGS)
		return err_fail(err, STATUS_LIMIT, "%s: larger than %zu bytes; these cannot be settings",
				path, LIMIT_SETTINGS);
	buf_grew(out, got);
	return STATUS_OK;
}

static enum status read_settings(struct settings *s, enum setting_source from, int fd, const char *path,
				 const struct log *log, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_SETTINGS + 1);

	if (read_file(fd, path, &text, err))
		return err_failed(err->status);
	return settings_read(s, from, path, buf_as_str(&text), log, err);
}

/* ---- The user's ------------------------------------------------------------- */

/* NULL when the user has no home. A relative XDG_CONFIG_HOME is no value, as its
 * specification says. */
static const char *user_path(const struct settings_where *w, struct arena *mem)
{
	const char *xdg = w->env ? w->env(w->ctx, "XDG_CONFIG_HOME") : NULL;

	if (w->config_dir)
		return arena_printf(mem, "%s/arbor/settings.json", w->config_dir).p;
	if (xdg && xdg[0] == '/')
		return arena_printf(mem, "%s/arbor/settings.json", xdg).p;
	return w->home ? arena_printf(mem, "%s/.config/arbor/settings.json", w->home).p : NULL;
}

static enum status load_user(struct settings *s, const struct log *log, struct err *err)
{
	int fd CLEANUP(file_close) = -1;
	struct stat st;

	if (!s->user_file)
		return STATUS_OK;
	fd = open(s->user_file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return STATUS_OK;
	if (fd < 0 || fstat(fd, &st))
		return err_fail_errno(err, errno, "%s", s->user_file);
	if (!S_ISREG(st.st_mode))
		return err_fail(err, STATUS_FORMAT, "%s: not a file", s->user_file);
	return read_settings(s, SETTING_USER, fd, s->user_file, log, err);
}

/* ---- The project's ---------------------------------------------------------- */

/* Why a project's file is not believed; NULL when it is. */
static const char *distrust(int fd, uid_t own)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return "it is not a plain file";
	if (st.st_uid != own && st.st_uid != 0)
		return "it belongs to another user";
	return NULL;
}

/* The project file in one folder. Returns whether it is there, used or not. */
static bool load_from(struct settings *s, int dir, struct str folder, const struct settings_where *w,
		      const struct log *log)
{
	const char *path, *reason;
	struct err err;
	int fd CLEANUP(file_close) = -1;
	enum status status = file_open_beneath(dir, STR(PROJECT_FILE), O_RDONLY, &fd, &err);

	if (status == STATUS_NOT_FOUND)
		return false;
	path = arena_printf(s->mem, "%.*s%s" PROJECT_FILE, STR_ARG(folder), folder.n > 1 ? "/" : "").p;
	reason = status == STATUS_DENIED ? "it cannot be opened, or a link leads to it"
		 : status != STATUS_OK	 ? err.text
					 : distrust(fd, w->uid);
	if (reason)
		log_warn(log, "%s is ignored: %s", path, reason);
	else if (read_settings(s, SETTING_PROJECT, fd, path, log, &err))
		log_warn(log, "%s; the whole file is ignored", err.text);
	return true;
}

/* By device and inode: HOME is often a link to where it really is. */
static bool is_home(int dir, const char *home)
{
	struct stat here, there;

	return home && !fstat(dir, &here) && !stat(home, &there) && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static struct str parent_of(struct str folder)
{
	return str_sub(folder, 0, size_max(str_rfind(folder, '/'), 1));
}

static void load_project(struct settings *s, const struct settings_where *w, const struct log *log)
{
	struct str folder = str_of(w->cwd);
	bool done = !str_has_prefix(folder, STR("/"));

	while (!done) {
		int dir CLEANUP(file_close) = open(arena_cstr(s->mem, folder),
						   O_PATH | O_DIRECTORY | O_CLOEXEC);

		done = folder.n == 1;
		if (dir >= 0) {
			if (is_home(dir, w->home))
				return;
			done = done || faccessat(dir, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
			done = load_from(s, dir, folder, w, log) || done;
		}
		folder = parent_of(folder);
	}
}

enum status settings_load(const struct settings_where *where, struct arena *mem, const struct log *log,
			  struct settings *out, struct err *err)
{
	struct settings s;

	settings_begin(&s, where->home, mem);
	s.user_file = user_path(where, mem);
	if (settings_read_env(&s, SETTING_GENERAL, where, err) || load_user(&s, log, err))
		return err_failed(err->status);
	load_project(&s, where, log);
	if (settings_read_env(&s, SETTING_ENVIRONMENT, where, err))
		return err_failed(err->status);
	*out = s;
	return STATUS_OK;
}
