/*
 * A flag that is raised when time is up: then, and when the caller's own is, and not before.
 */
#include "base/deadline.h"

#include "base/clock.h"
#include "t.h"

#include <unistd.h>

enum { HOUR_S = 3600 };

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

	CHECK(deadline_begin(&d, 0, &cancel) == &cancel);
	CHECK(!deadline_is_over(&d));
	deadline_end(&d);
	CHECK(deadline_begin(&d, 0, NULL) == NULL);
	deadline_end(&d);
}

TEST(the_flag_is_raised_when_time_is_up)
{
	int64_t at = in_ms(20);
	const atomic_bool *flag;
	struct deadline d;

	flag = deadline_begin(&d, at, NULL);
	wait_for(flag);
	CHECK(clock_monotonic_ns() >= at);
	CHECK(deadline_is_over(&d));
	deadline_end(&d);
	flag = deadline_begin(&d, in_ms(-1), NULL); /* long ago */
	wait_for(flag);
	deadline_end(&d);
}

TEST(the_flag_is_raised_when_the_callers_is)
{
	atomic_bool cancel = false;
	const atomic_bool *flag;
	struct deadline d;

	flag = deadline_begin(&d, in_ms((int64_t)HOUR_S * 1000), &cancel);
	usleep(50000);
	CHECK(!atomic_load(flag));
	atomic_store(&cancel, true);
	wait_for(flag);
	CHECK(!deadline_is_over(&d));
	deadline_end(&d);
}

TEST(whoever_is_done_early_does_not_wait)
{
	struct deadline d;

	for (int i = 0; i < 1000; i++) {
		CHECK(deadline_begin(&d, in_ms((int64_t)HOUR_S * 1000), NULL) != NULL);
		deadline_end(&d);
	}
}

TESTS(CASE(without_a_time_the_callers_flag_is_looked_at_itself), CASE(the_flag_is_raised_when_time_is_up),
      CASE(the_flag_is_raised_when_the_callers_is), CASE(whoever_is_done_early_does_not_wait))
