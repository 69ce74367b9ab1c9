/*
 * The lines of one transcript, as the client knows them: what hangs on what, which make
 * up an answer, where it would go on.
 *
 * Everything follows from the lines of the file itself. A file that shares lines with
 * another has its own chain of them, and what the client would send depends on nothing
 * else (query/context.h). What all files together say is the forest's business.
 */
#ifndef ARBOR_QUERY_CHAIN_H
#define ARBOR_QUERY_CHAIN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/uuid.h"

#define CHAIN_NONE UINT32_MAX

/* What building looks at again and again comes first: it is then in one cache line. */
struct chain_line {
	uint32_t flags; /* enum record_flag */
	uint8_t type;	/* enum record_type */
	bool has_key, has_link, has_api, has_parent;
	bool inferred;	/* its parent is missing; this is the line it was written after */
	bool shadowed;	/* a later line has the same uuid; the client knows only that one */
	bool is_text;	/* its uuid is none: the key is made of it */
	uint32_t parent;
	uint32_t answer; /* that it is a part of */
	uint32_t next;	 /* line of the same answer */
	uint32_t tool_count;
	int64_t at;	      /* ms; 0 = unknown */
	struct uuid key;      /* line_key() of its uuid */
	uint64_t content;     /* record_content() */
	uint64_t api;	      /* hash of the API message's id */
	const uint64_t *tools; /* hashes of the ids of calls */
	/* What it hangs on: given by offset (>= 0) or by key; resolved by chain_build(). */
	int64_t parent_at;
	struct uuid parent_key;
	struct uuid link; /* of the other line it names */
	uint64_t same;	  /* without a key: hash of its bytes */
	int64_t offset, length;
};

/* The lines of one answer: all with the same API message, in the order of the file. */
struct chain_answer {
	uint32_t first, last; /* lines */
};

struct chain {
	struct chain_line *lines; /* in the order of the file */
	uint32_t line_count, line_cap;
	struct chain_answer *answers;
	uint32_t answer_count, answer_cap;
	bool is_agent; /* the file is a sub-agent's */
	bool is_built;
	/* A file that begins as another does may have only the lines behind that: these follow the first `shared`
	 * of its base, whose parents come before them. Lines are then counted through both by chain_said()
	 * and chain_leaf() alone. */
	const struct chain *base; /* NULL = it has all */
	uint32_t shared;
	uint32_t *keys; /* lines by their key, a table with open addressing */
	size_t keys_mask;
	struct arena mem;
};

#define CHAIN_INIT { 0 }
void chain_release(struct chain *c);

/* Makes room for about as many lines as a transcript of this size has. */
void chain_expect(struct chain *c, int64_t bytes);

/* A line to be filled in, behind those before it. Of chain_room() nothing is set, for who
 * sets all of it. */
struct chain_line *chain_add(struct chain *c);
struct chain_line *chain_room(struct chain *c);

/* When all are there. */
void chain_build(struct chain *c);

/* The line with this key, as the client knows it. */
uint32_t chain_find(const struct chain *c, const struct uuid *key);

/* The line that begins at an offset; CHAIN_NONE = none does. */
uint32_t chain_line_at(const struct chain *c, int64_t offset);

/* The line itself, or the nearest above it that was said: the client goes on from nothing that it noted. Lines
 * are counted as by chain_leaf(). */
uint32_t chain_said(const struct chain *c, uint32_t line);

/* What was said last before a compaction, which is a line with RECORD_BOUNDARY: what it names, else what was
 * written before it. Lines are counted as by chain_leaf(). */
uint32_t chain_before(const struct chain *c, uint32_t boundary);

/* The line the client would go on from. Where a compaction comes last, with nothing behind it, the client has
 * forgotten all; then it is what was said before. CHAIN_NONE = an empty conversation. Of a chain with a base,
 * one of that if it is below `shared`, else of its own, counted from there. */
uint32_t chain_leaf(const struct chain *c);

#endif
