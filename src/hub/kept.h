/*
 * The bytes of kept files, for methods that look into them.
 */
#ifndef ARBOR_HUB_KEPT_H
#define ARBOR_HUB_KEPT_H

#include "hub/window.h"
#include "store/find.h"

/* The first `most` bytes (SIZE_MAX = all) of one version of a file, 0 = its newest,
 * appended to `out`; *g is that version. What does not fit is STATUS_LIMIT. Wants a read
 * transaction. Errors name the file. */
enum status kept_read(struct call *c, const struct source_info *file, uint64_t version, size_t most,
		      struct generation *g, struct buf *out, struct err *err) MUST_USE;

/* Bytes of a version of a file. */
struct kept_span {
	int64_t generation; /* row */
	int64_t offset, length;
};

/* What a window lets see of them, into an object that is open: as "text" where they are UTF-8, else as
 * "base64", and then *binary is set; with their number as "bytes". Wants a read transaction. */
enum status kept_window(struct call *c, struct json_writer *w, const struct kept_span *span, struct window *window,
			bool *binary, struct err *err) MUST_USE;

/* Whether a listing may go on without this file; it is then named in a warning, and
 * counted. What is wrong with one file does not hide the others. */
bool kept_excuse(struct call *c, const struct err *why, int64_t *failed);

/* How such a listing ends. */
enum status kept_end(int64_t failed, struct err *err);

/* A file by the name people see: its path, with its folder's label in front unless
 * that is 'claude'. */
struct str kept_name(struct call *c, const struct source_info *file);

/* What it is: 'transcript', say. */
const char *kept_kind(const struct source_info *file);

#endif
