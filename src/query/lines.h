/*
 * Lines of a transcript in any order: where they stand in the conversation, and their
 * records, read back from the archive.
 */
#ifndef ARBOR_QUERY_LINES_H
#define ARBOR_QUERY_LINES_H

#include "claude/record.h"
#include "query/chain.h"
#include "store/archive.h"
#include "store/session.h"

/* Adds a line as the store has it. */
struct chain_line *chain_take(struct chain *c, const struct entry_line *from);

/* The line that comes `count`-th, hung on the one before whatever it says: for what is told without parents. */
void chain_follow(struct chain *c, uint32_t count, const struct chain_line *next);

/* When all lines are there, before it is built: those that hang on a line that was purged hang on what that hung
 * on. Wants a read transaction. */
enum status chain_bridge(struct store *s, struct chain *c, struct err *err) MUST_USE;

/* The chain of a transcript, built; without what its progress lines tell of sub-agents.
 * Wants a read transaction. */
enum status chain_load(struct store *s, const struct session *session, struct chain *out, struct err *err) MUST_USE;

/* The chain of what progress lines of a transcript tell of the sub-agent that the line at an offset is of: each message
 * follows the one before. Empty when that is none of these. Wants a read transaction. */
enum status chain_load_told(struct store *s, const struct session *session, int64_t offset, struct chain *out,
			    struct err *err) MUST_USE;

/* Keeps the block that was unpacked last: neighbouring lines are in it. */
struct lines {
	struct store *store;
	int64_t generation, end;
	int64_t from;	  /* of the bytes kept */
	struct buf bytes; /* whole blocks */
	struct buf line;  /* one that goes over several */
	struct record_reader reader;
};

void lines_init(struct lines *l, struct store *s, const struct session *session);
void lines_release(struct lines *l);

/* The record of a line; valid until the next is asked for. */
enum status lines_get(struct lines *l, const struct chain_line *line, struct record *out, struct err *err) MUST_USE;

/* Of several transcripts; of those used last the blocks are kept. */
enum { LINES_OPEN = 8 };

struct lines_set {
	struct store *store;
	struct lines open[LINES_OPEN];
	int64_t rows[LINES_OPEN]; /* of transcripts; 0 = none */
	uint64_t used[LINES_OPEN], uses;
};

void lines_set_release(struct lines_set *set);

/* Good until others are asked for. */
struct lines *lines_set_of(struct lines_set *set, const struct session *session);

#endif
