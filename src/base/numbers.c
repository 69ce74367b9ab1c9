/*
 * Open addressing, at most half full. Keys are hashed even where they are hashes
 * already: whoever wrote the file they come from cannot choose them to meet.
 */
#include "base/numbers.h"

#include "base/hash.h"

#include <string.h>

struct numbers numbers_new(struct arena *mem, size_t most)
{
	struct numbers n = { 0 };
	size_t slots = 16;

	while (slots < 2 * most)
		slots *= 2;
	n.mask = slots - 1;
	n.keys = arena_alloc(mem, slots * sizeof *n.keys);
	n.values = memset(arena_alloc(mem, slots * sizeof *n.values), 0xff, slots * sizeof *n.values);
	return n;
}

static size_t slot_of(const struct numbers *n, uint64_t key)
{
	size_t i = (size_t)hash64(&key, sizeof key) & n->mask;

	while (n->values[i] != NUMBERS_NONE && n->keys[i] != key)
		i = (i + 1) & n->mask;
	return i;
}

uint32_t numbers_get(const struct numbers *n, uint64_t key)
{
	return n->values[slot_of(n, key)];
}

void numbers_put(struct numbers *n, uint64_t key, uint32_t value)
{
	size_t i = slot_of(n, key);

	n->keys[i] = key;
	n->values[i] = value;
}
