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

#endif
