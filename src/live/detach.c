/*
 * Forked twice, so that whoever reaps processes is its parent and not we; its number, and what keeps it from
 * being run, come back through a pipe that closes when it is.
 *
 * What it writes to standard error goes into memory that both of us have (memfd): a pipe would kill it once
 * nobody reads any more, and a file would be left. The memory cannot grow, however much it writes.
 *
 * Behind fork(2) only functions are called that a signal handler may call (live/guard.c says why).
 */
#include "live/detach.h"

#include "base/file.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_END, WRITE_END, FIRST_FREE = 3 };
enum { WORDS = 16 * 1024 }; /* of its standard error; a failure is a line or two */

struct news {
	pid_t pid;
	int number; /* of an error; 0 = it is about to be run */
};

/* What the new process is given. */
struct ends {
	int news, nothing, words;
};

static void usual_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &usual, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void tell(int number)
{
	struct news news = { getpid(), number };
	ssize_t ignored = write(FIRST_FREE, &news, sizeof news);

	(void)ignored;
}

static NORETURN void become(const char *path, const char *const *arguments, const struct ends *e)
{
	char *const *words;

	usual_signals();
	dup2(e->nothing, STDIN_FILENO);
	dup2(e->nothing, STDOUT_FILENO);
	dup2(e->words, STDERR_FILENO);
	if (e->news != FIRST_FREE)
		dup3(e->news, FIRST_FREE, O_CLOEXEC);
	closefrom(FIRST_FREE + 1);
	tell(0);
	memcpy(&words, &arguments, sizeof words);
	if (chdir("/") == 0)
		execve(path, words, environ);
	tell(errno);
	_exit(127);
}

/* Above the standard streams, which it replaces. */
static int above(int fd)
{
	int moved = fd >= 0 && fd < FIRST_FREE ? fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE) : fd;

	if (moved != fd)
		close(fd);
	return moved;
}

static void fork_twice(const char *path, const char *const *arguments, const struct ends *e)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (fork() == 0)
			become(path, arguments, e);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static bool hear(int fd, struct news *out)
{
	ssize_t n;

	do {
		n = read(fd, out, sizeof *out);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *out;
}

static int make_words(void)
{
	int fd = above(memfd_create("words", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (fd >= 0 && (ftruncate(fd, WORDS) || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK))) {
		file_close(&fd);
		fd = -1;
	}
	return fd;
}

enum status detach_start(const char *path, const char *const *arguments, struct detached *out,
			 struct err *err)
{
	int nothing CLEANUP(file_close) = above(open("/dev/null", O_RDWR | O_CLOEXEC));
	struct news news = { 0 };
	int ends[2];

	*out = (struct detached)DETACHED_INIT;
	if (nothing < 0 || pipe2(ends, O_CLOEXEC))
		return err_fail_errno(err, errno, "starting %s", path);
	ends[READ_END] = above(ends[READ_END]);
	ends[WRITE_END] = above(ends[WRITE_END]);
	out->words = make_words();
	fork_twice(path, arguments,
		   &(struct ends){ ends[WRITE_END], nothing, out->words < 0 ? nothing : out->words });
	close(ends[WRITE_END]);
	if (!hear(ends[READ_END], &news))
		news.number = EAGAIN; /* no process could be made */
	else
		hear(ends[READ_END], &news); /* the second news are bad news */
	close(ends[READ_END]);
	out->pid = news.pid;
	if (!news.number)
		return STATUS_OK;
	detached_release(out);
	return err_fail_errno(err, news.number, "starting %s", path);
}

/* ---- Afterwards ---------------------------------------------------------------- */

bool detached_is_gone(const struct detached *d)
{
	int64_t ignored;

	return !proc_start(d->pid, &ignored);
}

void detached_last_words(const struct detached *d, struct buf *out)
{
	char words[WORDS];
	ssize_t n = d->words < 0 ? 0 : pread(d->words, words, sizeof words, 0);
	struct str said = str_trim(str_from(words, n > 0 ? strnlen(words, (size_t)n) : 0));
	size_t line = str_rfind(said, '\n');

	buf_str(out, str_sub(said, line == SIZE_MAX ? 0 : line + 1, SIZE_MAX));
}

void detached_release(struct detached *d)
{
	file_close(&d->words);
	d->words = -1;
}
