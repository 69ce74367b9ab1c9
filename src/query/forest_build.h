/*
 * Inside the forest: what its parts share while it is built.
 */
#ifndef ARBOR_QUERY_FOREST_BUILD_H
#define ARBOR_QUERY_FOREST_BUILD_H

#include "base/numbers.h"
#include "query/forest.h"

/* How many lines of a message a source has. */
struct holding {
	uint32_t count, last; /* node counted, of a message; of another it is none */
};

struct build {
	struct forest *f;
	struct arena mem;
	size_t line_count, call_count;
	struct numbers variants; /* uuid and content -> node, of uuids that have several */
	struct numbers calls;  /* call, and call in a source -> answer */
	uint32_t *anchors;     /* by node, see anchor_of() */
	struct holding *holdings; /* by source */
	uint32_t *room;	       /* see forest_room() */
	uint32_t room_cap;
};

int forest_compare(const struct forest *f, const struct forest_copy *a, const struct forest_copy *b);
void forest_cut_circles(struct build *b);

/* Room for so many numbers, the same again with every call. */
uint32_t *forest_room(struct build *b, uint32_t count);

/* forest_join.c: copies with fresh ids; afterwards each message knows its canonical one. */
void forest_join(struct build *b);

/* forest_shape.c: order, turns, branches of the canonical ones. */
void forest_shape(struct build *b);

#endif
