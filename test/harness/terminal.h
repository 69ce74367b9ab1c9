/*
 * A program on a terminal of its own, for tools that look at what it writes there.
 */
#ifndef ARBOR_TEST_TERMINAL_H
#define ARBOR_TEST_TERMINAL_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Our side of it; *other is the program's. -1 with errno when there is none. */
static inline int terminal_open(struct winsize size, int *other)
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

/* In the child: the program, its outputs in files where these are given. Does not return. */
static inline void terminal_run(int terminal, const char *output, const char *errors, char **argv)
{
	int out = output ? open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600) : terminal;
	int err = errors ? open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600) : terminal;

	setsid();
	ioctl(terminal, TIOCSCTTY, 0);
	dup2(terminal, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(terminal);
	execvp(argv[0], argv);
	_exit(127);
}

#endif
