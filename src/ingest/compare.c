/*
 * Comparing a file with its archive by the hashes of the archived blocks: the
 * file is read once at the speed of the hash, nothing is unpacked until a block
 * differs. Only then is that one block unpacked to find the first byte.
 *
 * A block of the archive that can no longer be unpacked is not the end: what the
 * file has of it, its hash proves.
 *
 * The archive has no line that may not be kept. So where a block is as the file has it,
 * there is none in the file either, and only the lines of blocks that differ are
 * sifted (ingest/sieve.h) and compared again.
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
	struct sieve *sieve;
	int64_t generation;
	int fd;
	struct buf file;    /* bytes of the file */
	struct buf archive; /* bytes of a block, when unpacked */
	struct comparison *result;
	bool deep;
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

/* Unpacks a block; *readable says whether that was possible. */
static enum status try_unpack(struct comparing *c, const struct archive_block *b, bool *readable, struct err *err)
{
	enum status status;

	buf_clear(&c->archive);
	status = archive_unpack(c->store, b, &c->archive, err);
	*readable = status == STATUS_OK;
	return status == STATUS_CORRUPT ? STATUS_OK : status;
}

static enum status note_damage(struct comparing *c, const struct archive_block *b, struct err *err)
{
	struct comparison *r = c->result;
	bool readable;

	if (!c->deep || r->damaged_count == COMPARE_DAMAGED)
		return STATUS_OK;
	if (try_unpack(c, b, &readable, err))
		return err_failed(err->status);
	if (!readable)
		r->damaged[r->damaged_count++] = *b;
	return STATUS_OK;
}

static bool has_hash(const struct comparing *c, const struct archive_block *b)
{
	return b->skip == 0 && b->length == b->stored && c->file.n == (size_t)b->length &&
	       hash64(c->file.p, c->file.n) == b->hash;
}

/* How many leading bytes of the block the file has. */
static enum status common_part(struct comparing *c, const struct archive_block *b, size_t *out, struct err *err)
{
	bool readable, same = has_hash(c, b);
	size_t n = 0;

	if (!same && sieve_bytes(c->sieve, b->offset, c->file.p, c->file.n, NULL, NULL, err))
		return err_failed(err->status);
	if (same || has_hash(c, b)) {
		*out = c->file.n;
		return note_damage(c, b, err);
	}
	if (try_unpack(c, b, &readable, err))
		return err_failed(err->status);
	while (readable && n < c->file.n && c->file.p[n] == c->archive.p[n])
		n++;
	*out = n;
	return STATUS_OK;
}

static enum status count_lines(struct comparing *c, int64_t to, struct err *err)
{
	struct archive_block part = { 0 };

	c->result->lines = (struct line_count){ 0 };
	for (; part.offset < to; part.offset += part.length) {
		part.length = to - part.offset < (int64_t)LIMIT_BLOCK_TARGET ? to - part.offset
									     : (int64_t)LIMIT_BLOCK_TARGET;
		if (read_file_part(c, &part, err))
			return err_failed(err->status);
		line_count_add(&c->result->lines, buf_as_str(&c->file));
	}
	return STATUS_OK;
}

/* A line that may not be kept and differs in a later block than it begins in: unless what was the same
 * before is a gap, that is another line which begins like it. Then they differ from its beginning on. */
static enum status go_back(struct comparing *c, struct err *err)
{
	struct comparison *r = c->result;
	struct span line;
	bool goes, gap;

	if (sieve_line(c->sieve, r->equal, &line, &goes, err))
		return err_failed(err->status);
	line.to = r->equal;
	if (!goes || line.from == line.to)
		return STATUS_OK;
	if (gap_covers(c->store, c->generation, &line, &gap, err))
		return err_failed(err->status);
	if (gap)
		return STATUS_OK;
	r->equal = line.from;
	return count_lines(c, r->equal, err);
}

static enum status compare_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct comparing *c = ctx;
	size_t same = 0;

	if (read_file_part(c, b, err) || common_part(c, b, &same, err))
		return err_failed(err->status);
	c->result->equal = b->offset + (int64_t)same;
	line_count_add(&c->result->lines, str_sub(buf_as_str(&c->file), 0, same));
	if (same == (size_t)b->length)
		return STATUS_OK;
	c->differs = true;
	*go_on = false;
	return go_back(c, err);
}

static enum status compare_one_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	enum status status = compare_block(ctx, b, go_on, err);

	*go_on = false;
	return status;
}

/* First block and last ones. */
static enum status look_quickly(struct comparing *c, const struct generation *g, struct err *err)
{
	int64_t tail = g->length > (int64_t)LIMIT_VERIFY_TAIL ? g->length - (int64_t)LIMIT_VERIFY_TAIL : 0;

	if (archive_blocks(c->store, g->row, 0, g->length, compare_one_block, c, err))
		return err_failed(err->status);
	if (!c->differs && archive_blocks(c->store, g->row, tail, g->length - tail, compare_block, c, err))
		return err_failed(err->status);
	return STATUS_OK;
}

enum status compare_file(struct store *s, struct sieve *sieve, int fd, int64_t size,
			 const struct generation *g, enum compare_depth depth, struct comparison *out,
			 struct err *err)
{
	struct comparing c CLEANUP(comparing_release) = {
		.store = s,
		.sieve = sieve,
		.generation = g->row,
		.fd = fd,
		.file = BUF_INIT(LIMIT_BLOCK_MAX),
		.archive = BUF_INIT(LIMIT_BLOCK_MAX),
		.result = out,
		.deep = depth == COMPARE_DEEP,
	};
	bool counted;

	*out = (struct comparison){ 0 };
	if (depth == COMPARE_QUICK && size >= g->length) {
		if (look_quickly(&c, g, err))
			return err_failed(err->status);
		out->equal = g->length;
		if (generation_lines(s, g->row, &out->lines, &counted, err))
			return err_failed(err->status);
		if (!c.differs && counted)
			return STATUS_OK;
		*out = (struct comparison){ 0 };
	}
	return archive_blocks(s, g->row, 0, size < g->length ? size : g->length, compare_block, &c, err);
}
