/*
 * A program that goes on when we do not: no child of ours, in a session of its own, with no terminal.
 */
#ifndef ARBOR_LIVE_DETACH_H
#define ARBOR_LIVE_DETACH_H

#include "base/buf.h"
#include "base/err.h"

#include <sys/types.h>

/* What is known of it for as long as somebody here wants to. */
struct detached {
	pid_t pid;
	int words; /* what it writes to standard error, the first of it; -1 = nobody listens */
};

#define DETACHED_INIT { .words = -1 }

/* With our own environment: it is one of us. The first argument is its name; NULL ends them. */
enum status detach_start(const char *path, const char *const *arguments, struct detached *out,
			 struct err *err) MUST_USE;

bool detached_is_gone(const struct detached *d);

/* The last line it has written to standard error. */
void detached_last_words(const struct detached *d, struct buf *out);

/* It goes on. */
void detached_release(struct detached *d);

#endif
