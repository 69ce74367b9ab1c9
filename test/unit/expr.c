/*
 * Queries: test/table/expr.test says what is looked for; here every query, however
 * odd, is also asked of a real index, which may find nothing but never complain.
 */
#include "base/utf8.h"
#include "docs.h"
#include "query/expr.h"

#include <string.h>

static const double weights[] = { 1 };

#define EXPR  struct expr CLEANUP(expr_release)
#define STORE struct store *s CLEANUP(store_closep) = NULL
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

/* How many documents a query finds; -1 when there is no word in it. Anything that
 * fails otherwise is a failure of the test. */
static int64_t ask(struct t *t, struct store *s, struct str query)
{
	ARENA;
	EXPR e = { 0 };
	struct ranking found CLEANUP(ranking_release) = { 0 };
	struct rank_query q = { .limit = 3, .weights = weights, .place_count = COUNT(weights) };
	struct err err = { 0 };
	enum status status = expr_read(&e, query, false, &mem, &err);

	if (status == STATUS_OK) {
		q.match = buf_as_str(&e.match);
		CHECK(!e.match.failed);
		status = rank_run(s, &q, &found, &err);
		if (status == STATUS_OK)
			return found.total;
	} else if (status == STATUS_USAGE) {
		CHECK(utf8_valid(str_of(err.text)));
		return -1;
	}
	t_fail(t, __FILE__, __LINE__, "'%.*s' gives %s: %s", (int)size_min(query.n, 200), query.p,
	       status_info(status)->name, err.text);
	return -1;
}

/* ---- The table ------------------------------------------------------------------ */

static void check_match(struct t *t, struct str query, struct str want)
{
	ARENA;
	EXPR e = { 0 };
	struct err err;
	enum status status = expr_read(&e, query, false, &mem, &err);
	struct str got = status ? STR("nothing") : buf_as_str(&e.match);

	if (!str_eq(got, want) || (status && status != STATUS_USAGE) || e.cut)
		t_fail(t, __FILE__, __LINE__, "'%.*s' asks for %.*s, wanted %.*s", STR_ARG(query),
		       STR_ARG(got), STR_ARG(want));
}

/* The next case; its query still with the blanks around it. */
static bool next_case(struct str *rest, struct str *query, struct str *want)
{
	while (rest->n) {
		struct str line = str_cut(*rest, '\n', rest);

		if (line.n == 0 || line.p[0] == '#')
			continue;
		for (size_t i = 0; i + 4 <= line.n; i++)
			if (str_has_prefix(str_sub(line, i, 4), STR(" => "))) {
				*query = str_sub(line, 0, i);
				*want = str_sub(line, i + 4, SIZE_MAX);
				return true;
			}
	}
	return false;
}

TEST(every_query_in_the_table_asks_for_what_it_says)
{
	struct buf file;
	struct str rest, query, want;
	struct err err;
	int cases = 0;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	if (!t_read_file(t, "test/table/expr.test", &file))
		return;
	for (rest = buf_as_str(&file); next_case(&rest, &query, &want); cases++) {
		check_match(t, query, want);
		CHECK((ask(t, s, query) < 0) == str_eq(want, STR("nothing")));
	}
	CHECK(cases > 70);
	buf_release(&file);
}

/* ---- Finding -------------------------------------------------------------------- */

TEST(an_identifier_is_found_however_either_side_writes_it)
{
	static const struct {
		const char *text, *query;
		bool found;
	} rows[] = {
		{ "see parseHttpHeader there", "parse_http_header", true },
		{ "see parse_http_header there", "parseHttpHeader", true },
		{ "see parse-http.header there", "parseHttpHeader", true },
		{ "see PARSE_HTTP there", "parseHttp", true },
		{ "see parseHttpHeader there", "http", true },
		{ "see parseHttpHeader there", "parsehttpheader", true },
		{ "see parsehttpheader there", "parseHttpHeader", true },
		{ "see parseHttpHeader there", "parseHeader", false },
		{ "see parse some http header", "parse_header", false },
		{ "see other.getName there", "obj.getName", false },
		{ "see other.getname there", "obj.getName", false },
		{ "see obj.getname there", "obj.getName", true },
		{ "see obj.getName there", "obj.getName", true },
		{ "see obj.getName() there", "getName.there", true },
		{ "see obj.getname() there", "getName.obj", false },
		{ "see foobar.bazqux", "fooBar.bazQux", true },
		{ "GitHub", "github", true },
		{ "github", "GitHub", true },
		{ "github", "GitH*", true },
		{ "what's up", "what's", true },
		{ "what is up", "what's", false },
		{ "C++ and c#", "C++", true },
		{ "src/query/rank.c", "query/rank.c", true },
		{ "src/query/rank.c", "rank.h", false },
		{ "one two three", "\"two three\"", true },
		{ "one two three", "\"one three\"", false },
		{ "one two three", "three one", true },
		{ "one two three", "one four", false },
		{ "retrying", "retr*", true },
		{ "retrying", "\"retr*\"", false },
		{ "retrying", "retr", false },
		{ "\u691c\u7d22\u7d50\u679c", "\u691c\u7d22", true },
		{ "\u691c\u7d22\u7d50\u679c", "\u7d22\u7d50", true },
		{ "\u691c\u7d22\u7d50\u679c", "\u7d50\u679c", true },
		{ "\u691c\u7d22\u7d50\u679c", "\u7d22", true },
		{ "\u691c\u7d22\u7d50\u679c", "\u691c\u7d50", false },
		{ "\u691c\u7d22\u7d50\u679c", "\u7d50\u679c\u3000\u691c\u7d22", true },
		{ "done \U0001F600 so", "\U0001F600", true },
		{ "cafe\u0301 au lait", "CAF\u00c9", true },
		{ "a x", "a OR b", true },
		{ "b x", "a OR b", true },
		{ "c x", "a OR b", false },
		{ "a b", "a AND b", true },
		{ "a and c", "a AND b", false },
		{ "a or b", "\"a or b\"", true },
		{ "a b", "a -b", false },
		{ "a c", "a -b", true },
		{ "a c", "a NOT b", true },
		{ "a b", "a NOT b", false },
		{ "a b c", "a -(b c)", false },
		{ "a b d", "a -(b c)", true },
		{ "a c d", "a (b OR c) d", true },
		{ "a d", "a (b OR c) d", false },
		{ "a d", "a (b OR -c)", true },
		{ "a c", "a (b OR -c)", false },
		{ "a b c", "a (b OR -c)", true },
		{ "one two three four five", "NEAR(one three, 1)", true },
		{ "one two three four five", "NEAR(three one, 1)", true },
		{ "one two three four five", "NEAR(one five, 2)", false },
		{ "one two three four five", "NEAR(one \"four five\", 2)", true },
		{ "getName of it", "NEAR(it get_name, 2)", true },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str text = str_of(rows[i].text);
		STORE;

		OK(docs_open(t, NULL, &s, &err));
		OK(docs_add_texts(s, &text, 1, &err));
		if ((ask(t, s, str_of(rows[i].query)) > 0) != rows[i].found)
			t_fail(t, __FILE__, __LINE__, "'%s' is %sfound in '%s'", rows[i].query,
			       rows[i].found ? "not " : "", rows[i].text);
	}
}

/* ---- Conditions ------------------------------------------------------------------ */

TEST(a_name_and_a_value_are_a_condition_and_other_colons_are_text)
{
	static const struct {
		const char *query, *conditions, *match, *odd;
	} rows[] = {
		{ "role:user", "role=user", "", "" },
		{ "role:user x", "role=user", "(\"x\")", "" },
		{ "x -role:user", "!role=user", "(\"x\")", "" },
		{ "x NOT in:output", "!in=output", "(\"x\")", "" },
		{ "in:prompt,answer x", "in=prompt in=answer", "(\"x\")", "" },
		{ "project:\"my dir\" x", "project=my dir", "(\"x\")", "" },
		{ "(x OR role:user) y", "role=user", "(\"x\") AND (\"y\")", "" },
		{ "(role:user)", "role=user", "", "" },
		{ "after:last week x", "after=last week", "(\"x\")", "" },
		{ "after:last x week", "after=last", "(\"x\") AND (\"week\")", "" },
		{ "day:2026-01", "day=2026-01", "", "" },
		{ "after:2026-01-31T18:00:00Z x", "after=2026-01-31T18:00:00Z", "(\"x\")", "" },
		{ "file:/a/b.c", "file=/a/b.c", "(\"\1fb.c\") AND (\"a\" + \"b\" + \"c\")", "" },
		{ "file:b*", "file=b*", "(\"\1fb\" *) AND (\"b\" *)", "" },
		{ "file:*.go", "file=*.go", "(\"\1gog.\" *)", "" },
		{ "file:*é.c", "file=*é.c", "(\"\1gc.é\" *)", "" },
		{ "file:h*_test.go", "file=h*_test.go", "(\"\1fh\" *) AND (\"\1gog.tset_\" *)", "" },
		{ "file:src/*/x*.c", "file=src/*/x*.c", "(\"\1fx\" *) AND (\"\1gc.\" *) AND (\"src\")", "" },
		{ "file:src/**/x.c", "file=src/**/x.c", "(\"\1fx.c\") AND (\"src\") AND (\"x\" + \"c\")", "" },
		{ "file:*", "file=*", "(\"\1f\" *)", "" },
		{ "tool:Bash", "tool=Bash", "(\"\1tbash\")", "" },
		{ "tool:mcp* x", "tool=mcp*", "(\"x\") AND (\"\1tmcp\" *)", "" },
		{ "x -tool:Bash", "!tool=Bash", "(\"x\") NOT (\"\1tbash\")", "" },
		{ "tool:a,b", "tool=a tool=b", "(\"\1ta\") OR (\"\1tb\")", "" },
		{ "tool:Bash -x", "tool=Bash", "(\"\1tbash\") NOT (\"x\")", "" },
		{ "tool:a\"b\" c", "tool=a", "((\"b\") AND (\"c\")) AND (\"\1ta\")", "" },
		{ "is:error is:subagent", "is=error is=subagent", "(\"\1e\") AND (\"\1s\")", "" },
		{ "is:error OR is:subagent", "is=error is=subagent", "(\"\1e\") OR (\"\1s\")", "" },
		{ "(is:error OR tool:a) x", "is=error tool=a", "(\"x\") AND ((\"\1e\") OR (\"\1ta\"))", "" },
		{ "is:error OR is:subagent tool:a", "is=error is=subagent tool=a",
		  "(\"\1e\") AND (\"\1s\") AND (\"\1ta\")", "" },
		{ "\"role:user\"", "", "(\"role\" + \"user\")", "" },
		{ "role: user", "", "(\"role\") AND (\"user\")", "role:" },
		{ "role:", "", "(\"role\")", "role:" },
		{ "Role:User x", "role=user", "(\"x\")", "" },
		{ "IS:Error", "is=error", "(\"\1e\")", "" },
		{ "PROJECT:CLI", "project=CLI", "", "" },
		{ "From:user", "", "(\"from\" + \"user\")", "From" },
		{ "ROL:user", "", "(\"rol\" + \"user\")", "ROL role" },
		{ "foo:bar", "", "(\"foo\" + \"bar\")", "foo" },
		{ "rol:user", "", "(\"rol\" + \"user\")", "rol role" },
		{ "std::vector", "", "(\"std\" + \"vector\")", "" },
		{ "in::x", "", "(\"in\" + \"x\")", "" },
		{ "http://x", "", "(\"http\" + \"x\")", "" },
		{ "file://x", "", "(\"file\" + \"x\")", "" },
		{ "12:30", "", "(\"12\" + \"30\")", "" },
		{ "C:\\x", "", "(\"c\" + \"x\")", "" },
		{ ":x", "", "(\"x\")", "" },
		{ "a:", "", "(\"a\")", "" },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf got CLEANUP(buf_release) = BUF_INIT(KIB), odd CLEANUP(buf_release) = BUF_INIT(KIB);
		ARENA;
		EXPR e = { 0 };

		OK(expr_read(&e, str_of(rows[i].query), true, &mem, &err));
		for (size_t k = 0; k < e.condition_count; k++)
			buf_printf(&got, "%s%s%s=%.*s", k ? " " : "", e.conditions[k].excluded ? "!" : "",
				   expr_field_name(e.conditions[k].field), STR_ARG(e.conditions[k].value));
		buf_str(&odd, e.odd);
		if (e.apart)
			buf_printf(&odd, "%s:", e.apart);
		if (e.near)
			buf_printf(&odd, " %s", e.near);
		if (!str_eq(buf_as_str(&got), str_of(rows[i].conditions)) ||
		    !str_eq(buf_as_str(&e.match), str_of(rows[i].match)) ||
		    !str_eq(buf_as_str(&odd), str_of(rows[i].odd)))
			t_fail(t, __FILE__, __LINE__, "'%s' is %.*s and %.*s, odd '%.*s'", rows[i].query,
			       STR_ARG(buf_as_str(&got)), STR_ARG(buf_as_str(&e.match)), STR_ARG(buf_as_str(&odd)));
	}
}

TEST(more_conditions_than_anybody_means_are_cut)
{
	struct buf query CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;
	ARENA;
	EXPR e = { 0 };

	for (int i = 0; i < 10000; i++)
		buf_text(&query, "tool:x,y -file:a/b ");
	OK(expr_read(&e, buf_as_str(&query), true, &mem, &err));
	CHECK(e.cut && e.condition_count == EXPR_CONDITIONS && e.phrase_count <= EXPR_PHRASES);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* What means something to FTS5, to SQL, or to the tokenizer. */
static const char *const bits[] = {
	"a",	  "B",	     "c1",     "Foo",	     "HTTP",
	"bar",	  "zz9",     " ",      " ",	     " ",
	"\t",	  "\n",	     "\"",     "'",	     "*",
	"^",	  "+",	     "-",      "_",	     ".",
	"/",	  ":",	     ",",      ";",	     "(",
	")",	  "{",	     "}",      "\\",	     "%",
	"@",	  "?",	     "?1",     "--",	     "/*",
	"NEAR(",  "AND",     "OR",     "NOT",	     "text:",
	"\u00e9", "e\u0301", "\u00df", "\u0130",     "\u691c",
	"\u7d22", "\ud55c",  "\u3042", "\U0001F600", "\U0001F468\u200d\U0001F469",
	"\u00a0", "\u3000",  "\u2028", "\u00ad",     "\uff02",
	"\uff21", "\u2160",  "\x80",   "\xff",
};

static bool is_operator(const char *bit)
{
	static const char *const operators[] = { "-", "--", "(", ")", "NEAR(", "AND", "OR", "NOT" };

	for (size_t i = 0; i < COUNT(operators); i++)
		if (!strcmp(bit, operators[i]))
			return true;
	return false;
}

static void make_text(struct buf *out, uint64_t *state, uint64_t length, bool operators)
{
	for (uint64_t n = 1 + next_random(state) % length; n; n--) {
		const char *bit = bits[next_random(state) % COUNT(bits)];

		buf_text(out, operators || !is_operator(bit) ? bit : "#");
	}
}

TEST(every_text_finds_itself)
{
	enum { TEXTS = 400 };
	static struct buf made[TEXTS];
	struct str texts[TEXTS];
	uint64_t state = 5;
	struct err err;
	STORE;

	for (size_t i = 0; i < TEXTS; i++) {
		buf_init(&made[i], MIB);
		make_text(&made[i], &state, 24, false);
		texts[i] = buf_as_str(&made[i]);
	}
	OK(docs_open(t, NULL, &s, &err));
	OK(docs_add_texts(s, texts, TEXTS, &err));
	for (size_t i = 0; i < TEXTS; i++) {
		if (ask(t, s, texts[i]) == 0)
			t_fail(t, __FILE__, __LINE__, "not found by itself: '%.*s'", STR_ARG(texts[i]));
		buf_release(&made[i]);
	}
}

TEST(no_query_is_syntax_and_none_is_an_error)
{
	static const char *const attacks[] = {
		"\" OR \"1",	"\"\"",	    "\"\"\"\"",	  "a\"\"b",    "') --", "'; DROP TABLE search; --",
		"text : a",	"text:a",   "{text} : a", "-text : a", "^a",	"a ^ b",
		"NEAR(a b, 2)", "NEAR(",    "NEAR",	  "AND",       "OR",	"NOT",
		"a NOT b",	"a AND",    "OR a",	  "(a",	       "a)",	"((((",
		"a + b",	"a +",	    "+",	  "*",	       "a *",	"* a",
		"\"a\" *",	"\"a *",    "-",	  "-a",	       "?",	"?1",
		":x",		"$x",	    "@x",	  "%s%n",      "a\\",	"rank MATCH 'x'",
		"search",	"optimize", "\xc3\x28",	  "\xff\xff",
	};
	struct str text = STR("a b one");
	uint64_t state = 6;
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(docs_add_texts(s, &text, 1, &err));
	for (size_t i = 0; i < COUNT(attacks); i++)
		ask(t, s, str_of(attacks[i]));
	EQ(ask(t, s, STR("\" OR \"1")), 0); /* a phrase "or" and a 1, neither of which is there */
	EQ(ask(t, s, STR("zzz\" OR \"a")), 0);
	EQ(ask(t, s, STR("a\0b")), 1);
	EQ(ask(t, s, STR("a\0\" OR zzz")), 0);
	EQ(ask(t, s, (struct str){ 0 }), -1);
	for (int round = 0; round < 2000; round++) {
		struct buf query CLEANUP(buf_release) = BUF_INIT(MIB);

		make_text(&query, &state, 40, true);
		ask(t, s, buf_as_str(&query));
	}
}

static void find_quote(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	bool *found = ctx;

	(void)start;
	(void)end;
	(void)flags;
	for (size_t i = 0; i < word.n; i++)
		*found |= word.p[i] == '"' || (unsigned char)word.p[i] < ' ';
}

/* What expr.c builds on: a word cannot end the quotes it is put into. */
TEST(no_character_becomes_a_quote_or_a_control_character)
{
	for (uint32_t c = 0; c <= 0x10FFFF; c++) {
		char text[8] = "x";
		bool found = false;

		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		words_split(str_from(text, 1 + utf8_encode(c, text + 1)), find_quote, &found);
		if (found)
			t_fail(t, __FILE__, __LINE__, "U+%04" PRIX32, c);
	}
}

/* ---- Limits --------------------------------------------------------------------- */

static void repeat(struct buf *out, const char *what, int times)
{
	for (int i = 0; i < times; i++)
		buf_text(out, what);
}

TEST(a_query_is_cut_when_words_are_left_out_and_only_then)
{
	static const struct {
		const char *word;
		int times, count;
		bool cut;
	} rows[] = {
		{ "a ", 63, 63, false },   { "a ", 64, 64, false }, { "a ", 65, 64, true },
		{ "a ", 10000, 64, true }, { "a.", 64, 64, false }, { "a.", 65, 64, true },
		{ "a.", 10000, 64, true }, { "a ", 1, 1, false },   { "aB ", 32, 65, false },
		{ "aB ", 33, 65, true }, { "a* ", 4, 4, false },
		{ "a* ", 5, 4, true },  { "ab* ", 64, 64, false },
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf query CLEANUP(buf_release) = BUF_INIT(MIB);
		ARENA;
		EXPR e = { 0 };

		repeat(&query, rows[i].word, rows[i].times);
		OK(expr_read(&e, buf_as_str(&query), false, &mem, &err));
		if (e.cut != rows[i].cut || (int)e.count > rows[i].count ||
		    (!e.cut && (int)e.count < rows[i].count))
			t_fail(t, __FILE__, __LINE__, "%d times '%s': %zu words%s", rows[i].times,
			       rows[i].word, e.count, e.cut ? ", cut" : "");
		CHECK(ask(t, s, buf_as_str(&query)) == 0);
	}
}

TEST(long_queries_are_asked_like_short_ones)
{
	static const char *const parts[] = { "word ", "word", "aB", "aB ",  "a_", "\u691c",
					     "\"",    "\"a",  "* ", "\xff", " " };
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct buf query CLEANUP(buf_release) = BUF_INIT(16 * MIB);

		repeat(&query, parts[i], 10 * 1024);
		ask(t, s, buf_as_str(&query));
		repeat(&query, parts[i], 500 * 1024);
		ask(t, s, buf_as_str(&query));
	}
}

TEST(the_complaint_about_no_words_is_valid_text)
{
	struct err err;

	for (int before = 0; before < 8; before++) {
		struct buf query CLEANUP(buf_release) = BUF_INIT(MIB);
		ARENA;
		EXPR e = { 0 };

		repeat(&query, ".", before);
		repeat(&query, "\u2026", 40);
		EQ(expr_read(&e, buf_as_str(&query), false, &mem, &err), STATUS_USAGE);
		CHECK(utf8_valid(str_of(err.text)));
		CHECK(strlen(err.text) < 200);
	}
}

/* ---- Words in texts --------------------------------------------------------------- */

TEST(a_word_of_a_text_is_known_by_what_is_looked_for)
{
	ARENA;
	EXPR e = { 0 };
	struct err err;
	size_t which = 99;

	OK(expr_read(&e, STR("alpha be* \"gamma delta\" GitHub"), false, &mem, &err));
	CHECK(expr_has(&e, STR("alpha"), &which) && which == 0);
	CHECK(!expr_has(&e, STR("alphabet"), &which));
	CHECK(!expr_has(&e, STR("alph"), &which));
	CHECK(expr_has(&e, STR("be"), &which) && which == 1);
	CHECK(expr_has(&e, STR("beta"), &which) && which == 1);
	CHECK(expr_has(&e, STR("gamma"), &which) && expr_has(&e, STR("delta"), &which));
	CHECK(expr_has(&e, STR("git"), &which) && expr_has(&e, STR("hub"), &which) &&
	      expr_has(&e, STR("github"), &which));
	CHECK(!expr_has(&e, STR(""), &which));
	CHECK(!expr_has(&e, (struct str){ 0 }, &which));
}

TESTS(CASE(every_query_in_the_table_asks_for_what_it_says),
      CASE(an_identifier_is_found_however_either_side_writes_it),
      CASE(a_name_and_a_value_are_a_condition_and_other_colons_are_text),
      CASE(more_conditions_than_anybody_means_are_cut), CASE(every_text_finds_itself),
      CASE(no_query_is_syntax_and_none_is_an_error),
      CASE(no_character_becomes_a_quote_or_a_control_character),
      CASE(a_query_is_cut_when_words_are_left_out_and_only_then),
      CASE(long_queries_are_asked_like_short_ones), CASE(the_complaint_about_no_words_is_valid_text),
      CASE(a_word_of_a_text_is_known_by_what_is_looked_for))
