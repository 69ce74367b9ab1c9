/*
 * Trees and nodes of arbor.*: found by what was typed, looked at through the gate of a method, and shown.
 *
 * What is archived is read by methods that say so, and by no others: whoever reads by mistake what is about
 * to go learns of it before it has gone.
 */
#include "hub/arbor_find.h"

#include "hub/arbor_absent.h"
#include "hub/handle_node.h"
#include "hub/meant.h"
#include "hub/mirrored.h"
#include "hub/settings.h"
#include "store/tree_graft.h"

#include <string.h>

/* Of made nodes (tree_node_kinds) and of mirrored ones. */
static const char *const node_kinds[] = { "root",	 "text",    "external", "turn",
					  "message",	 "content", "thinking", "tool_use",
					  "tool_result", "event",   NULL };

const char *const tree_states[] = { "active", "scheduled", "archived", NULL };

const struct field tree_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the tree" },
	{ .name = "root", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "its root node" },
	{ .name = "state",
	  .type = VALUE_ENUM,
	  .choices = life_state_names,
	  .help = "where it is in its lifecycle" },
	{ .name = "due",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "when it moves on: scheduled to archived, archived to purged" },
	{ .name = "since",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when it came into this state" },
	{ .name = "owner", .type = VALUE_TEXT, .help = "who made it; 'mirror' = it is a conversation" },
	{ .name = "created",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "when; of a conversation, its first line" },
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_HIDDEN | FIELD_OPTIONAL,
	  .help = "when its metadata was last set; of a conversation, its last line" },
	{ .name = "nodes",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "how many it has, its root included" },
	{ .name = "turns",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "conversation: how many it has" },
	{ .name = "messages",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "conversation: so too" },
	{ .name = "events",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "conversation: lines that are no message" },
	{ .name = "handle",
	  .type = VALUE_HANDLE,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what names it everywhere" },
	{ .name = "metadata",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL | FIELD_STRETCH,
	  .help = "as it was given; of a conversation what is known of it" },
	{ 0 },
};

const struct field node_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the node" },
	{ .name = "tree", .type = VALUE_ID, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, .help = "it is in" },
	{ .name = "parent",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what contains it; a root has none" },
	{ .name = "prev",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what it follows" },
	{ .name = "depth", .type = VALUE_INT, .help = "steps from the root" },
	{ .name = "position",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "among the children of its parent, from 1 on" },
	{ .name = "kind", .type = VALUE_ENUM, .choices = node_kinds, .help = "what it is" },
	{ .name = "role",
	  .type = VALUE_ENUM,
	  .choices = tree_node_roles,
	  .flags = FIELD_OPTIONAL,
	  .help = "how it counts in a model's context; a note does not" },
	{ .name = "state",
	  .type = VALUE_ENUM,
	  .choices = life_state_names,
	  .help = "where it is in its lifecycle" },
	{ .name = "due",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when it moves on" },
	{ .name = "since",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when it came into this state" },
	{ .name = "ephemeral",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "it was made to go" },
	{ .name = "created",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when it was made" },
	{ .name = "replaces",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the node it is an update of" },
	{ .name = "metadata",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "as it was given" },
	{ .name = "session",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "mirrored: it was said in" },
	{ .name = "number",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "turn: counted along its way" },
	{ .name = "type",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "event: of the line" },
	{ .name = "brief",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "event: what it is about, in a line" },
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "tool_use: of the tool" },
	{ .name = "tool_id",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "tool_use, tool_result: what joins the two" },
	{ .name = "error",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "tool_result: it failed" },
	{ .name = "input",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "tool_use: what it was given" },
	{ .name = "sent",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "mirrored, in a context: its blocks as the API takes them" },
	{ .name = "handle",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "external: as it was given; else, unless many are listed, what names it everywhere" },
	{ .name = "content",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_STRETCH,
	  .help = "what it says, all of it" },
	{ 0 },
};

struct life_windows call_windows(const struct call *c)
{
	static const int64_t day = (int64_t)24 * 60 * 60 * 1000;

	return (struct life_windows){ settings_int(c->settings, "lifecycle.scheduled_days") * day,
				      settings_int(c->settings, "lifecycle.archived_days") * day };
}

struct str call_metadata(const struct call *c)
{
	struct str json = call_text(c, "metadata");

	return !str_eq(json, STR("null")) ? json : (struct str){ 0 };
}

bool is_full(const struct call *c, int64_t count)
{
	int64_t limit = call_int(c, "limit");

	return limit && count >= limit;
}

void note_more(struct call *c, const struct uuid *last)
{
	char id[UUID_TEXT + 1];

	uuid_print(last, id);
	call_note(c, "there is more: --after %s goes on", id);
}

/* ---- Showing ----------------------------------------------------------------- */

void put_life(struct json_writer *w, const struct life *l)
{
	put_text(w, "state", str_of(life_state_names[l->state]));
	if (l->state == LIFE_ACTIVE)
		return;
	if (l->due_at)
		put_time(w, "due", l->due_at);
	put_time(w, "since", l->since_at);
}

static void put_json(struct json_writer *w, const char *name, struct str json)
{
	if (!json.p)
		return;
	json_write_key(w, str_of(name));
	json_write_raw(w, json);
}

static void put_some_id(struct json_writer *w, const char *name, const struct uuid *id)
{
	static const struct uuid none = { 0 };

	if (!uuid_eq(id, &none))
		put_uuid(w, name, id);
}

void put_tree(struct json_writer *w, const struct tree *t)
{
	struct node_handle handle = handle_of_tree(&t->id);

	put_uuid(w, "id", &t->id);
	put_some_id(w, "root", &t->root_id);
	put_life(w, &t->life);
	put_text(w, "owner", t->owner);
	put_time(w, "created", t->created_at);
	put_time(w, "updated", t->updated_at);
	put_handle(w, &handle);
	put_json(w, "metadata", t->metadata);
}

void put_node(struct json_writer *w, const struct made_node *m)
{
	const struct tree_node *n = &m->node;

	put_uuid(w, "id", &n->id);
	put_uuid(w, "tree", &m->tree.id);
	put_some_id(w, "parent", &n->parent_id);
	put_some_id(w, "prev", &n->parent_id);
	put_int(w, "depth", n->depth);
	put_int(w, "position", n->position);
	put_text(w, "kind", str_of(tree_node_kinds[n->kind]));
	if (n->kind == TREE_NODE_TEXT)
		put_text(w, "role", str_of(tree_node_roles[n->role]));
	put_life(w, &m->life);
	if (n->life.ephemeral)
		put_bool(w, "ephemeral", true);
	put_time(w, "created", n->created_at);
	put_some_id(w, "replaces", &n->replaces_id);
	put_json(w, "metadata", n->metadata);
	if (n->handle.p)
		put_text(w, "handle", n->handle);
	if (n->content.p)
		put_text(w, "content", n->content);
}

enum status emit_node(struct call *c, const struct made_node *n, struct err *err)
{
	struct node_handle handle = handle_of_made_node(&n->node.id);
	struct made_node placed = *n;
	enum status status = STATUS_OK;
	MIRRORED m = { 0 };

	/* What hangs on something mirrored is a part of that tree, unless that was purged. */
	if (tree_is_graft(&n->tree))
		status = mirrored_below(c, n, &m, err);
	if (status == STATUS_OK && tree_is_graft(&n->tree))
		status = mirrored_place(&m, &placed, -1, err);
	if (status != STATUS_OK && status != STATUS_GONE)
		return status;
	put_node(call_begin(c), &placed);
	if (n->node.kind != TREE_NODE_EXTERNAL)
		put_handle(&c->writer, &handle);
	return call_emit(c, err);
}

/* ---- Finding ----------------------------------------------------------------- */

enum status pass_gate(enum gate gate, const struct subject *what, const struct life *l, struct err *err)
{
	/* Of what is purged nothing is left to show. */
	if (gate == GATE_ARCHIVED)
		return life_archived(what, l, err);
	return gate == GATE_ALIVE || l->state == LIFE_PURGED ? life_alive(what, l, err) : STATUS_OK;
}

/* A row that only stands for something else. */
static enum status is_mirrored(struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "this was not made but mirrored");
}

struct str made_name(struct call *c, struct str text)
{
	char id[UUID_TEXT + 1];
	struct meant what;
	struct err ignored;

	if (!(text.n && text.p[0] == '@') && !handle_is_like(text))
		return text;
	if (meant_find(c->store, text, MEANT_TREE | MEANT_NODE, &c->mem, &what, &ignored))
		return text;
	uuid_print(&what.id, id);
	return arena_str(&c->mem, str_of(id));
}

/* *made: something of this id was made, whatever has become of it. */
static enum status find_tree(struct call *c, struct str text, enum gate gate, struct tree *out, bool *made,
			     struct err *err)
{
	struct uuid id;

	*made = false;
	if (tree_find(c->store, made_name(c, text), &id, err) || tree_get(c->store, &id, &c->mem, out, err))
		return err_failed(err->status);
	if (tree_is_graft(out))
		return is_mirrored(err);
	*made = true;
	return pass_gate(gate, &(struct subject){ SUBJECT_TREE, out->id }, &out->life, err);
}

/* Its tree, and what follows from that for it. */
static enum status complete(struct call *c, struct made_node *m, struct err *err)
{
	if (!m->node.row) {
		m->life = m->node.life;
		return STATUS_OK;
	}
	if (tree_at(c->store, m->node.tree, &c->mem, &m->tree, err))
		return err_failed(err->status);
	m->life = life_within(&m->node.life, &m->tree.life);
	return STATUS_OK;
}

static enum status find_in(struct call *c, struct str text, enum tree_node_part part, enum gate gate,
			   struct made_node *out, bool *made, struct err *err)
{
	struct uuid id;

	*made = false;
	if (tree_node_find(c->store, made_name(c, text), &id, err) ||
	    tree_node_get(c->store, &id, part, &c->mem, &out->node, err) || complete(c, out, err))
		return err_failed(err->status);
	if (out->node.row && out->node.kind == TREE_NODE_ROOT && tree_is_graft(&out->tree))
		return is_mirrored(err);
	*made = true;
	return pass_gate(gate, &(struct subject){ SUBJECT_NODE, out->node.id }, &out->life, err);
}

static enum status not_in(const struct made_node *m, const struct uuid *tree, struct err *err)
{
	char node[UUID_TEXT + 1], wanted[UUID_TEXT + 1];

	uuid_print(&m->node.id, node);
	uuid_print(tree, wanted);
	return err_fail(err, STATUS_USAGE, "node %s is not in tree %s", node, wanted);
}

enum status find_node(struct call *c, const char *param, int64_t tree, bool archived, struct made_node *out,
		      struct err *err)
{
	struct tree wanted;
	bool made;

	if (find_in(c, call_text(c, param), NODE_SKELETON, archived ? GATE_ANY : GATE_ALIVE, out, &made, err) &&
	    absent_explain(c, call_text(c, param), ABSENT_NODE_BESIDE, err))
		return err_pass(err, "%s", param);
	if (!tree || out->node.tree == tree)
		return STATUS_OK;
	return tree_at(c->store, tree, &c->mem, &wanted, err) ? err_failed(err->status)
							      : not_in(out, &wanted.id, err);
}

enum status load_node(struct call *c, const struct tree *t, int64_t row, enum tree_node_part part,
		      struct arena *mem, struct made_node *out, struct err *err)
{
	if (tree_node_at(c->store, row, part, mem, &out->node, err))
		return err_failed(err->status);
	out->tree = *t;
	out->life = life_within(&out->node.life, &t->life);
	return STATUS_OK;
}

enum status walk_tree(struct call *c, const struct tree *t, int64_t top, bool archived,
		      struct tree_walk *walk, struct err *err)
{
	struct made_node after = { 0 };
	struct tree_node root = { .row = top };
	int64_t common = top;

	if (!archived && life_alive(&(struct subject){ SUBJECT_TREE, t->id }, &t->life, err))
		return err_failed(err->status);
	if ((!top && tree_node_get(c->store, &t->root_id, NODE_SKELETON, &c->mem, &root, err)) ||
	    (call_text(c, "after").p && find_node(c, "after", t->row, archived, &after, err)) ||
	    (top && after.node.row && tree_common(c->store, top, after.node.row, &common, err)))
		return err_failed(err->status);
	if (common != top)
		return err_fail(err, STATUS_USAGE, "after: this node is not below the other");
	return walk_begin(walk, c->store, root.row, after.node.row, archived, err);
}

struct str call_if_has(const struct call *c, const char *name)
{
	for (const struct param *p = c->method->params; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return call_text(c, name);
	return (struct str){ 0 };
}

static enum status check_mirrored_tree(struct call *c, const struct made_node *n, struct str text,
				       struct err *err)
{
	MIRRORED m = { 0 };
	MIRRORED wanted = { 0 };

	if (mirrored_below(c, n, &m, err) || mirrored_find(c, text, GATE_ANY, &wanted, err))
		return err_failed(err->status);
	if (uuid_eq(&m.grove.trees[grove_tree(&m.grove, m.ref)].id,
		    &wanted.grove.trees[grove_tree(&wanted.grove, wanted.ref)].id))
		return STATUS_OK;
	return not_in(n, &wanted.grove.trees[grove_tree(&wanted.grove, wanted.ref)].id, err);
}

/* A tree that is named beside a node is where that must be. */
static enum status check_tree(struct call *c, const struct made_node *m, struct err *err)
{
	struct str text = call_if_has(c, "tree");
	struct tree wanted;
	bool made;

	if (!text.p)
		return STATUS_OK;
	if (tree_is_graft(&m->tree))
		return check_mirrored_tree(c, m, text, err);
	if (find_tree(c, text, GATE_ANY, &wanted, &made, err))
		return err_failed(err->status);
	return wanted.row == m->node.tree ? STATUS_OK : not_in(m, &wanted.id, err);
}

enum status begin_call(struct call *c, struct read_txn *snapshot, struct err *err)
{
	return c->method->scope == SCOPE_READ ? read_begin(c->store, snapshot, err)
					      : store_sync_next_commit(c->store, err);
}

/* Nothing that was made has this id, or it is no id at all: others may know it. */
static bool is_foreign(enum status status, bool made)
{
	return !made && (status == STATUS_NOT_FOUND || status == STATUS_USAGE);
}

enum status with_tree(struct call *c, const struct tree_ways *ways, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct str text = call_text(c, "tree");
	struct tree t;
	enum status status;
	bool made;

	if (begin_call(c, &snapshot, err))
		return err_failed(err->status);
	status = find_tree(c, text, ways->gate, &t, &made, err);
	if (status == STATUS_OK)
		return ways->made(c, &t, err);
	if (!is_foreign(status, made))
		return status;
	if (!ways->mirrored)
		return absent_explain(c, text, ABSENT_TREE_MADE, err);
	status = ways->mirrored(c, text, err);
	return status ? absent_explain(c, text, ABSENT_TREE, err) : STATUS_OK;
}

enum status with_node(struct call *c, const struct node_ways *ways, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct str text = call_text(c, "node");
	struct made_node m = { 0 };
	enum status status;
	bool made;

	if (begin_call(c, &snapshot, err))
		return err_failed(err->status);
	status = find_in(c, text, ways->part, ways->gate, &m, &made, err);
	if (status == STATUS_OK)
		return check_tree(c, &m, err) ? err_failed(err->status) : ways->made(c, &m, err);
	if (!is_foreign(status, made))
		return status;
	if (!ways->mirrored)
		return absent_explain(c, text, ABSENT_NODE_MADE, err);
	status = ways->mirrored(c, text, err);
	return status ? absent_explain(c, text, ABSENT_NODE, err) : STATUS_OK;
}

/* ---- After a change ------------------------------------------------------------ */

enum status put_state(struct call *c, const struct uuid *id, const struct uuid *tree, struct err *err)
{
	struct life own, home = { 0 };

	if (life_get(c->store, id, &own, err) || (tree && life_get(c->store, tree, &home, err)))
		return err_failed(err->status);
	own = life_within(&own, &home);
	put_text(&c->writer, "state", str_of(life_state_names[own.state]));
	if (own.due_at && own.state != LIFE_ACTIVE)
		put_time(&c->writer, "due", own.due_at);
	return STATUS_OK;
}

enum status emit_tree_now(struct call *c, const struct uuid *id, struct err *err)
{
	struct json_writer *w;
	struct tree t;

	if (tree_get(c->store, id, &c->mem, &t, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_tree(w, &t);
	return call_emit(c, err);
}

enum status emit_node_now(struct call *c, const struct uuid *id, struct err *err)
{
	struct made_node m = { 0 };

	if (tree_node_get(c->store, id, NODE_WHOLE, &c->mem, &m.node, err) || complete(c, &m, err))
		return err_failed(err->status);
	return emit_node(c, &m, err);
}
