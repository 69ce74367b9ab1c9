/*
 * Approvals and rules as methods find and show them.
 */
#ifndef ARBOR_HUB_ASKED_H
#define ARBOR_HUB_ASKED_H

#include "hub/call.h"
#include "store/approval.h"
#include "store/rule.h"

#define ASKED_FIELDS \
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the question" }, \
		{ .name = "handle", \
		  .type = VALUE_HANDLE, \
		  .flags = FIELD_HIDDEN, \
		  .help = "names it everywhere" }, \
		{ .name = "state", \
		  .type = VALUE_ENUM, \
		  .choices = approval_state_names, \
		  .help = "whether it waits, is answered, has been handed to who asked, or is void: nobody " \
			  "can hear the answer" }, \
		{ .name = "asked", .type = VALUE_TIME, .flags = FIELD_SHORT, .help = "when" }, \
		{ .name = "name", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL, \
		  .title = "session", \
		  .help = "of the session, where it has one here" }, \
		{ .name = "decision", \
		  .type = VALUE_ENUM, \
		  .choices = approval_decision_names, \
		  .flags = FIELD_OPTIONAL, \
		  .help = "what was answered" }, \
		{ .name = "by", \
		  .type = VALUE_ENUM, \
		  .choices = approval_by_names, \
		  .flags = FIELD_OPTIONAL, \
		  .help = "who answered; expiry: nobody in time" }, \
		{ .name = "by_name", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "what they are called" }, \
		{ .name = "rule", \
		  .type = VALUE_ID, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "the rule that answered" }, \
		{ .name = "tool", .type = VALUE_TEXT, .help = "which one wants to run" }, \
		{ .name = "what", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_STRETCH, \
		  .help = "what it would do: the command, the file, the address; of other tools all of the " \
			  "input" }, \
		{ .name = "input", \
		  .type = VALUE_JSON, \
		  .flags = FIELD_HIDDEN, \
		  .help = "the tool's input, as it was asked" }, \
		{ .name = "edited_input", \
		  .type = VALUE_JSON, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "what really runs, where who allowed it has changed it" }, \
		{ .name = "message", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "said to the model" }, \
		{ .name = "interrupt", \
		  .type = VALUE_BOOL, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "the turn ended with it" }, \
		{ .name = "void_reason", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "withdrawn by who asked, or lost with it" }, \
		{ .name = "tool_use_id", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "of the call" }, \
		{ .name = "agent_id", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "the sub-agent that asks" }, \
		{ .name = "claude_session", \
		  .type = VALUE_ID, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "the client's id of the session" }, \
		{ .name = "cwd", \
		  .type = VALUE_PATH, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "folder it works in" }, \
		{ .name = "suggestions", \
		  .type = VALUE_JSON, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "rules that the client offers" }, \
		{ .name = "expires", \
		  .type = VALUE_TIME, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "it is denied then, unless somebody was faster" }, \
		{ .name = "decided", \
		  .type = VALUE_TIME, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "when it was answered" }, \
	{ \
		.name = "delivered", .type = VALUE_TIME, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		.help = "when the answer was handed over" \
	}

extern const struct field asked_fields[];

/* Members of an object that is open. */
void put_approval(struct json_writer *w, const struct approval *a, struct arena *mem);

#define RULE_FIELDS \
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the rule" }, \
		{ .name = "decision", \
		  .type = VALUE_ENUM, \
		  .choices = rule_decision_names, \
		  .help = "what it answers" }, \
		{ .name = "name", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL, \
		  .title = "session", \
		  .help = "of the one session it is for" }, \
		{ .name = "claude_session", \
		  .type = VALUE_ID, \
		  .flags = FIELD_OPTIONAL, \
		  .help = "the client's id of the one it is for" }, \
		{ .name = "rule", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_STRETCH, \
		  .help = "which questions it means: Bash(git *)" }, \
		{ .name = "message", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "said to the model" }, \
		{ .name = "created_by", \
		  .type = VALUE_TEXT, \
		  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		  .help = "whose it is" }, \
		{ .name = "created", .type = VALUE_TIME, .flags = FIELD_HIDDEN, .help = "since when" }, \
	{ \
		.name = "expires", .type = VALUE_TIME, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
		.help = "until when" \
	}

void put_rule(struct json_writer *w, const struct rule *r, struct arena *mem);

/* Row of the session that a parameter "session" names; 0 = none was given. */
enum status asked_session(struct call *c, int64_t *row, struct err *err) MUST_USE;

/* A parameter that is JSON, on one line, as it goes to clients and into lists; p NULL = it was left out. */
struct str asked_json(struct call *c, const char *name);

/* What ~ means in rules. */
struct str asked_home(void);

struct resolving;
enum status asked_resolve(struct resolving *r, struct err *err);

#endif
