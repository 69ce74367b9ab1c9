/*
 * Any JSON as people read it: names and values, indented, without quotes and brackets.
 *
 *     title: Fix the parser
 *     blocks:
 *       - kind: text
 *         text:
 *           first line
 *           second line
 *
 * It looks like YAML and is not meant to be read back.
 */
#ifndef ARBOR_BASE_JSON_PLAIN_H
#define ARBOR_BASE_JSON_PLAIN_H

#include "base/json.h"

/* Appends it; each line ends with a line feed. What does not fit sets out->failed. */
void json_plain(const struct json *j, uint32_t node, struct buf *out);

#endif
