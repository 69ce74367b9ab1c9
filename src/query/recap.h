/*
 * What happened in a transcript, told in a few texts: prompts, how it ended, decisions, errors.
 */
#ifndef ARBOR_QUERY_RECAP_H
#define ARBOR_QUERY_RECAP_H

#include "store/session.h"

enum recap_kind { RECAP_PROMPT, RECAP_OUTCOME, RECAP_DECISION, RECAP_ERROR };

struct recap_item {
	enum recap_kind kind;
	struct str text; /* on one line; valid during the call */
	int64_t at;	 /* 0 = unknown */
	bool typed;	 /* DECISION: by a person */
	struct str kind_of; /* ERROR: the same whenever the same thing fails */
	bool slip;	    /* ERROR: of the model with its tools */
	bool unfinished;    /* OUTCOME: the last turn has not come to its end */
};

/* In the order of the file, the outcome last; there is none of what never answered. */
typedef void recap_fn(void *ctx, const struct recap_item *item);

/* Of a long transcript only the end is read. Wants a read transaction. */
enum status recap_read(struct store *s, const struct session *session, recap_fn *fn, void *ctx,
		       struct err *err) MUST_USE;

#endif
