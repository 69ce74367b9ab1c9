/*
 * Mirrored trees and nodes purged by the methods of trees, and by gc: through the same code as 'arbor purge'
 * (ingest/purge.h).
 *
 * Whoever purges a tree by its lifecycle keeps to it: what somebody claims stays, the standing claim of the mirror
 * included, unless it is forced. Made nodes that hang on the tree go with it, and when one of them is claimed
 * nothing goes. First the lines go and then these, so that a program that is killed in between has left
 * nothing that cannot be read. What is written down of the tree is settled by the purge itself.
 */
#include "hub/mirrored_methods.h"

#include "hub/memory_purge.h"
#include "hub/mirrored_change.h"
#include "store/tree_graft.h"

/* Trees that are to go. */
struct going {
	struct purge_subject *list;
	size_t count, cap;
	struct gc_graft *grafts;
	size_t graft_count, graft_cap;
};

static void going_release(struct going *g)
{
	mem_free(g->list);
	mem_free(g->grafts);
}

static enum status add_graft(void *ctx, struct changing *x, const struct uuid *name, struct err *err)
{
	struct gc_graft graft = { .id = *name };
	struct going *g = ctx;

	if (tree_graft_tree(x->m.call->store, name, &graft.row, err))
		return err_failed(err->status);
	if (!graft.row)
		return STATUS_OK;
	if (g->graft_count == g->graft_cap) {
		g->graft_cap = g->graft_cap ? 2 * g->graft_cap : 4;
		g->grafts = mem_resize(g->grafts, g->graft_cap * sizeof *g->grafts);
	}
	g->grafts[g->graft_count++] = graft;
	return STATUS_OK;
}

static enum status add_tree(struct going *g, struct changing *x, struct err *err)
{
	if (g->count == g->cap) {
		g->cap = g->cap ? 2 * g->cap : 4;
		g->list = mem_resize(g->list, g->cap * sizeof *g->list);
	}
	g->list[g->count++] = (struct purge_subject){
		.id = x->m.grove.trees[grove_tree(&x->m.grove, x->m.ref)].id, .tree = true
	};
	return x->m.grafts ? change_each_name(x, add_graft, g, err) : STATUS_OK;
}

/* Whether it may go by itself. */
static enum status is_kept(struct changing *x, bool *out, struct err *err)
{
	if (change_look_beside(x, err) || change_is_kept(x, out, err))
		return err_failed(err->status);
	*out |= x->beside_claimed;
	return STATUS_OK;
}

static enum status emit_purged(struct call *c, const struct uuid *id, const int64_t *nodes, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_uuid(w, "id", id);
	put_text(w, "state", str_of(life_state_names[LIFE_PURGED]));
	if (nodes)
		put_int(w, "nodes", *nodes);
	return call_emit(c, err);
}

/* Made nodes that hung on what is gone. */
static enum status purge_grafts(struct call *c, const struct going *g, int64_t *nodes, struct err *err)
{
	for (size_t i = 0; i < g->graft_count; i++)
		if (tree_graft_gone(c->store, &g->grafts[i].id, g->grafts[i].row, nodes, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status mirrored_tree_purge(struct call *c, struct str id, struct err *err)
{
	struct going g CLEANUP(going_release) = { 0 };
	struct purge_report report;
	int64_t nodes = 0;
	bool kept;
	CHANGING x;

	if (change_begin_tree(c, id, GATE_ANY, &x, err) || is_kept(&x, &kept, err) || add_tree(&g, &x, err))
		return err_failed(err->status);
	if (kept && (!call_flag(c, "force") || x.made_claimed))
		return change_refuse(&x, err);
	txn_end(&x.txn);
	if (memory_purge_run(c, g.list, g.count, &(struct purge_options){ 0 }, &report, err) ||
	    purge_grafts(c, &g, &nodes, err))
		return err_failed(err->status);
	return emit_purged(c, &g.list[0].id, g.graft_count ? &nodes : NULL, err);
}

enum status mirrored_node_purge(struct call *c, struct str id, struct err *err)
{
	struct purge_subject what = { 0 };
	struct purge_report report;
	bool kept;
	CHANGING x;

	if (change_begin(c, id, GATE_ANY, &x, err) || change_is_kept(&x, &kept, err))
		return err_failed(err->status);
	if (x.m.ref.kind == GROVE_TREE)
		return err_fail(err, STATUS_USAGE, "this is a tree; 'arbor.tree_purge' takes it away");
	if (kept && !call_flag(c, "force"))
		return change_refuse(&x, err);
	txn_end(&x.txn);
	what.id = x.node.id;
	if (memory_purge_run(c, &what, 1, &(struct purge_options){ 0 }, &report, err))
		return err_failed(err->status);
	return emit_purged(c, &what.id, NULL, err);
}

enum status mirrored_node_stays(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };

	if (mirrored_find(c, id, GATE_ANY, &m, err))
		return err_failed(err->status);
	return err_fail(err, STATUS_USAGE,
			"this is part of a conversation, and goes with its tree; 'arbor purge' takes it away "
			"for good");
}

/* ---- What is due ---------------------------------------------------------------------- */

/* One that is not mirrored any more, or somebody keeps, is left as it is. */
static enum status add_due(struct call *c, const struct subject *what, struct going *g, struct err *err)
{
	char id[UUID_TEXT + 1];
	enum status status;
	bool kept;
	CHANGING x;

	uuid_print(&what->id, id);
	status = change_begin_tree(c, str_of(id), GATE_ANY, &x, err);
	if (status == STATUS_NOT_FOUND || status == STATUS_GONE)
		return STATUS_OK;
	if (status != STATUS_OK)
		return status;
	if (is_kept(&x, &kept, err))
		return err_failed(err->status);
	return kept ? STATUS_OK : add_tree(g, &x, err);
}

enum status mirrored_purge_due(void *ctx, const struct subject *list, size_t count, struct gc_mirrored *out,
			       struct err *err)
{
	struct going g CLEANUP(going_release) = { 0 };
	struct call *c = ctx;
	struct purge_options o = { .dry_run = call_flag(c, "dry_run") };
	struct purge_report report;

	for (size_t i = 0; i < count; i++)
		if (add_due(c, &list[i], &g, err))
			return err_failed(err->status);
	if (!g.count)
		return STATUS_OK;
	if (memory_purge_run(c, g.list, g.count, &o, &report, err))
		return err_failed(err->status);
	*out = (struct gc_mirrored){ (int64_t)g.count, g.grafts, g.graft_count };
	g.grafts = NULL;
	return STATUS_OK;
}
