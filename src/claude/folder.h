/*
 * From a folder in which people worked to the name of its folder below projects/. There is
 * no way back: different folders may have the same name there.
 */
#ifndef ARBOR_CLAUDE_FOLDER_H
#define ARBOR_CLAUDE_FOLDER_H

#include "base/buf.h"

/* Longest such name that is the whole folder's; the longest of all: so much of it, '-', and
 * a hash of up to six. */
enum { CLAUDE_FOLDER_WHOLE = 200, CLAUDE_FOLDER_MAX = 207 };

/* Appends the name the client gives it. */
void claude_encode_cwd(struct str cwd, struct buf *out);

#endif
