/*
 * Whether a made node stays, and what follows from that for what is above it.
 *
 * Of a node there is no row in lifecycle while it has its standing claim. One that was let go has a row: 'held'
 * while it stays all the same, because of a claim (held_by NULL) or of a child that stays (held_by), and
 * scheduled, archived, purged in turn when it does not. So three things can happen to a path:
 *
 *     a node begins to stay     what is above it and scheduled becomes held by it, up to the first that stays
 *                               anyway: tree_keep_above()
 *     a node ceases to stay     its parent, if it was held by this child, is held by the next one that stays, or
 *                               is scheduled, now, and so on upwards: member_settle()
 *     a window ends             gc.c
 *
 * held_by makes the second cheap: a parent is looked at only when the very child goes that it was held by, and
 * the search for another one begins behind that. A root is never let go; it goes with its tree.
 *
 * A tree that was let go is held while it, or a node in it, is claimed. Its nodes need no rows: they are as
 * far as their tree (life_within()).
 */
#include "store/tree_member.h"

#include "store/tree_gone.h"
#include "store/tree_row.h"

enum {
	MEMBER_BY_ID,
	MEMBER_BY_ROW,
	MEMBER_STAYING,
	MEMBER_CHILDREN,
	MEMBER_IN_STATE,
	TREE_CLAIMED,
	TREE_ROW_LIFE,
	TREE_OWNER,
	MEMBER_STATEMENTS
};

#define MEMBER \
	"SELECT n.id, n.node_id, n.tree, coalesce(n.parent, 0), n.position, " ROW_COLUMNS("l") \
	" FROM node n LEFT JOIN lifecycle l ON l.subject_id = n.node_id"

static const char *const sql[MEMBER_STATEMENTS] = {
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
	[TREE_OWNER] = "SELECT owner FROM tree WHERE id = ?1",
};

const struct db_set tree_member_statements = { DB_TREE_MEMBER, sql, MEMBER_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &tree_member_statements, index, st, err);
}

/* ---- Nodes and trees with their rows ------------------------------------------ */

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

enum status member_at(struct store *s, int64_t row, struct member *out, bool *found, struct err *err)
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
enum status member_must(struct store *s, int64_t row, struct member *out, struct err *err)
{
	bool found = false;

	if (member_at(s, row, out, &found, err))
		return err_failed(err->status);
	return found ? STATUS_OK : missing(s, err);
}

enum status member_by_id(struct store *s, const struct uuid *id, struct member *out, struct err *err)
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

enum status home_at(struct store *s, int64_t row, struct home *out, struct err *err)
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
enum status member_alive(const struct member *m, const struct home *tree, struct err *err)
{
	struct life own = life_of_row(&m->life), all = life_of_row(&tree->life), l = life_within(&own, &all);

	return life_alive(all.state > own.state ? &tree->what : &m->what, &l, err);
}

/* A node and its tree, by its id or another one it has. Purged ones are an error. */
enum status member_find(struct store *s, const struct uuid *id, struct member *m, struct home *tree,
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

enum status home_find(struct store *s, const struct uuid *id, struct home *out, struct err *err)
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

/* Nobody's claim would be the last that is released: whoever used it for a moment would let it go again. */
static enum status claim_for_owner(struct store *s, const struct home *t, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	int64_t claims;
	struct str owner;
	STMT st = { 0 };

	if (claim_total(s, &t->what.id, &claims, err))
		return err_failed(err->status);
	if (claims)
		return STATUS_OK;
	if (use(s, TREE_OWNER, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, t->row);
	if (stmt_row(&st, "a tree", err))
		return err_failed(err->status);
	owner = arena_str(&mem, col_bytes(&st, 0));
	stmt_done(&st);
	return claim_add(s, &t->what, 0, owner, 1, &claims, err);
}

enum status home_take_back(struct store *s, const struct home *t, struct err *err)
{
	static const struct life_row no_row = { .state = ROW_NONE };

	return row_put(s, &t->what, &no_row, err) || claim_for_owner(s, t, err) ? err_failed(err->status)
										 : STATUS_OK;
}

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
		if (row_enter(s, &above.what, &above.life, ROW_HELD, NULL, err))
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
	struct member above = { 0 };

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
enum status member_settle(struct store *s, int64_t row, int64_t behind, const struct life_windows *windows,
			  struct err *err)
{
	while (row) {
		struct member m = { 0 };
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

enum status member_settle_above(struct store *s, const struct member *gone, const struct life_windows *windows,
				struct err *err)
{
	int64_t row;

	if (held_above(s, gone, &row, err))
		return err_failed(err->status);
	return member_settle(s, row, gone->position, windows, err);
}

/* A node of the tree that somebody claims. */
enum status home_claimed_node(struct store *s, int64_t tree, struct subject *out, bool *found, struct err *err)
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
enum status home_settle(struct store *s, int64_t row, const struct life_windows *windows, struct err *err)
{
	struct subject node;
	struct home t;
	int64_t claims;
	bool claimed;

	if (home_at(s, row, &t, err))
		return err_failed(err->status);
	if (t.life.state != ROW_HELD)
		return STATUS_OK;
	if (claim_total(s, &t.what.id, &claims, err) || home_claimed_node(s, row, &node, &claimed, err))
		return err_failed(err->status);
	return claims || claimed ? STATUS_OK : row_enter(s, &t.what, &t.life, ROW_SCHEDULED, windows, err);
}

/* Whether a child is less far along: one was added, or somebody claimed one. */
enum status member_is_held_back(struct store *s, const struct member *m, enum row_state to, bool *out,
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

enum status member_children(struct store *s, int64_t row, member_child_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, MEMBER_CHILDREN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		fn(ctx, col_int(&st, 0));
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}
