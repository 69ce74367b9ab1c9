/*
 * Finding what was said.
 */
#ifndef ARBOR_QUERY_SEARCH_H
#define ARBOR_QUERY_SEARCH_H

#include "claude/record.h"
#include "query/snippet.h"
#include "store/fulltext.h"
#include "store/session.h"

/* How much a place counts. */
extern const double search_weights[PLACES];

struct search_query {
	struct str text;    /* as typed */
	size_t limit;	    /* 0 = all */
	struct str project; /* p NULL = all; else a folder and those below it */
	int64_t session;    /* row; 0 = all; in the project, if both are given */
	unsigned places;    /* a bit for each enum record_place; 0 = all */
};

struct search_hit {
	struct uuid id;	     /* of the block, or of the line where it has none */
	struct uuid message; /* it is part of; the line's where it is in none */
	struct str line;     /* the line's own uuid; p NULL = none */
	const struct session *session;
	enum record_place place;
	int64_t at;	 /* of its line, ms; 0 = unknown */
	int64_t offset;	 /* of its line in the session's file */
	struct str tool; /* name of the tool, when it is a tool's input */
	double score;
	const struct snippet *snippet;
};

typedef enum status search_fn(void *ctx, const struct search_hit *hit, struct err *err);

struct search_report {
	int64_t total; /* documents that match, whatever the limit; without copies that were met */
	bool cut;      /* the query was longer than can be looked for */
};

/* Best first. STATUS_USAGE when there is nothing to look for. Wants a read
 * transaction. */
enum status search_run(struct store *s, const struct search_query *q, search_fn *fn, void *ctx,
		       struct search_report *report, struct err *err) MUST_USE;

#endif
