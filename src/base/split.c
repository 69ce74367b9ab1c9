/*
 * One memchr a line; bytes are copied only where a line goes over the end of a
 * piece. Memory is bounded by the longest line that is kept.
 */
#include "base/split.h"

#include <string.h>

void split_begin(struct split *s, size_t most, int64_t at, split_fn *fn, void *ctx)
{
	*s = (struct split){ .fn = fn, .ctx = ctx, .at = at, .carry = BUF_INIT(most) };
}

void split_release(struct split *s)
{
	buf_release(&s->carry);
}

static bool in_hand(const struct split *s)
{
	return s->carry.n || s->too_long;
}

static void carry(struct split *s, struct str bytes)
{
	if (!in_hand(s))
		s->start = s->at;
	if (!s->too_long && bytes.n <= s->carry.max - s->carry.n) {
		buf_str(&s->carry, bytes);
		return;
	}
	if (!s->too_long) {
		s->too_long = true;
		sha256_init(&s->digest);
		sha256_add(&s->digest, s->carry.p, s->carry.n);
		buf_release(&s->carry);
	}
	sha256_add(&s->digest, bytes.p, bytes.n);
}

/* The line in hand is complete; s->at is where it ends. */
static bool end_line(struct split *s)
{
	uint8_t digest[SHA256_BYTES];
	struct split_line line = { .offset = s->start, .length = s->at - s->start };
	bool more;

	if (s->too_long) {
		sha256_end(&s->digest, digest);
		line.digest = digest;
	} else {
		line.text = buf_as_str(&s->carry);
	}
	s->too_long = false;
	more = s->fn(s->ctx, &line);
	buf_clear(&s->carry);
	return more;
}

static bool whole_line(struct split *s, struct str text)
{
	struct split_line line = { .text = text, .offset = s->at, .length = (int64_t)text.n };

	if (!text.p || text.n > s->carry.max) {
		carry(s, text);
		s->at += (int64_t)text.n;
		return end_line(s);
	}
	s->at += (int64_t)text.n;
	return s->fn(s->ctx, &line);
}

bool split_add(struct split *s, struct str piece)
{
	bool more = true;

	while (piece.n && more) {
		const char *end = memchr(piece.p, '\n', piece.n);
		size_t n = end ? (size_t)(end - piece.p) : piece.n;
		struct str text = str_sub(piece, 0, n);

		if (end && !in_hand(s)) {
			more = whole_line(s, text);
		} else {
			carry(s, text);
			s->at += (int64_t)n;
			more = !end || end_line(s);
		}
		s->at += end != NULL;
		piece = str_sub(piece, n + (end != NULL), SIZE_MAX);
	}
	return more;
}

struct str split_rest(const struct split *s)
{
	struct str none = { 0 };

	return s->too_long ? none : buf_as_str(&s->carry);
}

bool split_end(struct split *s)
{
	return !in_hand(s) || end_line(s);
}
