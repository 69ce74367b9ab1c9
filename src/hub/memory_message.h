/*
 * A message as results show it.
 */
#ifndef ARBOR_HUB_MEMORY_MESSAGE_H
#define ARBOR_HUB_MEMORY_MESSAGE_H

#include "claude/record.h"
#include "hub/window.h"
#include "query/grove.h"

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

/* A line that is no message: its kind, id, handle, time and EVENT_FIELDS. `text` is what it says, if
 * anything; `window` NULL = all of it. */
void put_event(struct json_writer *w, struct record_reader *r, const struct record *rec, const struct node_name *name,
	       struct str text, struct window *window);

/* Of a prompt that was typed while a turn was running: what became of it. Nothing for other lines; `flags` are those
 * of its entry. */
extern const char *const queue_states[];
#define QUEUED_FIELD(more) \
	{ \
		.name = "queued", .type = VALUE_ENUM, .choices = queue_states, \
		.flags = FIELD_OPTIONAL | (more), \
		.help = "typed while a turn was running: it waits still, as far as the file says; went to " \
			"the model; or was " \
			"taken back by who typed it" \
	}
bool message_is_queued(unsigned flags);
void put_queued(struct json_writer *w, unsigned flags);

/* What a message's first line says of it beside its id: handle, time, role, model, api_id. Of what the client
 * put in, `id` is the line's. */
void put_message(struct json_writer *w, const struct uuid *id, const struct record *rec);

#define API_ID_FIELD \
	{ .name = "api_id", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "message: its id for the API" }

/* Of a message one of whose lines has its uuid in common with others that say something else. */
#define VARIANT_FIELD \
	{ .name = "variant", .type = VALUE_ID, .flags = FIELD_OPTIONAL, \
	  .help = "message: the line's own id, where its uuid stands with something else elsewhere" }

/* The tree something is in, by its number; nothing for FOREST_NONE. */
#define TREE_ID_FIELD(whose) \
	{ .name = "tree_id", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = whose "of the tree it is in" }
void put_tree_id(struct json_writer *w, const struct grove *g, uint32_t tree);

/* How the blocks of a line are given. */
struct block_manner {
	const struct node_name *name;
	const struct uuid *variant; /* the line's own id, where its uuid has other contents, too; NULL = no */
	struct buf *text;	    /* room that is used again and again */
	struct window *window;	    /* NULL = everything, and nothing but what people read */
};

/* An object of message_blocks, in an array. */
void put_message_block(struct json_writer *w, const struct record_reader *r, const struct record_block *b,
		       const struct block_manner *how);

/* What it writes within a window beside that, for methods that show one block or all. */
#define BLOCK_PART_FIELDS \
	{ .name = "index", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "of the block in its line" }, \
	{ .name = "line", .type = VALUE_HANDLE, .flags = FIELD_OPTIONAL, .help = "of the line it stands in" }, \
	WINDOW_FIELDS, \
	{ .name = "signature", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "thinking: that vouches for it" }, \
	{ .name = "media_type", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "bytes: what they are" }, \
	{ .name = "base64", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "bytes: they themselves" }

/* What a line says that is no message: what the client put in, and what was typed while a turn
 * was running. Appends it; false when it is only named, in brackets. */
bool message_aside(const struct record_reader *r, const struct record *rec, struct arena *mem, struct buf *out);

#endif
