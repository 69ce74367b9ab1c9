/*
 * Named sessions among conversations: which one a name means, and where each of them is.
 */
#ifndef ARBOR_HUB_HEADED_H
#define ARBOR_HUB_HEADED_H

#include "hub/call.h"
#include "hub/meant.h"
#include "query/turns.h"

/* The parameter by which methods are told of one; `HELP` says what they do with it. */
#define HEADED_PARAM(HELP) \
	{ \
		.name = "id", .type = VALUE_TEXT, .flags = PARAM_WORD, .initial = PARAM_LAST_SESSION, \
		.shown = "SESSION|NODE", .names = "memory.sessions", .help = (HELP) \
	}

/* What meant_find() takes; and the name of a session, which means where that is now. A whole name comes
 * first, the beginning of one last. Wants a read transaction, as the others do. */
enum status headed_meant(struct call *c, struct str text, unsigned kinds, struct meant *out,
			 struct err *err) MUST_USE;

/* The same; *name is that of the session which was meant by it, p NULL = by something else. */
enum status headed_meant_by(struct call *c, struct str text, unsigned kinds, struct meant *out,
			    struct str *name, struct err *err) MUST_USE;

/* The same where only a conversation, or a part of one, will do. */
enum status headed_find(struct call *c, struct str text, struct resolved *out, struct err *err) MUST_USE;

/* A named session, and the message it is at. */
struct headed_one {
	struct str name;
	uint32_t message;
	uint32_t source; /* its file; FOREST_NONE = it has none here */
	uint32_t next;	 /* at the same message */
};

struct headed {
	struct headed_one *list;
	uint32_t count;
	uint32_t *at; /* by message: first of those there; FOREST_NONE = none. NULL = there are none at all */
};

/* Those that are in a forest, by name; in the call's arena. */
enum status headed_load(struct call *c, const struct turns *turns, struct headed *out,
			struct err *err) MUST_USE;

/* A session where it is: by its name, its file (FOREST_NONE = it has none here), or both. */
#define HEADED_HERE_FIELDS \
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "of a session that has one" }, \
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "as the client knows it" }, \
	{ .name = "asked", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, .help = "it is the one that was asked for" }

void headed_put_here(struct json_writer *w, const struct forest *f, struct str name, uint32_t source, bool asked);

/* How many dots it has if it is A..B or A...B, 0 = it is neither. Either may be left out and is then the last
 * conversation. No name has two dots in it. */
unsigned headed_range(struct str text, struct str *a, struct str *b);

#endif
