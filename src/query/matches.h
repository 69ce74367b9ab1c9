/*
 * The documents that a match means, from the lists of its words: what FTS5 would find, at a fraction of the cost,
 * for those matches that are mostly asked for.
 */
#ifndef ARBOR_QUERY_MATCHES_H
#define ARBOR_QUERY_MATCHES_H

#include "store/postings.h"

/* In the order in which FTS5 counts them. */
struct match_phrase {
	struct posting_word *words;
	size_t count;
	size_t group; /* one of a group has to be there */
	struct postings found;
	size_t at; /* of these */
};

struct matches {
	struct match_phrase *phrases;
	size_t phrase_count;
	size_t group_count;
	int64_t rows, words; /* documents in the index, and words in these */
	struct arena mem;
};

/* *able: it is a match that can be read so, and *out wants to be released. Else it is FTS5's. Wants a read
 * transaction. */
enum status matches_find(struct matches *out, struct store *s, struct str match, bool *able,
			 struct err *err) MUST_USE;
void matches_release(struct matches *m);

/* The next document, in the order of numbers; false = that was the last. */
bool matches_next(struct matches *m, int64_t *id);

/* How often a phrase is in the document in hand. */
static inline unsigned matches_times(const struct matches *m, size_t phrase, int64_t id)
{
	const struct match_phrase *p = &m->phrases[phrase];

	return p->at < p->found.count && posting_id(p->found.list[p->at]) == id ? posting_times(p->found.list[p->at])
										 : 0;
}

#endif
