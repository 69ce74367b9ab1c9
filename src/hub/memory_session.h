/*
 * A session as results show it.
 */
#ifndef ARBOR_HUB_MEMORY_SESSION_H
#define ARBOR_HUB_MEMORY_SESSION_H

#include "hub/alive.h"
#include "store/session.h"

extern const struct field session_fields[], pull_fields[];

/* What put_session() writes beside the id, for methods whose items are of several kinds. */
#define SESSION_PART_FIELDS \
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "session: what it is about" }, \
	{ .name = "project", .type = VALUE_PATH, .flags = FIELD_OPTIONAL, .help = "session: folder it worked in" }, \
	{ .name = "started", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "session: first line" }, \
	{ .name = "updated", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "session: last line" }, \
	{ .name = "messages", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "session: of either side" }, \
	{ .name = "prompts", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "session: typed by a person" }, \
	{ .name = "tools", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "session: calls of tools" }, \
	{ .name = "branch", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "session: of git" }, \
	{ .name = "git_branches", .type = VALUE_TEXT, .flags = FIELD_LIST | FIELD_OPTIONAL, \
	  .help = "session: all branches it was on" }, \
	{ .name = "cwds", .type = VALUE_PATH, .flags = FIELD_LIST | FIELD_OPTIONAL, \
	  .help = "session: all folders it worked in" }, \
	{ .name = "prs", .type = VALUE_OBJECT, .flags = FIELD_LIST | FIELD_OPTIONAL, .fields = pull_fields, \
	  .help = "session: pull requests it has led to" }, \
	{ .name = "plans", .type = VALUE_TEXT, .flags = FIELD_LIST | FIELD_OPTIONAL, \
	  .help = "session: what its plans are called, if it made any" }, \
	{ .name = "tag", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "session: that somebody gave it" }, \
	{ .name = "mode", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "session: of the client" }, \
	{ .name = "permission_mode", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, \
	  .help = "session: what tools may do without being asked for" }, \
	{ .name = "bytes", .type = VALUE_BYTES, .flags = FIELD_OPTIONAL, .help = "session: of its file" }, \
	{ .name = "root", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "session: label of its folder" }, \
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_OPTIONAL, .help = "session: its file" }

/* So too, where a sub-agent's transcript may be shown. */
#define SESSION_AGENT_FIELD \
	{ .name = "agent", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "session: a sub-agent of it, this one" }

/* Into an object that is open. */
enum status put_session(struct call *c, struct json_writer *w, const struct session *s, struct err *err) MUST_USE;

/* Whether it is open: by the client that has it so, NULL = none. */
void put_alive(struct json_writer *w, const struct live *live);

/* Tells a person that a conversation is archived, and so neither listed nor found; that something of it was
 * purged. Wants a read transaction. */
enum status note_state(struct call *c, const struct session *s, struct err *err) MUST_USE;

/* Tells when a sync has not been completed: then sessions and words are missing. */
void warn_unread(struct call *c);

#endif
