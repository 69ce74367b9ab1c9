/*
 * What somebody wants to fork, go on with, or move a session to: a place in a mirrored conversation.
 */
#ifndef ARBOR_HUB_FORKABLE_H
#define ARBOR_HUB_FORKABLE_H

#include "hub/call.h"
#include "live/resume.h"

#define CWD_PARAM \
	{ \
		.name = "cwd", .type = VALUE_PATH, .shown = "DIR", \
		.help = "go on in this folder, which may be on another machine than where it was; left " \
			"out: where it was" \
	}

#define BEFORE_PARAM \
	{ \
		.name = "before", .type = VALUE_BOOL, \
		.help = "before the prompt that led there; at an answer or result, too" \
	}

struct forkable {
	bool is_named;		 /* by the name of a session */
	struct named named;	 /* that one */
	struct named_head head;	 /* where that is now */
	bool is_node;		 /* not a whole session, but a place in one */
	bool at_head;		 /* where the next prompt of the named one goes */
	struct session session;	 /* it is in; row 0 = nothing was said yet in the named one */
	bool before;		 /* the prompt that led there is meant, and to go on before it */
	bool in_agent;		 /* forkable_leave_agent() has found it in a sub-agent, */
	bool left_agent;	 /* and is now what started that */
	struct resume_line line; /* offset FORK_AT_END = where the client would go on */
};

/*
 * NAME, NAME@NODE, or what resolve_id() takes. A name has to be given whole. `before` is set by who asks, the
 * rest is found. Wants a read transaction.
 */
enum status forkable_find(struct call *c, struct str text, struct forkable *out, struct err *err) MUST_USE;

/* The same in a read transaction that it begins, when what the client has written since to the file that this
 * is in is mirrored: the end of a conversation is then where it ends now. What is not here, and what the last
 * one is, is looked for in all that the client has written. */
enum status forkable_find_now(struct call *c, struct str text, struct read_txn *snapshot,
			      struct forkable *out, struct err *err) MUST_USE;

/* Whether a text means a conversation by how long ago it was: which that is another one may decide that is
 * not mirrored yet. */
bool forkable_is_last(struct str text);

/* Whether what was not found may be just that. A title that is new looks like a mistake. */
static inline bool forkable_may_be_new(enum status status)
{
	return status == STATUS_NOT_FOUND || status == STATUS_USAGE;
}

/* Whether something is in a sub-agent; and where what led there is meant, that in the conversation that it was started
 * in, if that is known. Wants a read transaction. */
enum status forkable_leave_agent(struct call *c, struct forkable *what, struct err *err) MUST_USE;

/* A node of the conversation that a named session has, or of any other. Wants a read transaction. */
enum status forkable_find_node(struct call *c, const struct named *in, struct str node, struct forkable *out,
			       struct err *err) MUST_USE;

/* Its lines (query/fork.h), from there on. So too. */
enum status forkable_load(struct call *c, const struct forkable *what, struct forking *out,
			  struct err *err) MUST_USE;

/* The folder it goes on in, as `given` (p NULL = as it was) says; in the call's arena. `advice` is for whoever gave
 * none, and the one it was in is not here. */
enum status forkable_folder(struct call *c, const struct forkable *what, struct str given, const char *advice,
			    struct str *out, struct err *err) MUST_USE;

/* Whether a client has a session open just now. */
enum status forkable_is_open(struct call *c, const struct uuid *session, bool *out, struct err *err) MUST_USE;

/* STATUS_BUSY while a client has a session open: two on one file make branches that nobody wanted. */
enum status forkable_check_open(struct call *c, const struct uuid *session, struct err *err) MUST_USE;

/* STATUS_BUSY while an agent of a named session is at work: where that ends is not known yet. */
enum status forkable_check_rest(struct call *c, const struct named *n, struct err *err) MUST_USE;

#endif
