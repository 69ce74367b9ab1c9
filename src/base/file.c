/*
 * File access. Everything below a mirrored root is opened through
 * file_open_beneath(), which cannot leave the root: openat2(2) with
 * RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS where the kernel has it, and a walk
 * component by component with O_NOFOLLOW where it does not (old kernels,
 * some sandboxes answer ENOSYS or EPERM).
 *
 * Invariant: no function here follows a symbolic link below a root, but those that say where links lead.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ALWAYS = O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

static int64_t nanoseconds(const struct statx_timestamp *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

int file_stat_at(int fd, const char *name, struct file_stat *out)
{
	enum { HOW = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT };
	struct statx st;

	if (statx(fd, name, HOW, STATX_BASIC_STATS | STATX_BTIME, &st))
		return errno;
	*out = (struct file_stat){
		.inode = (int64_t)st.stx_ino,
		.size = (int64_t)st.stx_size,
		.mtime_ns = nanoseconds(&st.stx_mtime),
		.ctime_ns = nanoseconds(&st.stx_ctime),
		.btime_ns = st.stx_mask & STATX_BTIME ? nanoseconds(&st.stx_btime) : 0,
		.is_regular = S_ISREG(st.stx_mode),
	};
	return 0;
}

bool file_stat_eq(const struct file_stat *a, const struct file_stat *b)
{
	return a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

struct str file_real_path(struct arena *mem, struct str path)
{
	char *real = realpath(arena_cstr(mem, path), NULL);
	struct str out = real ? arena_str(mem, str_of(real)) : (struct str){ 0 };

	free(real);
	return out;
}

struct str file_real_front(struct arena *mem, struct str path, size_t n)
{
	while (n && n != SIZE_MAX) {
		struct str real = file_real_path(mem, str_sub(path, 0, n));

		if (real.p)
			return arena_printf(mem, "%.*s%.*s", real.n > 1 ? (int)real.n : 0, real.p,
					    STR_ARG(str_sub(path, n, SIZE_MAX)));
		n = str_rfind(str_sub(path, 0, n), '/');
	}
	return path;
}

bool path_is_clean(struct str path)
{
	if (path.n == 0 || path.n >= LIMIT_PATH || str_has_byte(path, '\0'))
		return false;
	while (path.p) {
		struct str part = str_cut(path, '/', &path);

		if (part.n == 0 || str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
	}
	return true;
}

bool path_is_below(struct str path, struct str folder)
{
	return folder.n == 0 ||
	       (str_has_prefix(path, folder) && (path.n == folder.n || path.p[folder.n] == '/'));
}

static enum status refuse_path(struct str path, struct err *err)
{
	return err_fail(err, STATUS_DENIED, "%.*s: not a plain path below the root",
			(int)size_min(path.n, 200), path.p ? path.p : "");
}

enum status file_open_stepwise(int root_fd, struct str path, int flags, int *fd_out, struct err *err)
{
	int dir CLEANUP(file_close) = -1;
	struct str rest = path;

	if (!path_is_clean(path))
		return refuse_path(path, err);
	for (;;) {
		struct str part = str_cut(rest, '/', &rest);
		char name[LIMIT_PATH];
		bool is_last = !rest.p;
		int fd;

		memcpy(name, part.p, part.n);
		name[part.n] = '\0';
		fd = openat(dir < 0 ? root_fd : dir, name,
			    ALWAYS | O_NOFOLLOW | (is_last ? flags : O_PATH | O_DIRECTORY), 0600);
		if (fd < 0)
			return err_fail_errno(err, errno, "%.*s", STR_ARG(path));
		if (is_last) {
			*fd_out = fd;
			return STATUS_OK;
		}
		file_close(&dir);
		dir = fd;
	}
}

enum status file_open_beneath(int root_fd, struct str path, int flags, int *fd_out, struct err *err)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | ALWAYS),
		.mode = flags & O_CREAT ? 0600 : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	enum { TRIES = 100 }; /* openat2 gives up while others rename around it */
	char name[LIMIT_PATH];
	int tries = 0;
	long fd;

	if (path.n == 0)
		path = STR(".");
	else if (!path_is_clean(path))
		return refuse_path(path, err);
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	do {
		fd = syscall(SYS_openat2, root_fd, name, &how, sizeof how);
	} while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < TRIES)));
	if (fd >= 0) {
		*fd_out = (int)fd;
		return STATUS_OK;
	}
	if (errno == ENOSYS || errno == EPERM) {
		if (!str_eq(path, STR(".")))
			return file_open_stepwise(root_fd, path, flags, fd_out, err);
		fd = openat(root_fd, ".", flags | ALWAYS);
		if (fd >= 0) {
			*fd_out = (int)fd;
			return STATUS_OK;
		}
	}
	return err_fail_errno(err, errno, "%.*s", STR_ARG(path));
}

enum status file_read_at(int fd, int64_t offset, void *into, size_t n, size_t *got, struct err *err)
{
	size_t have = 0;

	while (have < n) {
		ssize_t r = pread(fd, (char *)into + have, n - have, offset + (int64_t)have);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return err_fail_errno(err, errno, "reading at byte %" PRId64, offset + (int64_t)have);
		if (r == 0)
			break;
		have += (size_t)r;
	}
	*got = have;
	return STATUS_OK;
}

enum status file_read_all(const char *path, struct buf *out, struct err *err)
{
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_fail_errno(err, errno, "%s", path);
	for (;;) {
		size_t want = size_min(64 * KIB, out->max - out->n), got;
		char probe = 0, *to = want ? buf_reserve(out, want) : &probe;

		if (!to)
			return err_fail(err, STATUS_LIMIT, "%s: larger than %zu bytes", path, out->max);
		if (file_read_at(fd, (int64_t)out->n, to, want ? want : 1, &got, err))
			return err_pass(err, "%s", path);
		if (!want) /* full: one more byte is one too many */
			return got ? err_fail(err, STATUS_LIMIT, "%s: larger than %zu bytes", path, out->max)
				   : STATUS_OK;
		buf_grew(out, got);
		if (got < want)
			return STATUS_OK;
	}
}

ssize_t file_write_quietly(int fd, struct str bytes)
{
	struct timespec at_once = { 0 };
	sigset_t broken, pending, before;
	ssize_t n;
	int number;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	sigpending(&pending);
	n = write(fd, bytes.p, bytes.n);
	number = errno;
	if (n < 0 && number == EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&broken, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = number;
	return n;
}

enum status file_write_all(int fd, struct str bytes, struct err *err)
{
	while (bytes.n) {
		ssize_t w = write(fd, bytes.p, bytes.n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return err_fail_errno(err, errno, "writing");
		bytes = str_sub(bytes, (size_t)w, SIZE_MAX);
	}
	return STATUS_OK;
}

enum status file_sync_folder(const char *folder, struct err *err)
{
	int fd CLEANUP(file_close) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd))
		return err_fail_errno(err, errno, "%s", folder);
	return STATUS_OK;
}

static enum status sync_parent(const char *path, struct err *err)
{
	char folder[LIMIT_PATH];
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;

	snprintf(folder, sizeof folder, "%.*s%s", n, path, slash ? "/" : ".");
	return file_sync_folder(folder, err);
}

enum status file_write_atomic(const char *path, struct str bytes, unsigned mode, struct err *err)
{
	char temp[LIMIT_PATH];
	int fd CLEANUP(file_close) = -1;
	enum status s;

	if (snprintf(temp, sizeof temp, "%s.%ld.new", path, (long)getpid()) >= (int)sizeof temp)
		return err_fail(err, STATUS_LIMIT, "%s: path too long", path);
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode);
	if (fd < 0)
		return err_fail_errno(err, errno, "%s", temp);
	s = file_write_all(fd, bytes, err);
	if (s == STATUS_OK && (fchmod(fd, (mode_t)mode) || fsync(fd) || rename(temp, path)))
		s = err_fail_errno(err, errno, "replacing");
	if (s != STATUS_OK) {
		unlink(temp);
		return err_pass(err, "%s", path);
	}
	return sync_parent(path, err);
}

enum status file_make_dirs(const char *path, struct err *err)
{
	char part[LIMIT_PATH];
	size_t n = strlen(path);
	struct stat st;

	if (n == 0 || n >= sizeof part)
		return err_fail(err, STATUS_LIMIT, "'%s': not a usable folder name", n ? "path too long" : "");
	for (size_t i = 1; i <= n; i++) {
		if (i < n && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0700) && errno != EEXIST)
			return err_fail_errno(err, errno, "%s", part);
	}
	if (stat(path, &st))
		return err_fail_errno(err, errno, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return err_fail(err, STATUS_IO, "%s: is there and not a folder", path);
	return STATUS_OK;
}

void file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
