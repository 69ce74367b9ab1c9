/*
 * A message as results show it.
 */
#ifndef ARBOR_HUB_MEMORY_MESSAGE_H
#define ARBOR_HUB_MEMORY_MESSAGE_H

#include "claude/record.h"
#include "hub/call.h"
#include "store/session.h"

extern const char *const message_roles[];
extern const struct field message_blocks[];

/* An object of message_blocks, in an array. `text` is room that is used again and again. */
void put_message_block(struct json_writer *w, const struct record_reader *r, const struct node_name *name,
		       const struct record_block *b, struct buf *text);

/* What a line says that is no message: what the client put in, and what was typed while a turn
 * was running. Appends it; false when it is only named, in brackets. */
bool message_aside(const struct record_reader *r, const struct record *rec, struct arena *mem, struct buf *out);

#endif
