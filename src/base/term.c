/*
 * The terminal filter.
 *
 * It looks at one code point at a time and never at sequences: a terminal can
 * only be made to act by a control character, so when none gets through it
 * does not matter which sequence it would have begun (CSI, OSC, DCS, or one
 * that is yet to be invented). What follows the control stays as text. For the
 * same reason chunks are easy: only a character cut in two has to wait.
 *
 * Invariants: the output is valid UTF-8; of C0, DEL and C1 it holds at most
 * newline and tab, and these in TERM_TEXT only; of the code points in
 * `unseen` it holds none. A term_stream carries a proper prefix of a valid
 * character, so at most three bytes.
 *
 * Not here: colours (a face adds its own afterwards), wrapping, look-alike
 * letters, piles of combining marks. The marks that stand for a control are
 * plain text: somebody can also write "<U+202E>" by hand, and nothing follows
 * from it.
 */
#include "base/term.h"

#include "base/utf8.h"

#include <string.h>

/*
 * Code points that show nothing or turn the text around them: the property
 * Default_Ignorable_Code_Point of DerivedCoreProperties.txt, and with it the
 * line and paragraph separators, the marks of interlinear notes and the
 * controls of Egyptian hieroglyphs. Left out are ZWJ and FE0E/FE0F (see the
 * header). Sorted.
 */
static const struct {
	uint32_t first, last;
} unseen[] = {
	{ 0x00AD, 0x00AD },   /* soft hyphen */
	{ 0x034F, 0x034F },   /* grapheme joiner */
	{ 0x061C, 0x061C },   /* Arabic letter mark */
	{ 0x115F, 0x1160 },   /* Hangul fillers */
	{ 0x17B4, 0x17B5 },   /* Khmer inherent vowels */
	{ 0x180B, 0x180F },   /* Mongolian selectors and separator */
	{ 0x200B, 0x200C },   /* zero-width space and non-joiner */
	{ 0x200E, 0x200F },   /* left-to-right and right-to-left mark */
	{ 0x2028, 0x202E },   /* separators; bidi embeddings and overrides */
	{ 0x2060, 0x206F },   /* invisible operators, bidi isolates */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xFE00, 0xFE0D },   /* variation selectors 1 to 14 */
	{ 0xFEFF, 0xFEFF },   /* byte order mark */
	{ 0xFFA0, 0xFFA0 },   /* half-width Hangul filler */
	{ 0xFFF0, 0xFFFB },   /* reserved; interlinear notes */
	{ 0x13430, 0x1343F }, /* Egyptian format controls */
	{ 0x1BCA0, 0x1BCA3 }, /* shorthand format controls */
	{ 0x1D173, 0x1D17A }, /* musical beams and slurs */
	{ 0xE0000, 0xE0FFF }, /* tags, variation selectors 17 to 256 */
};

static bool is_unseen(uint32_t c)
{
	for (size_t i = 0; i < COUNT(unseen) && c >= unseen[i].first; i++)
		if (c <= unseen[i].last)
			return true;
	return false;
}

/* Takes what utf8_next() gave; broken bytes do not pass. */
static bool passes(int32_t c, enum term_mode mode)
{
	if (c < 0x20)
		return mode == TERM_TEXT && (c == '\n' || c == '\t');
	return c < 0x7F || (c >= 0xA0 && !is_unseen((uint32_t)c));
}

/* Writes what stands for `bytes`, which decode to `c` and do not pass. */
static void show(struct buf *out, struct str bytes, int32_t c)
{
	char picture[4];

	if (c == UTF8_BAD) {
		for (size_t i = 0; i < bytes.n; i++)
			buf_printf(out, "<%02X>", (unsigned)(unsigned char)bytes.p[i]);
	} else if (c < 0x20 || c == 0x7F) {
		uint32_t code = c == 0x7F ? 0x2421 : 0x2400 + (uint32_t)c;

		buf_add(out, picture, utf8_encode(code, picture));
	} else {
		buf_printf(out, "<U+%04" PRIX32 ">", (uint32_t)c);
	}
}

/* Whether bytes that did not decode are the beginning of a character: they are
 * when they reach the end of the input and their first can lead one. */
static bool is_cut(struct str bytes)
{
	unsigned char lead = (unsigned char)bytes.p[0];

	return lead >= 0xC2 && lead <= 0xF4;
}

/* Filters `s` and returns how much of it: all, or with `more` to come, all but
 * a character that is cut at the end. Runs that pass are copied at once. */
static size_t filter(struct buf *out, struct str s, enum term_mode mode, bool more)
{
	size_t copied = 0, at = 0;

	while (at < s.n) {
		size_t from = at;
		int32_t c = utf8_next(s, &at);
		struct str bytes = str_sub(s, from, at - from);

		if (passes(c, mode))
			continue;
		buf_str(out, str_sub(s, copied, from - copied));
		copied = from;
		if (more && c == UTF8_BAD && at == s.n && is_cut(bytes))
			return copied;
		show(out, bytes, c);
		copied = at;
	}
	buf_str(out, str_sub(s, copied, SIZE_MAX));
	return s.n;
}

void term_filter(struct buf *out, struct str foreign, enum term_mode mode)
{
	filter(out, foreign, mode, false);
}

static void carry_set(struct term_stream *s, struct str rest)
{
	s->carried = rest.n;
	if (rest.n)
		memmove(s->carry, rest.p, rest.n);
}

void term_stream_add(struct term_stream *s, struct buf *out, struct str chunk)
{
	while (s->carried && chunk.n) {
		struct str carry;

		s->carry[s->carried++] = chunk.p[0];
		chunk = str_sub(chunk, 1, SIZE_MAX);
		carry = str_from(s->carry, s->carried);
		carry_set(s, str_sub(carry, filter(out, carry, s->mode, true), SIZE_MAX));
	}
	if (chunk.n)
		carry_set(s, str_sub(chunk, filter(out, chunk, s->mode, true), SIZE_MAX));
}

void term_stream_end(struct term_stream *s, struct buf *out)
{
	filter(out, str_from(s->carry, s->carried), s->mode, false);
	s->carried = 0;
}
