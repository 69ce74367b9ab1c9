/*
 * Short ways to methods that most programs want: no more than their parameters put together.
 */
#include "api/api.h"

#include <stdio.h>

/* Names and values; a value that is NULL is left out with its name. */
enum { MOST_PARAMS = 8 };

struct list {
	const char *texts[2 * MOST_PARAMS + 1];
	size_t count;
};

static void add(struct list *l, const char *name, const char *value)
{
	if (!value)
		return;
	l->texts[l->count++] = name;
	l->texts[l->count++] = value;
}

static int call(struct arbor *a, const char *method, const struct list *l, arbor_result *on_result, void *ctx,
		struct arbor_error *e)
{
	return arbor_call_text(a, method, l->texts, on_result, ctx, NULL, e);
}

/* Most ask for one thing. */
static int call_about(struct arbor *a, const char *method, const char *name, const char *value,
		      arbor_result *on_result, void *ctx, struct arbor_error *e)
{
	struct list l = { 0 };

	add(&l, name, value);
	return call(a, method, &l, on_result, ctx, e);
}

int arbor_search(struct arbor *a, const char *query, int32_t limit, arbor_result *on_hit, void *ctx,
		 struct arbor_error *e)
{
	char number[16];
	struct list l = { 0 };

	snprintf(number, sizeof number, "%" PRId32, limit);
	add(&l, "words", query ? query : "");
	add(&l, "limit", limit ? number : NULL);
	return call(a, "memory.search", &l, on_hit, ctx, e);
}

/* ---- What is made has an id ----------------------------------------------------- */

static int take_id(void *ctx, const char *data, size_t length)
{
	return arbor_json_get(data, length, "id", ctx, ARBOR_ID_SIZE, NULL, NULL);
}

static int create(struct arbor *a, const char *method, const struct list *l, char id[ARBOR_ID_SIZE],
		  struct arbor_error *e)
{
	struct err err;

	if (!id)
		return api_end(err_set(&err, STATUS_USAGE, "id: may not be NULL"), &err, e);
	id[0] = '\0';
	return call(a, method, l, take_id, id, e);
}

int arbor_tree_add(struct arbor *a, const char *owner, const char *metadata, char tree[ARBOR_ID_SIZE],
		   struct arbor_error *e)
{
	struct list l = { 0 };

	add(&l, "owner", owner);
	add(&l, "metadata", metadata);
	return create(a, "arbor.tree_create", &l, tree, e);
}

int arbor_node_add_text(struct arbor *a, const char *tree, const char *parent, const char *role,
			const char *text, const char *metadata, char node[ARBOR_ID_SIZE],
			struct arbor_error *e)
{
	struct list l = { 0 };

	add(&l, "tree", tree);
	add(&l, "parent", parent);
	add(&l, "role", role);
	add(&l, "content", text);
	add(&l, "metadata", metadata);
	return create(a, "arbor.node_create_text", &l, node, e);
}

int arbor_node_add_external(struct arbor *a, const char *tree, const char *parent, const char *handle,
			    const char *metadata, char node[ARBOR_ID_SIZE], struct arbor_error *e)
{
	struct list l = { 0 };

	add(&l, "tree", tree);
	add(&l, "parent", parent);
	add(&l, "handle", handle);
	add(&l, "metadata", metadata);
	return create(a, "arbor.node_create_external", &l, node, e);
}

/* ---- Reading -------------------------------------------------------------------- */

int arbor_tree_read(struct arbor *a, const char *tree, arbor_result *on_tree, void *ctx,
		    struct arbor_error *e)
{
	return call_about(a, "arbor.tree_get", "tree", tree, on_tree, ctx, e);
}

int arbor_node_read(struct arbor *a, const char *node, arbor_result *on_node, void *ctx,
		    struct arbor_error *e)
{
	return call_about(a, "arbor.node_get", "node", node, on_node, ctx, e);
}

int arbor_node_children(struct arbor *a, const char *node, arbor_result *on_node, void *ctx,
			struct arbor_error *e)
{
	struct list l = { 0 };

	add(&l, "node", node);
	add(&l, "limit", "0"); /* all */
	return call(a, "arbor.node_get_children", &l, on_node, ctx, e);
}

int arbor_node_path(struct arbor *a, const char *node, arbor_result *on_node, void *ctx,
		    struct arbor_error *e)
{
	return call_about(a, "arbor.node_get_path", "node", node, on_node, ctx, e);
}

int arbor_resolve(struct arbor *a, const char *handle, arbor_result *on_answer, void *ctx,
		  struct arbor_error *e)
{
	return call_about(a, "hub.resolve", "handle", handle, on_answer, ctx, e);
}
