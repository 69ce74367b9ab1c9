/*
 * A table from byte strings to pointers. Keys are borrowed and must outlive
 * the map. There is no removal; nothing needs it.
 */
#ifndef ARBOR_BASE_MAP_H
#define ARBOR_BASE_MAP_H

#include "base/str.h"

struct map_slot {
	struct str key;
	void *value; /* NULL = free */
	uint64_t hash;
};

struct map {
	struct map_slot *slots;
	size_t cap;   /* power of two, or 0 */
	size_t count;
};

#define MAP_INIT { 0 }

void  map_release(struct map *m);
void *map_get(const struct map *m, struct str key);

/* `value` must not be NULL. An existing entry is replaced. */
void  map_put(struct map *m, struct str key, void *value);

#endif
