/*
 * Open addressing, at most two thirds full. Keys are mixed even where they are hashes already, each
 * table in another way: whoever wrote the file they come from cannot choose them to meet.
 */
#include "base/numbers.h"

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

	while (slots < most + most / 2)
		slots *= 2;
	n.mask = slots - 1;
	n.slots = arena_alloc_large(mem, slots * sizeof *n.slots);
	/* Nobody outside knows where memory is. */
	n.seed = mix((uint64_t)(uintptr_t)n.slots ^ UINT64_C(0x9e3779b97f4a7c15), (uint64_t)(uintptr_t)&n | 1);
	return n;
}

static struct numbers_slot *slot_of(const struct numbers *n, uint64_t key)
{
	size_t i = (size_t)mix(key ^ n->seed, UINT64_C(0xd6e8feb86659fd93)) & n->mask;

	while (n->slots[i].value_plus_1 && n->slots[i].key != key)
		i = (i + 1) & n->mask;
	return &n->slots[i];
}

uint32_t numbers_get(const struct numbers *n, uint64_t key)
{
	return slot_of(n, key)->value_plus_1 - 1;
}

uint32_t numbers_put(struct numbers *n, uint64_t key, uint32_t value)
{
	struct numbers_slot *slot = slot_of(n, key);
	uint32_t before = slot->value_plus_1 - 1;

	*slot = (struct numbers_slot){ key, value + 1 };
	return before;
}

uint32_t numbers_add(struct numbers *n, uint64_t key, uint32_t value)
{
	struct numbers_slot *slot = slot_of(n, key);

	if (!slot->value_plus_1)
		*slot = (struct numbers_slot){ key, value + 1 };
	return slot->value_plus_1 - 1;
}
