/*
 * The bell: rings cross processes, none is lost once somebody listens, and a
 * missing one only costs the time-out.
 */
#include "base/bell.h"
#include "base/clock.h"
#include "t.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 10000, SHORT_MS = 60 };

static int64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

static void bell_path(char out[LIMIT_PATH], const char *dir)
{
	snprintf(out, LIMIT_PATH, "%.2000s/bell", dir);
}

TEST(the_file_is_made_private_and_kept)
{
	struct bell a = BELL_INIT, b = BELL_INIT;
	char path[LIMIT_PATH];
	mode_t before = umask(0);
	struct stat st;
	struct err err;

	bell_path(path, t_tmpdir(t));
	OK(bell_open(&a, path, &err));
	umask(before);
	NEED(stat(path, &st) == 0);
	EQ(st.st_mode & 07777, 0600);
	OK(bell_open(&b, path, &err));
	bell_close(&a);
	bell_close(&b);
	bell_close(&b);
	EQ(a.fd, -1);
	NEED(stat(path, &st) == 0);
}

TEST(a_bell_in_a_missing_folder_or_behind_a_link_is_refused)
{
	struct bell b = BELL_INIT;
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH], long_path[LIMIT_PATH + 8];
	struct err err;

	snprintf(path, sizeof path, "%.2000s/no/bell", dir);
	EQ(bell_open(&b, path, &err), STATUS_NOT_FOUND);
	bell_path(path, dir);
	NEED(symlink("elsewhere", path) == 0);
	EQ(bell_open(&b, path, &err), STATUS_DENIED);
	memset(long_path, 'a', sizeof long_path);
	long_path[sizeof long_path - 1] = '\0';
	EQ(bell_open(&b, long_path, &err), STATUS_LIMIT);
}

TEST(a_ring_before_the_wait_is_not_missed_by_a_listener)
{
	struct bell a = BELL_INIT, b = BELL_INIT;
	char path[LIMIT_PATH];
	int64_t start;
	struct err err;

	bell_path(path, t_tmpdir(t));
	OK(bell_open(&a, path, &err));
	OK(bell_open(&b, path, &err));
	bell_listen(&a);
	bell_ring(&b);
	start = now_ms();
	bell_wait(&a, LONG_MS);
	CHECK(now_ms() - start < LONG_MS / 2);
	bell_close(&a);
	bell_close(&b);
}

TEST(rings_are_used_up_by_one_wait)
{
	struct bell b = BELL_INIT;
	char path[LIMIT_PATH];
	int64_t start;
	struct err err;

	bell_path(path, t_tmpdir(t));
	OK(bell_open(&b, path, &err));
	bell_listen(&b);
	for (int i = 0; i < 1000; i++)
		bell_ring(&b);
	bell_wait(&b, LONG_MS);
	start = now_ms();
	bell_wait(&b, SHORT_MS);
	CHECK(now_ms() - start >= SHORT_MS - 2);
	bell_close(&b);
}

TEST(no_ring_costs_the_time_out_and_no_more)
{
	struct bell b = BELL_INIT;
	char path[LIMIT_PATH];
	int64_t start;
	struct err err;

	bell_path(path, t_tmpdir(t));
	OK(bell_open(&b, path, &err));
	bell_ring(&b); /* before anybody listens: missed */
	start = now_ms();
	bell_wait(&b, SHORT_MS);
	CHECK(now_ms() - start >= SHORT_MS - 2);
	CHECK(now_ms() - start < LONG_MS);
	start = now_ms();
	bell_wait(&b, 0);
	CHECK(now_ms() - start < LONG_MS / 2);
	bell_close(&b);
}

TEST(a_bell_that_was_never_opened_is_silent_and_can_be_waited_for)
{
	struct bell b = BELL_INIT;
	int64_t start = now_ms();

	bell_ring(&b);
	bell_wait(&b, SHORT_MS);
	CHECK(now_ms() - start >= SHORT_MS - 2);
	bell_close(&b);
}

/* The child says "ready" when it listens, and exits 0 when it was woken early. */
static void wait_as_child(const char *path, int ready)
{
	struct bell b = BELL_INIT;
	int64_t start;
	struct err err;

	if (bell_open(&b, path, &err))
		_exit(2);
	bell_listen(&b);
	if (write(ready, "r", 1) != 1)
		_exit(2);
	start = now_ms();
	bell_wait(&b, LONG_MS);
	_exit(now_ms() - start < LONG_MS / 2 ? 0 : 1);
}

TEST(a_ring_wakes_every_waiting_process)
{
	enum { WAITERS = 4 };
	struct bell b = BELL_INIT;
	char path[LIMIT_PATH], ready[WAITERS];
	pid_t pids[WAITERS];
	int ends[2], code;
	struct err err;

	bell_path(path, t_tmpdir(t));
	OK(bell_open(&b, path, &err));
	NEED(pipe(ends) == 0);
	for (int i = 0; i < WAITERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			wait_as_child(path, ends[1]);
		NEED(pids[i] > 0);
	}
	for (int i = 0; i < WAITERS; i++)
		NEED(read(ends[0], ready, 1) == 1);
	bell_ring(&b);
	for (int i = 0; i < WAITERS; i++) {
		NEED(waitpid(pids[i], &code, 0) == pids[i]);
		CHECK(WIFEXITED(code) && WEXITSTATUS(code) == 0);
	}
	close(ends[0]);
	close(ends[1]);
	bell_close(&b);
}

TEST(who_waits_is_seen_through_other_bells_until_it_leaves_or_dies)
{
	struct bell mine = BELL_INIT, other = BELL_INIT, third = BELL_INIT;
	char path[LIMIT_PATH];
	struct err err;
	pid_t pid;

	snprintf(path, sizeof path, "%.2000s/bell", t_tmpdir(t));
	OK(bell_open(&mine, path, &err));
	OK(bell_open(&other, path, &err));
	OK(bell_open(&third, path, &err));
	CHECK(!bell_has_queue(&mine));
	bell_queue_up(&other);
	bell_queue_up(&other);
	bell_queue_up(&third);
	CHECK(bell_has_queue(&mine));
	bell_leave_queue(&third);
	CHECK(bell_has_queue(&mine));
	CHECK(!bell_has_queue(&other)); /* itself does not count */
	bell_leave_queue(&other);
	CHECK(!bell_has_queue(&mine));
	pid = fork();
	if (pid == 0) {
		struct bell child = BELL_INIT;

		if (bell_open(&child, path, &err))
			_exit(1);
		bell_queue_up(&child);
		_exit(bell_has_queue(&mine) ? 0 : 1);
	}
	NEED(pid > 0);
	{
		int code = 1;

		NEED(waitpid(pid, &code, 0) == pid);
		EQ(code, 0);
	}
	CHECK(!bell_has_queue(&mine));
	bell_close(&mine);
	CHECK(bell_has_queue(&mine)); /* not known */
	bell_close(&other);
	bell_close(&third);
}

TESTS(CASE(the_file_is_made_private_and_kept),
      CASE(a_bell_in_a_missing_folder_or_behind_a_link_is_refused),
      CASE(a_ring_before_the_wait_is_not_missed_by_a_listener),
      CASE(rings_are_used_up_by_one_wait),
      CASE(no_ring_costs_the_time_out_and_no_more),
      CASE(a_bell_that_was_never_opened_is_silent_and_can_be_waited_for),
      CASE(a_ring_wakes_every_waiting_process),
      CASE(who_waits_is_seen_through_other_bells_until_it_leaves_or_dies))
