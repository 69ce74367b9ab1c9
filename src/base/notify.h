/*
 * Hearing of changes in folders as they happen.
 *
 * Each folder is watched by itself: those below it have to be added, also when
 * they come later. What is heard is a hint that somebody should look there.
 */
#ifndef ARBOR_BASE_NOTIFY_H
#define ARBOR_BASE_NOTIFY_H

#include "base/err.h"

enum notify_what {
	NOTIFY_FILE,	    /* something that is no folder came, changed or went */
	NOTIFY_FOLDER_CAME, /* not watched yet; may hold files and folders already */
	NOTIFY_FOLDER_WENT, /* deleted or moved away; "" = the root itself */
	NOTIFY_LOST,	    /* too much happened at once: anything may have changed */
};

struct notify;

enum status notify_new(struct notify **out, struct err *err) MUST_USE;
void notify_free(struct notify *n); /* NULL is fine */

/* For CLEANUP. */
void notify_freep(struct notify **n);

/* Can be read (notify_read) when something has happened. */
int notify_fd(const struct notify *n);

/* Watches `folder` below the root ("" = the root). No part of it may be a link. One
 * that is watched already is fine. STATUS_LIMIT: the system allows no more.
 * STATUS_PARTIAL: it is watched, but on a file system where changes made by another
 * machine, or by the host of a virtual one, are not heard of. */
enum status notify_add(struct notify *n, int root_fd, struct str folder, struct err *err) MUST_USE;

/* No longer watches a folder nor those below it. */
void notify_drop(struct notify *n, struct str folder);

/* Tells what has happened, without waiting. Paths are below the root and valid during
 * the call. */
void notify_read(struct notify *n, void (*fn)(void *ctx, enum notify_what what, struct str path), void *ctx);

#endif
