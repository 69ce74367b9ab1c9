/*
 * Flags that are raised when time is up: then, and when the caller's own is, and not before.
 */
#include "base/deadline.h"

#include "base/clock.h"
#include "t.h"

#include <unistd.h>

enum { HOUR_MS = 3600 * 1000 };

#define DEADLINES \
	struct deadlines all CLEANUP(deadlines_release); \
	deadlines_init(&all)

static int64_t in_ms(int64_t ms)
{
	return clock_monotonic_ns() + ms * 1000000;
}

static void wait_for(const atomic_bool *flag)
{
	while (!atomic_load(flag))
		usleep(1000);
}

TEST(without_a_time_the_callers_flag_is_looked_at_itself)
{
	atomic_bool cancel = false;
	struct deadline d;
	DEADLINES;

	CHECK(deadline_begin(&d, &all, 0, &cancel) == &cancel);
	CHECK(!deadline_is_over(&d));
	deadline_end(&d);
	CHECK(deadline_begin(&d, &all, 0, NULL) == NULL);
	deadline_end(&d);
	CHECK(!all.running);
}

TEST(a_flag_is_raised_when_time_is_up)
{
	int64_t at = in_ms(20);
	const atomic_bool *flag;
	struct deadline d;
	DEADLINES;

	flag = deadline_begin(&d, &all, at, NULL);
	wait_for(flag);
	CHECK(clock_monotonic_ns() >= at);
	CHECK(deadline_is_over(&d));
	deadline_end(&d);
	flag = deadline_begin(&d, &all, in_ms(-1), NULL); /* long ago */
	wait_for(flag);
	deadline_end(&d);
}

TEST(a_flag_is_raised_when_the_callers_is)
{
	atomic_bool cancel = false;
	const atomic_bool *flag;
	struct deadline d;
	DEADLINES;

	flag = deadline_begin(&d, &all, in_ms(HOUR_MS), &cancel);
	usleep(50000);
	CHECK(!atomic_load(flag));
	atomic_store(&cancel, true);
	wait_for(flag);
	CHECK(!deadline_is_over(&d));
	deadline_end(&d);
}

/* A later one is there when an earlier one comes, and stays when that goes. */
TEST(each_of_several_is_raised_in_its_time)
{
	const atomic_bool *late_flag, *soon_flag, *other_flag;
	struct deadline late, soon, other;
	DEADLINES;

	late_flag = deadline_begin(&late, &all, in_ms(HOUR_MS), NULL);
	soon_flag = deadline_begin(&soon, &all, in_ms(10), NULL);
	wait_for(soon_flag);
	other_flag = deadline_begin(&other, &all, in_ms(10), NULL);
	deadline_end(&soon);
	wait_for(other_flag);
	CHECK(!atomic_load(late_flag));
	deadline_end(&late);
	deadline_end(&other);
	CHECK(!all.first);
}

TEST(whoever_is_done_early_does_not_wait)
{
	DEADLINES;

	for (int i = 0; i < 1000; i++) {
		struct deadline d;

		CHECK(deadline_begin(&d, &all, in_ms(HOUR_MS), NULL) == &d.raised);
		deadline_end(&d);
	}
}

TESTS(CASE(without_a_time_the_callers_flag_is_looked_at_itself), CASE(a_flag_is_raised_when_time_is_up),
      CASE(a_flag_is_raised_when_the_callers_is), CASE(each_of_several_is_raised_in_its_time),
      CASE(whoever_is_done_early_does_not_wait))
