/*
 * What tools print of files, without the numbers of lines. Pure.
 */
#ifndef ARBOR_CLAUDE_NUMBERED_H
#define ARBOR_CLAUDE_NUMBERED_H

#include "base/buf.h"

/* Takes the numbers out of a text that begins at `from` and goes to the end. */
void numbered_strip(struct buf *text, size_t from);

#endif
