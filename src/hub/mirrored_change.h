/*
 * A mirrored tree in hand, for a change of what is written down of it, or to purge it.
 */
#ifndef ARBOR_HUB_MIRRORED_CHANGE_H
#define ARBOR_HUB_MIRRORED_CHANGE_H

#include "hub/mirrored.h"

struct changing {
	struct mirrored m;
	struct subject tree, node; /* the ids under which they are written down */
	struct uuid *claimed;	   /* mirrored nodes in it that are */
	size_t claimed_count, claimed_cap;
	bool made_claimed;   /* a made node that hangs on one is */
	bool beside_claimed; /* so is something of a sub-agent, which is a tree of its own */
	struct uuid made;      /* one of the first */
	struct subject beside; /* one of the others */
	struct txn txn;
};

#define CHANGING struct changing CLEANUP(changing_release)
void changing_release(struct changing *x);

/* What an id means, and who claims something of it; in a write transaction. The second wants a tree. */
enum status change_begin(struct call *c, struct str id, enum gate gate, struct changing *x,
			 struct err *err) MUST_USE;
enum status change_begin_tree(struct call *c, struct str id, enum gate gate, struct changing *x,
			      struct err *err) MUST_USE;

/* Whether something keeps the tree; the error that says what. */
enum status change_is_kept(struct changing *x, bool *out, struct err *err) MUST_USE;
enum status change_refuse(struct changing *x, struct err *err) MUST_USE;

/* Looks for claims on trees of its sub-agents, too: what is purged takes them along. */
enum status change_look_beside(struct changing *x, struct err *err) MUST_USE;

/* Every name of the tree. */
typedef enum status change_name_fn(void *ctx, struct changing *x, const struct uuid *name, struct err *err);
enum status change_each_name(struct changing *x, change_name_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
