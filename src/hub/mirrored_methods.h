/*
 * What the methods of trees and nodes do with mirrored ones: a function for each, which gets what the call
 * names (arbor_find.h, struct tree_ways and node_ways).
 */
#ifndef ARBOR_HUB_MIRRORED_METHODS_H
#define ARBOR_HUB_MIRRORED_METHODS_H

#include "hub/arbor_find.h"

typedef enum status mirrored_fn(struct call *c, struct str id, struct err *err);

/* mirrored_tree.c */
mirrored_fn mirrored_tree_get, mirrored_tree_get_archived, mirrored_tree_get_skeleton, mirrored_tree_render,
	mirrored_context_list_leaves;

/* Trees in a state: those that are active by the conversations they begin in, last touched first; others from
 * behind `count` made ones, as far as the limit of the call goes. */
enum status mirrored_tree_list(struct call *c, enum life_state state, int64_t count,
			       struct err *err) MUST_USE;

/* mirrored_node.c */
mirrored_fn mirrored_node_get, mirrored_node_get_archived, mirrored_node_get_parent,
	mirrored_node_get_children, mirrored_node_get_path, mirrored_context_get_path,
	mirrored_context_get_handles;

/* The same for made nodes that hang on something mirrored. */
enum status mirrored_parent_of_made(struct call *c, const struct made_node *n, struct err *err) MUST_USE;
enum status mirrored_handles_to_made(struct call *c, const struct made_node *n, struct err *err) MUST_USE;
enum status mirrored_path_to_made(struct call *c, const struct made_node *n, enum tree_node_part part,
				  struct err *err) MUST_USE;

/* Between parameters 'from' and 'to', at least one of which is mirrored or hangs on something that is. */
enum status mirrored_between(struct call *c, struct err *err) MUST_USE;
enum status mirrored_common(struct call *c, struct err *err) MUST_USE;

/* Adds a node to what parameter 'parent' names, or to the tree. */
enum status mirrored_node_create(struct call *c, struct str tree, const struct tree_node_new *what,
				 struct err *err) MUST_USE;

/* mirrored_life.c */
mirrored_fn mirrored_tree_claim, mirrored_tree_release, mirrored_tree_refs, mirrored_tree_schedule,
	mirrored_tree_rescue, mirrored_tree_archive, mirrored_node_claim, mirrored_node_release,
	mirrored_node_refs, mirrored_node_keep;

/* mirrored_purge.c */
mirrored_fn mirrored_tree_purge, mirrored_node_purge;
mirrored_fn mirrored_node_stays; /* refuses what only can be done with made nodes */

/* For gc: a life_purge_fn. Its context is the call. */
enum status mirrored_purge_due(void *ctx, const struct subject *list, size_t count, struct gc_mirrored *out,
			       struct err *err) MUST_USE;

/* After claims on a made node have changed: what follows for the mirrored tree that it hangs on, if it does.
 */
enum status mirrored_settle(struct call *c, const struct made_node *n, struct err *err) MUST_USE;

#endif
