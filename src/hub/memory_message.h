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

/* What put_event() writes beside what every item has, for methods whose items are of several
 * kinds. */
#define EVENT_FIELDS \
	{ .name = "type", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, \
	  .help = "event: of the line; file: what it is" }, \
	{ .name = "subtype", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, \
	  .help = "event: of a system line, an attachment or progress" }, \
	{ .name = "brief", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, \
	  .help = "event: what it is about, in a line" }, \
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "event, file: what it says, all of it" }

/* A line that is no message: its kind, id, time and EVENT_FIELDS. `text` is what it says, if
 * anything. */
void put_event(struct json_writer *w, struct record_reader *r, const struct record *rec, const struct node_name *name,
	       struct str text);

/* Of a message one of whose lines has its uuid in common with others that say something else. */
#define VARIANT_FIELD \
	{ .name = "variant", .type = VALUE_ID, .flags = FIELD_OPTIONAL, \
	  .help = "message: the line's own id, where its uuid stands with something else elsewhere" }

/* An object of message_blocks, in an array. `text` is room that is used again and again. */
void put_message_block(struct json_writer *w, const struct record_reader *r, const struct node_name *name,
		       const struct record_block *b, struct buf *text);

/* What a line says that is no message: what the client put in, and what was typed while a turn
 * was running. Appends it; false when it is only named, in brackets. */
bool message_aside(const struct record_reader *r, const struct record *rec, struct arena *mem, struct buf *out);

#endif
