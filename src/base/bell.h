/*
 * A file that is touched to wake up whoever waits for it, in any process.
 */
#ifndef ARBOR_BASE_BELL_H
#define ARBOR_BASE_BELL_H

#include "base/err.h"

struct bell {
	int fd;     /* of the file, for ringing */
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

/* Returns after a ring or `timeout_ms`, whichever comes first. */
void bell_wait(struct bell *b, int timeout_ms);

#endif
