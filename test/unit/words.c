/*
 * The tokenizer. Its rules are data (test/table/words.test); what is here are
 * properties: a plain reimplementation for ASCII, both scanning variants, every
 * code point against utf8proc, limits, and words_check.h over texts made up of
 * whatever is difficult.
 */
#include "t.h"
#include "words_check.h"

#include "base/fold.h"
#include "base/limits.h"
#include "base/words_scan.h"

#include <stdio.h>

/* ---- Helpers ---- */

/* An exact copy, so that a sanitizer sees a read behind the end. */
static void check_text(struct t *t, struct str text, const char *where, int line)
{
	char *exact = mem_alloc(text.n + !text.n);
	const char *broken;

	if (text.n)
		memcpy(exact, text.p, text.n);
	broken = words_check(str_from(exact, text.n));
	if (broken)
		t_fail(t, where, line, "does not hold: %s, for '%.*s'", broken, (int)size_min(text.n, 400), exact);
	mem_free(exact);
}

struct random {
	uint64_t state;
};

static unsigned below(struct random *r, unsigned limit)
{
	r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(r->state >> 33) % limit;
}

static void add_point(struct buf *out, uint32_t c)
{
	char bytes[4];

	buf_add(out, bytes, utf8_encode(c, bytes));
}

static bool is_scalar(uint32_t c)
{
	return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
}

/* ---- The table ---- */

static uint32_t hex(struct str digits)
{
	uint32_t value = 0;

	for (size_t i = 0; i < digits.n; i++) {
		unsigned c = (unsigned char)digits.p[i];

		value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return value;
}

static void unescape(struct str s, struct buf *out)
{
	for (size_t i = 0; i < s.n; i++) {
		struct str rest = str_sub(s, i, SIZE_MAX);

		if (str_has_prefix(rest, STR("\\x"))) {
			buf_byte(out, (char)hex(str_sub(rest, 2, 2)));
			i += 3;
		} else if (str_has_prefix(rest, STR("\\u{"))) {
			size_t end = size_min(str_find(rest, '}'), rest.n - 1);

			add_point(out, hex(str_sub(rest, 3, end - 3)));
			i += end;
		} else {
			buf_byte(out, s.p[i]);
		}
	}
}

/* The words as the table writes them, with the ranges that `want` has. */
struct told {
	struct buf got;
	struct str want; /* not yet told */
};

static void tell(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct told *told = ctx;
	struct str want = str_cut(told->want, ' ', &told->want);

	if (told->got.n)
		buf_byte(&told->got, ' ');
	if (flags & WORD_COLOCATED)
		buf_byte(&told->got, '+');
	buf_str(&told->got, word);
	if (str_has_byte(want, '@'))
		buf_printf(&told->got, "@%zu-%zu", start, end);
}

static void run_case(struct t *t, int line, struct str title, struct str text_line, struct str want_line)
{
	struct buf text = BUF_INIT(1 * MIB), want = BUF_INIT(1 * MIB);
	struct told told = { .got = BUF_INIT(1 * MIB) };

	unescape(text_line, &text);
	unescape(want_line, &want);
	told.want = buf_as_str(&want);
	words_split(buf_as_str(&text), tell, &told);
	if (!str_eq(buf_as_str(&told.got), buf_as_str(&want)))
		t_fail(t, "words.test", line, "%.*s: the words are '%.*s'", STR_ARG(title),
		       STR_ARG(buf_as_str(&told.got)));
	check_text(t, buf_as_str(&text), "words.test", line);
	buf_release(&text);
	buf_release(&want);
	buf_release(&told.got);
}

TEST(the_table_of_cases_holds)
{
	struct buf table;
	struct str rest, title, text, want;
	int line = 0, cases = 0;

	NEED(t_read_file(t, "test/table/words.test", &table));
	for (rest = buf_as_str(&table); rest.n;) {
		title = str_cut(rest, '\n', &rest);
		line++;
		if (title.n == 0 || title.p[0] == '#')
			continue;
		text = str_cut(rest, '\n', &rest);
		want = str_cut(rest, '\n', &rest);
		run_case(t, line, title, text, want);
		line += 2;
		cases++;
	}
	CHECK(cases > 60);
	buf_release(&table);
}

/* ---- ASCII ---- */

static void plain_word(struct buf *out, struct str word, unsigned flag)
{
	size_t n = size_min(word.n, WORD_MAX);

	buf_byte(out, (char)(n | flag));
	for (size_t i = 0; i < n; i++)
		buf_byte(out, (char)(word.p[i] | 0x20));
}

/* The rules for one run of ASCII, byte by byte. */
static void plain_run(struct buf *out, struct str run)
{
	size_t starts[80] = { 0 }, parts = 1;
	bool upper = false, lower = false, digit = false;

	for (size_t i = 0; i < run.n; i++) {
		char c = run.p[i], before = i ? run.p[i - 1] : ' ', next = i + 1 < run.n ? run.p[i + 1] : ' ';
		bool is_upper = c >= 'A' && c <= 'Z', upper_before = before >= 'A' && before <= 'Z';

		upper |= is_upper;
		lower |= c >= 'a';
		digit |= c <= '9';
		if (i && is_upper && (!upper_before || next >= 'a') && parts < COUNT(starts))
			starts[parts++] = i;
	}
	if (parts > 16 || (run.n > 48 && upper && lower && digit))
		parts = 1;
	for (size_t i = 0; i < parts; i++) {
		size_t end = i + 1 < parts ? starts[i + 1] : run.n;

		plain_word(out, str_sub(run, starts[i], end - starts[i]), 0);
		if (parts > 1 && (i == 0 || i + 1 == parts))
			plain_word(out, run, 0x80);
	}
}

/* Behind what colours or clears, if that stands here. */
static size_t behind_colour(struct str text, size_t at)
{
	size_t end = at + 2;

	if (!str_has_prefix(str_sub(text, at, SIZE_MAX), STR("\x1b[")))
		return at;
	while (end < text.n && strchr("0123456789;:", text.p[end]))
		end++;
	return end < text.n && strchr("mK", text.p[end]) ? end + 1 : at;
}

static void plain_words(struct buf *out, struct str text)
{
	for (size_t at = 0; at < text.n;) {
		size_t start = at;

		while (at < text.n && words_is_ascii(text.p[at]))
			at++;
		if (at > start)
			plain_run(out, str_sub(text, start, at - start));
		else
			at = size_max(at + 1, behind_colour(text, at));
	}
}

TEST(random_ascii_gives_what_the_rules_say_byte_by_byte)
{
	static const char letters[] = "abcdxyzABCXYZ0189@[`{/:_- .m;K\x1b\x1b\x1b\x1b[[[[";
	struct buf text = BUF_INIT(1 * MIB), want = BUF_INIT(1 * MIB);
	struct random r = { 7 };

	for (int round = 0; round < 20000; round++) {
		unsigned n = below(&r, round % 10 ? 100 : 500), rare = 1 + below(&r, 60);

		buf_clear(&text);
		buf_clear(&want);
		for (unsigned i = 0; i < n; i++)
			buf_byte(&text, letters[below(&r, below(&r, rare) ? 17 : sizeof letters - 1)]);
		plain_words(&want, buf_as_str(&text));
		if (!words_same(buf_as_str(&text), buf_as_str(&want)))
			t_fail(t, __FILE__, __LINE__, "'%.*s'", STR_ARG(buf_as_str(&text)));
	}
	buf_release(&text);
	buf_release(&want);
}

TEST(both_scanning_variants_agree)
{
	char bytes[SCAN_ROOM], quick[SCAN_BLOCK], plain[SCAN_BLOCK];
	struct random r = { 11 };

	for (unsigned round = 0; round < 20000; round++) {
		struct scan a, b;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (char)(round < 256 ? round + i : below(&r, 256));
		scan_block(bytes, &a);
		scan_block_plain(bytes, &b);
		NEED(a.upper == b.upper && a.lower == b.lower && a.digit == b.digit && a.high == b.high);
		scan_copy(quick, bytes, sizeof quick);
		scan_copy_plain(plain, bytes, sizeof plain);
		NEED(memcmp(quick, plain, sizeof quick) == 0);
	}
}

/* ---- Folding ---- */

/* utf8proc's own way to lower case without marks, for letters with accents. */
TEST(accented_latin_letters_fold_as_unicode_says)
{
	for (uint32_t c = 0xC0; c < 0x250; c++) {
		struct folded got[FOLD_MAX];
		size_t n = fold_point((int32_t)c, got);
		char source[5] = { 0 };
		struct buf folded = BUF_INIT(100);
		utf8proc_uint8_t *want;

		utf8_encode(c, source);
		NEED(utf8proc_map((const utf8proc_uint8_t *)source, 0, &want,
				  UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
					  UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK) > 0);
		for (size_t i = 0; i < n; i++)
			add_point(&folded, got[i].c);
		if (!str_eq(buf_as_str(&folded), str_of((const char *)want)))
			t_fail(t, __FILE__, __LINE__, "U+%04" PRIX32 " folds to %.*s", c,
			       STR_ARG(buf_as_str(&folded)));
		buf_release(&folded);
		free(want);
	}
}

TEST(case_is_that_of_the_letter_before_folding)
{
	static const struct {
		int32_t c;
		enum fold_kind kind;
	} table[] = {
		{ 'a', FOLD_LOWER },     { 'Z', FOLD_UPPER },     { '7', FOLD_DIGIT },     { '_', FOLD_BREAK },
		{ 0xC9, FOLD_UPPER },    { 0xE9, FOLD_LOWER },    { 0xDF, FOLD_LOWER },    { 0x1E9E, FOLD_UPPER },
		{ 0x1C5, FOLD_UPPER },   { 0xFF21, FOLD_UPPER },  { 0x5D0, FOLD_LETTER },  { 0x661, FOLD_DIGIT },
		{ 0x4E00, FOLD_PAIRED }, { 0xAC00, FOLD_PAIRED }, { 0xFF76, FOLD_PAIRED }, { 0x94D, FOLD_MARK },
		{ 0x2705, FOLD_PICTURE }, { 0x2192, FOLD_BREAK }, { UTF8_BAD, FOLD_BREAK },
	};

	for (size_t i = 0; i < COUNT(table); i++) {
		struct folded got[FOLD_MAX];

		NEED(fold_point(table[i].c, got) > 0);
		EQ(got[0].kind, table[i].kind);
	}
}

/* Alone, between letters, and behind a base that it might combine with. */
TEST(every_code_point_gives_the_same_words_in_every_spelling)
{
	struct buf text = BUF_INIT(1 * MIB);

	for (uint32_t c = 0; c <= 0x10FFFF; c++) {
		if (!is_scalar(c) || (c > 0x30000 && c % 64))
			continue;
		add_point(&text, c);
		buf_text(&text, " x");
		add_point(&text, c);
		buf_text(&text, "Y \xE3\x82\xAB");
		add_point(&text, c);
		buf_text(&text, " \xD8\xA3\xD9\x90");
		add_point(&text, c);
		buf_byte(&text, ' ');
		if (c % 16 == 15) {
			check_text(t, buf_as_str(&text), __FILE__, (int)c);
			buf_clear(&text);
		}
	}
	buf_release(&text);
}

TEST(all_hangul_syllables_are_put_together)
{
	for (uint32_t c = 0xAC00; c <= 0xD7A3; c++) {
		uint32_t i = c - 0xAC00, lead = 0x1100 + i / 588, vowel = 0x1161 + i / 28 % 21, tail = 0x11A7 + i % 28;
		uint32_t got = fold_hangul(lead, vowel);

		if (i % 28)
			got = fold_hangul(got, tail);
		NEED(got == c);
	}
	CHECK(fold_hangul('a', 0x1161) == 0 && fold_hangul(0x1100, 0x11A8) == 0);
	CHECK(fold_hangul(0xAC01, 0x11A8) == 0 && fold_hangul(0xAC00, 0x11A7) == 0);
}

/* ---- Any text ---- */

/* Pieces that are difficult next to each other. */
static const char *const pieces[] = {
	"a",	    "B",	"7",	    " ",	"_",	   "foo",      "Bar",	   "HTTP",     "\xC3\xA9",
	"\xC3\x89", "e\xCC\x81", "\xCC\x81", "\xD9\x90", "\xD9\x94", "\xD8\xA3", "\xD8\xA7", "\xCD\x8F", "\xCD\x85",
	"\xE6\x9D\xB1", "\xE3\x82\xAC", "\xE3\x82\xAB", "\xE3\x82\x99", "\xEF\xBD\xB6", "\xEF\xBE\x9E",
	"\xED\x95\x9C", "\xE1\x84\x92", "\xE1\x85\xA1", "\xE1\x86\xAB", "\xE0\xB8\x99", "\xE0\xB8\xB3",
	"\xE0\xB8\xB5", "\xE0\xB9\x88", "\xF0\x9F\x8E\x89", "\xEF\xB8\x8F", "\xE2\x80\x8D", "\xE2\x80\x94",
	"\xE2\x89\xA0", "=\xCC\xB8", "\xC3\x9F", "\xEF\xAC\x81", "\xC7\x85", "\xEF\xB7\xBA", "\xC2\xBD",
	"\xFF",	    "\xC3",	"\xE2\x80", "\xC4\xB0", "\xE1\xBE\xB4", "\xE0\xA4\x95", "\xE0\xA4\xBF",
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789",
};

TEST(random_texts_of_difficult_pieces_hold_what_has_to_hold)
{
	struct buf text = BUF_INIT(1 * MIB);
	struct random r = { 23 };

	for (int round = 0; round < 6000; round++) {
		unsigned n = below(&r, 40), some = 1 + below(&r, COUNT(pieces));

		buf_clear(&text);
		for (unsigned i = 0; i < n; i++)
			buf_text(&text, pieces[(some + below(&r, round % 2 ? 5 : COUNT(pieces))) % COUNT(pieces)]);
		check_text(t, buf_as_str(&text), __FILE__, __LINE__);
	}
	buf_release(&text);
}

TEST(a_word_at_every_place_of_a_block_is_found)
{
	static const char *const words[] = { "fooBar", "\xC3\xA9t\xC3\xA9", "x\xE2\x80\x94y", "HTTPServer1" };
	struct buf text = BUF_INIT(1 * MIB);

	for (size_t i = 0; i < COUNT(words); i++)
		for (int before = 0; before < 140; before++)
			for (int behind = 0; behind < 3; behind++) {
				buf_clear(&text);
				for (int k = 0; k < before; k++)
					buf_byte(&text, before % 2 ? ' ' : 'q');
				buf_text(&text, words[i]);
				for (int k = 0; k < behind * 40; k++)
					buf_byte(&text, '.');
				check_text(t, buf_as_str(&text), __FILE__, __LINE__);
			}
	buf_release(&text);
}

/* ---- Limits ---- */

static struct str repeat(struct buf *out, const char *piece, size_t bytes)
{
	buf_clear(out);
	while (out->n < bytes)
		buf_text(out, piece);
	return buf_as_str(out);
}

/* Anything but linear time would not end. */
TEST(floods_are_words_like_others)
{
	static const char *const letters[] = {
		"a", "aB", "aB1", "A", "\xC3\xA9", "a\xCC\x81", "\xD9\x91\xD9\x90",
	};
	struct buf text = BUF_INIT(64 * MIB), packed = BUF_INIT(64 * MIB);

	for (size_t i = 0; i < COUNT(letters); i++) {
		buf_clear(&packed);
		EQ(words_pack(&packed, repeat(&text, letters[i], 10 * MIB)), 1);
		EQ(packed.n, 1 + WORD_MAX);
	}
	EQ(words_pack(&packed, repeat(&text, "\xCC\x81", 10 * MIB)), 0);
	repeat(&text, "\xE6\x9D\xB1", 3 * MIB);
	EQ(words_pack(&packed, buf_as_str(&text)), MIB);
	repeat(&text, "a\xE2\x80\x94", 4 * MIB);
	EQ(words_pack(&packed, buf_as_str(&text)), MIB);
	buf_release(&text);
	buf_release(&packed);
}

/* 100 marks of two orders on one letter: the word is the letter and as many of
 * the lower order as fit, whatever came first. */
TEST(of_too_many_marks_the_first_in_canonical_order_are_kept)
{
	static const char low[] = "\xD9\x90", high[] = "\xD9\x94";
	struct buf text = BUF_INIT(1 * MIB), want = BUF_INIT(1 * MIB);

	for (int turned = 0; turned < 3; turned++) {
		buf_clear(&text);
		buf_clear(&want);
		buf_text(&text, "\xD8\xA7");
		for (int i = 0; i < 100; i++)
			buf_text(&text, (turned < 2 ? i / 50 == turned : i % 2) ? high : low);
		buf_byte(&want, WORD_MAX);
		buf_text(&want, "\xD8\xA7");
		for (int i = 0; i < 31; i++)
			buf_text(&want, low);
		CHECK(words_same(buf_as_str(&text), buf_as_str(&want)));
		buf_text(&text, "x\xD9\x90");
		CHECK(words_same(buf_as_str(&text), buf_as_str(&want)));
	}
	buf_release(&text);
	buf_release(&want);
}

/* A vowel sign has order 0: nothing behind it comes before it. */
TEST(marks_do_not_move_over_one_without_an_order)
{
	struct buf text = BUF_INIT(1 * MIB), want = BUF_INIT(1 * MIB);

	buf_text(&text, "\xD8\xA7");
	for (int i = 0; i < 100; i++)
		buf_text(&text, "\xD9\x94");
	buf_byte(&want, WORD_MAX);
	buf_str(&want, str_sub(buf_as_str(&text), 0, WORD_MAX));
	buf_text(&text, "\xE0\xA4\xBF\xD9\x90");
	CHECK(words_same(buf_as_str(&text), buf_as_str(&want)));
	check_text(t, STR("\xD8\xA7\xD9\x94\xE0\xA4\xBF\xD9\x90"), __FILE__, __LINE__);
	buf_release(&text);
	buf_release(&want);
}

TEST(a_full_buffer_fails_and_holds_whole_words)
{
	struct buf text = BUF_INIT(1 * MIB);
	struct str all = repeat(&text, "word caf\xC3\xA9 ", 4000);
	struct buf full = words_packed(all);

	for (size_t max = 0; max < full.n + 100; max += 37) {
		struct buf out = BUF_INIT(max);
		struct str rest, word = { 0 };
		unsigned flags;

		words_pack(&out, all);
		CHECK(out.failed == (out.n < full.n));
		CHECK(out.n <= max && str_has_prefix(buf_as_str(&full), buf_as_str(&out)));
		for (rest = buf_as_str(&out); words_next(&rest, &word, &flags);)
			EQ(word.n, 4);
		buf_release(&out);
	}
	buf_release(&full);
	buf_release(&text);
}

TEST(packing_adds_to_what_is_there)
{
	struct buf out = BUF_INIT(1 * MIB);

	buf_text(&out, "before");
	EQ(words_pack(&out, STR("GitHub")), 4);
	EQS(buf_as_str(&out), STR("before\003git\206github\003hub\206github"));
	EQ(words_pack(&out, STR("")), 0);
	EQ(words_pack(&out, (struct str){ 0 }), 0);
	EQ(out.n, 28);
	buf_release(&out);
}

TEST(a_single_character_of_a_paired_script_is_known)
{
	static const char *const yes[] = { "\xE6\x9D\xB1", "\xE3\x82\xAB\xE3\x82\x99", "\xED\x95\x9C",
					   "\xE0\xB8\x99\xE0\xB8\xB5\xE0\xB9\x88", "\xF0\xA0\x80\x80" };
	static const char *const no[] = { "", "a", "abc", "\xE6\x9D\xB1\xE4\xBA\xAC", "\xC3\xA9", "\xD7\xA9\xD7\x81",
					  "\xE0\xB8\xB5", "\xF0\x9F\x8E\x89", "\xFF" };

	for (size_t i = 0; i < COUNT(yes); i++)
		CHECK(words_is_single_cjk(str_of(yes[i])));
	for (size_t i = 0; i < COUNT(no); i++)
		CHECK(!words_is_single_cjk(str_of(no[i])));
}

TESTS(CASE(the_table_of_cases_holds), CASE(random_ascii_gives_what_the_rules_say_byte_by_byte),
      CASE(both_scanning_variants_agree), CASE(accented_latin_letters_fold_as_unicode_says),
      CASE(case_is_that_of_the_letter_before_folding),
      CASE(every_code_point_gives_the_same_words_in_every_spelling), CASE(all_hangul_syllables_are_put_together),
      CASE(random_texts_of_difficult_pieces_hold_what_has_to_hold), CASE(a_word_at_every_place_of_a_block_is_found),
      CASE(floods_are_words_like_others), CASE(of_too_many_marks_the_first_in_canonical_order_are_kept),
      CASE(marks_do_not_move_over_one_without_an_order),
      CASE(a_full_buffer_fails_and_holds_whole_words), CASE(packing_adds_to_what_is_there),
      CASE(a_single_character_of_a_paired_script_is_known))
