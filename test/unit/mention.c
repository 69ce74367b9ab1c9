/*
 * What texts name: what has the shape of a name is found, in one form, and nothing else.
 */
#include "claude/mention.h"
#include "t.h"

#include <string.h>

static void add(void *ctx, enum mention_kind kind, struct str name)
{
	struct buf *out = ctx;

	buf_printf(out, "%s%s:%.*s", out->n ? " " : "", mention_kind_name(kind), STR_ARG(name));
}

static const struct {
	enum record_place place;
	unsigned flags;
	const char *text, *want;
} texts[] = {
	/* Pages and issues. */
	{ PLACE_ANSWER, 0, "see https://docs.rs/serde.", "url:https://docs.rs/serde" },
	{ PLACE_ANSWER, 0, "(https://a.io/b_(c)) [x](https://a.io/d)",
	  "url:https://a.io/b_(c)) url:https://a.io/d" },
	{ PLACE_ANSWER, 0, "http://localhost:8080/x http://example.com/ ftp://a.io/b https://", "" },
	{ PLACE_ANSWER, 0, "https://github.com/o/n/pull/12#issuecomment-1", "issue:o/n#12" },
	{ PLACE_ANSWER, 0, "https://gitlab.com/o/n/-/issues/3, o/n#3 and #4", "issue:o/n#3 issue:o/n#3" },
	{ PLACE_ANSWER, 0, "/a/b/c#1 a/b#x 1/2#3", "" },
	{ PLACE_ANSWER, 0, "ENT-12 and (WEB-3), not UTF-8, xENT-1, ENT-1x, A-1, SHA-256, ENT-",
	  "issue:ENT-12 issue:WEB-3" },
	/* Commits and sessions. */
	{ PLACE_ANSWER, 0, "Committed as `1a2b3c4d5e`.", "commit:1a2b3c4" },
	{ PLACE_ANSWER, 0, "commit 1a2b3c4 fixes it; commit abc1234 and commit defaced", "commit:1a2b3c4" },
	{ PLACE_ANSWER, 0, "in 79f2f12c-0e62-4e25-8416-798d8549f7e1.jsonl",
	  "session:79f2f12c-0e62-4e25-8416-798d8549f7e1" },
	{ PLACE_ANSWER, 0, "a79f2f12c-0e62-4e25-8416-798d8549f7e1 79f2f12c-0e62", "" },
	/* What is typed has more. */
	{ PLACE_PROMPT, RECORD_PROMPT, "please fix the parsers in `parse_line()` and `it`",
	  "identifier:parse_line topic:parser" },
	{ PLACE_PROMPT, RECORD_PROMPT, "Gemini's hooks/run.sh fails 3x with `--flag`, PARSE_ERR",
	  "topic:gemini topic:fail topic:flag" },
	{ PLACE_PROMPT, RECORD_QUEUED, "class glass", "topic:class topic:glass" },
	{ PLACE_PROMPT, RECORD_QUEUED, "strategies, matches, branches and fixes of aliases",
	  "topic:strategy topic:match topic:fixes topic:alias" },
	{ PLACE_PROMPT, RECORD_QUEUED, "meant enough in addition for the third scenario",
	  "topic:scenario" },
	{ PLACE_PROMPT, 0, "a sub-agent's `parse_line` parser", "" },
	{ PLACE_PROMPT, RECORD_PROMPT | RECORD_META, "parser", "" },
	{ PLACE_PROMPT, RECORD_PROMPT, "<command-name>/clear</command-name>", "" },
	{ PLACE_ANSWER, 0, "the `parse_line` parser", "" },
	/* What is printed has only what tools did. */
	{ PLACE_OUTPUT, 0, "[main 1a2b3c4] Subject\n 1 file", "commit:1a2b3c4" },
	{ PLACE_OUTPUT, 0, "x\n[feat/x (root-commit) 1a2b3c4] S\n[INFO 12] [a]", "commit:1a2b3c4" },
	{ PLACE_OUTPUT, 0, "https://docs.rs/x https://github.com/o/n/pull/7", "issue:o/n#7" },
	{ PLACE_THINKING, 0, "https://docs.rs/x", "" },
	{ PLACE_ANSWER, 0, "", "" },
};

TEST(texts_name_what_has_the_shape_of_a_name)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct record rec = { .flags = texts[i].flags };
		struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

		mention_text(&rec, texts[i].place, str_of(texts[i].text), add, &out);
		if (!EQS(buf_as_str(&out), str_of(texts[i].want)))
			t_fail(t, __FILE__, __LINE__, "of: %s", texts[i].text);
	}
}

/* Any bytes, at any end of the text, and very much of everything. */
TEST(odd_texts_do_no_harm)
{
	static const char *const pieces[] = {
		"https://", "://", "#1", "a/b#", "ommit", "[", "]", "`", "-", "\xff", "79f2f12c-",
	};
	struct record rec = { .flags = RECORD_PROMPT };

	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(4 * MIB);
		struct buf out CLEANUP(buf_release) = BUF_INIT(64 * MIB);

		for (int n = 0; n < 20000; n++)
			buf_text(&text, pieces[i]);
		for (int place = 0; place < PLACES; place++) {
			mention_text(&rec, (enum record_place)place, buf_as_str(&text), add, &out);
			mention_text(&rec, (enum record_place)place, str_of(pieces[i]), add, &out);
		}
		CHECK(!out.failed);
	}
}

TEST(common_words_are_no_topics)
{
	static const char *const words[] = { "able", "yours", "plan", "their", "https" };

	for (size_t i = 0; i < COUNT(words); i++)
		CHECK(mention_is_common(str_of(words[i])));
	CHECK(!mention_is_common(STR("parser")));
}

TEST(what_is_typed_is_brought_into_the_form_of_names)
{
	struct buf room CLEANUP(buf_release) = BUF_INIT(KIB);

	EQS(mention_form(MENTION_TOPIC, STR("Parsers"), &room), STR("parser"));
	EQS(mention_form(MENTION_TOPIC, STR("Strategies"), &room), STR("strategy"));
	EQS(mention_form(MENTION_COMMIT, STR("1a2b3c4d5e6f"), &room), STR("1a2b3c4"));
	EQS(mention_form(MENTION_COMMIT, STR("main.c"), &room), STR(""));
	EQS(mention_form(MENTION_ISSUE, STR("https://github.com/o/n/issues/2"), &room), STR("o/n#2"));
	EQS(mention_form(MENTION_ISSUE, STR("WEB-12"), &room), STR("WEB-12"));
	EQS(mention_form(MENTION_ISSUE, STR("web-12"), &room), STR("WEB-12"));
	EQS(mention_form(MENTION_ISSUE, STR("Web-12"), &room), STR("WEB-12"));
	EQS(mention_form(MENTION_ISSUE, STR("utf-8"), &room), STR(""));
	EQS(mention_form(MENTION_ISSUE, STR("web-12x"), &room), STR(""));
	EQS(mention_form(MENTION_ISSUE, STR("web-"), &room), STR(""));
	EQS(mention_form(MENTION_IDENTIFIER, STR("f_x()"), &room), STR("f_x"));
}

TESTS(CASE(texts_name_what_has_the_shape_of_a_name), CASE(odd_texts_do_no_harm),
      CASE(common_words_are_no_topics), CASE(what_is_typed_is_brought_into_the_form_of_names))
