/*
 * Forked twice, so that whoever reaps processes is its parent and not we; what keeps it from being run comes
 * back through a pipe that closes when it is.
 *
 * Behind fork(2) only functions are called that a signal handler may call (live/guard.c says why).
 */
#include "live/detach.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_END, WRITE_END, FIRST_FREE = 3 };

static void usual_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &usual, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static NORETURN void become(const char *path, const char *const *arguments, int problems, int nothing)
{
	char *const *words;
	ssize_t ignored;
	int number;

	usual_signals();
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	if (problems != FIRST_FREE)
		dup3(problems, FIRST_FREE, O_CLOEXEC);
	closefrom(FIRST_FREE + 1);
	memcpy(&words, &arguments, sizeof words);
	if (chdir("/") == 0)
		execve(path, words, environ);
	number = errno;
	ignored = write(FIRST_FREE, &number, sizeof number);
	(void)ignored;
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

static void fork_twice(const char *path, const char *const *arguments, int problems, int nothing)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (fork() == 0)
			become(path, arguments, problems, nothing);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

enum status detach_start(const char *path, const char *const *arguments, struct err *err)
{
	int nothing CLEANUP(file_close) = above(open("/dev/null", O_RDWR | O_CLOEXEC));
	int ends[2], number = 0;
	ssize_t n;

	if (nothing < 0 || pipe2(ends, O_CLOEXEC))
		return err_fail_errno(err, errno, "starting %s", path);
	ends[READ_END] = above(ends[READ_END]);
	ends[WRITE_END] = above(ends[WRITE_END]);
	fork_twice(path, arguments, ends[WRITE_END], nothing);
	close(ends[WRITE_END]);
	do {
		n = read(ends[READ_END], &number, sizeof number);
	} while (n < 0 && errno == EINTR);
	close(ends[READ_END]);
	return n > 0 ? err_fail_errno(err, number, "starting %s", path) : STATUS_OK;
}
