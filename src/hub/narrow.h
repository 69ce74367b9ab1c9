/*
 * What a listing is narrowed to: the parameters 'session' and 'project', for what is
 * not in the tables of conversations. Whoever typed something into a session that was
 * never mirrored can still ask for it.
 */
#ifndef ARBOR_HUB_NARROW_H
#define ARBOR_HUB_NARROW_H

#include "hub/call.h"

struct narrow {
	struct str session;	/* the beginning of an id, in lower case, without dashes; p NULL = any */
	struct str project;	/* a folder, or the name of one no session is in; p NULL = any */
	struct err *no_project; /* what to say when nothing is found in that; NULL = nothing */
};

/* From a call whose method has both parameters. Wants a read transaction. */
enum status narrow_read(struct call *c, struct narrow *out, struct err *err) MUST_USE;

/* How a listing ends that has found something, or not. */
enum status narrow_end(const struct narrow *n, bool any, struct err *err) MUST_USE;

/* By the text of a session's id. */
bool narrow_has_session(const struct narrow *n, struct str id);

/* By a folder: the one asked for, one below it, or one of that name. */
bool narrow_has_project(const struct narrow *n, struct str path);

#endif
