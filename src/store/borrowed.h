/*
 * Lines whose rows are another's.
 *
 * A fork repeats the lines it goes on from, with another session id in each. Its bytes are packed against those of the
 * original (store/like.h) and its words are in the index once (store/copied.h); what would be left is a row for
 * every line, its keys and what it cost, and these say the same, only further to the front or to the back. So the fork
 * borrows them: a run of lines that follow each other in both is one row here, and whoever asks the tables of lines
 * (entry, usage, node_key) gets the lender's rows, moved.
 *
 * What is in these tables does not depend on it: a run is made only of rows that are, moved, exactly those that it
 * stands for, and before one of them would change they are written out again.
 */
#ifndef ARBOR_STORE_BORROWED_H
#define ARBOR_STORE_BORROWED_H

#include "store/store.h"

/* From the first line of a run to the last, at most: who looks for the runs over a line need not go back further. */
enum { BORROWED_BYTES = 64 * 1024 };

/* Columns of the tables of lines, as they are written. */
enum {
	ENTRY_SESSION,
	ENTRY_OFFSET,
	ENTRY_LENGTH,
	ENTRY_TYPE,
	ENTRY_FLAGS,
	ENTRY_AT,
	ENTRY_UUID,
	ENTRY_LINE_ID,
	ENTRY_PARENT,
	ENTRY_LINK,
	ENTRY_CONTENT,
	ENTRY_TOOLS,
	ENTRY_AGENT,
	ENTRY_SAME,
	ENTRY_NTH,
	ENTRY_MESSAGE_ID,
	ENTRY_FIRST,
	ENTRY_DOC,
	ENTRY_DOCS,
	ENTRY_BLOCKS,
	ENTRY_COLUMNS
};
enum { USAGE_SESSION, USAGE_FIRST, USAGE_MODEL, USAGE_TOLD, USAGE_COLUMNS };

struct borrowed_run {
	int64_t session, offset, until;
	int64_t lender, at;
	int64_t docs;
	bool has_parent;
	int64_t parent;
};

static inline int64_t borrowed_shift(const struct borrowed_run *r)
{
	return r->offset - r->at;
}

/* Looks which lines of a session, from an offset on, are another's, and gives up their rows. They have their keys.
 * In short transactions of its own. */
enum status borrowed_find(struct store *s, int64_t session, int64_t from, struct err *err) MUST_USE;

/* What follows wants a write transaction. */

/* The same for lines that have just been written, in the transaction they came in: they have no keys yet, and get
 * none then. */
enum status borrowed_find_written(struct store *s, int64_t session, int64_t from, struct err *err) MUST_USE;

/* Whether a session borrows or lends anything. */
enum status borrowed_any(struct store *s, int64_t session, bool *out, struct err *err) MUST_USE;

/* Whether the row of a line is borrowed. */
enum status borrowed_is(struct store *s, int64_t session, int64_t offset, bool *out, struct err *err) MUST_USE;

/* Before the row of a line changes: it is the session's own then, and nobody else's. */
enum status borrowed_end(struct store *s, int64_t session, int64_t offset, struct err *err) MUST_USE;

/* The same for all lines of a session. */
enum status borrowed_end_all(struct store *s, int64_t session, struct err *err) MUST_USE;

/* borrowed_inner.c: the virtual tables, for connecting. */
enum status borrowed_register(struct store *s, struct err *err) MUST_USE;

#endif
