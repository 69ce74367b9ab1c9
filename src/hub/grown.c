/*
 * Reading changes nothing, so it brings nothing in either. But who has just left a client and looks at the tree would
 * read that nothing was said. A look at the sizes of the files tells; a file that is not where it was, or is shorter,
 * tells nothing.
 */
#include "hub/grown.h"

#include "base/file.h"
#include "store/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

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
}
