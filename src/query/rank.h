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
	double order; /* what they are sorted by, the highest first */
	int64_t tie;  /* and where that is the same, by this */
	struct doc doc;
};

enum { RANK_PHRASES = 224, RANK_UNWEIGHED = UINT8_MAX };

enum rank_order { RANK_BEST, RANK_RECENT, RANK_OLD };

/* Whether documents of a session are wanted; asked once for each that has any. */
typedef enum status rank_session_fn(void *ctx, int64_t session, bool *wanted, struct err *err);

/* Whether a document is, of such a session. Notes, texts beside conversations and made nodes are in none
 * (DOC_NOTES, DOC_PAPERS, DOC_NODES), and asked for only here. */
typedef enum status rank_doc_fn(void *ctx, int64_t id, const struct doc *doc, bool *wanted, struct err *err);

struct rank_query {
	struct str match;	      /* from expr.h; empty = every document */
	const uint8_t *items;	      /* by phrase of it, its item; spellings of one follow each other.
				       * RANK_UNWEIGHED: it does not count */
	size_t phrase_count;	      /* of them; those beyond are items of their own */
	size_t limit;		      /* 0 = all */
	int64_t now;		      /* ms: newer documents count more */
	unsigned places;	      /* a bit for each place wanted; 0 = all */
	const double *weights;	      /* by place */
	size_t place_count;	      /* of them, at most 32; documents in other places are passed over */
	rank_session_fn *session;     /* NULL = all are wanted */
	rank_doc_fn *doc;	      /* so too; given wherever the other is, and documents may be in none */
	void *wanted_ctx;
	const struct doc_range *without; /* documents that do not count, in the order of sequences */
	size_t without_count;
	bool without_copies;	      /* those that have their words elsewhere do not count (store/copied.h) */
	int64_t after, before;	      /* ms, [after, before); 0 = open. What has no time is outside */
	enum rank_order order;
};

struct ranking {
	struct ranked *list; /* best first */
	size_t count;
	int64_t total; /* that match */
};

void ranking_release(struct ranking *r);

/* Whether a sequence is in one of these, which are in order. */
bool doc_ranges_have(const struct doc_range *list, size_t count, int64_t sequence);

/* Whatever the limit, the first are the same in the same order, as long as the store does not change.
 * Wants a read transaction. STATUS_CORRUPT when the index has words of a document that
 * is not there. */
enum status rank_run(struct store *s, const struct rank_query *q, struct ranking *out, struct err *err) MUST_USE;

/* How many documents match, up to `most`. Wants a read transaction. */
enum status rank_count(struct store *s, struct str match, int64_t most, int64_t *out, struct err *err) MUST_USE;

#endif
