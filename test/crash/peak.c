/*
 * peak CMD [ARG]...: runs a program and prints, as the last line on standard
 * error, "peak KB" with the most memory it had at once. Its exit code is the
 * program's; 128 + n when signal n ended it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage use;
	int state;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: peak CMD [ARG]...\n");
		return 2;
	}
	child = fork();
	if (child == 0) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "peak: %s: %s\n", argv[1], strerror(errno));
		_exit(127);
	}
	if (child < 0 || wait4(child, &state, 0, &use) != child) {
		fprintf(stderr, "peak: %s\n", strerror(errno));
		return 1;
	}
	fprintf(stderr, "peak %ld\n", use.ru_maxrss);
	return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}
