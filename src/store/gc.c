/*
 * Moving on what is due: from scheduled to archived, from archived to purged.
 *
 * What is due is found by the index (state, due_at) and read as a list, the deepest nodes first, so that
 * children move before their parents and a chain of any length moves at once. Then each moves in a
 * transaction with others, after another look: somebody may have claimed it since. A node of which a child is
 * not so far yet waits: its own time is set to that child's, so it is not looked at again before. The next
 * window begins when a state is entered and not when that was due: whoever collects once a year still leaves
 * what is archived its days.
 *
 * So nothing is moved twice in a run, and a clock that jumps ahead archives and does not purge.
 *
 * Mirrored trees are purged by whoever can (life_purge_fn), all at once and last.
 */
#include "store/tree_life.h"

#include "base/map.h"
#include "store/life_row.h"
#include "store/tree_gone.h"
#include "store/tree_row.h"

enum { GC_DUE, GC_SLOWEST, GC_MADE, GC_STATEMENTS };

static const char *const sql[GC_STATEMENTS] = {
	[GC_DUE] = "SELECT l.subject_id, l.subject = 'node', coalesce(n.depth, -1) AS depth FROM lifecycle l"
		   " LEFT JOIN node n ON n.node_id = l.subject_id WHERE l.state = ?1 AND l.due_at <= ?2"
		   " ORDER BY depth DESC LIMIT ?3",
	/* Of the children of ?1 that are in one of two states that which stays the longest. */
	[GC_SLOWEST] = "SELECT max(due_at) FROM lifecycle WHERE parent = ?1 AND state IN (?2, ?3)",
	/* Not what only stands for something mirrored. */
	[GC_MADE] = "SELECT n.id, n.tree FROM node n JOIN tree t ON t.id = n.tree WHERE n.node_id = ?1"
		    " AND (n.parent IS NOT NULL OR t.owner <> '" CLAIM_MIRROR "')"
		    " UNION ALL SELECT 0, id FROM tree WHERE tree_id = ?1 AND owner <> '" CLAIM_MIRROR "'",
};

const struct db_set gc_statements = { DB_GC, sql, GC_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &gc_statements, index, st, err);
}

struct gc {
	struct store *store;
	const struct gc_options *o;
	struct gc_report *report;
	int64_t now;
	int64_t moved;	     /* of what `limit` counts */
	enum row_state from; /* what is looked at: scheduled or archived */
	struct subject *plan;
	size_t count;
	size_t touched; /* of the plan: moved, or put off */
};

static bool has_room(const struct gc *g)
{
	return !g->o->limit || g->moved < g->o->limit;
}

/* ---- The plan ---------------------------------------------------------------- */

static const char *const from_names[] = { [ROW_SCHEDULED] = "scheduled", [ROW_ARCHIVED] = "archived" };

static enum status make_plan(struct gc *g, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	enum step step;

	g->count = g->touched = 0;
	if (read_begin(g->store, &snapshot, err))
		return err_failed(err->status);
	{
		STMT st = { 0 };

		if (use(g->store, GC_DUE, &st, err))
			return err_failed(err->status);
		stmt_text(&st, 1, str_of(from_names[g->from]));
		stmt_int(&st, 2, g->now);
		stmt_int(&st, 3, LIMIT_GC_PLAN);
		while ((step = stmt_step(&st, err)) == STEP_ROW) {
			g->plan[g->count++] = (struct subject){ col_int(&st, 1) ? SUBJECT_NODE : SUBJECT_TREE,
								col_uuid(&st, 0) };
		}
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* Rows of a made node and its tree, or of a made tree; both 0 = it is mirrored. */
static enum status find_made(struct store *s, const struct uuid *id, int64_t *node, int64_t *tree,
			     struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, GC_MADE, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*node = found ? col_int(&st, 0) : 0;
	*tree = found ? col_int(&st, 1) : 0;
	return STATUS_OK;
}

/* Until when a child is not as far along as a node is to be; 0 = none is in the way. */
static enum status slowest_child(struct gc *g, int64_t node, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(g->store, GC_SLOWEST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, node);
	stmt_text(&st, 2, STR("scheduled"));
	stmt_text(&st, 3, g->from == ROW_ARCHIVED ? STR("archived") : STR(""));
	if (stmt_row(&st, "when children are due", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

/* ---- Moving ----------------------------------------------------------------- */

static void count_move(struct gc *g, const struct subject *what)
{
	struct gc_report *r = g->report;
	int64_t *count = what->kind == SUBJECT_TREE
				 ? (g->from == ROW_SCHEDULED ? &r->trees_archived : &r->trees_purged)
				 : (g->from == ROW_SCHEDULED ? &r->nodes_archived : &r->nodes_purged);

	++*count;
	g->moved++;
	g->touched++;
}

static enum status put_off(struct gc *g, const struct subject *what, struct life_row *life, int64_t until,
			   struct err *err)
{
	life->due_at = until > g->now ? until : g->now + 1;
	g->touched++;
	return row_put(g->store, what, life, err);
}

static enum status move_node(struct gc *g, const struct subject *what, struct life_row *life, int64_t node,
			     struct err *err)
{
	int64_t until;

	if (slowest_child(g, node, &until, err))
		return err_failed(err->status);
	if (until)
		return put_off(g, what, life, until, err);
	if (g->from == ROW_SCHEDULED ? row_enter(g->store, what, life, ROW_ARCHIVED, &g->o->windows, err)
				     : tree_node_gone(g->store, node, &what->id, err))
		return err_failed(err->status);
	count_move(g, what);
	return STATUS_OK;
}

/* A tree, whose nodes follow; or something mirrored, which others purge. */
static enum status move_other(struct gc *g, const struct subject *what, struct life_row *life, bool made,
			      struct err *err)
{
	if (g->from == ROW_ARCHIVED && !made)
		return STATUS_OK;
	if (g->from == ROW_SCHEDULED ? row_enter(g->store, what, life, ROW_ARCHIVED, &g->o->windows, err)
				     : tree_gone_begin(g->store, &what->id, err))
		return err_failed(err->status);
	count_move(g, what);
	return STATUS_OK;
}

/* In a transaction: whatever it was when it was planned for. */
static enum status move_one(struct gc *g, const struct subject *what, struct err *err)
{
	struct life_row life;
	int64_t node, tree;

	if (row_get(g->store, &what->id, &life, err) || find_made(g->store, &what->id, &node, &tree, err))
		return err_failed(err->status);
	if (life.state != g->from || life.due_at > g->now)
		return STATUS_OK;
	return node ? move_node(g, what, &life, node, err) : move_other(g, what, &life, tree != 0, err);
}

static enum status move_some(struct gc *g, size_t *at, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (tree_begin(g->store, &txn, err))
		return err_failed(err->status);
	for (bool first = true; *at < g->count && has_room(g) && (first || !tree_is_long(g->store));
	     first = false)
		if (move_one(g, &g->plan[(*at)++], err))
			return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status go_on(const struct gc *g, struct err *err)
{
	if (store_is_cancelled(g->store))
		return err_fail(err, STATUS_CANCELLED, "stopped; the next 'arbor gc' goes on");
	return STATUS_OK;
}

static enum status move_planned(struct gc *g, struct err *err)
{
	for (size_t at = 0; at < g->count && has_room(g);) {
		if (go_on(g, err) || move_some(g, &at, err))
			return err_failed(err->status);
		txn_pause(g->store);
	}
	return STATUS_OK;
}

/* ---- Mirrored trees ----------------------------------------------------------- */

/* Those of the plan, moved to its beginning; no more than there is room for. */
static enum status mirrored_of_plan(struct gc *g, size_t *count, struct err *err)
{
	*count = 0;
	for (size_t i = 0; i < g->count; i++) {
		struct subject what = g->plan[i];
		struct life_row life;
		int64_t node, tree;

		if (row_get(g->store, &what.id, &life, err) || find_made(g->store, &what.id, &node, &tree, err))
			return err_failed(err->status);
		if (tree || life.state != g->from || life.due_at > g->now)
			continue;
		if (g->o->limit && g->moved + (int64_t)*count >= g->o->limit)
			break;
		g->plan[(*count)++] = what;
	}
	return STATUS_OK;
}

static void mirrored_release(struct gc_mirrored *m)
{
	mem_free(m->grafts);
}

static enum status bury_grafts(struct gc *g, const struct gc_mirrored *m, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (!m->graft_count)
		return STATUS_OK;
	if (tree_begin(g->store, &txn, err))
		return err_failed(err->status);
	for (size_t i = 0; i < m->graft_count; i++)
		if (tree_gone_begin(g->store, &m->grafts[i].id, err))
			return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* Outside of transactions of ours. What hung on them is taken away with what is left of made trees. */
static enum status purge_mirrored(struct gc *g, struct err *err)
{
	struct gc_mirrored m CLEANUP(mirrored_release) = { 0 };
	size_t count;

	if (!g->o->purge || g->from != ROW_ARCHIVED || !has_room(g))
		return STATUS_OK;
	if (go_on(g, err) || mirrored_of_plan(g, &count, err))
		return err_failed(err->status);
	if (count && (g->o->purge(g->o->ctx, g->plan, count, &m, err) || bury_grafts(g, &m, err)))
		return err_failed(err->status);
	g->report->trees_purged += m.trees;
	g->moved += m.trees;
	return STATUS_OK;
}

/* What is left of trees that were purged. */
static enum status finish_trees(struct gc *g, struct err *err)
{
	for (;;) {
		int64_t tree, nodes = 0, room = g->o->limit ? g->o->limit - g->moved : 0;
		bool done;

		if (!has_room(g) || tree_gone_next(g->store, &tree, err))
			return has_room(g) ? err_failed(err->status) : STATUS_OK;
		if (!tree)
			return STATUS_OK;
		if (go_on(g, err) || tree_gone_some(g->store, tree, room, &nodes, &done, err))
			return err_failed(err->status);
		g->moved += nodes;
		g->report->nodes_purged += nodes;
		txn_pause(g->store);
	}
}

static enum status move_all(struct gc *g, struct err *err)
{
	do {
		if (make_plan(g, err) || (g->count && move_planned(g, err)))
			return err_failed(err->status);
	} while (g->touched && has_room(g));
	return purge_mirrored(g, err);
}

/* ---- Only looking ------------------------------------------------------------- */

/* By the bytes of row numbers. */
struct looking {
	struct gc *g;
	struct map held_back; /* parents of what would not move */
	struct map gone;      /* trees of nodes that would be purged by themselves: how many */
	struct arena mem;
};

static void looking_release(struct looking *l)
{
	map_release(&l->held_back);
	map_release(&l->gone);
	arena_release(&l->mem);
}

static struct str key_of_row(const int64_t *row)
{
	return str_from((const char *)row, sizeof *row);
}

static int64_t *gone_of(struct looking *l, int64_t tree)
{
	int64_t *both = map_get(&l->gone, key_of_row(&tree));

	if (both)
		return both + 1;
	both = arena_alloc(&l->mem, 2 * sizeof *both);
	both[0] = tree;
	map_put(&l->gone, key_of_row(both), both);
	return both + 1;
}

/* A node waits when a child does, or is not due yet. */
static enum status look_at_node(struct looking *l, const struct subject *what, const struct life_row *life,
				int64_t node, int64_t tree, struct err *err)
{
	int64_t until = 0;

	if (slowest_child(l->g, node, &until, err))
		return err_failed(err->status);
	if (until > l->g->now || map_get(&l->held_back, key_of_row(&node))) {
		int64_t *parent = arena_alloc(&l->mem, sizeof *parent);

		*parent = life->parent;
		map_put(&l->held_back, key_of_row(parent), parent);
		return STATUS_OK;
	}
	++*gone_of(l, tree);
	count_move(l->g, what);
	return STATUS_OK;
}

static enum status look_at(struct looking *l, const struct subject *what, struct err *err)
{
	struct gc *g = l->g;
	struct life_row life;
	int64_t node, tree, nodes = 0;

	if (row_get(g->store, &what->id, &life, err) || find_made(g->store, &what->id, &node, &tree, err))
		return err_failed(err->status);
	if (node)
		return look_at_node(l, what, &life, node, tree, err);
	if (!tree && g->from == ROW_ARCHIVED) /* look_at_mirrored() */
		return STATUS_OK;
	if (tree && g->from == ROW_ARCHIVED && tree_count(g->store, tree, &nodes, err))
		return err_failed(err->status);
	count_move(g, what);
	g->report->nodes_purged += nodes ? nodes - *gone_of(l, tree) : 0;
	return STATUS_OK;
}

static enum status look_at_mirrored(struct looking *l, struct err *err)
{
	struct gc_mirrored m CLEANUP(mirrored_release) = { 0 };
	struct gc *g = l->g;
	int64_t nodes;
	size_t count;

	if (!g->o->purge || g->from != ROW_ARCHIVED || !has_room(g))
		return STATUS_OK;
	if (mirrored_of_plan(g, &count, err) || (count && g->o->purge(g->o->ctx, g->plan, count, &m, err)))
		return err_failed(err->status);
	g->report->trees_purged += m.trees;
	g->moved += m.trees;
	for (size_t i = 0; i < m.graft_count; i++) {
		if (tree_count(g->store, m.grafts[i].row, &nodes, err))
			return err_failed(err->status);
		g->report->nodes_purged += nodes - *gone_of(l, m.grafts[i].row);
	}
	return STATUS_OK;
}

/* As far as one plan goes. */
static enum status look_at_all(struct gc *g, struct err *err)
{
	struct looking l CLEANUP(looking_release) = { .g = g };

	if (make_plan(g, err))
		return err_failed(err->status);
	for (size_t i = 0; i < g->count && has_room(g); i++)
		if (look_at(&l, &g->plan[i], err))
			return err_failed(err->status);
	g->report->more |= g->count == LIMIT_GC_PLAN;
	return look_at_mirrored(&l, err);
}

/* ---- All of it --------------------------------------------------------------- */

static void gc_release(struct gc *g)
{
	mem_free(g->plan);
}

enum status gc_run(struct store *s, const struct gc_options *o, struct gc_report *r, struct err *err)
{
	struct gc g CLEANUP(gc_release) = { .store = s, .o = o, .report = r, .now = store_now(s) };

	*r = (struct gc_report){ 0 };
	g.plan = mem_alloc(LIMIT_GC_PLAN * sizeof *g.plan);
	for (g.from = ROW_ARCHIVED; g.from >= ROW_SCHEDULED; g.from--)
		if (o->dry_run ? look_at_all(&g, err) : move_all(&g, err))
			return err_failed(err->status);
	if (!o->dry_run && finish_trees(&g, err))
		return err_failed(err->status);
	r->more |= !has_room(&g);
	return STATUS_OK;
}
