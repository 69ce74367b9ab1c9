/*
 * What methods give that claim trees and nodes, or let them go: the same for made and mirrored ones.
 */
#ifndef ARBOR_HUB_ARBOR_CHANGE_H
#define ARBOR_HUB_ARBOR_CHANGE_H

#include "hub/arbor_find.h"

/* What the owner of the call has now. `tree` = that of a node, NULL for a tree. */
enum status emit_claims(struct call *c, const struct uuid *id, const struct uuid *tree, int64_t count,
			struct err *err) MUST_USE;

/* Who claims it; a claim_fn. */
enum status emit_ref(void *ctx, const struct claim *claim, struct err *err) MUST_USE;

/* Where it is now. `change` may be NULL. */
enum status emit_change(struct call *c, const struct uuid *id, const struct uuid *tree,
			const struct tree_change *change, struct err *err) MUST_USE;

#endif
