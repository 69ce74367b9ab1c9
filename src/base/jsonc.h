/*
 * JSON that people edit: with comments, trailing commas and a byte order mark.
 * Read by the JSON reader, over a copy in which these are blanks; so every
 * position on the tape is one in the text as it was (base/place.h).
 */
#ifndef ARBOR_BASE_JSONC_H
#define ARBOR_BASE_JSONC_H

#include "base/json.h"

/*
 * As json_read_unplaced(). The tape points into a copy in `mem`; the text itself
 * is not needed afterwards. A text without any value (empty, or only comments) is
 * not an error: json_root() is then JSON_NONE.
 */
enum status jsonc_read(struct json *j, struct str text, uint32_t max_depth, struct arena *mem,
		       struct err *e) MUST_USE;

#endif
