/*
 * A flag that is raised when time is up.
 *
 * What works long looks at a flag now and then (`cancel`, everywhere). A caller that gives it only
 * so much time has another reason to raise one.
 */
#ifndef ARBOR_BASE_DEADLINE_H
#define ARBOR_BASE_DEADLINE_H

#include "base/base.h"

#include <pthread.h>

struct deadline {
	int64_t at_ns;		   /* monotonic; 0 = never */
	const atomic_bool *cancel; /* the caller's; may be NULL */
	atomic_bool raised;
	bool running; /* the thread that raises it */
	bool over;    /* and need not any more */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
};

/* Returns the flag to look at: raised when time is up, or soon after `cancel` is. Without a time it is
 * `cancel` itself. */
const atomic_bool *deadline_begin(struct deadline *d, int64_t at_ns, const atomic_bool *cancel);
void deadline_end(struct deadline *d);

/* Whether time is up. */
bool deadline_is_over(const struct deadline *d);

#endif
