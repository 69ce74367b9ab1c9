/*
 * What those have in common who work on borrowed rows: how a run is read; and for the virtual tables, statements on the
 * stored ones, kept for the next cursor.
 */
#ifndef ARBOR_STORE_BORROWED_INNER_H
#define ARBOR_STORE_BORROWED_INNER_H

#include "store/borrowed.h"

#include <sqlite3.h>

enum { INNER_KINDS = 6, INNER_KEPT = 8 };

struct inner_kept {
	uint32_t columns;
	sqlite3_stmt *st; /* NULL = there is none, and none behind it */
};

struct inner_table {
	sqlite3_vtab base;
	sqlite3 *db;
	const char *const *sql;	  /* INNER_KINDS, or fewer */
	const char *const *names; /* of the columns, if rows are asked for some of them alone */
	struct inner_kept kept[INNER_KINDS][INNER_KEPT]; /* first the one that was in use last */
};

int inner_connect(sqlite3 *db, const char *declare, const char *const *sql, size_t size, sqlite3_vtab **out);
int inner_disconnect(sqlite3_vtab *table);

static inline struct inner_table *inner_of(const sqlite3_vtab_cursor *c)
{
	return (struct inner_table *)c->pVtab;
}

/* A statement of some kind, and back. With `columns`, a bit for each, its text is what follows their list, in which all
 * others are NULL; with 0 it is all of it. */
int inner_take(struct inner_table *t, unsigned kind, uint32_t columns, sqlite3_stmt **out);
void inner_give_back(struct inner_table *t, unsigned kind, uint32_t columns, sqlite3_stmt **st);

/* An error code other than of a row or of none. */
int inner_step(sqlite3_stmt *st, bool *has);

/* Runs, and the one in a row of them. */
#define INNER_RUNS "SELECT session, offset, until, lender, at, docs, parent FROM main.borrowed"
struct borrowed_run inner_run(sqlite3_stmt *st);

/* Nothing is equal to NULL, or smaller. */
bool inner_any_null(sqlite3_value **arguments, int count);

/* The modules. */
extern const sqlite3_module borrowed_lines_module, borrowed_keys_module;

#endif
