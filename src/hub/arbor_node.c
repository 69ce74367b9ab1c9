/*
 * arbor.node_*: nodes made, read one by one, and replaced.
 */
#include "hub/arbor_methods.h"

#include "hub/arbor_absent.h"
#include "hub/arbor_find.h"
#include "hub/arbor_handle.h"
#include "hub/mirrored_methods.h"
#include "store/tree_graft.h"

/* ---- node_create_* ------------------------------------------------------------- */

#define WHERE_PARAMS \
	TREE_PARAM, \
	{ \
		.name = "parent", .type = VALUE_TEXT, .shown = "NODE", \
		.help = "what it is added to; left out: the root of the tree" \
	}
#define CONTENT_PARAM \
	{ \
		.name = "content", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_INPUT, \
		.shown = "TEXT", .help = "the text" \
	}
#define ROLE_PARAM \
	{ \
		.name = "role", .type = VALUE_ENUM, .choices = tree_node_roles, .initial = "note", \
		.help = "how it counts in a model's context; a note does not" \
	}
#define HANDLE_PARAM \
	{ \
		.name = "handle", .type = VALUE_HANDLE, .flags = PARAM_REQUIRED, .shown = "HANDLE", \
		.help = "what it stands for: PLUGIN@VERSION::METHOD:META..., or a JSON object" \
	}
#define NODE_ID_PARAM \
	{ \
		.name = "id", .type = VALUE_ID, \
		.help = "its id, random (version 4) and new; left out: one is made" \
	}

static const struct param text_params[] = { WHERE_PARAMS,   CONTENT_PARAM, ROLE_PARAM,
					    METADATA_PARAM, NODE_ID_PARAM, { 0 } };
static const struct param external_params[] = {
	WHERE_PARAMS, HANDLE_PARAM, METADATA_PARAM, NODE_ID_PARAM, { 0 }
};

static enum tree_node_role given_role(const struct call *c)
{
	for (int i = 0; tree_node_roles[i]; i++)
		if (str_eq(call_text(c, "role"), str_of(tree_node_roles[i])))
			return (enum tree_node_role)i;
	return ROLE_NOTE;
}

static enum status add_node(struct call *c, const struct tree_node_new *what, struct err *err)
{
	struct life_windows windows = call_windows(c);
	struct uuid id;

	return tree_node_add(c->store, what, &windows, &id, err) ? err_failed(err->status)
								 : emit_node_now(c, &id, err);
}

/* Whether it can have children, and is in that tree, is for tree_node_add() to say. */
static enum status find_parent(struct call *c, struct str text, struct uuid *out, struct err *err)
{
	struct tree_node n;

	if (tree_node_find(c->store, made_name(c, text), out, err) == STATUS_OK &&
	    tree_node_get(c->store, out, NODE_SKELETON, &c->mem, &n, err) == STATUS_OK)
		return STATUS_OK;
	return absent_explain(c, text, ABSENT_NODE_BESIDE, err);
}

/* With what all of them take. `t` NULL: in a mirrored tree, which parameter 'tree' names. */
static enum status create(struct call *c, const struct tree *t, struct tree_node_new what, struct err *err)
{
	struct str parent = call_text(c, "parent");
	struct uuid above, id;

	what.metadata = call_metadata(c);
	if (uuid_parse(call_text(c, "id"), &id))
		what.id = &id;
	if (!t)
		return mirrored_node_create(c, call_text(c, "tree"), &what, err);
	what.tree = t->id;
	if (parent.p) {
		if (find_parent(c, parent, &above, err))
			return err_pass(err, "parent");
		what.parent = &above;
	}
	return add_node(c, &what, err);
}

static enum status create_text(struct call *c, const struct tree *t, bool ephemeral, struct err *err)
{
	struct tree_node_new what = { .kind = TREE_NODE_TEXT,
				      .content = call_text(c, "content"),
				      .role = given_role(c),
				      .ephemeral = ephemeral };

	return create(c, t, what, err);
}

static enum status create_external(struct call *c, const struct tree *t, bool ephemeral, struct err *err)
{
	struct tree_node_new what = { .kind = TREE_NODE_EXTERNAL,
				      .handle = call_text(c, "handle"),
				      .ephemeral = ephemeral };

	return tree_handle_check(what.handle, &what.plugin_id, err) ? err_failed(err->status)
								    : create(c, t, what, err);
}

/* Each of them for made and for mirrored trees. */
#define CREATE(name, create_kind, ephemeral) \
	static enum status name(struct call *c, const struct tree *t, struct err *err) \
	{ \
		return create_kind(c, t, ephemeral, err); \
	} \
	static enum status name##_mirrored(struct call *c, struct str id, struct err *err) \
	{ \
		(void)id; \
		return create_kind(c, NULL, ephemeral, err); \
	} \
	static enum status run_##name(struct call *c, struct err *err) \
	{ \
		return with_tree(c, &(struct tree_ways){ .made = (name), .mirrored = name##_mirrored }, err); \
	}

CREATE(text, create_text, false)
CREATE(text_ephemeral, create_text, true)
CREATE(external, create_external, false)
CREATE(external_ephemeral, create_external, true)

#define STAYS_TEXT \
	"\n\nIt stays until somebody deletes it ('node_delete') or its tree goes. Adding it makes all that " \
	"is above it " \
	"active again, if that was scheduled.\n"
#define EPHEMERAL_TEXT \
	"\n\nIt is scheduled from the start, and goes unless somebody claims it ('arbor keep') or adds to " \
	"it something " \
	"that stays.\n"

const struct method arbor_node_create_text = {
	.name = "node_create_text",
	.summary = "Add a text to a tree",
	.text = "The text is kept in the node, which is never changed." STAYS_TEXT,
	.params = text_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "call arbor.node_create_text 7ee0 --parent a0de01 --role user --content 'And now?'",
			  "a question below another node" },
			{ 0 } },
	.run = run_text,
};

const struct method arbor_node_create_text_ephemeral = {
	.name = "node_create_text_ephemeral",
	.summary = "Add a text to a tree, to try something",
	.text = "As 'node_create_text', but it is made to go." EPHEMERAL_TEXT,
	.params = text_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){ { "call arbor.node_create_text_ephemeral 7ee0 --content 'What if?'",
					    "gone after some weeks" },
					  { 0 } },
	.run = run_text_ephemeral,
};

const struct method arbor_node_create_external = {
	.name = "node_create_external",
	.summary = "Add to a tree what a handle stands for",
	.text = "The node holds the handle as it is given; what it stands for stays where it is." STAYS_TEXT,
	.params = external_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "call arbor.node_create_external 7ee0 --handle notes@1.0.0::note:17",
			  "a note of another activation" },
			{ 0 } },
	.run = run_external,
};

const struct method arbor_node_create_external_ephemeral = {
	.name = "node_create_external_ephemeral",
	.summary = "Add to a tree what a handle stands for, to try something",
	.text = "As 'node_create_external', but it is made to go." EPHEMERAL_TEXT,
	.params = external_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "call arbor.node_create_external_ephemeral 7ee0 --handle notes@1.0.0::note:18",
			  "gone after some weeks" },
			{ 0 } },
	.run = run_external_ephemeral,
};

/* ---- node_get ------------------------------------------------------------------ */

static const struct param one_node_params[] = { NODE_PARAM, IN_TREE_PARAM, { 0 } };

static enum status run_get(struct call *c, struct err *err)
{
	return with_node(
		c,
		&(struct node_ways){ .part = NODE_WHOLE, .made = emit_node, .mirrored = mirrored_node_get },
		err);
}

const struct method arbor_node_get = {
	.name = "node_get",
	.summary = "Show a node with all that it holds",
	.text = "Of a node that is archived 'node_get_archived' is the one to ask.\n",
	.params = one_node_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_get a0de01", "by the beginning of its id" },
					      { 0 } },
	.run = run_get,
};

static enum status run_get_archived(struct call *c, struct err *err)
{
	struct node_ways ways = { .gate = GATE_ARCHIVED,
				  .part = NODE_WHOLE,
				  .made = emit_node,
				  .mirrored = mirrored_node_get_archived };

	return with_node(c, &ways, err);
}

const struct method arbor_node_get_archived = {
	.name = "node_get_archived",
	.summary = "Show a node that is archived",
	.text = "By itself, or because its tree is. 'node_rescue' makes it active again.\n",
	.params = one_node_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_get_archived a0de09",
						"before it is purged" },
					      { 0 } },
	.run = run_get_archived,
};

static enum status parent_of(struct call *c, const struct made_node *m, struct err *err)
{
	struct made_node parent;

	if (!m->node.parent)
		return err_fail(err, STATUS_NOT_FOUND, "the root of a tree has no parent");
	if (m->node.depth == 1 && tree_is_graft(&m->tree))
		return mirrored_parent_of_made(c, m, err);
	if (load_node(c, &m->tree, m->node.parent, NODE_WHOLE, &c->mem, &parent, err))
		return err_failed(err->status);
	return emit_node(c, &parent, err);
}

static enum status run_get_parent(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .made = parent_of, .mirrored = mirrored_node_get_parent },
			 err);
}

const struct method arbor_node_get_parent = {
	.name = "node_get_parent",
	.summary = "Show the parent of a node",
	.text = "What contains it, which of a node that was made is also what it follows. Of a conversation "
		"blocks are in "
		"messages, messages and what the client noted in turns, and a turn in the message it goes on "
		"from.\n",
	.params = one_node_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_get_parent a0de02", "one step up" }, { 0 } },
	.run = run_get_parent,
};

/* ---- node_get_children ----------------------------------------------------------- */

static const struct param children_params[] = {
	NODE_PARAM,
	IN_TREE_PARAM,
	{ .name = "archived", .type = VALUE_BOOL, .help = "also what is archived" },
	LIMIT_PARAM,
	{ .name = "after", .type = VALUE_TEXT, .shown = "NODE", .help = "go on behind this child" },
	{ 0 },
};

struct listing {
	struct call *call;
	struct made_node m;
	struct uuid last;
	int64_t count;
};

static enum status list_child(void *ctx, const struct tree_node *n, bool *go_on, struct err *err)
{
	struct listing *l = ctx;

	*go_on = !is_full(l->call, l->count);
	if (!*go_on) {
		note_more(l->call, &l->last);
		return STATUS_OK;
	}
	l->count++;
	l->last = n->id;
	l->m.node = *n;
	l->m.life = life_within(&n->life, &l->m.tree.life);
	return emit_node(l->call, &l->m, err);
}

static enum status children_of(struct call *c, const struct made_node *m, struct err *err)
{
	struct listing l = { .call = c, .m = *m };
	bool archived = call_flag(c, "archived");
	struct made_node after = { 0 };

	if (!archived && life_alive(&(struct subject){ SUBJECT_NODE, m->node.id }, &m->life, err))
		return err_failed(err->status);
	if (call_text(c, "after").p && find_node(c, "after", m->node.tree, archived, &after, err))
		return err_failed(err->status);
	if (after.node.row && after.node.parent != m->node.row)
		return err_fail(err, STATUS_USAGE, "after: this node is no child of the other");
	return tree_node_children(c->store, m->node.row, after.node.position, archived, NODE_WHOLE,
				  list_child, &l, err);
}

static enum status run_get_children(struct call *c, struct err *err)
{
	return with_node(c,
			 &(struct node_ways){ .gate = GATE_ANY,
					      .made = children_of,
					      .mirrored = mirrored_node_get_children },
			 err);
}

const struct method arbor_node_get_children = {
	.name = "node_get_children",
	.summary = "List the children of a node, in their order",
	.text = "With all that they hold. The order is the same wherever they are shown.\n",
	.params = children_params,
	.kind = RESULT_STREAM,
	.fields = node_fields,
	.empty = "it has no children",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_get_children a0de01", "the first fifty" },
					      { 0 } },
	.run = run_get_children,
};

/* ---- node_update ----------------------------------------------------------------- */

static const struct param update_params[] = {
	NODE_PARAM,
	IN_TREE_PARAM,
	{ .name = "content",
	  .type = VALUE_TEXT,
	  .flags = PARAM_INPUT,
	  .shown = "TEXT",
	  .help = "its new text; left out: as it is" },
	{ .name = "handle",
	  .type = VALUE_HANDLE,
	  .shown = "HANDLE",
	  .help = "its new handle; left out: as it is" },
	{ .name = "role",
	  .type = VALUE_ENUM,
	  .choices = tree_node_roles,
	  .help = "its new role; left out: as it is" },
	{ .name = "metadata",
	  .type = VALUE_JSON,
	  .shown = "JSON",
	  .help = "its new metadata; left out: as it is; null: none" },
	NODE_ID_PARAM,
	{ 0 },
};

static enum status check_update(const struct call *c, const struct tree_node *old, struct err *err)
{
	bool text = call_text(c, "content").p || call_text(c, "role").p,
	     handle = call_text(c, "handle").p != NULL;

	if (old->kind == TREE_NODE_ROOT)
		return err_fail(
			err, STATUS_USAGE,
			"the root of a tree holds nothing; 'arbor.tree_update_metadata' is for trees");
	if (text && old->kind == TREE_NODE_EXTERNAL)
		return err_fail(err, STATUS_USAGE, "this node holds a handle and no text");
	if (handle && old->kind == TREE_NODE_TEXT)
		return err_fail(err, STATUS_USAGE, "this node holds a text and no handle");
	if (!text && !handle && !call_text(c, "metadata").p)
		return err_fail(err, STATUS_USAGE,
				"say what is to be different: content, handle, role or metadata");
	return STATUS_OK;
}

static enum status replace(struct call *c, const struct made_node *m, struct err *err)
{
	const struct tree_node *old = &m->node;
	struct tree_node_new what = {
		.tree = m->tree.id,
		.parent = &old->parent_id,
		.kind = old->kind,
		.role = call_text(c, "role").p ? given_role(c) : old->role,
		.content = call_text(c, "content").p ? call_text(c, "content") : old->content,
		.handle = call_text(c, "handle").p ? call_text(c, "handle") : old->handle,
		.plugin_id = old->plugin_id,
		.replaces = &old->id,
		.metadata = call_text(c, "metadata").p ? call_metadata(c) : old->metadata,
		.ephemeral = old->life.ephemeral
	};
	struct uuid id;

	if (check_update(c, old, err) ||
	    (call_text(c, "handle").p && tree_handle_check(what.handle, &what.plugin_id, err)))
		return err_failed(err->status);
	if (uuid_parse(call_text(c, "id"), &id))
		what.id = &id;
	return add_node(c, &what, err);
}

static enum status run_update(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .part = NODE_WHOLE, .made = replace, .mirrored = NULL },
			 err);
}

const struct method arbor_node_update = {
	.name = "node_update",
	.summary = "Make a new node that replaces another",
	.text = "Nodes are never changed. The new one stands last among the children of the same parent and "
		"names the one "
		"that it replaces; the old one, and what is below it, stay as they are. What replaces an "
		"ephemeral node "
		"is ephemeral.\n",
	.params = update_params,
	.kind = RESULT_ONE,
	.fields = node_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_update a0de02 --content 'Better said'",
						"with its role and metadata" },
					      { 0 } },
	.run = run_update,
};
