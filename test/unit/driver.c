/*
 * The driver, with a client that does what its prompt says (test/harness/claude.py): whatever that does, the
 * stream tells what is true, and nothing of it is left.
 */
#include "live/driver.h"

#include "agents.h"
#include "base/proc.h"
#include "live/lease.h"
#include "procs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- How it ends ----------------------------------------------------------------- */

TEST(an_answer_is_told_as_it_comes_and_the_session_goes_on_from_it)
{
	struct named n;
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "say Hello you", &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQS(last_type(&w), STR("complete"));
	EQ(count(&w, "content_delta", "\"Hel\""), 1);
	EQ(count(&w, "user_message", "say Hello you"), 1);
	EQ(count(&w, "result", "done"), 1);
	EQ(count(&w, "complete", "\"total_cost_usd\":0.25"), 1);
	CHECK(w.stream.has_head && w.stream.ended_at > 0);
	OK(named_find(w.s, STR("one"), &w.mem, &n, &err));
	CHECK(n.head.has_session && n.head.has_head && uuid_eq(&n.head.head, &w.stream.head));
	/* The next prompt resumes. */
	OK(submit(&w, "one", "say more", false, &err));
	OK(drive_it(&w, &err));
	CHECK(seen(t, &w, "seen.json", "--resume"));
}

TEST(what_was_said_ephemerally_moves_nothing)
{
	struct named n;
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "say a", &err));
	OK(named_find(w.s, STR("one"), &w.mem, &n, &err));
	OK(submit(&w, "one", "say b", true, &err));
	OK(drive_it(&w, &err));
	CHECK(seen(t, &w, "seen.json", "--no-session-persistence"));
	{
		struct named after;

		OK(named_find(w.s, STR("one"), &w.mem, &after, &err));
		CHECK(uuid_eq(&n.head.head, &after.head.head) &&
		      uuid_eq(&n.head.session, &after.head.session));
	}
}

TEST(each_way_to_fail_is_told_as_what_it_was)
{
	static const struct {
		const char *prompt, *error;
	} cases[] = {
		{ "exit 3", "claude ended with code 3 before it was done" },
		{ "exit 0", "claude ended with code 0 before it was done" },
		{ "die", "claude was killed by signal 9 before it was done" },
		{ "stderr it broke", "claude ended with code 1 before it was done: it broke" },
		{ "error", "API Error: Overloaded" },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(cases); i++) {
		WORLD;

		OK(run_prompt(t, &w, cases[i].prompt, &err));
		EQ(w.stream.state, STREAM_FAILED);
		EQS(last_type(&w), STR("error"));
		EQS(w.stream.error, str_of(cases[i].error));
	}
}

TEST(one_that_says_nothing_for_too_long_is_ended)
{
	struct drive_ask ask = { .env = &env, .silence_s = 1 };
	struct err err;
	WORLD;

	OK(begin(t, &w, "hang", &err));
	ask.program = str_of(w.client);
	OK(drive(w.s, &w.run.stream, &ask, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_FAILED);
	EQS(w.stream.error, STR("claude said nothing for 1 seconds, and was ended"));
	EQS(last_type(&w), STR("error"));
}

TEST(a_client_that_cannot_be_started_fails_the_stream_and_says_why)
{
	struct drive_ask ask = { .env = &env, .program = STR("/no/such/claude") };
	struct err err;
	WORLD;

	OK(begin(t, &w, "say a", &err));
	OK(drive(w.s, &w.run.stream, &ask, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_FAILED);
	CHECK(memmem(w.stream.error.p, w.stream.error.n, "/no/such/claude", 15));
	EQ(drive(w.s, &(struct uuid){ { 1 } }, &ask, &err), STATUS_NOT_FOUND);
}

TEST(an_agent_is_not_started_where_its_folder_is_gone)
{
	struct named_new session = { .name = STR("two"),
				     .agent = STR("claude"),
				     .settings.working_dir = STR("/no/such/folder") };
	struct uuid id;
	struct err err;
	WORLD;

	OK(begin(t, &w, "say a", &err));
	OK(named_create(w.s, &session, &id, &err));
	OK(submit(&w, "two", "say b", false, &err));
	OK(drive_it(&w, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_FAILED);
	EQS(w.stream.error, STR("/no/such/folder: the folder of this session is gone"));
}

TEST(what_is_no_protocol_is_kept)
{
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "nojson x", &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "passthrough", "Warning: no JSON"), 1);
	EQ(count(&w, "passthrough", "raw_output"), 2);
}

TEST(a_flood_is_kept_whole)
{
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "flood 20000", &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "content_delta", "xxxx"), 20000);
}

TEST(a_question_that_nobody_answers_is_refused)
{
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "ask", &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "content_delta", "\"err\""), 0);
	EQ(count(&w, "content_delta", "\"error\""), 1);
}

TEST(a_capture_of_the_real_client_comes_out_whole)
{
	char prompt[LIMIT_PATH + 16] = "replay ";
	struct err err;
	WORLD;

	NEED(realpath("test/table/chat/a03-tool-bash-01.stream.jsonl", prompt + 7));
	OK(run_prompt(t, &w, prompt, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "tool_use_end", "hello-from-bash"), 1);
	EQ(count(&w, "tool_result", "hello-from-bash"), 1);
	EQ(count(&w, "thinking_end", "signature"), 1);
}

/* ---- What nobody else sees --------------------------------------------------------- */

TEST(a_prompt_is_no_word_of_the_command_line_and_the_environment_is_a_list)
{
	struct err err;
	WORLD;

	setenv("SECRET_OF_THE_TEST", "1", 1);
	OK(run_prompt(t, &w, "say hidden-words", &err));
	CHECK(!seen(t, &w, "seen.json", "hidden-words"));
	CHECK(!seen(t, &w, "seen.json", "SECRET_OF_THE_TEST"));
	CHECK(!seen(t, &w, "seen.json", "mcpServers"));
	CHECK(seen(t, &w, "seen.json", "--mcp-config") && seen(t, &w, "seen.json", "\"--mcp-config\", \"/proc/"));
	CHECK(seen(t, &w, "seen.json", "key-of-the-test"));
	CHECK(seen(t, &w, "told.jsonl", "hidden-words"));
}

/* ---- Commands ------------------------------------------------------------------------ */

TEST(a_turn_is_interrupted_by_command)
{
	struct err err;
	pid_t pid;
	WORLD;

	OK(begin(t, &w, "wait", &err));
	pid = drive_beside(&w);
	CHECK(wait_for(&w, "user_message"));
	OK(command(&w, "interrupt", "{}", &err));
	waitpid(pid, NULL, 0);
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_CANCELLED);
	EQ(count(&w, "result", "error_during_execution"), 1);
	EQ(command(&w, "interrupt", "{}", &err), STATUS_CONFLICT);
}

TEST(a_prompt_is_queued_during_a_turn)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	struct uuid uuid;
	struct err err;
	pid_t pid;
	WORLD;

	OK(begin(t, &w, "wait", &err));
	pid = drive_beside(&w);
	CHECK(wait_for(&w, "user_message"));
	OK(uuid_random(&uuid, &err));
	prompt_write(&text, &(struct prompt){ .content = STR("\"and this\""), .uuid = uuid });
	buf_byte(&text, '\0');
	OK(command(&w, "queue", text.p, &err));
	waitpid(pid, NULL, 0);
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	EQ(count(&w, "content_delta", "and: and this"), 1);
}

/* Until it has said so often that it waits for what it has in the background. */
static void wait_until_it_waits(struct t *t, struct world *w, int often)
{
	struct err err;

	for (int i = 0; i < 1000 && count(w, "passthrough", "\"waiting\"") < often; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		OK(read_all(w, &err));
	}
	EQ(count(w, "passthrough", "\"waiting\""), often);
	EQ(w->stream.state, STREAM_RUNNING);
}

TEST(who_waits_for_its_background_can_be_told_more)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	struct uuid uuid;
	struct err err;
	pid_t pid;
	WORLD;

	OK(begin(t, &w, "server", &err));
	pid = drive_beside(&w);
	wait_until_it_waits(t, &w, 1);
	OK(uuid_random(&uuid, &err));
	prompt_write(&text, &(struct prompt){ .content = STR("\"say more\""), .uuid = uuid });
	buf_byte(&text, '\0');
	OK(command(&w, "queue", text.p, &err));
	wait_until_it_waits(t, &w, 2);
	EQ(count(&w, "user_message", "say more"), 1);
	OK(command(&w, "cancel", "{}", &err));
	waitpid(pid, NULL, 0);
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_CANCELLED);
}

TEST(who_waits_for_its_background_is_ended_by_an_interrupt)
{
	struct err err;
	pid_t pid;
	WORLD;

	OK(begin(t, &w, "server", &err));
	pid = drive_beside(&w);
	wait_until_it_waits(t, &w, 1);
	OK(command(&w, "interrupt", "{}", &err));
	waitpid(pid, NULL, 0);
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_CANCELLED);
	EQS(last_type(&w), STR("cancelled"));
}

TEST(who_waits_for_its_background_is_ended_when_it_says_nothing_for_too_long)
{
	struct drive_ask ask = { .env = &env, .silence_s = 1 };
	struct err err;
	WORLD;

	OK(begin(t, &w, "server", &err));
	ask.program = str_of(w.client);
	OK(drive(w.s, &w.run.stream, &ask, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_FAILED);
	EQS(w.stream.error,
	    STR("claude waited for what it had in the background, said nothing for 1 seconds, and was ended"));
}

TEST(an_agent_is_cancelled_with_all_it_started)
{
	struct err err;
	pid_t pid;
	WORLD;

	OK(begin(t, &w, "leave", &err));
	pid = drive_beside(&w);
	CHECK(wait_for(&w, "assistant_message"));
	OK(command(&w, "cancel", "{}", &err));
	waitpid(pid, NULL, 0);
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_CANCELLED);
	EQS(last_type(&w), STR("cancelled"));
}

TEST(a_driver_that_is_killed_takes_its_client_along_and_the_stream_is_interrupted)
{
	int64_t start, client;
	struct err err;
	pid_t pid;
	WORLD;

	OK(begin(t, &w, "leave", &err));
	pid = drive_beside(&w);
	CHECK(wait_for(&w, "assistant_message"));
	client = client_pid(&w);
	CHECK(proc_start(client, &start));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	OK(lease_look_after(w.s, &w.stream, &err));
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_INTERRUPTED);
	EQS(last_type(&w), STR("interrupted"));
	for (int i = 0; i < 500 && proc_start(client, &start); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	CHECK(!proc_start(client, &start));
}

static int64_t parent_of(int64_t pid)
{
	struct buf stat CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	char path[64];
	struct err err;
	const char *at;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (file_read_all(path, &stat, &err))
		return -1;
	buf_byte(&stat, '\0');
	at = strrchr(stat.p, ')');
	return at ? strtol(at + 4, NULL, 10) : -1;
}

TEST(a_guard_that_is_killed_leaves_nothing_behind_and_the_stream_has_failed)
{
	struct err err;
	pid_t pid;
	WORLD;

	OK(begin(t, &w, "leave", &err));
	pid = drive_beside(&w);
	CHECK(wait_for(&w, "assistant_message"));
	CHECK(parent_of(parent_of(client_pid(&w))) == pid);
	kill((pid_t)parent_of(client_pid(&w)), SIGKILL);
	waitpid(pid, NULL, 0);
	OK(read_all(&w, &err));
	EQ(w.stream.state, STREAM_FAILED);
	EQS(w.stream.error, STR("claude is gone before it was done"));
}

TEST(a_request_with_a_number_for_an_id_is_answered)
{
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "hook 1", &err));
	EQ(w.stream.state, STREAM_COMPLETE);
	CHECK(seen(t, &w, "told.jsonl", "\"request_id\":1,"));
}

TEST(a_run_is_driven_once)
{
	struct err err;
	WORLD;

	OK(run_prompt(t, &w, "say a", &err));
	EQ(drive_it(&w, &err), STATUS_CONFLICT);
}

TESTS(CASE(an_answer_is_told_as_it_comes_and_the_session_goes_on_from_it),
      CASE(what_was_said_ephemerally_moves_nothing), CASE(each_way_to_fail_is_told_as_what_it_was),
      CASE(one_that_says_nothing_for_too_long_is_ended),
      CASE(a_client_that_cannot_be_started_fails_the_stream_and_says_why),
      CASE(an_agent_is_not_started_where_its_folder_is_gone), CASE(what_is_no_protocol_is_kept),
      CASE(a_flood_is_kept_whole), CASE(a_question_that_nobody_answers_is_refused),
      CASE(a_capture_of_the_real_client_comes_out_whole),
      CASE(a_prompt_is_no_word_of_the_command_line_and_the_environment_is_a_list),
      CASE(a_turn_is_interrupted_by_command), CASE(a_prompt_is_queued_during_a_turn),
      CASE(who_waits_for_its_background_can_be_told_more),
      CASE(who_waits_for_its_background_is_ended_by_an_interrupt),
      CASE(who_waits_for_its_background_is_ended_when_it_says_nothing_for_too_long),
      CASE(an_agent_is_cancelled_with_all_it_started),
      CASE(a_driver_that_is_killed_takes_its_client_along_and_the_stream_is_interrupted),
      CASE(a_guard_that_is_killed_leaves_nothing_behind_and_the_stream_has_failed),
      CASE(a_request_with_a_number_for_an_id_is_answered), CASE(a_run_is_driven_once))
