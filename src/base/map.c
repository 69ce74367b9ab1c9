/*
 * Open addressing with linear probing, at most two thirds full.
 *
 * Invariant: for every used slot, no slot between its ideal place and itself
 * is free.
 */
#include "base/map.h"

#include "base/hash.h"

enum { MAP_FIRST = 64 };

void map_release(struct map *m)
{
	mem_free(m->slots);
	*m = (struct map)MAP_INIT;
}

static struct map_slot *find(const struct map *m, struct str key, uint64_t hash)
{
	size_t mask = m->cap - 1;
	size_t i = (size_t)hash & mask;

	while (m->slots[i].value && !(m->slots[i].hash == hash && str_eq(m->slots[i].key, key)))
		i = (i + 1) & mask;
	return &m->slots[i];
}

void *map_get(const struct map *m, struct str key)
{
	return m->cap ? find(m, key, hash64(key.p, key.n))->value : NULL;
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->cap = old.cap ? old.cap * 2 : MAP_FIRST;
	m->slots = mem_alloc(m->cap * sizeof *m->slots);
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].value)
			*find(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
	mem_free(old.slots);
}

void map_put(struct map *m, struct str key, void *value)
{
	uint64_t hash = hash64(key.p, key.n);
	struct map_slot *slot;

	if ((m->count + 1) * 3 > m->cap * 2)
		grow(m);
	slot = find(m, key, hash);
	if (!slot->value)
		m->count++;
	*slot = (struct map_slot){ key, value, hash };
}
