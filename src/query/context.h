/*
 * What the model is sent: a conversation up to some line, as the client mends it.
 */
#ifndef ARBOR_QUERY_CONTEXT_H
#define ARBOR_QUERY_CONTEXT_H

#include "base/json_write.h"
#include "query/lines.h"

struct context_message {
	struct str role;
	struct str content; /* a JSON array of blocks; those with "client": true the client words itself */
	uint32_t first;	    /* line it begins with */
};

typedef enum status context_fn(void *ctx, const struct context_message *m, struct err *err);

/* The messages from the first on to this line, or without it and the message it is a part
 * of. Wants a read transaction. */
enum status context_each(struct lines *lines, const struct chain *c, uint32_t line, bool before, context_fn *fn,
			 void *ctx, struct err *err) MUST_USE;

/*
 * The lines that these are made of, and those on the way that say nothing to the model, in the arena: in an
 * order in which each can hang on the one before and the client would send the same. Parts of an answer come
 * before its results; a compaction that cuts comes first. Wants a read transaction.
 */
enum status context_lines(struct lines *lines, const struct chain *c, uint32_t line, struct arena *mem, uint32_t **out,
			  uint32_t *count, struct err *err) MUST_USE;

#endif
