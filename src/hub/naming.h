/*
 * Sessions with a name: the parameters by which one is made, and how it is shown.
 */
#ifndef ARBOR_HUB_NAMING_H
#define ARBOR_HUB_NAMING_H

#include "hub/call.h"
#include "store/named.h"

/* What tools may do without being asked for, ended by NULL; "on", "off". */
extern const char *const permission_modes[], *const naming_switches[];

/* How much tools may do so in a mode; p NULL = none was said. */
int permission_freedom(struct str mode);

#define MODE_PARAM \
	{ \
		.name = "permission_mode", .type = VALUE_ENUM, .choices = permission_modes, \
		.help = "what tools may do without being asked for" \
	}
#define MODEL_PARAM \
	{ \
		.name = "model", .type = VALUE_TEXT, .help = "who answers: opus, sonnet, or a whole name" \
	}
#define LOOPBACK_HELP \
	"whether questions about tools come to 'arbor approvals'; off: nobody is asked, and what is " \
	"not allowed does not run"
#define LOOPBACK_PARAM \
	{ \
		.name = "loopback", .type = VALUE_ENUM, .choices = naming_switches, .initial = "on", \
		.help = LOOPBACK_HELP \
	}

/* Of put_named(). */
#define NAMED_FIELDS \
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "of the session" }, \
		{ .name = "id", .type = VALUE_ID, .help = "of the session" }, \
		{ .name = "model", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL, \
		  .help = "who answers; left out: as the client likes" }, \
		{ .name = "updated", \
		  .type = VALUE_TIME, \
		  .flags = FIELD_SHORT, \
		  .help = "when it last changed" }, \
		{ .name = "created", .type = VALUE_TIME, .flags = FIELD_HIDDEN, .help = "when" }, \
		{ .name = "permission_mode", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL, \
		  .title = "mode", \
		  .help = "what tools may do without being asked for" }, \
		{ .name = "made_of", \
		  .type = VALUE_ID, \
		  .flags = FIELD_OPTIONAL, \
		  .title = "from", \
		  .help = "the conversation it was forked from or took over; of a session with a name its id" }, \
		{ .name = "system_prompt", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "instead of the client's own" }, \
		{ .name = "mcp_config", \
		  .type = VALUE_JSON, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "MCP servers it has" }, \
		{ .name = "allowed_tools", \
		  .type = VALUE_JSON, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "tools that need no permission" }, \
		{ .name = "disallowed_tools", \
		  .type = VALUE_JSON, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "tools it has not got" }, \
		{ .name = "loopback", \
		  .type = VALUE_BOOL, \
		  .flags = FIELD_HIDDEN, \
		  .help = "questions about tools come to 'arbor approvals'" }, \
		{ .name = "metadata", \
		  .type = VALUE_JSON, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "as it was given" }, \
		{ .name = "head", \
		  .type = VALUE_ID, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "node that the next prompt follows" }, \
		{ .name = "claude_session_id", \
		  .type = VALUE_ID, \
		  .flags = FIELD_HIDDEN | FIELD_OPTIONAL, \
		  .help = "what the client calls the conversation" }, \
	{ \
		.name = "working_dir", .type = VALUE_PATH, .flags = FIELD_STRETCH, .title = "folder", \
		.help = "it works in" \
	}

extern const struct field named_fields[];

/* Into an object that is open. */
void put_named(struct json_writer *w, const struct named *n);

/* As the result of a method; found by its name. */
enum status emit_named(struct call *c, struct str name, struct err *err) MUST_USE;

/* Whether agents with these settings may do something unasked. Servers are programs that are started without
 * a question. */
bool naming_loosens(const struct named_settings *s);

#endif
