/*
 * arbor.alias_*: other ids of trees and nodes, given by hand. Whatever takes an id takes an alias.
 */
#include "hub/arbor_methods.h"

#include "hub/arbor_find.h"
#include "store/alias.h"

/* ---- alias_create --------------------------------------------------------------- */

#define TARGET_PARAMS \
	{ .name = "tree", \
	  .type = VALUE_TEXT, \
	  .shown = "TREE", \
	  .names = "arbor.tree_list", \
	  .help = "the tree that is meant" }, \
	{ \
		.name = "node", .type = VALUE_TEXT, .shown = "NODE", .help = "or the node that is meant" \
	}

static const struct param create_params[] = {
	{ .name = "alias",
	  .type = VALUE_ID,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "ID",
	  .help = "the other id, random (version 4) and new" },
	TARGET_PARAMS,
	{ 0 },
};
static const struct param list_params[] = { TARGET_PARAMS, { 0 } };

static const struct field alias_fields[] = {
	{ .name = "alias", .type = VALUE_ID, .flags = FIELD_KEY, .help = "the other id" },
	{ .name = "id", .type = VALUE_ID, .help = "of the tree or node that is meant" },
	{ .name = "created", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it was given" },
	{ 0 },
};

static const struct field delete_fields[] = {
	{ .name = "alias", .type = VALUE_ID, .flags = FIELD_KEY, .help = "that means nothing any more" },
	{ 0 },
};

/* What is to be done with the tree or node that is meant. */
typedef enum status target_fn(struct call *c, const struct subject *target, struct err *err);

static enum status create(struct call *c, const struct subject *target, struct err *err)
{
	struct json_writer *w;
	struct uuid alias;

	if (!uuid_parse(call_text(c, "alias"), &alias))
		return err_fail(err, STATUS_USAGE, "alias: this is no id");
	if (alias_add(c->store, &alias, target, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_uuid(w, "alias", &alias);
	put_uuid(w, "id", &target->id);
	return call_emit(c, err);
}

struct listing {
	struct call *call;
	struct uuid target;
};

static enum status emit_alias(void *ctx, const struct uuid *alias, int64_t created_at, struct err *err)
{
	struct listing *l = ctx;
	struct json_writer *w = call_begin(l->call);

	put_uuid(w, "alias", alias);
	put_uuid(w, "id", &l->target);
	put_time(w, "created", created_at);
	return call_emit(l->call, err);
}

static enum status list(struct call *c, const struct subject *target, struct err *err)
{
	struct listing l = { c, target->id };

	return alias_each(c->store, &target->id, emit_alias, &l, err);
}

static enum status create_of_tree(struct call *c, const struct tree *t, struct err *err)
{
	return create(c, &(struct subject){ SUBJECT_TREE, t->id }, err);
}

static enum status create_of_node(struct call *c, const struct made_node *m, struct err *err)
{
	return create(c, &(struct subject){ SUBJECT_NODE, m->node.id }, err);
}

static enum status list_of_tree(struct call *c, const struct tree *t, struct err *err)
{
	return list(c, &(struct subject){ SUBJECT_TREE, t->id }, err);
}

static enum status list_of_node(struct call *c, const struct made_node *m, struct err *err)
{
	return list(c, &(struct subject){ SUBJECT_NODE, m->node.id }, err);
}

static enum status with_either(struct call *c, const struct tree_ways *tree, const struct node_ways *node,
			       struct err *err)
{
	if (call_text(c, "node").p)
		return with_node(c, node, err);
	if (call_text(c, "tree").p)
		return with_tree(c, tree, err);
	return err_fail(err, STATUS_USAGE, "say which tree or node is meant");
}

static enum status run_create(struct call *c, struct err *err)
{
	return with_either(c, &(struct tree_ways){ .made = create_of_tree, .mirrored = NULL },
			   &(struct node_ways){ .made = create_of_node, .mirrored = NULL }, err);
}

const struct method arbor_alias_create = {
	.name = "alias_create",
	.summary = "Give a tree or node another id",
	.text = "It can be used wherever the id can, until it is deleted.\n",
	.params = create_params,
	.kind = RESULT_ONE,
	.fields = alias_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "call arbor.alias_create a11a5000-0000-4000-8000-000000000002 --tree 7ee0",
			  "an id that another program knows it by" },
			{ 0 } },
	.run = run_create,
};

/* ---- alias_list ------------------------------------------------------------------ */

static enum status run_list(struct call *c, struct err *err)
{
	return with_either(c, &(struct tree_ways){ .gate = GATE_ANY, .made = list_of_tree, .mirrored = NULL },
			   &(struct node_ways){ .gate = GATE_ANY, .made = list_of_node, .mirrored = NULL },
			   err);
}

const struct method arbor_alias_list = {
	.name = "alias_list",
	.summary = "List the other ids of a tree or node",
	.text = "Those that were given by hand, oldest first.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = alias_fields,
	.empty = "it has no other id",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.alias_list --tree 7ee0", "of a tree" }, { 0 } },
	.run = run_list,
};

/* ---- alias_delete ---------------------------------------------------------------- */

static const struct param delete_params[] = {
	{ .name = "alias",
	  .type = VALUE_ID,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "ID",
	  .help = "the other id, whole" },
	{ 0 },
};

static enum status run_delete(struct call *c, struct err *err)
{
	struct read_txn none = { 0 };
	struct json_writer *w;
	struct uuid alias;

	if (!uuid_parse(call_text(c, "alias"), &alias))
		return err_fail(err, STATUS_USAGE, "alias: this is no id");
	if (begin_call(c, &none, err) || alias_remove(c->store, &alias, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_uuid(w, "alias", &alias);
	return call_emit(c, err);
}

const struct method arbor_alias_delete = {
	.name = "alias_delete",
	.summary = "Take away another id of a tree or node",
	.text = "The tree or node stays as it is.\n",
	.params = delete_params,
	.kind = RESULT_ONE,
	.fields = delete_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){ { "call arbor.alias_delete a11a5000-0000-4000-8000-000000000001",
					    "nobody knows it by that any more" },
					  { 0 } },
	.run = run_delete,
};
