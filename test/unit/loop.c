/*
 * The loop: timers in order, descriptors, and the ways it ends.
 */
#include "base/clock.h"
#include "base/loop.h"
#include "t.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

struct log {
	struct loop *loop;
	struct loop_timer *timers[3];
	char text[16];
	size_t n;
	int fd;
	struct loop_fd *watched;
};

static void put(struct log *g, char c)
{
	if (g->n + 1 < sizeof g->text)
		g->text[g->n++] = c;
}

static void first(void *ctx)
{
	put(ctx, 'a');
}

static void second(void *ctx)
{
	put(ctx, 'b');
}

static void last(void *ctx)
{
	struct log *g = ctx;

	put(g, 'z');
	loop_stop(g->loop);
}

#define LOOP struct loop *l CLEANUP(loop_freep) = NULL

TEST(timers_come_when_they_are_due)
{
	LOOP;
	struct log g = { 0 };
	struct err err;

	OK(loop_new(NULL, &l, &err));
	g.loop = l;
	loop_timer_set(loop_timer_new(l, last, &g), 60);
	loop_timer_set(loop_timer_new(l, second, &g), 30);
	loop_timer_set(loop_timer_new(l, first, &g), 0);
	loop_run(l);
	EQS(str_from(g.text, g.n), STR("abz"));
}

TEST(a_timer_can_be_moved_and_stopped_and_comes_once)
{
	LOOP;
	struct log g = { 0 };
	struct loop_timer *moved, *stopped;
	struct err err;

	OK(loop_new(NULL, &l, &err));
	g.loop = l;
	moved = loop_timer_new(l, first, &g);
	stopped = loop_timer_new(l, second, &g);
	CHECK(!loop_timer_is_set(moved));
	loop_timer_set(moved, 100000);
	loop_timer_set(moved, 10);
	loop_timer_set(stopped, 10);
	CHECK(loop_timer_is_set(stopped));
	loop_timer_stop(stopped);
	CHECK(!loop_timer_is_set(stopped));
	loop_timer_set(loop_timer_new(l, last, &g), 80);
	loop_run(l);
	EQS(str_from(g.text, g.n), STR("az"));
	CHECK(!loop_timer_is_set(moved));
}

static void sleep_then_set(void *ctx)
{
	struct log *g = ctx;

	put(g, 's');
	usleep(60000);
	loop_timer_set(g->timers[0], 40);
}

/* Otherwise what is set after long work would come at once. */
TEST(a_timer_counts_from_when_it_is_set)
{
	LOOP;
	struct log g = { 0 };
	int64_t start = clock_monotonic_ns();
	struct err err;

	OK(loop_new(NULL, &l, &err));
	g.loop = l;
	g.timers[0] = loop_timer_new(l, last, &g);
	loop_timer_set(loop_timer_new(l, sleep_then_set, &g), 0);
	loop_run(l);
	EQS(str_from(g.text, g.n), STR("sz"));
	CHECK(clock_monotonic_ns() - start >= 99 * 1000000);
}

static void on_bytes(void *ctx)
{
	struct log *g = ctx;
	char c;

	if (read(g->fd, &c, 1) == 1)
		put(g, c);
	if (c == 'z')
		loop_stop(g->loop);
}

TEST(a_descriptor_that_can_be_read_is_told_until_it_is_empty)
{
	LOOP;
	struct log g = { 0 };
	struct loop_fd *fd = NULL;
	struct err err;
	int ends[2];

	NEED(pipe(ends) == 0);
	OK(loop_new(NULL, &l, &err));
	g.loop = l;
	g.fd = ends[0];
	OK(loop_fd_new(l, ends[0], on_bytes, &g, &fd, &err));
	loop_fd_want(fd, LOOP_READ);
	NEED(write(ends[1], "xyz", 3) == 3);
	loop_run(l);
	EQS(str_from(g.text, g.n), STR("xyz"));
	loop_free(l);
	l = NULL;
	close(ends[0]);
	close(ends[1]);
}

TEST(what_cannot_be_waited_for_is_refused)
{
	LOOP;
	struct loop_fd *none = NULL;
	struct err err;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	NEED(fd >= 0);
	OK(loop_new(NULL, &l, &err));
	CHECK(loop_fd_new(l, fd, on_bytes, NULL, &none, &err) != STATUS_OK); /* a plain file */
	close(fd);
}

static void fill(void *ctx)
{
	struct log *g = ctx;
	char bytes[4096] = { 0 };

	put(g, 'w');
	while (write(g->fd, bytes, sizeof bytes) > 0)
		;
	loop_fd_free(g->watched); /* by its own function */
	g->watched = NULL;
	loop_timer_set(g->timers[0], 0);
}

TEST(a_descriptor_that_can_be_written_is_told_and_can_be_left)
{
	LOOP;
	struct log g = { 0 };
	struct err err;
	int ends[2];

	NEED(pipe2(ends, O_NONBLOCK) == 0);
	OK(loop_new(NULL, &l, &err));
	g.loop = l;
	g.fd = ends[1];
	g.timers[0] = loop_timer_new(l, last, &g);
	OK(loop_fd_new(l, ends[1], fill, &g, &g.watched, &err));
	loop_fd_want(g.watched, LOOP_WRITE);
	loop_run(l);
	EQS(str_from(g.text, g.n), STR("wz"));
	loop_timer_free(g.timers[0]);
	loop_free(l);
	l = NULL;
	close(ends[0]);
	close(ends[1]);
}

static void *wake(void *ctx)
{
	struct log *g = ctx;

	usleep(20000);
	loop_wake(g->loop);
	return NULL;
}

TEST(another_thread_can_wake_it)
{
	LOOP;
	struct log g = { 0 };
	pthread_t other;
	struct err err;

	OK(loop_new(NULL, &l, &err));
	g.loop = l;
	OK(loop_on_wake(l, last, &g, &err));
	NEED(pthread_create(&other, NULL, wake, &g) == 0);
	loop_run(l);
	pthread_join(other, NULL);
	EQS(str_from(g.text, g.n), STR("z"));
}

static void set_flag(void *ctx)
{
	atomic_store((atomic_bool *)ctx, true);
}

TEST(the_flag_ends_it_before_and_while_it_runs)
{
	LOOP;
	atomic_bool cancel = true;
	struct err err;

	OK(loop_new(&cancel, &l, &err));
	loop_run(l);
	atomic_store(&cancel, false);
	loop_timer_set(loop_timer_new(l, set_flag, &cancel), 20);
	loop_run(l);
	CHECK(atomic_load(&cancel));
}

static atomic_bool *signalled;

static void on_alarm(int number)
{
	(void)number;
	atomic_store(signalled, true);
}

TEST(a_signal_that_sets_the_flag_ends_it)
{
	LOOP;
	atomic_bool cancel = false;
	struct err err;

	OK(loop_new(&cancel, &l, &err));
	signalled = &cancel;
	signal(SIGALRM, on_alarm);
	alarm(1);
	loop_run(l);
	signal(SIGALRM, SIG_DFL);
	CHECK(atomic_load(&cancel));
}

TESTS(CASE(timers_come_when_they_are_due), CASE(a_timer_can_be_moved_and_stopped_and_comes_once),
      CASE(a_timer_counts_from_when_it_is_set), CASE(a_descriptor_that_can_be_read_is_told_until_it_is_empty),
      CASE(what_cannot_be_waited_for_is_refused), CASE(a_descriptor_that_can_be_written_is_told_and_can_be_left),
      CASE(another_thread_can_wake_it), CASE(the_flag_ends_it_before_and_while_it_runs),
      CASE(a_signal_that_sets_the_flag_ends_it))
