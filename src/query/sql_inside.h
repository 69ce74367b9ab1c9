/*
 * Inside of SQL: what the functions and tables of one query share.
 */
#ifndef ARBOR_QUERY_SQL_INSIDE_H
#define ARBOR_QUERY_SQL_INSIDE_H

#include "query/grove.h"
#include "query/lines.h"
#include "store/db.h"

/* The texts of a line, beside those of its blocks, which count from 0. */
enum { TEXT_SAID = -1, TEXT_MESSAGE = -2, TEXT_THINKING = -3 };

struct sql {
	struct store *store; /* the query's own connection */
	/* Functions and tables run statements on the same connection, and what these do is not what
	 * somebody typed: while it is above 0 the authorizer lets everything pass. */
	int inside;
	char denied[160]; /* what the authorizer refused */
	struct err err;	  /* what failed inside; its status is OK when nothing did */
	const atomic_bool *cancel;
	int64_t deadline_ns; /* 0 = none */
	bool too_long;	     /* it was reached */
	/* The line that was read last. */
	struct lines_set lines;
	struct lines *from; /* NULL = none */
	int64_t session, offset;
	struct record record;
	struct block_cursor next; /* behind `block` */
	struct record_block block;
	bool has_block;
	struct session transcript; /* of it, row 0 = none */
	struct arena mem;	   /* of that */
	struct buf text;
	/* The trees of the transcript that was asked for last, and all that belong to it. */
	struct grove grove;
	bool has_grove;
};

/* ---- sql_lines.c: lines by their place ---------------------------------------- */

/* Reads a line, if it is not the one read last; *found is false when there is none there. */
enum status sql_line(struct sql *q, int64_t session, int64_t offset, bool *found, struct err *err) MUST_USE;

/* A block of the line that was read last; NULL = it has none of this number. */
const struct record_block *sql_block(struct sql *q, int64_t index);

/* A text of the line: TEXT_*, or a block's by its number. False when it has none. Valid until the
 * next. */
bool sql_text(struct sql *q, int64_t what, struct str *out);

/* The text of the message that begins there. */
enum status sql_message_text(struct sql *q, int64_t session, int64_t first, struct str *out,
			     struct err *err) MUST_USE;

/* Reads the line of a transcript that has a call, BLOCK_TOOL_USE, or its result, BLOCK_TOOL_RESULT; of several the
 * first one behind an offset, where there is one. *out is the block, NULL = there is none. */
enum status sql_call(struct sql *q, int64_t session, struct str call, enum block_kind kind, int64_t behind,
		     const struct record_block **out, struct err *err) MUST_USE;

/* The id of the tree that a line is in; *found false = it is in none. */
enum status sql_tree(struct sql *q, int64_t session, int64_t offset, struct uuid *out, bool *found,
		     struct err *err) MUST_USE;

/* ---- sql_functions.c ----------------------------------------------------------- */

int sql_register_functions(struct sql *q);

/* Whether a query may call a function of this name. */
bool sql_function_allowed(const char *name);

/* Notes what failed and gives the code that stops the statement. */
int sql_failed(struct sql *q, const struct err *err);

/* Gives bytes as a result; p NULL = NULL. */
void sql_give(sqlite3_context *result, struct str text);

/* ---- sql_tables.c, sql_parts.c ---------------------------------------------------- */

int sql_register_tables(struct sql *q);
bool sql_table_allowed(const char *name);

/* Tables for our own statements alone: arbor_part, arbor_change, arbor_hit. */
int sql_register_parts(struct sql *q);

#endif
