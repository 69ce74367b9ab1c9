/*
 * One thread for all flags of an owner. It sleeps until the first moment has come, so that a call with
 * a deadline costs little more than one without: a later moment need not wake it. Where no thread
 * can be had, deadlines are only seen by those who look at the clock themselves.
 *
 * The caller's own flag may be raised in a signal handler, which can wake nobody: so the thread looks
 * at these a few times a second.
 *
 * Invariant: `wakes_ns` is no later than the next moment at which something has to be raised.
 */
#include "base/deadline.h"

#include "base/clock.h"
#include "base/thread.h"

#include <time.h>

enum { LOOK_NS = 20 * 1000 * 1000 };

void deadlines_init(struct deadlines *all)
{
	pthread_condattr_t attributes;

	*all = (struct deadlines){ .wakes_ns = INT64_MAX };
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

void deadlines_release(struct deadlines *all)
{
	pthread_mutex_lock(&all->lock);
	all->ending = true;
	pthread_cond_signal(&all->changed);
	pthread_mutex_unlock(&all->lock);
	if (all->running)
		pthread_join(all->thread, NULL);
	pthread_cond_destroy(&all->changed);
	pthread_mutex_destroy(&all->lock);
}

bool deadline_is_over(const struct deadline *d)
{
	return d->owner && clock_monotonic_ns() >= d->at_ns;
}

/* When to look at it next; now, or earlier, when it is to be raised. */
static int64_t next_look(const struct deadline *d, int64_t now)
{
	if (d->cancel && atomic_load(d->cancel))
		return now;
	return d->cancel && now + LOOK_NS < d->at_ns ? now + LOOK_NS : d->at_ns;
}

/* Returns when there is something to raise next. */
static int64_t raise_some(struct deadlines *all)
{
	int64_t now = clock_monotonic_ns(), first = INT64_MAX;

	for (struct deadline *d = all->first; d; d = d->next) {
		int64_t look = next_look(d, now);

		if (look <= now)
			atomic_store(&d->raised, true);
		else if (look < first)
			first = look;
	}
	return first;
}

static void *watch(void *ctx)
{
	struct deadlines *all = ctx;

	pthread_mutex_lock(&all->lock);
	while (!all->ending) {
		struct timespec until;

		all->wakes_ns = raise_some(all);
		until = (struct timespec){ .tv_sec = all->wakes_ns / 1000000000,
					   .tv_nsec = all->wakes_ns % 1000000000 };
		if (all->wakes_ns == INT64_MAX)
			pthread_cond_wait(&all->changed, &all->lock);
		else
			pthread_cond_timedwait(&all->changed, &all->lock, &until);
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

const atomic_bool *deadline_begin(struct deadline *d, struct deadlines *all, int64_t at_ns,
				  const atomic_bool *cancel)
{
	bool running;

	*d = (struct deadline){ .owner = at_ns ? all : NULL, .at_ns = at_ns, .cancel = cancel };
	if (!at_ns)
		return cancel;
	pthread_mutex_lock(&all->lock);
	d->next = all->first;
	all->first = d;
	if (!all->running)
		all->running = thread_start(&all->thread, watch, all) == 0;
	else if (next_look(d, clock_monotonic_ns()) < all->wakes_ns)
		pthread_cond_signal(&all->changed);
	running = all->running;
	pthread_mutex_unlock(&all->lock);
	return running ? &d->raised : cancel;
}

void deadline_end(struct deadline *d)
{
	struct deadlines *all = d->owner;

	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	for (struct deadline **p = &all->first; *p; p = &(*p)->next)
		if (*p == d) {
			*p = d->next;
			break;
		}
	pthread_mutex_unlock(&all->lock);
	d->owner = NULL;
}
