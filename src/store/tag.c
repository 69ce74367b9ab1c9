/*
 * Which tags there are, and how often they were given.
 *
 * The client has tags, too, one for a session, and notes them in its files. To whoever looks for a tag both are the
 * same, so both are counted; which of them is written down where matters only to who takes one away.
 */
#include "store/tag.h"

#include "store/db.h"

enum { TAG_OURS, TAG_CLIENTS, TAG_SESSIONS, TAG_STATEMENTS };

static const char *const sql[TAG_STATEMENTS] = {
	/* As it was last written. */
	[TAG_OURS] = "SELECT name, count(*), max(updated_at) FROM annotation WHERE kind = 'tag'"
		     " GROUP BY name COLLATE NOCASE ORDER BY name COLLATE NOCASE",
	[TAG_CLIENTS] = "SELECT tag, count(DISTINCT session_id), 0 FROM mirror_session"
			" WHERE tag <> '' AND old = 0 AND agent IS NULL"
			" GROUP BY tag COLLATE NOCASE ORDER BY tag COLLATE NOCASE",
	[TAG_SESSIONS] = "SELECT id, session_id, tag FROM mirror_session WHERE tag <> '' AND old = 0 AND agent IS NULL"
			 " AND tag COLLATE NOCASE BETWEEN ?1 AND ?2",
};

const struct db_set tag_statements = { DB_TAG, sql, TAG_STATEMENTS };

enum status tag_sessions(struct store *s, struct str name, tag_session_fn *fn, void *ctx, struct err *err)
{
	struct buf to CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	enum step step;
	STMT st = { 0 };

	if (stmt_use(s, &tag_statements, TAG_SESSIONS, &st, err))
		return err_failed(err->status);
	stmt_text_range(&st, 1, name, &to);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 1);

		if (fn(ctx, col_int(&st, 0), &id, col_bytes(&st, 2), err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* One row of either list of tags, in hand. */
struct tag_row {
	struct stmt st;
	bool more;
};

static void tag_row_done(struct tag_row *r)
{
	stmt_done(&r->st);
}

static enum status next_tag(struct tag_row *r, struct err *err)
{
	enum step step = stmt_step(&r->st, err);

	r->more = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static int compare_tags(const struct tag_row *a, const struct tag_row *b)
{
	struct str x, y;
	int order;

	if (!a->more || !b->more)
		return a->more ? -1 : 1;
	x = col_bytes(&a->st, 0);
	y = col_bytes(&b->st, 0);
	order = sqlite3_strnicmp(x.p, y.p, (int)size_min(x.n, y.n));
	return order ? order : x.n < y.n ? -1 : x.n > y.n;
}

/* Both lists are in the order of names; of a tag in both ours is how it is written. */
static enum status merge_tags(struct tag_row *ours, struct tag_row *clients, tag_fn *fn, void *ctx,
			      struct err *err)
{
	while (ours->more || clients->more) {
		int order = compare_tags(ours, clients);
		const struct tag_row *first = order <= 0 ? ours : clients;
		struct tag_use t = { col_bytes(&first->st, 0), col_int(&first->st, 1),
				     col_int(&first->st, 2) };

		if (order == 0)
			t.count += col_int(&clients->st, 1);
		if (fn(ctx, &t, err) || (order <= 0 && next_tag(ours, err)) ||
		    (order >= 0 && next_tag(clients, err)))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status tag_each(struct store *s, tag_fn *fn, void *ctx, struct err *err)
{
	struct tag_row ours CLEANUP(tag_row_done) = { 0 };
	struct tag_row clients CLEANUP(tag_row_done) = { 0 };
	bool has;

	if (store_has(s, STORE_TREES, &has, err) ||
	    (has && (stmt_use(s, &tag_statements, TAG_OURS, &ours.st, err) || next_tag(&ours, err))) ||
	    stmt_use(s, &tag_statements, TAG_CLIENTS, &clients.st, err) || next_tag(&clients, err))
		return err_failed(err->status);
	return merge_tags(&ours, &clients, fn, ctx, err);
}
