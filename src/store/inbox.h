/*
 * Commands to whoever runs an agent: other processes leave them, the driver takes them in order and says what
 * came of each.
 */
#ifndef ARBOR_STORE_INBOX_H
#define ARBOR_STORE_INBOX_H

#include "base/arena.h"
#include "store/store.h"

struct inbox_command {
	int64_t row;
	struct uuid id;
	struct str verb;
	struct str data; /* JSON */
};

/* To a run (its row). On the disk when it returns. STATUS_CONFLICT when the run has ended. */
enum status inbox_add(struct store *s, int64_t run, struct str verb, struct str data, struct uuid *id,
		      struct err *err) MUST_USE;

/* The oldest that was not taken; it is, then. *found = false when there is none. Texts are in the arena. */
enum status inbox_take(struct store *s, int64_t run, struct arena *mem, struct inbox_command *out, bool *found,
		       struct err *err) MUST_USE;

/* What came of it: JSON. */
enum status inbox_done(struct store *s, int64_t row, struct str result, struct err *err) MUST_USE;

/* What is known of one: *done when it was done, then *result in the arena; *lost when nobody will do it any
 * more, because the run has ended. STATUS_NOT_FOUND. */
enum status inbox_get(struct store *s, const struct uuid *id, struct arena *mem, bool *done, bool *lost,
		      struct str *result, struct err *err) MUST_USE;

#endif
