/*
 * The second look at texts: which words of a pattern may narrow, what matches, and that no
 * pattern takes long.
 */
#include "query/grep.h"
#include "base/clock.h"
#include "t.h"

#include <string.h>
#include <time.h>

#define GREP  struct grep CLEANUP(grep_release)
#define EXPR  struct expr CLEANUP(expr_release)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

TEST(only_words_that_every_match_has_narrow)
{
	static const struct {
		const char *pattern, *words;
	} rows[] = {
		{ "foo", "" }, /* xfoo matches, too */
		{ "\\bfoo", " foo*" },
		{ "\\bfoo\\b", " foo" },
		{ "^foo bar baz$", " foo bar baz" },
		{ "foo bar", " bar*" },
		{ "foo bar baz", " bar baz*" },
		{ "parse_header_line", " header line*" },
		{ "fooBar baz", " baz*" },
		{ "FOO BAR", " bar*" },
		{ "a|\\bfoo\\b", "" },
		{ "\\bfoo(bar|x) baz qux", "" },
		{ "\\bfoo[|]bar baz", " foo* baz*" },
		{ "\\bfoo(bar) baz qux", " foo* baz qux*" },
		{ "\\bfoo? bar baz", " fo* bar baz*" },
		{ "\\bfoo* bar baz", " fo* bar baz*" },
		{ "\\bfoo+ bar baz", " foo* bar baz*" },
		{ "\\bfoo{0,2} bar baz", " fo* bar baz*" },
		{ "\\bfoo.bar", " foo*" },
		{ "\\bfoo\\.bar baz", " foo bar baz*" },
		{ "\\sfoo\\s", " foo" },
		{ "\\wfoo bar", " bar*" },
		{ "[a-z]foo bar", " bar*" },
		{ "[]a]foo bar", " bar*" },
		{ "[[:alpha:]]foo bar", " bar*" },
		{ "[^[:alpha:]_]foo", "" },
		{ "\\bfoo\\", " foo*" },
		{ "[", "" },
		{ "(", "" },
		{ "{", "" },
		{ "\xc3\xa9t\xc3\xa9 caf\xc3\xa9 bar", " cafe bar*" },
		{ "\\bcaf\xc3\xa9? bar baz", " caf* bar baz*" },
		{ "\\bfoo+? bar baz", " fo* bar baz*" },
		{ "NA\xc3\x8fVE", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf words CLEANUP(buf_release) = BUF_INIT(KIB);

		grep_words(rows[i].pattern, &words);
		if (!str_eq(buf_as_str(&words), str_of(rows[i].words)))
			t_fail(t, __FILE__, __LINE__, "'%s' gives '%.*s'", rows[i].pattern,
			       STR_ARG(buf_as_str(&words)));
	}
}

TEST(a_pattern_matches_in_lines_and_says_where)
{
	static const struct {
		const char *pattern, *text;
		bool sensitive;
		int found; /* marks; -1 = no match */
		size_t start, end;
	} rows[] = {
		{ "b+", "abba", false, 1, 1, 3 },    { "B+", "abba", false, 1, 1, 3 },
		{ "B+", "abba", true, -1, 0, 0 },    { "^b", "a\nb", false, 1, 2, 3 },
		{ "a$", "a\nb", false, 1, 0, 1 },    { "a.b", "a\nb", false, -1, 0, 0 },
		{ "x*", "abc", false, 0, 0, 0 },     { "a", "aaa", false, 3, 0, 1 },
		{ ".", "\xc3\xa9", false, 1, 0, 2 }, { "a", "", false, -1, 0, 0 },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		GREP g = { 0 };
		bool yes;

		OK(grep_pattern(&g, rows[i].pattern, rows[i].sensitive, &err));
		yes = grep_text(&g, str_of(rows[i].text));
		if (yes != (rows[i].found >= 0) || (yes && (int)g.count != rows[i].found) ||
		    (rows[i].found > 0 &&
		     (g.found[0].start != rows[i].start || g.found[0].end != rows[i].end)))
			t_fail(t, __FILE__, __LINE__, "'%s' in '%s': %d, %zu", rows[i].pattern, rows[i].text,
			       yes, g.count);
	}
}

/* One of each row: whether it matches. */
struct said {
	const char *pattern, *text;
	bool yes;
};

static void check_all(struct t *t, const struct said *rows, size_t count, bool sensitive)
{
	struct err err;

	for (size_t i = 0; i < count; i++) {
		GREP g = { 0 };

		OK(grep_pattern(&g, rows[i].pattern, sensitive, &err));
		if (grep_text(&g, str_of(rows[i].text)) != rows[i].yes)
			t_fail(t, __FILE__, __LINE__, "'%s' in '%s'", rows[i].pattern, rows[i].text);
	}
}

TEST(a_character_of_several_bytes_is_one)
{
	static const struct said rows[] = {
		{ "^a.z$", "aéz", true },	   { "^a.z$", "a€z", true },
		{ "^a.z$", "a💥z", true },	   { "^a..z$", "aéz", false },
		{ "^a.{3}z$", "aé€éz", true },	   { "^a.+.+z$", "aéz", false },
		{ "^a.*.*z$", "aéz", true },	   { "^a.?z$", "aéz", true },
		{ "^\\S{3}$", "éé€", true },	   { "^\\W$", "é", true },
		{ "^[^x]$", "é", true },	   { "^[^x]{2}$", "é", false },
		{ "^[^]x-]z$", "éz", true },	   { "^[^]x-]z$", "-z", false },
		{ "^[^x]+[^y]+$", "é", false },	   { "^[^x]*é$", "ãé", true },
		{ "^naï?ve$", "nave", true },	   { "^naï?ve$", "naïve", true },
		{ "^naï?ve$", "na\xc3ve", false }, { "^[ïé]+$", "éï", true },
		{ "^[ïé]$", "\xc3", false },	   { "^[^é]$", "é", false },
		{ "^[^é]$", "è", true },	   { "^[^é]$", "e", true },
		{ "^[а-я]+$", "слово", true },	   { "^[а-я]+$", "wort", false },
		{ "^[a-é]$", "è", true },	   { "^[a-é]$", "ï", false },
		{ "^[^é]$", "^", true },	   { "^[é^]$", "^", true },
		{ "^[é^]$", "x", false },	   { "^[-é^]$", "^", true },
		{ "^[-é^]$", "-", true },	   { "^[]é]$", "]", true },
		{ "^[€-💥]$", "漢", true },	   { "^[[:alpha:]é]{2}$", "aé", true },
		{ "\\bx\\b", "éx é", true },	   { "\\é", "é", true },
	};

	check_all(t, rows, COUNT(rows), true);
}

TEST(case_is_folded_outside_of_ascii_too)
{
	static const struct said any[] = {
		{ "ü", "Ü", true },	    { "Ü", "ü", true },	     { "naïve", "NAÏVE", true },
		{ "слово", "СЛОВО", true }, { "[äö]b", "ÖB", true }, { "^[^ä]$", "Ä", false },
		{ "[а-я]", "Я", true },	    { "σ", "ς", true },	     { "k", "\xe2\x84\xaa", false },
		{ "ü", "u", false },	    { "\u03bcs", "5 \u00b5s", true }, { "å", "\u212b", true },
	};
	static const struct said as_it_is[] = { { "ü", "Ü", false },
						{ "[ä]", "Ä", false },
						{ "Ü", "Ü", true } };

	check_all(t, any, COUNT(any), false);
	check_all(t, as_it_is, COUNT(as_it_is), true);
	CHECK(grep_has_capitals("Übung"));
	CHECK(!grep_has_capitals("übung\\W"));
}

TEST(what_is_broken_is_a_character_and_stops_nothing)
{
	static const struct said rows[] = {
		{ "a.b",
		  "a\xc3"
		  "b",
		  true },
		{ "a.b",
		  "a\x80"
		  "b",
		  true },
		{ "foo.*bar",
		  "foo\xff\xff"
		  "bar",
		  true },
		{ "^a\\Sb$",
		  "a\xe2\x82"
		  "b",
		  true },
		{ "é.é", "é\xc3é", true },
		{ "foo", "\xc3 foo", true },
		{ "[^x]b",
		  "\xbf"
		  "b",
		  true },
		{ "a b",
		  "a\xc3"
		  "b",
		  false },
	};

	check_all(t, rows, COUNT(rows), true);
	check_all(t, rows, COUNT(rows), false);
}

TEST(what_every_match_has_is_found_first_and_loses_none)
{
	static const struct {
		const char *pattern, *needed, *also;
		bool sensitive;
	} rows[] = {
		{ "\\w+@\\w+\\.com", ".com", "@", false },
		{ "colou?r", "colo", "r", false },
		{ "(alpha )+beta", "beta", "", false },
		{ "x+y", "x", "y", false },
		{ "xy+z+?", "xy", "", false },
		{ "a|needle", "", "", false },
		{ "ab.c|needle", "", "", false },
		{ "(a|b)needle", "needle", "", false },
		{ "[|]ab", "ab", "", false },
		{ "ab{0,3}c", "a", "c", false },
		{ "na\xc3\xafve", "na", "ve", false },
		{ "na\xc3\xafve", "na\xc3\xafve", "", true },
		{ "na\xc3\xaf?ve", "na", "ve", true },
		{ "\\S{200,}", "", "", false },
		{ "[[:alpha:]]b", "b", "", false },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		GREP g = { 0 };

		OK(grep_pattern(&g, rows[i].pattern, rows[i].sensitive, &err));
		EQS(buf_as_str(&g.needed), str_of(rows[i].needed));
		EQS(buf_as_str(&g.also), str_of(rows[i].also));
	}
}

/* Wherever it stands to the pieces that a line is looked at in. */
TEST(a_match_is_found_at_any_place_of_a_long_line)
{
	struct err err;
	GREP plain = { 0 };
	GREP wide = { 0 };

	OK(grep_pattern(&plain, "n[e]+DLE[0-9]{2}", false, &err));
	OK(grep_pattern(&wide, "[é]+xé.$", false, &err));
	for (size_t n = 3700; n < 4300; n++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

		for (size_t i = 0; i < n; i++)
			buf_text(&text, i % 97 ? "x" : "n");
		buf_text(&text, "Needle42 and more");
		CHECK(grep_text(&plain, buf_as_str(&text)));
		EQ(plain.found[0].start, n);
		buf_text(&text, "éxé€");
		CHECK(grep_text(&wide, buf_as_str(&text)));
		EQ(wide.found[0].end, text.n);
	}
}

TEST(a_text_that_takes_long_leaves_time_for_others)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct err err;
	GREP g = { 0 };

	for (int i = 0; i < 8 << 20; i++)
		buf_byte(&text, "0123456789abcdef"[i % 16]);
	OK(grep_pattern(&g, "\\S+[@]\\S+", false, &err));
	CHECK(!grep_text(&g, buf_as_str(&text)));
	EQ(g.unread, 1);
	CHECK(!g.gave_up);
	CHECK(grep_text(&g, STR("bob@example.com")));
	EQ(g.unread, 1);
}

TEST(a_long_line_is_searched_to_its_end)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct err err;
	GREP g = { 0 };

	for (int i = 0; i < 100000; i++)
		buf_text(&text, "words ");
	buf_byte(&text, '\0');
	buf_text(&text, "needle42");
	OK(grep_pattern(&g, "needle[0-9]+$", false, &err));
	CHECK(grep_text(&g, buf_as_str(&text)));
	EQ(g.found[0].end, text.n);
}

TEST(what_would_take_too_much_is_refused_or_given_up)
{
	static const char *const refused[] = { "(a)\\1", "(a{1,200}){1,200}", "((a{9}){99}){999}", "[", "(",
					       "a{2",	 "*a{99999}" };
	static const char *const slow[] = { "(a*)*b", "(a|aa)+$x", "(x+x+)+y", "(a|b)*a(a|b){12}c",
					    ".*.*.*.*.*.*b" };
	struct buf text CLEANUP(buf_release) = BUF_INIT(16 * MIB),
			long_one CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	for (size_t i = 0; i < COUNT(refused); i++) {
		GREP g = { 0 };

		EQ(grep_pattern(&g, refused[i], false, &err), STATUS_USAGE);
		CHECK(str_has_prefix(str_of(err.text), STR("--regex: ")));
	}
	for (int i = 0; i < 2000; i++)
		buf_byte(&long_one, 'a');
	buf_byte(&long_one, '\0');
	{
		GREP g = { 0 };

		EQ(grep_pattern(&g, long_one.p, false, &err), STATUS_USAGE);
	}
	for (int i = 0; i < 1 << 20; i++)
		buf_byte(&text, i % 7 ? 'a' : 'x');
	for (size_t i = 0; i < COUNT(slow); i++) {
		int64_t before = clock_monotonic_ns();
		GREP g = { 0 };

		OK(grep_pattern(&g, slow[i], false, &err));
		grep_text(&g, buf_as_str(&text));
		/* The deadline, one piece more, and a slow machine. */
		CHECK(clock_monotonic_ns() - before < INT64_C(30000000000));
	}
}

TEST(exact_items_stand_as_they_were_typed)
{
	static const struct {
		const char *query, *text;
		bool yes;
	} rows[] = {
		{ "Foo", "a Foo", true },
		{ "Foo", "a foo", false },
		{ "foo_bar", "foo-bar", false },
		{ "foo_bar", "xfoo_bary", false },
		{ "foo_bar", "(foo_bar)", true },
		{ "Foo", "foo, Foos and xFoo", true }, /* a part of an identifier is a word */
		{ "Foo", "foo and Foos", false },
		{ "Fo*", "Foos", true },
		{ "C++", "c and C++", true },
		{ "C++", "c++", false },
		{ "\"Foo bar\"", "Foo bar", true },
		{ "Foo Bar", "Bar Foo", true },
		{ "Foo Bar", "bar Foo", false },
		{ "Foo OR Bar", "bar Foo", true },
		{ "Fo*", "Foo", true },
		{ "Foo -Bar", "Foo bar", true },
		{ "NEAR(Foo Bar)", "Foo x Bar", true },
		{ "tool:x Foo", "Foo", true },
		{ "role:user", "anything", true },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		ARENA;
		EXPR e = { 0 };
		GREP g = { 0 };

		OK(expr_read(&e, str_of(rows[i].query), true, &mem, &err));
		grep_exact(&g, &e);
		if (grep_text(&g, str_of(rows[i].text)) != rows[i].yes)
			t_fail(t, __FILE__, __LINE__, "'%s' in '%s'", rows[i].query, rows[i].text);
	}
}

/* Who finds nothing is not kept waiting; who finds some wants all of them, the same ones each time. */
TEST(time_is_short_until_something_is_found)
{
	enum { MOST_MS = 100 };
	struct timespec past = { .tv_nsec = 2 * MOST_MS * 1000000 };
	ARENA;
	EXPR e = { 0 };
	struct err err;

	OK(expr_read(&e, STR("C++"), true, &mem, &err));
	for (int found = 0; found < 2; found++) {
		GREP g = { 0 };

		grep_signs(&g, &e, false, MOST_MS);
		EQ(grep_text(&g, found ? STR("in C++") : STR("in C")), found);
		nanosleep(&past, NULL);
		EQ(grep_text(&g, STR("and C++")), found);
		EQ(g.gave_up, !found);
	}
}

TEST(who_has_a_limit_elsewhere_has_none_here)
{
	ARENA;
	EXPR e = { 0 };
	GREP g = { 0 };
	struct err err;

	OK(expr_read(&e, STR("C++"), true, &mem, &err));
	grep_signs(&g, &e, false, 0);
	grep_take_time(&g);
	CHECK(grep_text(&g, STR("in C++")));
	EQ(g.deadline_ns, INT64_MAX);
	CHECK(grep_text(&g, STR("and C++")));
	CHECK(!g.gave_up);
}

TEST(what_is_typed_stands_inside_of_words_in_any_case)
{
	static const struct {
		const char *query, *text;
		bool yes;
		size_t start, end;
	} rows[] = {
		{ "ÏVE", "naïve", true, 2, 6 },
		{ "naïVE", "so NAÏVE", true, 3, 9 },
		{ "cAB", "xxCABcabx", true, 2, 5 },
		{ "ⱥb", "xȺB", true, 1, 4 }, /* of two bytes and of three */
		{ "ive", "naïve", false, 0, 0 },
		{ "ab", "aab", true, 1, 3 },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		ARENA;
		EXPR e = { 0 };
		GREP g = { 0 };
		bool yes;

		OK(expr_read(&e, str_of(rows[i].query), true, &mem, &err));
		grep_inside(&g, &e, 10000);
		yes = grep_text(&g, str_of(rows[i].text));
		if (yes != rows[i].yes ||
		    (yes && (g.found[0].start != rows[i].start || g.found[0].end != rows[i].end)))
			t_fail(t, __FILE__, __LINE__, "'%s' in '%s'", rows[i].query, rows[i].text);
	}
}

TESTS(CASE(only_words_that_every_match_has_narrow), CASE(a_pattern_matches_in_lines_and_says_where),
      CASE(a_character_of_several_bytes_is_one), CASE(case_is_folded_outside_of_ascii_too),
      CASE(what_is_broken_is_a_character_and_stops_nothing),
      CASE(what_every_match_has_is_found_first_and_loses_none),
      CASE(a_match_is_found_at_any_place_of_a_long_line), CASE(a_text_that_takes_long_leaves_time_for_others),
      CASE(what_is_typed_stands_inside_of_words_in_any_case), CASE(a_long_line_is_searched_to_its_end),
      CASE(what_would_take_too_much_is_refused_or_given_up), CASE(exact_items_stand_as_they_were_typed),
      CASE(time_is_short_until_something_is_found), CASE(who_has_a_limit_elsewhere_has_none_here))
