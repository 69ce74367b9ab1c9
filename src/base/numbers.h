/*
 * A table from numbers to numbers: indexes by hashes, mostly. There is no removal.
 */
#ifndef ARBOR_BASE_NUMBERS_H
#define ARBOR_BASE_NUMBERS_H

#include "base/arena.h"

#define NUMBERS_NONE UINT32_MAX

struct numbers {
	uint64_t *keys;
	uint32_t *values; /* NUMBERS_NONE = free */
	size_t mask;
	uint64_t seed;
};

/* With room for `most` of them, all in the arena; putting in more is a mistake. */
struct numbers numbers_new(struct arena *mem, size_t most);

/* NUMBERS_NONE when there is none. */
uint32_t numbers_get(const struct numbers *n, uint64_t key);

/* An existing entry is replaced. */
void numbers_put(struct numbers *n, uint64_t key, uint32_t value);

#endif
