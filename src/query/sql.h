/*
 * SQL over the documented tables (docs/SQL.md), for people and programs on this machine.
 *
 * A query can read these tables and nothing else, and nothing can be written: not the store,
 * and no file.
 */
#ifndef ARBOR_QUERY_SQL_H
#define ARBOR_QUERY_SQL_H

#include "store/store.h"

struct sql_query {
	struct str text;	   /* one statement */
	int64_t rows;		   /* at most so many; 0 = all */
	int64_t timeout_ms;	   /* 0 = none */
	const atomic_bool *cancel; /* may be NULL */
};

struct sql_report {
	bool more; /* there were more rows than were wanted */
};

enum sql_type { SQL_NULL, SQL_INT, SQL_REAL, SQL_TEXT, SQL_BLOB };

struct sql_value {
	enum sql_type type;
	int64_t number;	  /* SQL_INT */
	double real;	  /* SQL_REAL */
	struct str bytes; /* SQL_TEXT, SQL_BLOB */
};

/* Columns of a row. All of it is valid during the call. */
struct sql_row {
	size_t count;
	const struct str *names; /* the same in every row */
	const struct sql_value *values;
};

typedef enum status sql_fn(void *ctx, const struct sql_row *row, struct err *err);

/*
 * STATUS_USAGE: the SQL is wrong or wants what is not allowed, and the error says so in SQLite's
 * words; STATUS_LIMIT: it took too long, or too much memory. Uses a connection of its own.
 */
enum status sql_run(struct store *s, const struct sql_query *q, sql_fn *fn, void *ctx,
		    struct sql_report *report, struct err *err) MUST_USE;

/* Has SQLite count its memory, without which there is no limit to it. Only before any store has
 * been opened; later it changes nothing. */
void sql_count_memory(void);

#endif
