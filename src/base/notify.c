/*
 * Folders watched through inotify.
 *
 * Not through libuv's file events: those pass over an overflow of the system's
 * queue in silence, and do not say whether a folder or a file has come.
 *
 * The system names a watch by a number that it does not use again for a long time,
 * so paths are an array by that number. A folder is opened beneath the root, which
 * refuses links, and watched by its descriptor's name in /proc: between opening and
 * watching nobody can put a link in its place.
 *
 * Invariant: paths[w] is set exactly as long as the system has not said that watch
 * w is gone, but for folders that were dropped.
 */
#include "base/notify.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

struct notify {
	int fd;
	struct buf *paths; /* by number of the watch; p NULL = none */
	size_t cap;
};

enum status notify_new(struct notify **out, struct err *err)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct notify *n;

	if (fd < 0)
		return err_fail_errno(err, errno, "inotify");
	n = mem_alloc(sizeof *n);
	n->fd = fd;
	*out = n;
	return STATUS_OK;
}

void notify_free(struct notify *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->cap; i++)
		buf_release(&n->paths[i]);
	mem_free(n->paths);
	close(n->fd);
	mem_free(n);
}

void notify_freep(struct notify **n)
{
	notify_free(*n);
}

int notify_fd(const struct notify *n)
{
	return n->fd;
}

/* ---- Watching --------------------------------------------------------------- */

static void set_path(struct notify *n, size_t watch, struct str folder)
{
	if (watch >= n->cap) {
		size_t cap = size_max(watch + 1, size_max(64, 2 * n->cap));

		n->paths = mem_resize(n->paths, cap * sizeof *n->paths);
		memset(n->paths + n->cap, 0, (cap - n->cap) * sizeof *n->paths);
		n->cap = cap;
	}
	buf_release(&n->paths[watch]);
	buf_init(&n->paths[watch], LIMIT_PATH);
	buf_str(&n->paths[watch], folder);
	buf_text(&n->paths[watch], ""); /* not NULL even for the root */
}

static enum status fail_watch(int number, struct str folder, struct err *err)
{
	if (number == ENOSPC)
		return err_fail(err, STATUS_LIMIT, "%.*s: this user may not watch more folders",
				(int)size_min(folder.n, 300), folder.p ? folder.p : "");
	return err_fail_errno(err, number, "watching '%.*s'", (int)size_min(folder.n, 300),
			      folder.p ? folder.p : "");
}

static bool hears_all(int fd)
{
	/* Not all of them are in linux/magic.h: 9p of virtual machines, SMB, Ceph, VirtualBox. */
	static const uint32_t remote[] = {
		NFS_SUPER_MAGIC, CODA_SUPER_MAGIC, AFS_SUPER_MAGIC, 0x01021997, 0xfe534d42,
		0xff534d42,	 0x517b,	   0x00c36400,	    0x786f4256,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < COUNT(remote); i++)
		if ((uint32_t)fs.f_type == remote[i])
			return false;
	return true;
}

enum status notify_add(struct notify *n, int root_fd, struct str folder, struct err *err)
{
	uint32_t what = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR |
			IN_EXCL_UNLINK;
	int fd CLEANUP(file_close) = -1;
	char name[64];
	int watch;

	if (!folder.n)
		what |= IN_DELETE_SELF | IN_MOVE_SELF;
	if (file_open_beneath(root_fd, folder, O_RDONLY | O_DIRECTORY, &fd, err))
		return err_failed(err->status);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	watch = inotify_add_watch(n->fd, name, what);
	if (watch < 0)
		return fail_watch(errno, folder, err);
	set_path(n, (size_t)watch, folder);
	if (!hears_all(fd))
		return err_fail(err, STATUS_PARTIAL, "'%.*s' may be changed by other machines unheard",
				(int)size_min(folder.n, 300), folder.p ? folder.p : "");
	return STATUS_OK;
}

void notify_drop(struct notify *n, struct str folder)
{
	for (size_t i = 0; i < n->cap; i++) {
		if (!n->paths[i].p || !path_is_below(buf_as_str(&n->paths[i]), folder))
			continue;
		inotify_rm_watch(n->fd, (int)i); /* it may be gone already */
		buf_release(&n->paths[i]);
	}
}

/* ---- Hearing ---------------------------------------------------------------- */

static enum notify_what what_of(uint32_t mask)
{
	if (!(mask & IN_ISDIR))
		return NOTIFY_FILE;
	return mask & (IN_CREATE | IN_MOVED_TO) ? NOTIFY_FOLDER_CAME : NOTIFY_FOLDER_WENT;
}

static void tell(struct notify *n, const struct inotify_event *e,
		 void (*fn)(void *ctx, enum notify_what what, struct str path), void *ctx)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	const struct buf *folder;

	if (e->mask & IN_Q_OVERFLOW) {
		fn(ctx, NOTIFY_LOST, (struct str){ 0 });
		return;
	}
	if (e->wd < 0 || (size_t)e->wd >= n->cap || !n->paths[e->wd].p)
		return; /* dropped */
	folder = &n->paths[e->wd];
	if (e->mask & IN_IGNORED) {
		buf_release(&n->paths[e->wd]);
		return;
	}
	if (!e->len) { /* the folder itself: only asked for the root, or unmounted */
		buf_str(&path, buf_as_str(folder));
		fn(ctx, NOTIFY_FOLDER_WENT, buf_as_str(&path));
		return;
	}
	buf_str(&path, buf_as_str(folder));
	if (folder->n)
		buf_byte(&path, '/');
	buf_text(&path, e->name);
	if (!path.failed) /* a longer one could not be opened */
		fn(ctx, what_of(e->mask), buf_as_str(&path));
}

void notify_read(struct notify *n, void (*fn)(void *ctx, enum notify_what what, struct str path), void *ctx)
{
	_Alignas(struct inotify_event) char events[16 * KIB];
	ssize_t got;

	while ((got = read(n->fd, events, sizeof events)) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *e = (const struct inotify_event *)(const void *)(events +
												     at);

			tell(n, e, fn, ctx);
			at += (ssize_t)sizeof *e + (ssize_t)e->len;
		}
}
