/*
 * Handles of kept files, and of what stands in them.
 */
#ifndef ARBOR_HUB_STORAGE_HANDLES_H
#define ARBOR_HUB_STORAGE_HANDLES_H

#include "base/handle.h"
#include "claude/task.h"
#include "hub/handle_node.h"
#include "store/find.h"

extern const struct handle_kind storage_handle_kinds[];

/* A handle of storage as a file and the version it names; 0 = none. STATUS_FORMAT when it is of
 * something else. */
enum status storage_handle_file(struct call *c, struct str text, struct source_info *out, int64_t *version,
				struct err *err) MUST_USE;

struct node_handle handle_of_plan(const struct uuid *source, int64_t version);

/* Of a task in its file; `number` counts from 0 in a list, and is below 0 where the file is the task. */
struct node_handle handle_of_todo(const struct uuid *source, int64_t number);

/* A task's own fields, into an object that is open; and how they are declared. */
void put_task(struct json_writer *w, const struct task *task);
extern const char *const task_states[];

#define TASK_FIELDS \
	{ .name = "id", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "its number in the session's list" }, \
	{ .name = "status", .type = VALUE_ENUM, .choices = task_states, .help = "how far it is" }, \
	{ .name = "priority", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "of older clients" }, \
	{ .name = "blocked_by", .type = VALUE_TEXT, .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "ids that had to be done first when it was written" }, \
	{ .name = "subject", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what is to be done" }, \
	{ .name = "description", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "the same at length" }, \
	{ .name = "active_form", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "what the client says while it is done" }, \
	{ .name = "blocks", .type = VALUE_TEXT, .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "ids that wait for it" }

#endif
