/*
 * Lines out of blocks. A line may go over several blocks; one that is too long to
 * be read is passed over, as it was when the session was read.
 */
#include "query/transcript.h"

#include "base/split.h"
#include "store/archive.h"

void transcript_init(struct transcript *t)
{
	*t = (struct transcript){ .bytes = BUF_INIT(LIMIT_BLOCK_MAX) };
}

void transcript_release(struct transcript *t)
{
	record_reader_release(&t->reader);
	buf_release(&t->bytes);
}

/* One call. */
struct lining {
	struct transcript *t;
	struct store *store;
	struct split split;
	transcript_fn *fn;
	void *ctx;
	bool go_on;
	enum status status; /* of the last call of fn */
	struct err *err;
};

static void lining_release(struct lining *l)
{
	split_release(&l->split);
}

static bool take_line(void *ctx, const struct split_line *line)
{
	struct lining *l = ctx;
	struct record record;

	record_begin(&l->t->reader, record_line(line->text, line->offset));
	while (l->go_on && record_next(&l->t->reader, &record)) {
		struct transcript_line out = { &record, &l->t->reader,
					       line->offset + (record.bytes.p - line->text.p) };

		l->status = l->fn(l->ctx, &out, &l->go_on, l->err);
		l->go_on &= l->status == STATUS_OK;
	}
	return l->go_on;
}

static enum status take_block(void *ctx, const struct archive_block *block, bool *go_on, struct err *err)
{
	struct lining *l = ctx;
	struct buf *bytes = &l->t->bytes;

	buf_clear(bytes);
	if (l->t->peek ? archive_peek(l->store, block, bytes, err)
		       : archive_unpack(l->store, block, bytes, err))
		return err_failed(err->status);
	*go_on = split_add(&l->split, buf_as_str(bytes));
	return l->status;
}

enum status transcript_each(struct transcript *t, struct store *s, const struct session *session,
			    int64_t from, int64_t to, transcript_fn *fn, void *ctx, struct err *err)
{
	struct lining l CLEANUP(lining_release) = {
		.t = t,
		.store = s,
		.fn = fn,
		.ctx = ctx,
		.go_on = true,
		.err = err,
	};

	split_begin(&l.split, LIMIT_LINE_PARSED, from, take_line, &l);
	if (archive_blocks(s, session->generation, from, to - from, take_block, &l, err))
		return err_failed(err->status);
	/* A range may end with its last line's last byte. */
	if (l.go_on)
		split_end(&l.split);
	return l.status;
}
