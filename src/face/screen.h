/*
 * The terminal as a screen of its own, for as long as somebody works on it: whole frames out, keys
 * in. It is the controlling terminal, not standard output, which may be a pipe.
 */
#ifndef ARBOR_FACE_SCREEN_H
#define ARBOR_FACE_SCREEN_H

#include "face/frame.h"
#include "face/keys.h"

#include <signal.h>

struct screen {
	int tty;
	int signals;	   /* descriptor that tells of those we wait for */
	sigset_t mask;	   /* as it was */
	struct frame seen; /* what the terminal shows; no rows = unknown */
};

#define SCREEN_INIT \
	{ \
		.tty = -1, .signals = -1 \
	}

enum screen_event {
	SCREEN_NOTHING = 0, /* the time is up */
	SCREEN_INPUT = 1,
	SCREEN_RESIZED = 2,
	SCREEN_STOP = 4,      /* somebody wants us to stop: screen_suspend() */
	SCREEN_CONTINUED = 8, /* after having been stopped by force */
	SCREEN_GONE = 16,
};

/* STATUS_USAGE when there is no terminal, or none that can do this. */
enum status screen_open(struct screen *s, struct err *err) MUST_USE;

/* Leaves the terminal as it was. Deadly signals and crashes do it, too. */
void screen_close(struct screen *s);

/* Waits for at most so many milliseconds, -1 = for ever. A set of events. */
unsigned screen_wait(struct screen *s, int ms);

/* Whether something was typed that is not read yet. */
bool screen_has_input(const struct screen *s);

/* False when the terminal is gone. */
bool screen_read(struct screen *s, struct keys *k);

/* Shows the frame, which is the screen's afterwards. */
enum status screen_show(struct screen *s, struct frame *f, struct err *err) MUST_USE;

/* Gives the terminal back, stops until the shell continues us, and takes it again. */
void screen_suspend(struct screen *s);

/* Takes it again after something else has used it. */
void screen_resume(struct screen *s);

#endif
