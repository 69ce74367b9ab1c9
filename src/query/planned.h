/*
 * Plans as transcripts tell them: what an agent gave to be approved.
 */
#ifndef ARBOR_QUERY_PLANNED_H
#define ARBOR_QUERY_PLANNED_H

#include "claude/record.h"
#include "store/session.h"

struct planned_version {
	struct str text;
	int64_t at;		  /* ms; 0 = unknown */
	struct session session;	  /* where it was given */
	struct uuid node;	  /* the call, and its block: */
	struct record_block call; /* its node is not to be used */
};

struct planned {
	struct str name; /* what its file would be called; where lines do not say that, the session's first digits */
	struct planned_version *versions; /* that differ from the one before, the first first */
	size_t count;
};

/* All of them, in the arena. Wants a read transaction. */
enum status planned_find(struct store *s, struct arena *mem, struct planned **out, size_t *count,
			 struct err *err) MUST_USE;

#endif
