/*
 * Bytes as text (RFC 4648, with padding): how results carry what is no text.
 */
#ifndef ARBOR_BASE_BASE64_H
#define ARBOR_BASE_BASE64_H

#include "base/buf.h"

/* Appends four characters for every three bytes. */
void base64_encode(struct buf *out, struct str bytes);

/* Whether a text is base64 and nothing else, and how many bytes it stands for. */
bool base64_is(struct str text, size_t *bytes);

#endif
