/*
 * Why something was not found: what its id stands for instead.
 */
#ifndef ARBOR_HUB_ARBOR_ABSENT_H
#define ARBOR_HUB_ARBOR_ABSENT_H

#include "hub/call.h"

/* What a call wanted. */
enum absent {
	ABSENT_TREE,		 /* a tree, made or mirrored */
	ABSENT_TREE_MADE,	 /* a made one */
	ABSENT_NODE,		 /* a node, made or mirrored */
	ABSENT_NODE_MADE,	 /* a made one */
	ABSENT_NODE_BESIDE,	 /* one in the same made tree as another */
	ABSENT_NODE_IN_MIRRORED, /* one in the same mirrored tree as another */
};

/* *err says that there is no such thing; of an id that is something else it then says what, and what to do.
 * Returns its status. Errors of another status are left alone. */
enum status absent_explain(struct call *c, struct str text, enum absent wanted, struct err *err);

#endif
