/*
 * Mirrored trees from top to bottom, with the made nodes that hang on them: a node, what is below it, its
 * next sibling. Made nodes come behind the mirrored children of what they hang on.
 */
#ifndef ARBOR_HUB_MIRRORED_WALK_H
#define ARBOR_HUB_MIRRORED_WALK_H

#include "hub/mirrored.h"

struct mirrored_frame {
	struct grove_ref ref;
	int64_t place;	  /* siblings before it */
	int64_t children; /* mirrored ones, once these are done */
	bool knows_grafts;
	int64_t *grafts;	   /* rows that stand for it */
	size_t graft_count, graft; /* how many, and which is in hand */
};

struct mirrored_walk {
	struct mirrored *m;
	struct mirrored_frame
		*frames; /* from the tree down to the mirrored node in hand, or that the made one hangs on */
	size_t count, cap;
	size_t top;   /* frame it does not leave */
	bool in_made; /* the mirrored ones below the last frame are done */
	struct tree_walk made;
	int64_t row; /* of the made node in hand; 0 = the last frame's own */
	bool begun;
};

/* Below `top` and with it, from behind the node that parameter 'after' names, if the method has that and it
 * is given. */
enum status mirrored_walk_begin(struct mirrored_walk *w, struct mirrored *m, struct grove_ref top,
				struct err *err) MUST_USE;
void mirrored_walk_release(struct mirrored_walk *w);

/* The next one; *is_there false = that was the last. */
enum status mirrored_walk_next(struct mirrored_walk *w, bool *is_there, struct err *err) MUST_USE;

/* The made node in hand as part of the tree; only while w->row is not 0. Texts in `mem`. */
enum status mirrored_walk_made(struct mirrored_walk *w, enum tree_node_part part, struct arena *mem,
			       struct made_node *out, struct err *err) MUST_USE;

/* Whether a sibling follows: of the one in hand (0), which is so many levels below the top, or of one so many
 * steps above it. */
enum status mirrored_walk_has_next(struct mirrored_walk *w, int64_t level, int64_t above, bool *out,
				   struct err *err) MUST_USE;

#endif
