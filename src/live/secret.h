/*
 * A text for a child alone: no word of its command line, which everybody can read, and no file, which stays
 * when we are killed.
 */
#ifndef ARBOR_LIVE_SECRET_H
#define ARBOR_LIVE_SECRET_H

#include "base/err.h"
#include "base/str.h"

struct secret {
	int fd; /* -1 = none */
	char path[64];
};

#define SECRET_NONE { .fd = -1 }

/* The child opens `path` and reads it. A text with p NULL makes none. */
enum status secret_make(struct secret *s, struct str text, struct err *err) MUST_USE;

/* It is gone, for who has not opened it. */
void secret_release(struct secret *s);

#endif
