/*
 * "Did you mean": the nearest of several names.
 */
#ifndef ARBOR_BASE_NEAR_H
#define ARBOR_BASE_NEAR_H

#include "base/str.h"

struct near {
	struct str wanted;
	const char *best;  /* NULL = nothing near enough */
	size_t distance;
};

struct near near_begin(struct str wanted);
void near_try(struct near *n, const char *name);

/* How many insertions, deletions and replacements turn one into the other. */
size_t edit_distance(struct str a, struct str b);

#endif
