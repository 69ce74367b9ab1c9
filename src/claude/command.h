/*
 * What somebody typed that the client wraps up before it stands in a transcript: commands of its own, and
 * commands of the shell. Pure.
 */
#ifndef ARBOR_CLAUDE_COMMAND_H
#define ARBOR_CLAUDE_COMMAND_H

#include "base/buf.h"

/* Appends it as it was typed, "/review the parser" or "!ls". False when the text is no such wrapping; *words, which
 * may be NULL, says whether there is more in it than the name of a command. */
bool command_typed(struct str text, struct buf *out, bool *words);

#endif
