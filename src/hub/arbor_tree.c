/*
 * arbor.tree_*: trees made, read, listed, looked for by their metadata.
 */
#include "hub/arbor_methods.h"

#include "base/json_match.h"
#include "hub/arbor_find.h"
#include "hub/mirrored_methods.h"
#include "store/tree_graft.h"

/* ---- tree_create ------------------------------------------------------------- */

static const struct param create_params[] = {
	OWNER_PARAM("who has the first claim on it"),
	METADATA_PARAM,
	{ .name = "id",
	  .type = VALUE_ID,
	  .help = "its id, random (version 4) and new; left out: one is made" },
	{ 0 },
};

static enum status run_create(struct call *c, struct err *err)
{
	struct tree_new what = { .owner = call_text(c, "owner"), .metadata = call_metadata(c) };
	struct read_txn none = { 0 };
	struct uuid id, given;

	if (uuid_parse(call_text(c, "id"), &given))
		what.id = &given;
	if (begin_call(c, &none, err) || tree_add(c->store, &what, &id, err))
		return err_failed(err->status);
	return emit_tree_now(c, &id, err);
}

const struct method arbor_tree_create = {
	.name = "tree_create",
	.summary = "Make a tree",
	.text = "A tree has a root, to which nodes are added. Its owner has a claim on it, and when the last "
		"claim "
		"is released it goes: see 'tree_release'.\n\nWho gives the id can do the same again after a "
		"failure: the "
		"second time it is refused.\n",
	.params = create_params,
	.kind = RESULT_ONE,
	.fields = tree_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE_MADE,
	.examples = (const struct example[]){ { "call arbor.tree_create --metadata '{\"topic\":\"release\"}'",
						"a tree of your own" },
					      { 0 } },
	.run = run_create,
};

/* ---- tree_get ---------------------------------------------------------------- */

static const struct param one_tree_params[] = { TREE_PARAM, { 0 } };

static enum status emit_tree(struct call *c, const struct tree *t, struct err *err)
{
	struct json_writer *w;
	int64_t nodes;

	if (tree_count(c->store, t->row, &nodes, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_tree(w, t);
	put_int(w, "nodes", nodes);
	return call_emit(c, err);
}

static enum status run_get(struct call *c, struct err *err)
{
	return with_tree(c, &(struct tree_ways){ .made = emit_tree, .mirrored = mirrored_tree_get }, err);
}

const struct method arbor_tree_get = {
	.name = "tree_get",
	.summary = "Show a tree: its owner, metadata, state and size",
	.text = "Of a tree that is archived 'tree_get_archived' is the one to ask.\n",
	.params = one_tree_params,
	.kind = RESULT_ONE,
	.fields = tree_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_get 7ee0", "by the beginning of its id" },
					      { 0 } },
	.run = run_get,
};

static enum status run_get_archived(struct call *c, struct err *err)
{
	return with_tree(c,
			 &(struct tree_ways){ .gate = GATE_ARCHIVED,
					      .made = emit_tree,
					      .mirrored = mirrored_tree_get_archived },
			 err);
}

const struct method arbor_tree_get_archived = {
	.name = "tree_get_archived",
	.summary = "Show a tree that is archived",
	.text = "What is archived is purged when it is due. 'tree_rescue' makes it active again; its nodes "
		"are read with "
		"'tree_get_skeleton --archived' and 'node_get_archived'.\n",
	.params = one_tree_params,
	.kind = RESULT_ONE,
	.fields = tree_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_get_archived 7ee1", "before it is purged" },
					      { 0 } },
	.run = run_get_archived,
};

/* ---- tree_get_skeleton --------------------------------------------------------- */

static const struct param skeleton_params[] = {
	TREE_PARAM,
	{ .name = "archived", .type = VALUE_BOOL, .help = "also what is archived" },
	LIMIT_PARAM,
	{ .name = "after", .type = VALUE_TEXT, .shown = "NODE", .help = "go on behind this node" },
	{ 0 },
};

static enum status emit_skeleton(struct call *c, struct tree_walk *walk, const struct tree *t,
				 struct err *err)
{
	struct made_node m = { 0 };
	int64_t row, count = 0;

	for (;;) {
		if (walk_next(walk, &row, err))
			return err_failed(err->status);
		if (!row)
			return STATUS_OK;
		if (is_full(c, count)) {
			note_more(c, &m.node.id);
			return STATUS_OK;
		}
		if (load_node(c, t, row, NODE_SKELETON, &c->mem, &m, err) || emit_node(c, &m, err))
			return err_failed(err->status);
		count++;
	}
}

static enum status skeleton_of(struct call *c, const struct tree *t, struct err *err)
{
	struct tree_walk walk CLEANUP(walk_release) = { 0 };

	if (walk_tree(c, t, 0, call_flag(c, "archived"), &walk, err))
		return err_failed(err->status);
	return emit_skeleton(c, &walk, t, err);
}

static enum status run_skeleton(struct call *c, struct err *err)
{
	return with_tree(c,
			 &(struct tree_ways){ .gate = GATE_ANY,
					      .made = skeleton_of,
					      .mirrored = mirrored_tree_get_skeleton },
			 err);
}

const struct method arbor_tree_get_skeleton = {
	.name = "tree_get_skeleton",
	.summary = "List the nodes of a tree without their texts",
	.text = "Each node is followed by what is below it, siblings in their order. A page goes on behind "
		"any node and costs "
		"as much in a large tree as in a small one.\n",
	.params = skeleton_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_get_skeleton 7ee0 --limit 100",
						"the first hundred nodes" },
					      { 0 } },
	.run = run_skeleton,
};

/* ---- tree_list ---------------------------------------------------------------- */

#define AFTER_TREE_PARAM \
	{ \
		.name = "after", .type = VALUE_TEXT, .shown = "TREE", .help = "go on behind this tree" \
	}

static const struct param list_params[] = {
	{ .name = "state",
	  .type = VALUE_ENUM,
	  .choices = tree_states,
	  .initial = "active",
	  .help = "only trees in this state" },
	{ .name = "mirrored",
	  .type = VALUE_BOOL,
	  .letter = 'm',
	  .help = "conversations instead of what was made" },
	{ .name = "agents",
	  .type = VALUE_BOOL,
	  .letter = 'a',
	  .help = "with --mirrored: also those of sub-agents" },
	LIMIT_PARAM,
	AFTER_TREE_PARAM,
	{ 0 },
};
static const struct param list_state_params[] = { LIMIT_PARAM, AFTER_TREE_PARAM, { 0 } };

struct listing {
	struct call *call;
	int64_t count;
	struct uuid last;
	bool full;
	/* Of metadata, when that is looked at. */
	struct json wanted;
	struct json found;
};

static void listing_release(struct listing *l)
{
	json_release(&l->wanted);
	json_release(&l->found);
}

static enum status list_tree(void *ctx, const struct tree *t, bool *go_on, struct err *err)
{
	struct listing *l = ctx;

	if (call_is_cancelled(l->call))
		return err_fail(err, STATUS_CANCELLED, "cancelled");
	if (l->wanted.count) {
		if (!t->metadata.p)
			return STATUS_OK;
		if (json_read(&l->found, t->metadata, LIMIT_METADATA_DEPTH, err))
			return err_pass(err, "%s: metadata of a tree", store_path(l->call->store));
		if (!json_contains(&l->found, 0, &l->wanted, 0))
			return STATUS_OK;
	}
	l->full = is_full(l->call, l->count);
	*go_on = !l->full;
	if (l->full) {
		note_more(l->call, &l->last);
		return STATUS_OK;
	}
	l->count++;
	l->last = t->id;
	put_tree(call_begin(l->call), t);
	return call_emit(l->call, err);
}

/* The row of the tree behind which a list goes on; 0 = it begins. *is_made false: that is a mirrored one, and
 * made ones come before these. */
static enum status find_after(struct call *c, int64_t *row, bool *is_made, struct err *err)
{
	struct str text = call_text(c, "after");
	enum status status;
	struct uuid id;
	struct tree t;

	*row = 0;
	*is_made = true;
	if (!text.p)
		return STATUS_OK;
	status = tree_find(c->store, made_name(c, text), &id, err);
	status = status ? status : tree_get(c->store, &id, &c->mem, &t, err);
	*is_made = status != STATUS_NOT_FOUND && (status || !tree_is_graft(&t));
	if (status || !*is_made)
		return *is_made ? err_pass(err, "after") : STATUS_OK;
	if (!t.row)
		return err_fail(err, STATUS_NOT_FOUND,
				"after: this tree was purged meanwhile; begin again without it");
	*row = t.row;
	return STATUS_OK;
}

static enum status list_trees(struct call *c, enum life_state state, struct listing *l, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	int64_t after;
	bool is_made;

	l->call = c;
	if (read_begin(c->store, &snapshot, err) || find_after(c, &after, &is_made, err) ||
	    (is_made && tree_each(c->store, state, after, list_tree, l, err)))
		return err_failed(err->status);
	/* There is one for every conversation: those that are active are listed when they are asked for. */
	if (state == LIFE_ACTIVE || l->full || l->wanted.count)
		return STATUS_OK;
	return mirrored_tree_list(c, state, l->count, err);
}

static enum status list_mirrored(struct call *c, enum life_state state, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	return read_begin(c->store, &snapshot, err) ? err_failed(err->status)
						    : mirrored_tree_list(c, state, 0, err);
}

static enum life_state wanted_state(const struct call *c)
{
	for (int i = 0; tree_states[i]; i++)
		if (str_eq(call_text(c, "state"), str_of(tree_states[i])))
			return (enum life_state)i;
	return LIFE_ACTIVE;
}

static enum status run_list(struct call *c, struct err *err)
{
	if (call_flag(c, "mirrored"))
		return list_mirrored(c, wanted_state(c), err);
	return list_trees(c, wanted_state(c), &(struct listing){ 0 }, err);
}

const struct method arbor_tree_list = {
	.name = "tree_list",
	.summary = "List trees, newest first",
	.text = "Those that are active, unless another state is asked for. With --mirrored every "
		"conversation is a tree, "
		"the one last touched first; one that was forked or copied is in the tree of the other.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = tree_fields,
	.empty = "there is no tree in this state",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_list", "those that are active" },
					      { "call arbor.tree_list --mirrored -n 10",
						"the last ten conversations" },
					      { 0 } },
	.run = run_list,
};

static enum status run_list_scheduled(struct call *c, struct err *err)
{
	return list_trees(c, LIFE_SCHEDULED, &(struct listing){ 0 }, err);
}

const struct method arbor_tree_list_scheduled = {
	.name = "tree_list_scheduled",
	.summary = "List trees that are to go, newest first",
	.text = "They can be read and claimed until they are archived, which is when they are due.\n",
	.params = list_state_params,
	.kind = RESULT_STREAM,
	.fields = tree_fields,
	.empty = "no tree is scheduled",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_list_scheduled",
						"with the day on which each is due" },
					      { 0 } },
	.run = run_list_scheduled,
};

static enum status run_list_archived(struct call *c, struct err *err)
{
	return list_trees(c, LIFE_ARCHIVED, &(struct listing){ 0 }, err);
}

const struct method arbor_tree_list_archived = {
	.name = "tree_list_archived",
	.summary = "List trees that are archived, newest first",
	.text = "They are purged when they are due; 'tree_rescue' makes one active again.\n",
	.params = list_state_params,
	.kind = RESULT_STREAM,
	.fields = tree_fields,
	.empty = "no tree is archived",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_list_archived",
						"with the day on which each is purged" },
					      { 0 } },
	.run = run_list_archived,
};

/* ---- tree_query_by_metadata ---------------------------------------------------- */

static const struct param query_params[] = {
	{ .name = "filter",
	  .type = VALUE_JSON,
	  .flags = PARAM_REQUIRED,
	  .shown = "JSON",
	  .help = "what their metadata has to contain" },
	{ .name = "state",
	  .type = VALUE_ENUM,
	  .choices = tree_states,
	  .initial = "active",
	  .help = "only trees in this state" },
	LIMIT_PARAM,
	AFTER_TREE_PARAM,
	{ 0 },
};

static enum status run_query(struct call *c, struct err *err)
{
	struct listing l CLEANUP(listing_release) = { 0 };
	struct str filter = call_text(c, "filter");

	if (filter.n > LIMIT_FILTER)
		return err_fail(err, STATUS_LIMIT, "filter: may have %zu bytes, this has %zu", LIMIT_FILTER,
				filter.n);
	if (json_read(&l.wanted, filter, LIMIT_METADATA_DEPTH, err))
		return err_pass(err, "filter");
	return list_trees(c, wanted_state(c), &l, err);
}

const struct method arbor_tree_query_by_metadata = {
	.name = "tree_query_by_metadata",
	.summary = "List trees whose metadata contains something, newest first",
	.text = "An object is contained in one that has its members and more; a list in one that has its "
		"elements in any "
		"order; anything else in what is equal to it.\n",
	.params = query_params,
	.kind = RESULT_STREAM,
	.fields = tree_fields,
	.empty = "no tree in this state has such metadata",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "call arbor.tree_query_by_metadata --filter '{\"topic\":\"release\"}'",
			  "whatever else they have" },
			{ 0 } },
	.run = run_query,
};

/* ---- tree_update_metadata ------------------------------------------------------ */

static const struct param update_params[] = {
	TREE_PARAM,
	{ .name = "metadata",
	  .type = VALUE_JSON,
	  .flags = PARAM_REQUIRED,
	  .shown = "JSON",
	  .help = "any JSON value, kept as it is given; null takes away what there is" },
	{ 0 },
};

static enum status update_tree(struct call *c, const struct tree *t, struct err *err)
{
	return tree_set_metadata(c->store, &t->id, call_metadata(c), err) ? err_failed(err->status)
									  : emit_tree_now(c, &t->id, err);
}

static enum status run_update(struct call *c, struct err *err)
{
	return with_tree(c, &(struct tree_ways){ .made = update_tree, .mirrored = NULL }, err);
}

const struct method arbor_tree_update_metadata = {
	.name = "tree_update_metadata",
	.summary = "Replace the metadata of a tree",
	.text = "All of it: what is to stay has to be given again.\n",
	.params = update_params,
	.kind = RESULT_ONE,
	.fields = tree_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "call arbor.tree_update_metadata 7ee0 --metadata '{\"done\":true}'",
			  "instead of what it has" },
			{ 0 } },
	.run = run_update,
};
