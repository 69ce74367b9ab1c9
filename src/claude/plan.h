/*
 * Plans: Markdown files of plan mode, plans/NAME.md. Pure.
 */
#ifndef ARBOR_CLAUDE_PLAN_H
#define ARBOR_CLAUDE_PLAN_H

#include "base/buf.h"

/* What a plan is called, by its path below the folder: plans/a/b.md is a/b. */
struct str plan_name(struct str path);

/* What lines of its conversation call it: a sub-agent's plan has the agent's id behind that. */
struct str plan_slug(struct str path);

/* How much of it is read for its title. */
enum { PLAN_TITLE_BYTES = 64 * 1024 };

/* Appends what it is about, on one line: its first heading, else its first line. `text`
 * may be only the beginning of it. */
void plan_title(struct str text, struct buf *out);

#endif
