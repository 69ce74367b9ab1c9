/*
 * FTS5's pages, in the format that fts5_index.c of SQLite documents, with the tombstones that come with
 * contentless_delete. What is used of it:
 *
 *     block 10            which segments there are. A document is in one of them
 *     block 1             how many documents and words
 *     search_idx          by segment: a beginning of the first word of a page, and the page
 *     page of a segment   u16 where the first document stands that belongs to a word of the page before, or 0;
 *                         u16 where the footer begins; words, each with its documents; the footer, where the words
 *                         stand
 *     word                how many bytes it has in common with the one before (not for the first of a page), how
 *                         many follow, and these. The first byte says which index it is in: '0', the only one here
 *     document            its number, or how much higher it is than the last one of the word on the page; twice
 *                         the size of its positions; these
 *     positions           how much higher each is than the last one, and 2 more
 *     tombstones          hash tables of documents that were taken out since the segment was written
 *
 * Numbers without a size are SQLite's varints. What a word has may go over any number of pages, and a list of positions
 * too, but no number does.
 *
 * Invariants
 *   (1) Nothing is given out of what is not read to its end: whoever is told that it is not able to be, asks FTS5.
 *   (2) Pages are read with zeros behind them, so that a number that begins on a page ends in memory.
 */
#include "store/postings_page.h"

#include "store/db.h"

#include <string.h>

enum { POSTINGS_BLOCK, POSTINGS_PAGE, POSTINGS_STATEMENTS };

static const char *const sql[POSTINGS_STATEMENTS] = {
	[POSTINGS_BLOCK] = "SELECT block FROM search_data WHERE id = ?1",
	[POSTINGS_PAGE] = "SELECT pgno FROM search_idx WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1",
};

const struct db_set postings_statements = { DB_POSTINGS, sql, POSTINGS_STATEMENTS };

enum {
	BLOCK_TOTALS = 1,
	BLOCK_SEGMENTS = 10,
	MOST_SEGMENTS = 2000, /* FTS5's own limit */
	PAGE_HEAD = 4,
	PAGE_BITS = 37, /* of a block's number, below the segment's */
	TOMBSTONES = 1 << 16, /* added to the segment's, for its tombstones */
	TOMBSTONE_HEAD = 8,
};

bool postings_give_up(struct postings_reader *r)
{
	r->unable = true;
	return false;
}

/* ---- Numbers ----------------------------------------------------------------- */

size_t page_long_number(const uint8_t *p, uint64_t *v)
{
	*v = 0;
	for (size_t i = 0; i < 8; i++) {
		*v = *v << 7 | (p[i] & 0x7f);
		if (p[i] < 0x80)
			return i + 1;
	}
	*v = *v << 8 | p[8];
	return 9;
}

static uint64_t big_endian(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* ---- Blocks ------------------------------------------------------------------ */

static bool read_block(struct postings_reader *r, int64_t id, struct buf *out)
{
	enum step step;
	STMT st = { 0 };

	buf_clear(out);
	if (stmt_use(r->store, &postings_statements, POSTINGS_BLOCK, &st, r->err))
		return false;
	stmt_int(&st, 1, id);
	step = stmt_step(&st, r->err);
	if (step == STEP_FAILED)
		return false;
	if (step == STEP_DONE)
		return postings_give_up(r);
	buf_str(out, col_bytes(&st, 0));
	buf_add(out, (char[PAGE_PADDING]){ 0 }, PAGE_PADDING);
	if (out->failed)
		return postings_give_up(r);
	out->n -= PAGE_PADDING;
	return true;
}

/* A number of a block that is read from its front; 0 behind its end. */
static uint64_t take_number(const struct buf *b, size_t *at)
{
	uint64_t v = 0;

	if (*at < b->n)
		*at += page_number(page_bytes(b) + *at, &v);
	return v;
}

static bool read_totals(struct postings_reader *r, struct buf *b)
{
	size_t at = 0;

	if (!read_block(r, BLOCK_TOTALS, b))
		return false;
	r->rows = (int64_t)take_number(b, &at);
	r->words = (int64_t)take_number(b, &at);
	return (r->rows > 0 && r->words > 0) || postings_give_up(r);
}

/* Slots of a table of tombstones: numbers of documents, 0 = it is free. */
struct tombs {
	const uint8_t *slots;
	size_t size, count; /* of a slot; of these */
};

static struct tombs tombs_of(struct str table)
{
	const uint8_t *p = (const uint8_t *)table.p;

	return (struct tombs){ p + TOMBSTONE_HEAD, p[0], (table.n - TOMBSTONE_HEAD) / p[0] };
}

static uint64_t tomb_at(const struct tombs *t, size_t at)
{
	return big_endian(t->slots + at * t->size, t->size);
}

static void set_bits(struct segment *s, struct str table)
{
	struct tombs t = tombs_of(table);

	for (size_t i = 0; i < t.count; i++) {
		uint64_t id = tomb_at(&t, i);

		if (id)
			s->perhaps[segment_bit((int64_t)id) / 64] |= UINT64_C(1) << segment_bit((int64_t)id) % 64;
	}
}

static bool read_tombstones(struct postings_reader *r, struct segment *s, struct buf *b)
{
	s->tombstones = arena_alloc(&r->mem, (s->tables + 1) * sizeof *s->tombstones);
	if (s->tables)
		s->perhaps = arena_alloc(&r->mem, PERHAPS_BITS / 8);
	for (size_t i = 0; i < s->tables; i++) {
		if (!read_block(r, (s->id + TOMBSTONES) << PAGE_BITS | (int64_t)i, b))
			return false;
		if (b->n <= 2 * TOMBSTONE_HEAD || (b->p[0] != 4 && b->p[0] != 8))
			return postings_give_up(r);
		s->tombstones[i] = arena_str(&r->mem, buf_as_str(b));
		set_bits(s, s->tombstones[i]);
	}
	return true;
}

static bool read_segment(struct postings_reader *r, const struct buf *b, size_t *at, struct segment *s)
{
	*s = (struct segment){ .id = (int64_t)take_number(b, at),
			       .first = (int64_t)take_number(b, at),
			       .last = (int64_t)take_number(b, at) };
	take_number(b, at); /* the transactions it is of: the first */
	take_number(b, at); /* and the last */
	s->tables = (size_t)take_number(b, at);
	take_number(b, at); /* documents taken out */
	take_number(b, at); /* documents */
	return (s->id > 0 && s->id < TOMBSTONES && s->first > 0 && s->last >= s->first && s->last < INT32_MAX &&
		s->tables < INT32_MAX) ||
	       postings_give_up(r);
}

/* The first level has the newest ones, and each its oldest first. */
static bool read_segments(struct postings_reader *r, struct buf *b)
{
	static const uint8_t with_tombstones[4] = { 0xff, 0, 0, 1 };
	size_t at = 8, end, levels;

	if (!read_block(r, BLOCK_SEGMENTS, b))
		return false;
	if (b->n < at || memcmp(b->p + 4, with_tombstones, sizeof with_tombstones) != 0)
		return postings_give_up(r);
	levels = (size_t)take_number(b, &at);
	r->segment_count = end = (size_t)take_number(b, &at);
	take_number(b, &at); /* counts what was written */
	if (levels > MOST_SEGMENTS || end > MOST_SEGMENTS)
		return postings_give_up(r);
	r->segments = arena_alloc(&r->mem, (end + 1) * sizeof *r->segments);
	for (size_t level = 0, count; level < levels; level++) {
		take_number(b, &at); /* how many are being merged */
		count = (size_t)take_number(b, &at);
		if (count > end)
			return postings_give_up(r);
		end -= count;
		for (size_t i = 0; i < count; i++)
			if (!read_segment(r, b, &at, &r->segments[end + i]))
				return false;
	}
	if (end)
		return postings_give_up(r);
	for (size_t i = 0; i < r->segment_count; i++)
		if (!read_tombstones(r, &r->segments[i], b))
			return false;
	return true;
}

bool segment_has_tombstone(const struct segment *s, int64_t id)
{
	struct tombs t = tombs_of(s->tombstones[(uint64_t)id % s->tables]);

	for (size_t i = 0, at = (uint64_t)id / s->tables % t.count; i < t.count; i++, at = (at + 1) % t.count) {
		uint64_t key = tomb_at(&t, at);

		if (key == (uint64_t)id)
			return true;
		if (!key)
			return false;
	}
	return false;
}

/* ---- Pages ------------------------------------------------------------------- */

void page_release(struct reading *c)
{
	buf_release(&c->page);
	buf_release(&c->term);
	buf_release(&c->pieces);
}

static bool turn_to(struct reading *c, int64_t number_of_page)
{
	struct postings_reader *r = c->r;
	uint64_t first;

	c->is_over = number_of_page > c->segment->last;
	if (c->is_over)
		return true;
	if (store_is_cancelled(r->store))
		return !err_set(r->err, STATUS_CANCELLED, "stopped");
	if (!read_block(r, c->segment->id << PAGE_BITS | number_of_page, &c->page))
		return false;
	c->number = number_of_page;
	c->end = c->page.n < PAGE_HEAD ? 0 : (size_t)big_endian(page_bytes(&c->page) + 2, 2);
	if (c->end < PAGE_HEAD || c->end > c->page.n)
		return postings_give_up(r);
	c->at = PAGE_HEAD;
	c->foot = c->end;
	c->next = 0;
	c->is_first = c->is_whole = true;
	if (c->foot < c->page.n) {
		c->foot += page_number(page_bytes(&c->page) + c->foot, &first);
		if (first < PAGE_HEAD || first >= c->end)
			return postings_give_up(r);
		c->next = (size_t)first;
	}
	c->stop = c->next ? c->next : c->end;
	return true;
}

bool page_next_word(struct reading *c)
{
	uint64_t kept = 0, more;
	const uint8_t *p;

	while (!c->next) {
		if (!turn_to(c, c->number + 1))
			return false;
		if (c->is_over)
			return true;
	}
	p = page_bytes(&c->page);
	c->at = c->next;
	if (!c->is_first)
		c->at += page_number(p + c->at, &kept);
	c->at += page_number(p + c->at, &more);
	if (c->at > c->end || more > c->end - c->at || kept > c->term.n)
		return postings_give_up(c->r);
	c->term.n = (size_t)kept;
	buf_add(&c->term, p + c->at, (size_t)more);
	c->at += (size_t)more;
	c->is_first = false;
	c->is_whole = true;
	if (c->foot < c->page.n) {
		c->foot += page_number(p + c->foot, &more);
		if (more > c->end || c->next + more < c->at || c->next + more >= c->end)
			return postings_give_up(c->r);
		c->next += (size_t)more;
	} else {
		c->next = 0;
	}
	c->stop = c->next ? c->next : c->end;
	return !c->term.failed || postings_give_up(c->r);
}

/* The page that something goes on with at its very beginning. */
static bool turn_over(struct reading *c)
{
	/* A word in front of the footer: nothing goes on behind it. */
	if (c->next)
		return postings_give_up(c->r);
	if (!turn_to(c, c->number + 1))
		return false;
	return !c->is_over || postings_give_up(c->r);
}

/* The positions of the document in hand. */
static bool take_positions(struct reading *c)
{
	size_t left = c->size;

	if (c->at > c->stop || c->id <= 0 || c->id >> (63 - POSTING_BITS))
		return postings_give_up(c->r);
	c->positions = page_bytes(&c->page) + c->at;
	if (left <= c->stop - c->at) {
		c->at += left;
		return true;
	}
	buf_clear(&c->pieces);
	for (;;) {
		size_t n = size_min(left, c->stop - c->at);

		buf_add(&c->pieces, page_bytes(&c->page) + c->at, n);
		c->at += n;
		left -= n;
		if (!left)
			break;
		if (!turn_over(c))
			return false;
	}
	buf_add(&c->pieces, (char[PAGE_PADDING]){ 0 }, PAGE_PADDING);
	c->positions = page_bytes(&c->pieces);
	return !c->pieces.failed || postings_give_up(c->r);
}

/* Passes over positions that end on another page. */
static bool pass_over(struct reading *c)
{
	while (c->left) {
		size_t n;

		if (!turn_over(c))
			return false;
		n = size_min(c->left, c->stop - c->at);
		c->at += n;
		c->left -= n;
	}
	return true;
}

/* Where the documents of the word go on; *more: they do. */
static bool go_on(struct reading *c, bool *more)
{
	*more = false;
	if (c->next)
		return true;
	if (!turn_to(c, c->number + 1))
		return false;
	c->at = c->is_over ? 0 : (size_t)big_endian(page_bytes(&c->page), 2);
	if (!c->at) /* the next word begins with the page, or there is none */
		return c->is_over || c->next || postings_give_up(c->r);
	*more = true;
	return (c->at >= PAGE_HEAD && c->at < c->stop) || postings_give_up(c->r);
}

/* The first document on the page that is not below `least`, up to its positions. Without one, what is left of the
 * last one's positions is on the pages that follow. */
static bool find_on_page(struct reading *c, int64_t least)
{
	const uint8_t *p = page_bytes(&c->page);
	uint64_t id = c->is_whole ? 0 : (uint64_t)c->id, v = 0, flags = 0;
	size_t at = c->at;
	bool found = false;

	while (at < c->stop && !found) {
		at += page_number(p + at, &v);
		id += v;
		at += page_number(p + at, &v);
		flags |= v;
		found = (int64_t)id >= least;
		at += found ? 0 : (size_t)(v >> 1);
	}
	c->is_whole = false;
	c->id = (int64_t)id;
	c->size = (size_t)(v >> 1);
	c->left = found ? 0 : at - c->stop;
	c->at = found ? at : c->stop;
	/* A word that was taken out is none of a table like ours. */
	if (flags & 1)
		c->r->unable = true;
	return found;
}

bool page_next_document(struct reading *c, int64_t least, bool *more)
{
	*more = true;
	while (*more) {
		if (c->at < c->stop && find_on_page(c, least))
			return !c->r->unable && take_positions(c);
		if (c->r->unable || !(c->left ? pass_over(c) : go_on(c, more)))
			return false;
	}
	return true;
}

static int compare_term(const struct reading *c, struct str key)
{
	int order = memcmp(c->term.p, key.p, size_min(c->term.n, key.n));

	return order ? order : c->term.n < key.n ? -1 : c->term.n > key.n;
}

/* The page where a word would be. */
static bool find_page(struct reading *c, struct str key, int64_t *out)
{
	enum step step;
	STMT st = { 0 };

	if (stmt_use(c->r->store, &postings_statements, POSTINGS_PAGE, &st, c->r->err))
		return false;
	stmt_int(&st, 1, c->segment->id);
	stmt_blob(&st, 2, key.p, key.n);
	step = stmt_step(&st, c->r->err);
	*out = step == STEP_ROW ? col_int(&st, 0) >> 1 : 0;
	if (*out < c->segment->first)
		*out = c->segment->first;
	return step != STEP_FAILED;
}

bool page_find_word(struct reading *c, struct str key, bool prefix, bool *found)
{
	int64_t page;
	int order = -1;

	*found = false;
	buf_clear(&c->term);
	if (!find_page(c, key, &page) || !turn_to(c, page))
		return false;
	while (order < 0) {
		/* Only what follows it can be on the next page. */
		if (!c->next && c->term.n && !prefix)
			return true;
		if (!page_next_word(c))
			return false;
		if (c->is_over)
			return true;
		order = compare_term(c, key);
	}
	*found = prefix ? str_has_prefix(buf_as_str(&c->term), key) : order == 0;
	return true;
}

/* ---- All of it --------------------------------------------------------------- */

enum status postings_begin(struct postings_reader *r, struct store *s, bool *able, struct err *err)
{
	struct buf b CLEANUP(buf_release) = BUF_INIT(LIMIT_POSTING_BYTES);

	*r = (struct postings_reader){ .store = s, .room = LIMIT_POSTING_BYTES, .err = err };
	*able = false;
	if (sqlite3_get_autocommit(s->db) || sqlite3_txn_state(s->db, "main") == SQLITE_TXN_WRITE)
		return STATUS_OK;
	*able = read_totals(r, &b) && read_segments(r, &b);
	return !*able && !r->unable ? err_failed(err->status) : STATUS_OK;
}

void postings_end(struct postings_reader *r)
{
	arena_release(&r->mem);
}
