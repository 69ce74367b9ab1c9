/*
 * A transcript as a conversation: which lines make up a message, which message follows
 * which, where turns begin, what branches, where the client would go on.
 *
 * The client writes a line for every part of a message and hangs each on the line before
 * it, or on the one that asked for it; calls that ran side by side are siblings, notes
 * stand in between. Here lines become what the model saw: an answer with all its parts,
 * then all results of its calls as one message.
 *
 * Everything follows from the lines of one file. A file that shares lines with another
 * has its own chain of them: what the client would send depends on nothing else.
 */
#ifndef ARBOR_QUERY_CHAIN_H
#define ARBOR_QUERY_CHAIN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/uuid.h"

#define CHAIN_NONE UINT32_MAX

struct chain_line {
	int64_t offset, length;
	int64_t at;	      /* ms; 0 = unknown */
	struct uuid key;      /* line_key() of its uuid */
	struct uuid link;     /* of the other line it names */
	uint64_t content;     /* record_content() */
	uint64_t api;	      /* hash of the API message's id */
	uint64_t agent;	      /* embedded: hash of the sub-agent's id */
	const uint64_t *tools; /* hashes of the ids of calls */
	uint32_t tool_count;
	uint32_t flags; /* enum record_flag */
	uint8_t type;	/* enum record_type */
	bool has_key, has_link, has_api;
	/* What it hangs on: given by offset (>= 0) or by key; resolved by chain_build(). */
	bool has_parent;
	int64_t parent_at;
	struct uuid parent_key;
	uint32_t parent;
	bool inferred;	/* its parent is missing; this is the line it was written after */
	bool shadowed;	/* a later line has the same uuid; the client knows only that one */
	uint32_t message; /* CHAIN_NONE: an event */
	uint32_t next;	  /* line of the same message */
};

enum chain_role {
	CHAIN_USER,
	CHAIN_ASSISTANT,
	CHAIN_RESULTS, /* all results of an answer's calls */
	CHAIN_CLIENT,  /* what the client put in for the model: never a branch */
};

/* Why a turn begins. */
enum chain_origin { ORIGIN_NONE, ORIGIN_HUMAN, ORIGIN_NOTICE, ORIGIN_COMPACTION, ORIGIN_AGENT };

struct chain_message {
	enum chain_role role;
	bool aside;	   /* of a sub-agent, told in this file */
	uint32_t first;	   /* line, and the first of the list */
	uint32_t last;	   /* line */
	uint32_t prev;	   /* message it follows */
	uint32_t boundary; /* line of the compaction it begins behind; then it has no prev */
	uint32_t results;  /* an answer's: the message with its results */
	enum chain_origin origin;
	uint32_t turn;	   /* message that begins its turn; CHAIN_NONE: before the first */
	uint32_t branches; /* successors that go their own way; two or more: it is a branch */
};

struct chain {
	struct chain_line *lines; /* in the order of the file */
	uint32_t line_count, line_cap;
	struct chain_message *messages; /* in the order of their first lines */
	uint32_t message_count, message_cap;
	bool is_agent; /* the file is a sub-agent's: its first message begins a turn */
	uint32_t *keys; /* lines by their key, a table with open addressing */
	size_t keys_mask;
	struct arena mem;
};

#define CHAIN_INIT { 0 }
void chain_release(struct chain *c);

/* A line to be filled in, behind those before it. */
struct chain_line *chain_add(struct chain *c);

/* When all are there. */
void chain_build(struct chain *c);

/* The line with this key, as the client knows it. */
uint32_t chain_find(const struct chain *c, const struct uuid *key);

/* The line the client would go on from; CHAIN_NONE = an empty conversation. */
uint32_t chain_leaf(const struct chain *c);

/* The messages from the first to this one, in the arena. */
uint32_t *chain_path(const struct chain *c, uint32_t message, struct arena *mem, uint32_t *count);

#endif
