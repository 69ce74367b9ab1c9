/*
 * pty [-e FILE] [-i KEYS] COLUMNSxROWS CMD [ARG]...: runs a program on a terminal of
 * its own and prints what reaches it, the line ends as the program wrote them. Its
 * exit code is the program's; 128 + n when signal n ended it.
 *
 *   -e FILE  standard error goes there and not to the terminal
 *   -i KEYS  typed after the first output; "\003" is Ctrl-C
 */
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static int fail(const char *what)
{
	fprintf(stderr, "pty: %s: %s\n", what, strerror(errno));
	return 125;
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
	fd = terminal_open(size, &other);
	if (fd < 0)
		return fail("no terminal");
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	child = fork();
	if (child == 0)
		terminal_run(other, NULL, errors, argv + at + 1);
	close(other);
	if (child < 0)
		return fail("fork");
	copy(fd, keys);
	if (waitpid(child, &state, 0) != child)
		return fail("wait");
	return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}
