/*
 * Lines that are no message, in a few words: what the client noted, what it put beside a
 * prompt, what a tool was doing. Pure.
 */
#ifndef ARBOR_CLAUDE_EVENT_H
#define ARBOR_CLAUDE_EVENT_H

#include "claude/record.h"

/* Which kind of system line, attachment or progress it is; empty when it does not say, or is
 * something else. */
struct str event_subtype(struct record_reader *r, const struct record *rec);

/* What it says on one line, for people, into an empty buffer: nothing when there is nothing. */
void event_brief(struct record_reader *r, const struct record *rec, struct buf *out);

#endif
