/*
 * Keeps a child process running for as long as somebody wants it: starts it on demand,
 * starts it again after it ended, with a growing pause in between, and stops it
 * politely, then less so.
 *
 * What it may do when is a table (supervisor_next()). Everything happens in the loop's
 * thread.
 */
#ifndef ARBOR_LIVE_SUPERVISOR_H
#define ARBOR_LIVE_SUPERVISOR_H

#include "live/child.h"

enum supervisor_state {
	SUPERVISOR_IDLE,	/* not running, can be started */
	SUPERVISOR_STARTING,	/* runs, and has not said hello */
	SUPERVISOR_READY,	/* runs */
	SUPERVISOR_BREAKING,	/* is being killed because it is of no use */
	SUPERVISOR_RESTING,	/* ended; a pause before it may be started again */
	SUPERVISOR_CLOSING,	/* told to end: its input is closed */
	SUPERVISOR_TERMINATING, /* asked to end by a signal */
	SUPERVISOR_KILLING,
	SUPERVISOR_STOPPED, /* for good */
	SUPERVISOR_STATES
};

enum supervisor_event {
	SUPERVISOR_WANTED,  /* somebody needs it */
	SUPERVISOR_GREETED, /* it answered: it can be used */
	SUPERVISOR_BROKEN,  /* it talks nonsense, or not at all */
	SUPERVISOR_ENDED,   /* it is gone, or could not be started */
	SUPERVISOR_TIME,    /* the time of this state is up */
	SUPERVISOR_STOP,    /* nobody will need it any more */
	SUPERVISOR_EVENTS
};

enum supervisor_deed {
	SUPERVISOR_NOTHING,
	SUPERVISOR_START,
	SUPERVISOR_CLOSE, /* its input */
	SUPERVISOR_TERM,
	SUPERVISOR_KILL,
	SUPERVISOR_LET_GO, /* forget the child that is gone, or that cannot be killed */
};

struct supervisor_step {
	enum supervisor_state state; /* from now on */
	enum supervisor_deed deed;
};

struct supervisor_step supervisor_next(enum supervisor_state state, enum supervisor_event event);
const char *supervisor_state_name(enum supervisor_state state);

/* How long a state lasts at most, after `failures` in a row. 0 = as long as it takes. */
int64_t supervisor_state_ms(enum supervisor_state state, int failures, int64_t hello_ms);

/* ---- One that runs ------------------------------------------------------------ */

struct supervisor;

struct supervisor_hooks {
	/* What to start. Called before each start; a failure is like a child that ended. */
	enum status (*what)(void *ctx, struct guard_start *out, struct err *err);
	void (*started)(void *ctx); /* say hello; supervisor_greeted() when it was answered */
	void (*output)(void *ctx, struct str bytes);
	void (*written)(void *ctx); /* as of a child */
	/* It cannot be used any more, and why. Not called for one that was told to stop. */
	void (*lost)(void *ctx, struct str why);
	void (*rested)(void *ctx); /* it may be wanted again */
	void (*stopped)(void *ctx);
	void *ctx;
};

/* `hello_ms`: how long it may take until it answers after a start. */
struct supervisor *supervisor_new(struct loop *l, int64_t hello_ms, const struct supervisor_hooks *hooks);
void supervisor_free(struct supervisor *s); /* kills what runs; NULL is fine */

void supervisor_want(struct supervisor *s);
void supervisor_greeted(struct supervisor *s);
void supervisor_break(struct supervisor *s, struct str why);
void supervisor_stop(struct supervisor *s);

/* It did something useful: the next pause is short again. */
void supervisor_praise(struct supervisor *s);

enum supervisor_state supervisor_state(const struct supervisor *s);
struct child *supervisor_child(const struct supervisor *s); /* NULL = none runs */

/* Milliseconds until it may be started again; 0 unless it rests. */
int64_t supervisor_rest_ms(const struct supervisor *s);

/* Why it was lost last; empty when it never was. */
struct str supervisor_why(const struct supervisor *s);

#endif
