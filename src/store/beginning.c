/*
 * A row for every sixteenth line with a uuid, when that is seen: so a file gives the same rows however it was
 * cut into pieces when it was read. What stands for all lines so far is kept with the session.
 *
 * What a progress line carries of a sub-agent follows what the same file told of it before: behind such a
 * line nothing is the same as elsewhere.
 */
#include "store/beginning.h"

#include "base/hash.h"
#include "store/db.h"
#include "store/mirror.h"

#include <string.h>

enum { EVERY = 16 };

enum {
	BEGINNING_STATE,
	BEGINNING_NOTE,
	BEGINNING_ADD,
	BEGINNING_FORGET,
	BEGINNING_LIST,
	BEGINNING_STATEMENTS
};

static const char *const sql[BEGINNING_STATEMENTS] = {
	[BEGINNING_STATE] = "SELECT begun, begun_hash, noted FROM mirror_session WHERE id = ?1",
	[BEGINNING_NOTE] = "UPDATE mirror_session SET begun = ?2, begun_hash = ?3, noted = ?4 WHERE id = ?1",
	[BEGINNING_ADD] =
		"INSERT INTO beginning(session, lines, hash, offset, noted) VALUES (?1, ?2, ?3, ?4, ?5)",
	[BEGINNING_FORGET] = "DELETE FROM beginning WHERE session = ?1",
	[BEGINNING_LIST] =
		"SELECT lines, hash, offset, noted FROM beginning WHERE session = ?1 ORDER BY lines",
};

const struct db_set beginning_statements = { DB_BEGINNING, sql, BEGINNING_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &beginning_statements, index, st, err);
}

static enum status get_state(struct store *s, int64_t session, struct beginning *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, BEGINNING_STATE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	if (stmt_row(&st, "a session", err))
		return err_failed(err->status);
	*out = (struct beginning){ .lines = col_int(&st, 0),
				   .hash = (uint64_t)col_int(&st, 1),
				   .noted = col_int(&st, 2) };
	return STATUS_OK;
}

enum status beginning_start(struct beginning_writer *w, struct err *err)
{
	return get_state(w->s, w->session, &w->now, err);
}

static enum status add(struct beginning_writer *w, int64_t offset, struct err *err)
{
	STMT st = { 0 };

	if (use(w->s, BEGINNING_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, w->now.lines);
	stmt_int(&st, 3, (int64_t)w->now.hash);
	stmt_int(&st, 4, offset);
	stmt_int(&st, 5, w->now.noted);
	return stmt_run(&st, err);
}

/* All that the chain of a transcript is made of, but for places. A copy that names itself as what it was
 * copied from says nothing by that. */
static uint64_t hash_of(const struct beginning_writer *w, const struct mirror_line *l)
{
	struct {
		uint64_t before, type, flags, has, content, message, tools;
		int64_t at;
		struct uuid key, parent, link;
	} all;

	memset(&all, 0, sizeof all);
	all.before = w->now.hash;
	all.type = l->type;
	all.flags = l->flags;
	all.has = (l->has_time ? 1u : 0u) | (l->has_message ? 2u : 0u) | (l->parent ? 4u : 0u) | (l->is_uuid ? 8u : 0u);
	all.content = l->content;
	all.message = l->has_message ? l->message : 0;
	all.tools = l->tool_count ? hash64(l->tools, l->tool_count * sizeof *l->tools) : 0;
	all.at = l->has_time ? l->at : 0;
	all.key = l->key;
	if (l->parent)
		all.parent = *l->parent;
	if (l->link && !uuid_eq(l->link, &l->key))
		all.link = *l->link;
	return hash64(&all, sizeof all);
}

enum status beginning_take(struct beginning_writer *w, const struct mirror_line *l, struct err *err)
{
	if (l->goes_on)
		w->now.noted = l->offset;
	if (l->agent.n) {
		struct {
			uint64_t before;
			struct uuid source;
		} own = { w->now.hash, *w->source };

		w->now.hash = hash64(&own, sizeof own);
		return STATUS_OK;
	}
	if (!l->uuid.p)
		return STATUS_OK;
	if (w->now.lines && w->now.lines % EVERY == 0 && add(w, l->offset, err))
		return err_failed(err->status);
	w->now.hash = hash_of(w, l);
	w->now.lines++;
	return STATUS_OK;
}

enum status beginning_end(struct beginning_writer *w, struct err *err)
{
	STMT st = { 0 };

	if (use(w->s, BEGINNING_NOTE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, w->now.lines);
	stmt_int(&st, 3, (int64_t)w->now.hash);
	stmt_int(&st, 4, w->now.noted);
	return stmt_run_one(&st, "a session", err);
}

enum status beginning_forget(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &beginning_statements, BEGINNING_FORGET, session, err);
}

enum status beginning_list(struct store *s, int64_t session, struct arena *mem, struct beginning **out,
			   size_t *count, int64_t *all, struct err *err)
{
	struct beginning state;
	enum step step;
	STMT st = { 0 };

	*count = 0;
	if (get_state(s, session, &state, err) || use(s, BEGINNING_LIST, &st, err))
		return err_failed(err->status);
	*all = state.lines;
	*out = arena_alloc(mem, ((size_t)state.lines / EVERY + 1) * sizeof **out);
	stmt_int(&st, 1, session);
	while ((step = stmt_step(&st, err)) == STEP_ROW && *count <= (size_t)state.lines / EVERY)
		(*out)[(*count)++] = (struct beginning){ .lines = col_int(&st, 0),
							 .hash = (uint64_t)col_int(&st, 1),
							 .offset = col_int(&st, 2),
							 .noted = col_int(&st, 3) };
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}
