/*
 * The lists of the full-text index: which documents have a phrase, and how often.
 *
 * FTS5 gives documents out one at a time, each through several layers and the machine that runs SQL. Where all that is
 * wanted of most of them is their number, that costs thirty times what reading the list itself does. So lists are read
 * here from the pages that FTS5 wrote.
 */
#ifndef ARBOR_STORE_POSTINGS_H
#define ARBOR_STORE_POSTINGS_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"

/* A word as the index has it, or what words begin with. */
struct posting_word {
	struct str word;
	bool prefix;
};

/* Of a document its number and, below that, how often it has the phrase. In the order of numbers. */
struct postings {
	uint64_t *list;
	size_t count, cap;
};

enum { POSTING_BITS = 8, POSTING_MOST = (1 << POSTING_BITS) - 1 };

static inline int64_t posting_id(uint64_t posting)
{
	return (int64_t)(posting >> POSTING_BITS);
}

static inline unsigned posting_times(uint64_t posting)
{
	return posting & POSTING_MOST;
}

void postings_release(struct postings *p);

struct postings_reader {
	struct store *store;
	int64_t rows, words; /* documents in the index, and words in these */
	struct segment *segments; /* the oldest first, so that numbers rise from one to the next */
	size_t segment_count;
	size_t room; /* bytes that lists may still take */
	struct arena mem;
	bool unable;
	struct err *err;
};

/*
 * Reads what there is to read from. *able: it can be. Not so outside of a read transaction, where pages of different
 * states could be mixed, nor in one that writes, since FTS5 keeps words back until its end, nor when anything about the
 * pages is not as expected: whatever that means is FTS5's to say.
 */
enum status postings_begin(struct postings_reader *r, struct store *s, bool *able, struct err *err) MUST_USE;
void postings_end(struct postings_reader *r);

/* The documents that have these words in a row. Only the last may be a beginning. *able: as above, or there are too
 * many. */
enum status postings_read(struct postings_reader *r, const struct posting_word *words, size_t count,
			  struct postings *out, bool *able, struct err *err) MUST_USE;

#endif
