/*
 * Sifting lines.
 *
 * A line is known as a whole or not at all. Most are whole in the bytes at hand; of one that goes
 * over their end the rest is read ahead, and of one that began before them the beginning. What was
 * found out so is remembered, because the same line goes on in the bytes that are read next.
 *
 * What has no line feed behind it at the end of the file is a line: a purged one may be the last, and
 * be written without. The beginning of a purged line that is still being written is another
 * line. When it is complete, the archive has a part of it: ingest/follow.c overwrites that, too.
 */
#include "ingest/sieve.h"

#include "base/file.h"

#include <string.h>

enum { PIECE = 64 * 1024 };

enum status sieve_init(struct sieve *v, struct store *s, int64_t mark, struct err *err)
{
	*v = (struct sieve){ .store = s, .piece = BUF_INIT(PIECE), .fd = -1 };
	if (mark == 0)
		return STATUS_OK;
	if (tombstone_any_line(s, &v->any, err) || tombstone_salt(s, &v->salt, err))
		return err_failed(err->status);
	return STATUS_OK;
}

void sieve_release(struct sieve *v)
{
	buf_release(&v->piece);
}

void sieve_begin(struct sieve *v, int fd, int64_t size)
{
	v->fd = v->any ? fd : -1;
	v->size = size;
	v->line = (struct span){ -1, -1 };
}

/* ---- One line --------------------------------------------------------------- */

static enum status read_piece(struct sieve *v, int64_t offset, size_t n, struct err *err)
{
	size_t got;
	char *to;

	buf_clear(&v->piece);
	to = buf_reserve(&v->piece, n);
	if (!to)
		return err_fail(err, STATUS_INTERNAL, "a piece of %zu bytes", n);
	if (file_read_at(v->fd, offset, to, n, &got, err))
		return err_failed(err->status);
	buf_grew(&v->piece, got);
	return STATUS_OK;
}

/* Where the line begins that the byte at an offset is in. */
static enum status find_start(struct sieve *v, int64_t offset, int64_t *out, struct err *err)
{
	while (offset > 0) {
		int64_t from = offset > PIECE ? offset - PIECE : 0;
		size_t found;

		if (read_piece(v, from, (size_t)(offset - from), err))
			return err_failed(err->status);
		found = str_rfind(buf_as_str(&v->piece), '\n');
		if (found != SIZE_MAX) {
			*out = from + (int64_t)found + 1;
			return STATUS_OK;
		}
		offset = from;
	}
	*out = 0;
	return STATUS_OK;
}

struct looking {
	const struct sieve *v;
	bool goes;
};

static enum status take_hash(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct looking *l = ctx;

	return tombstone_of_line(l->v->store, line->hash, &l->goes, err);
}

/* The line that begins at an offset, read from the file. */
static enum status judge(struct sieve *v, int64_t start, struct err *err)
{
	struct looking l = { .v = v };
	struct line_hasher h;
	int64_t at = start, end = -1;

	line_hasher_begin(&h, &v->salt, start, take_hash, &l);
	while (end < 0 && at < v->size) {
		size_t n = size_min(PIECE, (size_t)(v->size - at)), feed;

		if (read_piece(v, at, n, err))
			return err_failed(err->status);
		feed = str_find(buf_as_str(&v->piece), '\n');
		if (feed != SIZE_MAX)
			end = at + (int64_t)feed;
		else if (v->piece.n < n) /* it has become shorter */
			end = at + (int64_t)v->piece.n;
		if (line_hasher_add(&h, str_sub(buf_as_str(&v->piece), 0, feed), err))
			return err_failed(err->status);
		at += (int64_t)v->piece.n;
	}
	if (line_hasher_end(&h, err))
		return err_failed(err->status);
	v->line = (struct span){ start, end < 0 ? v->size : end };
	v->line_goes = l.goes;
	return STATUS_OK;
}

/* The line feed counts as a part of its line. */
static bool is_in_hand(const struct sieve *v, int64_t offset)
{
	return v->line.from >= 0 && v->line.from <= offset && offset <= v->line.to;
}

enum status sieve_line(struct sieve *v, int64_t offset, struct span *line, bool *goes, struct err *err)
{
	int64_t start;

	if (v->fd < 0) {
		*line = (struct span){ offset, offset };
		*goes = false;
		return STATUS_OK;
	}
	if (!is_in_hand(v, offset) && (find_start(v, offset, &start, err) || judge(v, start, err)))
		return err_failed(err->status);
	*line = v->line;
	*goes = v->line_goes;
	return STATUS_OK;
}

/* ---- Many ------------------------------------------------------------------- */

struct sifting {
	struct sieve *v;
	int64_t offset;
	char *bytes;
	size_t n;
	sieve_fn *fn;
	void *ctx;
};

static void overwrite(const struct sifting *y, size_t from, size_t to)
{
	struct span span = { y->offset + (int64_t)from, y->offset + (int64_t)to };

	gap_fill(y->bytes + from, to - from);
	if (y->fn && from < to)
		y->fn(y->ctx, &span);
}

/* A line of which a part is not at hand; *at moves behind it. */
static enum status sift_part(struct sifting *y, size_t *at, struct err *err)
{
	struct span line;
	bool goes;
	size_t end;

	if (sieve_line(y->v, y->offset + (int64_t)*at, &line, &goes, err))
		return err_failed(err->status);
	end = size_min((size_t)(line.to - y->offset), y->n);
	if (goes)
		overwrite(y, *at, end);
	*at = end + 1;
	return STATUS_OK;
}

static enum status sift_whole(struct sifting *y, size_t from, size_t to, struct err *err)
{
	uint8_t hash[SHA256_BYTES];
	bool goes = false;

	if (line_hash(&y->v->salt, str_from(y->bytes + from, to - from), hash) &&
	    tombstone_of_line(y->v->store, hash, &goes, err))
		return err_failed(err->status);
	if (goes)
		overwrite(y, from, to);
	return STATUS_OK;
}

enum status sieve_bytes(struct sieve *v, int64_t offset, char *bytes, size_t n, sieve_fn *fn, void *ctx,
			struct err *err)
{
	struct sifting y = { v, offset, bytes, n, fn, ctx };
	size_t at = 0;
	bool began_before = offset > 0;

	if (v->fd < 0 || !n)
		return STATUS_OK;
	while (at < n) {
		const char *feed = memchr(bytes + at, '\n', n - at);
		size_t end = feed ? (size_t)(feed - bytes) : n;

		if (began_before || (!feed && offset + (int64_t)n < v->size)) {
			if (sift_part(&y, &at, err))
				return err_failed(err->status);
		} else {
			if (sift_whole(&y, at, end, err))
				return err_failed(err->status);
			at = end + 1;
		}
		began_before = false;
	}
	return STATUS_OK;
}
