/*
 * Mirrored conversations as trees of nodes: whatever has an id in a forest has a place in a
 * tree, with a parent and ordered children.
 *
 *     tree                 all that is connected; its id is made of the line it begins with
 *     ├─ turn              that follows nothing
 *     │  ├─ event          a line that is no message
 *     │  └─ message
 *     │     ├─ block       of its content, in order
 *     │     └─ turn        that goes on from this message
 *     └─ event             of a file in which nothing was said
 *
 * The parent is what contains a node; what a message follows is another thing, and the forest's
 * (forest_path()). Nothing of it is stored, so nothing depends on the order in which files came.
 * Nodes that were made by hand and hang on these are not here.
 */
#ifndef ARBOR_QUERY_GROVE_H
#define ARBOR_QUERY_GROVE_H

#include "query/forest_load.h"
#include "query/turns.h"

enum grove_kind { GROVE_TREE, GROVE_TURN, GROVE_MESSAGE, GROVE_BLOCK, GROVE_EVENT };

/* A node. Numbers are good as long as the grove is. */
struct grove_ref {
	enum grove_kind kind;
	uint32_t at; /* its number; of a turn the message it begins with, of a block the node of its line */
	int part;    /* block: its index in the line; PART_LINE = what the line says outside of blocks */
};

struct grove_span {
	uint32_t start, count;
};

struct grove_tree {
	struct uuid id;
	uint32_t root;		 /* node of the line it is named by */
	bool aside;		 /* a sub-agent's */
	struct grove_span turns; /* that follow nothing: in `hanging` */
	struct grove_span loose; /* events in no turn: in `items` */
	struct grove_span names; /* nodes of the lines whose names lead to it: in `named` */
	uint32_t turn_count, message_count, event_count;
};

/* A line that is no part of a message. */
struct grove_event {
	uint32_t source, line; /* of its canonical copy */
	uint32_t tree;	       /* FOREST_NONE = its file has nothing that could name one */
	uint32_t turn;	       /* FOREST_NONE = in none */
	uint32_t message;      /* it stands behind; so too */
	bool before;	       /* not behind that message but before it */
	uint32_t place;	       /* among the children of the turn, or the loose ones of the tree */
};

/* By canonical message. */
struct grove_spot {
	uint32_t tree;
	uint32_t place;		   /* among the children of its turn */
	struct grove_span hanging; /* turns that go on from it */
	bool followed;		   /* by a message, or by such a turn */
	/* Of one that begins a turn: */
	struct grove_span items; /* messages and events in order */
	uint32_t hangs_on;	 /* message; FOREST_NONE = on the tree */
	uint32_t turn_place;	 /* among those that hang there */
	uint32_t depth;		 /* steps from the tree to the turn */
};

struct grove {
	struct store *store;
	struct forest forest;
	uint32_t source; /* that was asked for */
	struct turns turns;
	struct grove_spot *spots;
	struct grove_tree *trees;
	uint32_t tree_count;
	struct grove_event *events; /* by source and line */
	uint32_t event_count;
	struct grove_ref *items;
	uint32_t *hanging;
	uint32_t *named;
	uint32_t *names; /* by node, the canonical one with its uuid: the tree that may be called by it, or
			  * has been, when less was known; FOREST_NONE = none */
	struct arena mem;
};

#define GROVE_INIT \
	{ \
		0 \
	}
void grove_release(struct grove *g);

/* All that belongs to a transcript. Wants a read transaction, as whatever needs `err` below does. */
enum status grove_load(struct store *s, int64_t session, struct grove *out, struct err *err) MUST_USE;

/* The same of a forest that is loaded briefly (query/forest_load.h): turns, messages and trees with their ids, but not
 * all events. */
enum status grove_load_brief(struct store *s, int64_t session, struct grove *out, struct err *err) MUST_USE;

/* The same of a forest that is built already; everything but the ids of its trees. */
void grove_shape(struct grove *g);

/* ---- Nodes ------------------------------------------------------------------------ */

/* From what the store knows an id by. What says the same elsewhere is one node, so its id may be
 * another one. It is not there when it was told twice, or is a name that no tree ever had. */
enum status grove_find(const struct grove *g, const struct node *node, struct grove_ref *out, bool *is_there,
		       struct err *err) MUST_USE;

/* The tree of the conversation, or sub-agent, that a transcript is; FOREST_NONE = of none. */
uint32_t grove_tree_of_source(const struct grove *g, uint32_t source);

enum status grove_id(const struct grove *g, struct grove_ref r, struct uuid *out, struct err *err) MUST_USE;

/* Its number; FOREST_NONE = it is in none. */
uint32_t grove_tree(const struct grove *g, struct grove_ref r);

/* The same for a line of a source. */
uint32_t grove_tree_of_line(const struct grove *g, uint32_t source, uint32_t line);

/* The message it is, is in, or stands at: where its path ends. FOREST_NONE = none. */
uint32_t grove_message(const struct grove *g, struct grove_ref r);

/* The line it is, or begins with. */
void grove_line(const struct grove *g, struct grove_ref r, uint32_t *source, uint32_t *line);

/* ---- Parents and children --------------------------------------------------------- */

/* False for a tree. */
bool grove_parent(const struct grove *g, struct grove_ref r, struct grove_ref *out);

/* Children; a message's blocks come before its turns. */
enum status grove_count(const struct grove *g, struct grove_ref r, uint32_t *out, struct err *err) MUST_USE;
enum status grove_first(const struct grove *g, struct grove_ref r, struct grove_ref *out, bool *is_there,
			struct err *err) MUST_USE;
enum status grove_next(const struct grove *g, struct grove_ref r, struct grove_ref *out, bool *is_there,
		       struct err *err) MUST_USE;

/* How many siblings come before it. */
enum status grove_place(const struct grove *g, struct grove_ref r, uint32_t *out, struct err *err) MUST_USE;

/* How many nodes are above it. */
uint32_t grove_depth(const struct grove *g, struct grove_ref r);

/* From its tree down to it, in the arena. */
struct grove_ref *grove_above(const struct grove *g, struct grove_ref r, struct arena *mem, uint32_t *count);

static inline bool grove_same(struct grove_ref a, struct grove_ref b)
{
	return a.kind == b.kind && a.at == b.at && (a.kind != GROVE_BLOCK || a.part == b.part);
}

#endif
