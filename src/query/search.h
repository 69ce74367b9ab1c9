/*
 * Finding what was said.
 */
#ifndef ARBOR_QUERY_SEARCH_H
#define ARBOR_QUERY_SEARCH_H

#include "claude/record.h"
#include "query/around.h"
#include "query/conditions.h"
#include "query/grep.h"
#include "query/noted.h"
#include "query/papers.h"
#include "query/rank.h"
#include "query/snippet.h"
#include "query/weights.h"

const char *search_place_name(int place);

struct search_query {
	const struct expr *expr;
	size_t limit;	      /* 0 = all */
	size_t offset;	      /* so many of the first are passed over */
	size_t each;	      /* at most so many of a conversation, its sub-agents included; 0 = all */
	struct conditions filter; /* besides the conditions of the query */
	const double *weights; /* by place; NULL = search_weights */
	enum rank_order order; /* without words the newest come first */
	bool archived;	       /* also nodes that are; of conversations the filter says it */
	size_t context;	       /* so many prompts and answers on either side of a hit */
	struct grep *check;    /* a second look at the texts; NULL = what the index says is enough */
};

struct made_found; /* query/made.h */

struct search_hit {
	struct uuid id;	     /* of the block, or of the line where it has none; of what a note is on; of a file, node */
	bool in_line;	     /* it stands in a line, or is on what does: */
	struct uuid message; /* it is part of; the line's where it is in none */
	struct str line;     /* the line's own uuid; p NULL = none */
	struct str branch;   /* of git, that the line was written on; empty = on none, or it stands in no line */
	struct str agent;    /* sub-agent that said it, or was told it; empty = none */
	const struct session *session; /* NULL = in none: a note on what is in none, or gone; a file, a node */
	int place;
	const struct annotation *note; /* that was found; NULL = it is none */
	const struct paper_found *paper; /* that was found beside the conversations; NULL = it is none */
	const struct made_found *made;	 /* a node that somebody made; NULL = it is none */
	int64_t at;	 /* of its line, ms; 0 = unknown */
	int64_t offset;	 /* of its line in the session's file */
	unsigned flags;	 /* of its entry; 0 unless it is a prompt that is no block */
	const struct record_block *block; /* NULL = it is a line; its node is not to be used */
	int64_t others; /* conversations that have it, too */
	double score;
	int64_t number, total; /* the first is 1; of so many, as in the report; 0 = unknown */
	const struct snippet *snippet;
	struct around around;
};

typedef enum status search_fn(void *ctx, const struct search_hit *hit, struct err *err);

struct search_report {
	int64_t total; /* documents that match, whatever the limit; without copies that were met */
	bool about;    /* there are likely such among those that were not looked at */
	bool more;     /* with a check: there may be others, which were not looked at */
	bool gave_up;  /* because there was no time to look at them */
	int64_t looked; /* with a check: at so many, which were the first in the order of the query */
	int64_t unread; /* of these there was no time to look at all of, and nothing was found in the rest */
};

/* Best first. STATUS_USAGE when a condition cannot be understood. Wants a read
 * transaction. */
enum status search_run(struct store *s, const struct search_query *q, search_fn *fn, void *ctx,
		       struct search_report *report, struct err *err) MUST_USE;

#endif
