/*
 * Lines for SQL, by the row of their transcript and their offset.
 *
 * A query asks for one column of a line after the other, and for the blocks of a line one after the
 * other, so the line that was read last is kept, and the place in its blocks. Everything that a
 * function gave before is invalid once another line is read: results are copied by SQLite.
 */
#include "query/sql_inside.h"

#include <string.h>

enum { SQL_ENTRY, SQL_MESSAGE, SQL_STATEMENTS };

static const char *const sql[SQL_STATEMENTS] = {
	[SQL_ENTRY] = "SELECT length, flags FROM entry WHERE session = ?1 AND offset = ?2",
	[SQL_MESSAGE] =
		"SELECT offset FROM entry WHERE session = ?1 AND first = ?2 AND offset >= ?2 ORDER BY offset",
};

const struct db_set sql_statements = { DB_SQL, sql, SQL_STATEMENTS };

static enum status find_line(struct sql *q, int64_t session, int64_t offset, struct chain_line *out,
			     bool *found, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (stmt_use(q->store, &sql_statements, SQL_ENTRY, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, offset);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	*found = step == STEP_ROW;
	if (*found)
		*out = (struct chain_line){ .offset = offset,
					    .length = col_int(&st, 0),
					    .flags = (uint32_t)col_int(&st, 1) };
	return STATUS_OK;
}

enum status sql_line(struct sql *q, int64_t session, int64_t offset, bool *found, struct err *err)
{
	struct chain_line line;

	*found = true;
	if (q->from && q->session == session && q->offset == offset)
		return STATUS_OK;
	q->from = NULL;
	q->has_block = false;
	q->next = (struct block_cursor){ 0 };
	if (find_line(q, session, offset, &line, found, err))
		return err_failed(err->status);
	if (!*found)
		return STATUS_OK;
	if (q->transcript.row != session) {
		q->transcript.row = 0;
		arena_release(&q->mem);
		if (session_get(q->store, session, &q->mem, &q->transcript, err))
			return err_failed(err->status);
	}
	q->lines.store = q->store;
	q->from = lines_set_of(&q->lines, &q->transcript);
	if (lines_get(q->from, &line, &q->record, err)) {
		q->from = NULL;
		return err_failed(err->status);
	}
	q->session = session;
	q->offset = offset;
	return STATUS_OK;
}

const struct record_block *sql_block(struct sql *q, int64_t index)
{
	if (q->has_block && (int64_t)q->block.index > index)
		q->next = (struct block_cursor){ 0 };
	else if (q->has_block && (int64_t)q->block.index == index)
		return &q->block;
	while ((q->has_block = record_block(&q->from->reader, &q->record, &q->next, &q->block)))
		if ((int64_t)q->block.index >= index)
			return (int64_t)q->block.index == index ? &q->block : NULL;
	q->next = (struct block_cursor){ 0 };
	return NULL;
}

/* What is said in the line, or thought: its blocks' texts, or what it says without a message. Each
 * begins on a line of its own. */
static void add_texts(struct sql *q, bool thinking, struct buf *out)
{
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(&q->from->reader, &q->record, &at, &b))
		if ((b.kind == BLOCK_THINKING) == thinking)
			block_text(&q->from->reader, &b, out);
	if (at.index == 0 && !thinking)
		record_text(&q->from->reader, &q->record, out);
}

bool sql_text(struct sql *q, int64_t what, struct str *out)
{
	buf_clear(&q->text);
	if (what < 0) {
		add_texts(q, what == TEXT_THINKING, &q->text);
	} else {
		const struct record_block *b = sql_block(q, what);

		if (!b)
			return false;
		block_text(&q->from->reader, b, &q->text);
	}
	*out = buf_as_str(&q->text);
	return out->n > 0;
}

enum status sql_message_text(struct sql *q, int64_t session, int64_t first, struct str *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	buf_clear(&q->text);
	*out = (struct str){ 0 };
	if (stmt_use(q->store, &sql_statements, SQL_MESSAGE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, first);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		bool found;

		if (sql_line(q, session, col_int(&st, 0), &found, err))
			return err_failed(err->status);
		if (found)
			add_texts(q, false, &q->text);
	}
	if (q->text.n)
		*out = buf_as_str(&q->text);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* In one line; *out is left alone when it is not there. */
static enum status find_call(struct sql *q, int64_t session, int64_t offset, struct str call, enum block_kind kind,
			     const struct record_block **out, struct err *err)
{
	bool found;

	if (sql_line(q, session, offset, &found, err))
		return err_failed(err->status);
	for (int64_t at = 0; found && !*out && at <= (int64_t)LIMIT_LINE_BLOCKS; at++) {
		const struct record_block *b = sql_block(q, at);

		if (!b)
			break;
		if (b->kind == kind && str_eq(b->tool, call))
			*out = b;
	}
	return STATUS_OK;
}

enum status sql_call(struct sql *q, int64_t session, struct str call, enum block_kind kind, int64_t behind,
		     const struct record_block **out, struct err *err)
{
	enum { MOST = 8 }; /* lines with it: the call, its result, copies of both */
	struct id_match lines[MOST];
	size_t count, first = 0;

	*out = NULL;
	if (call_search(q->store, call, session, lines, MOST, &count, err))
		return err_failed(err->status);
	while (first < count && lines[first].node.offset <= behind)
		first++;
	for (size_t i = 0; i < count && !*out; i++)
		if (find_call(q, session, lines[(first + i) % count].node.offset, call, kind, out, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Trees ------------------------------------------------------------------------ */

static bool has_transcript(const struct grove *g, int64_t session)
{
	for (uint32_t s = 0; s < g->forest.source_count; s++)
		if (g->forest.sources[s].session.row == session)
			return true;
	return false;
}

enum status sql_tree(struct sql *q, int64_t session, int64_t offset, struct uuid *out, bool *found, struct err *err)
{
	uint32_t source, line, tree = FOREST_NONE;

	if (!q->has_grove || !has_transcript(&q->grove, session)) {
		q->has_grove = false;
		grove_release(&q->grove);
		if (grove_load(q->store, session, &q->grove, err))
			return err_failed(err->status);
		q->has_grove = true;
	}
	if (forest_find_line(&q->grove.forest, session, offset, &source, &line))
		tree = grove_tree_of_line(&q->grove, source, line);
	*found = tree != FOREST_NONE;
	if (*found)
		*out = q->grove.trees[tree].id;
	return STATUS_OK;
}
