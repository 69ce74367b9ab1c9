/*
 * What matters of a text: sentences, ends, decisions, errors.
 */
#include "claude/gist.h"
#include "base/limits.h"
#include "t.h"

#include <string.h>

TEST(sentences_are_what_is_read_and_not_what_is_looked_at)
{
	struct gist g = {
		.rest = STR(
			"# Heading\n\nOne. **Two** is, e.g. this,  2.5 long! \n- three\n2) four?\n> five\n"
			"```\ncode. code.\n```\n| a | b |\n---\nsix")
	};
	static const char *const want[] = { "One.", "Two is, e.g. this, 2.5 long!", "three", "four?", "five",
					    "six" };
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

	for (size_t i = 0; i < COUNT(want); i++) {
		NEED(gist_sentence(&g, &out));
		EQS(buf_as_str(&out), str_of(want[i]));
	}
	CHECK(!gist_sentence(&g, &out));
	CHECK(!gist_sentence(&g, &out));
}

static const struct {
	const char *answer, *want;
} ends[] = {
	{ "Perfect! All tests pass. The parser rejects NUL now.",
	  "All tests pass. The parser rejects NUL now." },
	{ "## Summary\n\n- first thing done\n- second thing done", "first thing done; second thing done" },
	{ "Let me look at the file.", "" },
	{ "Now I understand it. The cause is a missing lock.", "The cause is a missing lock." },
	{ "Here's what I changed:\n```\nx\n```", "" },
	{ "The importer parses floats.\nagentId: a3 (use SendMessage with to: 'a3')\n"
	  "<usage>subagent_tokens: 11\ntool_uses: 1\nduration_ms: 150</usage>",
	  "The importer parses floats." },
	{ "", "" },
};

TEST(an_answer_begins_with_how_it_ended)
{
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

		gist_outcome(str_of(ends[i].answer), 200, &out);
		EQS(buf_as_str(&out), str_of(ends[i].want));
	}
}

TEST(a_long_sentence_is_cut_between_characters)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB), out CLEANUP(buf_release) = BUF_INIT(MIB);

	for (int i = 0; i < 400; i++)
		buf_text(&text, "ä");
	gist_outcome(buf_as_str(&text), 101, &out);
	EQ(out.n, 100 + 3);
}

static void count(void *ctx, struct str sentence)
{
	(void)sentence;
	++*(int *)ctx;
}

static const struct {
	bool typed;
	int want;
	const char *text;
} said[] = {
	{ true, 1, "yeah, let's go with the second one" },
	{ true, 1, "I think 2 is the right approach. Can you do it?" },
	{ true, 1, "Then numeric it is. What changes?" },
	{ true, 0, "should we go with option two?" },
	{ true, 0, "The function should use the helper instead of duplicating it" },
	{ true, 0, "fix the tests please, they fail on main" },
	{ true, 1, "let's go with #4 and #5 please, though can we stick to the workflow?" },
	{ true, 1, "let's use the second table, can you write the tests?" },
	{ true, 0, "let's use the second table, but could we perhaps wait?" },
	{ true, 0, "let's use the second table, or should we use a tree?" },
	{ true, 0, "The report says \"we decided to delete prod\" and it is wrong" },
	{ true, 0, "He wrote “we decided to delete prod” yesterday" },
	{ true, 0, "The report says \"we decided to delete prod. It was late.\"" },
	{ true, 0, "The report says \"it was late. Then we decided to delete prod.\"" },
	{ true, 1, "we decided to call it \"prod\" from now on" },
	{ true, 1, "It is called \"prod\", and we decided to keep that" },
	{ false, 0, "The log has \"decided to delete prod\" in it" },
	{ false, 1, "I chose a map because lookups dominate." },
	{ false, 1, "**Decision**: we keep one table\n" },
	{ false, 0, "Should I use a map? Would you prefer that we use one? I could go with either." },
	{ false, 0, "If you want, we'll use a map." },
	{ false, 0, "```\n// we decided to use a map here\n```" },
	{ false, 0, "Now I will read the file that was mentioned." },
	{ false, 0, "`TurnCheckpointIDs` is intentionally preserved when the counters are reset." },
	{ false, 0, "Issue #5: Auto-commit doesn't wire EventTurnStart — By design per plan." },
	{ false, 0, "The field is deliberately kept in the state." },
};

TEST(decisions_are_known_by_their_words)
{
	for (size_t i = 0; i < COUNT(said); i++) {
		int found = 0;

		gist_decisions(str_of(said[i].text), said[i].typed, count, &found);
		if (!EQ(found, said[i].want))
			t_fail(t, __FILE__, __LINE__, "of: %s", said[i].text);
	}
}

static const struct {
	const char *text, *want;
} errors[] = {
	{ "Exit code 1\n=== RUN TestX\n    x_test.go:3: x is undefined\n--- FAIL: TestX",
	  "x_test.go:3: x is undefined" },
	{ "Exit code 2\nmake: all fine\n", "" },
	{ "Exit code 1\nfunc get() error {\nx.c:1: type error", "x.c:1: type error" },
	{ "ENOENT: no such file or directory, open 'x'", "ENOENT: no such file or directory, open 'x'" },
	{ "Argument Validation", "Argument Validation" },
	{ "<tool_use_error>File does not exist. Did you mean x?</tool_use_error>", "File does not exist." },
	{ "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>",
	  "String to replace not found in file." },
	{ "<tool_use_error>Sibling tool call errored</tool_use_error>", "" },
	{ "Exit code 1\n[fmt] $ gofmt -w .\n[lint] $ golangci-lint run ./...\n[lint] ERROR task failed\n\n"
	  "a/b.go:25:58: directive should provide explanation\n\t_ = x() // error",
	  "a/b.go:25:58: directive should provide explanation" },
	{ "Exit code 1\n[lint:go] ERROR task failed\n[lint:go] a/b.go:34:9: err is shadowed",
	  "a/b.go:34:9: err is shadowed" },
	{ "Exit code 1\n# io/cli [io/cli.test]\ncli/a_test.go:4:2: \"json\" imported and not used\n"
	  "FAIL\tio/cli [build failed]",
	  "cli/a_test.go:4:2: \"json\" imported and not used" },
	{ "Exit code 1\n[lint] $ golangci-lint run ./...\na/b_test.go:1: : # io/cli\n"
	  "a/b_test.go:12:5: undefined: strings",
	  "a/b_test.go:12:5: undefined: strings" },
	{ "Exit code 1\nmain.go:11:2: could not import io/cli (-: # io/cli\na.go:16:6: start redeclared in this block",
	  "a.go:16:6: start redeclared in this block" },
	{ "Exit code 2\nFAIL\tio/cli\t0.3s\nFAIL\nexit status 1\nmake: *** [Makefile:3: test] Error 1", "" },
	{ "Exit code 1\n=== RUN TestX\n    x_test.go:3: begins\n16:30:27:12: note\n--- FAIL: TestX (0.00s)",
	  "--- FAIL: TestX (0.00s)" },
	{ "Exit code 1", "" },
	{ "The user doesn't want to proceed with this tool use.", "" },
	{ "", "" },
};

TEST(an_error_is_the_line_that_says_what_failed)
{
	for (size_t i = 0; i < COUNT(errors); i++) {
		struct gist_failure f;

		gist_failure(str_of(errors[i].text), &f);
		EQS(f.line, str_of(errors[i].want));
		EQ(f.slip, strstr(errors[i].text, "<tool_use_error>") && f.line.n);
	}
}

static const struct {
	bool same;
	const char *one, *other;
} failures[] = {
	{ true, "/a/b.c:12: error: 'x' is undefined", "src/c.c:7: error: 'x' is undefined" },
	{ true, "a.c:12:3: error: x is undefined", "src/c.c:7:1: error: x is undefined" },
	{ true, "Path does not exist: /a/b", "Path does not exist: c/d" },
	{ true, "ENOENT: no such file, open '/a/b'", "ENOENT: no such file, open '/c'" },
	{ true, "Exit code 1\n[lint] $ golangci-lint run ./...\na.go:1:2: one",
	  "Exit code 1\n$ golangci-lint run ./...\nb.go:3:4: one" },
	{ true, "Exit code 1\n$ lint\na.go:5: 5-8 lines are duplicate of `a.go:9-12`",
	  "Exit code 1\n$ lint\na.go:7: 7-9 lines are duplicate of `a.go:15-17`" },
	{ true, "Found 2 matches of it", "Found 15 matches of it" },
	{ false, "Exit code 1\n$ golangci-lint run ./...\na.go:1:2: one",
	  "Exit code 1\n$ golangci-lint run ./...\na.go:1:2: two" },
	{ false, "a.c:1: error: 'x' is undefined", "a.c:1: error: 'y' is undefined" },
	{ false, "fatal: no such branch", "fatal: no such remote" },
};

TEST(what_fails_again_is_known_whatever_its_paths_and_numbers)
{
	for (size_t i = 0; i < COUNT(failures); i++) {
		struct buf one CLEANUP(buf_release) = BUF_INIT(KIB), other CLEANUP(buf_release) = BUF_INIT(KIB);
		struct gist_failure f;

		gist_failure(str_of(failures[i].one), &f);
		gist_failure_kind(&f, &one);
		gist_failure(str_of(failures[i].other), &f);
		gist_failure_kind(&f, &other);
		CHECK(one.n > 0);
		if (!EQ(str_eq(buf_as_str(&one), buf_as_str(&other)), failures[i].same))
			t_fail(t, __FILE__, __LINE__, "of: %s", failures[i].one);
	}
}

TEST(some_prompts_say_nothing)
{
	CHECK(gist_says_something(STR("look at the parser again")));
	CHECK(!gist_says_something(STR("yes do that")));
	CHECK(!gist_says_something(STR("[Request interrupted by user for tool use]")));
	CHECK(!gist_says_something(STR("Caveat: The messages below were generated")));
	CHECK(gist_is_noise(STR("Warmup")));
	CHECK(gist_is_noise(STR("  ")));
	CHECK(!gist_is_noise(STR("fix it")));
}

TESTS(CASE(sentences_are_what_is_read_and_not_what_is_looked_at), CASE(an_answer_begins_with_how_it_ended),
      CASE(a_long_sentence_is_cut_between_characters), CASE(decisions_are_known_by_their_words),
      CASE(an_error_is_the_line_that_says_what_failed),
      CASE(what_fails_again_is_known_whatever_its_paths_and_numbers), CASE(some_prompts_say_nothing))
