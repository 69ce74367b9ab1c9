/*
 * Inside the store: a row of the table lifecycle as it is, for the modules that keep account of made trees
 * and nodes.
 */
#ifndef ARBOR_STORE_LIFE_ROW_H
#define ARBOR_STORE_LIFE_ROW_H

#include "store/lifecycle.h"

/* In the order in which they follow each other; the first two are active. */
enum row_state { ROW_NONE, ROW_HELD, ROW_SCHEDULED, ROW_ARCHIVED, ROW_PURGED };

struct life_row {
	enum row_state state;
	bool ephemeral;
	int64_t parent;	 /* row of its parent; 0 = no made node has one */
	int64_t held_by; /* row of a child; 0 = none */
	int64_t since_at, due_at;
};

/* SQL for the state of a row of lifecycle `l`, or of none, as enum row_state. */
#define ROW_STATE(l) \
	"CASE " l ".state WHEN 'held' THEN 1 WHEN 'scheduled' THEN 2 WHEN 'archived' THEN 3" \
	" WHEN 'purged' THEN 4 ELSE 0 END"

/* The columns from which row_read() makes a row, from column `at` on. */
#define ROW_COLUMNS(l) \
	ROW_STATE(l) ", coalesce(" l ".ephemeral, 0), coalesce(" l ".parent, 0), coalesce(" l ".held_by, 0)," \
	" coalesce(" l ".since_at, 0), coalesce(" l ".due_at, 0)"
enum { ROW_COLUMN_COUNT = 6 };

struct stmt;
struct life_row row_read(const struct stmt *st, int at);
struct life life_of_row(const struct life_row *r);

enum status row_get(struct store *s, const struct uuid *id, struct life_row *out, struct err *err) MUST_USE;

/* Writes a row, or with ROW_NONE removes it. Both want a write transaction. */
enum status row_put(struct store *s, const struct subject *what, const struct life_row *r, struct err *err) MUST_USE;

/* From now on in this state, which lasts as its window says (NULL: held and purged have none); all else stays. */
enum status row_enter(struct store *s, const struct subject *what, struct life_row *r, enum row_state state,
		      const struct life_windows *windows, struct err *err) MUST_USE;

/* "node 0b7f3c1e-..." for an error. */
enum { SUBJECT_TEXT = 48 };
const char *subject_text(const struct subject *what, char out[SUBJECT_TEXT]);

/* Removes all claims on it; claim_drop() leaves them with a count of 0. Wants a write transaction. */
enum status claim_forget(struct store *s, const struct uuid *id, struct err *err) MUST_USE;

/* STATUS_CONFLICT with who claims it, when somebody does; the second says that it can be forced. */
enum status claim_none(struct store *s, const struct subject *what, struct err *err) MUST_USE;
enum status claim_refuse(struct store *s, const struct subject *what, struct err *err) MUST_USE;

#endif
