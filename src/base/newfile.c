/*
 * The file is made without a name (O_TMPFILE) and gets one by linkat(2), which replaces nothing. Whoever is
 * killed in between leaves nothing behind, and nobody ever sees half of it.
 *
 * File systems that cannot make such a file get one called NAME.tmp.PID, which no reader of ours takes for
 * anything (claude/layout.c), linked in the same way; of that a kill leaves the unfinished one.
 *
 * Small pieces are gathered, so that a line is no system call.
 */
#include "base/newfile.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GATHERED = 256 * KIB };

void newfile_release(struct newfile *f)
{
	if (f->temp[0])
		unlinkat(f->folder, f->temp, 0);
	file_close(&f->fd);
	file_close(&f->folder);
	buf_release(&f->waiting);
	f->fd = f->folder = -1;
	f->temp[0] = '\0';
}

static int open_named(struct newfile *f)
{
	/* The end of a long name is what tells it from others. */
	snprintf(f->temp, sizeof f->temp, "%.200s.tmp.%ld", f->name, (long)getpid());
	return openat(f->folder, f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

enum status newfile_begin(struct newfile *f, const char *folder, const char *name, struct err *err)
{
	if (snprintf(f->name, sizeof f->name, "%s", name) >= (int)sizeof f->name)
		return err_fail(err, STATUS_LIMIT, "%s: the name is too long", name);
	f->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->folder < 0)
		return err_fail_errno(err, errno, "%s", folder);
	f->fd = openat(f->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (f->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT))
		f->fd = open_named(f);
	if (f->fd >= 0)
		return STATUS_OK;
	f->temp[0] = '\0';
	return err_fail_errno(err, errno, "%s: writing there", folder);
}

static enum status write_waiting(struct newfile *f, struct err *err)
{
	if (file_write_all(f->fd, buf_as_str(&f->waiting), err))
		return err_pass(err, "%s", f->name);
	buf_clear(&f->waiting);
	return STATUS_OK;
}

enum status newfile_add(struct newfile *f, struct str bytes, struct err *err)
{
	f->size += (int64_t)bytes.n;
	if (bytes.n >= GATHERED) {
		if (write_waiting(f, err) || file_write_all(f->fd, bytes, err))
			return err_failed(err->status);
		return STATUS_OK;
	}
	buf_str(&f->waiting, bytes);
	return f->waiting.n >= GATHERED ? write_waiting(f, err) : STATUS_OK;
}

static int link_it(const struct newfile *f)
{
	char path[64];

	if (f->temp[0])
		return linkat(f->folder, f->temp, f->folder, f->name, 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, path, f->folder, f->name, AT_SYMLINK_FOLLOW);
}

enum status newfile_finish(struct newfile *f, struct err *err)
{
	if (write_waiting(f, err))
		return err_failed(err->status);
	if (fsync(f->fd))
		return err_fail_errno(err, errno, "%s", f->name);
	if (link_it(f))
		return errno == EEXIST
			       ? err_fail(err, STATUS_CONFLICT, "%s: there is such a file already", f->name)
			       : err_fail_errno(err, errno, "%s", f->name);
	if (f->temp[0])
		unlinkat(f->folder, f->temp, 0);
	f->temp[0] = '\0';
	return fsync(f->folder) ? err_fail_errno(err, errno, "%s: its folder", f->name) : STATUS_OK;
}
