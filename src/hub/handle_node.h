/*
 * Handles of what is in this store, as results give them.
 *
 * The same thing has the same handle wherever it is given: it follows from the lines. Empty meta
 * at the end is left out.
 */
#ifndef ARBOR_HUB_HANDLE_NODE_H
#define ARBOR_HUB_HANDLE_NODE_H

#include "base/handle.h"
#include "claude/record.h"
#include "hub/call.h"
#include "hub/resolve.h"

/* One that is being made. Texts are borrowed; ids and numbers have room in it. */
enum { NODE_HANDLE_META = 3 };

struct node_handle {
	const struct activation *activation;
	const char *method;
	struct str meta[NODE_HANDLE_META];
	char id[UUID_TEXT + 1];
	char second[UUID_TEXT + 1];
};

#define HANDLE_FIELD(what) \
	{ .name = "handle", .type = VALUE_HANDLE, .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
	  .help = what "names it everywhere: 'arbor resolve' takes it" }

/* Of a message by its first line. Of a line that is none, `id` is its own, and it is an event. */
struct node_handle handle_of_message(const struct uuid *id, const struct record *first);
struct node_handle handle_of_block(const struct uuid *id, const struct record_block *b);
struct node_handle handle_of_event(const struct uuid *id);
struct node_handle handle_of_line(const struct uuid *id);
struct node_handle handle_of_turn(const struct uuid *id, int64_t number); /* 0 = not known */
struct node_handle handle_of_tree(const struct uuid *id);
struct node_handle handle_of_made_node(const struct uuid *id);
struct node_handle handle_of_note(const struct uuid *id);
struct node_handle handle_of_agent(struct str agent, const struct uuid *session);
struct node_handle handle_of_stream(const struct uuid *id);
struct node_handle handle_of_chat_event(const struct uuid *id, struct str type);
struct node_handle handle_of_approval(const struct uuid *id, struct str tool);

/* Of a version of a file; 0 = the newest, whichever that is. */
struct node_handle handle_of_file(const struct uuid *source, int64_t version);

/* Of a line of typed history. */
struct node_handle handle_of_typed(const struct uuid *id);

/* By its id alone, and where several transcripts have that with its file. */
struct node_handle handle_of_session_id(const struct uuid *id);
enum status handle_of_session(struct store *s, const struct session *session, struct node_handle *out,
			      struct err *err) MUST_USE;

/* Writes it as the member "handle", or as another. */
void put_handle(struct json_writer *w, const struct node_handle *h);
void put_handle_as(struct json_writer *w, const char *key, const struct node_handle *h);

/* The handle itself; what it points to is in the arena. */
struct handle node_handle_in(const struct node_handle *h, struct arena *mem);

/* That of something by what people call it: what meant_find() (hub/meant.h) takes, or of what was mirrored, what
 * resolve_id() does. What *out points to is in the arena. */
enum status handle_of_id(struct call *c, struct str text, struct arena *mem, struct handle *out,
			 struct err *err) MUST_USE;

enum status handle_of_mirrored(struct store *s, struct str text, struct arena *mem, struct handle *out,
			       struct err *err) MUST_USE;

/* A handle in any form, or else that of an id. */
enum status handle_from_text(struct call *c, struct str text, struct arena *mem, struct handle *out,
			     struct err *err) MUST_USE;

#endif
