/*
 * Lists of documents, made of what FTS5's pages have.
 *
 * Of a word alone only how often a document has it is kept. Of words that begin alike, and of those of a phrase,
 * positions are, too: what several of the first have at one position counts once, and those of a phrase have to follow
 * each other.
 */
#include "store/postings_page.h"

#include "store/fulltext.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { MAIN_INDEX = '0' }; /* in front of each word */

/* Takes that much of what may be listed. */
static bool takes_room(struct postings_reader *r, size_t bytes)
{
	if (r->room < bytes)
		return postings_give_up(r);
	r->room -= bytes;
	return true;
}

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
	if (!c->size || segment_lacks(c->segment, c->id))
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
	if (!c->size || segment_lacks(c->segment, c->id))
		return true;
	if (!takes_room(c->r, sizeof *g->list + c->size))
		return false;
	*reserve_pieces(g, 1) = (struct piece){ c->id, (uint32_t)g->bytes.n, (uint32_t)c->size };
	g->count++;
	buf_add(&g->bytes, c->positions, c->size);
	return !g->bytes.failed || postings_give_up(c->r);
}

/*
 * What a page has is mostly taken at once, here and below: of each document that is on it with all of its positions.
 * One takes two bytes at least.
 */
static bool list_page(struct reading *c, struct postings *out)
{
	const uint8_t *p = page_bytes(&c->page);
	uint64_t *list = reserve_postings(out, (c->stop - c->at) / 2 + 1);
	size_t count = 0;
	struct entry e;

	for (; page_entry(c, p, &e); c->at = e.end) {
		c->id = (int64_t)e.id;
		c->is_whole = false;
		list[count] = posting_of(e.id, count_positions(p + e.at, e.end - e.at));
		count += e.end > e.at && !segment_lacks(c->segment, c->id);
	}
	out->count += count;
	return takes_room(c->r, count * sizeof *list);
}

static bool gather_page(struct reading *c, struct gathered *g)
{
	const uint8_t *p = page_bytes(&c->page);
	struct piece *list = reserve_pieces(g, (c->stop - c->at) / 2 + 1);
	size_t count = 0, from = c->at, base = g->bytes.n;
	struct entry e;

	for (; page_entry(c, p, &e); c->at = e.end) {
		c->id = (int64_t)e.id;
		c->is_whole = false;
		list[count] = (struct piece){ c->id, (uint32_t)(base + e.at - from), (uint32_t)(e.end - e.at) };
		count += e.end > e.at && !segment_lacks(c->segment, c->id);
	}
	buf_add(&g->bytes, p + from, c->at - from);
	g->count += count;
	return takes_room(c->r, count * sizeof *list + c->at - from) && (!g->bytes.failed || postings_give_up(c->r));
}

/* All documents of the word in hand. */
static bool list_documents(struct reading *c, struct postings *out)
{
	for (bool more = true; more;)
		if (!page_next_document(c, 0, &more) || (more && !(take_posting(c, out) && list_page(c, out))))
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
		if (!page_next_document(c, least, &more))
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

	if (!page_find_word(c, key, prefix, &found))
		return false;
	while (found) {
		if (!(g ? gather_documents(c, !prefix, g) : list_documents(c, out)))
			return false;
		if (!prefix)
			break;
		if (!page_next_word(c))
			return false;
		found = !c->is_over && str_has_prefix(buf_as_str(&c->term), key);
	}
	return true;
}

/* The documents of a word in all segments. */
static bool take_word(struct postings_reader *r, const struct posting_word *w, struct postings *out,
		      struct gathered *g)
{
	struct reading c CLEANUP(page_release) = {
		.r = r,
		.page = BUF_INIT(MIB),
		.term = BUF_INIT(64 * KIB),
		.pieces = BUF_INIT(LIMIT_POSTING_BYTES),
	};
	struct buf key CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	buf_byte(&key, MAIN_INDEX);
	buf_str(&key, w->word);
	if (key.failed)
		return postings_give_up(r);
	for (size_t i = 0; i < r->segment_count; i++) {
		c.segment = &r->segments[i];
		if (!take_segment(&c, buf_as_str(&key), w->prefix, out, g))
			return false;
	}
	return true;
}

/* By number, as what one segment has after the other mostly is. A digit of eleven bits at a time, the lowest first. */
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
	const uint8_t *p = page_bytes(&g->bytes) + piece->at;
	uint64_t position = 0, v;

	if (out->cap < out->count + piece->n) {
		out->cap = 2 * (out->count + piece->n);
		out->list = mem_resize(out->list, out->cap * sizeof *out->list);
	}
	for (size_t at = 0; at < piece->n;) {
		at += page_number(p + at, &v);
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
	buf_add(&g->bytes, (char[PAGE_PADDING]){ 0 }, PAGE_PADDING);
}

/* Positions that some word of a document has, as bits. */
struct marks {
	uint64_t *bits;
	size_t cap;
};

static void marks_release(struct marks *m)
{
	mem_free(m->bits);
}

/* Marks the positions of a piece, or takes their marks away. Returns how many had none before; SIZE_MAX = one is larger
 * than any document. */
static size_t mark_positions(struct marks *m, const struct gathered *g, const struct piece *piece, bool mark)
{
	enum { MOST = 1 << 28 };
	const uint8_t *p = page_bytes(&g->bytes) + piece->at;
	uint64_t position = 0, v;
	size_t count = 0;

	for (size_t at = 0; at < piece->n;) {
		uint64_t *word, bit;

		at += page_number(p + at, &v);
		position += v - 2;
		if (position >= MOST)
			return SIZE_MAX;
		if (position / 64 >= m->cap) {
			size_t cap = size_max(2 * m->cap, (size_t)position / 64 + 64);

			m->bits = mem_resize(m->bits, cap * sizeof *m->bits);
			memset(m->bits + m->cap, 0, (cap - m->cap) * sizeof *m->bits);
			m->cap = cap;
		}
		word = &m->bits[position / 64];
		bit = UINT64_C(1) << position % 64;
		count += (*word & bit) == 0;
		*word = mark ? *word | bit : *word & ~bit;
	}
	return count;
}

/* How often documents have a word of those that begin alike; what several of these have at one position counts once. */
static bool count_alike(struct postings_reader *r, const struct gathered *g, struct postings *out)
{
	struct marks marks CLEANUP(marks_release) = { 0 };

	for (size_t i = 0, next; i < g->count; i = next) {
		const struct piece *first = &g->list[i];
		size_t times = 0;

		for (next = i + 1; next < g->count && g->list[next].id == first->id;)
			next++;
		if (next == i + 1) {
			add_posting(out, first->id, count_positions(page_bytes(&g->bytes) + first->at, first->n));
			continue;
		}
		for (size_t k = i; k < next; k++) {
			size_t more = mark_positions(&marks, g, &g->list[k], true);

			if (more == SIZE_MAX)
				return postings_give_up(r);
			times += more;
		}
		for (size_t k = i; k < next; k++)
			(void)mark_positions(&marks, g, &g->list[k], false);
		add_posting(out, first->id, times);
	}
	return true;
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
	f->p += page_number(f->p, &v);
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
			at[k] = (struct followed){ .p = page_bytes(&w->bytes) + piece->at };
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
		buf_add(&g->bytes, (char[PAGE_PADDING]){ 0 }, PAGE_PADDING);
		sort_pieces(g);
		if (words[order[i]].prefix && count > 1)
			join_pieces(g);
		if (g->bytes.failed)
			return postings_give_up(r);
		last = g;
	}
	if (count == 1)
		return count_alike(r, last, out);
	count_phrase(gathered, count, last, out);
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
