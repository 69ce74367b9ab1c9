/*
 * Two contents of a file as a unified diff.
 */
#ifndef ARBOR_HUB_FILE_DIFF_H
#define ARBOR_HUB_FILE_DIFF_H

#include "query/files.h"

/* Both known, or absent, and fetched. Below `folder` the path is told without it. Nothing is written where
 * they are the same. */
enum status file_diff(struct str folder, struct str path, const struct file_content *before,
		      const struct file_content *now, struct buf *out, struct err *err) MUST_USE;

#endif
