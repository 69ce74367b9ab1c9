/*
 * The lifecycle of mirrored trees: who claims them and their nodes, and what becomes of a tree that nobody
 * does.
 *
 * A mirrored tree stays while its standing claim is held, somebody claims it or a node in it, mirrored or
 * made. Its nodes have no lifecycle of their own: they are as far as their tree. What is written down is of
 * the id that the tree has when the first of it is; when more files bring it another one, it is found by the
 * old one still (mirrored_subject()).
 */
#include "hub/mirrored_methods.h"

#include "hub/arbor_change.h"
#include "hub/mirrored_change.h"
#include "store/tree_graft.h"

void changing_release(struct changing *x)
{
	txn_end(&x->txn);
	mem_free(x->claimed);
	mirrored_release(&x->m);
}

/* ---- What keeps it ---------------------------------------------------------------- */

/* Whether a tree is a sub-agent's of a conversation in the tree in hand. */
static bool is_beside(const struct changing *x, uint32_t tree)
{
	const struct grove *g = &x->m.grove;
	uint32_t own = grove_tree(g, x->m.ref);

	for (uint32_t i = 0; g->trees[tree].aside && i < g->forest.source_count; i++) {
		if (grove_tree_of_source(g, i) != tree)
			continue;
		for (uint32_t k = 0; k < g->forest.source_count; k++)
			if (!g->forest.sources[k].agent.n && grove_tree_of_source(g, k) == own &&
			    uuid_eq(&g->forest.sources[k].session.id, &g->forest.sources[i].session.id))
				return true;
	}
	return false;
}

static enum status look_at_claimed(void *ctx, const struct uuid *node, struct err *err)
{
	struct changing *x = ctx;
	struct id_match match;
	struct grove_ref r;
	char id[UUID_TEXT + 1];
	uint32_t tree;
	bool is_there;
	size_t count;

	uuid_print(node, id);
	if (id_search(x->m.call->store, str_of(id), 0, &match, 1, &count, err))
		return err_failed(err->status);
	if (!count || match.is_session)
		return STATUS_OK;
	if (grove_find(&x->m.grove, &match.node, &r, &is_there, err))
		return err_failed(err->status);
	tree = is_there ? grove_tree(&x->m.grove, r) : FOREST_NONE;
	if (tree == FOREST_NONE)
		return STATUS_OK;
	if (is_beside(x, tree)) {
		x->beside_claimed = true;
		x->beside = (struct subject){ SUBJECT_NODE, *node };
	}
	if (tree != grove_tree(&x->m.grove, x->m.ref))
		return STATUS_OK;
	if (x->claimed_count == x->claimed_cap) {
		x->claimed_cap = x->claimed_cap ? 2 * x->claimed_cap : 16;
		x->claimed = mem_resize(x->claimed, x->claimed_cap * sizeof *x->claimed);
	}
	x->claimed[x->claimed_count++] = *node;
	return STATUS_OK;
}

enum status change_each_name(struct changing *x, change_name_fn *fn, void *ctx, struct err *err)
{
	const struct grove *g = &x->m.grove;
	const struct grove_span *names = &g->trees[grove_tree(g, x->m.ref)].names;

	for (uint32_t i = 0; i < names->count; i++) {
		struct node_name name;
		struct uuid id;

		if (forest_name(x->m.call->store, &g->forest, g->named[names->start + i], &x->m.call->mem,
				&name, err))
			return err_failed(err->status);
		id = node_id(&name, PART_TREE);
		if (fn(ctx, x, &id, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status look_at_made(void *ctx, struct changing *x, const struct uuid *name, struct err *err)
{
	bool claimed;

	(void)ctx;
	if (tree_graft_claimed(x->m.call->store, name, &claimed, &x->made, err))
		return err_failed(err->status);
	x->made_claimed |= claimed;
	return STATUS_OK;
}

enum status change_look_beside(struct changing *x, struct err *err)
{
	for (uint32_t i = 0; i < x->m.grove.tree_count; i++) {
		struct uuid subject;
		int64_t claims;

		if (!is_beside(x, i))
			continue;
		if (mirrored_subject(&x->m, i, &subject, err) ||
		    claim_total(x->m.call->store, &subject, &claims, err))
			return err_failed(err->status);
		if (!claims)
			continue;
		x->beside_claimed = true;
		x->beside = (struct subject){ SUBJECT_TREE, subject };
	}
	return STATUS_OK;
}

/* What somebody else does between this and the change is met by the next one. */
static enum status look_inside(struct changing *x, struct err *err)
{
	x->claimed_count = 0;
	x->made_claimed = x->beside_claimed = false;
	if (claim_each_mirrored(x->m.call->store, look_at_claimed, x, err))
		return err_failed(err->status);
	return x->m.grafts ? change_each_name(x, look_at_made, NULL, err) : STATUS_OK;
}

enum status change_is_kept(struct changing *x, bool *out, struct err *err)
{
	struct store *s = x->m.call->store;
	int64_t claims;
	bool held;

	if (claim_mirror_get(s, &x->tree.id, &held, err) || claim_total(s, &x->tree.id, &claims, err))
		return err_failed(err->status);
	*out = held || claims || x->claimed_count || x->made_claimed;
	return STATUS_OK;
}

/* ---- A change ----------------------------------------------------------------------- */

enum status change_begin(struct call *c, struct str id, enum gate gate, struct changing *x,
			 struct err *err)
{
	uint32_t tree;

	*x = (struct changing){ .tree.kind = SUBJECT_TREE, .node.kind = SUBJECT_NODE };
	if (mirrored_find(c, id, gate, &x->m, err))
		return err_failed(err->status);
	tree = grove_tree(&x->m.grove, x->m.ref);
	if (tree == FOREST_NONE)
		return err_fail(err, STATUS_NOT_FOUND, "this is in no tree");
	if (mirrored_subject(&x->m, tree, &x->tree.id, err) ||
	    grove_id(&x->m.grove, x->m.ref, &x->node.id, err) || look_inside(x, err))
		return err_failed(err->status);
	mirrored_end_reading(&x->m);
	return store_reach(c->store, STORE_TREES, err) ? err_failed(err->status)
						       : txn_begin(c->store, &x->txn, err);
}

enum status change_begin_tree(struct call *c, struct str id, enum gate gate, struct changing *x,
			      struct err *err)
{
	if (change_begin(c, id, gate, x, err))
		return err_failed(err->status);
	if (x->m.ref.kind == GROVE_TREE)
		return STATUS_OK;
	return err_fail(err, STATUS_NOT_FOUND, "no tree is called '%.*s', but a node is",
			(int)size_min(id.n, 60), id.p);
}

/* Where it is after that, by what keeps it; and the end of the transaction. */
static enum status settle(struct changing *x, struct err *err)
{
	struct call *c = x->m.call;
	struct life_windows windows = call_windows(c);
	struct life life;
	bool kept;

	if (change_is_kept(x, &kept, err) || life_get(c->store, &x->tree.id, &life, err))
		return err_failed(err->status);
	if (kept && life.state == LIFE_SCHEDULED && life_put(c->store, &x->tree, LIFE_ACTIVE, &windows, err))
		return err_failed(err->status);
	if (!kept && life.state == LIFE_ACTIVE && life_put(c->store, &x->tree, LIFE_SCHEDULED, &windows, err))
		return err_failed(err->status);
	return txn_commit(&x->txn, err);
}

enum status mirrored_settle(struct call *c, const struct made_node *n, struct err *err)
{
	struct tree_node *steps;
	char id[UUID_TEXT + 1];
	enum status status;
	size_t count;
	CHANGING x = { 0 };

	if (!tree_is_graft(&n->tree))
		return STATUS_OK;
	if (tree_path(c->store, 0, n->node.row, &c->mem, &steps, &count, err))
		return err_failed(err->status);
	uuid_print(&steps[0].id, id);
	status = change_begin(c, str_of(id), GATE_ANY, &x, err);
	if (status == STATUS_GONE) /* it hangs on nothing any more */
		return STATUS_OK;
	return status != STATUS_OK ? status : settle(&x, err);
}

/* ---- Claims -------------------------------------------------------------------------- */

static bool is_mirror(const struct call *c)
{
	return str_eq(call_text(c, "owner"), STR(CLAIM_MIRROR));
}

static enum status claim(struct call *c, struct changing *x, const struct subject *what, int64_t count,
			 struct err *err)
{
	int64_t now;

	if (claim_check_owner(call_text(c, "owner"), err) ||
	    claim_add(c->store, what, 0, call_text(c, "owner"), count, &now, err))
		return err_failed(err->status);
	if ((what->kind == SUBJECT_NODE && look_inside(x, err)) || settle(x, err))
		return err_failed(err->status);
	return emit_claims(c, &what->id, what->kind == SUBJECT_NODE ? &x->tree.id : NULL, now, err);
}

enum status mirrored_tree_claim(struct call *c, struct str id, struct err *err)
{
	CHANGING x;

	if (change_begin_tree(c, id, GATE_ALIVE, &x, err))
		return err_failed(err->status);
	return claim(c, &x, &x.tree, call_int(c, "count"), err);
}

enum status mirrored_node_claim(struct call *c, struct str id, struct err *err)
{
	CHANGING x;

	if (change_begin(c, id, GATE_ALIVE, &x, err))
		return err_failed(err->status);
	return claim(c, &x, x.m.ref.kind == GROVE_TREE ? &x.tree : &x.node, call_int(c, "count"), err);
}

static enum status release_mirror(struct call *c, struct changing *x, struct err *err)
{
	bool held;

	if (claim_mirror_get(c->store, &x->tree.id, &held, err))
		return err_failed(err->status);
	if (!held)
		return err_fail(err, STATUS_USAGE, "the claim of 'mirror' on this tree was released before");
	return claim_mirror_put(c->store, &x->tree.id, false, err);
}

enum status mirrored_tree_release(struct call *c, struct str id, struct err *err)
{
	int64_t now = 0;
	CHANGING x;

	if (change_begin_tree(c, id, GATE_ANY, &x, err) ||
	    (is_mirror(c) ? release_mirror(c, &x, err)
			  : claim_remove(c->store, &x.tree, call_text(c, "owner"), call_int(c, "count"), &now,
					 err)) ||
	    settle(&x, err))
		return err_failed(err->status);
	return emit_claims(c, &x.tree.id, NULL, now, err);
}

enum status mirrored_node_release(struct call *c, struct str id, struct err *err)
{
	int64_t now = 0;
	CHANGING x;

	if (change_begin(c, id, GATE_ANY, &x, err) ||
	    claim_remove(c->store, x.m.ref.kind == GROVE_TREE ? &x.tree : &x.node, call_text(c, "owner"),
			 call_int(c, "count"), &now, err) ||
	    look_inside(&x, err) || settle(&x, err))
		return err_failed(err->status);
	return emit_claims(c, x.m.ref.kind == GROVE_TREE ? &x.tree.id : &x.node.id, &x.tree.id, now, err);
}

/* Once is enough. */
enum status mirrored_node_keep(struct call *c, struct str id, struct err *err)
{
	int64_t own;
	CHANGING x;

	if (change_begin(c, id, GATE_ALIVE, &x, err) ||
	    claim_of(c->store, &x.node.id, call_text(c, "owner"), &own, err))
		return err_failed(err->status);
	if (own)
		return emit_claims(c, &x.node.id, &x.tree.id, own, err);
	return claim(c, &x, x.m.ref.kind == GROVE_TREE ? &x.tree : &x.node, 1, err);
}

/* ---- refs ------------------------------------------------------------------------------ */

static enum status skip_mirror(void *ctx, const struct claim *claim, struct err *err)
{
	/* It was told already. */
	return str_eq(claim->owner, STR(CLAIM_MIRROR)) ? STATUS_OK : emit_ref(ctx, claim, err);
}

static enum status emit_refs(struct call *c, struct str id, bool tree, struct err *err)
{
	struct claim standing = { .owner = STR(CLAIM_MIRROR), .count = 1 };
	struct uuid home, own;
	MIRRORED m = { 0 };
	bool held;

	if (mirrored_find(c, id, GATE_ANY, &m, err))
		return err_failed(err->status);
	if ((tree && m.ref.kind != GROVE_TREE) || grove_tree(&m.grove, m.ref) == FOREST_NONE)
		return err_fail(err, STATUS_NOT_FOUND, "this is no tree");
	if (mirrored_subject(&m, grove_tree(&m.grove, m.ref), &home, err) ||
	    grove_id(&m.grove, m.ref, &own, err) || claim_mirror_get(c->store, &home, &held, err) ||
	    (held && emit_ref(c, &standing, err)))
		return err_failed(err->status);
	return claim_each(c->store, m.ref.kind == GROVE_TREE ? &home : &own, skip_mirror, c, err);
}

enum status mirrored_tree_refs(struct call *c, struct str id, struct err *err)
{
	return emit_refs(c, id, true, err);
}

enum status mirrored_node_refs(struct call *c, struct str id, struct err *err)
{
	return emit_refs(c, id, false, err);
}

/* ---- States ------------------------------------------------------------------------------ */

/* Who claims what keeps it is told by the methods for that. */
static enum status refuse_for(const struct changing *x, const struct subject *claimed, const char *which,
			      struct err *err)
{
	char tree[UUID_TEXT + 1], id[UUID_TEXT + 1];

	uuid_print(&x->tree.id, tree);
	uuid_print(&claimed->id, id);
	return err_fail(err, STATUS_CONFLICT, "tree %s%s%s%s is claimed; 'arbor.%s_refs %s' lists by whom", tree,
			which, *which ? id : "", *which ? "," : "",
			claimed->kind == SUBJECT_TREE ? "tree" : "node", id);
}

enum status change_refuse(struct changing *x, struct err *err)
{
	char id[UUID_TEXT + 1];
	int64_t claims;
	bool held;

	if (claim_mirror_get(x->m.call->store, &x->tree.id, &held, err) ||
	    claim_total(x->m.call->store, &x->tree.id, &claims, err))
		return err_failed(err->status);
	uuid_print(&x->tree.id, id);
	if (held)
		return err_fail(err, STATUS_CONFLICT,
				"tree %s is a conversation, and claimed by 'mirror'; 'arbor.tree_release "
				"--owner mirror' lets go of it",
				id);
	/* What not even force lets go of comes first. */
	if (x->made_claimed)
		return refuse_for(x, &(struct subject){ SUBJECT_NODE, x->made },
				  ": a node that was made and hangs on it, ", err);
	if (!claims && x->claimed_count)
		return refuse_for(x, &(struct subject){ SUBJECT_NODE, x->claimed[0] }, ": a node in it, ", err);
	if (!claims && x->beside_claimed)
		return refuse_for(x, &x->beside, ": something of one of its sub-agents, ", err);
	return refuse_for(x, &x->tree, "", err);
}

enum status mirrored_tree_schedule(struct call *c, struct str id, struct err *err)
{
	int64_t own = 0, now;
	bool kept;
	CHANGING x;

	if (change_begin_tree(c, id, GATE_ALIVE, &x, err) ||
	    (is_mirror(c) ? claim_mirror_put(c->store, &x.tree.id, false, err)
			  : claim_of(c->store, &x.tree.id, call_text(c, "owner"), &own, err)) ||
	    (own && claim_remove(c->store, &x.tree, call_text(c, "owner"), own, &now, err)) ||
	    change_is_kept(&x, &kept, err))
		return err_failed(err->status);
	if (kept)
		return change_refuse(&x, err);
	return settle(&x, err) ? err_failed(err->status) : emit_change(c, &x.tree.id, NULL, NULL, err);
}

enum status mirrored_tree_rescue(struct call *c, struct str id, struct err *err)
{
	struct life_windows windows = call_windows(c);
	CHANGING x;

	if (change_begin_tree(c, id, GATE_ANY, &x, err) || claim_mirror_put(c->store, &x.tree.id, true, err) ||
	    life_put(c->store, &x.tree, LIFE_ACTIVE, &windows, err) || txn_commit(&x.txn, err))
		return err_failed(err->status);
	return emit_change(c, &x.tree.id, NULL, NULL, err);
}

/* By force claims on it and on its nodes are released; but not those on what was made and hangs on it, which
 * has a lifecycle of its own. */
enum status mirrored_tree_archive(struct call *c, struct str id, struct err *err)
{
	struct life_windows windows = call_windows(c);
	bool kept;
	CHANGING x;

	if (change_begin_tree(c, id, GATE_ALIVE, &x, err) || change_is_kept(&x, &kept, err))
		return err_failed(err->status);
	if (kept && (!call_flag(c, "force") || x.made_claimed))
		return change_refuse(&x, err);
	for (size_t i = 0; i < x.claimed_count; i++)
		if (claim_drop(c->store, &x.claimed[i], err))
			return err_failed(err->status);
	if (claim_drop(c->store, &x.tree.id, err) || claim_mirror_put(c->store, &x.tree.id, false, err) ||
	    life_put(c->store, &x.tree, LIFE_ARCHIVED, &windows, err) || txn_commit(&x.txn, err))
		return err_failed(err->status);
	return emit_change(c, &x.tree.id, NULL, NULL, err);
}
