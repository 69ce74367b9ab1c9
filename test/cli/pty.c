/*
 * pty [-e FILE] [-i KEYS] COLUMNSxROWS CMD [ARG]...: runs a program on a terminal of
 * its own and prints what reaches it, the line ends as the program wrote them. Its
 * exit code is the program's; 128 + n when signal n ended it.
 *
 *   -e FILE  standard error goes there and not to the terminal
 *   -i KEYS  typed after the first output; "\003" is Ctrl-C
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "pty: %s: %s\n", what, strerror(errno));
	return 125;
}

static int open_terminal(struct winsize size, int *other)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	struct termios modes;

	if (fd < 0 || grantpt(fd) || unlockpt(fd) || ioctl(fd, TIOCSWINSZ, &size))
		return -1;
	*other = open(ptsname(fd), O_RDWR | O_NOCTTY);
	if (*other < 0 || tcgetattr(*other, &modes))
		return -1;
	modes.c_oflag &= (tcflag_t)~OPOST; /* what is written is what we see */
	modes.c_lflag &= (tcflag_t)~ECHO;
	return tcsetattr(*other, TCSANOW, &modes) ? -1 : fd;
}

static void run(int terminal, const char *errors, char **argv)
{
	int err = errors ? open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600) : terminal;

	setsid();
	ioctl(terminal, TIOCSCTTY, 0);
	dup2(terminal, STDIN_FILENO);
	dup2(terminal, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(terminal);
	execvp(argv[0], argv);
	_exit(127);
}

/* Until nobody has the terminal open. */
static void copy(int fd, const char *keys)
{
	char chunk[4096];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof chunk);

		if (n <= 0)
			return;
		fwrite(chunk, 1, (size_t)n, stdout);
		fflush(stdout);
		if (keys && write(fd, keys, strlen(keys)) < 0)
			return;
		keys = NULL;
	}
}

int main(int argc, char **argv)
{
	const char *errors = NULL, *keys = NULL;
	struct winsize size = { 0 };
	unsigned columns, rows;
	int at = 1, fd, other, state;
	pid_t child;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
		*(argv[at][1] == 'e' ? &errors : &keys) = argv[at + 1];
	/* NOLINTNEXTLINE(cert-err34-c): written by tests */
	if (at + 1 >= argc || sscanf(argv[at], "%ux%u", &columns, &rows) != 2) {
		fprintf(stderr, "usage: pty [-e FILE] [-i KEYS] COLUMNSxROWS CMD [ARG]...\n");
		return 125;
	}
	size.ws_col = (unsigned short)columns;
	size.ws_row = (unsigned short)rows;
	fd = open_terminal(size, &other);
	if (fd < 0)
		return fail("no terminal");
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	child = fork();
	if (child == 0)
		run(other, errors, argv + at + 1);
	close(other);
	if (child < 0)
		return fail("fork");
	copy(fd, keys);
	if (waitpid(child, &state, 0) != child)
		return fail("wait");
	return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}
