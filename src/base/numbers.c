/*
 * Open addressing, at most half full. Keys are mixed even where they are hashes already, each
 * table in another way: whoever wrote the file they come from cannot choose them to meet.
 */
#include "base/numbers.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* The two halves of a product, which depend on all bits of both. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

struct numbers numbers_new(struct arena *mem, size_t most)
{
	struct numbers n = { 0 };
	size_t slots = 16;

	while (slots < 2 * most)
		slots *= 2;
	n.mask = slots - 1;
	n.keys = arena_alloc(mem, slots * sizeof *n.keys);
	n.values = memset(arena_alloc(mem, slots * sizeof *n.values), 0xff, slots * sizeof *n.values);
	/* Nobody outside knows where memory is. */
	n.seed = mix((uint64_t)(uintptr_t)n.keys ^ UINT64_C(0x9e3779b97f4a7c15), (uint64_t)(uintptr_t)&n | 1);
	return n;
}

static size_t slot_of(const struct numbers *n, uint64_t key)
{
	size_t i = (size_t)mix(key ^ n->seed, UINT64_C(0xd6e8feb86659fd93)) & n->mask;

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
