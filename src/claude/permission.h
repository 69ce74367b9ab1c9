/*
 * Rules about tools, as Claude Code writes them: which questions "Bash(git *)" or "Edit(src/x)" mean.
 * docs/APPROVALS.md has the language. Pure: texts in, yes or no out.
 *
 * A rule is read in one of two ways. Strictly, it means only what it surely means: that is for rules that
 * allow something. Widely, it means all that somebody may want to hide behind it: for rules that deny, or
 * want a person to be asked. What is meant strictly is meant widely, too.
 */
#ifndef ARBOR_CLAUDE_PERMISSION_H
#define ARBOR_CLAUDE_PERMISSION_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct permission {
	struct str tool;    /* exact, or with * */
	struct str pattern; /* p NULL = whatever the input */
};

/* "Tool" or "Tool(pattern)". STATUS_USAGE with what is wrong. */
enum status permission_read(struct str text, struct permission *out, struct err *err) MUST_USE;

/* What it is in its parts. A pattern only for tools whose input is understood here. */
enum status permission_check(const struct permission *p, struct err *err) MUST_USE;

/* As it was read. In the arena, or the rule's own. */
struct str permission_text(const struct permission *p, struct arena *mem);

/* What is asked. Texts that are not known are empty. */
struct permission_question {
	struct str tool;
	const struct json *input;
	struct str cwd, home;
	struct str real_cwd, real_path; /* the folder and the file that is meant, with all links resolved */
};

bool permission_means(const struct permission *p, const struct permission_question *q, bool strictly);

/* Whether it can be allowed by a rule at all: what a person is asked themselves cannot, unless by name. */
bool permission_may_allow(const struct permission *p, struct str tool);

/* The rule that means this command, this file or folder, or this search, and no other. In the arena.
 * STATUS_USAGE where none says that: of tools whose input is not understood, or of which the rules say only a
 * part. */
enum status permission_exact(const struct permission_question *q, struct arena *mem, struct permission *out,
			     struct err *err) MUST_USE;

/* What it is mainly about: the command, the file, the address. p NULL = not known. */
struct str permission_subject(struct str tool, const struct json *input, struct arena *mem);

/* What asks a person something, and is no tool that could do anything. */
bool permission_is_question(struct str tool);

/* What a person is to look at each time: an answer to it is none to the next. */
bool permission_is_for_once(struct str tool);

/* The file that a tool is to read or write, as it was given; p NULL = none. */
struct str permission_path(const struct permission_question *q, struct arena *mem);

#endif
