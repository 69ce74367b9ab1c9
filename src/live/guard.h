/*
 * A child process that cannot outlive us, and neither can anything it starts.
 *
 * Between us and the child stands a guard: a process of ours that does nothing but
 * wait. When the child ends, when we ask for it, or when we are gone for whatever
 * reason, it kills every descendant of the child, and goes.
 */
#ifndef ARBOR_LIVE_GUARD_H
#define ARBOR_LIVE_GUARD_H

#include "base/err.h"

#include <sys/types.h>

struct guard_start {
	const char *path;		/* of the program, absolute */
	const char *const *arguments;	/* the first is its name; ended by NULL */
	const char *const *environment; /* all of it; ended by NULL */
	const char *folder;		/* to work in; "/" when it cannot be entered, unless */
	bool only_there;		/* then it is not run at all */
	bool alone;			/* this process has no other children, and will have none */
};

/* Descriptors are non-blocking and closed on exec; -1 = closed. */
struct guard {
	pid_t pid;	     /* of the guard; 0 = reaped */
	int in, out, errors; /* our ends of the child's standard streams */
	int orders;	     /* to the guard; closing it is an order to kill */
	int reports;	     /* from it; ends when all is over */
	bool alone;	     /* guard_start */
};

enum guard_news {
	GUARD_STARTED, /* value: the child's pid. It may still turn out that it cannot be run */
	GUARD_FAILED,  /* value: errno of what kept the program from being run */
	GUARD_ENDED,   /* value: how, as of waitpid(2) */
};

struct guard_report {
	int32_t news; /* enum guard_news */
	int32_t value;
};

enum status guard_start(const struct guard_start *what, struct guard *out, struct err *err) MUST_USE;

/* Asks the child and what it started together with it to end (SIGTERM). */
void guard_ask_to_end(const struct guard *g);

/* The child and all its descendants. */
void guard_kill(struct guard *g);

enum guard_heard { GUARD_NOTHING, GUARD_NEWS, GUARD_GONE };

/* What it reports, without waiting. After GUARD_GONE no descendant is left, unless the guard was killed:
 * guard_kill_left() is then for who is alone. */
enum guard_heard guard_hear(const struct guard *g, struct guard_report *out);

/* What was left by a guard that is gone has become ours, and is killed; for at most `wait_ms`. Does nothing
 * for who is not alone. */
void guard_kill_left(struct guard *g, int wait_ms);

/* Closes what is open and leaves no zombie. A guard that is not gone yet kills first, for which it
 * gets `wait_ms`: something in the kernel may hold a process longer than anybody wants to
 * wait. It goes on all the same. */
void guard_end(struct guard *g, int wait_ms);

#endif
