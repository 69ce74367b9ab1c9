/*
 * The loop over libuv, and nothing more than what is needed of it.
 *
 * A flag and not libuv's own signal handling ends it: the flag belongs to whoever
 * called, may be set by anything, and also ends what runs inside a callback. libuv
 * goes on waiting when a signal interrupts it, so the waiting is done here, on the
 * descriptor it offers for that, and libuv only calls what is due. A flag that is
 * set by another thread, or just before the wait begins, is seen within a second.
 *
 * Invariant: a handle is in one of the lists until somebody frees it. libuv knows it
 * for a moment longer, and gives it back to be freed when it is done with it.
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

struct loop_fd {
	uv_poll_t uv;
	void (*fn)(void *ctx);
	void *ctx;
	struct loop_fd *next;
};

struct loop {
	uv_loop_t uv;
	const atomic_bool *cancel;
	struct loop_timer *timers;
	struct loop_fd *fds;
	uv_async_t waker;
	void (*on_wake)(void *ctx); /* NULL = `waker` is not in use */
	void *wake_ctx;
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
	l->uv.data = l;
	l->cancel = cancel;
	*out = l;
	return STATUS_OK;
}

/* Its data is the struct it is in. */
static void free_handle(uv_handle_t *handle)
{
	mem_free(handle->data);
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	while (l->timers)
		loop_timer_free(l->timers);
	while (l->fds)
		loop_fd_free(l->fds);
	if (l->on_wake)
		uv_close((uv_handle_t *)&l->waker, NULL);
	uv_run(&l->uv, UV_RUN_DEFAULT);
	if (uv_loop_close(&l->uv))
		bug("a loop is freed that has handles nobody knows");
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
	t->next = l->timers;
	l->timers = t;
	uv_timer_init(&l->uv, &t->uv);
	t->uv.data = t;
	return t;
}

void loop_timer_free(struct loop_timer *t)
{
	struct loop_timer **at;

	if (!t)
		return;
	at = &((struct loop *)t->uv.loop->data)->timers;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	uv_close((uv_handle_t *)&t->uv, free_handle);
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

/* An error on the descriptor is found by whoever reads or writes it. */
static void on_fd(uv_poll_t *handle, int status, int events)
{
	struct loop_fd *w = handle->data;

	(void)status;
	(void)events;
	w->fn(w->ctx);
}

enum status loop_fd_new(struct loop *l, int fd, void (*fn)(void *ctx), void *ctx, struct loop_fd **out,
			struct err *err)
{
	struct loop_fd *w = mem_alloc(sizeof *w);
	int number = uv_poll_init(&l->uv, &w->uv, fd);

	if (number) {
		mem_free(w);
		return fail_uv(number, err);
	}
	w->fn = fn;
	w->ctx = ctx;
	w->uv.data = w;
	w->next = l->fds;
	l->fds = w;
	*out = w;
	return STATUS_OK;
}

void loop_fd_want(struct loop_fd *w, unsigned events)
{
	int wanted = (events & LOOP_READ ? UV_READABLE : 0) | (events & LOOP_WRITE ? UV_WRITABLE : 0);

	if (wanted)
		uv_poll_start(&w->uv, wanted, on_fd);
	else
		uv_poll_stop(&w->uv);
}

void loop_fd_free(struct loop_fd *w)
{
	struct loop_fd **at;

	if (!w)
		return;
	at = &((struct loop *)w->uv.loop->data)->fds;
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	uv_close((uv_handle_t *)&w->uv, free_handle);
}

/* ---- Other threads ---------------------------------------------------------- */

static void on_async(uv_async_t *handle)
{
	struct loop *l = handle->data;

	l->on_wake(l->wake_ctx);
}

enum status loop_on_wake(struct loop *l, void (*fn)(void *ctx), void *ctx, struct err *err)
{
	int number = uv_async_init(&l->uv, &l->waker, on_async);

	if (number)
		return fail_uv(number, err);
	l->waker.data = l;
	l->on_wake = fn;
	l->wake_ctx = ctx;
	return STATUS_OK;
}

void loop_wake(struct loop *l)
{
	uv_async_send(&l->waker);
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
	poll(&p, 1, l->cancel && (ms < 0 || ms > LOOK_MS) ? LOOK_MS : ms);
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
