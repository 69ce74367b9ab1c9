/*
 * A new thread has the signal mask of the one that starts it, from its first instruction on. So all
 * are blocked while it is made; blocking them inside would leave a moment in which one arrives.
 */
#include "base/thread.h"

#include "base/base.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* A thread's own, sent to it alone: who reports crashes wants to know of these. */
static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

int thread_start(pthread_t *out, void *(*run)(void *ctx), void *ctx)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	for (size_t i = 0; i < COUNT(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(out, NULL, run, ctx); /* lint: allow, the one place */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

void thread_step_back(void)
{
	enum { NICE = 10 };

	/* Linux has a niceness for each thread. Where it cannot be had all go on as equals. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
}
