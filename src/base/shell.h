/*
 * Words as somebody can paste them into a shell.
 */
#ifndef ARBOR_BASE_SHELL_H
#define ARBOR_BASE_SHELL_H

#include "base/buf.h"

/* Appends a word, in quotes. */
void shell_quote(struct buf *out, struct str word);

/* The same, without quotes where none are needed. */
void shell_word(struct buf *out, struct str word);

#endif
