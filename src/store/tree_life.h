/*
 * The lifecycle of made trees and nodes: claims and what follows from them; rescue; by force; and what
 * is due. lifecycle.h says what the states mean.
 */
#ifndef ARBOR_STORE_TREE_LIFE_H
#define ARBOR_STORE_TREE_LIFE_H

#include "store/tree.h"

/* Claims of `owner`. What is scheduled becomes active by a claim, with all that is above it; what is archived
 * cannot be claimed. *now is what the owner has then. */
enum status tree_claim(struct store *s, const struct uuid *id, struct str owner, int64_t count, int64_t *now,
		       struct err *err) MUST_USE;
enum status tree_release(struct store *s, const struct uuid *id, struct str owner, int64_t count,
			 const struct life_windows *windows, int64_t *now, struct err *err) MUST_USE;
enum status tree_node_claim(struct store *s, const struct uuid *id, struct str owner, int64_t count, int64_t *now,
			    struct err *err) MUST_USE;
enum status tree_node_release(struct store *s, const struct uuid *id, struct str owner, int64_t count,
			      const struct life_windows *windows, int64_t *now, struct err *err) MUST_USE;

/* A tree: lets it go, with all claims of `owner`. Refused while others claim it. */
enum status tree_schedule(struct store *s, const struct uuid *id, struct str owner,
			  const struct life_windows *windows, struct err *err) MUST_USE;

/* How many nodes came into another state, and how many stay that were to go: somebody claims them, or something
 * below. */
struct tree_change {
	int64_t changed, kept;
};

/* A node and all below it: lets them go. Those that somebody claims stay, and what is above them. */
enum status tree_node_delete(struct store *s, const struct uuid *id, const struct life_windows *windows,
			     struct tree_change *out, struct err *err) MUST_USE;

/* Makes active what is scheduled or archived: a tree; a node with all below it that is not ephemeral, all above
 * it, and its tree. A tree that nobody claims gets the claim back that whoever made it had. */
enum status tree_rescue(struct store *s, const struct uuid *id, struct err *err) MUST_USE;
enum status tree_node_rescue(struct store *s, const struct uuid *id, struct tree_change *out,
			     struct err *err) MUST_USE;

/* Into this state (ARCHIVED or PURGED) at once, whatever its window: a tree; a node with all below it. Refused
 * while something of it is claimed, unless `force`, which releases these claims. */
enum status tree_move(struct store *s, const struct uuid *id, enum life_state state, bool force,
		      const struct life_windows *windows, struct tree_change *out, struct err *err) MUST_USE;
enum status tree_node_move(struct store *s, const struct uuid *id, enum life_state state, bool force,
			   const struct life_windows *windows, struct tree_change *out, struct err *err) MUST_USE;

/* ---- What is due ------------------------------------------------------------ */

/* A tree of made nodes that hang on a mirrored one (store/tree_graft.h). */
struct gc_graft {
	int64_t row;
	struct uuid id;
};

/* What has become of mirrored trees whose time had come. */
struct gc_mirrored {
	int64_t trees;		 /* that are gone */
	struct gc_graft *grafts; /* that hung on them, and go now, too; from mem_alloc() */
	size_t graft_count;
};

/* Purges mirrored trees whose time has come, but for those that somebody keeps; or, in a dry run, says the same
 * and does nothing. All in one call: to look through the archive takes longer than to overwrite. */
typedef enum status life_purge_fn(void *ctx, const struct subject *list, size_t count, struct gc_mirrored *out,
				  struct err *err);

struct gc_options {
	struct life_windows windows;
	bool dry_run;		/* says what would move, and changes nothing */
	int64_t limit;		/* subjects at most; 0 = all that are due */
	life_purge_fn *purge;	/* of mirrored ones; NULL = these stay */
	void *ctx;		/* knows whether it is a dry run */
};

struct gc_report {
	int64_t trees_archived, trees_purged;
	int64_t nodes_archived, nodes_purged; /* purged: those that went with their trees, too */
	bool more;			      /* something is due still */
};

/* In transactions of a few milliseconds; what was killed is completed by the next. */
enum status gc_run(struct store *s, const struct gc_options *o, struct gc_report *r, struct err *err) MUST_USE;

#endif
