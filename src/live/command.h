/*
 * What is started: which program, with which environment.
 *
 * There is no shell. A command is a list of words, the first names the program.
 * A child gets a fixed list of variables and those somebody set for it; nothing
 * else of our environment, in which keys and tokens lie.
 */
#ifndef ARBOR_LIVE_COMMAND_H
#define ARBOR_LIVE_COMMAND_H

#include "base/arena.h"
#include "base/err.h"

/* Where variables come from: the face knows the system's. */
struct environment {
	const char *(*get)(void *ctx, const char *name); /* NULL = not set; may itself be NULL */
	void *ctx;
};

const char *environment_get(const struct environment *e, const char *name);

struct variable {
	struct str name;
	struct str value; /* p NULL = as our own environment has it, if it does */
};

/* Names of letters, digits and '_', not beginning with a digit. */
bool variable_is_name(struct str name);

/* For execve(2), in `mem`: what every child gets, then `own`, which beat these. */
const char *const *environment_for_child(const struct environment *e, const struct variable *own,
					 size_t count, struct arena *mem);

/*
 * The program as an absolute path: `name` itself when it begins with '/' or "~/", else looked
 * for in PATH. STATUS_NOT_FOUND and STATUS_DENIED say which name.
 */
enum status command_find(const struct environment *e, struct str name, struct arena *mem, const char **path,
			 struct err *err) MUST_USE;

/* Whether it can name a program at all: relative to which folder, one could only guess. */
bool command_is_name(struct str name);

#endif
