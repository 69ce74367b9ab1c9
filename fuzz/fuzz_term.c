/*
 * The terminal filter and UTF-8 repair over any bytes.
 *
 * The first byte of the input chooses the mode and how the rest is cut into
 * chunks. What has to hold: the output cannot act on a terminal, filtering it
 * again changes nothing, chunks give what the whole gives, and repaired text
 * is valid and differs from valid text in nothing.
 */
#include "base/term.h"
#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert(): it has to hold in builds without assertions too. */
static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool may_act(int32_t c, enum term_mode mode)
{
	if (c == '\n' || c == '\t')
		return mode == TERM_LINE;
	return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C ||
	       (c >= 0x200B && c <= 0x200F && c != 0x200D) || (c >= 0x2028 && c <= 0x202E) ||
	       (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

static void check_harmless(struct str s, enum term_mode mode)
{
	for (size_t at = 0; at < s.n;) {
		int32_t c = utf8_next(s, &at);

		must(c != UTF8_BAD && !may_act(c, mode));
	}
}

/* Chunk lengths follow from a small generator that `seed` starts. */
static void check_chunks(struct str in, enum term_mode mode, unsigned seed, struct str whole)
{
	struct term_stream s = { .mode = mode };
	struct buf out = BUF_INIT(SIZE_MAX / 2);

	for (struct str rest = in; rest.n;) {
		size_t n;

		seed = seed * 1103515245u + 12345u;
		n = size_min(seed >> 16 & 7, rest.n);
		term_stream_add(&s, &out, str_sub(rest, 0, n));
		must(s.carried < sizeof s.carry);
		rest = str_sub(rest, n, SIZE_MAX);
	}
	term_stream_end(&s, &out);
	must(!out.failed && str_eq(buf_as_str(&out), whole));
	buf_release(&out);
}

static void check_repair(struct str in)
{
	struct buf out = BUF_INIT(SIZE_MAX / 2);
	size_t valid = utf8_valid_prefix(in);

	utf8_repair(&out, in);
	must(!out.failed && utf8_valid(buf_as_str(&out)));
	must(str_has_prefix(buf_as_str(&out), str_sub(in, 0, valid)));
	must((valid == in.n) == str_eq(buf_as_str(&out), in));
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf once = BUF_INIT(SIZE_MAX / 2), twice = BUF_INIT(SIZE_MAX / 2);
	enum term_mode mode;
	struct str in;

	if (size == 0)
		return 0;
	mode = data[0] & 1 ? TERM_TEXT : TERM_LINE;
	in = str_from((const char *)data + 1, size - 1);

	term_filter(&once, in, mode);
	must(!once.failed);
	check_harmless(buf_as_str(&once), mode);
	term_filter(&twice, buf_as_str(&once), mode);
	must(str_eq(buf_as_str(&once), buf_as_str(&twice)));
	check_chunks(in, mode, data[0], buf_as_str(&once));
	check_repair(in);
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
