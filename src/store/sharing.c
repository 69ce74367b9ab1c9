/*
 * Of those that have a line in common only some pairs are noted (kin), enough to get from each to every other.
 * So whoever wants all that share lines with one follows these, and looks which of those further away have one of
 * its lines themselves. Forks have its first line: one look finds all of them, however many. Only where somebody
 * is connected through another alone are all lines looked at.
 */
#include "store/sharing.h"

#include "store/db.h"
#include "store/keys.h"
#include "store/session.h"

#include <stdlib.h>

enum { SHARING_FAMILY, SHARING_LINES, SHARING_HOLDERS, SHARING_STATEMENTS };

enum {
	MOST_FAMILY = 10000, /* connected by whatever */
	MOST_LINES = 20000,  /* that are looked at: some tenths of a second */
};

static const char *const sql[SHARING_STATEMENTS] = {
	[SHARING_FAMILY] = ("WITH RECURSIVE family(id) AS (VALUES(?1) UNION SELECT kin.other FROM family"
			    " JOIN kin ON kin.session = family.id LIMIT ?2)"
			    " SELECT id, EXISTS (SELECT 1 FROM kin WHERE session = ?1 AND other = family.id)"
			    " FROM family WHERE id <> ?1 ORDER BY id"),
	[SHARING_LINES] = "SELECT uuid, line_id, message FROM entry WHERE session = ?1 ORDER BY offset LIMIT ?2",
	[SHARING_HOLDERS] = "SELECT DISTINCT session FROM node_key WHERE key = ?1 AND part = ?2",
};

const struct db_set sharing_statements = { DB_SHARING, sql, SHARING_STATEMENTS };

struct relative {
	int64_t row;
	bool shares;
};

struct family {
	struct store *s;
	int64_t session;
	struct relative *list; /* by row */
	size_t count, cap, missing;
};

static void family_release(struct family *f)
{
	mem_free(f->list);
}

static enum status load_family(struct family *f, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (stmt_use(f->s, &sharing_statements, SHARING_FAMILY, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, f->session);
	stmt_int(&st, 2, MOST_FAMILY);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (f->count == f->cap) {
			f->cap = f->cap ? 2 * f->cap : 16;
			f->list = mem_resize(f->list, f->cap * sizeof *f->list);
		}
		f->list[f->count] = (struct relative){ .row = col_int(&st, 0), .shares = col_int(&st, 1) != 0 };
		f->missing += !f->list[f->count++].shares;
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static int by_row(const void *a, const void *b)
{
	const struct relative *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

static enum status mark_holders(struct family *f, int64_t key, int part, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (stmt_use(f->s, &sharing_statements, SHARING_HOLDERS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key);
	stmt_int(&st, 2, part);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct relative wanted = { .row = col_int(&st, 0) }, *found;

		found = f->count ? bsearch(&wanted, f->list, f->count, sizeof wanted, by_row) : NULL;
		if (!found || found->shares)
			continue;
		found->shares = true;
		f->missing--;
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* Until nobody is left that could have one. */
static enum status look_at_lines(struct family *f, struct err *err)
{
	STMT st = { 0 };
	enum step step = STEP_DONE;

	if (stmt_use(f->s, &sharing_statements, SHARING_LINES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, f->session);
	stmt_int(&st, 2, MOST_LINES);
	while (f->missing && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct node_name name;
		struct uuid id;

		node_name_of(&st, 0, 1, &name);
		id = node_id(&name, PART_LINE);
		if (mark_holders(f, key_of(&id), PART_LINE, err) ||
		    (!col_null(&st, 2) && mark_holders(f, col_int(&st, 2), PART_API, err)))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status sharing_list(struct store *s, int64_t session, struct arena *mem, int64_t **out, size_t *count,
			 struct err *err)
{
	struct family f CLEANUP(family_release) = { .s = s, .session = session };

	if (load_family(&f, err) || (f.missing && look_at_lines(&f, err)))
		return err_failed(err->status);
	*out = arena_alloc(mem, (f.count + 1) * sizeof **out);
	*count = 0;
	for (size_t i = 0; i < f.count; i++)
		if (f.list[i].shares)
			(*out)[(*count)++] = f.list[i].row;
	return STATUS_OK;
}
