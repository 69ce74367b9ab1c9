/*
 * A message of a forest in results: its id and handle, and how it begins, which is what people know it by.
 */
#ifndef ARBOR_HUB_BEGINNING_H
#define ARBOR_HUB_BEGINNING_H

#include "hub/call.h"
#include "query/grove.h"
#include "query/lines.h"

/* Appends it on one line. Wants a read transaction, as the next does. */
enum status beginning_of(struct lines_set *set, const struct forest *f, uint32_t message, struct buf *out,
			 struct err *err) MUST_USE;

/* Writes "id" and "handle". */
enum status put_message_name(struct call *c, struct lines_set *set, const struct grove *g, uint32_t message,
			     struct err *err) MUST_USE;

#endif
