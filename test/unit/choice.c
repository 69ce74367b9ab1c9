/*
 * What a decision is about.
 */
#include "claude/choice.h"
#include "base/limits.h"
#include "t.h"

static const struct {
	bool vague, alone;
	const char *sentence;
} sentences[] = {
	{ true, false, "yes, let's go with A" },
	{ true, false, "ok let's keep going" },
	{ true, false, "I think we should somehow prevent this from happening." },
	{ true, true, "Then numeric it is." },
	{ false, true, "let's use integer cents for prices" },
	{ false, false, "I think we should drop that cache because stale entries break resume" },
};

TEST(a_sentence_without_telling_words_is_vague)
{
	for (size_t i = 0; i < COUNT(sentences); i++) {
		bool vague = choice_is_vague(str_of(sentences[i].sentence));
		bool alone = choice_stands_alone(str_of(sentences[i].sentence));

		if (!EQ(vague, sentences[i].vague) || !EQ(alone, sentences[i].alone))
			t_fail(t, __FILE__, __LINE__, "of: %s", sentences[i].sentence);
	}
}

static const struct {
	const char *sentence, *answer, *want;
} choices[] = {
	{ "yes, let's go with A", "Two ways:\n\n- **A) Keep one table** and lock it\n- **B) Split it**",
	  "A: Keep one table and lock it" },
	{ "I think 2 is the right approach", "1. Do less here\n2. Validate in each test. It is slower.\n\nWhich one?",
	  "2: Validate in each test." },
	{ "let's go with the second one", "### Option A: wait for it\n### Option B: ask again later",
	  "B: ask again later" },
	{ "go with option 3", "1. one thing\n2. two things\n\nShould prices be stored as numeric columns?",
	  "asked: Should prices be stored as numeric columns?" },
	{ "yes, let's keep that", "I moved it. Should the parser reject empty lines? Would you like that?",
	  "asked: Should the parser reject empty lines?" },
	{ "yes, let's keep that", "Done. Anything else?", "" },
	{ "yes, let's keep that", "", "" },
	{ "let's go with 2", "2", "" },
};

TEST(what_is_chosen_stands_in_the_answer_before)
{
	for (size_t i = 0; i < COUNT(choices); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

		EQ(choice_about(str_of(choices[i].sentence), str_of(choices[i].answer), &out), choices[i].want[0] != 0);
		EQS(buf_as_str(&out), str_of(choices[i].want));
	}
}

static void join(void *ctx, struct str decision)
{
	buf_str(ctx, decision);
	buf_byte(ctx, '|');
}

TEST(answers_to_questions_of_a_tool_are_decisions)
{
	static const struct {
		const char *result, *want;
	} results[] = {
		{ "User has answered your questions: \"Which store should prices use?\"=\"SQLite (Recommended)\", "
		  "\"Should old orders be converted?\"=\"Only new\". You can now continue with the user's answers "
		  "in mind.",
		  "Which store should prices use? → SQLite (Recommended)|Should old orders be converted? → Only new|" },
		{ "User has answered your questions: \"Which one?\"=\"\". You can now continue", "" },
		{ "User has answered your questions: \"Which store should prices use?\"=\"Like so:\nx\". You can now",
		  "" },
		{ "User has answered your questions: \"Which store should prices use?\"=\"\". You can now", "" },
		{ "User has answered your questions: \"open", "" },
		{ "\"Which store should prices use?\"=\"x\". You can now", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < COUNT(results); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

		choice_answers(str_of(results[i].result), join, &out);
		EQS(buf_as_str(&out), str_of(results[i].want));
	}
}

TESTS(CASE(a_sentence_without_telling_words_is_vague), CASE(what_is_chosen_stands_in_the_answer_before),
      CASE(answers_to_questions_of_a_tool_are_decisions))
