/*
 * A child process on a loop: what it says arrives by functions, what it is told waits
 * until it reads, and how it ended is told once, truthfully. It cannot outlive us
 * (live/guard.h).
 *
 * Everything happens in the loop's thread.
 */
#ifndef ARBOR_LIVE_CHILD_H
#define ARBOR_LIVE_CHILD_H

#include "base/buf.h"
#include "base/loop.h"
#include "live/guard.h"

struct child;

/* How it ended: by itself with a code, or by a signal, or it never ran. */
struct child_end {
	int error;  /* errno of what kept it from being run; 0 = it ran */
	int code;   /* -1 = not by itself */
	int signal; /* 0 = not by one */
};

/* "ended with code 3", "was killed by signal 9", "cannot be run: Permission denied". */
void child_end_text(const struct child_end *end, struct buf *out);

/* Called from the loop only. Any of them may call child_free(). */
struct child_hooks {
	void (*output)(void *ctx, struct str bytes);	       /* from its standard output */
	void (*errors)(void *ctx, struct str bytes);	       /* from its standard error; may be NULL */
	void (*written)(void *ctx);			       /* all it was told has left us; may be NULL */
	void (*ended)(void *ctx, const struct child_end *end); /* once; all its output came before */
	void *ctx;
};

enum status child_start(struct loop *l, const struct guard_start *what, const struct child_hooks *hooks,
			struct child **out, struct err *err) MUST_USE;

/* Kills it first, and all it started, when it has not ended. NULL is fine. */
void child_free(struct child *c);

pid_t child_pid(const struct child *c); /* 0 = not known yet */

/* To its standard input. What it does not read is kept here: who calls looks at
 * child_unread() first. */
void child_write(struct child *c, struct str bytes);
size_t child_unread(const struct child *c);

/* No more input, once it has read what there is. */
void child_close_input(struct child *c);

/* Leaves its output in the pipe, so that it waits, or takes it again. */
void child_pause(struct child *c, bool paused);

void child_ask_to_end(struct child *c); /* SIGTERM */
void child_kill(struct child *c);	/* with everything it started */

/* The last line it wrote to its standard error that is not blank; empty when there is none. */
struct str child_last_words(const struct child *c);

#endif
