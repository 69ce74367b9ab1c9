/*
 * The pager is the one child process a face has. It gets a pipe as its standard
 * input and the terminal for the rest.
 *
 * There is no shell: what $PAGER says is split at blanks, as everybody who sets
 * "less -S" expects, and nothing else in it means anything.
 */
#include "face/pager.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 16, MORE = 1 };

static const char *choose(void)
{
	const char *p = getenv("ARBOR_PAGER");

	if (!p)
		p = getenv("PAGER");
	return p ? p : "less";
}

/* Splits in place. */
static void split(char *text, char *words[WORDS + MORE + 1])
{
	size_t n = 0;

	for (char *at = text; *at && n < WORDS;) {
		at += strspn(at, " \t");
		if (!*at)
			break;
		words[n++] = at;
		at += strcspn(at, " \t");
		if (*at)
			*at++ = '\0';
	}
	words[n] = NULL;
}

/* Without -R less shows colours as "ESC[33m". Who has a $LESS of their own has often
 * never needed it. */
static void ask_for_colours(char *words[WORDS + MORE + 1])
{
	static char raw[] = "-R";
	size_t n = 0;

	if (!getenv("LESS") || !str_eq(str_basename(str_of(words[0])), STR("less")))
		return;
	while (words[n])
		n++;
	/* In front of what it is given: behind "--" it would be a file. */
	memmove(words + 2, words + 1, n * sizeof *words);
	words[1] = raw;
}

static bool spawn(struct pager *p, char *const words[], int from)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	bool started;

	/* It ends when it is told to, not because we ignore what it does not. */
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	started = posix_spawnp(&p->pid, words[0], &actions, &attributes, words, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return started;
}

bool pager_start(struct pager *p)
{
	char *text = strdup(p->command ? p->command : choose()), *words[WORDS + MORE + 1];
	int ends[2];
	bool started = false;

	if (!text)
		return false;
	split(text, words);
	if (words[0] && strcmp(words[0], "cat") != 0 && pipe2(ends, O_CLOEXEC) == 0) {
		if (p->colour)
			ask_for_colours(words);
		/* Leave at once when it fits, show colours, keep the screen. */
		setenv("LESS", "FRX", 0);
		started = spawn(p, words, ends[0]);
		close(ends[0]);
		if (started)
			p->fd = ends[1];
		else
			close(ends[1]);
	}
	if (!started)
		p->pid = 0;
	free(text);
	return started;
}

void pager_end(struct pager *p)
{
	if (!p->pid)
		return;
	close(p->fd);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}

bool editor_run(const char *path)
{
	const char *editor = getenv("VISUAL");
	char *text, *words[WORDS + MORE + 1], *file = strdup(path);
	int code = -1;
	size_t n = 0;
	pid_t pid;

	editor = editor && *editor ? editor : getenv("EDITOR");
	text = strdup(editor && *editor ? editor : "vi");
	if (text && file) {
		split(text, words);
		while (words[n])
			n++;
		words[n] = file;
		words[n + 1] = NULL;
	}
	if (n && posix_spawnp(&pid, words[0], NULL, NULL, words, environ) == 0)
		while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
			;
	free(file);
	free(text);
	return code == 0;
}
