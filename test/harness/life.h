/*
 * For tests of made trees: a store whose clock the test moves, and short ways to fill it.
 */
#ifndef ARBOR_TEST_LIFE_H
#define ARBOR_TEST_LIFE_H

#include "store/check.h"
#include "store/tree_life.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

#define DAY ((int64_t)86400 * 1000)

struct world {
	struct store *s;
	int64_t now;
	char path[512];
};

static const struct life_windows weeks = { 7 * DAY, 30 * DAY };

static inline int64_t world_now(void *ctx)
{
	return ((struct world *)ctx)->now;
}

static inline enum status world_open(struct world *w, const char *dir, struct err *err)
{
	w->now = INT64_C(1800000000000);
	snprintf(w->path, sizeof w->path, "%.400s/store.db", dir);
	return store_open(
		&(struct store_options){ .path = w->path, .create = true, .clock = { world_now, w } }, &w->s,
		err);
}

static inline void world_close(struct world *w)
{
	store_close(w->s);
}

#define WORLD struct world CLEANUP(world_close)

static inline struct uuid plant(struct t *t, struct world *w, const char *owner)
{
	struct uuid id = { 0 };
	struct err err;

	if (tree_add(w->s, &(struct tree_new){ .owner = str_of(owner) }, &id, &err))
		t_fail(t, __FILE__, __LINE__, "tree_add: %s", err.text);
	return id;
}

static inline struct uuid grow_as(struct t *t, struct world *w, const struct uuid *tree,
				  const struct uuid *parent, const char *text, bool ephemeral)
{
	struct tree_node_new what = { .tree = *tree,
				      .parent = parent,
				      .kind = TREE_NODE_TEXT,
				      .content = str_of(text),
				      .ephemeral = ephemeral };
	struct uuid id = { 0 };
	struct err err;

	if (tree_node_add(w->s, &what, &weeks, &id, &err))
		t_fail(t, __FILE__, __LINE__, "tree_node_add: %s", err.text);
	return id;
}

static inline struct uuid grow(struct t *t, struct world *w, const struct uuid *tree,
			       const struct uuid *parent, const char *text)
{
	return grow_as(t, w, tree, parent, text, false);
}

/* As a reader sees it: no less far along than its tree. LIFE_STATES = it cannot be read. */
static inline enum life_state state_of_node(struct world *w, const struct uuid *id)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree_node n;
	struct tree tree;
	struct err err;

	if (tree_node_get(w->s, id, NODE_SKELETON, &mem, &n, &err))
		return LIFE_STATES;
	if (!n.row)
		return n.life.state;
	return tree_at(w->s, n.tree, &mem, &tree, &err) ? LIFE_STATES
							: life_within(&n.life, &tree.life).state;
}

static inline enum life_state state_of_tree(struct world *w, const struct uuid *id)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree tree;
	struct err err;

	return tree_get(w->s, id, &mem, &tree, &err) ? LIFE_STATES : tree.life.state;
}

static inline struct gc_report collect(struct t *t, struct world *w)
{
	struct gc_report r = { 0 };
	struct err err;

	if (gc_run(w->s, &(struct gc_options){ .windows = weeks }, &r, &err))
		t_fail(t, __FILE__, __LINE__, "gc_run: %s", err.text);
	return r;
}

static inline void show_problem(void *ctx, struct str text)
{
	t_fail(ctx, __FILE__, __LINE__, "check: %.*s", STR_ARG(text));
}

/* Fails the test with whatever `arbor check` would say. */
static inline void check_world(struct t *t, struct world *w)
{
	struct check_report r = { .problem = show_problem, .ctx = t };
	struct err err;

	if (check_run(w->s, &r, &err))
		t_fail(t, __FILE__, __LINE__, "check_run: %s", err.text);
}

#endif
