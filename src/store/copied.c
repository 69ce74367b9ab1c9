/*
 * Copies, noted when keys are entered: that is when it shows that a line is there already.
 *
 * Whoever copies a conversation copies the lines from its beginning, so their documents mostly follow each other,
 * and what is kept are runs of them: a search loads a few rows. Keys come in no order, so runs grow at either end.
 *
 * Which is the first depends on the numbers that sessions have in this store. Nobody sees them: of a hit it is said
 * in which sessions it stands, and which of them is shown is decided by what they say (query/search.c).
 */
#include "store/copied.h"

#include "store/db.h"
#include "store/keys.h"
#include "store/session.h"

enum {
	COPIED_LINES,
	COPIED_BELOW,
	COPIED_ADD,
	COPIED_GROW,
	COPIED_AT,
	COPIED_DROP,
	COPIED_FORGET,
	COPIED_LIST,
	COPIED_BEFORE,
	COPIED_STATEMENTS
};

static const char *const sql[COPIED_STATEMENTS] = {
	[COPIED_LINES] =
		("SELECT k.session, e.content, e.doc, e.docs FROM node_key k JOIN mirror_session m ON m.id = k.session"
		 " AND m.old = 0 JOIN entry e ON e.session = k.session AND e.offset = k.offset"
		 " WHERE k.key = ?1 AND k.part = -1 ORDER BY k.session, k.offset"),
	[COPIED_BELOW] = "SELECT doc, docs, session FROM copied WHERE doc <= ?1 ORDER BY doc DESC LIMIT 1",
	[COPIED_ADD] = "INSERT INTO copied(doc, docs, session) VALUES (?1, ?2, ?3)",
	[COPIED_GROW] = "UPDATE copied SET docs = docs + ?2 WHERE doc = ?1",
	[COPIED_AT] = "SELECT docs FROM copied WHERE doc = ?1 AND session = ?2",
	[COPIED_DROP] = "DELETE FROM copied WHERE doc = ?1",
	[COPIED_FORGET] =
		("DELETE FROM copied WHERE session = ?1 OR session IN (SELECT other FROM kin WHERE session = ?1)"),
	[COPIED_LIST] = "SELECT doc, docs FROM copied ORDER BY doc",
	[COPIED_BEFORE] =
		("SELECT k.session, k.offset, e.at FROM entry mine JOIN node_key k ON k.key = ?1 AND k.part = -1"
		 " AND (k.session, k.offset) < (?2, ?3) JOIN mirror_session m ON m.id = k.session AND m.old = 0"
		 " JOIN entry e ON e.session = k.session AND e.offset = k.offset AND e.content IS mine.content"
		 " WHERE mine.session = ?2 AND mine.offset = ?3"),
};

const struct db_set copied_statements = { DB_COPIED, sql, COPIED_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &copied_statements, index, st, err);
}

/* ---- Runs -------------------------------------------------------------------- */

struct run {
	int64_t doc, docs, session;
};

static enum status change(struct store *s, int index, const struct run *r, struct err *err)
{
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, r->doc);
	if (index != COPIED_DROP)
		stmt_int(&st, 2, r->docs);
	if (index == COPIED_ADD)
		stmt_int(&st, 3, r->session);
	return stmt_run(&st, err);
}

/* The run that begins where this one ends is taken up by it. */
static enum status join_next(struct store *s, struct run *r, struct err *err)
{
	struct run next = { r->doc + r->docs, 0, r->session };
	enum step step;
	STMT st = { 0 };

	if (use(s, COPIED_AT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, next.doc);
	stmt_int(&st, 2, next.session);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
	next.docs = col_int(&st, 0);
	stmt_done(&st);
	r->docs += next.docs;
	return change(s, COPIED_DROP, &next, err);
}

static enum status add_run(struct store *s, struct run r, struct err *err)
{
	struct run below = { 0 };
	enum step step;
	STMT st = { 0 };

	if (use(s, COPIED_BELOW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, r.doc);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_ROW)
		below = (struct run){ col_int(&st, 0), col_int(&st, 1), col_int(&st, 2) };
	stmt_done(&st);
	if (r.doc < below.doc + below.docs)
		return STATUS_OK; /* it is noted */
	if (join_next(s, &r, err))
		return err_failed(err->status);
	if (below.docs && below.session == r.session && r.doc == below.doc + below.docs)
		return change(s, COPIED_GROW, &(struct run){ below.doc, r.docs, 0 }, err);
	return change(s, COPIED_ADD, &r, err);
}

/* ---- Lines ------------------------------------------------------------------- */

enum { MOST_CONTENTS = 64 };

/* What lines with one uuid have said so far. */
struct contents {
	int64_t list[MOST_CONTENTS];
	size_t count;
};

/* More than there is room for are no copies: they stay. */
static bool is_said(struct contents *c, int64_t content)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i] == content)
			return true;
	if (c->count < MOST_CONTENTS)
		c->list[c->count++] = content;
	return false;
}

enum status copied_note(struct store *s, int64_t key, struct err *err)
{
	struct contents contents = { .count = 0 };
	enum step step;
	STMT st = { 0 };

	if (use(s, COPIED_LINES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct run r = { col_int(&st, 2), col_int(&st, 3), col_int(&st, 0) };

		if (is_said(&contents, col_int(&st, 1)) && !col_null(&st, 2) && add_run(s, r, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status copied_forget(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &copied_statements, COPIED_FORGET, session, err);
}

/* ---- Asking ------------------------------------------------------------------ */

enum status copied_load(struct store *s, struct arena *mem, struct doc_range **out, size_t *count, struct err *err)
{
	STMT st = { 0 };

	return use(s, COPIED_LIST, &st, err) ? err_failed(err->status) : doc_ranges(&st, mem, out, count, err);
}

enum status copied_before(struct store *s, const struct doc *doc, copied_fn *fn, void *ctx, bool *to_the_end,
			  struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	enum step step = STEP_DONE;
	struct node_name name;
	struct node line;
	struct uuid id;
	bool go_on = true;
	STMT st = { 0 };

	if (entry_get(s, doc->session, doc->offset, &mem, &line, &name, err) || use(s, COPIED_BEFORE, &st, err))
		return err_failed(err->status);
	id = node_id(&name, PART_LINE);
	stmt_int(&st, 1, key_of(&id));
	stmt_int(&st, 2, doc->session);
	stmt_int(&st, 3, doc->offset);
	while (go_on && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct doc before = { col_int(&st, 0), col_int(&st, 1), col_int(&st, 2), doc->block };

		if (fn(ctx, &before, &go_on, err))
			return err_failed(err->status);
	}
	*to_the_end = go_on;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}
