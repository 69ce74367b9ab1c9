/*
 * Walking a folder tree: every regular file beneath a root that the caller
 * wants, with what decides whether it changed.
 */
#ifndef ARBOR_BASE_WALK_H
#define ARBOR_BASE_WALK_H

#include "base/file.h"

enum walk_problem {
	WALK_ERROR,       /* it could not be looked at */
	WALK_REFUSED,     /* we do not look at it: a link, a device, too deep */
	WALK_FOLDER_LINK, /* the same: a link to a folder */
};

struct walk {
	/* Whether to enter a folder or look at a file. Asked before anything is
	 * opened, so what is refused here is never touched. */
	bool (*wants)(void *ctx, struct str path, bool is_folder);
	/* A wanted regular file. `path` is valid during the call. */
	void (*found)(void *ctx, struct str path, const struct file_stat *st);
	/* A wanted file or folder that was not looked at. What lies behind it is
	 * unknown, not absent. */
	void (*failed)(void *ctx, struct str path, enum walk_problem problem, const struct err *why);
	void *ctx;
	const atomic_bool *cancel; /* checked once a folder, may be NULL */
};

/* Order of files is not defined. Fails only when the root cannot be read;
 * everything below it that fails is reported to `failed`. */
enum status walk_run(const struct walk *w, int root_fd, struct err *err) MUST_USE;

/* Looks at one path as a walk does that comes to it. One that is not there, or to
 * which no walk would come, is passed over. */
void walk_path(const struct walk *w, int root_fd, struct str path);

#endif
