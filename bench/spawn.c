/*
 * spawn ROUNDS < COMMANDS: how long whole processes take, without a shell in
 * between. A line of standard input is a command, its arguments separated by
 * tabs. All of them run once, in order, ROUNDS times: commands that are to be
 * compared stand side by side and meet the same weather.
 *
 * Prints a line for each run as it ends:
 *
 *     LINE MICROSECONDS PEAK_KB EXIT_CODE       (128 + n: signal n ended it)
 *
 * The program is found in PATH; its input is /dev/null and so is its output.
 * The time is from before posix_spawn() until wait4() has it. PEAK_KB is never
 * less than what this program itself needs, 1 or 2 MB: the kernel counts the
 * moment before exec. Nothing is summed up here, so that whoever reads it can
 * choose.
 */
#include "base/buf.h"
#include "base/limits.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MOST = 4096, ARGS_MOST = 64 };

static void NORETURN die(const char *what, const char *why)
{
	fprintf(stderr, "spawn: %s: %s\n", what, why);
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Cuts a line at its tabs, in place. */
static void split(char *line, char *argv[ARGS_MOST + 1])
{
	size_t n = 0;

	while ((argv[n] = strsep(&line, "\t")))
		if (n++ == ARGS_MOST)
			die(argv[0], "too many arguments");
}

static void run(size_t line, char *const argv[], const posix_spawn_file_actions_t *quiet)
{
	struct rusage use;
	int64_t start = now_us();
	int state, problem;
	pid_t child;

	problem = posix_spawnp(&child, argv[0], quiet, NULL, argv, environ);
	if (problem)
		die(argv[0], strerror(problem));
	if (wait4(child, &state, 0, &use) != child)
		die(argv[0], "it got lost");
	printf("%zu %lld %ld %d\n", line, (long long)(now_us() - start), use.ru_maxrss,
	       WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state));
	fflush(stdout);
}

static void read_input(struct buf *all)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0)
		buf_add(all, chunk, (size_t)n);
	if (n < 0 || all->failed)
		die("standard input", "cannot be read, or is too large");
}

/* Lines to commands, in place; returns how many. */
static size_t read_commands(char *text, char *(*commands)[ARGS_MOST + 1])
{
	size_t count = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		if (count == COMMANDS_MOST)
			die("standard input", "too many commands");
		split(line, commands[count++]);
	}
	return count;
}

int main(int argc, char **argv)
{
	char *(*commands)[ARGS_MOST + 1];
	struct buf all = BUF_INIT(4 * MIB);
	posix_spawn_file_actions_t quiet;
	uint64_t rounds;
	size_t count;

	if (argc != 2 || !str_to_u64(str_of(argv[1]), &rounds)) {
		fprintf(stderr, "usage: spawn ROUNDS < COMMANDS\n");
		return 2;
	}
	commands = calloc(COMMANDS_MOST, sizeof *commands);
	if (!commands || posix_spawn_file_actions_init(&quiet) ||
	    posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
	    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) ||
	    posix_spawn_file_actions_adddup2(&quiet, STDOUT_FILENO, STDERR_FILENO))
		die("starting", "out of memory");
	read_input(&all);
	count = read_commands(all.p, commands);
	for (uint64_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++)
			run(i + 1, commands[i], &quiet);
	posix_spawn_file_actions_destroy(&quiet);
	buf_release(&all);
	free(commands);
	return 0;
}
