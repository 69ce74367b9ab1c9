/*
 * A walk with an explicit list of folders still to visit: no recursion, and
 * one open folder at a time however deep the tree is. Each folder is opened
 * from the root beneath it, so one that is replaced by a link during the walk
 * is refused and not followed.
 *
 * Not here: which files are interesting (the caller's `wants`).
 */
#include "base/walk.h"

#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder still to be read. */
struct pending {
	struct pending *next;
	struct str path;
	unsigned depth;
};

struct walk_state {
	const struct walk *w;
	int root_fd;
	struct arena memory;
	struct pending *todo;
	struct buf path; /* of the entry being looked at */
};

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static void refuse(struct walk_state *s, struct str path, enum status status, const char *why)
{
	struct err err;

	err_set(&err, status, "%.*s: %s", (int)size_min(path.n, 300), path.p, why);
	s->w->failed(s->w->ctx, path, WALK_REFUSED, &err);
}

static void push_folder(struct walk_state *s, struct str path, unsigned depth)
{
	struct pending *p;

	if (depth > LIMIT_WALK_DEPTH) {
		refuse(s, path, STATUS_LIMIT, "too many folders inside each other, not read");
		return;
	}
	p = arena_alloc(&s->memory, sizeof *p);
	p->path = arena_str(&s->memory, path);
	p->depth = depth;
	p->next = s->todo;
	s->todo = p;
}

/* What an entry is, asking the file system only where readdir does not say. */
static unsigned char entry_type(int dir_fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return DT_REG; /* looked at again, and reported, as a file */
	return (unsigned char)IFTODT(st.st_mode);
}

static void look_at_file(struct walk_state *s, int dir_fd, const char *name, struct str path)
{
	struct file_stat st;
	struct err err;
	int number = file_stat_at(dir_fd, name, &st);

	if (number == ENOENT)
		return; /* gone since readdir: as if never seen */
	if (number) {
		err_errno(&err, number, "%.*s", (int)size_min(path.n, 300), path.p);
		s->w->failed(s->w->ctx, path, WALK_ERROR, &err);
		return;
	}
	if (!st.is_regular) {
		refuse(s, path, STATUS_DENIED, "not a regular file, not read");
		return;
	}
	s->w->found(s->w->ctx, path, &st);
}

/* Links are never followed, only told apart: what hides behind one to a folder
 * may be much. */
static void look_at_link(struct walk_state *s, int dir_fd, const char *name, struct str path)
{
	struct stat st;
	struct err err;

	if (!s->w->wants(s->w->ctx, path, false) && !s->w->wants(s->w->ctx, path, true))
		return;
	if (fstatat(dir_fd, name, &st, 0) || !S_ISDIR(st.st_mode)) {
		refuse(s, path, STATUS_DENIED, "a symbolic link, not followed");
		return;
	}
	err_set(&err, STATUS_DENIED, "%.*s: a symbolic link to a folder, not followed; mount the folder there instead",
		(int)size_min(path.n, 300), path.p);
	s->w->failed(s->w->ctx, path, WALK_FOLDER_LINK, &err);
}

static void look_at(struct walk_state *s, const struct pending *folder, int dir_fd, const struct dirent *entry)
{
	unsigned char type = entry_type(dir_fd, entry);
	struct str path;

	buf_clear(&s->path);
	if (folder->path.n) {
		buf_str(&s->path, folder->path);
		buf_byte(&s->path, '/');
	}
	buf_text(&s->path, entry->d_name);
	path = buf_as_str(&s->path);
	if (s->path.failed) {
		refuse(s, folder->path, STATUS_LIMIT, "holds a path that is too long, not read");
		return;
	}
	if (type == DT_DIR) {
		if (s->w->wants(s->w->ctx, path, true))
			push_folder(s, path, folder->depth + 1);
	} else if (type == DT_LNK) {
		look_at_link(s, dir_fd, entry->d_name, path);
	} else if (s->w->wants(s->w->ctx, path, false)) {
		look_at_file(s, dir_fd, entry->d_name, path);
	}
}

static enum status read_folder(struct walk_state *s, const struct pending *folder, struct err *err)
{
	DIR *dir CLEANUP(close_dir) = NULL;
	struct dirent *entry;
	int fd;

	if (file_open_beneath(s->root_fd, folder->path, O_RDONLY | O_DIRECTORY, &fd, err))
		return err->status;
	dir = fdopendir(fd);
	if (!dir) {
		int number = errno;

		close(fd);
		return err_fail_errno(err, number, "%.*s", STR_ARG(folder->path));
	}
	for (errno = 0; (entry = readdir(dir)); errno = 0)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			look_at(s, folder, fd, entry);
	if (errno)
		return err_fail_errno(err, errno, "%.*s", STR_ARG(folder->path));
	return STATUS_OK;
}

enum status walk_run(const struct walk *w, int root_fd, struct err *err)
{
	struct walk_state s = { .w = w, .root_fd = root_fd, .path = BUF_INIT(LIMIT_PATH - 1) };
	struct pending root = { 0 };
	enum status status = read_folder(&s, &root, err);

	while (status == STATUS_OK && s.todo && !(w->cancel && atomic_load(w->cancel))) {
		struct pending *folder = s.todo;
		struct err inner;

		s.todo = folder->next;
		if (read_folder(&s, folder, &inner) && inner.status != STATUS_NOT_FOUND)
			w->failed(w->ctx, folder->path, WALK_ERROR, &inner);
	}
	buf_release(&s.path);
	arena_release(&s.memory);
	return status;
}

static bool would_come_to(const struct walk *w, struct str path)
{
	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/' && !w->wants(w->ctx, str_sub(path, 0, i), true))
			return false;
	return true;
}

static struct str folder_of(struct str path)
{
	size_t slash = str_rfind(path, '/');

	return str_sub(path, 0, slash == SIZE_MAX ? 0 : slash);
}

void walk_path(const struct walk *w, int root_fd, struct str path)
{
	struct walk_state s = { .w = w, .root_fd = root_fd };
	struct str folder = folder_of(path), base = str_basename(path);
	int fd CLEANUP(file_close) = -1;
	char name[LIMIT_PATH];
	struct stat st;
	struct err err;

	if (!path_is_clean(path) || !would_come_to(w, path))
		return;
	if (file_open_beneath(root_fd, folder, O_RDONLY | O_DIRECTORY, &fd, &err)) {
		if (err.status != STATUS_NOT_FOUND)
			w->failed(w->ctx, folder, WALK_ERROR, &err);
		return;
	}
	memcpy(name, base.p, base.n);
	name[base.n] = '\0';
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		st.st_mode = S_IFREG; /* looked at again, and reported, as a file */
	if (S_ISLNK(st.st_mode))
		look_at_link(&s, fd, name, path);
	else if (!S_ISDIR(st.st_mode) && w->wants(w->ctx, path, false))
		look_at_file(&s, fd, name, path);
}
