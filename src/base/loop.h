/*
 * One thread that waits for several things at once: timers, descriptors that can
 * be read, and a flag that ends it. Everything is called in the thread that runs
 * the loop, one after the other.
 */
#ifndef ARBOR_BASE_LOOP_H
#define ARBOR_BASE_LOOP_H

#include "base/err.h"

struct loop;
struct loop_timer;

/* `cancel` may be NULL. Set by a signal handler it ends the loop at once, set by
 * another thread within a second. */
enum status loop_new(const atomic_bool *cancel, struct loop **out, struct err *err) MUST_USE;

/* Frees its timers too. NULL is fine. */
void loop_free(struct loop *l);

/* For CLEANUP. */
void loop_freep(struct loop **l);

/* Not set yet. */
struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *ctx), void *ctx);

/* Calls once, in `ms` from now. One that is set already is moved. */
void loop_timer_set(struct loop_timer *t, int64_t ms);
void loop_timer_stop(struct loop_timer *t);
bool loop_timer_is_set(const struct loop_timer *t);

/* Calls whenever `fd` can be read. It must stay open as long as the loop. */
enum status loop_watch_fd(struct loop *l, int fd, void (*fn)(void *ctx), void *ctx, struct err *err) MUST_USE;

/* Until loop_stop() or cancelled. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

#endif
