/*
 * What notes, bookmarks and tags are on: as somebody types it, and as results tell it.
 */
#ifndef ARBOR_HUB_ANNOTATED_H
#define ARBOR_HUB_ANNOTATED_H

#include "hub/call.h"
#include "store/annotation.h"
#include "store/session.h"

/* What it is, as far as this store knows it. */
struct subject {
	struct annotation_subject on;
	bool gone;		/* it is not here, or no more */
	struct session session; /* it is, or is in; row 0 = none */
	struct str what;	/* how it begins, or the title of the session; in the call's arena */
};

/* A session, a sub-agent or a part of a conversation (hub/resolve.h), or a node or tree that was made;
 * without what it says. Wants no transaction. */
enum status subject_resolve(struct call *c, struct str typed, struct subject *out, struct err *err) MUST_USE;

/* As results tell it. */
extern const char *const subject_kinds[];
#define SUBJECT_FIELDS(more_flags) \
	{ .name = "on", .type = VALUE_ENUM, .choices = subject_kinds, .flags = FIELD_HIDDEN | (more_flags), \
	  .help = "what it is on" }, \
	{ .name = "subject", .type = VALUE_ID, .flags = (more_flags), .title = "on", \
	  .help = "id of that; of a sub-agent its conversation's" }, \
	{ .name = "agent", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "the sub-agent it is on" }, \
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "the conversation it is on, or in" }, \
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, .help = "of that" }, \
	{ .name = "project", .type = VALUE_PATH, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "folder that worked in" }, \
	{ .name = "gone", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, \
	  .help = "what it is on is not in this store, or no more" }

/* Beside them, in the place that suits. */
#define SUBJECT_WHAT(more_flags) \
	{ .name = "what", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL | (more_flags), \
	  .help = "how that begins, or its title" }

/* Of each of the three kinds. */
#define ANNOTATION_FIELDS \
	{ .name = "author", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, .help = "who wrote it" }, \
	{ .name = "created", .type = VALUE_TIME, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, .help = "when" }

/* Parameters of the methods that set and delete one: what it is on, who does it, whether it is to go. */
#define ANNOTATION_ON_PARAM(more) \
	{ .name = "on", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD, .shown = "ID", \
	  .names = "memory.sessions", \
	  .help = "a session, sub-agent, turn, message, block or line, a node or tree, a file" more }
#define ANNOTATION_AUTHOR_PARAM(what) \
	{ .name = "author", .type = VALUE_TEXT, .setting = "author", .help = (what) }
#define ANNOTATION_DELETE_PARAM(what) \
	{ .name = "delete", .type = VALUE_BOOL, .letter = 'd', .help = (what) }

/* What a method has done, where it does something. */
extern const char *const annotation_deeds[];
#define ANNOTATION_DONE \
	{ .name = "done", .type = VALUE_ENUM, .choices = annotation_deeds, \
	  .help = "added, changed or deleted; there: nothing had to be done" }

/* Writes what is its kind's own. */
typedef void annotation_put(struct json_writer *w, const struct annotation *a);

/* Gives one with what it is on, and what was done with it. */
enum status annotation_emit(struct call *c, const char *done, const struct annotation *a, annotation_put *put,
			    struct err *err) MUST_USE;

/* Puts one on what parameter 'on' names, if `on` is NULL, or else on that, and gives it; `move` as annotation_add() has
 * it. Kind, name or text and author are set. */
enum status annotation_attach(struct call *c, struct annotation *a, const struct subject *on, bool move,
			      annotation_put *put, struct err *err) MUST_USE;

/* Takes one away, and gives it as it was. */
enum status annotation_detach(struct call *c, const struct annotation *a, annotation_put *put,
			      struct err *err) MUST_USE;

/* ---- Listing -------------------------------------------------------------------- */

/* Parameters of the listings. */
#define ANNOTATION_ONLY_ON_PARAM(more_flags) \
	{ .name = "on", .type = VALUE_TEXT, .flags = (more_flags), .shown = "ID", .names = "memory.sessions", \
	  .help = "only on this, and of a session in it" }
#define ANNOTATION_LIST_PARAMS \
	{ .name = "project", .type = VALUE_PATH, .letter = 'p', .shown = "DIR", .names = "memory.projects", \
	  .help = "only in sessions of this folder and below; its name, or the end of its path, will do" }, \
	{ .name = "limit", .type = VALUE_INT, .letter = 'n', .initial = "50", .setting = "list.limit", \
	  .least = 0, .most = INT32_MAX, .help = "at most so many; 0 for all" }

/* All of a kind, the last changed first; those on what `on` names and in it, if that is given; as the
 * parameters above say. */
enum status annotation_list(struct call *c, enum annotation_kind kind, struct str on, annotation_put *put,
			    struct err *err) MUST_USE;

/* So too, what has a tag, the client's included: their items have neither id nor author. */
enum status annotation_list_tagged(struct call *c, struct str tag, annotation_put *put,
				   struct err *err) MUST_USE;

#endif
