/*
 * The terminal filter: every byte, every code point, the sequences that do
 * harm, and streams cut anywhere.
 */
#include "base/term.h"
#include "base/utf8.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

static struct buf filtered(struct str s, enum term_mode mode)
{
	struct buf out = BUF_INIT((size_t)1 << 20);

	term_filter(&out, s, mode);
	return out;
}

/* No byte of the output, and no character, can act on a terminal. */
static bool is_harmless(struct str s, enum term_mode mode)
{
	if (!utf8_valid(s))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == 0x7F || (c < 0x20 && !(mode == TERM_TEXT && (c == '\n' || c == '\t'))))
			return false;
	}
	for (size_t at = 0; at < s.n;) {
		int32_t c = utf8_next(s, &at);

		if ((c >= 0x80 && c <= 0x9F) || (c >= 0x2028 && c <= 0x202E) || c == 0x200B ||
		    (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C || c == 0xFEFF ||
		    (c >= 0xE0000 && c <= 0xE0FFF))
			return false;
	}
	return true;
}

static void check(struct t *t, int line, struct str in, enum term_mode mode, struct str want)
{
	struct buf out = filtered(in, mode);

	t_eq_str(t, __FILE__, line, buf_as_str(&out), want, "filtered text");
	if (out.failed || !is_harmless(buf_as_str(&out), mode))
		t_fail(t, __FILE__, line, "the output can act on a terminal");
	buf_release(&out);
}

#define SHOWS(in, want) \
	do { \
		check(t, __LINE__, STR(in), TERM_TEXT, STR(want)); \
		check(t, __LINE__, STR(in), TERM_LINE, STR(want)); \
	} while (0)

TEST(ordinary_text_passes_unchanged)
{
	SHOWS("", "");
	SHOWS("plain text ~!@#$%^&*()_+ <b> \\x1b", "plain text ~!@#$%^&*()_+ <b> \\x1b");
	SHOWS("Grüße, 你好, こんにちは, שלום, مرحبا, हिन्दी", "Grüße, 你好, こんにちは, שלום, مرحبا, हिन्दी");
	SHOWS("│ ✓ ⠋ ⏺ ⎿ €", "│ ✓ ⠋ ⏺ ⎿ €");
	SHOWS("e\u0301", "e\u0301");
	SHOWS("\uFFFD\u00A0", "\uFFFD\u00A0");
	check(t, __LINE__, (struct str){ 0 }, TERM_TEXT, STR(""));
}

TEST(emoji_keep_their_joiner_and_selectors)
{
	SHOWS("👩\u200D💻 ❤\uFE0F ☎\uFE0E 👍🏽 🇩🇪", "👩\u200D💻 ❤\uFE0F ☎\uFE0E 👍🏽 🇩🇪");
}

TEST(newline_and_tab_are_kept_in_text_and_shown_in_a_line)
{
	check(t, __LINE__, STR("a\tb\nc"), TERM_TEXT, STR("a\tb\nc"));
	check(t, __LINE__, STR("a\tb\nc"), TERM_LINE, STR("a␉b␊c"));
	check(t, __LINE__, STR("a\r\n"), TERM_TEXT, STR("a␍\n"));
}

TEST(every_byte_alone_is_shown_or_passes)
{
	for (int mode = TERM_LINE; mode <= TERM_TEXT; mode++) {
		for (unsigned b = 0; b < 256; b++) {
			char in = (char)b, want[16];
			size_t n = 1;

			if (mode == TERM_TEXT && (b == '\n' || b == '\t'))
				want[0] = in;
			else if (b < 0x20)
				n = utf8_encode(0x2400 + b, want);
			else if (b == 0x7F)
				n = utf8_encode(0x2421, want);
			else if (b < 0x80)
				want[0] = in;
			else
				n = (size_t)snprintf(want, sizeof want, "<%02X>", b);
			check(t, __LINE__, str_from(&in, 1), (enum term_mode)mode, str_from(want, n));
		}
	}
}

TEST(all_bytes_in_a_row_are_harmless)
{
	char all[256];

	for (unsigned b = 0; b < 256; b++)
		all[b] = (char)b;
	for (int mode = TERM_LINE; mode <= TERM_TEXT; mode++) {
		struct buf out = filtered(str_from(all, sizeof all), (enum term_mode)mode);

		CHECK(is_harmless(buf_as_str(&out), (enum term_mode)mode));
		/* Each of the 128 bytes that are no text is there, in order. */
		CHECK(str_has_suffix(buf_as_str(&out), STR("<FB><FC><FD><FE><FF>")));
		buf_release(&out);
	}
}

TEST(every_c1_control_is_shown_by_name)
{
	for (uint32_t c = 0x80; c < 0xA0; c++) {
		char in[4], want[16];
		int n = snprintf(want, sizeof want, "<U+%04" PRIX32 ">", c);

		check(t, __LINE__, str_from(in, utf8_encode(c, in)), TERM_TEXT, str_from(want, (size_t)n));
	}
}

/* What the header promises to show, point by point. */
static const struct {
	uint32_t first, last;
} shown[] = {
	{ 0x80, 0x9F },       { 0xAD, 0xAD },       { 0x34F, 0x34F },     { 0x61C, 0x61C },
	{ 0x115F, 0x1160 },   { 0x17B4, 0x17B5 },   { 0x180B, 0x180F },   { 0x200B, 0x200C },
	{ 0x200E, 0x200F },   { 0x2028, 0x202E },   { 0x2060, 0x206F },   { 0x3164, 0x3164 },
	{ 0xFE00, 0xFE0D },   { 0xFEFF, 0xFEFF },   { 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFFB },
	{ 0x13430, 0x1343F }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
};

static bool is_shown(uint32_t c)
{
	for (size_t i = 0; i < COUNT(shown); i++)
		if (c >= shown[i].first && c <= shown[i].last)
			return true;
	return false;
}

TEST(every_other_code_point_passes_or_is_shown_by_number)
{
	struct buf out = BUF_INIT(100);

	for (uint32_t c = 0x80; c < 0x110000; c++) {
		char in[4], want[16];
		struct str s = { in, 0 };
		int n;

		if (c >= 0xD800 && c < 0xE000)
			continue;
		s.n = utf8_encode(c, in);
		n = snprintf(want, sizeof want, "<U+%04" PRIX32 ">", c);
		buf_clear(&out);
		term_filter(&out, s, TERM_TEXT);
		if (!str_eq(buf_as_str(&out), is_shown(c) ? str_from(want, (size_t)n) : s))
			t_fail(t, __FILE__, __LINE__, "U+%04" PRIX32 " became '%s'", c, out.p);
	}
	buf_release(&out);
}

TEST(sequences_that_act_on_a_terminal_become_text)
{
	SHOWS("\033[31mred\033[0m", "␛[31mred␛[0m");
	SHOWS("\033]0;title\007", "␛]0;title␇");
	SHOWS("\033]52;c;cm0gLXJm\007", "␛]52;c;cm0gLXJm␇");
	SHOWS("\033]8;;http://evil\033\\link\033]8;;\033\\", "␛]8;;http://evil␛\\link␛]8;;␛\\");
	SHOWS("\033P+q544e\033\\", "␛P+q544e␛\\");
	SHOWS("\033[6n\033[c\033Z", "␛[6n␛[c␛Z");
	SHOWS("\033[2J\033[H\033c", "␛[2J␛[H␛c");
	SHOWS("\033_apc\033\\\033^pm\033\\\033Xsos\033\\", "␛_apc␛\\␛^pm␛\\␛Xsos␛\\");
	SHOWS("over\rwrite\b\b", "over␍write␈␈");
	SHOWS("\016shifted\017\005", "␎shifted␏␅");
}

TEST(eight_bit_controls_become_text_in_both_codings)
{
	SHOWS("\xC2\x9B" "31m\xC2\x9D" "0;t\xC2\x9C\xC2\x90q", "<U+009B>31m<U+009D>0;t<U+009C><U+0090>q");
	SHOWS("\x9B" "31m\x9D" "0;t\x9C\x90q", "<9B>31m<9D>0;t<9C><90>q");
	SHOWS("\x85", "<85>");
}

TEST(text_that_reads_as_what_it_is_not_is_marked)
{
	SHOWS("user\u202E\u2066// admin\u2069\u2066", "user<U+202E><U+2066>// admin<U+2069><U+2066>");
	SHOWS("pay\u200Bpal\u00AD\uFEFF", "pay<U+200B>pal<U+00AD><U+FEFF>");
	SHOWS("hi\U000E0041\U000E007F", "hi<U+E0041><U+E007F>");
	SHOWS("x\u3164y\uFFA0z\u115F", "x<U+3164>y<U+FFA0>z<U+115F>");
	SHOWS("a\u2028b\u2029c", "a<U+2028>b<U+2029>c");
	SHOWS("a\U000E0100\uFE00b", "a<U+E0100><U+FE00>b");
}

TEST(broken_utf8_is_shown_byte_by_byte)
{
	SHOWS("a\xC3", "a<C3>");
	SHOWS("\xE2\x82z", "<E2><82>z");
	SHOWS("\xC0\x9B[31m", "<C0><9B>[31m");             /* ESC, overlong */
	SHOWS("\xE0\x80\x9B", "<E0><80><9B>");
	SHOWS("\xED\xA0\x80\xED\xB0\x80", "<ED><A0><80><ED><B0><80>"); /* surrogates */
	SHOWS("\xF4\x90\x80\x80\xFE\xFF", "<F4><90><80><80><FE><FF>");
	SHOWS("\xE2\033[31m", "<E2>␛[31m");                /* a lead byte swallows nothing */
}

TEST(a_full_buffer_fails_instead_of_growing)
{
	struct buf out = BUF_INIT(5);

	term_filter(&out, STR("\033\033"), TERM_TEXT);
	CHECK(out.failed && out.n <= 5);
	buf_release(&out);
}

/* An input with every kind of character and break in few bytes. */
#define MIXED "a\033\xC3\xA4\xE2\x80\xAE\xF0\x9F\x98\x80\xE2\x82\n\xC2\x9B\xF0\x9F\xFF\xE2\xC2"

static void add_exactly(struct term_stream *s, struct buf *out, struct str chunk)
{
	char *copy = mem_alloc(chunk.n ? chunk.n : 1);

	if (chunk.n)
		memcpy(copy, chunk.p, chunk.n);
	term_stream_add(s, out, str_from(copy, chunk.n));
	mem_free(copy);
}

/* Cuts behind byte i when bit i of `cuts` is set. */
static void stream_cut(struct str in, uint64_t cuts, enum term_mode mode, struct buf *out)
{
	struct term_stream s = { .mode = mode };
	size_t from = 0;

	buf_clear(out);
	for (size_t i = 0; i < in.n; i++) {
		if (cuts >> i & 1) {
			add_exactly(&s, out, str_sub(in, from, i + 1 - from));
			from = i + 1;
		}
	}
	add_exactly(&s, out, str_sub(in, from, SIZE_MAX));
	term_stream_end(&s, out);
}

TEST(every_chunking_of_an_input_gives_the_same_output)
{
	struct str in = STR(MIXED);
	struct buf out = BUF_INIT(1000);

	/* Windows of 13 bytes in all their chunkings, over both modes. */
	for (size_t from = 0; from + 13 <= in.n; from++) {
		struct str window = str_sub(in, from, 13);

		for (int mode = TERM_LINE; mode <= TERM_TEXT; mode++) {
			struct buf whole = filtered(window, (enum term_mode)mode);

			for (uint64_t cuts = 0; cuts < (uint64_t)1 << 12; cuts++) {
				stream_cut(window, cuts, (enum term_mode)mode, &out);
				NEED(str_eq(buf_as_str(&out), buf_as_str(&whole)));
			}
			buf_release(&whole);
		}
	}
	buf_release(&out);
}

TEST(byte_by_byte_and_in_two_parts_gives_the_same_output)
{
	struct str in = STR(MIXED);
	struct buf whole = filtered(in, TERM_TEXT), out = BUF_INIT(1000);

	CHECK(whole.n > in.n);
	stream_cut(in, UINT64_MAX, TERM_TEXT, &out);
	EQS(buf_as_str(&out), buf_as_str(&whole));
	for (size_t i = 0; i < in.n; i++) {
		stream_cut(in, (uint64_t)1 << i, TERM_TEXT, &out);
		EQS(buf_as_str(&out), buf_as_str(&whole));
	}
	buf_release(&out);
	buf_release(&whole);
}

TEST(every_lead_byte_waits_for_the_rest_of_its_character)
{
	struct buf out = BUF_INIT(100);

	for (uint32_t c = 0xA1; c < 0x110000; c += c < 0x800 ? 0x40 : c < 0x10000 ? 0x800 : 0x8000) {
		char in[4];
		struct str s = { in, 0 };

		if (c >= 0xD800 && c < 0xE000)
			continue;
		s.n = utf8_encode(c, in);
		stream_cut(s, UINT64_MAX, TERM_TEXT, &out);
		if (!is_shown(c))
			EQS(buf_as_str(&out), s);
	}
	buf_release(&out);
}

TEST(a_stream_holds_back_only_a_cut_character)
{
	struct term_stream s = { .mode = TERM_TEXT };
	struct buf out = BUF_INIT(100);

	term_stream_add(&s, &out, STR("ab\xE2\x82"));
	EQS(buf_as_str(&out), STR("ab"));
	term_stream_add(&s, &out, (struct str){ 0 });
	EQS(buf_as_str(&out), STR("ab"));
	term_stream_add(&s, &out, STR("\xAC\033"));
	EQS(buf_as_str(&out), STR("ab€␛"));
	term_stream_add(&s, &out, STR("\xFF"));
	EQS(buf_as_str(&out), STR("ab€␛<FF>"));
	term_stream_end(&s, &out);
	EQS(buf_as_str(&out), STR("ab€␛<FF>"));
	buf_release(&out);
}

TEST(a_stream_can_be_used_again_after_its_end)
{
	struct term_stream s = { .mode = TERM_LINE };
	struct buf out = BUF_INIT(100);

	term_stream_add(&s, &out, STR("\xF0\x9F\x98"));
	EQ(out.n, 0);
	term_stream_end(&s, &out);
	term_stream_end(&s, &out);
	EQS(buf_as_str(&out), STR("<F0><9F><98>"));
	term_stream_add(&s, &out, STR("\x80\n"));
	EQS(buf_as_str(&out), STR("<F0><9F><98><80>␊"));
	buf_release(&out);
}

TESTS(CASE(ordinary_text_passes_unchanged),
      CASE(emoji_keep_their_joiner_and_selectors),
      CASE(newline_and_tab_are_kept_in_text_and_shown_in_a_line),
      CASE(every_byte_alone_is_shown_or_passes),
      CASE(all_bytes_in_a_row_are_harmless),
      CASE(every_c1_control_is_shown_by_name),
      CASE(every_other_code_point_passes_or_is_shown_by_number),
      CASE(sequences_that_act_on_a_terminal_become_text),
      CASE(eight_bit_controls_become_text_in_both_codings),
      CASE(text_that_reads_as_what_it_is_not_is_marked),
      CASE(broken_utf8_is_shown_byte_by_byte),
      CASE(a_full_buffer_fails_instead_of_growing),
      CASE(every_chunking_of_an_input_gives_the_same_output),
      CASE(byte_by_byte_and_in_two_parts_gives_the_same_output),
      CASE(every_lead_byte_waits_for_the_rest_of_its_character),
      CASE(a_stream_holds_back_only_a_cut_character),
      CASE(a_stream_can_be_used_again_after_its_end))
