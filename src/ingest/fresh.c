/*
 * Blocks on their way past the archive.
 *
 * What a sync packs is read soon after, from the archive, and would be unpacked for it: a twentieth of all
 * the work of a first sync. So those that pack keep a copy for a while. It is used only in the place of a
 * block that is archived with the same place, length and hash; what is read never
 * depends on whether it was there.
 *
 * There is room for a bounded number of bytes. Those that pack wait when it is used up, which keeps them
 * just ahead of those that read. When nobody takes anything for a while, all is let go.
 */
#include "ingest/fresh.h"

#include "base/clock.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
	PLACES = 256,
	/* Blocks take one of two rooms: most are smaller than the first. Those that end with a long line are larger,
	 * and a quarter of all bytes is in them; hardly any needs more than the second. */
	ROOMS = 2,
	SMALLEST_ROOM = LIMIT_BLOCK_TARGET,
	PATIENCE_NS = 100 * 1000 * 1000,
	NS_PER_S = 1000 * 1000 * 1000,
};

struct fresh {
	pthread_mutex_t lock; /* on all that follows */
	pthread_cond_t changed;
	struct fresh_block *places[PLACES]; /* by generation */
	struct fresh_block *spare[ROOMS];   /* memory that is used again: new pages cost as much as unpacking */
	size_t bytes; /* of all that were copied and not dropped */
	bool ended;
	const atomic_bool *cancel;
};

struct fresh *fresh_new(const atomic_bool *cancel)
{
	struct fresh *f = mem_alloc(sizeof *f);

	*f = (struct fresh){ .cancel = cancel };
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	return f;
}

/* Which room bytes need; ROOMS = there is none for so many. */
static int room_for(size_t bytes)
{
	int room = 0;

	while (room < ROOMS && bytes > (size_t)SMALLEST_ROOM << room)
		room++;
	return room;
}

static size_t size_of(int room)
{
	return (size_t)SMALLEST_ROOM << room;
}

/* With the lock, as most static functions here. */
static void let_go(struct fresh *f, struct fresh_block *block)
{
	int room = room_for(block->n);

	f->bytes -= size_of(room);
	block->next = f->spare[room];
	f->spare[room] = block;
}

static void let_all_go(struct fresh *f)
{
	for (size_t i = 0; i < PLACES; i++)
		while (f->places[i]) {
			struct fresh_block *next = f->places[i]->next;

			let_go(f, f->places[i]);
			f->places[i] = next;
		}
}

void fresh_free(struct fresh *f)
{
	if (!f)
		return;
	let_all_go(f);
	for (int i = 0; i < ROOMS; i++)
		while (f->spare[i]) {
			struct fresh_block *next = f->spare[i]->next;

			mem_free(f->spare[i]);
			f->spare[i] = next;
		}
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->changed);
	mem_free(f);
}

static bool is_over(const struct fresh *f)
{
	return f->ended || (f->cancel && atomic_load(f->cancel));
}

/* False when there is no room and nobody makes any. */
static bool wait_for_change(struct fresh *f)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	return pthread_cond_timedwait(&f->changed, &f->lock, &until) == 0;
}

static bool make_room(struct fresh *f, size_t bytes)
{
	while (!is_over(f) && f->bytes + bytes > LIMIT_FRESH_BYTES)
		if (!wait_for_change(f)) {
			let_all_go(f);
			break;
		}
	return !is_over(f) && f->bytes + bytes <= LIMIT_FRESH_BYTES;
}

/* Some of the same size that were let go; NULL = there is none. */
static struct fresh_block *take_spare(struct fresh *f, int room)
{
	struct fresh_block *block = f->spare[room];

	f->bytes += size_of(room);
	if (block)
		f->spare[room] = block->next;
	return block;
}

struct fresh_block *fresh_copy(struct fresh *f, struct str raw, int64_t offset, uint64_t hash)
{
	struct fresh_block *block = NULL;
	int room = room_for(raw.n);
	bool fits;

	if (!f || room == ROOMS)
		return NULL;
	pthread_mutex_lock(&f->lock);
	fits = make_room(f, size_of(room));
	if (fits)
		block = take_spare(f, room);
	pthread_mutex_unlock(&f->lock);
	if (!fits)
		return NULL;
	if (!block)
		block = mem_resize(NULL, sizeof *block + size_of(room));
	*block = (struct fresh_block){ .offset = offset, .hash = hash, .n = raw.n };
	memcpy(block->bytes, raw.p, raw.n);
	return block;
}

static struct fresh_block **place_of(struct fresh *f, int64_t generation)
{
	return &f->places[(uint64_t)generation % PLACES];
}

static bool is_at(const struct fresh_block *block, int64_t generation, int64_t offset)
{
	return block->generation == generation && block->offset == offset;
}

void fresh_give(struct fresh *f, struct fresh_block *block, int64_t generation)
{
	struct fresh_block **to;

	if (!f || !block)
		return;
	pthread_mutex_lock(&f->lock);
	block->generation = generation;
	block->next = NULL;
	for (to = place_of(f, generation); *to;) {
		struct fresh_block *other = *to;

		if (is_at(other, generation, block->offset)) { /* the last block, before it grew */
			*to = other->next;
			let_go(f, other);
		} else {
			to = &other->next;
		}
	}
	*to = block;
	pthread_mutex_unlock(&f->lock);
}

struct fresh_block *fresh_take(struct fresh *f, int64_t generation, const struct archive_block *b)
{
	struct fresh_block **from, *found;
	int64_t offset = b->offset - b->skip;

	if (!f)
		return NULL;
	pthread_mutex_lock(&f->lock);
	for (from = place_of(f, generation); *from && !is_at(*from, generation, offset); from = &(*from)->next)
		;
	found = *from;
	if (found && (found->n != (size_t)b->stored || found->hash != b->hash))
		found = NULL;
	if (found)
		*from = found->next;
	pthread_mutex_unlock(&f->lock);
	return found;
}

void fresh_drop(struct fresh *f, struct fresh_block *block)
{
	if (!block)
		return;
	pthread_mutex_lock(&f->lock);
	let_go(f, block);
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

void fresh_forget(struct fresh *f, int64_t generation, int64_t before)
{
	struct fresh_block **at;

	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	for (at = place_of(f, generation); *at;) {
		struct fresh_block *block = *at;

		if (block->generation == generation && block->offset < before) {
			*at = block->next;
			let_go(f, block);
		} else {
			at = &block->next;
		}
	}
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

void fresh_end(struct fresh *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->ended = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}
