/*
 * A file that is touched to wake up whoever waits for it, in any process, and by which
 * those who wait for something else show that they do.
 */
#ifndef ARBOR_BASE_BELL_H
#define ARBOR_BASE_BELL_H

#include "base/err.h"

struct bell {
	int fd;     /* of the file, for ringing */
	bool queued;
	int notify; /* inotify, opened by the first wait; -1 = not yet, -2 = none to be had */
	char path[LIMIT_PATH];
};

#define BELL_INIT { .fd = -1, .notify = -1 }

/* Makes the file (0600) when it is missing. */
enum status bell_open(struct bell *b, const char *path, struct err *err) MUST_USE;
void bell_close(struct bell *b);

/* Best effort: who misses it finds out by its own time-out. */
void bell_ring(const struct bell *b);

/* Starts listening. What rings after this is not missed by bell_wait(). */
void bell_listen(struct bell *b);

/* Shows that this one waits for what another has, until it has left. Twice is once. */
void bell_queue_up(struct bell *b);
void bell_leave_queue(struct bell *b);

/* Whether somebody does, through another bell; also when that cannot be known. */
bool bell_has_queue(const struct bell *b);

/* Returns after a ring or `timeout_ms`, whichever comes first. */
void bell_wait(struct bell *b, int timeout_ms);

#endif
