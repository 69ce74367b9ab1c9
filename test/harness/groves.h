/*
 * What holds for every mirrored tree of a store, whatever its lines: parents and children agree,
 * places are dense, every node is visited once, and whatever has an id is found by it.
 */
#ifndef ARBOR_TEST_GROVES_H
#define ARBOR_TEST_GROVES_H

#include "base/hash.h"
#include "query/grove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct groves {
	struct store *s;
	struct arena mem;
	struct grove g;
	struct numbers ids;  /* of the forest in hand -> 1 */
	struct numbers done; /* transcripts whose forest was looked at */
	int64_t *rows;
	size_t row_count, row_cap;
	char why[2 * LIMIT_ERR_TEXT]; /* they are not sound */
	/* Counted over all of them: */
	uint64_t trees, turns, messages, blocks, events, names;
	uint64_t unkeyed; /* ids that were found by looking at every line */
	/* Of the forest in hand: */
	uint32_t seen[GROVE_EVENT + 1];
};

static inline enum status groves_row(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct groves *x = ctx;

	(void)go_on;
	(void)err;
	if (x->row_count == x->row_cap) {
		x->row_cap = x->row_cap ? 2 * x->row_cap : 64;
		x->rows = mem_resize(x->rows, x->row_cap * sizeof *x->rows);
	}
	x->rows[x->row_count++] = session->row;
	return STATUS_OK;
}

static inline bool groves_flaw(struct groves *x, struct grove_ref r, const char *what)
{
	static const char *const kinds[] = { "tree", "turn", "message", "block", "event" };
	char text[UUID_TEXT + 1] = "?";
	struct uuid id;
	struct err err;

	if (grove_id(&x->g, r, &id, &err) == STATUS_OK)
		uuid_print(&id, text);
	snprintf(x->why, sizeof x->why, "%s %s: %s", kinds[r.kind], text, what);
	return false;
}

/* A uuid with several contents: their ids are the same but for those of the contents. */
static inline bool groves_is_variant(const struct grove *g, struct grove_ref r)
{
	uint32_t source, line, n;

	grove_line(g, r, &source, &line);
	n = g->forest.sources[source].nodes[line];
	return n != FOREST_NONE && forest_has_variants(&g->forest, n);
}

static inline bool groves_finds(struct groves *x, const struct uuid *id, struct grove_ref *out)
{
	struct id_match list[64];
	char text[UUID_TEXT + 1];
	size_t count;
	struct err err;
	bool is_there;

	uuid_print(id, text);
	if (id_search(x->s, str_of(text), 0, list, COUNT(list), &count, &err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!list[i].is_session)
			return grove_find(&x->g, &list[i].node, out, &is_there, &err) == STATUS_OK &&
			       is_there;
	x->unkeyed++;
	return name_search(x->s, str_of(text), 0, list, COUNT(list), &count, &err) == STATUS_OK &&
	       count == 1 && grove_find(&x->g, &list[0].node, out, &is_there, &err) == STATUS_OK && is_there;
}

static inline bool groves_node(struct groves *x, struct grove_ref r, uint32_t place)
{
	struct grove_ref again;
	struct uuid id;
	struct err err;
	uint32_t found;

	x->seen[r.kind]++;
	if (grove_place(&x->g, r, &found, &err) || found != place)
		return groves_flaw(x, r, "its place is another");
	if (grove_id(&x->g, r, &id, &err))
		return groves_flaw(x, r, err.text);
	if (r.kind == GROVE_BLOCK)
		x->blocks++;
	if (groves_is_variant(&x->g, r))
		return true;
	if (numbers_put(&x->ids, hash64(id.b, UUID_BYTES), 1) != NUMBERS_NONE)
		return groves_flaw(x, r, "its id is another's, too");
	if (!groves_finds(x, &id, &again) || !grove_same(r, again))
		return groves_flaw(x, r, "its id leads elsewhere, or nowhere");
	return true;
}

/* What holds between a message and what it follows. */
static inline bool groves_message(struct groves *x, struct grove_ref r)
{
	const struct grove *g = &x->g;
	uint32_t prev = g->forest.messages[r.at].prev, first = g->turns.of[r.at];

	if (prev != FOREST_NONE && g->spots[prev].tree != g->spots[r.at].tree)
		return groves_flaw(x, r, "what it follows is in another tree");
	if (prev != FOREST_NONE && first == r.at && g->spots[r.at].hangs_on != prev)
		return groves_flaw(x, r, "its turn does not hang on what it follows");
	return true;
}

/* Down from a tree, without recursion: children first, then siblings, then those of whoever is above. */
static inline bool groves_tree(struct groves *x, uint32_t tree)
{
	struct grove_ref at = { GROVE_TREE, tree, 0 }, next = at, up = at;
	uint32_t count, *places = NULL, depth = 0, cap = 0;
	bool is_there = true, sound = groves_node(x, at, 0);
	struct err err;

	while (sound && is_there) {
		if (depth + 1 >= cap) {
			cap = cap ? 2 * cap : 64;
			places = mem_resize(places, cap * sizeof *places);
		}
		if (at.kind == GROVE_MESSAGE)
			sound = groves_message(x, at);
		if (grove_depth(&x->g, at) != depth)
			sound = groves_flaw(x, at, "it is deeper or less deep than it says");
		if (grove_tree(&x->g, at) != tree)
			sound = groves_flaw(x, at, "it is in another tree than its parent");
		if (grove_first(&x->g, at, &next, &is_there, &err))
			sound = groves_flaw(x, at, err.text);
		if (sound && is_there) {
			if (!grove_parent(&x->g, next, &up) || !grove_same(up, at))
				sound = groves_flaw(x, next, "its parent is another");
			places[depth++] = 0;
			at = next;
			sound = sound && groves_node(x, at, 0);
			continue;
		}
		while (sound && depth && !is_there) {
			struct grove_ref parent = at;

			if (grove_next(&x->g, at, &next, &is_there, &err) ||
			    !grove_parent(&x->g, at, &parent))
				sound = groves_flaw(x, at, "nobody knows what follows it");
			if (sound && is_there) {
				if (!grove_parent(&x->g, next, &up) || !grove_same(up, parent))
					sound = groves_flaw(x, next, "its parent is not its sibling's");
				at = next;
				sound = sound && groves_node(x, at, ++places[depth - 1]);
				continue;
			}
			depth--;
			if (sound && (grove_count(&x->g, parent, &count, &err) || count != places[depth] + 1))
				sound = groves_flaw(x, parent, "it counts its children wrong");
			at = parent;
		}
	}
	mem_free(places);
	return sound;
}

static inline bool groves_names(struct groves *x)
{
	const struct grove *g = &x->g;

	for (uint32_t n = 0; n < g->forest.node_count; n++) {
		struct grove_ref tree = { GROVE_TREE, g->names[n], 0 }, again;
		struct node_name name;
		struct uuid id;
		struct err err;

		if (g->names[n] == FOREST_NONE)
			continue;
		x->names++;
		if (forest_name(x->s, &g->forest, n, &x->mem, &name, &err))
			return groves_flaw(x, tree, err.text);
		id = node_id(&name, PART_TREE);
		if (!groves_finds(x, &id, &again) || !grove_same(tree, again))
			return groves_flaw(x, tree, "another name of it leads elsewhere, or nowhere");
	}
	return true;
}

static inline bool groves_forest(struct groves *x)
{
	const struct grove *g = &x->g;
	uint32_t in_trees = 0;

	memset(x->seen, 0, sizeof x->seen);
	x->ids = numbers_new(&x->mem,
			     100 * ((size_t)g->event_count + g->forest.copy_count + g->tree_count + 100));
	for (uint32_t t = 0; t < g->tree_count; t++) {
		if (g->trees[t].root == FOREST_NONE)
			return groves_flaw(x, (struct grove_ref){ GROVE_TREE, t, 0 }, "it has no root");
		if (!groves_tree(x, t))
			return false;
	}
	for (uint32_t e = 0; e < g->event_count; e++)
		in_trees += g->events[e].tree != FOREST_NONE;
	if (x->seen[GROVE_TURN] != g->turns.count || x->seen[GROVE_MESSAGE] != g->forest.order_count ||
	    x->seen[GROVE_EVENT] != in_trees) {
		snprintf(x->why, sizeof x->why, "of %u turns, %u messages, %u events were met %u, %u, %u",
			 g->turns.count, g->forest.order_count, in_trees, x->seen[GROVE_TURN],
			 x->seen[GROVE_MESSAGE], x->seen[GROVE_EVENT]);
		return false;
	}
	x->trees += g->tree_count;
	x->turns += g->turns.count;
	x->messages += g->forest.order_count;
	x->events += in_trees;
	return groves_names(x);
}

static inline void groves_release(struct groves *x)
{
	mem_free(x->rows);
	grove_release(&x->g);
	arena_release(&x->mem);
}

/* Every forest of the store once. False when something does not hold, and x->why says what. */
static inline bool groves_are_sound(struct store *s, struct groves *x)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct err err;

	*x = (struct groves){ .s = s };
	if (read_begin(s, &snapshot, &err) || session_each(s, (struct str){ 0 }, groves_row, x, &err)) {
		snprintf(x->why, sizeof x->why, "%s", err.text);
		return false;
	}
	x->done = numbers_new(&x->mem, x->row_count);
	for (size_t i = 0; i < x->row_count; i++) {
		if (numbers_get(&x->done, (uint64_t)x->rows[i]) != NUMBERS_NONE)
			continue;
		if (grove_load(s, x->rows[i], &x->g, &err)) {
			snprintf(x->why, sizeof x->why, "%s", err.text);
			return false;
		}
		for (uint32_t k = 0; k < x->g.forest.source_count; k++)
			numbers_put(&x->done, (uint64_t)x->g.forest.sources[k].session.row, 1);
		if (!groves_forest(x))
			return false;
		grove_release(&x->g);
	}
	return true;
}

#endif
