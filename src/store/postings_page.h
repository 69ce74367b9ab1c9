/*
 * Inside the lists of the full-text index: FTS5's pages (postings_page.c) for what is made of them (postings.c).
 *
 * What returns bool says with false that there is no going on: either something is not as expected, and the reader is
 * unable, or the store has failed, and its *err says how.
 */
#ifndef ARBOR_STORE_POSTINGS_PAGE_H
#define ARBOR_STORE_POSTINGS_PAGE_H

#include "store/fulltext.h"
#include "store/postings.h"

enum { PAGE_PADDING = 16 };

struct segment {
	int64_t id, first, last; /* pages */
	size_t tables;		 /* of tombstones */
	struct str *tombstones;
	uint64_t *perhaps; /* a bit for the documents that some number may be of which was taken out; NULL = none was */
};

enum { PERHAPS_BITS = 1 << 15 };

/* Where the bit of a document is; those that follow each other have different ones. */
static inline size_t segment_bit(int64_t id)
{
	return (size_t)doc_sequence(id) % PERHAPS_BITS;
}

bool segment_has_tombstone(const struct segment *s, int64_t id);

/* Whether a document was taken out since. Asked of every one in a list, and most were not. */
static inline bool segment_lacks(const struct segment *s, int64_t id)
{
	return s->perhaps && s->perhaps[segment_bit(id) / 64] >> segment_bit(id) % 64 & 1 &&
	       segment_has_tombstone(s, id);
}

bool postings_give_up(struct postings_reader *r); /* gives false */

static inline const uint8_t *page_bytes(const struct buf *b)
{
	return (const uint8_t *)b->p;
}

/* SQLite's varint; returns how long it is. There are zeros behind what is read. */
size_t page_long_number(const uint8_t *p, uint64_t *v);

static inline size_t page_number(const uint8_t *p, uint64_t *v)
{
	if (p[0] < 0x80) {
		*v = p[0];
		return 1;
	}
	if (p[1] < 0x80) {
		*v = (uint64_t)(p[0] & 0x7f) << 7 | p[1];
		return 2;
	}
	return page_long_number(p, v);
}

/* A word of a segment, and its documents. */
struct reading {
	struct postings_reader *r;
	const struct segment *segment;
	struct buf page, term, pieces; /* pieces: positions that go over pages */
	int64_t number;		       /* of the page */
	size_t at;		       /* what is read next */
	size_t stop;		       /* where the documents of the word end on this page, or what goes before its
					* first word */
	size_t end, foot;	       /* where the footer begins; how far it is read */
	size_t next;		       /* where the next word stands; 0 = none does on this page */
	bool is_first;		       /* of the page, that is */
	bool is_whole;		       /* the next document's number is not a difference */
	bool is_over;		       /* there is no further page */
	int64_t id;		       /* of the document in hand */
	const uint8_t *positions;
	size_t size; /* of these */
	size_t left; /* of those of a document that was passed over */
};

void page_release(struct reading *c);

/* The word itself in the segment in hand, or the first that begins with it; *found: there is one. */
bool page_find_word(struct reading *c, struct str key, bool prefix, bool *found) MUST_USE;

/* The next word, on whichever page it is. */
bool page_next_word(struct reading *c) MUST_USE;

/* The next document of the word that is not below `least`; *more: there is one. */
bool page_next_document(struct reading *c, int64_t least, bool *more) MUST_USE;

/* A document on the page, with its positions. */
struct entry {
	uint64_t id;
	size_t at, end; /* these */
};

/* The one that is read next; false = there is none, or not all of it. */
static inline bool page_entry(const struct reading *c, const uint8_t *p, struct entry *e)
{
	uint64_t v, size;
	size_t at = c->at;

	if (at >= c->stop)
		return false;
	at += page_number(p + at, &v);
	at += page_number(p + at, &size);
	e->id = (c->is_whole ? 0 : (uint64_t)c->id) + v;
	e->at = at;
	e->end = at + (size_t)(size >> 1);
	return at <= c->stop && size >> 1 <= c->stop - at && !(size & 1) && e->id && !(e->id >> (63 - POSTING_BITS));
}

#endif
