/*
 * Conversations that go on from some point of another: where that is, and the lines of a file with which the
 * client goes on from there.
 */
#ifndef ARBOR_QUERY_FORK_H
#define ARBOR_QUERY_FORK_H

#include "claude/fork.h"
#include "query/lines.h"

/* Where a conversation goes on when it is forked at a line: at an answer behind all its results, and so at
 * one of these; at a prompt before it; at a compaction before that; at all else behind it. */
struct fork_point {
	uint32_t line;	 /* the last that belongs to it; CHAIN_NONE = nothing does */
	uint32_t prompt; /* that was said next, to be said again, or another one instead; CHAIN_NONE = none */
};

struct fork_point fork_point(const struct chain *c, uint32_t line);

/* The prompt that led to a line, also over a compaction; a prompt is its own. CHAIN_NONE = none did. */
uint32_t fork_prompt_of(const struct chain *c, uint32_t line);

/* Where to fork instead to go on before a line behind which it goes on: at the prompt above an answer; above all else
 * at what was said before. CHAIN_NONE = there is no such line. */
uint32_t fork_before(const struct chain *c, uint32_t line);

/* Where to fork to go on right before the answer that a line is of, or whose results it has: at the results that it
 * follows. CHAIN_NONE = it follows something else, as a prompt. */
uint32_t fork_step_before(const struct chain *c, uint32_t line);

/* A compaction comes behind it in the file, and the client forgets what stands before the last one. */
bool fork_is_cut_off(const struct chain *c, uint32_t line);

/* The lines of the file in their order, in the arena: the client, told to resume it, sends what
 * context_each() gives for this line. None when nothing was said until then. Wants a read transaction. */
enum status fork_find_lines(struct lines *lines, const struct chain *c, uint32_t line, struct arena *mem,
			    uint32_t **out, uint32_t *count, struct err *err) MUST_USE;

/* A fork on its way: the transcript it is made of, from where, and the lines it will have. */
struct forking {
	struct session session; /* texts in `mem` */
	struct chain chain;
	struct lines lines;
	struct fork_point point;
	uint32_t *order, count; /* none: nothing was said until then */
	struct arena mem;
};

#define FORKING_INIT \
	{ \
		.chain = CHAIN_INIT \
	}
void forking_release(struct forking *f);

/* What is meant by a line: the point of fork_point(); the line itself, as it is, which a head is; or the prompt that
 * led to it, before which it goes on. */
enum fork_from { FORK_FROM_POINT, FORK_FROM_HEAD, FORK_FROM_PROMPT };

/* Of a transcript (its row), at the line that begins at an offset; -1 = where the client would go on.
 * STATUS_NOT_FOUND when that is no part of what was said. Wants a read transaction until it is released. */
enum { FORK_AT_END = -1 };
enum status forking_load(struct store *s, int64_t session, int64_t offset, enum fork_from from, struct forking *out,
			 struct err *err) MUST_USE;

/* Gives its lines one by one, each whole, as `f` says. */
typedef enum status forking_fn(void *ctx, struct str line, struct err *err);
enum status forking_each(struct forking *f, struct fork_lines *as, forking_fn *fn, void *ctx,
			 struct err *err) MUST_USE;

/* Appends what the prompt says that was said next; nothing when there is none. */
enum status forking_prompt(struct forking *f, struct buf *out, struct err *err) MUST_USE;

/* The uuid of the last line, as JSON, appended. */
enum status forking_leaf(struct forking *f, struct buf *out, struct err *err) MUST_USE;

#endif
