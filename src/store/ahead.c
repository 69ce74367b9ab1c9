/*
 * One thread and some slots. Unpacking is half of what reading a long conversation costs, needs no
 * database, and most machines have a second processor that does nothing. For a few blocks it is not
 * worth it: starting a thread and waking it takes as long as unpacking some of them.
 *
 * Who announces blocks asks for them in the same order, so the thread begins with the last one: the
 * two meet in the middle and hardly wait for one another. A block that nobody has begun is unpacked
 * by whoever asks for it.
 *
 * Invariants
 *   (1) A slot is changed by whoever holds the lock, but for its bytes, its status and its error
 *       while it is BUSY: those belong to the one who made it so.
 *   (2) `began` of a slot that is not FREE is another one for each; larger is later.
 */
#include "store/ahead.h"

#include "store/pack.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

enum slot_state { SLOT_FREE, SLOT_WAITS, SLOT_BUSY, SLOT_DONE };

struct slot {
	enum slot_state state;
	struct ahead_block block;
	int codec;
	uint64_t began;
	struct buf packed, raw;
	enum status status;
	struct err err;
};

struct ahead {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	pthread_t thread;
	bool running, stop;
	uint64_t announced;
	struct slot slots[AHEAD_BLOCKS];
	struct packer *theirs, *ours; /* the thread's; of whoever asks */
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
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, NULL);
	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		buf_init(&a->slots[i].packed, 2 * LIMIT_BLOCK_MAX);
		buf_init(&a->slots[i].raw, LIMIT_BLOCK_MAX);
	}
	a->theirs = packer_new();
	a->ours = packer_new();
	return a;
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	if (a->running) {
		pthread_mutex_lock(&a->lock);
		a->stop = true;
		pthread_cond_signal(&a->work);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		buf_release(&a->slots[i].packed);
		buf_release(&a->slots[i].raw);
	}
	packer_free(a->theirs);
	packer_free(a->ours);
	pthread_cond_destroy(&a->work);
	pthread_cond_destroy(&a->done);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}

/* ---- Working ----------------------------------------------------------------------- */

/* Without the lock. */
static void unpack(struct slot *s, struct packer *packer)
{
	const struct ahead_block *b = &s->block;
	struct str packed = buf_as_str(&s->packed);

	buf_clear(&s->raw);
	s->status = b->wanted < b->length
			    ? packer_unpack_front(packer, s->codec, packed, b->length, b->wanted, &s->raw, &s->err)
			    : packer_unpack(packer, s->codec, packed, b->length, &s->raw, &s->err);
}

static struct slot *last_waiting(struct ahead *a)
{
	struct slot *last = NULL;

	for (int i = 0; i < AHEAD_BLOCKS; i++)
		if (a->slots[i].state == SLOT_WAITS && (!last || a->slots[i].began > last->began))
			last = &a->slots[i];
	return last;
}

static void *work(void *ctx)
{
	struct ahead *a = ctx;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		struct slot *s = last_waiting(a);

		if (!s) {
			pthread_cond_wait(&a->work, &a->lock);
			continue;
		}
		s->state = SLOT_BUSY;
		pthread_mutex_unlock(&a->lock);
		unpack(s, a->theirs);
		pthread_mutex_lock(&a->lock);
		s->state = SLOT_DONE;
		pthread_cond_signal(&a->done);
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

/* ---- Asking ------------------------------------------------------------------------ */

static struct slot *find(struct ahead *a, const struct ahead_block *b)
{
	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		const struct ahead_block *x = &a->slots[i].block;

		if (a->slots[i].state != SLOT_FREE && x->data == b->data && x->hash == b->hash &&
		    x->length == b->length && x->wanted >= b->wanted)
			return &a->slots[i];
	}
	return NULL;
}

bool ahead_has(struct ahead *a, const struct ahead_block *b)
{
	bool has;

	pthread_mutex_lock(&a->lock);
	has = find(a, b) != NULL;
	pthread_mutex_unlock(&a->lock);
	return has;
}

/* A free one, or the oldest that nobody has asked for. */
static struct slot *find_room(struct ahead *a)
{
	struct slot *oldest = NULL;

	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		struct slot *s = &a->slots[i];

		if (s->state == SLOT_FREE)
			return s;
		if (s->state == SLOT_DONE && (!oldest || s->began < oldest->began))
			oldest = s;
	}
	return oldest;
}

void ahead_announce(struct ahead *a, const struct ahead_block *b, int codec, struct str packed)
{
	struct slot *s;

	if (b->length > LIMIT_BLOCK_MAX || packed.n > 2 * LIMIT_BLOCK_MAX)
		return;
	pthread_mutex_lock(&a->lock);
	s = find_room(a);
	if (s) {
		s->state = SLOT_FREE;
		buf_clear(&s->packed);
		buf_str(&s->packed, packed);
		/* Memory is taken here: a thread of its own would have its own heap. */
		buf_clear(&s->raw);
		buf_reserve(&s->raw, b->length);
		s->block = *b;
		s->codec = codec;
		s->began = ++a->announced;
		s->state = SLOT_WAITS;
		if (a->running)
			pthread_cond_signal(&a->work);
	}
	pthread_mutex_unlock(&a->lock);
	if (s && !a->running)
		start(a);
}

bool ahead_take(struct ahead *a, const struct ahead_block *b, struct buf *out, enum status *status, struct err *err)
{
	struct slot *s;

	pthread_mutex_lock(&a->lock);
	s = find(a, b);
	if (s && s->state == SLOT_WAITS) {
		s->state = SLOT_BUSY;
		pthread_mutex_unlock(&a->lock);
		unpack(s, a->ours);
		pthread_mutex_lock(&a->lock);
		s->state = SLOT_DONE;
	}
	while (s && s->state == SLOT_BUSY)
		pthread_cond_wait(&a->done, &a->lock);
	pthread_mutex_unlock(&a->lock);
	if (!s)
		return false;
	/* It stays ours until it is free: the thread begins nothing that is done. */
	*status = s->status;
	buf_str(out, str_sub(buf_as_str(&s->raw), 0, s->status == STATUS_OK ? b->wanted : 0));
	if (s->status != STATUS_OK)
		*err = s->err;
	else if (out->failed)
		*status = err_fail(err, STATUS_LIMIT, "a block of %zu bytes is too large", b->wanted);
	pthread_mutex_lock(&a->lock);
	s->state = SLOT_FREE;
	pthread_mutex_unlock(&a->lock);
	return true;
}
