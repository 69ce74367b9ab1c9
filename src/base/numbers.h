/*
 * A table from numbers to numbers: indexes by hashes, mostly. There is no removal.
 */
#ifndef ARBOR_BASE_NUMBERS_H
#define ARBOR_BASE_NUMBERS_H

#include "base/arena.h"

#define NUMBERS_NONE UINT32_MAX

/* A free one is all zero, as new memory is, and its value NUMBERS_NONE. */
struct numbers_slot {
	uint64_t key;
	uint32_t value_plus_1;
};

struct numbers {
	struct numbers_slot *slots;
	size_t mask;
	uint64_t seed;
};

/* With room for `most` of them, all in the arena; putting in more is a mistake. */
struct numbers numbers_new(struct arena *mem, size_t most);

/* NUMBERS_NONE when there is none. */
uint32_t numbers_get(const struct numbers *n, uint64_t key);

/* An existing entry is replaced. Returns what it was. */
uint32_t numbers_put(struct numbers *n, uint64_t key, uint32_t value);

/* An existing entry stays. Returns what is there then. */
uint32_t numbers_add(struct numbers *n, uint64_t key, uint32_t value);

#endif
