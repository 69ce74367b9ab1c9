/*
 * Who holds a run, and what becomes of a stream whose holder is gone.
 */
#include "live/lease.h"

#include "base/proc.h"
#include "store/event.h"
#include "streams.h"
#include "t.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static enum status open_store(struct t *t, struct store **out, struct err *err)
{
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/a.db", t_tmpdir(t));
	return store_open(&(struct store_options){ .path = path, .create = true }, out, err);
}

/* A process that waits to be killed. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(a_process_is_known_by_its_number_and_its_start)
{
	int64_t start, again;
	pid_t pid = sleeper();

	NEED(pid > 0);
	CHECK(proc_start(pid, &start));
	CHECK(proc_start(pid, &again) && start == again && start > 0);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	CHECK(!proc_start(pid, &start)); /* a zombie runs no more */
	waitpid(pid, NULL, 0);
	CHECK(!proc_start(pid, &start));
	CHECK(!proc_start(-1, &start));
}

TEST(a_lease_is_dead_when_its_process_is_or_its_machine_was_started_again)
{
	STORE *s = NULL;
	struct lease own, other;
	struct err err;
	pid_t pid;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(lease_own(s, &mem, &own, &err));
	EQS(own.host, STR("local"));
	EQ(own.pid, getpid());
	CHECK(!lease_is_dead(&own, &own, INT64_MAX));
	other = own;
	other.start++;
	CHECK(lease_is_dead(&other, &own, own.at)); /* another process of its number */
	pid = sleeper();
	NEED(pid > 0);
	other.pid = pid;
	CHECK(proc_start(pid, &other.start));
	CHECK(!lease_is_dead(&other, &own, INT64_MAX));
	end(pid);
	CHECK(lease_is_dead(&other, &own, own.at));
	other = own;
	other.boot = STR("another boot");
	CHECK(lease_is_dead(&other, &own, own.at));
}

TEST(a_lease_that_cannot_be_asked_is_believed_for_a_while)
{
	STORE *s = NULL;
	struct lease own, other;
	struct err err;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(lease_own(s, &mem, &own, &err));
	other = own;
	other.host = STR("elsewhere");
	CHECK(!lease_is_dead(&other, &own, own.at + LEASE_LOST_MS));
	CHECK(lease_is_dead(&other, &own, own.at + LEASE_LOST_MS + 1));
	other = own;
	other.boot = arena_printf(&mem, "%.*s-of-a-container", STR_ARG(own.boot));
	CHECK(!lease_is_dead(&other, &own, own.at + LEASE_LOST_MS));
	CHECK(lease_is_dead(&other, &own, own.at + LEASE_LOST_MS + 1));
}

TEST(a_stream_whose_holder_is_gone_is_closed_once_by_whoever_looks)
{
	STORE *s = NULL;
	struct event_page p;
	struct event_ask ask = { .limit = 10, .bytes = KIB };
	struct stream stream;
	struct lease lease;
	struct run run;
	struct err err;
	pid_t pid;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(lease_own(s, &mem, &lease, &err));
	pid = sleeper();
	NEED(pid > 0);
	lease.pid = pid;
	CHECK(proc_start(pid, &lease.start));
	OK(run_take(s, &run, &lease, &err));
	OK(stream_get(s, &run.stream, &mem, &stream, &err));
	OK(lease_look_after(s, &stream, &err));
	OK(stream_get(s, &run.stream, &mem, &stream, &err));
	EQ(stream.state, STREAM_RUNNING);
	end(pid);
	OK(lease_look_after(s, &stream, &err));
	OK(lease_look_after(s, &stream, &err));
	OK(lease_look_after_all(s, &err));
	OK(event_page(s, &stream, &ask, &mem, &p, &err));
	EQ(stream.state, STREAM_INTERRUPTED);
	NEED(p.count == 2);
	EQS(p.events[1].type, STR("interrupted"));
	CHECK(stream.error.n && stream.ended_at > 0);
	EQ(test_write(s, &run.writer, 3, 1, &err), STATUS_CONFLICT); /* should it have been alive after all */
}

TEST(all_streams_are_looked_after_and_those_that_go_on_left_alone)
{
	STORE *s = NULL;
	struct run dead[20], alive;
	struct stream stream;
	struct lease own;
	struct err err;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(lease_own(s, &mem, &own, &err));
	for (size_t i = 0; i < COUNT(dead); i++) {
		char name[16];

		snprintf(name, sizeof name, "d%zu", i);
		OK(test_run(s, name, &mem, &dead[i], &err)); /* of another boot */
	}
	OK(test_run(s, "alive", &mem, &alive, &err));
	OK(run_take(s, &alive, &own, &err));
	OK(lease_look_after_all(s, &err));
	for (size_t i = 0; i < COUNT(dead); i++) {
		OK(stream_get(s, &dead[i].stream, &mem, &stream, &err));
		EQ(stream.state, STREAM_INTERRUPTED);
	}
	OK(stream_get(s, &alive.stream, &mem, &stream, &err));
	EQ(stream.state, STREAM_RUNNING);
}

TESTS(CASE(a_process_is_known_by_its_number_and_its_start),
      CASE(a_lease_is_dead_when_its_process_is_or_its_machine_was_started_again),
      CASE(a_lease_that_cannot_be_asked_is_believed_for_a_while),
      CASE(a_stream_whose_holder_is_gone_is_closed_once_by_whoever_looks),
      CASE(all_streams_are_looked_after_and_those_that_go_on_left_alone))
