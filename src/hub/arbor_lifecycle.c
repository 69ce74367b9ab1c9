/*
 * arbor.*: trees and nodes let go, brought back, taken away; which are to go; and moving on what is due. What
 * the states mean is said in store/lifecycle.h and, for people, in docs/TREES.md.
 */
#include "hub/arbor_methods.h"

#include "hub/arbor_change.h"
#include "hub/mirrored_methods.h"
#include "hub/settings.h"
#include "ingest/purge.h"
#include "live/compact.h"

/* ---- States -------------------------------------------------------------------- */

static const struct field change_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the tree or node" },
	{ .name = "state", .type = VALUE_ENUM, .choices = life_state_names, .help = "where it is now" },
	{ .name = "due", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it moves on" },
	{ .name = "nodes",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "how many nodes came into another state" },
	{ .name = "kept",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "how many stay because they, or something below them, are claimed" },
	{ 0 },
};

enum status emit_change(struct call *c, const struct uuid *id, const struct uuid *tree,
			const struct tree_change *change, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_uuid(w, "id", id);
	if (put_state(c, id, tree, err))
		return err_failed(err->status);
	if (change)
		put_int(w, "nodes", change->changed);
	if (change && change->kept)
		put_int(w, "kept", change->kept);
	return call_emit(c, err);
}

static const struct param schedule_params[] = { TREE_PARAM, OWNER_PARAM("whose claims are released"), { 0 } };
static const struct param one_tree_params[] = { TREE_PARAM, { 0 } };
static const struct param one_node_params[] = { NODE_PARAM, IN_TREE_PARAM, { 0 } };

#define FORCE_PARAM \
	{ \
		.name = "force", .type = VALUE_BOOL, \
		.help = "also when it is claimed; these claims are released" \
	}

static const struct param force_tree_params[] = { TREE_PARAM, FORCE_PARAM, { 0 } };
static const struct param force_node_params[] = { NODE_PARAM, IN_TREE_PARAM, FORCE_PARAM, { 0 } };

static enum status schedule_tree(struct call *c, const struct tree *t, struct err *err)
{
	struct life_windows windows = call_windows(c);

	if (tree_schedule(c->store, &t->id, call_text(c, "owner"), &windows, err))
		return err_failed(err->status);
	return emit_change(c, &t->id, NULL, NULL, err);
}

static enum status rescue_tree(struct call *c, const struct tree *t, struct err *err)
{
	return tree_rescue(c->store, &t->id, err) ? err_failed(err->status)
						  : emit_change(c, &t->id, NULL, NULL, err);
}

static enum status move_tree(struct call *c, const struct tree *t, enum life_state to, struct err *err)
{
	struct life_windows windows = call_windows(c);
	struct tree_change change;

	if (tree_move(c->store, &t->id, to, call_flag(c, "force"), &windows, &change, err) ||
	    (to == LIFE_PURGED && purge_traces(c->store, err)))
		return err_failed(err->status);
	return emit_change(c, &t->id, NULL, to == LIFE_PURGED ? &change : NULL, err);
}

static enum status archive_tree(struct call *c, const struct tree *t, struct err *err)
{
	return move_tree(c, t, LIFE_ARCHIVED, err);
}

static enum status purge_tree(struct call *c, const struct tree *t, struct err *err)
{
	return move_tree(c, t, LIFE_PURGED, err);
}

static enum status delete_node(struct call *c, const struct made_node *m, struct err *err)
{
	struct life_windows windows = call_windows(c);
	struct tree_change change;

	if (tree_node_delete(c->store, &m->node.id, &windows, &change, err))
		return err_failed(err->status);
	return emit_change(c, &m->node.id, &m->tree.id, &change, err);
}

static enum status rescue_node(struct call *c, const struct made_node *m, struct err *err)
{
	struct tree_change change;

	if (tree_node_rescue(c->store, &m->node.id, &change, err))
		return err_failed(err->status);
	return emit_change(c, &m->node.id, &m->tree.id, &change, err);
}

static enum status move_node(struct call *c, const struct made_node *m, enum life_state to, struct err *err)
{
	struct life_windows windows = call_windows(c);
	struct tree_change change;

	if (tree_node_move(c->store, &m->node.id, to, call_flag(c, "force"), &windows, &change, err) ||
	    (to == LIFE_PURGED && purge_traces(c->store, err)))
		return err_failed(err->status);
	return emit_change(c, &m->node.id, &m->tree.id, &change, err);
}

static enum status archive_node(struct call *c, const struct made_node *m, struct err *err)
{
	return move_node(c, m, LIFE_ARCHIVED, err);
}

static enum status purge_node(struct call *c, const struct made_node *m, struct err *err)
{
	return move_node(c, m, LIFE_PURGED, err);
}

static enum status run_schedule(struct call *c, struct err *err)
{
	return with_tree(c, &(struct tree_ways){ .made = schedule_tree, .mirrored = mirrored_tree_schedule },
			 err);
}

static enum status run_tree_rescue(struct call *c, struct err *err)
{
	return with_tree(c,
			 &(struct tree_ways){
				 .gate = GATE_ANY, .made = rescue_tree, .mirrored = mirrored_tree_rescue },
			 err);
}

static enum status run_tree_archive(struct call *c, struct err *err)
{
	return with_tree(c, &(struct tree_ways){ .made = archive_tree, .mirrored = mirrored_tree_archive },
			 err);
}

static enum status run_tree_purge(struct call *c, struct err *err)
{
	return with_tree(c,
			 &(struct tree_ways){
				 .gate = GATE_ANY, .made = purge_tree, .mirrored = mirrored_tree_purge },
			 err);
}

static enum status run_delete(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .made = delete_node, .mirrored = mirrored_node_stays }, err);
}

static enum status run_node_rescue(struct call *c, struct err *err)
{
	return with_node(c,
			 &(struct node_ways){
				 .gate = GATE_ANY, .made = rescue_node, .mirrored = mirrored_node_stays },
			 err);
}

static enum status run_node_archive(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .made = archive_node, .mirrored = mirrored_node_stays }, err);
}

static enum status run_node_purge(struct call *c, struct err *err)
{
	return with_node(c,
			 &(struct node_ways){
				 .gate = GATE_ANY, .made = purge_node, .mirrored = mirrored_node_purge },
			 err);
}

const struct method arbor_tree_schedule = {
	.name = "tree_schedule",
	.summary = "Let a tree go",
	.text = "Releases all your claims on it; while others claim it, it is refused and says who. What "
		"follows is said at "
		"'tree_release'.\n",
	.params = schedule_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_schedule 7ee0",
						"it can be rescued for some weeks" },
					      { 0 } },
	.run = run_schedule,
};

const struct method arbor_tree_rescue = {
	.name = "tree_rescue",
	.summary = "Make a tree active again that was to go",
	.text = "One that is scheduled or archived, with its nodes as they were. Where nobody claims it, whoever "
		"made it has a claim again, as at first.\n",
	.params = one_tree_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_rescue 7ee1", "back from the archive" },
					      { 0 } },
	.run = run_tree_rescue,
};

const struct method arbor_tree_archive = {
	.name = "tree_archive",
	.summary = "Archive a tree now",
	.text = "Without waiting. It is refused while the tree or a node in it is claimed.\n",
	.params = force_tree_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_archive 7ee0 --force", "whoever claims it" },
					      { 0 } },
	.run = run_tree_archive,
};

const struct method arbor_tree_purge = {
	.name = "tree_purge",
	.summary = "Take a tree away for good, now",
	.text = "With all its nodes, whatever state it is in. It cannot be undone, and nothing gets their "
		"ids again. It is "
		"refused while the tree or a node in it is claimed.\n\nA conversation goes with its "
		"sub-agents and with "
		"made nodes that hang on it, as 'arbor purge' says; while one of these nodes is claimed, "
		"--force does not "
		"help.\n",
	.params = force_tree_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_purge 7ee1", "before it is due" }, { 0 } },
	.run = run_tree_purge,
};

const struct method arbor_node_delete = {
	.name = "node_delete",
	.summary = "Let a node go, and all below it",
	.text = "They are scheduled: they can be read and claimed for some days, then they are archived, and "
		"some weeks later "
		"purged. What somebody claims stays, with all that is above it, and goes when that is "
		"released.\n",
	.params = one_node_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_delete a0de03",
						"it can be rescued for some weeks" },
					      { 0 } },
	.run = run_delete,
};

const struct method arbor_node_rescue = {
	.name = "node_rescue",
	.summary = "Make a node active again that was to go",
	.text = "With all below it but what was made to go, and with what is above it. One that is scheduled "
		"or archived, by "
		"itself or with its tree.\n",
	.params = one_node_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_rescue a0de09", "back from the archive" },
					      { 0 } },
	.run = run_node_rescue,
};

const struct method arbor_node_archive = {
	.name = "node_archive",
	.summary = "Archive a node now, and all below it",
	.text = "Without waiting. It is refused while one of them is claimed.\n",
	.params = force_node_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_archive a0de03", "before it is due" },
					      { 0 } },
	.run = run_node_archive,
};

const struct method arbor_node_purge = {
	.name = "node_purge",
	.summary = "Take a node away for good, now, and all below it",
	.text = "Whatever state it is in. It cannot be undone, and nothing gets their ids again. It is "
		"refused while one of "
		"them is claimed.\n\nOf a conversation it takes the lines of the node, as 'arbor purge' "
		"does, and not what "
		"follows it; while the conversation is claimed, by its standing claim or another, --force is "
		"needed.\n",
	.params = force_node_params,
	.kind = RESULT_ONE,
	.fields = change_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_purge a0de03", "before it is due" }, { 0 } },
	.run = run_node_purge,
};

/* ---- Lists --------------------------------------------------------------------- */

static const struct param list_params[] = {
	{ .name = "tree",
	  .type = VALUE_TEXT,
	  .shown = "TREE",
	  .names = "arbor.tree_list",
	  .help = "only nodes of this tree" },
	LIMIT_PARAM,
	{ .name = "after", .type = VALUE_TEXT, .shown = "NODE", .help = "go on behind this node" },
	{ 0 },
};

struct listing {
	struct call *call;
	int64_t count;
	struct uuid last;
};

static enum status list_node(void *ctx, const struct tree_node *n, bool *go_on, struct err *err)
{
	struct listing *l = ctx;
	struct made_node m = { .node = *n, .life = n->life };

	*go_on = !is_full(l->call, l->count);
	if (!*go_on) {
		note_more(l->call, &l->last);
		return STATUS_OK;
	}
	l->count++;
	l->last = n->id;
	if (tree_at(l->call->store, n->tree, &l->call->mem, &m.tree, err))
		return err_failed(err->status);
	return emit_node(l->call, &m, err);
}

static enum status list_nodes(struct call *c, enum life_state state, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l = { .call = c };
	struct made_node after = { 0 };
	struct tree t = { 0 };
	struct uuid id;

	if (read_begin(c->store, &snapshot, err) ||
	    (call_text(c, "tree").p && (tree_find(c->store, made_name(c, call_text(c, "tree")), &id, err) ||
					tree_get(c->store, &id, &c->mem, &t, err))) ||
	    (call_text(c, "after").p && find_node(c, "after", t.row, true, &after, err)))
		return err_failed(err->status);
	if (after.node.row && after.node.life.state != state)
		return err_fail(err, STATUS_USAGE,
				"after: this node has moved on meanwhile; begin again without it");
	return tree_node_each(c->store, state, t.row, after.node.life.due_at, &after.node.id, list_node, &l,
			      err);
}

static enum status run_list_scheduled(struct call *c, struct err *err)
{
	return list_nodes(c, LIFE_SCHEDULED, err);
}

static enum status run_list_archived(struct call *c, struct err *err)
{
	return list_nodes(c, LIFE_ARCHIVED, err);
}

const struct method arbor_node_list_scheduled = {
	.name = "node_list_scheduled",
	.summary = "List nodes that are to go, those that are due first first",
	.text = "By themselves: nodes of a tree that is to go are not among them.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.empty = "no node is scheduled",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_list_scheduled --tree 7ee0", "of one tree" },
					      { 0 } },
	.run = run_list_scheduled,
};

const struct method arbor_node_list_archived = {
	.name = "node_list_archived",
	.summary = "List nodes that are archived, those that are due first first",
	.text = "By themselves: nodes of a tree that is archived are not among them.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.empty = "no node is archived",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_list_archived", "of all trees" }, { 0 } },
	.run = run_list_archived,
};

/* ---- gc ------------------------------------------------------------------------ */

static const struct param gc_params[] = {
	{ .name = "dry_run", .type = VALUE_BOOL, .help = "say what would move, and change nothing" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "0",
	  .least = 0,
	  .most = INT64_MAX,
	  .help = "at most so many trees and nodes; 0 for all that are due" },
	{ 0 },
};

static const struct field gc_fields[] = {
	{ .name = "dry_run",
	  .type = VALUE_BOOL,
	  .flags = FIELD_HIDDEN,
	  .help = "whether nothing was changed" },
	{ .name = "trees_archived",
	  .type = VALUE_INT,
	  .help = "trees that were scheduled and are archived now" },
	{ .name = "nodes_archived", .type = VALUE_INT, .help = "nodes so, by themselves" },
	{ .name = "trees_purged", .type = VALUE_INT, .help = "trees that were archived and are gone now" },
	{ .name = "nodes_purged", .type = VALUE_INT, .help = "nodes so, by themselves or with their trees" },
	{ .name = "streams_compacted",
	  .type = VALUE_INT,
	  .help = "streams of agents whose words were put together" },
	{ .name = "more", .type = VALUE_BOOL, .help = "whether something may be due still" },
	{ 0 },
};

static enum status gc_streams(struct call *c, bool dry_run, int64_t *out, struct err *err)
{
	int64_t before = compact_before(c->store, settings_int(c->settings, "streams.delta_days")), events;

	return dry_run ? stream_uncompacted_count(c->store, before, out, err)
		       : compact_streams(c->store, before, INT64_MAX, out, &events, err);
}

static enum status run_gc(struct call *c, struct err *err)
{
	struct gc_options o = { .windows = call_windows(c),
				.dry_run = call_flag(c, "dry_run"),
				.limit = call_int(c, "limit"),
				.purge = mirrored_purge_due,
				.ctx = c };
	struct json_writer *w;
	struct gc_report r;
	int64_t streams;

	if (gc_run(c->store, &o, &r, err) || gc_streams(c, o.dry_run, &streams, err))
		return err_failed(err->status);
	if (!o.dry_run &&
	    (r.trees_purged + r.nodes_purged ? purge_traces(c->store, err) : purge_complete(c->store, err)))
		return err_failed(err->status);
	w = call_begin(c);
	put_bool(w, "dry_run", o.dry_run);
	put_int(w, "trees_archived", r.trees_archived);
	put_int(w, "nodes_archived", r.nodes_archived);
	put_int(w, "trees_purged", r.trees_purged);
	put_int(w, "nodes_purged", r.nodes_purged);
	put_int(w, "streams_compacted", streams);
	put_bool(w, "more", r.more);
	return call_emit(c, err);
}

const struct method arbor_gc = {
	.name = "gc",
	.verb = "gc",
	.also = "prune clean vacuum",
	.group = "store",
	.summary = "Archive and purge trees and nodes whose time has come",
	.text = "What nobody keeps is scheduled for some days ('lifecycle.scheduled_days'), archived for "
		"some weeks "
		"('lifecycle.archived_days'), and purged then. This moves on what is due; until it is run, "
		"everything stays "
		"where it is. What it archives has its whole time from then on. Conversations that are purged "
		"are "
		"overwritten in the store, as 'arbor purge' says.\n\n"
		"What agents said word by word, more than 'streams.delta_days' ago, is put together block by block: "
		"'claudecode.compact'.\n\nIt works in small steps, "
		"so others can go on "
		"meanwhile; when it is stopped, the next one goes on.\n",
	.params = gc_params,
	.kind = RESULT_ONE,
	.fields = gc_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "gc --dry-run", "what would go" },
					      { "gc", "move on what is due" },
					      { 0 } },
	.run = run_gc,
};
