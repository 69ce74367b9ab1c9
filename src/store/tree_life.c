/*
 * What follows from a claim, its release, or a command for a made tree or node and for what is above it.
 *
 * Of a node there is no row in lifecycle while it has its standing claim. One that was let go has a row: 'held'
 * while it stays all the same, because of a claim (held_by NULL) or of a child that stays (held_by), and
 * scheduled, archived, purged in turn when it does not. So three things can happen to a path:
 *
 *     a node begins to stay     what is above it and scheduled becomes held by it, up to the first that stays
 *                               anyway: tree_keep_above()
 *     a node ceases to stay     its parent, if it was held by this child, is held by the next one that stays, or
 *                               is scheduled, now, and so on upwards: settle()
 *     a window ends             gc.c
 *
 * held_by makes the second cheap: a parent is looked at only when the very child goes that it was held by, and
 * the search for another one begins behind that. A root is never let go; it goes with its tree.
 *
 * A tree that was let go is held while it, or a node in it, is claimed. Its nodes need no rows: they are as
 * far as their tree (life_within()).
 *
 * Commands for a node and all below it work through a list of these in transactions of a few milliseconds, children
 * before parents when they go and parents before children when they come back, so that after each of them no
 * node is further along than one below it. What somebody else does meanwhile is met as it is.
 */
#include "store/tree_life.h"

#include "store/life_row.h"
#include "store/tree_gone.h"
#include "store/tree_row.h"

#include <stdio.h>
#include <string.h>

enum {
	MEMBER_BY_ID,
	MEMBER_BY_ROW,
	MEMBER_STAYING,
	MEMBER_CHILDREN,
	MEMBER_IN_STATE,
	TREE_CLAIMED,
	TREE_ROW_LIFE,
	TREE_LIFE_STATEMENTS
};

#define MEMBER \
	"SELECT n.id, n.node_id, n.tree, coalesce(n.parent, 0), n.position, " ROW_COLUMNS("l") \
	" FROM node n LEFT JOIN lifecycle l ON l.subject_id = n.node_id"

static const char *const sql[TREE_LIFE_STATEMENTS] = {
	[MEMBER_BY_ID] = MEMBER " WHERE n.node_id = ?1",
	[MEMBER_BY_ROW] = MEMBER " WHERE n.id = ?1",
	[MEMBER_STAYING] = "SELECT n.id FROM node n LEFT JOIN lifecycle l ON l.subject_id = n.node_id"
			   " WHERE n.parent = ?1 AND n.position > ?2 AND n.position <= ?3"
			   " AND coalesce(l.state, 'held') = 'held' ORDER BY n.position LIMIT 1",
	[MEMBER_CHILDREN] = "SELECT id FROM node WHERE parent = ?1 ORDER BY position",
	[MEMBER_IN_STATE] = "SELECT EXISTS (SELECT 1 FROM lifecycle WHERE parent = ?1 AND state = ?2)",
	[TREE_CLAIMED] = "SELECT subject_id FROM claim WHERE tree = ?1 AND count > 0 LIMIT 1",
	[TREE_ROW_LIFE] = "SELECT t.tree_id, " ROW_COLUMNS("l") " FROM tree t LEFT JOIN lifecycle l"
			  " ON l.subject_id = t.tree_id WHERE t.id = ?1",
};

const struct db_set tree_life_statements = { DB_TREE_LIFE, sql, TREE_LIFE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &tree_life_statements, index, st, err);
}

/* ---- Nodes and trees with their rows ------------------------------------------ */

struct member {
	int64_t row, tree, parent, position;
	struct subject what;
	struct life_row life;
};

static enum status read_member(struct stmt *st, struct member *out, bool *found, struct err *err)
{
	if (stmt_found(st, found, err))
		return err_failed(err->status);
	if (!*found)
		return STATUS_OK;
	*out = (struct member){ .row = col_int(st, 0),
				.tree = col_int(st, 2),
				.parent = col_int(st, 3),
				.position = col_int(st, 4),
				.what.kind = SUBJECT_NODE,
				.life = row_read(st, 5) };
	out->what.id = col_uuid(st, 1);
	out->life.parent = out->parent;
	return STATUS_OK;
}

static enum status member_at(struct store *s, int64_t row, struct member *out, bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, MEMBER_BY_ROW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	return read_member(&st, out, found, err);
}

static enum status missing(struct store *s, struct err *err)
{
	return err_fail(err, STATUS_CORRUPT, "%s: a node is missing", store_path(s));
}

/* The same of a node that must be there. */
static enum status member_must(struct store *s, int64_t row, struct member *out, struct err *err)
{
	bool found;

	if (member_at(s, row, out, &found, err))
		return err_failed(err->status);
	return found ? STATUS_OK : missing(s, err);
}

static enum status member_by_id(struct store *s, const struct uuid *id, struct member *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, MEMBER_BY_ID, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (read_member(&st, out, &found, err))
		return err_failed(err->status);
	return found ? STATUS_OK : missing(s, err);
}

struct home {
	int64_t row;
	struct subject what;
	struct life_row life;
};

static enum status home_at(struct store *s, int64_t row, struct home *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TREE_ROW_LIFE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (stmt_row(&st, "a tree", err))
		return err_failed(err->status);
	*out = (struct home){ .row = row, .what.kind = SUBJECT_TREE, .life = row_read(&st, 1) };
	out->what.id = col_uuid(&st, 0);
	return STATUS_OK;
}

/* Whether a node can be claimed or changed: neither it nor its tree is archived. */
static enum status member_alive(const struct member *m, const struct home *tree, struct err *err)
{
	struct life own = life_of_row(&m->life), all = life_of_row(&tree->life), l = life_within(&own, &all);

	return life_alive(all.state > own.state ? &tree->what : &m->what, &l, err);
}

/* A node and its tree, by its id or another one it has. Purged ones are an error. */
static enum status member_find(struct store *s, const struct uuid *id, struct member *m, struct home *tree,
			       struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree_node n;

	if (tree_node_get(s, id, NODE_SKELETON, &mem, &n, err))
		return err_failed(err->status);
	if (!n.row)
		return life_alive(&(struct subject){ SUBJECT_NODE, n.id }, &n.life, err);
	if (member_must(s, n.row, m, err) || home_at(s, m->tree, tree, err))
		return err_failed(err->status);
	return tree->life.state == ROW_PURGED ? member_alive(m, tree, err) : STATUS_OK;
}

static enum status home_find(struct store *s, const struct uuid *id, struct home *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree t;

	if (tree_get(s, id, &mem, &t, err))
		return err_failed(err->status);
	if (!t.row || t.life.state == LIFE_PURGED)
		return life_alive(&(struct subject){ SUBJECT_TREE, t.id }, &t.life, err);
	return home_at(s, t.row, out, err);
}

/* ---- Staying and going -------------------------------------------------------- */

/* Held and purged have no window. */
static const struct life_windows no_windows = { 0 };

enum status tree_keep_above(struct store *s, int64_t row, struct err *err)
{
	struct member m, above;

	if (member_must(s, row, &m, err))
		return err_failed(err->status);
	for (; m.parent; m = above) {
		if (member_must(s, m.parent, &above, err))
			return err_failed(err->status);
		if (above.life.state < ROW_SCHEDULED)
			break;
		above.life.held_by = m.row;
		if (row_enter(s, &above.what, &above.life, ROW_HELD, &no_windows, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status find_staying(struct store *s, int64_t parent, int64_t behind, int64_t up_to, int64_t *out,
				struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, MEMBER_STAYING, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, parent);
	stmt_int(&st, 2, behind);
	stmt_int(&st, 3, up_to);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*out = found ? col_int(&st, 0) : 0;
	return STATUS_OK;
}

/* A child that stays; looks at those behind a position first. 0 = none does. */
static enum status staying_child(struct store *s, int64_t parent, int64_t behind, int64_t *out, struct err *err)
{
	if (find_staying(s, parent, behind, INT64_MAX, out, err))
		return err_failed(err->status);
	return *out || !behind ? STATUS_OK : find_staying(s, parent, 0, behind, out, err);
}

/* The parent of a node that does not stay any more, if that held it; 0 = there is nothing to do above. */
static enum status held_above(struct store *s, const struct member *gone, int64_t *out, struct err *err)
{
	struct member above;

	*out = 0;
	if (!gone->parent)
		return STATUS_OK;
	if (member_must(s, gone->parent, &above, err))
		return err_failed(err->status);
	if (above.life.state == ROW_HELD && above.life.held_by == gone->row)
		*out = above.row;
	return STATUS_OK;
}

/* A node that is held, after what held it may have gone: a claim, or the child at position `behind`. And what is
 * above it. */
static enum status settle(struct store *s, int64_t row, int64_t behind, const struct life_windows *windows,
			  struct err *err)
{
	while (row) {
		struct member m;
		int64_t claims, child = 0;

		if (member_must(s, row, &m, err) || claim_total(s, &m.what.id, &claims, err) ||
		    (!claims && staying_child(s, row, behind, &child, err)))
			return err_failed(err->status);
		if (claims || child) {
			m.life.held_by = child;
			return row_put(s, &m.what, &m.life, err);
		}
		if (row_enter(s, &m.what, &m.life, ROW_SCHEDULED, windows, err) || held_above(s, &m, &row, err))
			return err_failed(err->status);
		behind = m.position;
	}
	return STATUS_OK;
}

static enum status settle_above(struct store *s, const struct member *gone, const struct life_windows *windows,
				struct err *err)
{
	int64_t row;

	if (held_above(s, gone, &row, err))
		return err_failed(err->status);
	return settle(s, row, gone->position, windows, err);
}

/* A node of the tree that somebody claims. */
static enum status claimed_node(struct store *s, int64_t tree, struct subject *out, bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TREE_CLAIMED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, tree);
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found)
		*out = (struct subject){ SUBJECT_NODE, col_uuid(&st, 0) };
	return STATUS_OK;
}

/* A tree that is held, after a claim on it or on a node of it may have gone. */
static enum status settle_tree(struct store *s, int64_t row, const struct life_windows *windows, struct err *err)
{
	struct subject node;
	struct home t;
	int64_t claims;
	bool claimed;

	if (home_at(s, row, &t, err))
		return err_failed(err->status);
	if (t.life.state != ROW_HELD)
		return STATUS_OK;
	if (claim_total(s, &t.what.id, &claims, err) || claimed_node(s, row, &node, &claimed, err))
		return err_failed(err->status);
	return claims || claimed ? STATUS_OK : row_enter(s, &t.what, &t.life, ROW_SCHEDULED, windows, err);
}

/* ---- Claims ----------------------------------------------------------------- */

static enum status hold(struct store *s, const struct subject *what, struct life_row *life, struct err *err)
{
	if (life->state != ROW_SCHEDULED)
		return STATUS_OK;
	return row_enter(s, what, life, ROW_HELD, &no_windows, err);
}

enum status tree_claim(struct store *s, const struct uuid *id, struct str owner, int64_t count, int64_t *now,
		       struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;
	struct life l;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || home_find(s, id, &t, err))
		return err_failed(err->status);
	l = life_of_row(&t.life);
	if (life_alive(&t.what, &l, err) || claim_add(s, &t.what, 0, owner, count, now, err) ||
	    hold(s, &t.what, &t.life, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status tree_node_claim(struct store *s, const struct uuid *id, struct str owner, int64_t count, int64_t *now,
			    struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct member m;
	struct home t;
	bool was_going;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || member_find(s, id, &m, &t, err) ||
	    member_alive(&m, &t, err) || claim_add(s, &m.what, m.tree, owner, count, now, err))
		return err_failed(err->status);
	was_going = m.life.state == ROW_SCHEDULED;
	if (hold(s, &m.what, &m.life, err) || (was_going && tree_keep_above(s, m.row, err)) ||
	    hold(s, &t.what, &t.life, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* The last claim on a tree has gone. */
static enum status let_tree_go(struct store *s, struct home *t, const struct life_windows *windows, struct err *err)
{
	if (t->life.state == ROW_NONE && row_enter(s, &t->what, &t->life, ROW_HELD, windows, err))
		return err_failed(err->status);
	return settle_tree(s, t->row, windows, err);
}

enum status tree_release(struct store *s, const struct uuid *id, struct str owner, int64_t count,
			 const struct life_windows *windows, int64_t *now, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;
	int64_t left;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || home_find(s, id, &t, err) ||
	    claim_remove(s, &t.what, owner, count, now, err) || claim_total(s, &t.what.id, &left, err) ||
	    (!left && let_tree_go(s, &t, windows, err)))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status tree_node_release(struct store *s, const struct uuid *id, struct str owner, int64_t count,
			      const struct life_windows *windows, int64_t *now, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct member m;
	struct home t;
	int64_t left;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || member_find(s, id, &m, &t, err) ||
	    claim_remove(s, &m.what, owner, count, now, err) || claim_total(s, &m.what.id, &left, err))
		return err_failed(err->status);
	/* Held by a child it stays as it is. */
	if (!left && m.life.state == ROW_HELD && !m.life.held_by && settle(s, m.row, 0, windows, err))
		return err_failed(err->status);
	if (!left && settle_tree(s, m.tree, windows, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status tree_schedule(struct store *s, const struct uuid *id, struct str owner,
			  const struct life_windows *windows, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;
	struct life l;
	int64_t own;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || home_find(s, id, &t, err))
		return err_failed(err->status);
	l = life_of_row(&t.life);
	if (life_alive(&t.what, &l, err) || claim_of(s, &t.what.id, owner, &own, err) ||
	    (own && claim_remove(s, &t.what, owner, own, &own, err)) ||
	    claim_none(s, &t.what, err) || let_tree_go(s, &t, windows, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* ---- A node and all below it --------------------------------------------------- */

/* Rows, each behind its parent. */
struct family {
	int64_t *rows;
	size_t count, cap;
};

static void family_release(struct family *f)
{
	mem_free(f->rows);
}

static void family_add(struct family *f, int64_t row)
{
	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->rows = mem_resize(f->rows, f->cap * sizeof *f->rows);
	}
	f->rows[f->count++] = row;
}

static enum status add_children(struct store *s, struct family *f, int64_t parent, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, MEMBER_CHILDREN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, parent);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		family_add(f, col_int(&st, 0));
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* As it is now; the root has none. */
static enum status gather(struct store *s, const struct uuid *id, struct family *f, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	char text[SUBJECT_TEXT];
	struct member m;
	struct home t;

	if (read_begin(s, &snapshot, err) || member_find(s, id, &m, &t, err))
		return err_failed(err->status);
	if (!m.parent)
		return err_fail(err, STATUS_USAGE, "%s is the root of its tree and goes with it; 'arbor.tree_schedule' and"
						   " 'arbor.tree_rescue' are for trees",
				subject_text(&m.what, text));
	family_add(f, m.row);
	for (size_t i = 0; i < f->count; i++)
		if (add_children(s, f, f->rows[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* What is done with each of them. */
struct work {
	struct store *store;
	const struct life_windows *windows;
	int64_t first; /* row of the node that was named */
	enum row_state to;
	bool force;
	struct tree_change *out;
};

typedef enum status member_fn(struct work *w, struct member *m, struct err *err);

/* As many as fit into a transaction, from *at on; children first or parents first. */
static enum status work_some(struct work *w, const struct family *f, bool children_first, member_fn *fn, size_t *at,
			     struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (tree_begin(w->store, &txn, err))
		return err_failed(err->status);
	while (*at < f->count && !txn_is_long(w->store, LIMIT_TXN_NS, LIMIT_TXN_NS)) {
		struct member m;
		bool found;

		if (member_at(w->store, f->rows[children_first ? f->count - 1 - *at : *at], &m, &found, err) ||
		    (found && fn(w, &m, err)))
			return err_failed(err->status);
		++*at;
	}
	return txn_commit(&txn, err);
}

static enum status work_all(struct work *w, const struct family *f, bool children_first, member_fn *fn,
			    struct err *err)
{
	for (size_t at = 0; at < f->count;) {
		if (store_is_cancelled(w->store))
			return err_fail(err, STATUS_CANCELLED, "stopped after %zu of %zu nodes", at, f->count);
		if (work_some(w, f, children_first, fn, &at, err))
			return err_failed(err->status);
		txn_pause(w->store);
	}
	return STATUS_OK;
}

static enum status let_go(struct work *w, struct member *m, struct err *err)
{
	struct store *s = w->store;
	struct member after;

	if (m->life.state >= ROW_SCHEDULED)
		return STATUS_OK;
	if ((m->life.state == ROW_NONE && row_enter(s, &m->what, &m->life, ROW_HELD, &no_windows, err)) ||
	    settle(s, m->row, 0, w->windows, err) || member_must(s, m->row, &after, err))
		return err_failed(err->status);
	if (after.life.state == ROW_HELD)
		w->out->kept++;
	else
		w->out->changed++;
	return STATUS_OK;
}

enum status tree_node_delete(struct store *s, const struct uuid *id, const struct life_windows *windows,
			     struct tree_change *out, struct err *err)
{
	struct family f CLEANUP(family_release) = { 0 };
	struct work w = { .store = s, .windows = windows, .out = out };

	*out = (struct tree_change){ 0 };
	return gather(s, id, &f, err) ? err_failed(err->status) : work_all(&w, &f, true, let_go, err);
}

static const struct life_row no_row = { .state = ROW_NONE };

enum status tree_rescue(struct store *s, const struct uuid *id, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;

	if (tree_begin(s, &txn, err) || home_find(s, id, &t, err) || row_put(s, &t.what, &no_row, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* Also what was only held has its standing claim again. The first is the node itself. */
static enum status take_back(struct work *w, struct member *m, struct err *err)
{
	bool first = m->row == w->first;
	struct home t;

	if (home_at(w->store, m->tree, &t, err))
		return err_failed(err->status);
	if (first && t.life.state >= ROW_SCHEDULED && row_put(w->store, &t.what, &no_row, err))
		return err_failed(err->status);
	if (m->life.state == ROW_NONE || (m->life.ephemeral && !first))
		return STATUS_OK;
	w->out->changed++;
	return row_put(w->store, &m->what, &no_row, err) ? err_failed(err->status)
							 : tree_keep_above(w->store, m->row, err);
}

enum status tree_node_rescue(struct store *s, const struct uuid *id, struct tree_change *out, struct err *err)
{
	struct family f CLEANUP(family_release) = { 0 };
	struct work w = { .store = s, .out = out };

	*out = (struct tree_change){ 0 };
	if (gather(s, id, &f, err))
		return err_failed(err->status);
	w.first = f.rows[0];
	return work_all(&w, &f, false, take_back, err);
}

/* ---- By force --------------------------------------------------------------- */

/* Whether a child is less far along: one was added, or somebody claimed one. */
static enum status is_held_back(struct store *s, const struct member *m, enum row_state to, bool *out,
				struct err *err)
{
	int64_t child;
	STMT st = { 0 };

	if (to == ROW_PURGED)
		return tree_has_children(s, m->row, out, err);
	if (staying_child(s, m->row, 0, &child, err))
		return err_failed(err->status);
	*out = child != 0;
	if (*out || use(s, MEMBER_IN_STATE, &st, err))
		return *out ? STATUS_OK : err_failed(err->status);
	stmt_int(&st, 1, m->row);
	stmt_text(&st, 2, STR("scheduled"));
	if (stmt_row(&st, "the state of children", err))
		return err_failed(err->status);
	*out = col_int(&st, 0) != 0;
	return STATUS_OK;
}

static enum status advice_force(struct err *err)
{
	size_t n = strlen(err->text);

	if (err->status == STATUS_CONFLICT)
		snprintf(err->text + n, sizeof err->text - n, "; release it, or use 'force'");
	return err_failed(err->status);
}

static enum status move_one(struct work *w, struct member *m, struct err *err)
{
	struct store *s = w->store;
	char text[SUBJECT_TEXT];
	bool held_back;

	if (m->life.state >= w->to)
		return STATUS_OK;
	if (w->force ? claim_drop(s, &m->what.id, err) : claim_none(s, &m->what, err))
		return advice_force(err);
	if (is_held_back(s, m, w->to, &held_back, err))
		return err_failed(err->status);
	if (held_back)
		return err_fail(err, STATUS_CONFLICT, "%s: something was added or kept below it meanwhile; try again",
				subject_text(&m->what, text));
	if (w->to == ROW_PURGED ? tree_node_gone(s, m->row, &m->what.id, err)
				: row_enter(s, &m->what, &m->life, w->to, w->windows, err))
		return err_failed(err->status);
	w->out->changed++;
	return settle_above(s, m, w->windows, err) || settle_tree(s, m->tree, w->windows, err) ?
		       err_failed(err->status) :
		       STATUS_OK;
}

/* Nothing is begun that cannot be done. */
static enum status check_claims(struct store *s, const struct family *f, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	if (read_begin(s, &snapshot, err))
		return err_failed(err->status);
	for (size_t i = 0; i < f->count; i++) {
		struct member m;
		bool found;

		if (member_at(s, f->rows[i], &m, &found, err))
			return err_failed(err->status);
		if (found && claim_none(s, &m.what, err))
			return advice_force(err);
	}
	return STATUS_OK;
}

enum status tree_node_move(struct store *s, const struct uuid *id, enum life_state state, bool force,
			   const struct life_windows *windows, struct tree_change *out, struct err *err)
{
	struct family f CLEANUP(family_release) = { 0 };
	struct work w = { .store = s,
			  .windows = windows,
			  .to = state == LIFE_PURGED ? ROW_PURGED : ROW_ARCHIVED,
			  .force = force,
			  .out = out };

	*out = (struct tree_change){ 0 };
	if (gather(s, id, &f, err) || (!force && check_claims(s, &f, err)))
		return err_failed(err->status);
	return work_all(&w, &f, true, move_one, err);
}

/* Some nodes of a tree, without their claims. */
static enum status drop_some(struct work *w, int64_t tree, bool *done, struct err *err)
{
	struct store *s = w->store;
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (tree_begin(s, &txn, err))
		return err_failed(err->status);
	for (*done = false; !*done && !txn_is_long(s, LIMIT_TXN_NS, LIMIT_TXN_NS);) {
		struct subject node;
		struct member m;
		bool found;

		if (claimed_node(s, tree, &node, &found, err))
			return err_failed(err->status);
		*done = !found;
		if (found && (claim_drop(s, &node.id, err) || member_by_id(s, &node.id, &m, err) ||
			      (m.life.state == ROW_HELD && !m.life.held_by && settle(s, m.row, 0, w->windows, err))))
			return err_failed(err->status);
	}
	return txn_commit(&txn, err);
}

static enum status drop_claims(struct work *w, const struct uuid *id, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct home t;
	bool done = false;

	if (read_begin(w->store, &snapshot, err) || home_find(w->store, id, &t, err))
		return err_failed(err->status);
	read_end(&snapshot);
	while (!done) {
		if (drop_some(w, t.row, &done, err))
			return err_failed(err->status);
		txn_pause(w->store);
	}
	return STATUS_OK;
}

/* Nobody claims the tree or a node in it. */
static enum status is_unclaimed(struct store *s, const struct home *t, struct err *err)
{
	struct subject node;
	bool found;

	if (claim_none(s, &t->what, err))
		return advice_force(err);
	if (claimed_node(s, t->row, &node, &found, err))
		return err_failed(err->status);
	return found && claim_none(s, &node, err) ? advice_force(err) : STATUS_OK;
}

enum status tree_move(struct store *s, const struct uuid *id, enum life_state state, bool force,
		      const struct life_windows *windows, struct tree_change *out, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct work w = { .store = s, .windows = windows };
	struct home t;

	*out = (struct tree_change){ 0 };
	if ((force && drop_claims(&w, id, err)) || tree_begin(s, &txn, err) || home_find(s, id, &t, err) ||
	    (force && claim_drop(s, &t.what.id, err)) || is_unclaimed(s, &t, err))
		return err_failed(err->status);
	if (state != LIFE_PURGED) {
		out->changed = t.life.state < ROW_ARCHIVED;
		if (out->changed && row_enter(s, &t.what, &t.life, ROW_ARCHIVED, windows, err))
			return err_failed(err->status);
		return txn_commit(&txn, err);
	}
	if (tree_gone_begin(s, &t.what.id, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return tree_gone_all(s, t.row, &out->changed, err);
}
