/*
 * Starting threads of our own in a process that may be somebody else's.
 */
#ifndef ARBOR_BASE_THREAD_H
#define ARBOR_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create(), 0 or an errno, but the thread takes no signals: these are for who waits
 * for them, and a handler of the process's must not run where it is not expected. */
int thread_start(pthread_t *out, void *(*run)(void *ctx), void *ctx);

/* The thread it is called in lets all others go first from now on, in this program and in others. */
void thread_step_back(void);

#endif
