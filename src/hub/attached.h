/*
 * Notes, bookmarks and tags beside what they are on: for methods that show conversations.
 *
 * Never for what a model is sent.
 */
#ifndef ARBOR_HUB_ATTACHED_H
#define ARBOR_HUB_ATTACHED_H

#include "hub/call.h"
#include "query/forest.h"
#include "store/annotation.h"

/* One, and a line it is on. */
struct attached_place {
	int64_t session, offset;
	int part;      /* of the line, enum PART_* or a block */
	uint32_t next; /* of the same message, once they are joined to messages */
	const struct annotation *annotation;
};

struct attached {
	struct call *call;
	bool any;	       /* the store has some at all */
	struct uuid *sessions; /* that were asked for */
	size_t session_count, session_cap;
	struct attached_place *list;
	size_t count, cap;
	uint32_t *by_message; /* the first of each; NULL = they have not been joined */
};

/* Those in a conversation: begin, add conversations, and sort. Everything is in the call's arena. Wants a
 * read transaction. */
enum status attached_begin(struct attached *a, struct call *c, struct err *err) MUST_USE;
enum status attached_add(struct attached *a, const struct uuid *session, struct err *err) MUST_USE;
void attached_end(struct attached *a);

/* The same for one transcript and those that share lines with it. */
enum status attached_load(struct attached *a, struct call *c, const struct session *session,
			  struct err *err) MUST_USE;

/* The same for all transcripts of a forest, by its messages. */
enum status attached_load_forest(struct attached *a, struct call *c, const struct forest *f,
				 struct err *err) MUST_USE;

/* What is to be put into one item: each once. */
struct attached_set {
	const struct annotation **list;
	size_t count, cap;
};

/* What is on a line; of its blocks only on one, if that is not below 0. */
void attached_take(const struct attached *a, struct attached_set *set, int64_t session, int64_t offset,
		   int block);

/* What is on a message of the forest; only on turns, or on all but these, or both. */
enum attached_turns { ATTACHED_ALL, ATTACHED_TURNS, ATTACHED_NO_TURNS };
void attached_take_message(const struct attached *a, struct attached_set *set, uint32_t message,
			   enum attached_turns turns);

extern const struct field attached_notes[];
#define ATTACHED_FIELDS(what) \
	{ .name = "tags", .type = VALUE_TEXT, .flags = FIELD_LIST | FIELD_OPTIONAL, .help = what "tags on it" }, \
	{ .name = "bookmarks", .type = VALUE_TEXT, .flags = FIELD_LIST | FIELD_OPTIONAL, \
	  .help = what "names it was given, to be typed as @NAME" }, \
	{ .name = "notes", .type = VALUE_OBJECT, .flags = FIELD_LIST | FIELD_OPTIONAL, .fields = attached_notes, \
	  .help = what "what somebody noted" }

/* Writes these fields into an item, those that are not empty, and empties the set. */
void put_attached(struct json_writer *w, struct attached_set *set);

/* The same for what is on one thing by its id, of a sub-agent with its own, and on a session itself. Want a read
 * transaction. */
enum status put_attached_to(struct call *c, const struct uuid *id, struct str agent, struct err *err) MUST_USE;
enum status put_attached_session(struct call *c, const struct session *session, struct err *err) MUST_USE;

#endif
