/*
 * Reading lines by their place. A conversation is read from its beginning to its end,
 * but for what ran side by side, so the block of the line before is kept.
 */
#include "query/lines.h"

#include "base/hash.h"
#include "base/numbers.h"
#include "store/ahead.h"
#include "store/line_parent.h"

#include <string.h>

/* ---- The chain ------------------------------------------------------------------ */

static const uint64_t *copy_tools(struct chain *c, const struct entry_line *from, uint32_t *count)
{
	uint64_t *out;

	*count = from->has_tool ? 1 : (uint32_t)(from->tools.n / sizeof *out);
	if (*count == 0)
		return NULL;
	out = arena_alloc(&c->mem, *count * sizeof *out);
	if (from->has_tool)
		*out = (uint64_t)from->tool;
	else
		memcpy(out, from->tools.p, *count * sizeof *out);
	return out;
}

struct chain_line *chain_take(struct chain *c, const struct entry_line *from)
{
	struct chain_line *l = chain_room(c);

	l->offset = from->offset;
	l->length = from->length;
	l->at = from->at;
	l->type = (uint8_t)from->type;
	l->flags = from->flags;
	l->has_key = from->has_key;
	l->key = from->key;
	l->has_parent = from->has_parent;
	l->parent_at = from->parent_at;
	l->parent_key = from->parent_key;
	l->has_link = from->has_link;
	l->link = from->link;
	l->has_api = from->has_message;
	l->api = from->message;
	l->content = from->content;
	l->same = from->same;
	l->tools = copy_tools(c, from, &l->tool_count);
	l->parent = l->answer = l->next = CHAIN_NONE;
	l->inferred = l->shadowed = false;
	l->is_text = from->is_text;
	return l;
}

static enum status take_line(void *ctx, const struct entry_line *from, struct err *err)
{
	(void)err;
	if (!(from->flags & RECORD_EMBEDDED))
		chain_take(ctx, from);
	return STATUS_OK;
}

/* Most lines name what they hang on by its place in the file; so that is not asked for what is there. */
enum status chain_bridge(struct store *s, struct chain *c, struct err *err)
{
	bool asked = false, any = false;

	for (uint32_t i = 0; i < c->line_count; i++) {
		struct chain_line *l = &c->lines[i];

		if (!l->has_parent || l->parent_at >= 0)
			continue;
		if (!asked && store_has(s, STORE_PURGED, &any, err))
			return err_failed(err->status);
		asked = true;
		if (!any)
			return STATUS_OK;
		if (line_parent_above(s, &l->parent_key, &l->has_parent, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status chain_load(struct store *s, const struct session *session, struct chain *out, struct err *err)
{
	out->is_agent = session->agent.n > 0;
	chain_expect(out, session->read_to);
	if (entry_lines(s, session->row, take_line, out, err) || chain_bridge(s, out, err))
		return err_failed(err->status);
	chain_build(out);
	return STATUS_OK;
}

struct telling {
	struct chain *chain;
	struct str agent;
};

static enum status take_told(void *ctx, const struct entry_line *from, struct err *err)
{
	struct telling *t = ctx;

	(void)err;
	if ((from->flags & RECORD_EMBEDDED) && from->has_key && str_eq(from->agent, t->agent))
		chain_take(t->chain, from)->flags &= ~(uint32_t)RECORD_EMBEDDED;
	return STATUS_OK;
}

void chain_follow(struct chain *c, uint32_t count, const struct chain_line *next)
{
	struct chain_line *l = &c->lines[count];

	*l = *next;
	l->parent_at = -1;
	l->has_parent = count > 0;
	if (count)
		l->parent_key = l[-1].key;
}

/* Each follows the one before, and what is told again is left out. */
static void put_in_a_row(struct chain *c, struct arena *mem)
{
	struct numbers known = numbers_new(mem, c->line_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->line_count; i++)
		if (numbers_add(&known, hash64(c->lines[i].key.b, UUID_BYTES), i) == i)
			chain_follow(c, count++, &c->lines[i]);
	c->line_count = count;
}

enum status chain_load_told(struct store *s, const struct session *session, int64_t offset, struct chain *out,
			    struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct telling t = { .chain = out };

	if (entry_agent(s, session->row, offset, &mem, &t.agent, err))
		return err_failed(err->status);
	out->is_agent = true;
	if (t.agent.n && entry_lines(s, session->row, take_told, &t, err))
		return err_failed(err->status);
	put_in_a_row(out, &mem);
	chain_build(out);
	return STATUS_OK;
}

/* ---- Records -------------------------------------------------------------------- */

void lines_init(struct lines *l, struct store *s, const struct session *session)
{
	*l = (struct lines){
		.store = s,
		.generation = session->generation,
		.end = session->read_to,
		.bytes = BUF_INIT((AHEAD_BLOCKS + 1) * LIMIT_BLOCK_MAX),
		.line = BUF_INIT(LIMIT_LINE_PARSED),
	};
}

void lines_release(struct lines *l)
{
	buf_release(&l->bytes);
	buf_release(&l->line);
	record_reader_release(&l->reader);
}

struct fetching {
	struct lines *l;
	int64_t from, to; /* wanted */
	bool in_order;	  /* it follows what was fetched before */
	int taken, announced;
	bool done;
};

/* What is wanted of the block in hand. */
static void take_bytes(struct fetching *f)
{
	struct lines *l = f->l;
	int64_t start = f->from > l->from ? f->from - l->from : 0;
	int64_t end = f->to - l->from < (int64_t)l->bytes.n ? f->to - l->from : (int64_t)l->bytes.n;

	if (start < end)
		buf_str(&l->line, str_sub(buf_as_str(&l->bytes), (size_t)start, (size_t)(end - start)));
}

static enum status take_wanted(struct fetching *f, const struct archive_block *b, struct err *err)
{
	struct lines *l = f->l;

	f->in_order |= l->bytes.n && l->from + (int64_t)l->bytes.n == b->offset;
	buf_clear(&l->bytes);
	if (archive_unpack(l->store, b, &l->bytes, err))
		return err_failed(err->status);
	l->from = b->offset;
	take_bytes(f);
	f->taken++;
	f->done = b->offset + b->length >= f->to;
	return STATUS_OK;
}

/* Who reads in order is going to want the blocks behind, too: a few are taken at once, and those
 * after them announced. Whether they can be read is told who asks for one. */
static void take_more(struct fetching *f, const struct archive_block *b)
{
	struct lines *l = f->l;
	size_t before = l->bytes.n;
	struct err unused;

	if (f->taken >= AHEAD_BLOCKS) {
		archive_ahead(l->store, b);
		f->in_order = ++f->announced < AHEAD_BLOCKS;
		return;
	}
	f->in_order = b->offset == l->from + (int64_t)before &&
		      archive_unpack(l->store, b, &l->bytes, &unused) == STATUS_OK;
	if (f->in_order)
		f->taken++;
	else
		l->bytes.n = before;
}

static enum status take_block(void *ctx, const struct archive_block *block, bool *go_on, struct err *err)
{
	struct fetching *f = ctx;
	struct archive_block whole = *block;

	/* What comes before in it is wanted as likely as what comes behind. */
	whole.offset -= whole.skip;
	whole.length += whole.skip;
	whole.skip = 0;
	if (f->done)
		take_more(f, &whole);
	else if (take_wanted(f, &whole, err))
		return err_failed(err->status);
	*go_on = !f->done || f->in_order;
	return STATUS_OK;
}

static enum status fetch(struct lines *l, int64_t offset, int64_t length, struct str *out, struct err *err)
{
	struct fetching f = { .l = l, .from = offset, .to = offset + length };

	if (l->bytes.n && offset >= l->from && f.to <= l->from + (int64_t)l->bytes.n) {
		*out = str_sub(buf_as_str(&l->bytes), (size_t)(offset - l->from), (size_t)length);
		return STATUS_OK;
	}
	buf_clear(&l->line);
	/* To the end of the file, so that blocks are not cut to what is wanted of them. */
	if (archive_blocks(l->store, l->generation, offset, l->end - offset, take_block, &f, err))
		return err_failed(err->status);
	*out = buf_as_str(&l->line);
	return out->n == (size_t)length ? STATUS_OK
					: err_fail(err, STATUS_CORRUPT, "a line is not all there");
}

enum status lines_get(struct lines *l, const struct chain_line *line, struct record *out, struct err *err)
{
	struct str text;

	if (fetch(l, line->offset, line->length, &text, err))
		return err_failed(err->status);
	record_begin(&l->reader, record_line(text, line->offset));
	if (!record_next(&l->reader, out))
		return err_fail(err, STATUS_CORRUPT, "a line has become empty");
	out->flags |= line->flags;
	return STATUS_OK;
}

/* ---- Of several transcripts ---------------------------------------------------------- */

void lines_set_release(struct lines_set *set)
{
	for (int i = 0; i < LINES_OPEN; i++)
		if (set->rows[i])
			lines_release(&set->open[i]);
}

struct lines *lines_set_of(struct lines_set *set, const struct session *session)
{
	int at = 0;

	for (int i = 0; i < LINES_OPEN && set->rows[at] != session->row; i++)
		if (set->rows[i] == session->row || set->used[i] < set->used[at])
			at = i;
	if (set->rows[at] != session->row) {
		if (set->rows[at])
			lines_release(&set->open[at]);
		lines_init(&set->open[at], set->store, session);
		set->rows[at] = session->row;
	}
	set->used[at] = ++set->uses;
	return &set->open[at];
}
