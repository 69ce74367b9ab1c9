/*
 * Memory for SQLite in a program that is over in milliseconds.
 *
 * Opening a store makes some two thousand small things that stay until the end: tables, columns, statements.
 * malloc() looks for a place for each, which is a tenth of a search. Here small ones are cut off a piece, one
 * behind the other, and those that are given back wait in lists by their size until the program ends.
 *
 * SQLite hands its functions no context, so here is state of the program's own. It belongs to one thread and needs
 * no lock: others get their memory from malloc(), and what they give back of the first one's is not used again.
 *
 * In front of each stands its size, and whether it is from malloc(). Sizes are such that what follows is aligned
 * to 8 bytes, as SQLite wants it.
 */
#include "face/quick.h"

#include "store/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 16, LARGEST = 1024, CLASSES = LARGEST / STEP + 1, PIECE = 64 * 1024 };

#define FOREIGN ((uint64_t)1 << 63)

struct front {
	uint64_t size; /* of what is behind it; FOREIGN: from malloc() */
};

struct waiting {
	struct waiting *next;
};

static struct {
	pthread_t owner;
	char *at, *end; /* what is left of the piece */
	struct waiting *lists[CLASSES];
} pool;

static struct front *front_of(void *p)
{
	return (struct front *)p - 1;
}

/* With what stands in front of it. */
static size_t whole(size_t bytes)
{
	return (bytes + sizeof(struct front) + STEP - 1) / STEP * STEP;
}

static bool is_small(size_t all)
{
	return all <= LARGEST && pthread_equal(pool.owner, pthread_self());
}

static struct front *cut(size_t all)
{
	struct front *f;

	if ((size_t)(pool.end - pool.at) < all) {
		char *piece = malloc(PIECE);

		if (!piece)
			return NULL;
		pool.at = piece;
		pool.end = piece + PIECE;
	}
	f = (struct front *)(void *)pool.at;
	pool.at += all;
	f->size = all - sizeof *f;
	return f;
}

static void *take(int bytes)
{
	size_t all = whole((size_t)bytes);
	struct front *f;

	if (is_small(all)) {
		struct waiting *w = pool.lists[all / STEP];

		if (w) {
			pool.lists[all / STEP] = w->next;
			return w;
		}
		f = cut(all);
	} else {
		f = malloc(all);
		if (f)
			f->size = (all - sizeof *f) | FOREIGN;
	}
	return f ? f + 1 : NULL;
}

static void give_back(void *p)
{
	struct front *f;

	if (!p)
		return;
	f = front_of(p);
	if (f->size & FOREIGN) {
		free(f);
	} else if (pthread_equal(pool.owner, pthread_self())) {
		struct waiting *w = p;
		size_t list = (size_t)(f->size + sizeof *f) / STEP;

		w->next = pool.lists[list];
		pool.lists[list] = w;
	}
}

static int size_of(void *p)
{
	return p ? (int)(front_of(p)->size & ~FOREIGN) : 0;
}

static void *resize(void *p, int bytes)
{
	size_t all = whole((size_t)bytes);
	int has = size_of(p);
	struct front *f;
	void *to;

	if (bytes <= has && bytes >= has / 2)
		return p;
	if (p && (front_of(p)->size & FOREIGN) && all > LARGEST) {
		f = realloc(front_of(p), all);
		if (!f)
			return NULL;
		f->size = (all - sizeof *f) | FOREIGN;
		return f + 1;
	}
	to = take(bytes);
	if (!to)
		return NULL;
	if (p)
		memcpy(to, p, (size_t)(bytes < has ? bytes : has));
	give_back(p);
	return to;
}

static int room_for(int bytes)
{
	return (int)(whole((size_t)bytes) - sizeof(struct front));
}

void quick_memory(void)
{
	pool.owner = pthread_self();
	store_use_memory(&(struct store_memory){ take, give_back, resize, size_of, room_for });
}
