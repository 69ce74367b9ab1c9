/*
 * arbor.*: who needs a tree or node to stay. Claims are counted by owner; what follows from them is said in
 * store/lifecycle.h and, for people, in docs/TREES.md.
 */
#include "hub/arbor_methods.h"

#include "hub/arbor_change.h"
#include "hub/mirrored_methods.h"

/* ---- Claims ------------------------------------------------------------------- */

#define COUNT_PARAM(what) \
	{ \
		.name = "count", .type = VALUE_INT, .initial = "1", .least = 1, .most = LIMIT_CLAIMS, \
		.help = (what) \
	}

static const struct param tree_claim_params[] = {
	TREE_PARAM, OWNER_PARAM("who claims it"), COUNT_PARAM("how many times"), { 0 }
};
static const struct param tree_release_params[] = {
	TREE_PARAM, OWNER_PARAM("whose claims"), COUNT_PARAM("how many of them"), { 0 }
};
static const struct param node_claim_params[] = {
	NODE_PARAM, IN_TREE_PARAM, OWNER_PARAM("who claims it"), COUNT_PARAM("how many times"), { 0 }
};
static const struct param node_release_params[] = {
	NODE_PARAM, IN_TREE_PARAM, OWNER_PARAM("whose claims"), COUNT_PARAM("how many of them"), { 0 }
};

static const struct field claim_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the tree or node" },
	{ .name = "owner", .type = VALUE_TEXT, .help = "whose claims" },
	{ .name = "count", .type = VALUE_INT, .help = "how many it has now" },
	{ .name = "state",
	  .type = VALUE_ENUM,
	  .choices = life_state_names,
	  .help = "where the tree or node is now" },
	{ .name = "due", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it moves on" },
	{ 0 },
};

enum status emit_claims(struct call *c, const struct uuid *id, const struct uuid *tree, int64_t count,
			struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_uuid(w, "id", id);
	put_text(w, "owner", call_text(c, "owner"));
	put_int(w, "count", count);
	return put_state(c, id, tree, err) ? err_failed(err->status) : call_emit(c, err);
}

static enum status claim_tree(struct call *c, const struct tree *t, struct err *err)
{
	int64_t now;

	if (tree_claim(c->store, &t->id, call_text(c, "owner"), call_int(c, "count"), &now, err))
		return err_failed(err->status);
	return emit_claims(c, &t->id, NULL, now, err);
}

static enum status release_tree(struct call *c, const struct tree *t, struct err *err)
{
	struct life_windows windows = call_windows(c);
	int64_t now;

	if (tree_release(c->store, &t->id, call_text(c, "owner"), call_int(c, "count"), &windows, &now, err))
		return err_failed(err->status);
	return emit_claims(c, &t->id, NULL, now, err);
}

static enum status claim_node(struct call *c, const struct made_node *m, struct err *err)
{
	int64_t now;

	if (tree_node_claim(c->store, &m->node.id, call_text(c, "owner"), call_int(c, "count"), &now, err) ||
	    mirrored_settle(c, m, err))
		return err_failed(err->status);
	return emit_claims(c, &m->node.id, &m->tree.id, now, err);
}

static enum status release_node(struct call *c, const struct made_node *m, struct err *err)
{
	struct life_windows windows = call_windows(c);
	int64_t now;

	if (tree_node_release(c->store, &m->node.id, call_text(c, "owner"), call_int(c, "count"), &windows,
			      &now, err) ||
	    mirrored_settle(c, m, err))
		return err_failed(err->status);
	return emit_claims(c, &m->node.id, &m->tree.id, now, err);
}

static enum status run_tree_claim(struct call *c, struct err *err)
{
	return with_tree(c, &(struct tree_ways){ .made = claim_tree, .mirrored = mirrored_tree_claim }, err);
}

static enum status run_tree_release(struct call *c, struct err *err)
{
	return with_tree(c,
			 &(struct tree_ways){
				 .gate = GATE_ANY, .made = release_tree, .mirrored = mirrored_tree_release },
			 err);
}

static enum status run_node_claim(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .made = claim_node, .mirrored = mirrored_node_claim }, err);
}

static enum status run_node_release(struct call *c, struct err *err)
{
	return with_node(c,
			 &(struct node_ways){
				 .gate = GATE_ANY, .made = release_node, .mirrored = mirrored_node_release },
			 err);
}

const struct method arbor_tree_claim = {
	.name = "tree_claim",
	.summary = "Claim a tree, so that it stays",
	.text = "Claims are counted for each owner. One that was scheduled to go is active again.\n",
	.params = tree_claim_params,
	.kind = RESULT_ONE,
	.fields = claim_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_claim 7ee0 --owner my-tool",
						"for a program that needs it" },
					      { 0 } },
	.run = run_tree_claim,
};

const struct method arbor_tree_release = {
	.name = "tree_release",
	.summary = "Release claims on a tree",
	.text = "With the last one the tree is scheduled: it can be read and claimed for some days, then it "
		"is archived, "
		"and some weeks later purged with all its nodes. While a node in it is claimed it "
		"stays.\n\nA conversation "
		"has a claim of owner 'mirror' from the start, and only goes when that is released.\n",
	.params = tree_release_params,
	.kind = RESULT_ONE,
	.fields = claim_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_release 7ee0",
						"what its owner does in the end" },
					      { 0 } },
	.run = run_tree_release,
};

const struct method arbor_node_claim = {
	.name = "node_claim",
	.summary = "Claim a node, so that it stays",
	.text = "Claims are counted for each owner. What is above a claimed node stays, too, and so does its "
		"tree; all of it "
		"that was scheduled is active again.\n",
	.params = node_claim_params,
	.kind = RESULT_ONE,
	.fields = claim_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_claim a0de04 --owner my-tool",
						"for a program that needs it" },
					      { 0 } },
	.run = run_node_claim,
};

const struct method arbor_node_release = {
	.name = "node_release",
	.summary = "Release claims on a node",
	.text = "A node that was made to go, or was deleted, is scheduled with its last claim, and so is "
		"what is above it that "
		"nothing else keeps. Another one stays.\n",
	.params = node_release_params,
	.kind = RESULT_ONE,
	.fields = claim_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_release a0de02 --count 2",
						"both that were taken" },
					      { 0 } },
	.run = run_node_release,
};

/* ---- refs ---------------------------------------------------------------------- */

static const struct param tree_refs_params[] = { TREE_PARAM, { 0 } };
static const struct param node_refs_params[] = { NODE_PARAM, IN_TREE_PARAM, { 0 } };

static const struct field ref_fields[] = {
	{ .name = "owner",
	  .type = VALUE_TEXT,
	  .flags = FIELD_KEY,
	  .help = "who claims it; 'tree': it was made to stay; 'mirror': it is a conversation" },
	{ .name = "count", .type = VALUE_INT, .help = "how many times" },
	{ .name = "claimed", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "the first time" },
	{ 0 },
};

enum status emit_ref(void *ctx, const struct claim *claim, struct err *err)
{
	struct call *c = ctx;
	struct json_writer *w = call_begin(c);

	put_text(w, "owner", claim->owner);
	put_int(w, "count", claim->count);
	if (claim->claimed_at)
		put_time(w, "claimed", claim->claimed_at);
	return call_emit(c, err);
}

static enum status refs_of_tree(struct call *c, const struct tree *t, struct err *err)
{
	return claim_each(c->store, &t->id, emit_ref, c, err);
}

static enum status refs_of_node(struct call *c, const struct made_node *m, struct err *err)
{
	struct claim standing = { .owner = STR(CLAIM_TREE), .count = 1 };

	if (!m->node.life.let_go && emit_ref(c, &standing, err))
		return err_failed(err->status);
	return claim_each(c->store, &m->node.id, emit_ref, c, err);
}

static enum status run_tree_refs(struct call *c, struct err *err)
{
	return with_tree(
		c,
		&(struct tree_ways){ .gate = GATE_ANY, .made = refs_of_tree, .mirrored = mirrored_tree_refs },
		err);
}

static enum status run_node_refs(struct call *c, struct err *err)
{
	return with_node(
		c,
		&(struct node_ways){ .gate = GATE_ANY, .made = refs_of_node, .mirrored = mirrored_node_refs },
		err);
}

const struct method arbor_tree_refs = {
	.name = "tree_refs",
	.summary = "List who claims a tree",
	.text = "Each owner with its count.\n",
	.params = tree_refs_params,
	.kind = RESULT_STREAM,
	.fields = ref_fields,
	.empty = "nobody claims it",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_refs 7ee0", "and how many times" }, { 0 } },
	.run = run_tree_refs,
};

const struct method arbor_node_refs = {
	.name = "node_refs",
	.summary = "List who claims a node",
	.text = "Each owner with its count. 'tree' stands for the claim that every node has which was made "
		"to stay, until it "
		"is deleted.\n",
	.params = node_refs_params,
	.kind = RESULT_STREAM,
	.fields = ref_fields,
	.empty = "nobody claims it",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.node_refs a0de02", "and how many times" },
					      { 0 } },
	.run = run_node_refs,
};

/* ---- keep ---------------------------------------------------------------------- */

static const struct param keep_params[] = { NODE_PARAM, IN_TREE_PARAM, OWNER_PARAM("who claims it"), { 0 } };

/* Once is enough. */
static enum status keep_node(struct call *c, const struct made_node *m, struct err *err)
{
	struct str owner = call_text(c, "owner");
	int64_t count;

	if (claim_of(c->store, &m->node.id, owner, &count, err) ||
	    (!count &&
	     (tree_node_claim(c->store, &m->node.id, owner, 1, &count, err) || mirrored_settle(c, m, err))))
		return err_failed(err->status);
	return emit_claims(c, &m->node.id, &m->tree.id, count, err);
}

static enum status run_keep(struct call *c, struct err *err)
{
	return with_node(c, &(struct node_ways){ .made = keep_node, .mirrored = mirrored_node_keep }, err);
}

const struct method arbor_node_keep = {
	.name = "node_keep",
	.verb = "keep",
	.group = "keep",
	.summary = "Keep a node that was made to go",
	.text = "Claims it for you, once however often it is said. All that is above it stays with it.\n",
	.params = keep_params,
	.kind = RESULT_ONE,
	.fields = claim_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "keep a0de04", "something that was tried and is worth it" },
					      { 0 } },
	.run = run_keep,
};
