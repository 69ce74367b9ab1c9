/*
 * Rows of claim and lifecycle, each by itself: read, written, removed. What follows from one for another,
 * along the path of a node, is tree_life.c's.
 *
 * The standing claim of a node is the absence of a row in lifecycle. So a node that was let go has one as
 * long as it exists, also while somebody claims it or something below keeps it ('held'): when that ends, it
 * goes.
 */
#include "store/life_row.h"

#include "base/utf8.h"
#include "store/db.h"
#include "store/tombstone.h"

#include <stdio.h>
#include <string.h>

const char *const life_state_names[] = { "active", "scheduled", "archived", "purged", NULL };

static const char *const row_states[] = { "", "held", "scheduled", "archived", "purged" };
static const char *const subjects[] = { [SUBJECT_TREE] = "tree", [SUBJECT_NODE] = "node" };

enum {
	LIFE_ROW,
	LIFE_PUT,
	LIFE_REMOVE,
	LIFE_DELETED,
	CLAIM_EACH,
	CLAIM_TOTAL,
	CLAIM_COUNT,
	CLAIM_ADD,
	CLAIM_SET,
	CLAIM_DROP,
	CLAIM_FORGET,
	CLAIM_OWNERS,
	CLAIM_IS_WRITTEN,
	CLAIM_MIRROR_GET,
	CLAIM_MIRROR_PUT,
	CLAIM_MIRRORED,
	LIFE_MIRRORED,
	LIFE_STATEMENTS
};

#define MADE_TREE(of) \
	"(SELECT 1 FROM tree t WHERE t.tree_id = " of ".subject_id AND t.owner <> '" CLAIM_MIRROR "')"

static const char *const sql[LIFE_STATEMENTS] = {
	[LIFE_ROW] = "SELECT " ROW_COLUMNS("l") " FROM lifecycle l WHERE l.subject_id = ?1",
	[LIFE_PUT] = "INSERT INTO lifecycle(subject_id, subject, state, ephemeral, parent, held_by, since_at,"
		     " due_at, rev)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
		     " ON CONFLICT(subject_id) DO UPDATE SET state = ?3, ephemeral = ?4, parent = ?5, "
		     "held_by = ?6,"
		     " since_at = ?7, due_at = ?8, rev = ?9",
	[LIFE_REMOVE] = "DELETE FROM lifecycle WHERE subject_id = ?1",
	[LIFE_DELETED] = "INSERT INTO deleted_row(table_name, key, at, rev) VALUES (?1, ?2, ?3, ?4)"
			 " ON CONFLICT(table_name, key) DO UPDATE SET at = excluded.at, rev = excluded.rev",
	[CLAIM_EACH] = "SELECT owner, count, claimed_at FROM claim WHERE subject_id = ?1 AND count > 0 ORDER "
		       "BY owner",
	[CLAIM_TOTAL] = "SELECT coalesce(sum(count), 0) FROM claim WHERE subject_id = ?1",
	[CLAIM_COUNT] = "SELECT count FROM claim WHERE subject_id = ?1 AND owner = ?2",
	[CLAIM_ADD] = "INSERT INTO claim(subject_id, subject, owner, count, tree, claimed_at, rev)"
		      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
		      " ON CONFLICT(subject_id, owner) DO UPDATE SET count = count + ?4, rev = ?7,"
		      " claimed_at = iif(count = 0, ?6, claimed_at)",
	[CLAIM_SET] = "UPDATE claim SET count = ?3, rev = ?4 WHERE subject_id = ?1 AND owner = ?2",
	[CLAIM_DROP] = "UPDATE claim SET count = 0, rev = ?2 WHERE subject_id = ?1 AND count > 0",
	[CLAIM_FORGET] = "DELETE FROM claim WHERE subject_id = ?1",
	[CLAIM_OWNERS] = "SELECT owner FROM claim WHERE subject_id = ?1",
	[CLAIM_IS_WRITTEN] = "SELECT 1 FROM claim WHERE subject_id = ?1 UNION ALL SELECT 1 FROM lifecycle "
			     "WHERE subject_id = ?1"
			     " LIMIT 1",
	[CLAIM_MIRROR_GET] = "SELECT count FROM claim WHERE subject_id = ?1 AND owner = '" CLAIM_MIRROR "'",
	[CLAIM_MIRROR_PUT] =
		"INSERT INTO claim(subject_id, subject, owner, count, claimed_at, rev)"
		" VALUES (?1, 'tree', '" CLAIM_MIRROR "', ?2, ?3, ?4)"
		" ON CONFLICT(subject_id, owner) DO UPDATE SET count = ?2, claimed_at = ?3, rev = ?4",
	[CLAIM_MIRRORED] =
		"SELECT DISTINCT subject_id FROM claim WHERE subject = 'node' AND tree IS NULL AND count > 0",
	[LIFE_MIRRORED] = "SELECT c.subject_id, c.subject = 'node' FROM claim c WHERE c.tree IS NULL AND c.count > 0"
			  " AND NOT EXISTS " MADE_TREE("c") " UNION SELECT l.subject_id, 0 FROM lifecycle l"
			  " WHERE l.state IN ('scheduled', 'archived') AND l.subject = 'tree'"
			  " AND NOT EXISTS " MADE_TREE("l"),
};

const struct db_set lifecycle_statements = { DB_LIFECYCLE, sql, LIFE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &lifecycle_statements, index, st, err);
}

/* ---- Rows ------------------------------------------------------------------- */

struct life_row row_read(const struct stmt *st, int at)
{
	return (struct life_row){
		.state = (enum row_state)col_int(st, at),
		.ephemeral = col_int(st, at + 1) != 0,
		.parent = col_int(st, at + 2),
		.held_by = col_int(st, at + 3),
		.since_at = col_int(st, at + 4),
		.due_at = col_int(st, at + 5),
	};
}

struct life life_of_row(const struct life_row *r)
{
	return (struct life){
		.state = r->state < ROW_SCHEDULED ? LIFE_ACTIVE : (enum life_state)(r->state - ROW_HELD),
		.let_go = r->state != ROW_NONE,
		.ephemeral = r->ephemeral,
		.since_at = r->since_at,
		.due_at = r->state == ROW_PURGED ? 0 : r->due_at,
	};
}

enum status row_get(struct store *s, const struct uuid *id, struct life_row *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, LIFE_ROW, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*out = found ? row_read(&st, 0) : (struct life_row){ .state = ROW_NONE };
	return STATUS_OK;
}

static enum status row_remove(struct store *s, const struct uuid *id, struct err *err)
{
	STMT st = { 0 };

	if (use(s, LIFE_REMOVE, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	if (!sqlite3_changes64(s->db))
		return STATUS_OK;
	return life_deleted_row(s, "lifecycle", str_from((const char *)id->b, UUID_BYTES), err);
}

enum status row_put(struct store *s, const struct subject *what, const struct life_row *r, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (r->state == ROW_NONE)
		return row_remove(s, &what->id, err);
	if (db_rev(s, &rev, err) || use(s, LIFE_PUT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &what->id);
	stmt_text(&st, 2, str_of(subjects[what->kind]));
	stmt_text(&st, 3, str_of(row_states[r->state]));
	stmt_int(&st, 4, r->ephemeral);
	stmt_int_or_null(&st, 5, r->parent, !r->parent);
	stmt_int_or_null(&st, 6, r->held_by, !r->held_by);
	stmt_int(&st, 7, r->since_at);
	stmt_int_or_null(&st, 8, r->due_at, !r->due_at);
	stmt_int(&st, 9, rev);
	return stmt_run(&st, err);
}

/* When a state ends that begins now; 0 = it does not end by itself. */
static int64_t due_after(int64_t now, enum row_state state, const struct life_windows *w)
{
	return state == ROW_SCHEDULED  ? now + w->scheduled_ms
	       : state == ROW_ARCHIVED ? now + w->archived_ms
				       : 0;
}

enum status row_enter(struct store *s, const struct subject *what, struct life_row *r, enum row_state state,
		      const struct life_windows *windows, struct err *err)
{
	r->state = state;
	r->since_at = store_now(s);
	r->due_at = due_after(r->since_at, state, windows);
	if (state != ROW_HELD)
		r->held_by = 0;
	if (state == ROW_PURGED)
		r->parent = 0;
	return row_put(s, what, r, err);
}

enum status life_get(struct store *s, const struct uuid *id, struct life *out, struct err *err)
{
	struct life_row r;

	if (row_get(s, id, &r, err))
		return err_failed(err->status);
	*out = life_of_row(&r);
	return STATUS_OK;
}

struct life life_within(const struct life *own, const struct life *tree)
{
	struct life l = *own;

	if (tree->state <= own->state)
		return l;
	l.state = tree->state;
	l.since_at = tree->since_at;
	l.due_at = tree->due_at;
	return l;
}

enum status life_put(struct store *s, const struct subject *what, enum life_state state,
		     const struct life_windows *windows, struct err *err)
{
	struct life_row r;

	if (row_get(s, &what->id, &r, err))
		return err_failed(err->status);
	if (state == LIFE_ACTIVE)
		return row_remove(s, &what->id, err);
	return row_enter(s, what, &r, (enum row_state)(state + ROW_HELD), windows, err);
}

enum status life_bury(struct store *s, const struct subject *what, struct err *err)
{
	return tombstone_add(s, what->kind == SUBJECT_TREE ? TOMBSTONE_TREE : TOMBSTONE_NODE, &what->id,
			     store_now(s), err);
}

enum status life_deleted_row(struct store *s, const char *table, struct str key, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, LIFE_DELETED, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, str_of(table));
	stmt_blob(&st, 2, key.p, key.n);
	stmt_int(&st, 3, store_now(s));
	stmt_int(&st, 4, rev);
	return stmt_run(&st, err);
}

/* ---- What is not there any more ---------------------------------------------- */

const char *subject_text(const struct subject *what, char out[SUBJECT_TEXT])
{
	char id[UUID_TEXT + 1];

	uuid_print(&what->id, id);
	snprintf(out, SUBJECT_TEXT, "%s %s", subjects[what->kind], id);
	return out;
}

/* To the minute: nobody plans by less. */
static const char *moment(int64_t ms, char out[TIME_TEXT + 1])
{
	enum { MINUTES = 16 };

	time_print(ms, out);
	out[10] = ' ';
	out[MINUTES] = 'Z';
	out[MINUTES + 1] = '\0';
	return out;
}

static enum status is_purged(const struct subject *what, const struct life *l, struct err *err)
{
	char text[SUBJECT_TEXT], at[TIME_TEXT + 1];

	return err_fail(err, STATUS_GONE, "%s was purged on %s; nothing of it is left",
			subject_text(what, text), moment(l->since_at, at));
}

enum status life_alive(const struct subject *what, const struct life *l, struct err *err)
{
	char text[SUBJECT_TEXT], at[TIME_TEXT + 1];
	const char *kind = subjects[what->kind];

	if (l->state == LIFE_PURGED)
		return is_purged(what, l, err);
	if (l->state != LIFE_ARCHIVED)
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE,
			"%s is archived and will be purged from %s on; 'arbor.%s_get_archived' reads it,"
			" 'arbor.%s_rescue' makes it active again",
			subject_text(what, text), moment(l->due_at, at), kind, kind);
}

enum status life_archived(const struct subject *what, const struct life *l, struct err *err)
{
	char text[SUBJECT_TEXT];

	if (l->state == LIFE_PURGED)
		return is_purged(what, l, err);
	if (l->state == LIFE_ARCHIVED)
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE, "%s is not archived; 'arbor.%s_get' reads it",
			subject_text(what, text), subjects[what->kind]);
}

/* ---- Claims ----------------------------------------------------------------- */

enum status claim_check_owner(struct str owner, struct err *err)
{
	if (!owner.n || owner.n > LIMIT_OWNER)
		return err_fail(err, STATUS_USAGE, "an owner has a name of 1 to %d bytes", LIMIT_OWNER);
	for (size_t at = 0; at < owner.n;) {
		int32_t c = utf8_next(owner, &at);

		if (c < ' ' || (c >= 0x7f && c < 0xa0))
			return err_fail(err, STATUS_USAGE,
					"the name of an owner is text without control characters");
	}
	if (str_eq(owner, STR(CLAIM_MIRROR)) || str_eq(owner, STR(CLAIM_TREE)))
		return err_fail(
			err, STATUS_USAGE,
			"'%.*s' is the name of a standing claim; 'arbor.node_delete' lets go of a node,"
			" 'arbor.tree_purge' of a tree",
			STR_ARG(owner));
	return STATUS_OK;
}

enum status claim_each(struct store *s, const struct uuid *id, claim_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, CLAIM_EACH, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct claim c = { col_bytes(&st, 0), col_int(&st, 1), col_int(&st, 2) };

		if (fn(ctx, &c, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status claim_total(struct store *s, const struct uuid *id, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, CLAIM_TOTAL, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_row(&st, "a sum of claims", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

enum status claim_of(struct store *s, const struct uuid *id, struct str owner, int64_t *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, CLAIM_COUNT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_text(&st, 2, owner);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*out = found ? col_int(&st, 0) : 0;
	return STATUS_OK;
}

enum status claim_is_written(struct store *s, const struct uuid *id, bool *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, CLAIM_IS_WRITTEN, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	return stmt_found(&st, out, err);
}

enum status claim_mirror_get(struct store *s, const struct uuid *tree, bool *held, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, CLAIM_MIRROR_GET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, tree);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*held = !found || col_int(&st, 0) > 0;
	return STATUS_OK;
}

enum status claim_mirror_put(struct store *s, const struct uuid *tree, bool held, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, CLAIM_MIRROR_PUT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, tree);
	stmt_int(&st, 2, held);
	stmt_int(&st, 3, store_now(s));
	stmt_int(&st, 4, rev);
	return stmt_run(&st, err);
}

enum status life_each_mirrored(struct store *s, life_subject_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, LIFE_MIRRORED, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct subject what = { col_int(&st, 1) ? SUBJECT_NODE : SUBJECT_TREE, col_uuid(&st, 0) };

		if (fn(ctx, &what, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status claim_each_mirrored(struct store *s, claimed_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, CLAIM_MIRRORED, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 0);

		if (fn(ctx, &id, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status check_count(int64_t count, struct err *err)
{
	if (count >= 1 && count <= LIMIT_CLAIMS)
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE, "a count of claims is from 1 to %" PRId64, LIMIT_CLAIMS);
}

enum status claim_add(struct store *s, const struct subject *what, int64_t tree, struct str owner,
		      int64_t count, int64_t *now, struct err *err)
{
	char text[SUBJECT_TEXT];
	int64_t rev, had;
	STMT st = { 0 };

	if (check_count(count, err) || claim_of(s, &what->id, owner, &had, err))
		return err_failed(err->status);
	if (had + count > LIMIT_CLAIMS)
		return err_fail(err, STATUS_LIMIT, "%s: an owner has no more than %" PRId64 " claims on it",
				subject_text(what, text), LIMIT_CLAIMS);
	if (db_rev(s, &rev, err) || use(s, CLAIM_ADD, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &what->id);
	stmt_text(&st, 2, str_of(subjects[what->kind]));
	stmt_text(&st, 3, owner);
	stmt_int(&st, 4, count);
	stmt_int_or_null(&st, 5, tree, !tree);
	stmt_int(&st, 6, store_now(s));
	stmt_int(&st, 7, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*now = had + count;
	return STATUS_OK;
}

enum status claim_remove(struct store *s, const struct subject *what, struct str owner, int64_t count,
			 int64_t *now, struct err *err)
{
	char text[SUBJECT_TEXT];
	int64_t rev, had;
	STMT st = { 0 };

	if (check_count(count, err) || claim_of(s, &what->id, owner, &had, err))
		return err_failed(err->status);
	if (count > had)
		return err_fail(err, STATUS_USAGE,
				"'%.*s' has %" PRId64 " claim%s on %s, and cannot release %" PRId64,
				STR_ARG(owner), had, had == 1 ? "" : "s", subject_text(what, text), count);
	if (db_rev(s, &rev, err) || use(s, CLAIM_SET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &what->id);
	stmt_text(&st, 2, owner);
	stmt_int(&st, 3, had - count);
	stmt_int(&st, 4, rev);
	if (stmt_run_one(&st, "a claim", err))
		return err_failed(err->status);
	*now = had - count;
	return STATUS_OK;
}

enum status claim_drop(struct store *s, const struct uuid *id, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, CLAIM_DROP, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_int(&st, 2, rev);
	return stmt_run(&st, err);
}

/* A claim has no id of its own: its key is the subject's, and the owner behind it. */
static enum status note_forgotten(struct store *s, const struct uuid *id, struct str owner, struct err *err)
{
	char key[UUID_BYTES + LIMIT_OWNER];
	size_t n = size_min(owner.n, LIMIT_OWNER);

	memcpy(key, id->b, UUID_BYTES);
	if (n)
		memcpy(key + UUID_BYTES, owner.p, n);
	return life_deleted_row(s, "claim", str_from(key, UUID_BYTES + n), err);
}

enum status claim_forget(struct store *s, const struct uuid *id, struct err *err)
{
	bool any = false;
	enum step step;
	STMT owners = { 0 };
	STMT st = { 0 };

	if (use(s, CLAIM_OWNERS, &owners, err))
		return err_failed(err->status);
	stmt_uuid(&owners, 1, id);
	for (; (step = stmt_step(&owners, err)) == STEP_ROW; any = true)
		if (note_forgotten(s, id, col_bytes(&owners, 0), err))
			return err_failed(err->status);
	if (step == STEP_FAILED || !any)
		return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
	if (use(s, CLAIM_FORGET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	return stmt_run(&st, err);
}

static enum status add_owner(void *ctx, const struct claim *c, struct err *err)
{
	struct buf *list = ctx;

	(void)err;
	buf_printf(list, "%s'%.*s' (%" PRId64 ")", list->n ? ", " : "", STR_ARG(c->owner), c->count);
	return STATUS_OK;
}

enum status claim_none(struct store *s, const struct subject *what, struct err *err)
{
	struct buf list CLEANUP(buf_release) = BUF_INIT(KIB);
	char text[SUBJECT_TEXT];

	if (claim_each(s, &what->id, add_owner, &list, err))
		return err_failed(err->status);
	if (!list.n)
		return STATUS_OK;
	return err_fail(err, STATUS_CONFLICT, "%s is claimed by %s%s", subject_text(what, text), list.p,
			list.failed ? " and others" : "");
}

enum status claim_refuse(struct store *s, const struct subject *what, struct err *err)
{
	enum status status = claim_none(s, what, err);
	size_t n = strlen(err->text);

	if (status == STATUS_CONFLICT)
		snprintf(err->text + n, sizeof err->text - n, "; release it, or use 'force'");
	return status;
}
