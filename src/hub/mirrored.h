/*
 * Mirrored conversations for the methods of trees and nodes: found by what a call names, shown as nodes are.
 *
 * A tree's root has the tree's own id. What says the same in several files is one node, so the id that is
 * shown may be another than the one that was asked for. Made nodes that hang on a mirrored one come behind
 * its own children.
 */
#ifndef ARBOR_HUB_MIRRORED_H
#define ARBOR_HUB_MIRRORED_H

#include "hub/arbor_find.h"
#include "query/grove.h"
#include "query/lines.h"

struct mirrored {
	struct call *call;
	struct grove grove;
	struct grove_ref ref;	  /* what was named */
	bool grafts;		  /* made nodes hang on mirrored ones somewhere in the store */
	struct read_txn snapshot; /* where the method has none */
	struct lines_set lines;
	struct buf text;
	struct life life; /* of the tree `life_of` */
	uint32_t life_of;
};

#define MIRRORED struct mirrored CLEANUP(mirrored_release)
void mirrored_release(struct mirrored *m);

/* By an id, as resolve_id() takes it: a session stands for its tree. The gate is that of its tree. A method
 * that writes ends reading first. */
enum status mirrored_find(struct call *c, struct str text, enum gate gate, struct mirrored *out,
			  struct err *err) MUST_USE;

void mirrored_end_reading(struct mirrored *m);

/* Another one in the same tree, named by a parameter. */
enum status mirrored_find_in(struct mirrored *m, const char *param, struct str text, struct grove_ref *out,
			     struct err *err) MUST_USE;

/* The id under which claims and the lifecycle of a tree are written down: of its names the one that something
 * is written of, the current one first. */
enum status mirrored_subject(struct mirrored *m, uint32_t tree, struct uuid *out, struct err *err) MUST_USE;

/* Where its tree is in its lifecycle. */
enum status mirrored_life(struct mirrored *m, struct grove_ref r, struct life *out, struct err *err) MUST_USE;

/* As an item of the method. `place` = siblings before it, as far as that is known; -1 = it is looked up. */
enum status mirrored_emit(struct mirrored *m, struct grove_ref r, int64_t place, enum tree_node_part part,
			  struct err *err) MUST_USE;

/* Writes what names it everywhere, as the member "handle". */
enum status mirrored_put_handle(struct mirrored *m, struct grove_ref r, struct err *err) MUST_USE;

/* Of a tree, as tree_fields have it. */
enum status mirrored_emit_tree(struct mirrored *m, uint32_t tree, struct err *err) MUST_USE;

/* What a node says, on a line and no longer than `most` bytes or so, appended; and what kind of node it is.
 */
enum status mirrored_brief(struct mirrored *m, struct grove_ref r, size_t most, struct buf *out,
			   struct err *err) MUST_USE;

/* ---- Made nodes that hang on it ------------------------------------------------ */

/* The rows that stand for a node (store/tree_graft.h), by all ids it has; in the call's memory. */
enum status mirrored_grafts(struct mirrored *m, struct grove_ref r, int64_t **rows, size_t *count,
			    struct err *err) MUST_USE;

/* The mirrored node that a made one of a grafted tree hangs on in the end. */
enum status mirrored_below(struct call *c, const struct made_node *n, struct mirrored *out,
			   struct err *err) MUST_USE;

/* Such a node as part of the mirrored tree: its id, depth, and for one that hangs on a mirrored node the id
 * of that and its position among the children. `behind` = how many of these come before it; -1 = that is
 * looked up. */
enum status mirrored_place(struct mirrored *m, struct made_node *n, int64_t behind, struct err *err) MUST_USE;

#endif
