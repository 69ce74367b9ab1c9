/*
 * Questions of a driven agent about its tools, with a client that asks as the real one does
 * (test/harness/claude.py). After everything that can happen to them, the client has heard exactly those
 * yeses that somebody gave.
 */
#include "live/asking.h"

#include "agents.h"
#include "approvals.h"
#include "live/lease.h"

#include <signal.h>
#include <time.h>

struct ids {
	struct uuid list[64];
	size_t count;
};

static enum status note_id(void *ctx, const struct approval *a, bool *go_on, struct err *err)
{
	struct ids *ids = ctx;

	(void)err;
	ids->list[ids->count++] = a->id;
	*go_on = ids->count < COUNT(ids->list);
	return STATUS_OK;
}

/* The i-th question, from the first on; one without an id when there are not so many. */
static struct approval nth(struct world *w, size_t i)
{
	struct ids ids = { .count = 0 };
	struct approval a = { .row = 0 };
	struct err err;

	if (!approval_each(w->s, 0, note_id, &ids, &err) && i < ids.count &&
	    approval_get(w->s, &ids.list[ids.count - 1 - i], &w->mem, &a, &err))
		a.row = 0;
	return a;
}

static size_t asked_so_far(struct world *w)
{
	size_t n = 0;

	while (nth(w, n).row)
		n++;
	return n;
}

static bool wait_until_asked(struct world *w, size_t n)
{
	struct err err;
	bool changed;

	for (int i = 0; i < 3000 && asked_so_far(w) < n; i++)
		if (store_wait(w->s, 20, &changed, &err))
			return false;
	return asked_so_far(w) == n;
}

static enum status decide(struct world *w, size_t i, struct approval_answer answer, struct err *err)
{
	struct approval a = nth(w, i);

	return approval_decide(w->s, &a, &answer, &w->mem, err);
}

#define ALLOW test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW)
#define DENY  test_answer(APPROVAL_BY_PERSON, APPROVAL_DENY)
#define ASKING(w) \
	WORLD; \
	(w).loopback = true

/* Yeses that the client has heard, all by all runs. */
static int yeses_heard(struct t *t, const struct world *w)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	static const char yes[] = "\"behavior\":\"allow\"";
	char path[LIMIT_PATH];
	struct err err;
	int n = 0;

	snprintf(path, sizeof path, "%s/told.jsonl", w->folder);
	if (file_read_all(path, &all, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return -1;
	}
	for (const char *p = all.p; (p = memmem(p, (size_t)(all.p + all.n - p), yes, sizeof yes - 1)); p++)
		n++;
	return n;
}

static int yeses_given(struct world *w)
{
	int n = 0;

	for (size_t i = 0; nth(w, i).row; i++) {
		struct approval a = nth(w, i);

		n += a.state == APPROVAL_DELIVERED && a.decision == APPROVAL_ALLOW && a.is_decided;
	}
	return n;
}

static enum status end(struct t *t, struct world *w, pid_t pid, struct err *err)
{
	waitpid(pid, NULL, 0);
	EQ(yeses_heard(t, w), yeses_given(w));
	return read_all(w, err);
}

/* ---- Answers --------------------------------------------------------------------- */

TEST(a_tool_runs_when_somebody_allows_it)
{
	struct approval a;
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "tool touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_for(&w, "awaiting_approval"));
	EQ(w.stream.state, STREAM_AWAITING);
	CHECK(seen(t, &w, "seen.json", "--permission-prompt-tool"));
	a = nth(&w, 0);
	EQ(a.state, APPROVAL_PENDING);
	EQS(a.session_name, STR("one"));
	EQS(a.tool_name, STR("Bash"));
	CHECK(a.has_claude_session && a.tool_use_id.n && a.suggestions.n);
	OK(decide(&w, 0, ALLOW, &err));
	OK(end(t, &w, pid, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "tool_result", "ran touch a"), 1);
	EQ(count(&w, "approval_resolved", "\"approved\":true"), 1);
	EQ(nth(&w, 0).state, APPROVAL_DELIVERED);
	EQ(yeses_given(&w), 1);
}

TEST(what_runs_is_what_was_allowed)
{
	struct approval_answer answer = ALLOW;
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "tool touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	answer.edited_input = STR("{\"command\":\"touch b\"}");
	OK(decide(&w, 0, answer, &err));
	OK(end(t, &w, pid, &err));
	EQ(count(&w, "tool_result", "ran touch b"), 1);
	EQ(count(&w, "approval_resolved", "touch b"), 1);
}

TEST(a_denied_tool_does_not_run_and_the_model_hears_why)
{
	struct approval_answer answer = DENY;
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "tool touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	answer.message = STR("not there");
	OK(decide(&w, 0, answer, &err));
	OK(end(t, &w, pid, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "tool_result", "not there"), 1);
	EQ(count(&w, "approval_resolved", "\"approved\":false"), 1);
}

TEST(a_denial_can_end_the_turn)
{
	struct approval_answer answer = DENY;
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "tool touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	answer.interrupt = true;
	OK(decide(&w, 0, answer, &err));
	OK(end(t, &w, pid, &err));
	EQ(w.stream.state, STREAM_CANCELLED);
}

TEST(a_rule_answers_at_once_and_readers_hear_of_it)
{
	struct rule rule = { .tool = STR("Bash"), .pattern = STR("touch *"), .decision = RULE_ALLOW };
	struct err err;
	ASKING(w);

	OK(begin(t, &w, "tool touch a", &err));
	OK(rule_add(w.s, &rule, &err));
	OK(drive_it(&w, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "awaiting_approval", "touch a"), 1);
	EQ(count(&w, "approval_resolved", "\"by\":\"rule\""), 1);
	EQ(count(&w, "tool_result", "ran touch a"), 1);
	EQ(yeses_heard(t, &w), 1);
}

TEST(several_questions_are_answered_each_for_itself)
{
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "tool touch a | touch b | touch c", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 3));
	OK(decide(&w, 1, ALLOW, &err));
	CHECK(wait_for(&w, "approval_resolved"));
	EQ(w.stream.state, STREAM_AWAITING);
	OK(decide(&w, 2, DENY, &err));
	OK(decide(&w, 0, ALLOW, &err));
	OK(end(t, &w, pid, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "tool_result", "ran touch a"), 1);
	EQ(count(&w, "tool_result", "ran touch b"), 1);
	EQ(count(&w, "tool_result", "ran touch c"), 0);
}

TEST(a_question_to_a_person_and_a_plan_go_the_same_way)
{
	struct approval_answer answer = ALLOW;
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "question Which one?", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	answer.edited_input = STR("{\"questions\":[],\"answers\":{\"Which one?\":\"The first\"}}");
	OK(decide(&w, 0, answer, &err));
	OK(end(t, &w, pid, &err));
	EQ(count(&w, "tool_result", "The first"), 1);
	OK(submit(&w, "one", "plan to do it", false, &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 2));
	EQS(nth(&w, 1).tool_name, STR("ExitPlanMode"));
	OK(decide(&w, 1, ALLOW, &err));
	OK(end(t, &w, pid, &err));
	EQ(count(&w, "tool_result", "ran ExitPlanMode"), 1);
}

TEST(a_sub_agent_may_ask_when_the_turn_is_over)
{
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "late touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	EQS(nth(&w, 0).agent_id, STR("a1"));
	OK(decide(&w, 0, ALLOW, &err));
	OK(end(t, &w, pid, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "content_delta", "ran"), 1);
}

TEST(a_turn_that_follows_a_shell_in_the_background_may_ask)
{
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "shell touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	OK(decide(&w, 0, ALLOW, &err));
	OK(end(t, &w, pid, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "passthrough", "it waits for what it has in the background"), 1);
	EQ(count(&w, "content_delta", "ran"), 1);
}

/* ---- No answer --------------------------------------------------------------------- */

TEST(what_nobody_answers_in_time_is_denied)
{
	struct err err;
	ASKING(w);

	w.expire_ms = 50;
	OK(begin(t, &w, "tool touch a", &err));
	OK(drive_it(&w, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "approval_resolved", "\"by\":\"expiry\""), 1);
	EQ(count(&w, "tool_result", "ran"), 0);
	EQ(yeses_heard(t, &w), 0);
}

TEST(a_question_that_the_client_withdraws_is_void)
{
	struct err err;
	ASKING(w);

	OK(begin(t, &w, "recant touch a", &err));
	OK(drive_it(&w, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(nth(&w, 0).state, APPROVAL_VOID);
	EQS(nth(&w, 0).void_reason, STR("withdrawn"));
	EQ(count(&w, "approval_resolved", "\"void\":\"withdrawn\""), 1);
	EQ(decide(&w, 0, ALLOW, &err), STATUS_CONFLICT);
}

TEST(an_interrupt_takes_the_question_back)
{
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "tool touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	OK(command(&w, "interrupt", "{}", &err));
	OK(end(t, &w, pid, &err));
	EQ(w.stream.state, STREAM_CANCELLED);
	EQ(nth(&w, 0).state, APPROVAL_VOID);
}

/* The driver is gone: whoever looks finds its questions void, answered or not. */
static void kill_with_question(struct t *t, bool answered)
{
	struct err err;
	pid_t pid;
	ASKING(w);

	OK(begin(t, &w, "tool touch a", &err));
	pid = drive_beside(&w);
	CHECK(wait_until_asked(&w, 1));
	kill(pid, SIGSTOP);
	if (answered)
		OK(decide(&w, 0, ALLOW, &err));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	OK(question_look_after(w.s, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_INTERRUPTED);
	EQ(nth(&w, 0).state, APPROVAL_VOID);
	EQS(nth(&w, 0).void_reason, STR("lost"));
	EQ(yeses_heard(t, &w), 0);
}

TEST(a_question_of_a_driver_that_is_killed_is_void)
{
	kill_with_question(t, false);
	kill_with_question(t, true);
}

TEST(what_is_no_question_is_refused)
{
	struct err err;
	ASKING(w);

	OK(begin(t, &w, "ask", &err)); /* a tool without input */
	OK(drive_it(&w, &err));
	OK(read_all(&w, &err));
	EQ(count(&w, "content_delta", "\"error\""), 1);
	OK(submit(&w, "one", "hook", false, &err));
	OK(drive_it(&w, &err));
	OK(read_all(&w, &err));
	EQ(count(&w, "content_delta", "\"error\""), 1);
	EQ(asked_so_far(&w), 0);
}

TEST(where_questions_are_not_ours_nobody_is_asked)
{
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "tool touch a", &err));
	CHECK(!seen(t, &w, "seen.json", "--permission-prompt-tool"));
	EQ(count(&w, "tool_result", "nobody can be asked"), 1);
	EQ(asked_so_far(&w), 0);
}

/* ---- All of it at once --------------------------------------------------------------- */

/* Answers, interrupts and kills in random order; the driver may be anywhere. */
static void disturb(struct world *w, pid_t pid, unsigned *seed)
{
	for (int i = 0; i < 6; i++) {
		size_t which = (size_t)rand_r(seed) % 3;
		struct err err;

		nanosleep(&(struct timespec){ .tv_nsec = rand_r(seed) % 40000000 }, NULL);
		switch (rand_r(seed) % 8) {
		case 0:
			if (command(w, "interrupt", "{}", &err))
				return;
			break;
		case 1:
			kill(pid, SIGKILL);
			return;
		case 2:
		case 3:
			if (nth(w, which).row && decide(w, which, DENY, &err))
				break;
			break;
		default:
			if (nth(w, which).row && decide(w, which, ALLOW, &err))
				break;
		}
	}
}

TEST(whatever_happens_the_client_hears_no_yes_that_nobody_gave)
{
	enum { ROUNDS = 30 };
	unsigned seed = 7;
	struct err err;

	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid;
		ASKING(w);

		w.expire_ms = 400;
		OK(begin(t, &w, "tool touch a | touch b | touch c", &err));
		pid = drive_beside(&w);
		CHECK(wait_for(&w, "user_message"));
		disturb(&w, pid, &seed);
		waitpid(pid, NULL, 0);
		OK(question_look_after(w.s, &err));
		OK(read_all(&w, &err));
		CHECK(stream_is_over(w.stream.state));
		/* One that was killed may have recorded what it had no time to say. Never the other way
		 * round. */
		CHECK(yeses_heard(t, &w) <= yeses_given(&w));
		if (w.stream.state != STREAM_INTERRUPTED)
			EQ(yeses_heard(t, &w), yeses_given(&w));
		for (size_t n = 0; nth(&w, n).row; n++)
			CHECK(nth(&w, n).state >= APPROVAL_DELIVERED);
	}
}

TESTS(CASE(a_tool_runs_when_somebody_allows_it), CASE(what_runs_is_what_was_allowed),
      CASE(a_denied_tool_does_not_run_and_the_model_hears_why), CASE(a_denial_can_end_the_turn),
      CASE(a_rule_answers_at_once_and_readers_hear_of_it),
      CASE(several_questions_are_answered_each_for_itself),
      CASE(a_question_to_a_person_and_a_plan_go_the_same_way),
      CASE(a_sub_agent_may_ask_when_the_turn_is_over),
      CASE(a_turn_that_follows_a_shell_in_the_background_may_ask), CASE(what_nobody_answers_in_time_is_denied),
      CASE(a_question_that_the_client_withdraws_is_void), CASE(an_interrupt_takes_the_question_back),
      CASE(a_question_of_a_driver_that_is_killed_is_void), CASE(what_is_no_question_is_refused),
      CASE(where_questions_are_not_ours_nobody_is_asked),
      CASE(whatever_happens_the_client_hears_no_yes_that_nobody_gave))
