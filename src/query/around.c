/*
 * Neighbours of a line: prompts and answers, since calls and what tools printed would hide
 * what was going on. The flags of lines tell which these are, so only those are read that are
 * shown.
 *
 * They are those of its branch. In front of it that is what it hangs on, be it over a summary that the client went on
 * from; behind it what leads to where the conversation would go on, or, where that is on another branch, to the last
 * line that hangs on this one. Lines that hang on nothing and that nothing hangs on, as those of the queue, are on
 * each. A message inside of a progress line has no branch here: its neighbours are those of the file.
 */
#include "query/around.h"

#include "query/lines.h"

enum {
	SHOWN = 300,
	SAID = RECORD_PROMPT | RECORD_QUEUED | RECORD_COMMAND | RECORD_SPEAKS,
};

struct taking {
	struct transcript *transcript;
	struct store *store;
	const struct session *session;
	struct arena *mem;
	struct around_line *list;
	size_t count, most;
};

static enum status take_text(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct buf shown CLEANUP(buf_release) = BUF_INIT(MIB);
	struct taking *y = ctx;
	struct around_line *out = &y->list[y->count];
	struct block_cursor at = { 0 };
	struct record_block b;

	(void)err;
	*go_on = false;
	if ((line->record->flags & (RECORD_QUEUED | RECORD_META)) == (RECORD_QUEUED | RECORD_META))
		return STATUS_OK; /* a notification */
	out->place = record_is_typed(line->record->flags) || (line->record->flags & RECORD_ENQUEUED) ? PLACE_PROMPT
												      : PLACE_ANSWER;
	while (!shown.n && record_block(line->reader, line->record, &at, &b)) {
		if (b.kind != BLOCK_TEXT)
			continue;
		buf_clear(&text);
		block_said(line->reader, &b, &text);
		record_short(buf_as_str(&text), SHOWN, &shown);
	}
	if (!shown.n) {
		buf_clear(&text);
		record_text(line->reader, line->record, &text);
		record_short(buf_as_str(&text), SHOWN, &shown);
	}
	out->text = arena_str(y->mem, buf_as_str(&shown));
	return STATUS_OK;
}

static enum status take_line(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	struct taking *y = ctx;
	struct around_line *out = &y->list[y->count];
	struct node_name name;
	struct node line;

	if (y->count == y->most)
		return STATUS_OK;
	*out = (struct around_line){ 0 };
	if (entry_get(y->store, y->session->row, offset, y->mem, &line, &name, err) ||
	    entry_message(y->store, &line, &name, y->mem, &out->id, err) ||
	    transcript_each(y->transcript, y->store, y->session, offset, offset + length, take_text, y, err))
		return err_failed(err->status);
	out->at = line.at;
	y->count += out->text.n > 0;
	return STATUS_OK;
}

/* ---- The branch ---------------------------------------------------------------- */

static uint32_t above(const struct chain *c, uint32_t line)
{
	const struct chain_line *l = &c->lines[line];

	return l->parent == CHAIN_NONE && l->has_link ? chain_find(c, &l->link) : l->parent;
}

/* Marks a line and those it hangs on, up to one that is marked. */
static void mark_up(const struct chain *c, uint32_t line, bool *on)
{
	for (; line != CHAIN_NONE && !on[line]; line = above(c, line))
		on[line] = true;
}

/* The last line that hangs on one, or that itself. A parent stands in front, but for odd files. */
static uint32_t last_below(const struct chain *c, uint32_t line, struct arena *mem)
{
	bool *below = arena_alloc(mem, c->line_count);
	uint32_t last = line;

	for (uint32_t i = line; i < c->line_count; i++) {
		uint32_t up = above(c, i);

		below[i] = i == line || (up != CHAIN_NONE && up >= line && up < i && below[up]);
		if (below[i])
			last = i;
	}
	return last;
}

/* By line, whether it is on the branch of one. */
static const bool *branch_of(const struct chain *c, uint32_t line, struct arena *mem)
{
	bool *on = arena_alloc(mem, c->line_count), is_branched;

	for (uint32_t i = 0; i < c->line_count; i++)
		on[i] = false;
	mark_up(c, chain_leaf(c), on);
	is_branched = c->lines[line].has_key && !on[line];
	for (uint32_t i = 0; is_branched && i < c->line_count; i++)
		on[i] = false;
	if (is_branched)
		mark_up(c, last_below(c, line, mem), on);
	for (uint32_t i = 0; i < c->line_count; i++) {
		const struct chain_line *l = &c->lines[i];

		/* Of an answer all: its calls may run side by side. */
		if (l->answer != CHAIN_NONE && on[i])
			for (uint32_t k = c->answers[l->answer].first; k != CHAIN_NONE; k = c->lines[k].next)
				on[k] = true;
		on[i] |= !l->has_key;
	}
	return on;
}

static enum status take_branch(struct taking *y, const struct chain *c, const bool *on, uint32_t line, bool before,
			       struct err *err)
{
	for (uint32_t i = line; before ? i > 0 : i + 1 < c->line_count;) {
		const struct chain_line *l = &c->lines[before ? --i : ++i];

		if (y->count == y->most)
			break;
		if (on[i] && (l->flags & SAID) && take_line(y, l->offset, l->length, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- Both sides ---------------------------------------------------------------- */

/* `on` NULL = the line is in no chain. */
static enum status take_side(struct taking *y, const struct chain *c, const bool *on, int64_t offset, bool before,
			     struct around_line **list, size_t *count, struct err *err)
{
	y->list = arena_alloc(y->mem, (y->most + 1) * sizeof *y->list);
	y->count = 0;
	if (on ? take_branch(y, c, on, chain_line_at(c, offset), before, err)
	       : entry_near(y->store, y->session->row, offset, before, SAID, (int64_t)y->most, take_line, y, err))
		return err_failed(err->status);
	*list = y->list;
	*count = y->count;
	return STATUS_OK;
}

void around_reader_release(struct around_reader *r)
{
	chain_release(&r->chain);
}

enum status around_get(struct around_reader *r, struct transcript *t, struct store *s, const struct session *session,
		       int64_t offset, size_t most, struct arena *mem, struct around *out, struct err *err)
{
	struct taking y = { .transcript = t, .store = s, .session = session, .mem = mem, .most = most };
	struct arena own CLEANUP(arena_release) = ARENA_INIT;
	const bool *on;
	uint32_t line;

	*out = (struct around){ 0 };
	if (r->row != session->row) {
		chain_release(&r->chain);
		*r = (struct around_reader)AROUND_READER_INIT;
		if (chain_load(s, session, &r->chain, err))
			return err_failed(err->status);
		r->row = session->row;
	}
	line = chain_line_at(&r->chain, offset);
	on = line == CHAIN_NONE ? NULL : branch_of(&r->chain, line, &own);
	if (take_side(&y, &r->chain, on, offset, true, &out->before, &out->before_count, err) ||
	    take_side(&y, &r->chain, on, offset, false, &out->after, &out->after_count, err))
		return err_failed(err->status);
	/* The nearest was found first. */
	for (size_t i = 0; i < out->before_count / 2; i++) {
		struct around_line swap = out->before[i];

		out->before[i] = out->before[out->before_count - 1 - i];
		out->before[out->before_count - 1 - i] = swap;
	}
	return STATUS_OK;
}
