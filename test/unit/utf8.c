/*
 * UTF-8 against a slow decoder that follows the table of the standard row by
 * row and shares nothing with the fast one.
 */
#include "base/utf8.h"
#include "t.h"

#include <string.h>

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/*
 * The reference. Table 3-7 of the Unicode Standard, row by row: a sequence is
 * well-formed when each byte lies between the row's bounds.
 */
static const struct row {
	size_t length;
	uint8_t low[4], high[4];
} rows[] = {
	{ 1, { 0x00 }, { 0x7F } },
	{ 2, { 0xC2, 0x80 }, { 0xDF, 0xBF } },
	{ 3, { 0xE0, 0xA0, 0x80 }, { 0xE0, 0xBF, 0xBF } },
	{ 3, { 0xE1, 0x80, 0x80 }, { 0xEC, 0xBF, 0xBF } },
	{ 3, { 0xED, 0x80, 0x80 }, { 0xED, 0x9F, 0xBF } },
	{ 3, { 0xEE, 0x80, 0x80 }, { 0xEF, 0xBF, 0xBF } },
	{ 4, { 0xF0, 0x90, 0x80, 0x80 }, { 0xF0, 0xBF, 0xBF, 0xBF } },
	{ 4, { 0xF1, 0x80, 0x80, 0x80 }, { 0xF3, 0xBF, 0xBF, 0xBF } },
	{ 4, { 0xF4, 0x80, 0x80, 0x80 }, { 0xF4, 0x8F, 0xBF, 0xBF } },
};

/* How many bytes at p fit the row from its beginning. */
static size_t fits(const struct row *row, const uint8_t *p, size_t n)
{
	size_t k = 0;

	while (k < row->length && k < n && p[k] >= row->low[k] && p[k] <= row->high[k])
		k++;
	return k;
}

/* As utf8_next(). A broken part is as long as the best fit of any row. */
static int32_t slow_next(struct str s, size_t *at)
{
	const uint8_t *p = (const uint8_t *)s.p + *at;
	size_t n = s.n - *at, longest = 1;

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t k = fits(&rows[i], p, n);

		longest = size_max(longest, k);
		if (k == rows[i].length) {
			static const uint32_t lead_value[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
			uint32_t value = p[0] - lead_value[k];

			for (size_t b = 1; b < k; b++)
				value = value * 64 + (p[b] - 0x80u);
			*at += k;
			return (int32_t)value;
		}
	}
	*at += longest;
	return UTF8_BAD;
}

/* Both decoders over the whole text; every step has to agree. */
static bool agree(struct str s)
{
	size_t fast = 0, slow = 0, valid = SIZE_MAX;

	while (slow < s.n) {
		size_t from = slow;
		int32_t want = slow_next(s, &slow);

		if (utf8_next(s, &fast) != want || fast != slow)
			return false;
		if (want == UTF8_BAD && valid == SIZE_MAX)
			valid = from;
	}
	if (valid == SIZE_MAX)
		valid = s.n;
	return utf8_valid_prefix(s) == valid && utf8_valid(s) == (valid == s.n);
}

/* An exact copy on the heap, so that a read behind the end is caught. */
static bool agree_exactly(const uint8_t *bytes, size_t n)
{
	char *copy = mem_alloc(n ? n : 1);
	bool same;

	memcpy(copy, bytes, n);
	same = agree(str_from(copy, n));
	mem_free(copy);
	return same;
}

TEST(every_scalar_value_survives_encoding_and_decoding)
{
	for (uint32_t c = 0; c < 0x110000; c++) {
		size_t want = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, at = 0;
		char bytes[4];
		struct str s = { bytes, 0 };

		if (c >= 0xD800 && c < 0xE000)
			continue;
		s.n = utf8_encode(c, bytes);
		NEED(s.n == want);
		NEED(utf8_next(s, &at) == (int32_t)c && at == s.n);
		NEED(utf8_valid(s) && agree(s));
		/* Every cut of it is one broken part. */
		for (size_t n = 1; n < s.n; n++) {
			at = 0;
			NEED(utf8_next(str_sub(s, 0, n), &at) == UTF8_BAD && at == n);
			NEED(utf8_valid_prefix(str_sub(s, 0, n)) == 0);
		}
	}
}

TEST(well_known_characters_have_their_bytes)
{
	char b[4];

	EQS(str_from(b, utf8_encode('A', b)), STR("A"));
	EQS(str_from(b, utf8_encode(0, b)), STR("\0"));
	EQS(str_from(b, utf8_encode(0xE4, b)), STR("\xC3\xA4"));
	EQS(str_from(b, utf8_encode(0x20AC, b)), STR("\xE2\x82\xAC"));
	EQS(str_from(b, utf8_encode(0x1F600, b)), STR("\xF0\x9F\x98\x80"));
	EQS(str_from(b, utf8_encode(0x10FFFF, b)), STR("\xF4\x8F\xBF\xBF"));
}

TEST(all_sequences_of_one_and_two_bytes_agree_with_the_reference)
{
	for (unsigned a = 0; a < 256; a++) {
		uint8_t one[] = { (uint8_t)a };

		NEED(agree_exactly(one, 1));
		for (unsigned b = 0; b < 256; b++) {
			uint8_t two[] = { (uint8_t)a, (uint8_t)b };

			NEED(agree_exactly(two, 2));
		}
	}
}

/* Bytes at every boundary of the table, and one inside each class. */
static const uint8_t edges[] = {
	0x00, 'a',  0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
	0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFD, 0xFE, 0xFF,
};

TEST(all_classes_of_three_and_four_bytes_agree_with_the_reference)
{
	for (unsigned a = 0; a < 256; a++)
		for (unsigned b = 0; b < 256; b++)
			for (size_t c = 0; c < COUNT(edges); c++) {
				uint8_t three[] = { (uint8_t)a, (uint8_t)b, edges[c] };

				NEED(agree(str_from((const char *)three, 3)));
			}
	for (size_t a = 0; a < COUNT(edges); a++)
		for (size_t b = 0; b < COUNT(edges); b++)
			for (size_t c = 0; c < COUNT(edges); c++)
				for (size_t d = 0; d < COUNT(edges); d++) {
					uint8_t four[] = { edges[a], edges[b], edges[c], edges[d] };

					NEED(agree(str_from((const char *)four, 4)));
				}
}

/* Up to 40 bytes: ASCII runs longer than a word, whole characters, and bytes
 * that are likely to break one. */
static size_t random_text(uint64_t *state, char *out)
{
	size_t want = next_random(state) % 37, n = 0;

	while (n < want) {
		uint64_t r = next_random(state);
		uint32_t c = (uint32_t)(r >> 32) % 0x110000;

		switch (r % 5) {
		case 0:
			out[n++] = (char)edges[(r >> 8) % COUNT(edges)];
			break;
		case 1:
			out[n++] = (char)(r >> 8);
			break;
		case 2:
			if (c < 0xD800 || c >= 0xE000)
				n += utf8_encode(c, out + n);
			break;
		default:
			out[n++] = (char)(' ' + (r >> 8) % 95);
		}
	}
	return n;
}

TEST(a_million_random_texts_agree_with_the_reference)
{
	uint64_t state = 1;
	size_t valid = 0;

	for (int i = 0; i < 1000000; i++) {
		char text[40];
		struct str s = { text, random_text(&state, text) };

		NEED(agree(s));
		valid += utf8_valid(s);
	}
	/* Both kinds were really seen. */
	CHECK(valid > 10000 && valid < 990000);
}

TEST(a_broken_byte_is_found_at_every_place_of_a_long_text)
{
	char text[64];

	for (size_t n = 1; n <= sizeof text; n++) {
		memset(text, 'x', sizeof text);
		CHECK(utf8_valid(str_from(text, n)));
		for (size_t i = 0; i < n; i++) {
			text[i] = '\x80';
			EQ(utf8_valid_prefix(str_from(text, n)), i);
			text[i] = 'x';
		}
	}
	CHECK(utf8_valid((struct str){ 0 }));
}

TEST(one_broken_character_becomes_one_replacement)
{
	static const struct {
		const char *broken, *want;
	} table[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F" },
		{ "a\xFFz", "a\uFFFDz" },
		{ "a\xC3", "a\uFFFD" },
		{ "a\xE2\x82z", "a\uFFFDz" },
		{ "\xF0\x9F\x98", "\uFFFD" },
		{ "\xC0\xAF", "\uFFFD\uFFFD" },
		{ "\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD" },
		{ "\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD" },
		{ "\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD" },
		/* The example of Unicode, table 3-8 and after */
		{ "\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64",
		  "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd" },
	};

	for (size_t i = 0; i < COUNT(table); i++) {
		struct buf out = BUF_INIT(100);

		utf8_repair(&out, str_of(table[i].broken));
		CHECK(!out.failed);
		EQS(buf_as_str(&out), str_of(table[i].want));
		buf_release(&out);
	}
}

TEST(repaired_text_is_valid_and_keeps_what_was)
{
	uint64_t state = 2;
	struct buf out = BUF_INIT(1000);

	for (int i = 0; i < 100000; i++) {
		char text[40];
		struct str s = { text, random_text(&state, text) };
		size_t from = 0, to = 0;

		buf_clear(&out);
		utf8_repair(&out, s);
		NEED(!out.failed && utf8_valid(buf_as_str(&out)));
		while (from < s.n) {
			int32_t c = slow_next(s, &from);

			NEED(to < out.n);
			NEED(slow_next(buf_as_str(&out), &to) == (c == UTF8_BAD ? 0xFFFD : c));
		}
		NEED(to == out.n);
	}
	buf_release(&out);
}

TEST(widths_are_what_terminals_draw)
{
	static const struct {
		uint32_t c;
		int width;
	} table[] = {
		{ 0x00, 0 },     { '\n', 0 },     { 0x1B, 0 },     { 0x1F, 0 },     { ' ', 1 },
		{ '~', 1 },      { 0x7F, 0 },     { 0x85, 0 },     { 0x9F, 0 },     { 0xA0, 1 },
		{ 0xAD, 1 },     { 0xE4, 1 },     { 0x2FF, 1 },    { 0x300, 0 },    { 0x36F, 0 },
		{ 0x370, 1 },    { 0x5D0, 1 },    { 0x5B0, 0 },    { 0x627, 1 },    { 0x64B, 0 },
		{ 0x915, 1 },    { 0x93E, 1 },    { 0x94D, 0 },    { 0xE01, 1 },    { 0xE31, 0 },
		{ 0x1100, 2 },   { 0x115F, 2 },   { 0x1160, 0 },   { 0x11FF, 0 },   { 0x1200, 1 },
		{ 0x200B, 0 },   { 0x200D, 0 },   { 0x2013, 1 },   { 0x202E, 0 },   { 0x20D0, 0 },
		{ 0x231A, 2 },   { 0x2500, 1 },   { 0x263A, 1 },   { 0x2705, 2 },   { 0x2713, 1 },
		{ 0x2800, 1 },   { 0x3000, 2 },   { 0x3042, 2 },   { 0x3099, 0 },   { 0x303F, 1 },
		{ 0x4E00, 2 },   { 0x9FFF, 2 },   { 0xAC00, 2 },   { 0xD7A3, 2 },   { 0xD7B0, 0 },
		{ 0xE000, 1 },   { 0xF900, 2 },   { 0xFE0F, 0 },   { 0xFF01, 2 },   { 0xFF61, 1 },
		{ 0xFFE0, 2 },   { 0xFFFD, 1 },   { 0x10000, 1 },  { 0x1D165, 1 },  { 0x1D167, 0 },
		{ 0x1F1E6, 1 },  { 0x1F300, 2 },  { 0x1F600, 2 },  { 0x1F680, 2 },  { 0x1F9E0, 2 },
		{ 0x1FAE0, 2 },  { 0x20000, 2 },  { 0x2FFFD, 2 },  { 0x3FFFD, 2 },  { 0xE0041, 0 },
		{ 0xE0100, 0 },  { 0x10FFFF, 1 },
	};

	for (size_t i = 0; i < COUNT(table); i++)
		if (utf8_width(table[i].c) != table[i].width)
			t_fail(t, __FILE__, __LINE__, "U+%04" PRIX32 " is %d wide, wanted %d", table[i].c,
			       utf8_width(table[i].c), table[i].width);
}

/* The tables of ranges are searched by halves: a range out of order would be
 * missed. Whole blocks, counted, show that none is. */
TEST(whole_blocks_have_the_width_of_their_script)
{
	static const struct {
		uint32_t first, last;
		int width;
	} blocks[] = {
		{ 0x0020, 0x007E, 1 },   { 0x00A0, 0x02FF, 1 },   { 0x0300, 0x036F, 0 },
		{ 0x0400, 0x0482, 1 },   { 0x1160, 0x11FF, 0 },   { 0x1AB0, 0x1ACE, 0 },
		{ 0x1DC0, 0x1DFF, 0 },   { 0x20D0, 0x20F0, 0 },   { 0x2500, 0x25FC, 1 },
		{ 0x2800, 0x28FF, 1 },   { 0x3400, 0x4DBF, 2 },   { 0x4E00, 0x9FFF, 2 },
		{ 0xAC00, 0xD7A3, 2 },   { 0xE000, 0xF8FF, 1 },   { 0xFE00, 0xFE0F, 0 },
		{ 0xFE20, 0xFE2F, 0 },   { 0xFF01, 0xFF60, 2 },   { 0x17000, 0x187F7, 2 },
		{ 0x1B170, 0x1B2FB, 2 }, { 0x1D400, 0x1D7FF, 1 }, { 0x1F5FB, 0x1F64F, 2 },
		{ 0x1F910, 0x1F93A, 2 }, { 0x20000, 0x2A6DF, 2 }, { 0xE0100, 0xE01EF, 0 },
	};

	for (size_t i = 0; i < COUNT(blocks); i++)
		for (uint32_t c = blocks[i].first; c <= blocks[i].last; c++)
			if (utf8_width(c) != blocks[i].width)
				t_fail(t, __FILE__, __LINE__, "U+%04" PRIX32 " is %d wide", c, utf8_width(c));
}

TEST(a_text_on_one_line_is_as_wide_as_it_may_be)
{
	static const struct {
		const char *text;
		int columns;
		const char *line;
	} cases[] = {
		{ "", 5, "" },
		{ "abc", 3, "abc" },
		{ "abcd", 3, "ab…" },
		{ "  a \n\t b  ", 9, "a b" },
		{ "a b", 2, "a…" },
		{ "日本語", 6, "日本語" },
		{ "日本語", 5, "日本…" },
		{ "日本語", 4, "日…" },
		{ "日本", 1, "…" },
		{ "e\xcc\x81" "e\xcc\x81", 2, "e\xcc\x81" "e\xcc\x81" },
		{ "\xff\xe6\x97", 9, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "abc", 0, "" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);
		int used = utf8_line(&out, str_of(cases[i].text), cases[i].columns), width = 0;

		EQS(buf_as_str(&out), str_of(cases[i].line));
		for (size_t at = 0; at < out.n;)
			width += utf8_width((uint32_t)utf8_next(buf_as_str(&out), &at));
		EQ(used, width);
		CHECK(used <= cases[i].columns);
	}
}

TESTS(CASE(every_scalar_value_survives_encoding_and_decoding),
      CASE(well_known_characters_have_their_bytes),
      CASE(all_sequences_of_one_and_two_bytes_agree_with_the_reference),
      CASE(all_classes_of_three_and_four_bytes_agree_with_the_reference),
      CASE(a_million_random_texts_agree_with_the_reference),
      CASE(a_broken_byte_is_found_at_every_place_of_a_long_text),
      CASE(one_broken_character_becomes_one_replacement),
      CASE(repaired_text_is_valid_and_keeps_what_was),
      CASE(a_text_on_one_line_is_as_wide_as_it_may_be),
      CASE(widths_are_what_terminals_draw),
      CASE(whole_blocks_have_the_width_of_their_script))
