/*
 * Neighbours of a line: prompts and answers, since calls and what tools printed would hide
 * what was going on. The flags of lines tell which these are, so only those are read that are
 * shown.
 */
#include "query/around.h"

enum { SHOWN = 300 };

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

static enum status take_side(struct taking *y, int64_t offset, bool before, struct around_line **list,
			     size_t *count, struct err *err)
{
	const unsigned said = RECORD_PROMPT | RECORD_QUEUED | RECORD_COMMAND | RECORD_SPEAKS;

	y->list = arena_alloc(y->mem, (y->most + 1) * sizeof *y->list);
	y->count = 0;
	if (entry_near(y->store, y->session->row, offset, before, said, (int64_t)y->most, take_line, y, err))
		return err_failed(err->status);
	*list = y->list;
	*count = y->count;
	return STATUS_OK;
}

enum status around_get(struct transcript *t, struct store *s, const struct session *session, int64_t offset,
		       size_t most, struct arena *mem, struct around *out, struct err *err)
{
	struct taking y = { .transcript = t, .store = s, .session = session, .mem = mem, .most = most };

	*out = (struct around){ 0 };
	if (take_side(&y, offset, true, &out->before, &out->before_count, err) ||
	    take_side(&y, offset, false, &out->after, &out->after_count, err))
		return err_failed(err->status);
	/* The nearest was found first. */
	for (size_t i = 0; i < out->before_count / 2; i++) {
		struct around_line swap = out->before[i];

		out->before[i] = out->before[out->before_count - 1 - i];
		out->before[out->before_count - 1 - i] = swap;
	}
	return STATUS_OK;
}
