/*
 * Trees and nodes that were made, and notes, where conversations are shown: as items of memory.show, memory.log and
 * memory.tree.
 */
#ifndef ARBOR_HUB_MEMORY_MADE_H
#define ARBOR_HUB_MEMORY_MADE_H

#include "hub/call.h"
#include "hub/meant.h"
#include "hub/memory_message.h"

struct tree_node;

/* Of messages and of made nodes. */
extern const char *const shown_roles[];

/* Fields of messages, and of nodes as far as they have them. */
#define SAID_FIELDS \
	{ .name = "role", .type = VALUE_ENUM, .choices = shown_roles, .flags = FIELD_OPTIONAL, \
	  .help = "message, node: whose it is for the model; what is a note is not sent" }, \
	{ .name = "prompt", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, .help = "message: typed by a person" }, \
	{ .name = "model", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "message: who answered" }, \
	API_ID_FIELD, \
	{ .name = "blocks", .type = VALUE_OBJECT, .flags = FIELD_LIST | FIELD_OPTIONAL, .fields = message_blocks, \
	  .help = "message: its parts" }, VARIANT_FIELD

/* Fields of kinds 'tree' and 'node' beside those that the methods have: kind, id, handle, at, role, text, and what is
 * attached. */
#define MADE_FIELDS \
	{ .name = "owner", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "tree: who made it" }, \
	{ .name = "state", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, \
	  .help = "tree, node: 'scheduled' = it is to go" }, \
	{ .name = "nodes", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "tree: how many it has" }, \
	{ .name = "names", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, \
	  .help = "node: the handle it holds; its text is what that stands for, if that can be had" }, \
	{ .name = "metadata", .type = VALUE_JSON, .flags = FIELD_OPTIONAL, .help = "tree, node: as it was given" }

/* Of kinds 'note' and 'bookmark', so too; what it is on follows. */
#define NOTE_ITEM_FIELDS \
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "bookmark: what it is called" }, \
	{ .name = "author", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "note: who wrote it" }, \
	{ .name = "on", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "note: what kind of thing it is on" }, \
	{ .name = "subject", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "note: id of that" }, \
	{ .name = "gone", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, \
	  .help = "note: what it is on is not in this store, or no more" }

/* A tree with all its nodes, or a node. Wants a read transaction, as the others do. */
enum status show_made(struct call *c, const struct meant *what, struct err *err) MUST_USE;

/* A tree without its nodes. */
enum status show_made_tree(struct call *c, const struct uuid *id, struct err *err) MUST_USE;

/* The note alone. */
enum status show_note(struct call *c, const struct annotation *note, bool gone, struct err *err) MUST_USE;

/* The path of a node; of a tree that of its newest. */
struct made_path {
	struct call *call;
	struct tree_node *steps; /* the first is the root */
	size_t count;
	struct str on; /* id of what it hangs on; p NULL = that is no conversation */
};
enum status made_path_find(struct call *c, const struct meant *what, struct made_path *out, struct err *err) MUST_USE;
/* The tree, if it is in one of its own, and the nodes. */
enum status made_path_show(const struct made_path *p, struct err *err) MUST_USE;

/* A tree to draw: 'tree', then every 'node' with depth, aside and last as turns have them. */
enum status draw_made(struct call *c, const struct meant *what, struct err *err) MUST_USE;

#endif
