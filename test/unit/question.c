/*
 * Questions as they are asked, answered by rules, told to readers and handed over.
 */
#include "approvals.h"
#include "claude/permission.h"
#include "live/question.h"
#include "store/db.h"
#include "store/rule.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static enum status open_store(struct t *t, const char *name, struct store **out, struct err *err)
{
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/%s", t_tmpdir(t), name);
	return store_open(&(struct store_options){ .path = path, .create = true }, out, err);
}

static struct question_new ask_bash(const char *command, struct arena *mem)
{
	struct question_new q = { .what = test_question(), .home = STR("/home/u") };

	q.what.input = arena_printf(mem, "{\"command\":\"%s\"}", command);
	return q;
}

static enum status add_rule(struct store *s, const char *text, enum rule_decision decision, int64_t session,
			    struct rule *out, struct err *err)
{
	struct permission p;

	if (permission_read(str_of(text), &p, err))
		return err_failed(err->status);
	*out = (struct rule){
		.tool = p.tool, .pattern = p.pattern, .decision = decision, .session = session
	};
	return rule_add(s, out, err);
}

/* What happens to a question: "allow", "deny", or "ask". */
static const char *outcome(struct store *s, const char *command, int64_t session)
{
	struct question_new q;
	struct approval a;
	struct err err;
	ARENA;

	q = ask_bash(command, &mem);
	q.what.session = session;
	if (question_ask(s, &q, &mem, &a, &err))
		return err.text[0] ? "failed" : "";
	return a.is_decided ? approval_decision_names[a.decision] : "ask";
}

#define OUTCOME(command, session, want) EQS(str_of(outcome(s, command, session)), STR(want))

/* ---- Rules -------------------------------------------------------------------------- */

TEST(of_all_rules_that_mean_a_question_deny_beats_ask_and_ask_beats_allow_in_any_order)
{
	static const char *const names[] = { "allow", "deny", "ask" };
	char dir[32];

	for (int order = 0; order < 64; order++) {
		enum rule_decision list[] = { order & 3, order >> 2 & 3, order >> 4 & 3 };
		bool has[4] = { 0 };
		STORE *s = NULL;
		struct rule r;
		struct err err;

		snprintf(dir, sizeof dir, "%d.db", order);
		OK(open_store(t, dir, &s, &err));
		for (int i = 0; i < 3; i++) {
			has[list[i]] = true; /* 3 = no rule */
			if (list[i] < RULE_DECISIONS)
				OK(add_rule(s, i == 1 ? "Bash" : "Bash(git *)", list[i], 0, &r, &err));
		}
		EQS(str_of(outcome(s, "git status", 0)), str_of(names[has[RULE_DENY]	? RULE_DENY
								      : has[RULE_ASK]	? RULE_ASK
								      : has[RULE_ALLOW] ? RULE_ALLOW
											: RULE_ASK]));
	}
}

TEST(a_rule_of_a_session_answers_there_and_a_general_one_everywhere)
{
	STORE *s = NULL;
	int64_t one, two;
	struct rule r;
	struct err err;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_session(s, "one", &one, &err));
	OK(test_session(s, "two", &two, &err));
	OK(add_rule(s, "Bash(git *)", RULE_ALLOW, one, &r, &err));
	OUTCOME("git status", one, "allow");
	OUTCOME("git status", two, "ask");
	OUTCOME("git status", 0, "ask");
	OK(add_rule(s, "Bash(git push *)", RULE_DENY, 0, &r, &err));
	OUTCOME("git push", one, "deny");
	OUTCOME("git push", 0, "deny");
	OUTCOME("git status", one, "allow");
	OK(add_rule(s, "Bash(git *)", RULE_DENY, two, &r, &err));
	OUTCOME("git status", one, "allow");
	OUTCOME("git status", two, "deny");
}

TEST(a_rule_of_a_session_of_the_client_is_of_no_other)
{
	STORE *s = NULL;
	struct rule r = { .tool = STR("Bash"), .decision = RULE_ALLOW, .has_claude_session = true };
	struct question_new q;
	struct approval a;
	struct uuid other;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(uuid_random(&r.claude_session, &err));
	OK(uuid_random(&other, &err));
	OK(rule_add(s, &r, &err));
	q = ask_bash("ls", &mem);
	OK(question_ask(s, &q, &mem, &a, &err));
	CHECK(!a.is_decided);
	q.what.claude_session = &other;
	OK(question_ask(s, &q, &mem, &a, &err));
	CHECK(!a.is_decided);
	q.what.claude_session = &r.claude_session;
	OK(question_ask(s, &q, &mem, &a, &err));
	CHECK(a.is_decided && a.decision == APPROVAL_ALLOW && a.by == APPROVAL_BY_RULE &&
	      uuid_eq(&a.rule, &r.id));
}

TEST(a_rule_that_was_removed_or_is_over_answers_nothing)
{
	STORE *s = NULL;
	struct rule r, old = { .tool = STR("Bash"), .decision = RULE_ALLOW, .expires_at = 1 };
	struct err err;

	OK(open_store(t, "a.db", &s, &err));
	OK(rule_add(s, &old, &err));
	OUTCOME("ls", 0, "ask");
	OK(add_rule(s, "Bash", RULE_ALLOW, 0, &r, &err));
	OUTCOME("ls", 0, "allow");
	OK(rule_remove(s, &r, &err));
	EQ(rule_remove(s, &r, &err), STATUS_CONFLICT);
	OUTCOME("ls", 0, "ask");
}

TEST(a_denial_by_rule_says_which)
{
	STORE *s = NULL;
	struct question_new q;
	struct approval a;
	struct rule r;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(add_rule(s, "Bash(rm *)", RULE_DENY, 0, &r, &err));
	q = ask_bash("rm x", &mem);
	OK(question_ask(s, &q, &mem, &a, &err));
	EQS(a.message, STR("denied by a rule: Bash(rm *)"));
}

TEST(a_new_rule_answers_what_waits_and_nothing_else)
{
	STORE *s = NULL;
	struct question_new git, rm;
	struct approval a, b;
	int64_t answered = -1;
	struct rule r;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	git = ask_bash("git status", &mem);
	rm = ask_bash("git status; rm x", &mem);
	OK(question_ask(s, &git, &mem, &a, &err));
	OK(question_ask(s, &rm, &mem, &b, &err));
	OK(add_rule(s, "Bash(git *)", RULE_ALLOW, 0, &r, &err));
	OK(question_apply_rules(s, STR("/home/u"), &answered, &err));
	EQ(answered, 1);
	OK(question_look(s, &a, &mem, &err));
	OK(question_look(s, &b, &mem, &err));
	CHECK(a.state == APPROVAL_DECIDED && b.state == APPROVAL_PENDING);
}

TEST(a_link_below_an_allowed_folder_is_not_allowed)
{
	STORE *s = NULL;
	struct question_new q = { .what = test_question() };
	const char *dir = t_tmpdir(t);
	char cwd[LIMIT_PATH], link[LIMIT_PATH];
	struct approval a;
	struct rule r;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	snprintf(cwd, sizeof cwd, "%.2000s/p", dir);
	snprintf(link, sizeof link, "%.2000s/p/src", dir);
	NEED(mkdir(cwd, 0700) == 0 && mkdir(link, 0700) == 0);
	snprintf(link, sizeof link, "%.2000s/p/src/out", dir);
	NEED(symlink("/etc", link) == 0);
	OK(add_rule(s, "Edit(src/**)", RULE_ALLOW, 0, &r, &err));
	q.what.cwd = str_of(cwd);
	q.what.tool_name = STR("Write");
	q.what.input = STR("{\"file_path\":\"src/new/a\"}");
	OK(question_ask(s, &q, &mem, &a, &err));
	CHECK(a.is_decided && a.decision == APPROVAL_ALLOW);
	q.what.input = STR("{\"file_path\":\"src/out/a\"}");
	OK(question_ask(s, &q, &mem, &a, &err));
	CHECK(!a.is_decided);
}

/* ---- Streams -------------------------------------------------------------------------- */

static enum status read_all(struct store *s, const struct run *run, struct arena *mem, struct stream *stream,
			    struct event_page *p, struct err *err)
{
	struct event_ask all = { .limit = 1000, .bytes = LIMIT_POLL_BYTES };

	stream->id = run->stream;
	return event_page(s, stream, &all, mem, p, err);
}

TEST(readers_of_the_stream_hear_of_the_question_and_of_its_end)
{
	STORE *s = NULL;
	struct approval_answer yes = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW);
	struct question_new q;
	struct approval a, b;
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	q = ask_bash("ls", &mem);
	q.what.session = run.session;
	q.what.run = run.row;
	q.writer = &run.writer;
	OK(question_ask(s, &q, &mem, &a, &err));
	q.what.request_id = STR("second");
	q.writer = NULL; /* from beside the driver */
	OK(question_ask(s, &q, &mem, &b, &err));
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	EQ(stream.state, STREAM_AWAITING);
	OK(approval_decide(s, &a, &yes, &mem, &err));
	OK(question_deliver(s, &a, &run.writer, &mem, &err));
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	EQ(stream.state, STREAM_AWAITING); /* the second one */
	OK(question_withdraw(s, &b, NULL, &mem, &err));
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	EQ(stream.state, STREAM_RUNNING);
	NEED(p.count == 5);
	EQS(p.events[1].type, STR("awaiting_approval"));
	CHECK(strstr(p.events[1].data.p, "\"input\":{\"command\":\"ls\"}"));
	EQS(p.events[3].type, STR("approval_resolved"));
	CHECK(strstr(p.events[3].data.p, "\"approved\":true") &&
	      strstr(p.events[3].data.p, "\"by\":\"person\""));
	CHECK(strstr(p.events[4].data.p, "\"approved\":false") &&
	      strstr(p.events[4].data.p, "\"void\":\"withdrawn\""));
}

TEST(an_answer_by_rule_is_told_in_the_same_two_events)
{
	STORE *s = NULL;
	struct question_new q;
	struct approval a;
	struct event_page p;
	struct stream stream;
	struct rule r;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(add_rule(s, "Bash", RULE_ALLOW, 0, &r, &err));
	q = ask_bash("ls", &mem);
	q.what.session = run.session;
	q.what.run = run.row;
	q.writer = &run.writer;
	OK(question_ask(s, &q, &mem, &a, &err));
	OK(question_deliver(s, &a, &run.writer, &mem, &err));
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	NEED(p.count == 3);
	EQS(p.events[1].type, STR("awaiting_approval"));
	EQS(p.events[2].type, STR("approval_resolved"));
	CHECK(strstr(p.events[2].data.p, "\"by\":\"rule\""));
	EQ(stream.state, STREAM_RUNNING);
}

TEST(a_driver_that_has_lost_its_run_neither_asks_nor_hands_over)
{
	STORE *s = NULL;
	struct approval_answer yes = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW);
	struct stream_writer old;
	struct question_new q;
	struct approval a;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	old = run.writer;
	q = ask_bash("ls", &mem);
	q.what.session = run.session;
	q.what.run = run.row;
	q.writer = &old;
	OK(question_ask(s, &q, &mem, &a, &err));
	OK(approval_decide(s, &a, &yes, &mem, &err));
	OK(run_take(s, &run, &(struct lease){ .host = STR("local"), .boot = STR("b"), .pid = 2 }, &err));
	EQ(question_deliver(s, &a, &old, &mem, &err), STATUS_CONFLICT);
	OK(approval_get(s, &a.id, &mem, &a, &err));
	EQ(a.state, APPROVAL_DECIDED); /* not delivered */
	q.what.request_id = STR("second");
	EQ(question_ask(s, &q, &mem, &a, &err), STATUS_CONFLICT);
}

/* ---- Who is gone ---------------------------------------------------------------------- */

static void ask_and_die(const char *path)
{
	struct store *s = NULL;
	struct question_new q;
	struct approval a;
	struct err err;
	ARENA;

	q = ask_bash("ls", &mem);
	_exit(store_open(&(struct store_options){ .path = path }, &s, &err) ||
	      question_ask(s, &q, &mem, &a, &err));
}

static enum status take_first(void *ctx, const struct approval *a, bool *go_on, struct err *err)
{
	(void)err;
	*go_on = false;
	*(struct uuid *)ctx = a->id;
	return STATUS_OK;
}

TEST(a_question_of_a_process_that_is_gone_becomes_void_and_can_be_answered_no_more)
{
	STORE *s = NULL;
	struct approval_answer yes = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW);
	struct question_new q;
	struct approval a, mine;
	struct err err;
	pid_t pid;
	int how;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	pid = fork();
	if (pid == 0)
		ask_and_die(store_path(s));
	NEED(waitpid(pid, &how, 0) == pid && how == 0);
	OK(approval_each_pending(s, 0, take_first, &a.id, &err));
	OK(approval_get(s, &a.id, &mem, &a, &err));
	EQ(a.asker.pid, pid);
	q = ask_bash("ls", &mem);
	OK(question_ask(s, &q, &mem, &mine, &err));
	OK(question_look_after(s, &err));
	OK(approval_get(s, &a.id, &mem, &a, &err));
	OK(question_look(s, &mine, &mem, &err));
	CHECK(a.state == APPROVAL_VOID && mine.state == APPROVAL_PENDING);
	EQ(approval_decide(s, &a, &yes, &mem, &err), STATUS_CONFLICT);
}

/* ---- The answer ------------------------------------------------------------------------ */

static struct str answer_text(const struct approval *a, struct buf *out)
{
	struct json_writer w;

	buf_clear(out);
	json_write_init(&w, out, 0);
	question_write_answer(&w, a);
	return buf_as_str(out);
}

TEST(the_client_hears_the_input_with_yes_and_a_reason_with_no)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);
	struct approval a = { .input = STR("{\"a\":1.0}"), .decision = APPROVAL_ALLOW };

	EQS(answer_text(&a, &out), STR("{\"behavior\":\"allow\",\"updatedInput\":{\"a\":1.0}}"));
	a.edited_input = STR("{}");
	EQS(answer_text(&a, &out), STR("{\"behavior\":\"allow\",\"updatedInput\":{}}"));
	a.decision = APPROVAL_DENY;
	EQS(answer_text(&a, &out),
	    STR("{\"behavior\":\"deny\",\"message\":\"the user does not want this to run\"}"));
	a.message = STR("no");
	a.interrupt = true;
	EQS(answer_text(&a, &out), STR("{\"behavior\":\"deny\",\"message\":\"no\",\"interrupt\":true}"));
}

TEST(always_makes_a_rule_for_this_and_nothing_else)
{
	struct approval a = { .tool_name = STR("Bash"),
			      .input = STR("{\"command\":\"rm *\"}"),
			      .cwd = STR("/work") };
	struct permission p;
	struct err err;
	ARENA;

	OK(question_rule(&a, (struct str){ 0 }, &mem, &p, &err));
	EQS(p.tool, STR("Bash"));
	EQS(p.pattern, STR("rm \\*"));
	a.input = STR("{\"command\":\"ls\",\"description\":\"lists\",\"timeout\":5}");
	OK(question_rule(&a, (struct str){ 0 }, &mem, &p, &err));
	EQS(p.pattern, STR("ls"));
}

TEST(where_no_rule_says_exactly_this_there_is_none_for_always)
{
	static const char *const asked[][2] = {
		{ "mcp__db__query", "{\"sql\":\"SELECT 1\"}" },
		{ "WebFetch", "{\"url\":\"https://example.com/x\",\"prompt\":\"p\"}" },
		{ "Agent", "{\"subagent_type\":\"Explore\",\"prompt\":\"p\"}" },
		{ "Skill", "{\"skill\":\"pdf\"}" },
		{ "Bash", "{\"command\":\"ls\",\"dangerouslyDisableSandbox\":true}" },
		{ "ExitPlanMode", "{\"plan\":\"p\"}" },
		{ "AskUserQuestion", "{}" },
		{ "Write", "{\"content\":\"x\"}" },
	};
	struct permission p;
	struct err err;
	ARENA;

	for (size_t i = 0; i < COUNT(asked); i++) {
		struct approval a = { .tool_name = str_of(asked[i][0]), .input = str_of(asked[i][1]) };

		EQ(question_rule(&a, (struct str){ 0 }, &mem, &p, &err), STATUS_USAGE);
	}
}

TESTS(CASE(of_all_rules_that_mean_a_question_deny_beats_ask_and_ask_beats_allow_in_any_order),
      CASE(a_rule_of_a_session_answers_there_and_a_general_one_everywhere),
      CASE(a_rule_of_a_session_of_the_client_is_of_no_other),
      CASE(a_rule_that_was_removed_or_is_over_answers_nothing), CASE(a_denial_by_rule_says_which),
      CASE(a_new_rule_answers_what_waits_and_nothing_else),
      CASE(a_link_below_an_allowed_folder_is_not_allowed),
      CASE(readers_of_the_stream_hear_of_the_question_and_of_its_end),
      CASE(an_answer_by_rule_is_told_in_the_same_two_events),
      CASE(a_driver_that_has_lost_its_run_neither_asks_nor_hands_over),
      CASE(a_question_of_a_process_that_is_gone_becomes_void_and_can_be_answered_no_more),
      CASE(the_client_hears_the_input_with_yes_and_a_reason_with_no),
      CASE(always_makes_a_rule_for_this_and_nothing_else),
      CASE(where_no_rule_says_exactly_this_there_is_none_for_always))
