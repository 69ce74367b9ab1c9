/*
 * Flags that are raised when time is up.
 *
 * What works long looks at a flag now and then (`cancel`, everywhere). A caller that gives it only
 * so much time has another reason to raise one.
 */
#ifndef ARBOR_BASE_DEADLINE_H
#define ARBOR_BASE_DEADLINE_H

#include "base/base.h"

#include <pthread.h>

/* All of one owner, and the thread that raises them. */
struct deadlines {
	pthread_mutex_t lock; /* on all that follows */
	pthread_cond_t changed;
	struct deadline *first; /* those that are waited for, in no order */
	int64_t wakes_ns;	/* when the thread looks next */
	bool running, ending;
	pthread_t thread; /* started for the first of them */
};

struct deadline {
	struct deadlines *owner;   /* NULL = there is no time, and nothing to end */
	int64_t at_ns;		   /* monotonic */
	const atomic_bool *cancel; /* the caller's; may be NULL */
	atomic_bool raised;
	struct deadline *next;
};

void deadlines_init(struct deadlines *all);
void deadlines_release(struct deadlines *all); /* when all have ended */

/* Returns the flag to look at: raised when time is up, or soon after `cancel` is. Without a time
 * (at_ns 0) it is `cancel` itself. *d must stay where it is until deadline_end(). */
const atomic_bool *deadline_begin(struct deadline *d, struct deadlines *all, int64_t at_ns,
				  const atomic_bool *cancel);
void deadline_end(struct deadline *d);

/* Whether time is up. */
bool deadline_is_over(const struct deadline *d);

#endif
