/*
 * Snippets: test/table/snippet.test has what people see; here is what holds for
 * any text, valid or not, at any width.
 */
#include "base/utf8.h"
#include "base/words.h"
#include "query/snippet.h"
#include "t.h"

#include <string.h>

#define SNIPPET struct snippet CLEANUP(snippet_release)
#define ARENA	struct arena mem CLEANUP(arena_release) = ARENA_INIT
#define EXPR	struct expr CLEANUP(expr_release)

/* ---- The table -------------------------------------------------------------------- */

static void put_marked(struct buf *out, const struct snippet *s)
{
	size_t at = 0;
	struct str text = buf_as_str(&s->text);

	for (size_t i = 0; i < s->mark_count; i++) {
		const struct snippet_mark *m = &s->marks[i];

		if (m->start < at || m->start > text.n || m->length > text.n - m->start) {
			buf_printf(out, "<mark %zu+%zu>", m->start, m->length);
			continue;
		}
		buf_str(out, str_sub(text, at, m->start - at));
		buf_byte(out, '[');
		buf_str(out, str_sub(text, m->start, m->length));
		buf_byte(out, ']');
		at = m->start + m->length;
	}
	buf_str(out, str_sub(text, at, SIZE_MAX));
}

static void put_unescaped(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		bool escape = text.p[i] == '\\' && i + 1 < text.n;
		char c = escape ? text.p[++i] : text.p[i];

		buf_byte(out, !escape ? c : c == 'n' ? '\n' : c == 'e' ? '\x1b' : '\t');
	}
}

static void check_snippet(struct t *t, size_t width, struct str query, struct str text, struct str want)
{
	ARENA;
	EXPR e = { 0 };
	SNIPPET s = { 0 };
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	OK(expr_read(&e, query, false, &mem, &err));
	snippet_make(&s, text, &e, width);
	put_marked(&got, &s);
	if (!str_eq(buf_as_str(&got), want))
		t_fail(t, __FILE__, __LINE__, "'%.*s' in '%.*s'\n# gives  '%.*s'\n# wanted '%.*s'",
		       STR_ARG(query), STR_ARG(text), STR_ARG(buf_as_str(&got)), STR_ARG(want));
}

/* What stands in front of a separator; *rest is behind it. */
static struct str cut_at(struct str line, struct str separator, struct str *rest)
{
	for (size_t i = 0; i + separator.n <= line.n; i++)
		if (str_has_prefix(str_sub(line, i, separator.n), separator)) {
			*rest = str_sub(line, i + separator.n, SIZE_MAX);
			return str_sub(line, 0, i);
		}
	*rest = (struct str){ 0 };
	return line;
}

TEST(every_snippet_in_the_table_is_what_it_says)
{
	struct buf file;
	int cases = 0;

	if (!t_read_file(t, "test/table/snippet.test", &file))
		return;
	for (struct str rest = buf_as_str(&file); rest.n;) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
		struct str line = str_cut(rest, '\n', &rest), query, want;
		uint64_t width;

		if (line.n == 0 || line.p[0] == '#')
			continue;
		NEED(str_to_u64(cut_at(line, STR(" | "), &line), &width));
		query = cut_at(line, STR(" | "), &line);
		put_unescaped(&text, cut_at(line, STR(" => "), &want));
		check_snippet(t, width, query, buf_as_str(&text), want);
		cases++;
	}
	CHECK(cases > 25);
	buf_release(&file);
}

/* ---- What always holds -------------------------------------------------------------- */

struct known {
	const struct expr *e;
	struct buf covered; /* a byte for each of the mark: '1' = of a word looked for */
	bool other;	    /* there is a word without any */
};

static void cover(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct known *k = ctx;
	size_t which;

	(void)flags;
	if (expr_has(k->e, word, &which))
		memset(k->covered.p + start, '1', end - start);
}

static void miss(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct known *k = ctx;

	(void)flags;
	/* What stands for a broken byte, which is none. */
	k->other |= !str_eq(word, STR("\uFFFD")) && !memchr(k->covered.p + start, '1', end - start);
}

/* From the first to the last word, and no others between them. */
static bool is_sought(struct str marked, const struct expr *e)
{
	struct known k = { .e = e, .covered = BUF_INIT(4 * MIB) };
	bool sought;

	for (size_t i = 0; i < marked.n; i++)
		buf_byte(&k.covered, '0');
	words_split(marked, cover, &k);
	words_split(marked, miss, &k);
	sought = !k.other && k.covered.p[0] == '1' && k.covered.p[marked.n - 1] == '1';
	buf_release(&k.covered);
	return sought;
}

static bool is_one_line(struct str text)
{
	for (size_t at = 0; at < text.n;) {
		int32_t c = utf8_next(text, &at);

		if (c != ' ' && utf8_is_blank(c))
			return false;
	}
	return true;
}

/* NULL, or what does not hold. `text` is what the snippet was made of. */
static const char *snippet_check(const struct snippet *s, struct str text, const struct expr *e, size_t width)
{
	struct str shown = buf_as_str(&s->text);
	size_t at = 0, most = utf8_valid(text) ? width : 3 * width;

	if (s->text.failed)
		return "it fits";
	if (!utf8_valid(shown))
		return "it is valid UTF-8";
	if (!is_one_line(shown))
		return "it is on one line";
	if (shown.n > most + 2 * strlen("\u2026"))
		return "it is no wider than was asked for";
	for (size_t i = 0; i < s->mark_count; i++) {
		const struct snippet_mark *m = &s->marks[i];

		if (m->start < at || m->length == 0 || m->start > shown.n || m->length > shown.n - m->start)
			return "marks lie in the text, in order and apart";
		at = m->start + m->length;
		if (!utf8_valid(str_sub(shown, m->start, m->length)) ||
		    !utf8_valid(str_sub(shown, 0, m->start)))
			return "marks begin and end with characters";
		if (m->length <= WORD_MAX && at + strlen("\u2026") < shown.n &&
		    !is_sought(str_sub(shown, m->start, m->length), e))
			return "marks are words that were looked for";
	}
	return NULL;
}

struct hits {
	const struct expr *e;
	bool any;
};

static void look(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct hits *h = ctx;
	size_t which;

	(void)start;
	(void)end;
	(void)flags;
	h->any |= expr_has(h->e, word, &which);
}

static void check_any(struct t *t, struct str text, const struct expr *e, size_t width)
{
	SNIPPET s = { 0 };
	struct hits h = { .e = e };
	const char *broken;

	snippet_make(&s, text, e, width);
	broken = snippet_check(&s, text, e, width);
	words_split(text, look, &h);
	if (!broken && h.any && !s.mark_count && width >= 16)
		broken = "there is a mark when there is a word";
	if (!broken && !h.any && s.mark_count)
		broken = "there is no mark when there is no word";
	if (broken)
		t_fail(t, __FILE__, __LINE__,
		       "does not hold at width %zu: %s\n# text '%.*s'\n# snippet '%.*s'", width, broken,
		       (int)size_min(text.n, 300), text.p ? text.p : "", (int)size_min(s.text.n, 300),
		       s.text.p ? s.text.p : "");
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

TEST(marks_lie_in_valid_text_whatever_the_text)
{
	static const char *const bits[] = {
		"foo",	  "Foo",    "fooBar",	  "BarFoo", "bar",    "baz",	 "x",	   " ",
		" ",	  " ",	    "\n",	  "\t",	    "\r\n",   "\v",	 "\f",	   "\x1b[1m",
		"\x7f",	  ".",	    "_",	  "-",	    "\u00e9", "e\u0301", "\u691c", "\u7d22",
		"\u7d50", "\u679c", "\U0001F600", "\u00a0", "\u2028", "\u3000",	 "\u00ad", "\u200d",
		"\x80",	  "\xc3",   "\xf0\x9f",	  "\xff",
	};
	static const char *const queries[] = {
		"foo",
		"foo bar",
		"\"foo bar\"",
		"\"foo x bar\" foo_baz",
		"NEAR(foo \"bar x\", 2)",
		"fooBar",
		"ba*",
		"f* b* x*",
		"\u691c\u7d22\u7d50\u679c",
		"\u7d22 foo bar baz",
		"\u00e9",
		"\U0001F600",
		"absent",
	};
	static const size_t widths[] = { 0, 1, 2, 3, 5, 8, 16, 40, 220, 5000, SIZE_MAX / 4 };
	uint64_t state = 7;
	struct err err;

	for (size_t q = 0; q < COUNT(queries); q++) {
		ARENA;
		EXPR e = { 0 };

		OK(expr_read(&e, str_of(queries[q]), false, &mem, &err));
		for (int round = 0; round < 600; round++) {
			struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
			size_t kinds = round % 3 ? COUNT(bits) : COUNT(bits) - 4; /* a third is valid */

			for (uint64_t n = next_random(&state) % 120; n; n--)
				buf_text(&text, bits[next_random(&state) % kinds]);
			check_any(t, buf_as_str(&text), &e, widths[next_random(&state) % COUNT(widths)]);
		}
		check_any(t, (struct str){ 0 }, &e, 220);
	}
}

TEST(every_byte_may_stand_before_in_and_behind_a_word)
{
	ARENA;
	EXPR e = { 0 };
	struct err err;

	OK(expr_read(&e, STR("foo"), false, &mem, &err));
	for (int byte = 0; byte < 256; byte++)
		for (size_t at = 0; at <= 7; at++) {
			char text[] = "a foo b";

			if (at < 7)
				text[at] = (char)byte;
			for (size_t width = 0; width < 12; width++)
				check_any(t, str_from(text, 7), &e, width);
		}
}

TEST(a_word_of_a_megabyte_is_cut_like_any_text)
{
	static const char *const queries[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a*"
	};
	static const char *const letters[] = { "a", "a\u00e1" };
	struct err err;

	for (size_t i = 0; i < COUNT(queries); i++)
		for (size_t k = 0; k < COUNT(letters); k++) {
			struct buf text CLEANUP(buf_release) = BUF_INIT(4 * MIB);
			ARENA;
			EXPR e = { 0 };

			OK(expr_read(&e, str_of(queries[i]), false, &mem, &err));
			buf_text(&text, "before ");
			while (text.n < MIB)
				buf_text(&text, letters[k]);
			buf_text(&text, " behind");
			for (size_t width = 0; width < 300; width += 7)
				check_any(t, buf_as_str(&text), &e, width);
			check_any(t, buf_as_str(&text), &e, 100 * KIB);
			check_any(t, buf_as_str(&text), &e, 2 * MIB);
		}
}

TEST(more_marks_than_there_is_room_for_are_left_out)
{
	ARENA;
	EXPR e = { 0 };
	SNIPPET s = { 0 };
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	OK(expr_read(&e, STR("ab"), false, &mem, &err));
	for (int i = 0; i < 20000; i++)
		buf_text(&text, "ab ");
	snippet_make(&s, buf_as_str(&text), &e, 220);
	EQ(s.mark_count, SNIPPET_MARKS);
	CHECK(!snippet_check(&s, buf_as_str(&text), &e, 220));
}

TEST(the_best_stretch_is_found_among_thousands_of_words)
{
	ARENA;
	EXPR e = { 0 };
	SNIPPET s = { 0 };
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	OK(expr_read(&e, STR("alpha beta gamma"), false, &mem, &err));
	for (int i = 0; i < 3000; i++)
		buf_text(&text, i % 2 ? "alpha and " : "some beta ");
	buf_text(&text, "here alpha beta gamma are");
	for (int i = 0; i < 3000; i++)
		buf_text(&text, " alpha");
	snippet_make(&s, buf_as_str(&text), &e, 40);
	CHECK(s.text.p && strstr(s.text.p, "alpha beta gamma"));
}

TESTS(CASE(every_snippet_in_the_table_is_what_it_says), CASE(marks_lie_in_valid_text_whatever_the_text),
      CASE(every_byte_may_stand_before_in_and_behind_a_word), CASE(a_word_of_a_megabyte_is_cut_like_any_text),
      CASE(more_marks_than_there_is_room_for_are_left_out),
      CASE(the_best_stretch_is_found_among_thousands_of_words))
