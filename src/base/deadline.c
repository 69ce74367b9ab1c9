/*
 * One thread for each flag, which sleeps until the moment has come or nobody needs it any more. That
 * costs some microseconds of a call that has a deadline, and nothing of one that has none. Where no thread
 * can be had, the deadline is only seen by those who look at the clock themselves.
 *
 * The caller's own flag may be raised in a signal handler, which can wake nobody: so it is looked
 * at a few times a second.
 */
#include "base/deadline.h"

#include "base/clock.h"
#include "base/thread.h"

#include <time.h>

enum { LOOK_NS = 20 * 1000 * 1000 };

static bool is_cancelled(const struct deadline *d)
{
	return d->cancel && atomic_load(d->cancel);
}

bool deadline_is_over(const struct deadline *d)
{
	return d->at_ns && clock_monotonic_ns() >= d->at_ns;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

/* Until the next look at the caller's flag, but no later than the moment itself. */
static struct timespec next_look(const struct deadline *d)
{
	int64_t soon = clock_monotonic_ns() + LOOK_NS;

	return timespec_of(d->cancel && soon < d->at_ns ? soon : d->at_ns);
}

static void *watch(void *ctx)
{
	struct deadline *d = ctx;

	pthread_mutex_lock(&d->lock);
	while (!d->over && !is_cancelled(d) && !deadline_is_over(d)) {
		struct timespec until = next_look(d);

		pthread_cond_timedwait(&d->ended, &d->lock, &until);
	}
	atomic_store(&d->raised, true);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

const atomic_bool *deadline_begin(struct deadline *d, int64_t at_ns, const atomic_bool *cancel)
{
	pthread_condattr_t attributes;

	*d = (struct deadline){ .at_ns = at_ns, .cancel = cancel };
	if (!at_ns)
		return cancel;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	d->running = thread_start(&d->thread, watch, d) == 0;
	return d->running ? &d->raised : cancel;
}

void deadline_end(struct deadline *d)
{
	if (!d->at_ns)
		return;
	pthread_mutex_lock(&d->lock);
	d->over = true;
	pthread_cond_signal(&d->ended);
	pthread_mutex_unlock(&d->lock);
	if (d->running)
		pthread_join(d->thread, NULL);
	pthread_cond_destroy(&d->ended);
	pthread_mutex_destroy(&d->lock);
	d->at_ns = 0;
}
