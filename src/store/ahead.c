/*
 * One thread and a few blocks. Unpacking is half of what reading a long conversation costs, needs no
 * database, and most machines have a second processor that does nothing. For a few blocks it is not
 * worth it: starting a thread and waking it takes as long as unpacking some of them. That is also why
 * there are several: the thread has the next ones ready before it is waited for.
 *
 * Invariant: all of it belongs to whoever holds the lock, but while a slot is BUSY its bytes, status
 * and error belong to the thread.
 */
#include "store/ahead.h"

#include "base/thread.h"
#include "store/pack.h"

#include <sched.h>

enum slot_state { SLOT_FREE, SLOT_WAITS, SLOT_BUSY, SLOT_DONE };

struct slot {
	enum slot_state state;
	struct ahead_block block;
	int codec;
	struct buf packed, raw;
	enum status status;
	struct err err;
};

struct ahead {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool running, stop;
	struct slot slots[AHEAD_BLOCKS];
	int oldest; /* slots are used in turn; this one is the next to be given away */
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
	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		buf_init(&a->slots[i].packed, 2 * LIMIT_BLOCK_MAX);
		buf_init(&a->slots[i].raw, LIMIT_BLOCK_MAX);
	}
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
	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		buf_release(&a->slots[i].packed);
		buf_release(&a->slots[i].raw);
	}
	packer_free(a->packer);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}

/* The one that waits longest. */
static struct slot *next_to_unpack(struct ahead *a)
{
	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		struct slot *slot = &a->slots[(a->oldest + i) % AHEAD_BLOCKS];

		if (slot->state == SLOT_WAITS)
			return slot;
	}
	return NULL;
}

static void *work(void *ctx)
{
	struct ahead *a = ctx;

	pthread_mutex_lock(&a->lock);
	while (!a->stop) {
		struct slot *slot = next_to_unpack(a);

		if (!slot) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		slot->state = SLOT_BUSY;
		pthread_mutex_unlock(&a->lock);
		slot->status = packer_unpack(a->packer,
					     &(struct packed){ .codec = slot->codec,
							       .bytes = buf_as_str(&slot->packed),
							       .length = slot->block.length },
					     slot->block.hash, &slot->raw, &slot->err);
		pthread_mutex_lock(&a->lock);
		slot->state = SLOT_DONE;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Wants the lock. */
static struct slot *find(struct ahead *a, const struct ahead_block *b)
{
	for (int i = 0; i < AHEAD_BLOCKS; i++) {
		struct slot *slot = &a->slots[i];

		if (slot->state != SLOT_FREE && slot->block.data == b->data && slot->block.hash == b->hash &&
		    slot->block.length == b->length)
			return slot;
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

static void fill(struct slot *slot, const struct ahead_block *b, int codec, struct str packed)
{
	buf_clear(&slot->packed);
	buf_str(&slot->packed, packed);
	/* Memory is taken here: the thread would have a heap of its own. */
	buf_clear(&slot->raw);
	buf_reserve(&slot->raw, b->length);
	slot->block = *b;
	slot->codec = codec;
	slot->state = SLOT_WAITS;
}

void ahead_announce(struct ahead *a, const struct ahead_block *b, int codec, struct str packed)
{
	struct slot *slot;

	if (b->length > LIMIT_BLOCK_MAX || packed.n > 2 * LIMIT_BLOCK_MAX)
		return;
	if (!a->running)
		a->running = thread_start(&a->thread, work, a) == 0;
	pthread_mutex_lock(&a->lock);
	slot = &a->slots[a->oldest];
	if (a->running && slot->state != SLOT_BUSY && !find(a, b)) {
		fill(slot, b, codec, packed);
		a->oldest = (a->oldest + 1) % AHEAD_BLOCKS;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
}

bool ahead_take(struct ahead *a, const struct ahead_block *b, struct buf *out, enum status *status, struct err *err)
{
	struct slot *slot;

	pthread_mutex_lock(&a->lock);
	slot = find(a, b);
	while (slot && slot->state != SLOT_DONE)
		pthread_cond_wait(&a->changed, &a->lock);
	if (slot) {
		*status = slot->status;
		if (slot->status == STATUS_OK)
			buf_str(out, buf_as_str(&slot->raw));
		if (slot->status != STATUS_OK)
			*err = slot->err;
		else if (out->failed)
			*status = err_fail(err, STATUS_LIMIT, "a block of %zu bytes is too large", b->length);
		slot->state = SLOT_FREE;
	}
	pthread_mutex_unlock(&a->lock);
	return slot != NULL;
}
