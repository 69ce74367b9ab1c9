/*
 * Handles in trees, and those of trees and nodes themselves.
 */
#ifndef ARBOR_HUB_ARBOR_HANDLE_H
#define ARBOR_HUB_ARBOR_HANDLE_H

#include "hub/call.h"

extern const struct handle_kind arbor_handle_kinds[];

/* Whether it is a handle, and whose. */
enum status tree_handle_check(struct str handle, struct uuid *plugin, struct err *err) MUST_USE;

/* What a handle stands for, on a line: appended to `out`. *found is false, and nothing is appended, when it
 * cannot be had, which is no error: what a tree names may be gone, or be elsewhere. */
enum status tree_handle_line(struct call *c, struct str handle, struct buf *out, bool *found,
			     struct err *err) MUST_USE;

#endif
