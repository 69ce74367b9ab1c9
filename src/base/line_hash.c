/*
 * The key is hashed once: with one of 64 bytes, which is a block of SHA-256, a line costs no
 * more than without. Only a line that goes over the end of a piece is hashed bit by bit, so
 * memory does not depend on how long lines are.
 */
#include "base/line_hash.h"

#include <string.h>

struct line_salt line_salt_of(struct str key)
{
	struct line_salt k;

	sha256_init(&k.sha);
	sha256_add(&k.sha, key.p, key.n);
	return k;
}

/* Mostly the first byte tells. */
static bool is_solid(struct str bytes)
{
	for (size_t i = 0; i < bytes.n; i++)
		if (!strchr(" \t\r\n", bytes.p[i]) || bytes.p[i] == '\0')
			return true;
	return false;
}

bool line_hash(const struct line_salt *salt, struct str line, uint8_t out[SHA256_BYTES])
{
	struct sha sha = salt->sha;

	if (!is_solid(line))
		return false;
	sha256_add(&sha, line.p, line.n);
	sha256_end(&sha, out);
	return true;
}

void line_hasher_begin(struct line_hasher *h, const struct line_salt *salt, int64_t at, line_hash_fn *fn,
		       void *ctx)
{
	*h = (struct line_hasher){ .salt = salt, .fn = fn, .ctx = ctx, .at = at };
}

static bool is_wanted(const struct line_hasher *h, int64_t length)
{
	unsigned bit = line_length_bit(length);

	return !h->lengths || (h->lengths[bit / 64] >> bit % 64 & 1);
}

static enum status whole_line(struct line_hasher *h, struct str line, struct err *err)
{
	uint8_t hash[SHA256_BYTES];

	if (!is_wanted(h, (int64_t)line.n) || !line_hash(h->salt, line, hash))
		return STATUS_OK;
	return h->fn(h->ctx, &(struct hashed_line){ h->at, (int64_t)line.n, line, hash }, err);
}

static void carry(struct line_hasher *h, struct str bytes)
{
	if (!h->open) {
		h->open = true;
		h->solid = false;
		h->start = h->at;
		h->sha = h->salt->sha;
	}
	h->solid = h->solid || is_solid(bytes);
	sha256_add(&h->sha, bytes.p, bytes.n);
}

/* The line in hand is complete; h->at is where it ends. */
static enum status end_line(struct line_hasher *h, struct err *err)
{
	uint8_t hash[SHA256_BYTES];

	h->open = false;
	if (!h->solid || !is_wanted(h, h->at - h->start))
		return STATUS_OK;
	sha256_end(&h->sha, hash);
	return h->fn(h->ctx,
		     &(struct hashed_line){ .offset = h->start, .length = h->at - h->start, .hash = hash },
		     err);
}

static enum status add_line(struct line_hasher *h, struct str text, bool ends, struct err *err)
{
	enum status status = STATUS_OK;

	if (ends && !h->open) {
		status = whole_line(h, text, err);
		h->at += (int64_t)text.n;
	} else {
		carry(h, text);
		h->at += (int64_t)text.n;
		if (ends)
			status = end_line(h, err);
	}
	h->at += ends;
	return status;
}

enum status line_hasher_add(struct line_hasher *h, struct str piece, struct err *err)
{
	while (piece.n) {
		const char *end = memchr(piece.p, '\n', piece.n);
		size_t n = end ? (size_t)(end - piece.p) : piece.n;

		if (add_line(h, str_sub(piece, 0, n), end != NULL, err))
			return err_failed(err->status);
		piece = str_sub(piece, n + (end != NULL), SIZE_MAX);
	}
	return STATUS_OK;
}

enum status line_hasher_end(struct line_hasher *h, struct err *err)
{
	return h->open ? end_line(h, err) : STATUS_OK;
}
