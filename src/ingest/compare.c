/*
 * Comparing a file with its archive by the hashes of the archived blocks: the
 * file is read once at the speed of the hash, nothing is unpacked until a block
 * differs. Only then is that one block unpacked to find the first byte.
 *
 * A quick look is not a proof. An edit in the middle of a large file that
 * leaves its beginning, its last 64 KiB and its length history intact goes
 * unseen until the file is compared whole (sync --force). Files up to
 * LIMIT_VERIFY_WHOLE are always compared whole.
 */
#include "ingest/compare.h"

#include "base/hash.h"

#include <string.h>

struct comparing {
	struct store *store;
	int fd;
	struct buf file;    /* bytes of the file */
	struct buf archive; /* bytes of a block, when unpacked */
	struct comparison result;
	bool differs;
};

static void comparing_release(struct comparing *c)
{
	buf_release(&c->file);
	buf_release(&c->archive);
}

static enum status read_file_part(struct comparing *c, const struct archive_block *b, struct err *err)
{
	size_t got;
	char *to;

	buf_clear(&c->file);
	to = buf_reserve(&c->file, (size_t)b->length);
	if (!to)
		return err_fail(err, STATUS_CORRUPT, "a block claims %" PRId64 " bytes", b->length);
	if (file_read_at(c->fd, b->offset, to, (size_t)b->length, &got, err))
		return err_failed(err->status);
	buf_grew(&c->file, got);
	return STATUS_OK;
}

/* How many leading bytes of the block the file has. */
static enum status common_part(struct comparing *c, const struct archive_block *b, size_t *out, struct err *err)
{
	bool whole = b->skip == 0 && b->length == b->stored;
	size_t n = 0;

	if (whole && c->file.n == (size_t)b->length && hash64(c->file.p, c->file.n) == b->hash) {
		*out = c->file.n;
		return STATUS_OK;
	}
	buf_clear(&c->archive);
	if (archive_unpack(c->store, b, &c->archive, err))
		return err_failed(err->status);
	while (n < c->file.n && c->file.p[n] == c->archive.p[n])
		n++;
	*out = n;
	return STATUS_OK;
}

static enum status compare_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct comparing *c = ctx;
	size_t same = 0;

	if (read_file_part(c, b, err) || common_part(c, b, &same, err))
		return err_failed(err->status);
	c->result.equal = b->offset + (int64_t)same;
	line_count_add(&c->result.lines, str_sub(buf_as_str(&c->file), 0, same));
	if (same < (size_t)b->length) {
		c->differs = true;
		*go_on = false;
	}
	return STATUS_OK;
}

/* First block and last ones. */
static enum status look_quickly(struct comparing *c, const struct generation *g, struct err *err)
{
	int64_t head = g->length < (int64_t)LIMIT_HEAD_HASH ? g->length : (int64_t)LIMIT_HEAD_HASH;
	int64_t tail = g->length > (int64_t)LIMIT_VERIFY_TAIL ? g->length - (int64_t)LIMIT_VERIFY_TAIL : 0;

	if (archive_blocks(c->store, g->row, 0, head, compare_block, c, err))
		return err_failed(err->status);
	if (!c->differs && archive_blocks(c->store, g->row, tail, g->length - tail, compare_block, c, err))
		return err_failed(err->status);
	return STATUS_OK;
}

enum status compare_file(struct store *s, int fd, int64_t size, const struct generation *g, bool quick,
			 struct comparison *out, struct err *err)
{
	struct comparing c CLEANUP(comparing_release) = {
		.store = s, .fd = fd, .file = BUF_INIT(LIMIT_BLOCK_MAX), .archive = BUF_INIT(LIMIT_BLOCK_MAX),
	};

	if (quick && size >= g->length) {
		if (look_quickly(&c, g, err))
			return err_failed(err->status);
		if (!c.differs) {
			out->equal = g->length;
			return generation_lines(s, g->row, &out->lines, err);
		}
		c.differs = false;
		c.result = (struct comparison){ 0 };
	}
	if (archive_blocks(s, g->row, 0, size < g->length ? size : g->length, compare_block, &c, err))
		return err_failed(err->status);
	*out = c.result;
	return STATUS_OK;
}
