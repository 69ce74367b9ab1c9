/*
 * What trees are called: by the line a tree begins with, which hangs on nothing and goes on from
 * nothing. Of several the earliest, then the smallest uuid.
 *
 * Copies and files that come later can bring an earlier beginning, and so another name. Whatever
 * was ever a tree's name leads to it still: the name of each line that hangs on nothing before it
 * in its own file, which no other file can change. These have keys in the store (PART_TREE); those
 * keys are some more, because a line that is read without those before it does not know that what
 * it hangs on is there.
 */
#include "query/grove_inside.h"

#include <string.h>


/* Whether a line hangs on nothing that stands before it in its file; `seen` are the uuids that do. */
static bool is_first(const struct forest *f, const struct forest_source *s, const struct chain_line *l,
		     const uint32_t *seen, uint32_t stamp)
{
	uint32_t up = l->parent == CHAIN_NONE || l->inferred ? FOREST_NONE : s->nodes[l->parent];

	return up == FOREST_NONE || seen[grove_head_of(f, up)] != stamp;
}

static uint32_t tree_of_node(const struct grove *g, uint32_t node)
{
	const struct forest_copy *c = &g->forest.nodes[node].canon;
	uint32_t m = grove_message_of(&g->forest, node);
	const struct grove_event *e;

	if (m != FOREST_NONE)
		return g->spots[m].tree;
	e = grove_event_at(g, c->source, c->line);
	return e ? e->tree : FOREST_NONE;
}

static void find_names(struct grove *g, struct arena *mem)
{
	const struct forest *f = &g->forest;
	uint32_t *seen = arena_alloc(mem, (f->node_count + 1) * sizeof *seen);

	g->names = memset(arena_alloc(&g->mem, (f->node_count + 1) * sizeof *g->names), 0xff,
			  (f->node_count + 1) * sizeof *g->names);
	for (uint32_t s = 0; s < f->source_count; s++)
		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++) {
			uint32_t n = f->sources[s].nodes[i], head = n == FOREST_NONE ? n : grove_head_of(f, n);

			if (n == FOREST_NONE || seen[head] == s + 1)
				continue;
			if (is_first(f, &f->sources[s], &f->sources[s].chain.lines[i], seen, s + 1))
				g->names[head] = tree_of_node(g, head);
			seen[head] = s + 1;
		}
}

/* Hangs on nothing anywhere. */
static bool is_root(const struct forest *f, uint32_t node)
{
	return forest_parent(f, node) == FOREST_NONE && numbers_get(&f->continued, node) == NUMBERS_NONE;
}

static int compare_roots(const struct forest *f, uint32_t a, uint32_t b)
{
	const struct chain_line *x = forest_line(f, a), *y = forest_line(f, b);
	int order = is_root(f, b) - is_root(f, a);

	/* None at all comes last. */
	if (!order && x->at != y->at)
		order = (uint64_t)x->at - 1 < (uint64_t)y->at - 1 ? -1 : 1;
	return order ? order : memcmp(x->key.b, y->key.b, UUID_BYTES);
}

static void offer(struct grove *g, uint32_t tree, uint32_t node)
{
	uint32_t *root = &g->trees[tree].root;

	if (*root == FOREST_NONE || compare_roots(&g->forest, node, *root) < 0)
		*root = node;
}

/* One that was made to go in circles, or a sub-agent's that hangs on the conversation. */
static void take_any(struct grove *g, uint32_t tree)
{
	const struct forest *f = &g->forest;
	const struct grove_span *turns = &g->trees[tree].turns;

	for (uint32_t i = 0; g->trees[tree].root == FOREST_NONE && i < turns->count; i++) {
		uint32_t node = f->messages[g->hanging[turns->start + i]].first;
		uint32_t head = grove_head_of(f, node);

		if (g->names[head] == FOREST_NONE || i + 1 == turns->count)
			g->trees[tree].root = node;
		if (g->names[head] == FOREST_NONE)
			g->names[head] = tree;
	}
}

/* One of events alone, whose lines all have uuids that are the names of other trees. */
static void take_event(struct grove *g, uint32_t tree)
{
	const struct forest *f = &g->forest;
	const struct grove_span *loose = &g->trees[tree].loose;

	for (uint32_t i = 0; g->trees[tree].root == FOREST_NONE && i < loose->count; i++) {
		const struct grove_event *e = &g->events[g->items[loose->start + i].at];

		g->trees[tree].root = f->sources[e->source].nodes[e->line];
	}
}

static void list_names(struct grove *g)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < g->forest.node_count; n++)
		if (g->names[n] != FOREST_NONE)
			g->trees[g->names[n]].names.count++;
	for (uint32_t t = 0; t < g->tree_count; t++)
		grove_set_start(&g->trees[t].names, &count);
	g->named = arena_alloc(&g->mem, (count + 1) * sizeof *g->named);
	for (uint32_t n = 0; n < g->forest.node_count; n++)
		if (g->names[n] != FOREST_NONE) {
			struct grove_span *to = &g->trees[g->names[n]].names;

			g->named[to->start + to->count++] = n;
		}
}

void grove_choose_roots(struct grove *g)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;

	find_names(g, &mem);
	for (uint32_t n = 0; n < g->forest.node_count; n++)
		if (g->names[n] != FOREST_NONE)
			offer(g, g->names[n], n);
	for (uint32_t t = 0; t < g->tree_count; t++) {
		take_any(g, t);
		take_event(g, t);
	}
	list_names(g);
}
