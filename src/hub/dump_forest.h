/*
 * The part of a dump that tells what all transcripts mean together; arbor_derived.c
 * prints the rest.
 */
#ifndef ARBOR_HUB_DUMP_FOREST_H
#define ARBOR_HUB_DUMP_FOREST_H

#include "base/buf.h"
#include "hub/call.h"

/* A name as one word: what is odd in it becomes %XX. */
void dump_word(struct buf *line, struct str name);

/* Every message with what it follows, turns, branches, continuations, heads, sub-agents, and
 * what each answer cost. Wants a read transaction. */
enum status dump_forests(struct call *c, struct err *err) MUST_USE;

#endif
