/*
 * A conversation with all that belongs to it, from the store.
 */
#ifndef ARBOR_QUERY_FOREST_LOAD_H
#define ARBOR_QUERY_FOREST_LOAD_H

#include "base/map.h"
#include "query/forest.h"

/* The forest of a transcript: itself, whatever shares lines or messages with it, its
 * conversation and sub-agents, and so on. *source is its own place in it. Wants a read
 * transaction. */
enum status forest_load(struct store *s, int64_t session, struct forest *out, uint32_t *source,
			struct err *err) MUST_USE;

/* The same nodes and messages, for who asks neither for lines that have no uuid nor for all files that have one: of
 * files that begin alike, what they share is loaded once (chain.base, forest_source.base). The transcript itself has
 * all its lines. */
enum status forest_load_brief(struct store *s, int64_t session, struct forest *out, uint32_t *source,
			      struct err *err) MUST_USE;

/* What the ids of a node are made of. Texts are in the arena. */
enum status forest_name(struct store *s, const struct forest *f, uint32_t node, struct arena *mem,
			struct node_name *out, struct err *err) MUST_USE;

/* What is known of trees that were asked for: to load one tells of all its transcripts, and there may be hundreds. */
struct branched {
	struct arena mem;
	struct map known; /* rows */
};

#define BRANCHED_INIT { 0 }
void branched_release(struct branched *b);

/* Whether its tree has a branch, be it in another file: it was rewound, forked or continued
 * twice. Wants the same read transaction for all that it is asked. */
enum status branched_has(struct branched *b, struct store *s, int64_t session, bool *out, struct err *err) MUST_USE;

#endif
