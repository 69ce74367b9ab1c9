/*
 * Lines out of blocks. A line may go over several blocks; one that is too long to
 * be read is passed over, as it was when the session was read.
 */
#include "query/transcript.h"

#include "base/split.h"
#include "store/archive.h"

struct lining {
	struct store *store;
	struct record_reader reader;
	struct split split;
	struct buf bytes; /* of a block */
	transcript_fn *fn;
	void *ctx;
	bool go_on;
	struct err *err;
};

static void lining_release(struct lining *l)
{
	record_reader_release(&l->reader);
	split_release(&l->split);
	buf_release(&l->bytes);
}

static bool take_line(void *ctx, const struct split_line *line)
{
	struct lining *l = ctx;
	struct record record;

	record_begin(&l->reader, line->text);
	while (l->go_on && record_next(&l->reader, &record)) {
		struct transcript_line out = { &record, &l->reader, line->offset + (record.bytes.p - line->text.p) };

		if (l->fn(l->ctx, &out, &l->go_on, l->err))
			return false;
	}
	return l->go_on;
}

static enum status take_block(void *ctx, const struct archive_block *block, bool *go_on, struct err *err)
{
	struct lining *l = ctx;

	buf_clear(&l->bytes);
	if (archive_unpack(l->store, block, &l->bytes, err))
		return err_failed(err->status);
	*go_on = split_add(&l->split, buf_as_str(&l->bytes));
	return l->go_on && !*go_on ? err_failed(err->status) : STATUS_OK;
}

enum status transcript_each(struct store *s, const struct session *session, int64_t from, int64_t to, transcript_fn *fn,
			    void *ctx, struct err *err)
{
	struct lining l CLEANUP(lining_release) = {
		.store = s, .bytes = BUF_INIT(LIMIT_BLOCK_MAX), .fn = fn, .ctx = ctx, .go_on = true, .err = err,
	};

	split_begin(&l.split, LIMIT_LINE_PARSED, from, take_line, &l);
	if (archive_blocks(s, session->generation, from, to - from, take_block, &l, err))
		return err_failed(err->status);
	/* A range may end with its last line's last byte. */
	return l.go_on && !split_end(&l.split) && l.go_on ? err_failed(err->status) : STATUS_OK;
}
