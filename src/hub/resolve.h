/*
 * What somebody means by an id.
 */
#ifndef ARBOR_HUB_RESOLVE_H
#define ARBOR_HUB_RESOLVE_H

#include "store/session.h"

struct resolved {
	bool is_session;
	struct session session; /* that it is, or is in; texts in the arena */
	struct node node;	/* when it is none */
};

/*
 * The beginning (four digits or more) of the id of a session or node, or a line's own
 * uuid; @ for the session last touched, @~ or @~1 for the one before it, @~2 and so on;
 * SESSION@NODE for a node of a session, so @@NODE is one of the last. A session wins over nodes that begin alike. STATUS_AMBIGUOUS lists
 * candidates in the error, a line each, made safe to show.
 */
enum status resolve_id(struct store *s, struct str text, struct arena *mem, struct resolved *out,
		       struct err *err) MUST_USE;

/* The same where only a session will do. */
enum status resolve_session(struct store *s, struct str text, struct arena *mem, struct session *out,
			    struct err *err) MUST_USE;

#endif
