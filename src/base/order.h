/*
 * Many things in the order of a number that each of them has.
 */
#ifndef ARBOR_BASE_ORDER_H
#define ARBOR_BASE_ORDER_H

#include "base/arena.h"

struct ordered {
	uint64_t number;
	uint32_t place; /* whose number this is */
};

/* Smallest number first; equal ones stay as they are. The result is `list` or in the arena. */
struct ordered *order_by_number(struct ordered *list, size_t count, struct arena *mem);

#endif
