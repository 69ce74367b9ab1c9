/*
 * Pipes of a guarded child on a loop.
 *
 * Its output is read as fast as it is taken, its standard error always, of which the last
 * few KiB are kept. It has ended when the guard is gone: then nobody is left who
 * could write, and what is still in the pipes is delivered before the end is told,
 * also when output was paused. Only who killed the guard itself may have left somebody: what they write
 * later is not waited for.
 *
 * A function we call may free the child: it is freed when the event is dealt with
 * (hold(), let_go()), and told nothing more.
 */
#include "live/child.h"

#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PIECE = 64 * 1024,     /* what a pipe holds */
	LAST_WORDS = 8 * 1024, /* of standard error */
	KILL_MS = 2000,	       /* for a guard to kill everything */
};

struct child {
	struct guard guard;
	struct child_hooks hooks;
	struct loop_fd *in, *out, *errors, *reports;
	struct buf unread; /* what it has not taken yet, from `taken` on */
	size_t taken;
	bool closing; /* no more will be written */
	struct buf said;
	struct child_end end;
	pid_t pid;
	bool held;  /* an event is being dealt with */
	bool freed; /* meanwhile: nobody wants to hear any more */
	char piece[PIECE];
};

/* The program itself was found before: it is a script that does not say who runs it, or names nobody. */
static const char *script_hint(int number)
{
	return number == ENOENT    ? "; its first line, '#!...', names a program that is not there"
	       : number == ENOEXEC ? "; the first line of a script is '#!' and the program that runs it"
				   : "";
}

void child_end_text(const struct child_end *end, struct buf *out)
{
	const char *reason = end->error ? strerrordesc_np(end->error) : NULL;

	if (end->error)
		buf_printf(out, "cannot be run: %s%s", reason ? reason : "unknown error", script_hint(end->error));
	else if (end->signal)
		buf_printf(out, "was killed by signal %d", end->signal);
	else if (end->code >= 0)
		buf_printf(out, "ended with code %d", end->code);
	else
		buf_text(out, "is gone");
}

/* ---- From the child ---------------------------------------------------------- */

/* False when there is nothing more just now, or ever (*over). */
static bool read_piece(struct child *c, int fd, struct str *out, bool *over)
{
	ssize_t n;

	do {
		n = read(fd, c->piece, sizeof c->piece);
	} while (n < 0 && errno == EINTR);
	*over = n == 0 || (n < 0 && errno != EAGAIN);
	*out = str_from(c->piece, n > 0 ? (size_t)n : 0);
	return n > 0;
}

static void hold(struct child *c)
{
	c->held = true;
}

static void let_go(struct child *c)
{
	c->held = false;
	if (c->freed)
		child_free(c);
}

static void leave(struct loop_fd **watched)
{
	loop_fd_free(*watched);
	*watched = NULL;
}

/* Whether there was something. */
static bool take_output(struct child *c)
{
	struct str bytes;
	bool over, some = read_piece(c, c->guard.out, &bytes, &over);

	if (some)
		c->hooks.output(c->hooks.ctx, bytes);
	else if (over)
		leave(&c->out);
	return some;
}

static void on_output(void *ctx)
{
	hold(ctx);
	take_output(ctx);
	let_go(ctx);
}

static void keep_words(struct child *c, struct str bytes)
{
	bytes = str_sub(bytes, bytes.n > LAST_WORDS ? bytes.n - LAST_WORDS : 0, SIZE_MAX);
	if (c->said.n + bytes.n > LAST_WORDS)
		buf_drop(&c->said, c->said.n + bytes.n - LAST_WORDS);
	buf_str(&c->said, bytes);
}

static bool take_errors(struct child *c)
{
	struct str bytes;
	bool over;

	if (!read_piece(c, c->guard.errors, &bytes, &over)) {
		if (over)
			leave(&c->errors);
		return false;
	}
	keep_words(c, bytes);
	if (c->hooks.errors)
		c->hooks.errors(c->hooks.ctx, bytes);
	return true;
}

static void on_errors(void *ctx)
{
	hold(ctx);
	take_errors(ctx);
	let_go(ctx);
}

struct str child_last_words(const struct child *c)
{
	struct str rest = str_trim(buf_as_str(&c->said));
	size_t line = str_rfind(rest, '\n');

	return str_trim(str_sub(rest, line == SIZE_MAX ? 0 : line + 1, SIZE_MAX));
}

/* ---- To the child ------------------------------------------------------------ */

static void shut_input(struct child *c)
{
	leave(&c->in);
	if (c->guard.in >= 0)
		close(c->guard.in);
	c->guard.in = -1;
	buf_release(&c->unread);
	c->taken = 0;
}

size_t child_unread(const struct child *c)
{
	return c->unread.n - c->taken;
}

/* Whether all of it is gone. A child that has closed its input is as one that has read everything: its
 * end is what will be told. */
static bool write_on(struct child *c)
{
	while (c->guard.in >= 0 && child_unread(c)) {
		ssize_t n = file_write_quietly(c->guard.in,
					       str_sub(buf_as_str(&c->unread), c->taken, SIZE_MAX));

		if (n > 0)
			c->taken += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			return false;
		else if (n < 0 && errno != EINTR)
			shut_input(c);
	}
	buf_clear(&c->unread);
	c->taken = 0;
	if (c->closing)
		shut_input(c);
	return true;
}

static void on_room(void *ctx)
{
	struct child *c = ctx;

	if (!write_on(c))
		return;
	if (c->in)
		loop_fd_want(c->in, 0);
	hold(c);
	if (c->hooks.written)
		c->hooks.written(c->hooks.ctx);
	let_go(c);
}

void child_write(struct child *c, struct str bytes)
{
	if (c->guard.in < 0 || c->closing)
		return;
	if (c->taken > PIECE) {
		buf_drop(&c->unread, c->taken);
		c->taken = 0;
	}
	buf_str(&c->unread, bytes);
	if (!write_on(c) && c->in)
		loop_fd_want(c->in, LOOP_WRITE);
}

void child_close_input(struct child *c)
{
	c->closing = true;
	if (!child_unread(c))
		shut_input(c);
}

void child_pause(struct child *c, bool paused)
{
	if (c->out)
		loop_fd_want(c->out, paused ? 0 : LOOP_READ);
}

/* ---- Its end ----------------------------------------------------------------- */

static void note_report(struct child *c, const struct guard_report *r)
{
	if (r->news == GUARD_STARTED)
		c->pid = r->value;
	else if (r->news == GUARD_FAILED)
		c->end.error = r->value;
	else if (WIFSIGNALED(r->value))
		c->end.signal = WTERMSIG(r->value);
	else
		c->end.code = WEXITSTATUS(r->value);
}

/* Nobody writes any more, so this ends; and one who does may not have it go on for ever. */
static void deliver_rest(struct child *c)
{
	enum { MOST = 1024 }; /* a pipe holds one piece, and was made larger by whoever fills so many */

	for (int i = 0; i < MOST && !c->freed && c->errors && take_errors(c); i++)
		;
	for (int i = 0; i < MOST && !c->freed && c->out && take_output(c); i++)
		;
	leave(&c->errors);
	leave(&c->out);
}

static void on_report(void *ctx)
{
	struct child *c = ctx;
	struct guard_report r;
	enum guard_heard heard;

	while ((heard = guard_hear(&c->guard, &r)) == GUARD_NEWS)
		note_report(c, &r);
	if (heard == GUARD_NOTHING)
		return;
	leave(&c->reports);
	shut_input(c);
	guard_kill_left(&c->guard, KILL_MS);
	hold(c);
	deliver_rest(c);
	if (!c->freed)
		c->hooks.ended(c->hooks.ctx, &c->end);
	let_go(c);
}

void child_ask_to_end(struct child *c)
{
	guard_ask_to_end(&c->guard);
}

void child_kill(struct child *c)
{
	guard_kill(&c->guard);
}

pid_t child_pid(const struct child *c)
{
	return c->pid;
}

/* ---- Beginning and freeing --------------------------------------------------- */

static enum status watch_pipes(struct child *c, struct loop *l, struct err *err)
{
	if (loop_fd_new(l, c->guard.in, on_room, c, &c->in, err) ||
	    loop_fd_new(l, c->guard.out, on_output, c, &c->out, err) ||
	    loop_fd_new(l, c->guard.errors, on_errors, c, &c->errors, err) ||
	    loop_fd_new(l, c->guard.reports, on_report, c, &c->reports, err))
		return err_failed(err->status);
	loop_fd_want(c->out, LOOP_READ);
	loop_fd_want(c->errors, LOOP_READ);
	loop_fd_want(c->reports, LOOP_READ);
	return STATUS_OK;
}

enum status child_start(struct loop *l, const struct guard_start *what, const struct child_hooks *hooks,
			struct child **out, struct err *err)
{
	struct child *c = mem_alloc(sizeof *c);

	c->hooks = *hooks;
	c->end.code = -1;
	buf_init(&c->unread, SIZE_MAX / 4);
	buf_init(&c->said, LAST_WORDS);
	if (guard_start(what, &c->guard, err)) {
		mem_free(c);
		return err_failed(err->status);
	}
	if (watch_pipes(c, l, err)) {
		child_free(c);
		return err_failed(err->status);
	}
	*out = c;
	return STATUS_OK;
}

void child_free(struct child *c)
{
	if (!c)
		return;
	c->freed = true;
	if (c->held)
		return;
	leave(&c->in);
	leave(&c->out);
	leave(&c->errors);
	leave(&c->reports);
	guard_end(&c->guard, KILL_MS);
	buf_release(&c->unread);
	buf_release(&c->said);
	mem_free(c);
}
