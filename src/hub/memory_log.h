/*
 * One way through a conversation, for the methods that give it.
 */
#ifndef ARBOR_HUB_MEMORY_LOG_H
#define ARBOR_HUB_MEMORY_LOG_H

#include "hub/call.h"
#include "hub/resolve.h"

/* Of the items. */
extern const struct field log_fields[];

/* Which messages of it are wanted. */
struct log_part {
	int64_t from; /* so many are passed over */
	int64_t most; /* 0 = all that follow */
	bool all;     /* also what the client noted between them */
};

/* The session, then the messages on the way to what was named, over compactions. Wants a read transaction. */
enum status log_page(struct call *c, const struct resolved *what, const struct log_part *part,
		     struct err *err) MUST_USE;

#endif
