/*
 * Handles in trees: which texts can be one, and what stands behind it.
 */
#ifndef ARBOR_HUB_ARBOR_HANDLE_H
#define ARBOR_HUB_ARBOR_HANDLE_H

#include "hub/call.h"

/* Whether it has the form of a handle, and whose it is; zero = that is not known here. */
enum status handle_check(struct str handle, struct uuid *plugin, struct err *err) MUST_USE;

/*
 * What a handle stands for, on a line: appended to `out`, and no error when it cannot be had; *found says whether
 * it was. With NULL handles are shown as they are.
 */
typedef enum status handle_resolve_fn(struct call *c, struct str handle, struct buf *out, bool *found, struct err *err);
extern handle_resolve_fn *const handle_resolve;

#endif
