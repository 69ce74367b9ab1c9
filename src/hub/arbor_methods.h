/*
 * Methods of arbor.* on trees and nodes, for act_arbor.c to list.
 */
#ifndef ARBOR_HUB_ARBOR_METHODS_H
#define ARBOR_HUB_ARBOR_METHODS_H

#include "hub/method.h"

/* arbor_tree.c */
extern const struct method arbor_tree_create, arbor_tree_get, arbor_tree_get_archived,
	arbor_tree_get_skeleton, arbor_tree_list, arbor_tree_list_scheduled, arbor_tree_list_archived,
	arbor_tree_update_metadata, arbor_tree_query_by_metadata;

/* arbor_node.c */
extern const struct method arbor_node_create_text, arbor_node_create_text_ephemeral,
	arbor_node_create_external, arbor_node_create_external_ephemeral, arbor_node_get,
	arbor_node_get_archived, arbor_node_get_children, arbor_node_get_parent, arbor_node_update;

/* arbor_context.c */
extern const struct method arbor_node_get_path, arbor_node_get_path_between, arbor_node_get_common_ancestor,
	arbor_context_list_leaves, arbor_context_get_path, arbor_context_get_handles;

/* arbor_claim.c */
extern const struct method arbor_tree_claim, arbor_tree_release, arbor_tree_refs, arbor_node_claim,
	arbor_node_release, arbor_node_refs, arbor_node_keep;

/* arbor_lifecycle.c */
extern const struct method arbor_tree_schedule, arbor_tree_rescue, arbor_tree_archive, arbor_tree_purge,
	arbor_node_delete, arbor_node_rescue, arbor_node_archive, arbor_node_purge, arbor_node_list_scheduled,
	arbor_node_list_archived, arbor_gc;

/* arbor_alias.c */
extern const struct method arbor_alias_create, arbor_alias_list, arbor_alias_delete;

/* arbor_render.c */
extern const struct method arbor_tree_render;

#endif
