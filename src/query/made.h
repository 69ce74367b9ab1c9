/*
 * Nodes that were made, as a search finds them.
 */
#ifndef ARBOR_QUERY_MADE_H
#define ARBOR_QUERY_MADE_H

#include "store/session.h"
#include "store/tree.h"

/* One, and what it is in. Texts are in the arena given. */
struct made_found {
	struct tree_node node;
	struct tree tree;	/* where it hangs on a conversation, the row that stands for that */
	struct session session; /* the conversation; row 0 = it hangs on none, or that is not here */
};

/* By its row. Wants a read transaction. */
enum status made_found(struct store *s, int64_t row, enum tree_node_part part, struct arena *mem,
		       struct made_found *out, struct err *err) MUST_USE;

#endif
