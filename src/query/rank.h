/*
 * Which documents match, best first.
 */
#ifndef ARBOR_QUERY_RANK_H
#define ARBOR_QUERY_RANK_H

#include "store/fulltext.h"

struct ranked {
	int64_t id; /* of the document */
	double score;
	double relevance; /* the score without its day */
	struct doc doc;
};

enum { RANK_PHRASES = 128 };

struct rank_query {
	struct str match;	      /* from expr.h */
	const uint8_t *items;	      /* by phrase of it, its item; spellings of one follow each other */
	size_t phrase_count;	      /* of them; those beyond are items of their own */
	size_t limit;		      /* 0 = all */
	int64_t now;		      /* ms: newer documents count more */
	unsigned places;	      /* a bit for each place wanted; 0 = all */
	const double *weights;	      /* by place */
	size_t place_count;	      /* of them, at most 32; documents in other places are passed over */
	const int64_t *sessions;      /* rows, ascending; NULL = all */
	size_t session_count;
};

struct ranking {
	struct ranked *list; /* best first */
	size_t count;
	int64_t total; /* that match */
};

void ranking_release(struct ranking *r);

/* Wants a read transaction. STATUS_CORRUPT when the index has words of a document that
 * is not there. */
enum status rank_run(struct store *s, const struct rank_query *q, struct ranking *out, struct err *err) MUST_USE;

#endif
