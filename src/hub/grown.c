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
#include "hub/forkable.h"
#include "hub/mirror_now.h"
#include "hub/where.h"
#include "live/forked.h"
#include "store/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NEWEST = 8 };

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

/* A sync leaves out of the client's folder what the settings leave out by now. */
static bool is_wanted(struct call *c, const struct session *s, struct str dir)
{
	struct str home = mirror_home(c);

	return !home.p || !str_eq(home, dir) || mirror_is_behind(c, &s->path, 1);
}

static bool has_grown(struct call *c, const struct session *s, struct str dir)
{
	const char *path = arena_cstr(&c->mem, arena_printf(&c->mem, "%.*s/%.*s", STR_ARG(dir), STR_ARG(s->path)));
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > s->read_to && has_line(path, s->read_to) &&
	       is_wanted(c, s, dir);
}

/* Transcripts of a folder of the client's, those that were written to last. */
struct written {
	struct str path[NEWEST];
	struct timespec at[NEWEST];
	size_t count;
};

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

static void take_written(struct written *w, struct str path, struct timespec at)
{
	size_t i = w->count < NEWEST ? w->count++ : NEWEST;

	for (; i > 0 && is_later(at, w->at[i - 1]); i--) {
		if (i == NEWEST)
			continue;
		w->path[i] = w->path[i - 1];
		w->at[i] = w->at[i - 1];
	}
	if (i < NEWEST) {
		w->path[i] = path;
		w->at[i] = at;
	}
}

static void find_written(struct call *c, struct str home, struct str below, struct written *out)
{
	DIR *list = opendir(arena_cstr(&c->mem, arena_printf(&c->mem, "%.*s/%.*s", STR_ARG(home), STR_ARG(below))));
	struct transcript_name name;
	struct dirent *one;
	struct stat st;

	*out = (struct written){ 0 };
	while (list && (one = readdir(list))) {
		struct str path = arena_printf(&c->mem, "%.*s/%s", STR_ARG(below), one->d_name);

		if (record_transcript_of_path(path, &name) && !name.agent.n &&
		    fstatat(dirfd(list), one->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			take_written(out, path, st.st_mtim);
	}
	if (list)
		closedir(list);
}

bool grown_here(struct call *c)
{
	struct environment env;
	struct written written;
	char here[LIMIT_PATH];
	struct str home, dir;

	if (!getcwd(here, sizeof here))
		return false;
	where_environment(c->settings, &env);
	home = forked_home(&env, &c->mem);
	dir = forked_folder(&env, str_of(here), &c->mem);
	find_written(c, home, str_sub(dir, home.n + 1, SIZE_MAX), &written);
	return mirror_is_behind(c, written.path, written.count);
}

/* Whether a conversation is the last because nobody has named one, or because somebody said so. */
static bool is_of_last(const struct call *c)
{
	const struct param *q = c->method->params;

	for (size_t i = 0; q[i].name; i++) {
		struct str text = c->values[i].text;

		if (q[i].type == VALUE_TEXT &&
		    (forkable_is_last(text) || str_has_prefix(text, STR("..")) || str_has_suffix(text, STR(".."))))
			return true;
	}
	return false;
}

void warn_grown_here(struct call *c)
{
	if (is_of_last(c) && grown_here(c))
		log_warn(c->log, GROWN_HERE);
}

bool warn_grown(struct call *c, const struct forest *f)
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
			return true;
		}
	}
	return false;
}
