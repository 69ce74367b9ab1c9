/*
 * The file of a fork, where the client looks for it.
 */
#ifndef ARBOR_LIVE_FORKED_H
#define ARBOR_LIVE_FORKED_H

#include "live/command.h"
#include "query/fork.h"

struct forked_ask {
	const struct environment *env; /* says where the client has its folder */
	struct str folder;	       /* in which it will go on; absolute, links resolved */
	bool moves;		       /* it worked in another: its lines say this one instead */
	struct str title;	       /* p NULL = none */
	const atomic_bool *cancel;     /* may be NULL */
	/* Whether a file that is there already, and is what would be written, may be that; NULL = none may. */
	bool (*may_be)(void *ctx, const struct uuid *session);
	void *ctx;
};

struct forked {
	struct uuid session; /* what the client's --resume takes */
	struct str path;     /* in the arena */
	int64_t lines, bytes;
};

/* The client's own folder, in the arena. */
struct str forked_home(const struct environment *env, struct arena *mem);

/* Where the client keeps the conversations of a folder, in the arena. */
struct str forked_folder(const struct environment *env, struct str folder, struct arena *mem);

/* Where it has one that it is told to resume there. */
struct str forked_path(const struct environment *env, struct str folder, const struct uuid *session,
		       struct arena *mem);

/* Writes it, whole or not at all, or finds that it is there; it has a line at least. */
enum status forked_write(struct forking *f, const struct forked_ask *ask, struct arena *mem,
			 struct forked *out, struct err *err) MUST_USE;

#endif
