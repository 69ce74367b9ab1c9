/*
 * A query as a tree, and the same in FTS5's language: between expr.c and expr_match.c.
 */
#ifndef ARBOR_QUERY_EXPR_MATCH_H
#define ARBOR_QUERY_EXPR_MATCH_H

#include "base/mark.h"
#include "query/expr.h"

/* Words that follow each other. */
struct phrase {
	struct expr_word *words;
	size_t count;
};

enum expr_node_kind {
	EXPR_NODE_WORDS, /* parts, or wholes where there are any */
	EXPR_NODE_MARK,
	EXPR_NODE_NEAR, /* children have words */
	EXPR_NODE_ALL,
	EXPR_NODE_ANY,
	EXPR_NODE_NOT, /* one child */
};

struct expr_node {
	enum expr_node_kind kind;
	struct expr_node *first, *last, *next; /* children; the next of its parent's */
	struct phrase parts, wholes;
	struct expr_word mark;
	bool tool;   /* EXPR_NODE_MARK: of a call, alone */
	bool quoted; /* EXPR_NODE_WORDS: it is meant as it is */
	bool cited;  /* so too, with signs in it: texts that have it as typed are meant most */
	int distance;
	struct str typed; /* EXPR_NODE_WORDS: as it stands in the query */
	struct str name;  /* so too, with signs that say something and that the index does not know: C++, #12;
			   * p NULL = it has none */
	bool negative;	  /* expr_match(): what is written for it is the opposite of it */
};

struct expr_node *expr_node_new(struct arena *mem, enum expr_node_kind kind);
void expr_node_add(struct expr_node *to, struct expr_node *child); /* NULL is none */

/* The same query with another tree: *out borrows all else. False when nothing is left to look for. */
bool expr_with(const struct expr *e, struct expr_node *root, struct expr *out, struct arena *mem) MUST_USE;

/* Writes match, words, items. False when the tree only excludes. */
bool expr_match(struct expr *e, struct expr_node *root);

/* Of one that only excludes: what it excludes, into `unwanted`. */
void expr_match_opposite(struct expr *e, struct expr_node *root);

#endif
