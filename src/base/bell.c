/*
 * The bell: writing one byte into a file raises an inotify event in every
 * process that watches it. Watching the database or its WAL instead misses
 * commits, because SQLite writes both through shared memory and at its own
 * pace (measured).
 *
 * A ring carries no information. Waiters look at the store, and look again
 * after their time-out, so a lost ring costs time and never correctness.
 *
 * The queue is a lock on the file's first byte, shared by all who wait: the kernel knows
 * who holds one, and takes it from whoever dies. Nobody ever asks for it alone. It belongs to the
 * opened file, so the connections of one process see each other too.
 */

#include "base/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { NOTIFY_NONE = -2 };

enum status bell_open(struct bell *b, const char *path, struct err *err)
{
	if (snprintf(b->path, sizeof b->path, "%s", path) >= (int)sizeof b->path)
		return err_fail(err, STATUS_LIMIT, "%s: path too long", path);
	b->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (b->fd < 0)
		return err_fail_errno(err, errno, "%s", path);
	return STATUS_OK;
}

void bell_close(struct bell *b)
{
	if (b->notify >= 0)
		close(b->notify);
	if (b->fd >= 0)
		close(b->fd);
	b->fd = b->notify = -1;
}

void bell_ring(const struct bell *b)
{
	ssize_t ignored;

	if (b->fd < 0)
		return;
	ignored = pwrite(b->fd, "!", 1, 0);
	(void)ignored;
}

#ifdef F_OFD_SETLK

static void set_lock(struct bell *b, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

	b->queued = fcntl(b->fd, F_OFD_SETLK, &lock) == 0 && type == F_RDLCK;
}

void bell_queue_up(struct bell *b)
{
	if (!b->queued && b->fd >= 0)
		set_lock(b, F_RDLCK);
}

void bell_leave_queue(struct bell *b)
{
	if (b->queued)
		set_lock(b, F_UNLCK);
}

bool bell_has_queue(const struct bell *b)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return b->fd < 0 || fcntl(b->fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

#else

void bell_queue_up(struct bell *b)
{
	(void)b;
}

void bell_leave_queue(struct bell *b)
{
	(void)b;
}

bool bell_has_queue(const struct bell *b)
{
	(void)b;
	return true;
}

#endif

void bell_listen(struct bell *b)
{
	if (b->notify != -1)
		return;
	b->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (b->notify >= 0 && inotify_add_watch(b->notify, b->path, IN_MODIFY) < 0) {
		close(b->notify);
		b->notify = NOTIFY_NONE;
	}
	if (b->notify < 0)
		b->notify = NOTIFY_NONE;
}

void bell_wait(struct bell *b, int timeout_ms)
{
	struct pollfd p = { .fd = b->notify, .events = POLLIN };
	char events[4096];

	bell_listen(b);
	p.fd = b->notify; /* negative: poll() just sleeps */
	if (poll(&p, 1, timeout_ms) > 0)
		while (read(b->notify, events, sizeof events) > 0)
			;
}
