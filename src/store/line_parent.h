/*
 * What purged lines hung on, by their keys (line_key() in store/session.h).
 */
#ifndef ARBOR_STORE_LINE_PARENT_H
#define ARBOR_STORE_LINE_PARENT_H

#include "store/store.h"

/* `parent` NULL = on nothing. Wants a write transaction, and that STORE_PURGED was reached. */
enum status line_parent_keep(struct store *s, const struct uuid *line, const struct uuid *parent,
			     struct err *err) MUST_USE;

/* Who is there of what a line hung on that says to hang on `line`: *line moves up as long as it is one that was
 * purged. *hangs false = on nothing any more. */
enum status line_parent_above(struct store *s, struct uuid *line, bool *hangs, struct err *err) MUST_USE;

#endif
