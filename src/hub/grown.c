/*
 * Reading changes nothing, so it brings nothing in either. But who has just left a client and looks at the tree would
 * read that nothing was said. A look at the sizes of the files tells; a file that is not where it was, or is shorter,
 * tells nothing.
 *
 * Who does not say which conversation means the one just left, and that may be one of which nothing has been read at
 * all. It is looked for where the client keeps those of the folder somebody is in.
 */
#include "hub/grown.h"

#include "base/file.h"
#include "claude/record.h"
#include "hub/excluded.h"
#include "hub/forkable.h"
#include "hub/where.h"
#include "live/forked.h"
#include "store/session.h"
#include "store/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line that has not come to its end waits, and is none yet. */
static bool has_line(const char *path, int64_t from)
{
	char text[16 * KIB];
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct err ignored;
	size_t got;

	return fd >= 0 && !file_read_at(fd, from, text, sizeof text, &got, &ignored) &&
	       (got == sizeof text || memchr(text, '\n', got));
}

static bool has_grown(struct call *c, const struct session *s, struct str dir)
{
	const char *path = arena_cstr(&c->mem, arena_printf(&c->mem, "%.*s/%.*s", STR_ARG(dir), STR_ARG(s->path)));
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > s->read_to && has_line(path, s->read_to);
}

/* The file in a folder that was written to last. */
static bool newest_in(struct call *c, struct str dir, struct str *name, struct stat *out)
{
	DIR *list = opendir(arena_cstr(&c->mem, dir));
	struct transcript_name parts;
	struct dirent *one;
	struct stat st;

	*name = (struct str){ 0 };
	while (list && (one = readdir(list))) {
		if (!record_transcript_of_path(arena_printf(&c->mem, "projects/x/%s", one->d_name), &parts) ||
		    fstatat(dirfd(list), one->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
		    (name->p && (st.st_mtim.tv_sec < out->st_mtim.tv_sec ||
				 (st.st_mtim.tv_sec == out->st_mtim.tv_sec &&
				  st.st_mtim.tv_nsec <= out->st_mtim.tv_nsec))))
			continue;
		*name = arena_str(&c->mem, str_of(one->d_name));
		*out = st;
	}
	if (list)
		closedir(list);
	return name->p != NULL;
}

/* A file that nobody wants to be mirrored is not missed. */
static bool is_wanted(struct call *c, struct str path, struct str folder)
{
	const struct filter_rules *rules CLEANUP(filter_release) = NULL;
	struct filter filter = { 0 };
	struct err ignored;

	excluded_take(c, NULL, &filter);
	return filter_make(&filter, &c->mem, &rules, &ignored) == STATUS_OK && filter_wants(rules, path, false) &&
	       !filter_excludes_folder(rules, folder);
}

/* How much of a conversation has been read; -1 = it is not known here. */
static int64_t read_of(struct call *c, struct str name)
{
	struct session session;
	struct uuid id;
	struct err ignored;
	int64_t *rows;
	size_t count;

	if (!uuid_parse(str_sub(name, 0, UUID_TEXT), &id) ||
	    session_rows(c->store, &id, (struct str){ 0 }, &c->mem, &rows, &count, &ignored) || !count ||
	    session_get(c->store, rows[0], &c->mem, &session, &ignored))
		return -1;
	return session.read_to;
}

bool grown_here(struct call *c)
{
	struct str home, dir, name, path;
	char here[LIMIT_PATH];
	struct environment env;
	struct root root;
	struct err ignored;
	struct stat st = { 0 };
	int64_t read;

	if (!getcwd(here, sizeof here))
		return false;
	where_environment(c->settings, &env);
	home = call_real_path(c, forked_home(&env, &c->mem));
	/* Of a folder that is not mirrored nothing is expected. */
	if (!home.p || root_find(c->store, arena_cstr(&c->mem, home), (struct str){ 0 }, &root, &ignored))
		return false;
	dir = forked_folder(&env, str_of(here), &c->mem);
	if (!newest_in(c, dir, &name, &st))
		return false;
	path = arena_printf(&c->mem, "%.*s/%.*s", STR_ARG(dir), STR_ARG(name));
	read = read_of(c, name);
	if (read < 0 && !is_wanted(c, str_sub(path, forked_home(&env, &c->mem).n + 1, SIZE_MAX), str_of(here)))
		return false;
	return st.st_size > read && has_line(arena_cstr(&c->mem, path), read < 0 ? 0 : read);
}

/* Whether the method was told of a conversation only that it is the last. */
static bool is_of_last(const struct call *c)
{
	const struct param *q = c->method->params;

	for (size_t i = 0; q[i].name; i++)
		if (q[i].type == VALUE_TEXT && forkable_is_last(c->values[i].text))
			return true;
	return false;
}

void warn_grown(struct call *c, const struct forest *f)
{
	struct buf dir CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	struct str root = { 0 };
	struct err ignored;

	for (uint32_t i = 0; i < f->source_count; i++) {
		const struct session *s = &f->sources[i].session;

		if (f->sources[i].embedded || s->old)
			continue;
		if (!root.p || !str_eq(root, s->root)) {
			root = s->root;
			buf_clear(&dir);
			if (root_dir(c->store, root, &dir, &ignored))
				buf_clear(&dir);
		}
		if (dir.n && has_grown(c, s, buf_as_str(&dir))) {
			log_warn(c->log,
				 "the client has written on since the last sync; 'arbor sync' brings that in");
			return;
		}
	}
	if (is_of_last(c) && grown_here(c))
		log_warn(c->log, GROWN_HERE);
}
