/*
 * A number is drawn, and its turn waited for: that is fair, which a lock alone is not.
 *
 * The descriptor stays blocking, since others may share it. A pipe that poll(2) calls
 * writable has room for PIPE_BUF bytes, so as long as no more are written at once nobody
 * gets stuck in the kernel, and turns_end() is seen.
 */
#include "face/turns.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>

enum { LOOK_MS = 100 };

void turns_init(struct turns *t, int fd)
{
	*t = (struct turns){ .fd = fd };
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
}

void turns_release(struct turns *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

void turns_end(struct turns *t)
{
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->over, true);
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

bool turns_has_reader(struct turns *t)
{
	struct pollfd f = { .fd = t->fd };

	if (poll(&f, 1, 0) > 0 && (f.revents & (POLLERR | POLLHUP | POLLNVAL)))
		turns_end(t);
	return !atomic_load(&t->over);
}

/* Whether it was all written. */
static bool write_all(struct turns *t, struct str line)
{
	while (line.n && !atomic_load(&t->over)) {
		struct pollfd f = { .fd = t->fd, .events = POLLOUT };
		ssize_t n;

		if (poll(&f, 1, LOOK_MS) <= 0)
			continue;
		n = file_write_quietly(t->fd, str_sub(line, 0, PIPE_BUF));
		if (n > 0)
			line = str_sub(line, (size_t)n, SIZE_MAX);
		else if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
	}
	return !line.n;
}

static bool take_turn(struct turns *t)
{
	uint64_t own;
	bool granted;

	pthread_mutex_lock(&t->lock);
	own = t->next++;
	while (t->now != own && !atomic_load(&t->over))
		pthread_cond_wait(&t->changed, &t->lock);
	granted = !atomic_load(&t->over);
	pthread_mutex_unlock(&t->lock);
	return granted;
}

bool turns_write(struct turns *t, struct str line)
{
	if (!take_turn(t))
		return false;
	if (!write_all(t, line)) {
		turns_end(t);
		return false;
	}
	pthread_mutex_lock(&t->lock);
	t->now++;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return true;
}
