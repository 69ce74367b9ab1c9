/*
 * What the methods of trees and nodes have in common: finding what a call names, whether it can be read, and
 * how it is shown.
 *
 * A method says what it does with a tree or node that was made (store/tree.h), and may say what it does with
 * a mirrored one: that is asked when nothing that was made has the id.
 */
#ifndef ARBOR_HUB_ARBOR_FIND_H
#define ARBOR_HUB_ARBOR_FIND_H

#include "hub/call.h"
#include "store/tree_life.h"
#include "store/tree_walk.h"

/* A node and its tree. */
struct made_node {
	struct tree tree;
	struct tree_node node;
	struct life life; /* no less far along than its tree */
};

/* What state it must be in. */
enum gate { GATE_ALIVE, GATE_ARCHIVED, GATE_ANY };

struct tree_ways {
	enum gate gate;
	enum status (*made)(struct call *c, const struct tree *t, struct err *err);
	enum status (*mirrored)(struct call *c, struct str id, struct err *err); /* NULL = only made ones */
};

struct node_ways {
	enum gate gate;
	enum tree_node_part part;
	enum status (*made)(struct call *c, const struct made_node *n, struct err *err);
	enum status (*mirrored)(struct call *c, struct str id, struct err *err);
};

/* Reading happens in one snapshot. What a method with SCOPE_WRITE commits first is on the disk when it says
 * so. */
enum status begin_call(struct call *c, struct read_txn *snapshot, struct err *err) MUST_USE;

/* With the tree that parameter 'tree' names, or the node that 'node' names, which is in the tree that 'tree'
 * names if the method has that and it is given. The call has been begun. */
enum status with_tree(struct call *c, const struct tree_ways *ways, struct err *err) MUST_USE;
enum status with_node(struct call *c, const struct node_ways *ways, struct err *err) MUST_USE;

/* The whole id of what was made, where a handle of it or a bookmark on it was typed; else what was typed. */
struct str made_name(struct call *c, struct str text);

/* Another node that a parameter names: alive, or in an archived state too. `tree` = it must be in; 0 = in
 * any. */
enum status find_node(struct call *c, const char *param, int64_t tree, bool archived, struct made_node *out,
		      struct err *err) MUST_USE;

/* A node of a tree that was found, by its row. Texts in `mem`. */
enum status load_node(struct call *c, const struct tree *t, int64_t row, enum tree_node_part part,
		      struct arena *mem, struct made_node *out, struct err *err) MUST_USE;

/* Through the tree, or what is below the node of a row (0 = the root), from behind the node that parameter
 * 'after' names, if it is given. */
enum status walk_tree(struct call *c, const struct tree *t, int64_t top, bool archived,
		      struct tree_walk *walk, struct err *err) MUST_USE;

/* A parameter that not every method has; p NULL = left out. */
struct str call_if_has(const struct call *c, const char *name);

enum status pass_gate(enum gate gate, const struct subject *what, const struct life *l,
		      struct err *err) MUST_USE;

/* The parameter 'metadata'; null is none. */
struct str call_metadata(const struct call *c);

/* The windows of the settings. */
struct life_windows call_windows(const struct call *c);

/* The limit of a call, and whether `count` items are all that it gives. 0 = no limit. */
bool is_full(const struct call *c, int64_t count);

/* Tells a person how to go on. */
void note_more(struct call *c, const struct uuid *last);

/* Fields 'state' and 'due' of the item being written, as they are now: of a tree, or of a node in a tree. */
enum status put_state(struct call *c, const struct uuid *id, const struct uuid *tree,
		      struct err *err) MUST_USE;

/* ---- Parameters and fields ---------------------------------------------------- */

#define TREE_PARAM \
	{ \
		.name = "tree", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD, .shown = "TREE", \
		.names = "arbor.tree_list", .help = "a tree: its id or the beginning of it" \
	}
#define NODE_PARAM \
	{ \
		.name = "node", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD, .shown = "NODE", \
		.help = "a node: its id or the beginning of it" \
	}
#define IN_TREE_PARAM \
	{ \
		.name = "tree", .type = VALUE_TEXT, .shown = "TREE", .names = "arbor.tree_list", \
		.help = "the tree it must be in" \
	}
#define OWNER_PARAM(what) \
	{ \
		.name = "owner", .type = VALUE_TEXT, .initial = "user", .shown = "NAME", .help = (what) \
	}
#define LIMIT_PARAM \
	{ \
		.name = "limit", .type = VALUE_INT, .letter = 'n', .initial = "50", .setting = "list.limit", \
		.least = 0, .most = INT32_MAX, .help = "at most so many; 0 for all" \
	}
#define METADATA_PARAM \
	{ \
		.name = "metadata", .type = VALUE_JSON, .shown = "JSON", \
		.help = "any JSON value, kept as it is given" \
	}

extern const char *const tree_states[]; /* that a tree can be listed by, ended by NULL */
extern const struct field tree_fields[], node_fields[];

/* Into the item being written. */
void put_life(struct json_writer *w, const struct life *l);
void put_tree(struct json_writer *w, const struct tree *t);
void put_node(struct json_writer *w, const struct made_node *n);

/* The node as the result of a method. */
enum status emit_node(struct call *c, const struct made_node *n, struct err *err) MUST_USE;

/* The tree or node of this id, as it is now, as the result. */
enum status emit_tree_now(struct call *c, const struct uuid *id, struct err *err) MUST_USE;
enum status emit_node_now(struct call *c, const struct uuid *id, struct err *err) MUST_USE;

#endif
