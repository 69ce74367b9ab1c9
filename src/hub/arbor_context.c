/*
 * arbor.context_* and the ways between nodes: paths, what they hold, where they part, where they end.
 */
#include "hub/arbor_methods.h"

#include "hub/arbor_find.h"
#include "hub/mirrored_methods.h"
#include "store/tree_graft.h"

static const struct param one_node_params[] = { NODE_PARAM, IN_TREE_PARAM, { 0 } };

/* ---- Paths --------------------------------------------------------------------- */

typedef enum status step_fn(struct call *c, const struct made_node *n, struct err *err);

/* Every node from one above to another. What they hold is read one by one: a path may be long. */
static enum status along(struct call *c, const struct tree *t, int64_t top, int64_t row,
			 enum tree_node_part part, step_fn *fn, struct err *err)
{
	struct made_node m = { .tree = *t };
	struct tree_node *nodes;
	size_t count;

	if (tree_path(c->store, top, row, &c->mem, &nodes, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;

		m.node = nodes[i];
		m.life = life_within(&m.node.life, &t->life);
		if ((part == NODE_WHOLE && load_node(c, t, nodes[i].row, part, &mem, &m, err)) ||
		    fn(c, &m, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status path_of(struct call *c, const struct made_node *m, struct err *err)
{
	if (tree_is_graft(&m->tree))
		return mirrored_path_to_made(c, m, NODE_SKELETON, err);
	return along(c, &m->tree, 0, m->node.row, NODE_SKELETON, emit_node, err);
}

static enum status run_path(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .made = path_of, .mirrored = mirrored_node_get_path }, err);
}

const struct method arbor_node_get_path = {
	.name = "node_get_path",
	.summary = "List the nodes from the root to a node, without their texts",
	.text = "It takes as long as the path is, however large the tree. In a conversation these are the "
		"messages that it "
		"follows, as 'arbor log' shows them.\n",
	.params = one_node_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_get_path a0de02", "the root first" },
					      { 0 } },
	.run = run_path,
};

static enum status context_of(struct call *c, const struct made_node *m, struct err *err)
{
	if (tree_is_graft(&m->tree))
		return mirrored_path_to_made(c, m, NODE_WHOLE, err);
	return along(c, &m->tree, 0, m->node.row, NODE_WHOLE, emit_node, err);
}

static enum status run_context(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .made = context_of, .mirrored = mirrored_context_get_path },
			 err);
}

const struct method arbor_context_get_path = {
	.name = "context_get_path",
	.summary = "Show all nodes from the root to a node",
	.text = "With all that they hold: what a model's context is made of. Texts count by their role, and "
		"a note does "
		"not. Of a conversation it is what the model is sent, as 'arbor log --as-sent --through' "
		"shows it.\n",
	.params = one_node_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.context_get_path a0de02", "the root first" },
					      { 0 } },
	.run = run_context,
};

static const struct field handle_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the node" },
	{ .name = "depth", .type = VALUE_INT, .help = "steps from the root" },
	{ .name = "handle", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "as it was given" },
	{ 0 },
};

static enum status emit_handle(struct call *c, const struct made_node *m, struct err *err)
{
	struct json_writer *w;

	if (m->node.kind != TREE_NODE_EXTERNAL)
		return STATUS_OK;
	w = call_begin(c);
	put_uuid(w, "id", &m->node.id);
	put_int(w, "depth", m->node.depth);
	put_text(w, "handle", m->node.handle);
	return call_emit(c, err);
}

static enum status handles_of(struct call *c, const struct made_node *m, struct err *err)
{
	if (tree_is_graft(&m->tree))
		return mirrored_handles_to_made(c, m, err);
	return along(c, &m->tree, 0, m->node.row, NODE_WHOLE, emit_handle, err);
}

static enum status run_handles(struct call *c, struct err *err)
{
	return with_node(
		c, &(struct node_ways){ .made = handles_of, .mirrored = mirrored_context_get_handles }, err);
}

const struct method arbor_context_get_handles = {
	.name = "context_get_handles",
	.summary = "List the handles on the way from the root to a node",
	.text = "As they were given, for whoever resolves them.\n",
	.params = one_node_params,
	.kind = RESULT_STREAM,
	.fields = handle_fields,
	.empty = "there is no handle on this path",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.context_get_handles a0de03",
						"the first one first" },
					      { 0 } },
	.run = run_handles,
};

/* ---- Between two nodes ----------------------------------------------------------- */

static const struct param two_node_params[] = {
	{ .name = "from",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "FROM",
	  .help = "a node: its id or the beginning of it" },
	{ .name = "to",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "TO",
	  .help = "another node of its tree" },
	{ 0 },
};

struct pair {
	struct made_node from, to;
};

/* Both made, and not on something mirrored. */
static bool is_made_pair(struct call *c, struct pair *p, struct err *err)
{
	return find_node(c, "from", 0, false, &p->from, err) != STATUS_NOT_FOUND &&
	       !tree_is_graft(&p->from.tree);
}

static enum status find_pair(struct call *c, struct pair *p, struct err *err)
{
	return find_node(c, "from", 0, false, &p->from, err) ||
			       find_node(c, "to", p->from.node.tree, false, &p->to, err)
		       ? err_failed(err->status)
		       : STATUS_OK;
}

/* Up from one, without the last, which the way down begins with. */
static enum status emit_way_up(struct call *c, const struct pair *p, int64_t common, struct err *err)
{
	struct made_node m = { .tree = p->from.tree };
	struct tree_node *nodes;
	size_t count;

	if (tree_path(c->store, common, p->from.node.row, &c->mem, &nodes, &count, err))
		return err_failed(err->status);
	for (size_t i = count; i-- > 1;) {
		m.node = nodes[i];
		m.life = life_within(&m.node.life, &m.tree.life);
		if (emit_node(c, &m, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status run_between(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct pair p = { 0 };
	int64_t common;

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	if (!is_made_pair(c, &p, err))
		return mirrored_between(c, err);
	if (find_pair(c, &p, err) || tree_common(c->store, p.from.node.row, p.to.node.row, &common, err) ||
	    emit_way_up(c, &p, common, err))
		return err_failed(err->status);
	return along(c, &p.from.tree, common, p.to.node.row, NODE_SKELETON, emit_node, err);
}

const struct method arbor_node_get_path_between = {
	.name = "node_get_path_between",
	.summary = "List the nodes on the way from one node to another",
	.text = "Both included: up to where their paths part, and down from there. Whoever has read up to "
		"FROM goes on with "
		"the second item.\n",
	.params = two_node_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_get_path_between a0de01 a0de03",
						"what has followed" },
					      { 0 } },
	.run = run_between,
};

static enum status run_common(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct pair p = { 0 };
	struct made_node m;
	int64_t common;

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	if (!is_made_pair(c, &p, err))
		return mirrored_common(c, err);
	if (find_pair(c, &p, err) || tree_common(c->store, p.from.node.row, p.to.node.row, &common, err) ||
	    load_node(c, &p.from.tree, common, NODE_WHOLE, &c->mem, &m, err))
		return err_failed(err->status);
	return emit_node(c, &m, err);
}

const struct method arbor_node_get_common_ancestor = {
	.name = "node_get_common_ancestor",
	.summary = "Show where the paths of two nodes part",
	.text = "The last node that both paths have. It is one of the two when that is above the other.\n",
	.params = two_node_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_get_common_ancestor a0de02 a0de03",
						"where they branched" },
					      { 0 } },
	.run = run_common,
};

/* ---- context_list_leaves ---------------------------------------------------------- */

static const struct param leaves_params[] = {
	TREE_PARAM,
	LIMIT_PARAM,
	{ .name = "after", .type = VALUE_TEXT, .shown = "NODE", .help = "go on behind this node" },
	{ 0 },
};

static enum status emit_leaves(struct call *c, struct tree_walk *walk, const struct tree *t, struct err *err)
{
	struct made_node m = { 0 };
	int64_t row, count = 0;
	bool leaf;

	for (;;) {
		if (call_is_cancelled(c))
			return err_fail(err, STATUS_CANCELLED, "cancelled");
		if (walk_next(walk, &row, err) || (row && walk_is_leaf(walk, &leaf, err)))
			return err_failed(err->status);
		if (!row || (leaf && is_full(c, count)))
			break;
		if (!leaf)
			continue;
		if (load_node(c, t, row, NODE_SKELETON, &c->mem, &m, err) || emit_node(c, &m, err))
			return err_failed(err->status);
		count++;
	}
	if (row)
		note_more(c, &m.node.id);
	return STATUS_OK;
}

static enum status leaves_of(struct call *c, const struct tree *t, struct err *err)
{
	struct tree_walk walk CLEANUP(walk_release) = { 0 };

	if (walk_tree(c, t, 0, false, &walk, err))
		return err_failed(err->status);
	return emit_leaves(c, &walk, t, err);
}

static enum status run_leaves(struct call *c, struct err *err)
{
	return with_tree(
		c, &(struct tree_ways){ .made = leaves_of, .mirrored = mirrored_context_list_leaves }, err);
}

const struct method arbor_context_list_leaves = {
	.name = "context_list_leaves",
	.summary = "List the nodes of a tree that have nothing below them",
	.text = "Each is the end of a context. They come in the order of the tree.\n",
	.params = leaves_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.context_list_leaves 7ee0",
						"where one could go on" },
					      { 0 } },
	.run = run_leaves,
};
