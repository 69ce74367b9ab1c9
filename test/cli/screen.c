/*
 * screen [-o FILE] [-e FILE] [STEP]... COLUMNSxROWS CMD [ARG]...: runs a program that draws on a
 * terminal, and prints what a person would see there. Its exit code is the program's; 128 + n when
 * signal n ended it; 124 when it does not end.
 *
 *   -o FILE   standard output goes there and not to the terminal
 *   -e FILE   standard error, too
 *
 * Steps, each as soon as the terminal has been quiet for a moment:
 *   -k KEYS   typed
 *   -p NAME   prints "== NAME", then the screen's lines, '_' where the cursor is at the end of one
 *   -r SIZE   gives the terminal another size
 *   -s N      sends the signal of this number to the program
 *
 * It understands what Arbor's screens consist of and nothing else: any other control character or
 * sequence is complained about, and so is a terminal that is not left as it was. "!!" begins these.
 */
#include "terminal.h"

#include "base/utf8.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { COLUMNS = 400, ROWS = 120, CELL = 16, QUIET_MS = 200, END_MS = 10, LONGEST_MS = 20000 };

struct terminal {
	int fd, other;
	struct termios before;
	int columns, rows, row, column;
	bool is_alternate, is_pasting;
	char cells[ROWS][COLUMNS][CELL]; /* "" = the right half of a wide one */
	char held[256];			 /* bytes that wait for the rest of a sequence */
	size_t n;
};

/* ---- What is seen ----------------------------------------------------------------- */

static void erase(struct terminal *t, int row)
{
	for (int i = 0; i < COLUMNS; i++)
		memcpy(t->cells[row][i], " ", 2);
}

static void complain(const char *what, struct str bytes)
{
	printf("!! %s:", what);
	for (size_t i = 0; i < bytes.n; i++)
		printf(" %02x", (unsigned)(unsigned char)bytes.p[i]);
	printf("\n");
}

static void put(struct terminal *t, struct str character, int width)
{
	char *cell;

	if (width == 0) { /* joins what stands before */
		cell = t->cells[t->row][t->column > 0 ? t->column - 1 : 0];
		if (strlen(cell) + character.n < CELL)
			strncat(cell, character.p, character.n);
		return;
	}
	if (t->column + width > t->columns || t->row >= t->rows) {
		complain("outside of the screen", character);
		return;
	}
	cell = t->cells[t->row][t->column];
	memcpy(cell, character.p, character.n);
	cell[character.n] = '\0';
	for (int i = 1; i < width; i++)
		t->cells[t->row][t->column + i][0] = '\0';
	t->column += width;
}

/* The sequence between "ESC [" and its end, that included. */
static void act(struct terminal *t, struct str s)
{
	char text[32], last = s.p[s.n - 1];
	int row = 1, column = 1;

	snprintf(text, sizeof text, "%.*s", STR_ARG(s));
	if (last == 'm')
		return;
	if (strcmp(text, "?1049h") == 0 || strcmp(text, "?1049l") == 0)
		t->is_alternate = last == 'h';
	else if (strcmp(text, "?2004h") == 0 || strcmp(text, "?2004l") == 0)
		t->is_pasting = last == 'h';
	else if (last == 'H' && sscanf(text, "%d;%dH", &row, &column) == 2) /* NOLINT(cert-err34-c) */
		t->row = row - 1, t->column = column - 1;
	else if (last == 'G' && sscanf(text, "%dG", &column) == 1) /* NOLINT(cert-err34-c) */
		t->column = column - 1;
	else if (strcmp(text, "2K") == 0)
		erase(t, t->row);
	else if (strcmp(text, "2J") == 0)
		for (int i = 0; i < ROWS; i++)
			erase(t, i);
	else if (strcmp(text, "?25h") && strcmp(text, "?25l") && strcmp(text, "?7h") && strcmp(text, "?7l"))
		complain("a sequence", s);
	if (t->row < 0 || t->row >= ROWS || t->column < 0 || t->column >= COLUMNS)
		t->row = t->column = 0;
}

/* Takes one character or sequence off the front; 0 = it is not complete. */
static size_t step(struct terminal *t, struct str s)
{
	size_t at = 0, end = 2;
	int32_t c;

	if (s.p[0] == '\033' && s.n > 1 && s.p[1] == '[') {
		while (end < s.n && s.p[end] >= 0x20 && s.p[end] < 0x40)
			end++;
		if (end == s.n)
			return 0;
		act(t, str_sub(s, 2, end - 1));
		return end + 1;
	}
	if (s.p[0] == '\033' && s.n == 1)
		return 0;
	c = utf8_next(s, &at);
	if (c == UTF8_BAD && s.n < 4)
		return 0;
	/* Lines are only on the screen that is left again. */
	if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0)) {
		if (t->is_alternate || (c != '\n' && c != '\r'))
			complain("a control character", str_sub(s, 0, at));
	} else if (t->is_alternate) {
		put(t, str_sub(s, 0, at), utf8_width((uint32_t)c));
	}
	return at;
}

static void look(struct terminal *t, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t taken;

		t->held[t->n++] = bytes[i];
		taken = step(t, str_from(t->held, t->n));
		if (taken || t->n == sizeof t->held)
			t->n = 0;
	}
}

static void print(const struct terminal *t, const char *name)
{
	printf("== %s\n", name);
	for (int row = 0; row < t->rows; row++) {
		int last = t->columns - 1;

		while (last >= 0 && strcmp(t->cells[row][last], " ") == 0)
			last--;
		for (int i = 0; i <= last; i++)
			fputs(t->cells[row][i], stdout);
		printf("%s\n", row == t->row && t->column == last + 1 ? "_" : "");
	}
}

/* ---- What is done ----------------------------------------------------------------- */

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until nothing has come for so long. */
static void drain(struct terminal *t, int ms)
{
	struct pollfd fd = { .fd = t->fd, .events = POLLIN };
	char chunk[4096];
	ssize_t n;

	while (poll(&fd, 1, ms) > 0 && (n = read(t->fd, chunk, sizeof chunk)) > 0)
		look(t, chunk, (size_t)n);
}

static void wait_for_quiet(struct terminal *t)
{
	drain(t, QUIET_MS);
}

/* A program that takes long to start is waited for. */
static void wait_for_screen(struct terminal *t, pid_t child)
{
	long begun = now_ms();

	do
		wait_for_quiet(t);
	while (!t->is_alternate &&
	       waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT | WNOHANG) == 0 &&
	       kill(child, 0) == 0 && now_ms() - begun < LONGEST_MS / 4);
}

static bool read_size(const char *text, struct winsize *size)
{
	/* NOLINTNEXTLINE(cert-err34-c): written by tests */
	return sscanf(text, "%hux%hu", &size->ws_col, &size->ws_row) == 2 && size->ws_col < COLUMNS &&
	       size->ws_row < ROWS;
}

static void resize(struct terminal *t, const char *text)
{
	struct winsize size = { 0 };

	if (!read_size(text, &size) || ioctl(t->fd, TIOCSWINSZ, &size))
		printf("!! cannot be %s\n", text);
	t->columns = size.ws_col;
	t->rows = size.ws_row;
}

static void follow(struct terminal *t, pid_t child, char what, const char *with)
{
	wait_for_quiet(t);
	if (what == 'k' && write(t->fd, with, strlen(with)) < 0)
		printf("!! cannot type\n");
	else if (what == 'p')
		print(t, with);
	else if (what == 'r')
		resize(t, with);
	else if (what == 's')
		kill(child, (int)strtol(with, NULL, 10));
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

static int end_of(struct terminal *t, pid_t child)
{
	struct termios after;
	long begun = now_ms();
	int state, code = 124;

	while (now_ms() - begun < LONGEST_MS) {
		drain(t, END_MS);
		if (waitpid(child, &state, WNOHANG) == child) {
			code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
			break;
		}
	}
	if (code == 124)
		kill(child, SIGKILL);
	drain(t, END_MS); /* what it wrote before it ended is there */
	if (tcgetattr(t->other, &after) || !same_modes(&after, &t->before))
		printf("!! the terminal's modes are not what they were\n");
	if (t->is_alternate || t->is_pasting)
		printf("!! the screen was not left\n");
	return code;
}

int main(int argc, char **argv)
{
	static struct terminal t;
	const char *output = NULL, *errors = NULL;
	struct winsize size = { 0 };
	int at = 1, steps = 1;
	pid_t child;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
		if (argv[at][1] == 'o' || argv[at][1] == 'e')
			*(argv[at][1] == 'o' ? &output : &errors) = argv[at + 1];
	if (at + 1 >= argc || !read_size(argv[at], &size)) {
		fprintf(stderr, "usage: screen [-o FILE] [-e FILE] [STEP]... COLUMNSxROWS CMD [ARG]...\n");
		return 125;
	}
	t.columns = size.ws_col;
	t.rows = size.ws_row;
	t.fd = terminal_open(size, &t.other);
	if (t.fd < 0 || tcgetattr(t.other, &t.before))
		return 125;
	fcntl(t.fd, F_SETFD, FD_CLOEXEC);
	child = fork();
	if (child == 0)
		terminal_run(t.other, output, errors, argv + at + 1);
	wait_for_screen(&t, child);
	for (; steps < at; steps += 2)
		if (argv[steps][1] != 'o' && argv[steps][1] != 'e')
			follow(&t, child, argv[steps][1], argv[steps + 1]);
	return end_of(&t, child);
}
