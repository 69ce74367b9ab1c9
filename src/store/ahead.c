/*
 * One thread and one block. Unpacking is half of what reading a long conversation costs, needs no
 * database, and most machines have a second processor that does nothing. For a few blocks it is not
 * worth it: starting a thread and waking it takes as long as unpacking some of them.
 *
 * Invariant: all of it belongs to whoever holds the lock, but while the state is BUSY the bytes, the
 * status and the error belong to the thread.
 */
#include "store/ahead.h"

#include "store/pack.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum ahead_state { AHEAD_NONE, AHEAD_WAITS, AHEAD_BUSY, AHEAD_DONE };

struct ahead {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool running, stop;
	enum ahead_state state;
	struct ahead_block block;
	int codec;
	struct buf packed, raw;
	enum status status;
	struct err err;
	struct packer *packer;
};

static bool has_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

struct ahead *ahead_new(void)
{
	struct ahead *a;

	if (!has_processors())
		return NULL;
	a = mem_alloc(sizeof *a);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	buf_init(&a->packed, 2 * LIMIT_BLOCK_MAX);
	buf_init(&a->raw, LIMIT_BLOCK_MAX);
	a->packer = packer_new();
	return a;
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	if (a->running) {
		pthread_mutex_lock(&a->lock);
		a->stop = true;
		pthread_cond_broadcast(&a->changed);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	buf_release(&a->packed);
	buf_release(&a->raw);
	packer_free(a->packer);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}

static void *work(void *ctx)
{
	struct ahead *a = ctx;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		if (a->state != AHEAD_WAITS) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		a->state = AHEAD_BUSY;
		pthread_mutex_unlock(&a->lock);
		a->status = packer_unpack(a->packer, a->codec, buf_as_str(&a->packed), a->block.length, &a->raw,
					  &a->err);
		pthread_mutex_lock(&a->lock);
		a->state = AHEAD_DONE;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Signals are for the thread that waits for them. */
static void start(struct ahead *a)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	a->running = pthread_create(&a->thread, NULL, work, a) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ahead_announce(struct ahead *a, const struct ahead_block *b, int codec, struct str packed)
{
	if (b->length > a->raw.max || packed.n > a->packed.max)
		return;
	if (!a->running)
		start(a);
	pthread_mutex_lock(&a->lock);
	if (a->running && a->state != AHEAD_BUSY) {
		buf_clear(&a->packed);
		buf_str(&a->packed, packed);
		/* Memory is taken here: the thread would have a heap of its own. */
		buf_clear(&a->raw);
		buf_reserve(&a->raw, b->length);
		a->block = *b;
		a->codec = codec;
		a->state = AHEAD_WAITS;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
}

bool ahead_take(struct ahead *a, const struct ahead_block *b, struct buf *out, enum status *status, struct err *err)
{
	bool mine;

	pthread_mutex_lock(&a->lock);
	mine = a->state != AHEAD_NONE && a->block.data == b->data && a->block.hash == b->hash &&
	       a->block.length == b->length;
	while (mine && a->state != AHEAD_DONE)
		pthread_cond_wait(&a->changed, &a->lock);
	if (mine) {
		*status = a->status;
		if (a->status == STATUS_OK)
			buf_str(out, buf_as_str(&a->raw));
		if (a->status != STATUS_OK)
			*err = a->err;
		else if (out->failed)
			*status = err_fail(err, STATUS_LIMIT, "a block of %zu bytes is too large", b->length);
		a->state = AHEAD_NONE;
	}
	pthread_mutex_unlock(&a->lock);
	return mine;
}
