/*
 * Commands to an agent at work, and what came of them: for methods that give them.
 */
#ifndef ARBOR_HUB_COMMANDED_H
#define ARBOR_HUB_COMMANDED_H

#include "hub/call.h"

extern const struct field command_fields[];

/* Gives a command to the agent of a stream, as it was typed, and waits some seconds for what comes of it:
 * *done. STATUS_WAIT: call again, with the same. STATUS_CONFLICT when the agent has not got it, or did not
 * want it. */
enum status command_give(struct call *c, struct str stream, const char *verb, struct str data,
			 struct uuid *id, bool *done, struct err *err) MUST_USE;

/* The same as all of a method, whose fields are command_fields. */
enum status command_run(struct call *c, struct str stream, const char *verb, struct str data,
			struct err *err) MUST_USE;

/* That, and waits until the agent has ended, but not for ever. */
enum status command_run_to_end(struct call *c, struct str stream, const char *verb, struct str data,
			       struct err *err) MUST_USE;

#endif
