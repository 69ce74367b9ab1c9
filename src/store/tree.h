/*
 * Trees and nodes that were made through Arbor (sql/facts-0002-trees.sql): made, found, read.
 *
 * A node is never changed; what is called an update is another node that names the one it replaces.
 * Parent is what contains a node and what it follows, so a path is a chain of parents. The order of
 * children is their position, wherever they are shown. How long all of it stays: lifecycle.h, tree_life.h.
 *
 * What is made can hang on something mirrored. That has rows here then which stand for it (tree_graft.h);
 * whoever asks for it by its id finds these, and looks elsewhere.
 *
 * Reading works in a store that has none of these tables, and finds nothing. Ids that belong to
 * something mirrored are not found here either (STATUS_NOT_FOUND): that is for who asks to look up.
 */
#ifndef ARBOR_STORE_TREE_H
#define ARBOR_STORE_TREE_H

#include "store/lifecycle.h"

/* Texts are in the arena that was given; p NULL = there is none. */
struct tree {
	int64_t row;
	struct uuid id;
	struct uuid root_id; /* of its root node */
	struct str owner;
	struct str metadata; /* JSON as given */
	int64_t created_at, updated_at;
	struct life life;
};

enum tree_node_kind { TREE_NODE_ROOT, TREE_NODE_TEXT, TREE_NODE_EXTERNAL };
enum tree_node_role { ROLE_NOTE, ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT };

/* Places of their documents (store/fulltext.h): those that prompts, answers and all else have. */
enum { MADE_PLACE_USER = 0, MADE_PLACE_ASSISTANT = 1, MADE_PLACE_OTHER = 5 };

extern const char *const tree_node_kinds[]; /* ended by NULL, as the next */
extern const char *const tree_node_roles[];

struct tree_node {
	int64_t row;
	struct uuid id;
	int64_t tree;	       /* row */
	int64_t parent;	       /* row; 0 = it is the root */
	struct uuid parent_id; /* zero for the root */
	int64_t depth;	       /* steps from the root */
	int64_t position;      /* among the children of its parent */
	enum tree_node_kind kind;
	enum tree_node_role role;
	struct str content;	 /* of a text */
	struct str handle;	 /* of an external one, as given */
	struct uuid plugin_id;	 /* who owns the handle; zero = unknown */
	struct uuid replaces_id; /* the node it is an update of; zero = none */
	struct str metadata;	 /* JSON as given */
	int64_t created_at;
	struct life life; /* its own; see life_within() */
};

/* How much of a node is read. */
enum tree_node_part {
	NODE_SKELETON, /* no texts */
	NODE_WHOLE,
};

/* ---- Making ----------------------------------------------------------------- */

struct tree_new {
	const struct uuid *id; /* NULL = a new one; else a version 4 that nothing has or had */
	struct str owner;      /* has its first claim */
	struct str metadata;   /* p NULL = none; limits and syntax are checked here */
};

enum status tree_add(struct store *s, const struct tree_new *what, struct uuid *id, struct err *err) MUST_USE;

struct tree_node_new {
	const struct uuid *id; /* as above */
	struct uuid tree;
	const struct uuid *parent; /* NULL = the root */
	bool mirrored;		   /* both are, and the parent is not NULL */
	enum tree_node_kind kind;  /* TEXT or EXTERNAL */
	enum tree_node_role role;
	struct str content, handle;
	struct uuid plugin_id;
	const struct uuid *replaces; /* NULL = none */
	struct str metadata;
	bool ephemeral;
};

/* One transaction. The tree must be active and the parent in it and alive. */
enum status tree_node_add(struct store *s, const struct tree_node_new *what,
			  const struct life_windows *windows, struct uuid *id, struct err *err) MUST_USE;

/* Of a tree that is active or scheduled; p NULL takes it away. */
enum status tree_set_metadata(struct store *s, const struct uuid *id, struct str metadata,
			      struct err *err) MUST_USE;

/* ---- Reading ---------------------------------------------------------------- */

/* By id or alias. What is archived is found, too: life_alive() decides. Of what is purged only
 * `id` and `life` are set, and it is found. */
enum status tree_get(struct store *s, const struct uuid *id, struct arena *mem, struct tree *out,
		     struct err *err) MUST_USE;
enum status tree_at(struct store *s, int64_t row, struct arena *mem, struct tree *out,
		    struct err *err) MUST_USE;
enum status tree_node_get(struct store *s, const struct uuid *id, enum tree_node_part part, struct arena *mem,
			  struct tree_node *out, struct err *err) MUST_USE;
enum status tree_node_at(struct store *s, int64_t row, enum tree_node_part part, struct arena *mem,
			 struct tree_node *out, struct err *err) MUST_USE;

/* What somebody means by the beginning of an id (LIMIT_ID_PREFIX digits or more). STATUS_AMBIGUOUS lists
 * what could be meant. */
enum status tree_find(struct store *s, struct str text, struct uuid *id, struct err *err) MUST_USE;
enum status tree_node_find(struct store *s, struct str text, struct uuid *id, struct err *err) MUST_USE;

/* Trees in this state, newest first, from the one behind `after` on (row; 0 = from the first). Stops
 * when *go_on is set to false. */
typedef enum status tree_fn(void *ctx, const struct tree *t, bool *go_on, struct err *err);
enum status tree_each(struct store *s, enum life_state state, int64_t after, tree_fn *fn, void *ctx,
		      struct err *err) MUST_USE;

/* How many nodes it has, in any state. */
enum status tree_count(struct store *s, int64_t tree, int64_t *out, struct err *err) MUST_USE;

/* The row of the node that was made last, of those that are not archived. */
enum status tree_newest(struct store *s, int64_t tree, int64_t *row, struct err *err) MUST_USE;

/* Children by position, from behind `after` on (0 = the first): those that are alive, or archived ones, too.
 */
typedef enum status tree_node_fn(void *ctx, const struct tree_node *n, bool *go_on, struct err *err);
enum status tree_node_children(struct store *s, int64_t parent, int64_t after, bool archived,
			       enum tree_node_part part, tree_node_fn *fn, void *ctx,
			       struct err *err) MUST_USE;

/* Nodes that are in this state by themselves (SCHEDULED or ARCHIVED), those that are due first first; behind
 * one of that date and id on (both zero: from the first). `tree` 0 = in any. */
enum status tree_node_each(struct store *s, enum life_state state, int64_t tree, int64_t after_due,
			   const struct uuid *after, tree_node_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Skeletons from `top`, which is above `row` or is it (0: the root), down to `row`, both included.
 * STATUS_NOT_FOUND when `top` is not above it. In the arena. */
enum status tree_path(struct store *s, int64_t top, int64_t row, struct arena *mem, struct tree_node **nodes,
		      size_t *count, struct err *err) MUST_USE;

/* The deepest node that both are below, or are. */
enum status tree_common(struct store *s, int64_t a, int64_t b, int64_t *out, struct err *err) MUST_USE;

#endif
