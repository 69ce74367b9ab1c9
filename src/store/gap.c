/*
 * Overwriting archived bytes.
 *
 * Each block that a span touches is unpacked, overwritten and packed again, in the same place and
 * with the same length, so nothing that names bytes has to change. A generation that shares its
 * beginning with an older one has the same lines there, and they go or stay in both. All but one:
 * where they part may be in the middle of a line, and the two lines that begin alike may not
 * have the same fate. gap_part() then gives the younger one bytes of its own from the beginning of
 * that line on.
 *
 * Invariant: what a row of `gap` covers is blanks and line feeds (check.c looks).
 */
#include "store/gap.h"

#include "base/hash.h"
#include "store/db.h"

#include <string.h>

enum { GAP_ANY, GAP_OVERLAP, GAP_BEFORE, GAP_DROP, GAP_ADD, GAP_STATEMENTS };

static const char *const sql[GAP_STATEMENTS] = {
	[GAP_ANY] = "SELECT 1 FROM gap LIMIT 1",
	/* The last one that begins at or before ?2 may reach into [?2, ?3). */
	[GAP_OVERLAP] = "SELECT offset, length, reason, at FROM gap WHERE generation = ?1 AND offset < ?3"
			" AND offset >= (SELECT coalesce(max(offset), 0) FROM gap WHERE generation = ?1 AND "
			"offset <= ?2)"
			" AND offset + length > ?2 ORDER BY offset",
	[GAP_BEFORE] = "SELECT offset, length, at FROM gap WHERE generation = ?1 AND offset <= ?2 AND reason "
		       "= 'purge'"
		       " ORDER BY offset DESC LIMIT 1",
	[GAP_DROP] = "DELETE FROM gap WHERE generation = ?1 AND offset >= ?2 AND offset < ?3",
	[GAP_ADD] = "INSERT INTO gap(generation, offset, length, at, rev, reason) VALUES (?1, ?2, ?3, ?4, ?5, 'purge')",
};

const struct db_set gap_statements = { DB_GAP, sql, GAP_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &gap_statements, index, st, err);
}

void gap_fill(char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != '\n')
			bytes[i] = ' ';
}

bool gap_is_filled(struct str bytes)
{
	for (size_t i = 0; i < bytes.n; i++)
		if (bytes.p[i] != ' ' && bytes.p[i] != '\n')
			return false;
	return true;
}

/* ---- Marking ---------------------------------------------------------------- */

/* The mark that begins last at or before the span. */
struct before {
	bool any;
	struct span span;
	int64_t at;
};

static enum status find_before(struct store *s, int64_t generation, int64_t from, struct before *out,
			       struct err *err)
{
	STMT st = { 0 };
	enum step step;

	*out = (struct before){ 0 };
	if (use(s, GAP_BEFORE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	stmt_int(&st, 2, from);
	step = stmt_step(&st, err);
	if (step == STEP_ROW)
		*out = (struct before){ true,
					{ col_int(&st, 0), col_int(&st, 0) + col_int(&st, 1) },
					col_int(&st, 2) };
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status drop(struct store *s, int64_t generation, const struct span *span, struct err *err)
{
	STMT st = { 0 };

	if (use(s, GAP_DROP, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	stmt_int(&st, 2, span->from);
	stmt_int(&st, 3, span->to);
	return stmt_run(&st, err);
}

static enum status add(struct store *s, int64_t generation, const struct span *span, int64_t at,
		       struct err *err)
{
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, GAP_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	stmt_int(&st, 2, span->from);
	stmt_int(&st, 3, span->to - span->from);
	stmt_int(&st, 4, at);
	stmt_int(&st, 5, rev);
	return stmt_run(&st, err);
}

/* Marks never overlap. Lines that follow each other and went together have one: only a line feed
 * is between them. */
enum status gap_mark(struct store *s, int64_t generation, const struct span *span, int64_t at,
		     struct err *err)
{
	struct span whole = *span;
	struct before b;

	if (find_before(s, generation, span->from, &b, err))
		return err_failed(err->status);
	if (b.any && b.span.to >= span->to)
		return STATUS_OK;
	if (b.any && b.at == at && b.span.to + 1 >= span->from)
		whole.from = b.span.from;
	else if (b.any && b.span.from < span->from && b.span.to > span->from)
		whole.from = b.span.to;
	if (drop(s, generation, &whole, err))
		return err_failed(err->status);
	return add(s, generation, &whole, at, err);
}

/* ---- Overwriting ------------------------------------------------------------ */

/* Blocks are listed before they are changed: a statement does not like rows that change under it. */
struct block_list {
	struct archive_block *list;
	size_t count, cap;
};

static void block_list_release(struct block_list *l)
{
	mem_free(l->list);
}

/* As a whole, whatever part of it was asked for. */
static enum status list_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct block_list *l = ctx;

	(void)go_on;
	(void)err;
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 16;
		l->list = mem_resize(l->list, l->cap * sizeof *l->list);
	}
	l->list[l->count] = *b;
	l->list[l->count].offset -= b->skip;
	l->list[l->count].length = b->stored;
	l->list[l->count++].skip = 0;
	return STATUS_OK;
}

struct making {
	struct store *s;
	int64_t generation;
	const struct span *spans;
	size_t count;
	struct buf raw, packed;
};

static void making_release(struct making *m)
{
	buf_release(&m->raw);
	buf_release(&m->packed);
}

/* Nothing of a damaged block can be kept; if all of it is to go, nothing has to be. */
static enum status unpack(struct making *m, const struct archive_block *b, struct err *err)
{
	enum status status;
	char *to;

	buf_clear(&m->raw);
	status = archive_unpack(m->s, b, &m->raw, err);
	if (status != STATUS_CORRUPT)
		return status;
	for (size_t i = 0; i < m->count; i++) {
		if (m->spans[i].from > b->offset || m->spans[i].to + 1 < b->offset + b->length)
			continue;
		buf_clear(&m->raw);
		to = buf_reserve(&m->raw, (size_t)b->length);
		if (!to)
			return status;
		memset(to, ' ', (size_t)b->length);
		if (m->spans[i].to < b->offset + b->length)
			to[b->length - 1] = '\n';
		buf_grew(&m->raw, (size_t)b->length);
		return STATUS_OK;
	}
	return status;
}

static enum status pack(struct store *s, struct str raw, int64_t offset, struct buf *packed,
			struct archive_new *out, struct err *err)
{
	if (!s->packer)
		s->packer = packer_new();
	buf_clear(packed);
	if (packer_pack(s->packer, raw, packed, err))
		return err_failed(err->status);
	*out = (struct archive_new){
		.offset = offset, .length = (int64_t)raw.n, .hash = hash64(raw.p, raw.n), .packed = buf_as_str(packed)
	};
	return STATUS_OK;
}

static enum status overwrite_block(struct making *m, const struct archive_block *b, struct err *err)
{
	struct archive_new changed;

	if (unpack(m, b, err))
		return err_failed(err->status);
	for (size_t i = 0; i < m->count; i++) {
		int64_t from = m->spans[i].from > b->offset ? m->spans[i].from - b->offset : 0;
		int64_t to = m->spans[i].to < b->offset + b->length ? m->spans[i].to - b->offset : b->length;

		if (from < to)
			gap_fill(m->raw.p + from, (size_t)(to - from));
	}
	if (hash64(m->raw.p, m->raw.n) == b->hash) /* it is so already */
		return STATUS_OK;
	if (pack(m->s, buf_as_str(&m->raw), b->offset, &m->packed, &changed, err))
		return err_failed(err->status);
	return archive_replace(m->s, m->generation, &changed, err);
}

/* The blocks of some spans, each once. */
static enum status list_blocks(struct making *m, struct block_list *out, struct err *err)
{
	for (size_t i = 0; i < m->count; i++) {
		int64_t from = m->spans[i].from;
		const struct archive_block *last = out->count ? &out->list[out->count - 1] : NULL;

		if (last && last->offset + last->length > from)
			from = last->offset + last->length;
		if (from < m->spans[i].to &&
		    archive_blocks(m->s, m->generation, from, m->spans[i].to - from, list_block, out, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status gap_make(struct store *s, int64_t generation, const struct span *spans, size_t count, int64_t at,
		     struct err *err)
{
	struct making m CLEANUP(making_release) = {
		s, generation, spans, count, BUF_INIT(LIMIT_BLOCK_MAX), BUF_INIT(2 * LIMIT_BLOCK_MAX)
	};
	struct block_list blocks CLEANUP(block_list_release) = { 0 };

	if (list_blocks(&m, &blocks, err))
		return err_failed(err->status);
	for (size_t i = 0, first = 0; i < blocks.count; i++) {
		const struct archive_block *b = &blocks.list[i];

		/* Of many spans only those that touch it. */
		while (first < count && spans[first].to <= b->offset)
			first++;
		m.spans = spans + first;
		for (m.count = 0; first + m.count < count && m.spans[m.count].from < b->offset + b->length;)
			m.count++;
		if (overwrite_block(&m, b, err))
			return err_failed(err->status);
	}
	for (size_t i = 0; i < count; i++)
		if (gap_mark(s, generation, &spans[i], at, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Parting ---------------------------------------------------------------- */

struct parting {
	struct store *s;
	int64_t generation, at;
	struct buf packed;
};

static void parting_release(struct parting *p)
{
	buf_release(&p->packed);
}

static enum status copy_block(void *ctx, struct str bytes, struct err *err)
{
	struct parting *p = ctx;
	struct archive_new copy;

	if (pack(p->s, bytes, p->at, &p->packed, &copy, err) ||
	    archive_insert(p->s, p->generation, &copy, err))
		return err_failed(err->status);
	p->at += copy.length;
	return STATUS_OK;
}

static enum status copy_gap(void *ctx, const struct gap *g, struct err *err)
{
	const struct parting *p = ctx;

	return gap_mark(p->s, p->generation, &g->span, g->at, err);
}

enum status gap_part(struct store *s, int64_t generation, int64_t from, struct err *err)
{
	struct parting p CLEANUP(parting_release) = { s, generation, from, BUF_INIT(2 * LIMIT_BLOCK_MAX) };
	struct generation g;

	if (generation_get(s, generation, &g, err))
		return err_failed(err->status);
	if (from >= g.shared)
		return STATUS_OK;
	if (archive_read(s, generation, from, g.shared - from, copy_block, &p, err) ||
	    gap_each(s, generation, from, g.shared - from, copy_gap, &p, err))
		return err_failed(err->status);
	return archive_unshare(s, generation, from, err);
}

enum status gap_make_tail(struct store *s, int64_t generation, struct span span, struct err *err)
{
	if (gap_part(s, generation, span.from, err))
		return err_failed(err->status);
	return gap_make(s, generation, &span, 1, store_now(s), err);
}

/* ---- Listing ---------------------------------------------------------------- */

struct listing {
	struct store *s;
	gap_fn *fn;
	void *ctx;
	bool any; /* one in hand */
	struct gap hand;
	struct buf reason;
};

static void listing_release(struct listing *l)
{
	buf_release(&l->reason);
}

static enum status hand_over(struct listing *l, struct err *err)
{
	if (!l->any)
		return STATUS_OK;
	l->any = false;
	l->hand.reason = buf_as_str(&l->reason);
	return l->fn(l->ctx, &l->hand, err);
}

static enum status take_row(struct listing *l, struct span span, struct str reason, int64_t at,
			    struct err *err)
{
	if (l->any && l->hand.span.to + 1 >= span.from && str_eq(reason, buf_as_str(&l->reason))) {
		l->hand.span.to = span.to;
		l->hand.at = at > l->hand.at ? at : l->hand.at;
		return STATUS_OK;
	}
	if (hand_over(l, err))
		return err_failed(err->status);
	l->any = true;
	l->hand = (struct gap){ .span = span, .at = at };
	buf_clear(&l->reason);
	buf_str(&l->reason, reason);
	return STATUS_OK;
}

static enum status list_extent(void *ctx, const struct archive_extent *x, struct err *err)
{
	struct listing *l = ctx;
	enum step step;
	STMT st = { 0 };

	if (use(l->s, GAP_OVERLAP, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, x->owner);
	stmt_int(&st, 2, x->from);
	stmt_int(&st, 3, x->to);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct span span = { col_int(&st, 0), col_int(&st, 0) + col_int(&st, 1) };

		span.from = span.from > x->from ? span.from : x->from;
		span.to = span.to < x->to ? span.to : x->to;
		if (take_row(l, span, col_bytes(&st, 2), col_int(&st, 3), err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* Most stores have none. */
static enum status has_any(struct store *s, bool *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, GAP_ANY, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status gap_each(struct store *s, int64_t generation, int64_t offset, int64_t length, gap_fn *fn,
		     void *ctx, struct err *err)
{
	struct listing l CLEANUP(listing_release) = { .s = s, .fn = fn, .ctx = ctx, .reason = BUF_INIT(KIB) };
	bool any;

	if (has_any(s, &any, err))
		return err_failed(err->status);
	if (!any)
		return STATUS_OK;
	if (archive_extents(s, generation, offset, length, list_extent, &l, err))
		return err_failed(err->status);
	return hand_over(&l, err);
}

struct covering {
	struct span span;
	bool covered;
};

static enum status compare_span(void *ctx, const struct gap *g, struct err *err)
{
	struct covering *c = ctx;

	(void)err;
	c->covered |= g->span.from <= c->span.from && g->span.to >= c->span.to;
	return STATUS_OK;
}

enum status gap_covers(struct store *s, int64_t generation, const struct span *span, bool *out,
		       struct err *err)
{
	struct covering c = { .span = *span };

	if (gap_each(s, generation, span->from, span->to - span->from, compare_span, &c, err))
		return err_failed(err->status);
	*out = c.covered;
	return STATUS_OK;
}

static enum status add_up(void *ctx, const struct gap *g, struct err *err)
{
	int64_t *sum = ctx;

	(void)err;
	*sum += g->span.to - g->span.from;
	return STATUS_OK;
}

enum status gap_bytes(struct store *s, int64_t generation, int64_t offset, int64_t length, int64_t *out,
		      struct err *err)
{
	*out = 0;
	return gap_each(s, generation, offset, length, add_up, out, err);
}
