/*
 * Edit distance over short words. Names farther away than two edits, or half
 * of the word, are no help.
 */
#include "base/near.h"

enum { NEAR_ENOUGH = 2, LONGEST = 40 };

size_t edit_distance(struct str a, struct str b)
{
	size_t row[LONGEST + 1];

	if (a.n > LONGEST || b.n > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= b.n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t replace = diagonal + (a.p[i - 1] != b.p[j - 1]);

			diagonal = row[j];
			row[j] = size_min(replace, size_min(row[j], row[j - 1]) + 1);
		}
	}
	return row[b.n];
}

struct near near_begin(struct str wanted)
{
	return (struct near){ .wanted = wanted, .distance = size_min(NEAR_ENOUGH, wanted.n / 2) + 1 };
}

void near_try(struct near *n, const char *name)
{
	size_t d = edit_distance(n->wanted, str_of(name));

	if (d < n->distance) {
		n->distance = d;
		n->best = name;
	}
}
