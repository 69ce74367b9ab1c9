/*
 * Files: opened beneath a root without following links, read and written
 * whole, and described by what decides whether they changed.
 */
#ifndef ARBOR_BASE_FILE_H
#define ARBOR_BASE_FILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <sys/types.h>

/* The device is left out on purpose: its number changes with every boot on many
 * file systems, and would make every file look changed. */
struct file_stat {
	int64_t inode;
	int64_t size;
	int64_t mtime_ns;
	int64_t ctime_ns; /* unlike mtime, nobody can set it */
	int64_t btime_ns; /* birth: with the inode it tells a file from its successor; 0 = unknown */
	bool is_regular;
};

/* Looks at `name` in an open folder, or at the open file itself when name is "".
 * Links are not followed. Returns 0 or an errno. */
int file_stat_at(int fd, const char *name, struct file_stat *out);

/* The same file, unchanged as far as its metadata can tell. */
bool file_stat_eq(const struct file_stat *a, const struct file_stat *b);

/* Relative, without empty, "." or ".." components, without NUL, not too long:
 * the only form in which a path below a root is ever opened. */
bool path_is_clean(struct str path);

/* Whether it is the folder or something in it, at any depth. "" holds everything. */
bool path_is_below(struct str path, struct str folder);

/* A path with all links resolved, in the arena; p NULL = it does not exist. */
struct str file_real_path(struct arena *mem, struct str path);

/* The same of its first n bytes, as far as these exist; the rest follows as it is. */
struct str file_real_front(struct arena *mem, struct str path, size_t n);

/* Opens `path` beneath the folder `root_fd`. No component may be a symbolic
 * link. Flags are those of open(2); O_CLOEXEC, O_NOCTTY and O_NONBLOCK are added,
 * so that a FIFO in the way cannot hang us. An empty path opens the root again. */
enum status file_open_beneath(int root_fd, struct str path, int flags, int *fd_out, struct err *err) MUST_USE;

/* The same without openat2(2), component by component; exported for tests. */
enum status file_open_stepwise(int root_fd, struct str path, int flags, int *fd_out, struct err *err) MUST_USE;

/* Reads up to `n` bytes at `offset`; *got < n only at the end of the file. */
enum status file_read_at(int fd, int64_t offset, void *into, size_t n, size_t *got, struct err *err) MUST_USE;

/* Reads a whole file into `out`; over out->max is STATUS_LIMIT. */
enum status file_read_all(const char *path, struct buf *out, struct err *err) MUST_USE;

enum status file_write_all(int fd, struct str bytes, struct err *err) MUST_USE;

/* write(2) into a pipe that may have no reader any more: EPIPE, and no signal, whatever the
 * thread does with signals. */
ssize_t file_write_quietly(int fd, struct str bytes);

/* Replaces `path` so that at any moment, even across a power cut, either the
 * old or the new content is there. */
enum status file_write_atomic(const char *path, struct str bytes, unsigned mode, struct err *err) MUST_USE;

/* Makes sure that the names in a folder survive a power cut. */
enum status file_sync_folder(const char *folder, struct err *err) MUST_USE;

/* Makes a folder and its missing parents with mode 0700. */
enum status file_make_dirs(const char *path, struct err *err) MUST_USE;

/* For CLEANUP: closes *fd unless it is negative. */
void file_close(int *fd);

#endif
