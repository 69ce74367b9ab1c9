/*
 * One thread that waits for several things at once: timers, descriptors that can
 * be read or written, a call from another thread, and a flag that ends it.
 * Everything is called in the thread that runs the loop, one after the other.
 */
#ifndef ARBOR_BASE_LOOP_H
#define ARBOR_BASE_LOOP_H

#include "base/err.h"

struct loop;
struct loop_timer;
struct loop_fd;

/* `cancel` may be NULL. Set by a signal handler it ends the loop at once, set by
 * another thread within a second. */
enum status loop_new(const atomic_bool *cancel, struct loop **out, struct err *err) MUST_USE;

/* Frees its timers and forgets its descriptors, too. NULL is fine. */
void loop_free(struct loop *l);

/* For CLEANUP. */
void loop_freep(struct loop **l);

/* Not set yet. */
struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *ctx), void *ctx);

/* Calls once, in `ms` from now. One that is set already is moved. */
void loop_timer_set(struct loop_timer *t, int64_t ms);
void loop_timer_stop(struct loop_timer *t);
bool loop_timer_is_set(const struct loop_timer *t);
void loop_timer_free(struct loop_timer *t); /* before the loop; NULL is fine */

/* What a descriptor is watched for. Its end and its errors are told to whoever wants
 * either, and found by reading or writing. */
enum loop_event { LOOP_READ = 1, LOOP_WRITE = 2 };

/* Watches for nothing until loop_fd_want(). `fd` must stay open until loop_fd_free(). */
enum status loop_fd_new(struct loop *l, int fd, void (*fn)(void *ctx), void *ctx, struct loop_fd **out,
			struct err *err) MUST_USE;
void loop_fd_want(struct loop_fd *w, unsigned events);
void loop_fd_free(struct loop_fd *w); /* may be called by its own function; NULL is fine */

/* Calls `fn` in the loop's thread some time after loop_wake(); once for several. Only
 * loop_wake() may be called by other threads. */
enum status loop_on_wake(struct loop *l, void (*fn)(void *ctx), void *ctx, struct err *err) MUST_USE;
void loop_wake(struct loop *l);

/* Until loop_stop() or cancelled. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

#endif
