/*
 * FTS5's pages, in the format that fts5_index.c of SQLite documents and that has been the same since 2015, but for what
 * contentless_delete added. What is used of it:
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
#include "store/postings.h"

#include "store/db.h"
#include "store/fulltext.h"

#include <endian.h>
#include <stdlib.h>
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
	PADDING = 16,
	MAIN_INDEX = '0',
};

struct segment {
	int64_t id, first, last; /* pages */
	size_t tables;		 /* of tombstones */
	struct str *tombstones;
};

/* What follows returns false when there is no going on: either it is not as expected, or the store has failed, and
 * *err says how. */
static bool give_up(struct postings_reader *r)
{
	r->unable = true;
	return false;
}

/* Takes that much of what may be listed. */
static bool takes_room(struct postings_reader *r, size_t bytes)
{
	if (r->room < bytes)
		return give_up(r);
	r->room -= bytes;
	return true;
}

/* ---- Numbers ----------------------------------------------------------------- */

static size_t long_number(const uint8_t *p, uint64_t *v)
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

static inline size_t number(const uint8_t *p, uint64_t *v)
{
	if (p[0] < 0x80) {
		*v = p[0];
		return 1;
	}
	if (p[1] < 0x80) {
		*v = (uint64_t)(p[0] & 0x7f) << 7 | p[1];
		return 2;
	}
	return long_number(p, v);
}

static uint64_t big_endian(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* ---- Blocks ------------------------------------------------------------------ */

static const uint8_t *bytes_of(const struct buf *b)
{
	return (const uint8_t *)b->p;
}

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
		return give_up(r);
	buf_str(out, col_bytes(&st, 0));
	buf_add(out, (char[PADDING]){ 0 }, PADDING);
	if (out->failed)
		return give_up(r);
	out->n -= PADDING;
	return true;
}

/* A number of a block that is read from its front; 0 behind its end. */
static uint64_t take_number(const struct buf *b, size_t *at)
{
	uint64_t v = 0;

	if (*at < b->n)
		*at += number(bytes_of(b) + *at, &v);
	return v;
}

static bool read_totals(struct postings_reader *r, struct buf *b)
{
	size_t at = 0;

	if (!read_block(r, BLOCK_TOTALS, b))
		return false;
	r->rows = (int64_t)take_number(b, &at);
	r->words = (int64_t)take_number(b, &at);
	return (r->rows > 0 && r->words > 0) || give_up(r);
}

static bool read_tombstones(struct postings_reader *r, struct segment *s, struct buf *b)
{
	s->tombstones = arena_alloc(&r->mem, (s->tables + 1) * sizeof *s->tombstones);
	for (size_t i = 0; i < s->tables; i++) {
		if (!read_block(r, (s->id + TOMBSTONES) << PAGE_BITS | (int64_t)i, b))
			return false;
		if (b->n <= 2 * TOMBSTONE_HEAD || (b->p[0] != 4 && b->p[0] != 8))
			return give_up(r);
		s->tombstones[i] = arena_str(&r->mem, buf_as_str(b));
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
	       give_up(r);
}

/* The first level has the newest ones, and each its oldest first. */
static bool read_segments(struct postings_reader *r, struct buf *b)
{
	static const uint8_t with_tombstones[4] = { 0xff, 0, 0, 1 };
	size_t at = 8, end, levels;

	if (!read_block(r, BLOCK_SEGMENTS, b))
		return false;
	if (b->n < at || memcmp(b->p + 4, with_tombstones, sizeof with_tombstones) != 0)
		return give_up(r);
	levels = (size_t)take_number(b, &at);
	r->segment_count = end = (size_t)take_number(b, &at);
	take_number(b, &at); /* counts what was written */
	if (levels > MOST_SEGMENTS || end > MOST_SEGMENTS)
		return give_up(r);
	r->segments = arena_alloc(&r->mem, (end + 1) * sizeof *r->segments);
	for (size_t level = 0, count; level < levels; level++) {
		take_number(b, &at); /* how many are being merged */
		count = (size_t)take_number(b, &at);
		if (count > end)
			return give_up(r);
		end -= count;
		for (size_t i = 0; i < count; i++)
			if (!read_segment(r, b, &at, &r->segments[end + i]))
				return false;
	}
	if (end)
		return give_up(r);
	for (size_t i = 0; i < r->segment_count; i++)
		if (!read_tombstones(r, &r->segments[i], b))
			return false;
	return true;
}

static bool is_removed(const struct segment *s, int64_t id)
{
	const uint8_t *p;
	struct str table;
	size_t size, slots;

	if (!s->tables)
		return false;
	table = s->tombstones[(uint64_t)id % s->tables];
	p = (const uint8_t *)table.p;
	size = p[0];
	slots = (table.n - TOMBSTONE_HEAD) / size;
	p += TOMBSTONE_HEAD;
	for (size_t i = 0, at = (uint64_t)id / s->tables % slots; i < slots; i++, at = (at + 1) % slots) {
		uint64_t key = big_endian(p + at * size, size);

		if (key == (uint64_t)id)
			return true;
		if (!key)
			return false;
	}
	return false;
}

/* ---- Pages ------------------------------------------------------------------- */

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

static void reading_release(struct reading *c)
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
	c->end = c->page.n < PAGE_HEAD ? 0 : (size_t)big_endian(bytes_of(&c->page) + 2, 2);
	if (c->end < PAGE_HEAD || c->end > c->page.n)
		return give_up(r);
	c->at = PAGE_HEAD;
	c->foot = c->end;
	c->next = 0;
	c->is_first = c->is_whole = true;
	if (c->foot < c->page.n) {
		c->foot += number(bytes_of(&c->page) + c->foot, &first);
		if (first < PAGE_HEAD || first >= c->end)
			return give_up(r);
		c->next = (size_t)first;
	}
	c->stop = c->next ? c->next : c->end;
	return true;
}

/* The next word, on whichever page it is. */
static bool next_term(struct reading *c)
{
	uint64_t kept = 0, more;
	const uint8_t *p;

	while (!c->next) {
		if (!turn_to(c, c->number + 1))
			return false;
		if (c->is_over)
			return true;
	}
	p = bytes_of(&c->page);
	c->at = c->next;
	if (!c->is_first)
		c->at += number(p + c->at, &kept);
	c->at += number(p + c->at, &more);
	if (c->at > c->end || more > c->end - c->at || kept > c->term.n)
		return give_up(c->r);
	c->term.n = (size_t)kept;
	buf_add(&c->term, p + c->at, (size_t)more);
	c->at += (size_t)more;
	c->is_first = false;
	c->is_whole = true;
	if (c->foot < c->page.n) {
		c->foot += number(p + c->foot, &more);
		if (more > c->end || c->next + more < c->at || c->next + more >= c->end)
			return give_up(c->r);
		c->next += (size_t)more;
	} else {
		c->next = 0;
	}
	c->stop = c->next ? c->next : c->end;
	return !c->term.failed || give_up(c->r);
}

/* The page that something goes on with at its very beginning. */
static bool turn_over(struct reading *c)
{
	/* A word in front of the footer: nothing goes on behind it. */
	if (c->next)
		return give_up(c->r);
	if (!turn_to(c, c->number + 1))
		return false;
	return !c->is_over || give_up(c->r);
}

/* The positions of the document in hand. */
static bool take_positions(struct reading *c)
{
	size_t left = c->size;

	if (c->at > c->stop || c->id <= 0 || c->id >> (63 - POSTING_BITS))
		return give_up(c->r);
	c->positions = bytes_of(&c->page) + c->at;
	if (left <= c->stop - c->at) {
		c->at += left;
		return true;
	}
	buf_clear(&c->pieces);
	for (;;) {
		size_t n = size_min(left, c->stop - c->at);

		buf_add(&c->pieces, bytes_of(&c->page) + c->at, n);
		c->at += n;
		left -= n;
		if (!left)
			break;
		if (!turn_over(c))
			return false;
	}
	buf_add(&c->pieces, (char[PADDING]){ 0 }, PADDING);
	c->positions = bytes_of(&c->pieces);
	return !c->pieces.failed || give_up(c->r);
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
	c->at = c->is_over ? 0 : (size_t)big_endian(bytes_of(&c->page), 2);
	if (!c->at) /* the next word begins with the page, or there is none */
		return c->is_over || c->next || give_up(c->r);
	*more = true;
	return (c->at >= PAGE_HEAD && c->at < c->stop) || give_up(c->r);
}

/* A document on the page, with its positions. */
struct entry {
	uint64_t id;
	size_t at, end; /* these */
};

/* The one that is read next; false = there is none, or not all of it. */
static inline bool entry_on_page(const struct reading *c, const uint8_t *p, struct entry *e)
{
	uint64_t v, size;
	size_t at = c->at;

	if (at >= c->stop)
		return false;
	at += number(p + at, &v);
	at += number(p + at, &size);
	e->id = (c->is_whole ? 0 : (uint64_t)c->id) + v;
	e->at = at;
	e->end = at + (size_t)(size >> 1);
	return at <= c->stop && size >> 1 <= c->stop - at && !(size & 1) && e->id && !(e->id >> (63 - POSTING_BITS));
}

/* The first document on the page that is not below `least`, up to its positions. Without one, what is left of the
 * last one's positions is on the pages that follow. */
static bool find_on_page(struct reading *c, int64_t least)
{
	const uint8_t *p = bytes_of(&c->page);
	uint64_t id = c->is_whole ? 0 : (uint64_t)c->id, v = 0, flags = 0;
	size_t at = c->at;
	bool found = false;

	while (at < c->stop && !found) {
		at += number(p + at, &v);
		id += v;
		at += number(p + at, &v);
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

/* The next document of the word that is not below `least`; *more: there is one. */
static bool next_document(struct reading *c, int64_t least, bool *more)
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

/* The word itself, or the first that begins with it; *found: there is one. */
static bool find_term(struct reading *c, struct str key, bool prefix, bool *found)
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
		if (!next_term(c))
			return false;
		if (c->is_over)
			return true;
		order = compare_term(c, key);
	}
	*found = prefix ? str_has_prefix(buf_as_str(&c->term), key) : order == 0;
	return true;
}

/* ---- Lists ------------------------------------------------------------------- */

void postings_release(struct postings *p)
{
	mem_free(p->list);
	*p = (struct postings){ 0 };
}

/* What the numbers of documents are gathered in; with their positions, where those are asked for. */
struct piece {
	int64_t id;
	uint32_t at, n; /* positions, in `bytes` */
};

struct gathered {
	struct piece *list;
	size_t count, cap;
	struct buf bytes;
	const struct gathered *among; /* documents that have all words before; NULL = any */
	size_t next;		      /* of these */
};

static void gathered_release(struct gathered *g)
{
	mem_free(g->list);
	buf_release(&g->bytes);
}

/* Makes room for some more. */
static uint64_t *reserve_postings(struct postings *out, size_t more)
{
	if (out->cap - out->count < more) {
		out->cap = size_max(2 * out->cap, out->count + size_max(more, 256));
		out->list = mem_resize(out->list, out->cap * sizeof *out->list);
	}
	return out->list + out->count;
}

static struct piece *reserve_pieces(struct gathered *g, size_t more)
{
	if (g->cap - g->count < more) {
		g->cap = size_max(2 * g->cap, g->count + size_max(more, 256));
		g->list = mem_resize(g->list, g->cap * sizeof *g->list);
	}
	return g->list + g->count;
}

static uint64_t posting_of(uint64_t id, size_t times)
{
	return id << POSTING_BITS | size_min(times, POSTING_MOST);
}

static void add_posting(struct postings *out, int64_t id, size_t times)
{
	*reserve_postings(out, 1) = posting_of((uint64_t)id, times);
	out->count++;
}

/* Each number ends with the only byte of it that is below 128. Eight at a time: there are zeros, or anything else that
 * can be read, behind them. */
static size_t count_positions(const uint8_t *p, size_t n)
{
	const uint64_t ones = 0x0101010101010101;
	size_t count = 0;

	for (size_t at = 0; at < n; at += 8) {
		uint64_t eight;

		memcpy(&eight, p + at, sizeof eight);
		eight = ~eight >> 7 & ones;
		if (n - at < 8)
			eight = be64toh(eight) >> 8 * (8 - (n - at));
		count += eight * ones >> 56;
	}
	return count;
}

static bool take_posting(struct reading *c, struct postings *out)
{
	if (!c->size || is_removed(c->segment, c->id))
		return true;
	if (!takes_room(c->r, sizeof *out->list))
		return false;
	add_posting(out, c->id, c->size == 1 ? 1 : count_positions(c->positions, c->size));
	return true;
}

/* The first document from this one on that can be of use. Numbers rise, so those of the words before are gone through
 * as this one's come by. */
static int64_t first_of_use(struct gathered *g, int64_t id)
{
	const struct gathered *a = g->among;

	if (!a)
		return id;
	while (g->next < a->count && a->list[g->next].id < id)
		g->next++;
	return g->next < a->count ? a->list[g->next].id : INT64_MAX;
}

static bool take_piece(struct reading *c, struct gathered *g)
{
	if (!c->size || is_removed(c->segment, c->id))
		return true;
	if (!takes_room(c->r, sizeof *g->list + c->size))
		return false;
	*reserve_pieces(g, 1) = (struct piece){ c->id, (uint32_t)g->bytes.n, (uint32_t)c->size };
	g->count++;
	buf_add(&g->bytes, c->positions, c->size);
	return !g->bytes.failed || give_up(c->r);
}

/*
 * What a page has is mostly taken at once, here and below: of each document that is on it with all of its positions.
 * One takes two bytes at least.
 */
static bool list_page(struct reading *c, struct postings *out)
{
	const uint8_t *p = bytes_of(&c->page);
	uint64_t *list = reserve_postings(out, (c->stop - c->at) / 2 + 1);
	size_t count = 0;
	struct entry e;

	for (; entry_on_page(c, p, &e); c->at = e.end) {
		c->id = (int64_t)e.id;
		c->is_whole = false;
		list[count] = posting_of(e.id, count_positions(p + e.at, e.end - e.at));
		count += e.end > e.at && !is_removed(c->segment, c->id);
	}
	out->count += count;
	return takes_room(c->r, count * sizeof *list);
}

static bool gather_page(struct reading *c, struct gathered *g)
{
	const uint8_t *p = bytes_of(&c->page);
	struct piece *list = reserve_pieces(g, (c->stop - c->at) / 2 + 1);
	size_t count = 0, from = c->at, base = g->bytes.n;
	struct entry e;

	for (; entry_on_page(c, p, &e); c->at = e.end) {
		c->id = (int64_t)e.id;
		c->is_whole = false;
		list[count] = (struct piece){ c->id, (uint32_t)(base + e.at - from), (uint32_t)(e.end - e.at) };
		count += e.end > e.at && !is_removed(c->segment, c->id);
	}
	buf_add(&g->bytes, p + from, c->at - from);
	g->count += count;
	return takes_room(c->r, count * sizeof *list + c->at - from) && (!g->bytes.failed || give_up(c->r));
}

/* All documents of the word in hand. */
static bool list_documents(struct reading *c, struct postings *out)
{
	for (bool more = true; more;)
		if (!next_document(c, 0, &more) || (more && !(take_posting(c, out) && list_page(c, out))))
			return false;
	return true;
}

/* Those that are of use, with their positions. Of a word whose followers do not matter, only as far as there can be
 * any. */
static bool gather_documents(struct reading *c, bool is_last, struct gathered *g)
{
	int64_t least;

	g->next = 0;
	least = first_of_use(g, 0);
	for (bool more = true; more && !(is_last && least == INT64_MAX);) {
		if (!next_document(c, least, &more))
			return false;
		if (more && first_of_use(g, c->id) == c->id && !take_piece(c, g))
			return false;
		if (more && !g->among && !gather_page(c, g))
			return false;
		least = first_of_use(g, c->id + 1);
	}
	return true;
}

static bool take_segment(struct reading *c, struct str key, bool prefix, struct postings *out, struct gathered *g)
{
	bool found;

	if (!find_term(c, key, prefix, &found))
		return false;
	while (found) {
		if (!(g ? gather_documents(c, !prefix, g) : list_documents(c, out)))
			return false;
		if (!prefix)
			break;
		if (!next_term(c))
			return false;
		found = !c->is_over && str_has_prefix(buf_as_str(&c->term), key);
	}
	return true;
}

/* The documents of a word in all segments. */
static bool take_word(struct postings_reader *r, const struct posting_word *w, struct postings *out,
		      struct gathered *g)
{
	struct reading c CLEANUP(reading_release) = {
		.r = r,
		.page = BUF_INIT(MIB),
		.term = BUF_INIT(64 * KIB),
		.pieces = BUF_INIT(LIMIT_POSTING_BYTES),
	};
	struct buf key CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	buf_byte(&key, MAIN_INDEX);
	buf_str(&key, w->word);
	if (key.failed)
		return give_up(r);
	for (size_t i = 0; i < r->segment_count; i++) {
		c.segment = &r->segments[i];
		if (!take_segment(&c, buf_as_str(&key), w->prefix, out, g))
			return false;
	}
	return true;
}

/* By number, which what one segment has after the other mostly is; a digit of eleven bits at a time, the lowest first. */
static void sort_pieces(struct gathered *g)
{
	enum { DIGIT = 11, DIGITS = 1 << DIGIT };
	bool in_order = true;
	uint64_t all = 0;

	for (size_t i = 0; i < g->count; i++) {
		in_order = in_order && (!i || g->list[i - 1].id <= g->list[i].id);
		all |= (uint64_t)doc_sequence(g->list[i].id);
	}
	for (unsigned shift = 0; !in_order && shift < 64 && all >> shift; shift += DIGIT) {
		struct piece *sorted = mem_resize(NULL, g->cap * sizeof *sorted);
		size_t starts[DIGITS + 1] = { 0 };

		for (size_t i = 0; i < g->count; i++)
			starts[((uint64_t)doc_sequence(g->list[i].id) >> shift) % DIGITS + 1]++;
		for (size_t i = 1; i <= DIGITS; i++)
			starts[i] += starts[i - 1];
		for (size_t i = 0; i < g->count; i++)
			sorted[starts[((uint64_t)doc_sequence(g->list[i].id) >> shift) % DIGITS]++] = g->list[i];
		mem_free(g->list);
		g->list = sorted;
	}
}

/* ---- Positions --------------------------------------------------------------- */

struct positions {
	uint64_t *list;
	size_t count, cap;
};

static void positions_release(struct positions *p)
{
	mem_free(p->list);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void unpack_positions(const struct gathered *g, const struct piece *piece, struct positions *out)
{
	const uint8_t *p = bytes_of(&g->bytes) + piece->at;
	uint64_t position = 0, v;

	if (out->cap < out->count + piece->n) {
		out->cap = 2 * (out->count + piece->n);
		out->list = mem_resize(out->list, out->cap * sizeof *out->list);
	}
	for (size_t at = 0; at < piece->n;) {
		at += number(p + at, &v);
		position += v - 2;
		out->list[out->count++] = position;
	}
}

/* Mostly they are few, and two lists of them that are in order. */
static void sort_positions(struct positions *p)
{
	enum { FEW = 64 };

	if (p->count > FEW) {
		qsort(p->list, p->count, sizeof *p->list, by_number);
		return;
	}
	for (size_t i = 1; i < p->count; i++) {
		uint64_t one = p->list[i];
		size_t at = i;

		for (; at && p->list[at - 1] > one; at--)
			p->list[at] = p->list[at - 1];
		p->list[at] = one;
	}
}

/* The same packed again, each position once. */
static void pack_positions(const struct positions *p, struct gathered *g, struct piece *out)
{
	enum { MOST_BYTES = 10 };
	uint8_t *to = (uint8_t *)buf_reserve(&g->bytes, p->count * MOST_BYTES);
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; to && i < p->count; i++) {
		uint64_t v = p->list[i] - last + 2;

		if (i && p->list[i] == last)
			continue;
		last = p->list[i];
		for (unsigned shift = v < 0x80 ? 0 : 56; shift; shift -= 7)
			if (v >> shift)
				to[n++] = (uint8_t)(v >> shift | 0x80);
		to[n++] = v & 0x7f;
	}
	*out = (struct piece){ out->id, (uint32_t)g->bytes.n, (uint32_t)n };
	buf_grew(&g->bytes, n);
}

/* What documents have of several words that begin alike becomes one list of positions for each. */
static void join_pieces(struct gathered *g)
{
	struct positions all CLEANUP(positions_release) = { 0 };
	size_t kept = 0;

	for (size_t i = 0, next; i < g->count; i = next) {
		for (next = i + 1; next < g->count && g->list[next].id == g->list[i].id;)
			next++;
		g->list[kept] = g->list[i];
		if (next > i + 1) {
			all.count = 0;
			for (size_t k = i; k < next; k++)
				unpack_positions(g, &g->list[k], &all);
			sort_positions(&all);
			pack_positions(&all, g, &g->list[kept]);
		}
		kept++;
	}
	g->count = kept;
	buf_add(&g->bytes, (char[PADDING]){ 0 }, PADDING);
}

static void count_words(const struct gathered *g, struct postings *out)
{
	for (size_t i = 0; i < g->count; i++)
		add_posting(out, g->list[i].id, count_positions(bytes_of(&g->bytes) + g->list[i].at, g->list[i].n));
}

/* A word of a phrase, followed through a document. */
struct followed {
	const uint8_t *p, *end;
	uint64_t position;
};

static bool follow(struct followed *f)
{
	uint64_t v;

	if (f->p >= f->end)
		return false;
	f->p += number(f->p, &v);
	f->position += v - 2;
	return true;
}

/* How often the words stand in a row. */
static size_t count_rows(struct followed *words, size_t count)
{
	size_t found = 0, at = 0;

	for (size_t i = 0; i < count; i++)
		if (!follow(&words[i]))
			return 0;
	/* `at` words stand where the first one says. */
	while (at < count) {
		uint64_t due = words[0].position + at;

		while (words[at].position < due)
			if (!follow(&words[at]))
				return found;
		if (words[at].position > due) {
			while (words[0].position + at < words[at].position)
				if (!follow(&words[0]))
					return found;
			at = 1;
			continue;
		}
		if (++at < count)
			continue;
		found++;
		if (!follow(&words[0]))
			return found;
		at = 1;
	}
	return found;
}

/* Documents that have all words of a phrase, of which the last that was gathered has no others. */
static void count_phrase(struct gathered *words, size_t count, const struct gathered *last, struct postings *out)
{
	struct followed at[LIMIT_POSTING_WORDS];

	for (size_t k = 0; k < count; k++)
		words[k].next = 0;
	for (size_t i = 0; i < last->count; i++) {
		size_t times;

		for (size_t k = 0; k < count; k++) {
			struct gathered *w = &words[k];
			const struct piece *piece;

			while (w->list[w->next].id < last->list[i].id)
				w->next++;
			piece = &w->list[w->next];
			at[k] = (struct followed){ .p = bytes_of(&w->bytes) + piece->at };
			at[k].end = at[k].p + piece->n;
		}
		times = count_rows(at, count);
		if (times)
			add_posting(out, last->list[i].id, times);
	}
}

/* The longest first, which most documents do not have: of the others only what these have is kept. */
static void choose_order(const struct posting_word *words, size_t count, size_t *order)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		for (; at && !words[i].prefix && words[order[at - 1]].word.n < words[i].word.n; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static bool read_phrase(struct postings_reader *r, const struct posting_word *words, size_t count,
			struct gathered *gathered, struct postings *out)
{
	size_t order[LIMIT_POSTING_WORDS];
	struct gathered *last = NULL;

	choose_order(words, count, order);
	for (size_t i = 0; i < count; i++) {
		struct gathered *g = &gathered[order[i]];

		*g = (struct gathered){ .bytes = BUF_INIT(LIMIT_POSTING_BYTES), .among = last };
		if (!take_word(r, &words[order[i]], NULL, g))
			return false;
		buf_add(&g->bytes, (char[PADDING]){ 0 }, PADDING);
		sort_pieces(g);
		if (words[order[i]].prefix)
			join_pieces(g);
		if (g->bytes.failed)
			return give_up(r);
		last = g;
	}
	if (count > 1)
		count_phrase(gathered, count, last, out);
	else
		count_words(last, out);
	return true;
}

static void sort_postings(struct postings *p)
{
	for (size_t i = 1; i < p->count; i++)
		if (p->list[i - 1] > p->list[i]) {
			qsort(p->list, p->count, sizeof *p->list, by_number);
			return;
		}
}

enum status postings_read(struct postings_reader *r, const struct posting_word *words, size_t count,
			  struct postings *out, bool *able, struct err *err)
{
	struct gathered gathered[LIMIT_POSTING_WORDS] = { 0 };

	r->err = err;
	*able = false;
	if (!count || count > LIMIT_POSTING_WORDS)
		return STATUS_OK;
	if (count == 1 && !words[0].prefix)
		*able = take_word(r, &words[0], out, NULL);
	else
		*able = read_phrase(r, words, count, gathered, out);
	for (size_t i = 0; i < count; i++)
		gathered_release(&gathered[i]);
	if (!*able)
		return r->unable ? STATUS_OK : err_failed(err->status);
	sort_postings(out);
	return STATUS_OK;
}

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
