/*
 * The loop over libuv, and nothing more than what is needed of it.
 *
 * A flag and not libuv's own signal handling ends it: the flag belongs to whoever
 * called, may be set by anything, and also ends what runs inside a callback. libuv
 * goes on waiting when a signal interrupts it, so the waiting is done here, on the
 * descriptor it offers for that, and libuv only calls what is due. A flag that is
 * set by another thread, or just before the wait begins, is seen within a second.
 *
 * Invariant: a handle is in one of the lists exactly as long as libuv knows it.
 */
#include "base/loop.h"

#include <poll.h>
#include <uv.h>

enum { LOOK_MS = 1000 };

struct loop_timer {
	uv_timer_t uv;
	void (*fn)(void *ctx);
	void *ctx;
	struct loop_timer *next;
};

struct watched_fd {
	uv_poll_t uv;
	void (*fn)(void *ctx);
	void *ctx;
	struct watched_fd *next;
};

struct loop {
	uv_loop_t uv;
	const atomic_bool *cancel;
	struct loop_timer *timers;
	struct watched_fd *fds;
	bool stopped;
};

static enum status fail_uv(int number, struct err *err)
{
	return err_fail_errno(err, -number,
			      "waiting for events"); /* libuv's numbers are those of errno, negative */
}

enum status loop_new(const atomic_bool *cancel, struct loop **out, struct err *err)
{
	struct loop *l = mem_alloc(sizeof *l);
	int number = uv_loop_init(&l->uv);

	if (number) {
		mem_free(l);
		return fail_uv(number, err);
	}
	l->cancel = cancel;
	*out = l;
	return STATUS_OK;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	for (struct loop_timer *t = l->timers; t; t = t->next)
		uv_close((uv_handle_t *)&t->uv, NULL);
	for (struct watched_fd *w = l->fds; w; w = w->next)
		uv_close((uv_handle_t *)&w->uv, NULL);
	uv_run(&l->uv, UV_RUN_DEFAULT);
	if (uv_loop_close(&l->uv))
		bug("a loop is freed that has handles nobody knows");
	while (l->timers) {
		struct loop_timer *next = l->timers->next;

		mem_free(l->timers);
		l->timers = next;
	}
	while (l->fds) {
		struct watched_fd *next = l->fds->next;

		mem_free(l->fds);
		l->fds = next;
	}
	mem_free(l);
}

void loop_freep(struct loop **l)
{
	loop_free(*l);
}

/* ---- Timers ----------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer)
{
	struct loop_timer *t = timer->data;

	t->fn(t->ctx);
}

struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *ctx), void *ctx)
{
	struct loop_timer *t = mem_alloc(sizeof *t);

	t->fn = fn;
	t->ctx = ctx;
	t->uv.data = t;
	t->next = l->timers;
	l->timers = t;
	uv_timer_init(&l->uv, &t->uv);
	return t;
}

/* libuv counts from when its callbacks began, and one of ours may have taken long. */
void loop_timer_set(struct loop_timer *t, int64_t ms)
{
	uv_update_time(t->uv.loop);
	uv_timer_start(&t->uv, on_timer, ms > 0 ? (uint64_t)ms : 0, 0);
}

void loop_timer_stop(struct loop_timer *t)
{
	uv_timer_stop(&t->uv);
}

bool loop_timer_is_set(const struct loop_timer *t)
{
	return uv_is_active((const uv_handle_t *)&t->uv) != 0;
}

/* ---- Descriptors ------------------------------------------------------------ */

/* An error on the descriptor is found by whoever reads it. */
static void on_fd(uv_poll_t *handle, int status, int events)
{
	struct watched_fd *w = handle->data;

	(void)status;
	(void)events;
	w->fn(w->ctx);
}

enum status loop_watch_fd(struct loop *l, int fd, void (*fn)(void *ctx), void *ctx, struct err *err)
{
	struct watched_fd *w = mem_alloc(sizeof *w);
	int number;

	w->fn = fn;
	w->ctx = ctx;
	w->uv.data = w;
	number = uv_poll_init(&l->uv, &w->uv, fd);
	if (number) {
		mem_free(w);
		return fail_uv(number, err);
	}
	w->next = l->fds;
	l->fds = w;
	number = uv_poll_start(&w->uv, UV_READABLE, on_fd);
	return number ? fail_uv(number, err) : STATUS_OK;
}

/* ---- Running ---------------------------------------------------------------- */

static bool is_over(const struct loop *l)
{
	return l->stopped || (l->cancel && atomic_load(l->cancel));
}

/* Until something is due, or a signal comes. */
static void wait_for_it(struct loop *l)
{
	struct pollfd p = { .fd = uv_backend_fd(&l->uv), .events = POLLIN };
	int ms;

	uv_update_time(&l->uv); /* callbacks may have taken long */
	ms = uv_backend_timeout(&l->uv);
	poll(&p, 1, ms < 0 || ms > LOOK_MS ? LOOK_MS : ms);
}

void loop_run(struct loop *l)
{
	l->stopped = false;
	while (!is_over(l)) {
		uv_run(&l->uv, UV_RUN_NOWAIT);
		if (!is_over(l))
			wait_for_it(l);
	}
}

void loop_stop(struct loop *l)
{
	l->stopped = true;
}
