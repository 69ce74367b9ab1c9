/*
 * Finding turns.
 *
 * A turn is known by the message it begins with. What follows nothing may still go on from
 * something: over a compaction, or over what is missing. A sub-agent's first turn belongs to
 * the turn with the call that asked for it. All of these can lead in circles where files are
 * out of order, or were made to; each is cut before the earliest turn whose first message follows none.
 * There is one in each, as messages that follow each other make no circle; and behind it nothing is left that leads
 * around, from message to message either.
 */
#include "query/turns.h"

#include "claude/record.h"

#include <stdlib.h>
#include <string.h>

/* ---- Turns ----------------------------------------------------------------------- */

/* The turn of a message; those before the first turn belong to the root they follow. */
static void find_turns(struct turns *all)
{
	const struct forest *f = all->forest;
	uint32_t *of = all->of = arena_alloc(all->mem, (f->message_count + 1) * sizeof *of);

	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i];

		if (f->messages[m].turn != FOREST_NONE)
			of[m] = f->messages[m].turn;
		else
			of[m] = f->messages[m].prev == FOREST_NONE ? m : of[f->messages[m].prev];
	}
}

bool turns_show(const struct turns *all, uint32_t m)
{
	return all->agents || !all->forest->messages[m].sidechain || all->of_agent;
}

/* ---- What they are called -------------------------------------------------------- */

#define UNKNOWN	   (FOREST_NONE - 1)
#define ON_THE_WAY (FOREST_NONE - 2)

/* The last of the events that lie above a node; those on the way remember it. */
static uint32_t top_above(const struct forest *f, uint32_t node, uint32_t *tops)
{
	uint32_t last = FOREST_NONE, first = forest_parent(f, node), at, found;

	for (at = first; at != FOREST_NONE && tops[at] == UNKNOWN && f->nodes[at].message == FOREST_NONE;
	     at = forest_parent(f, at)) {
		tops[at] = ON_THE_WAY;
		last = at;
	}
	if (at == FOREST_NONE)
		found = last;
	else /* known, a circle, or another's message */
		found = f->nodes[at].message != FOREST_NONE || tops[at] == ON_THE_WAY ? FOREST_NONE
										      : tops[at];
	for (at = first; at != FOREST_NONE && tops[at] == ON_THE_WAY; at = forest_parent(f, at))
		tops[at] = found;
	return found;
}

/* A compaction's turn begins with the boundary, and what comes before the first turn with whatever the client
 * noted there. Of several turns below one such line the first is named by it. */
static void name_turns(struct turns *all)
{
	const struct forest *f = all->forest;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	uint32_t *tops = arena_alloc(&mem, (f->node_count + 1) * sizeof *tops);
	bool *taken = arena_alloc(&mem, f->node_count + 1);

	for (uint32_t n = 0; n < f->node_count; n++)
		tops[n] = UNKNOWN;
	for (uint32_t i = 0; i < f->order_count; i++) {
		const struct forest_message *m = &f->messages[f->order[i]];
		struct turn *t = &all->list[f->order[i]];

		t->line = m->first;
		t->top = m->boundary;
		if (m->prev == FOREST_NONE && t->top == FOREST_NONE)
			t->top = top_above(f, m->first, tops);
		if (t->top == FOREST_NONE || taken[t->top] ||
		    (m->origin != ORIGIN_NONE && t->top != m->boundary))
			continue;
		taken[t->top] = true;
		t->line = t->top;
	}
}

/* ---- Which follow which ------------------------------------------------------------ */

static int latest_first(const void *a, const void *b, void *turns)
{
	const struct turns *all = turns;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t tx = forest_line(all->forest, all->forest->messages[x].first)->at;
	int64_t ty = forest_line(all->forest, all->forest->messages[y].first)->at;

	if (tx != ty)
		return tx > ty ? -1 : 1;
	return x > y ? -1 : x < y;
}

/* Whether a turn of a circle is to be the one that follows none, rather than another. */
static bool cut_rather(struct turns *all, uint32_t turn, uint32_t other)
{
	bool begins = all->forest->messages[turn].prev == FOREST_NONE;

	if (begins != (all->forest->messages[other].prev == FOREST_NONE))
		return begins;
	return latest_first(&turn, &other, all) > 0;
}

/* Where turns go on from one another in a circle, as in a file whose lines are out of order. */
static void cut_circles(struct turns *all)
{
	uint32_t *seen = memset(arena_alloc(all->mem, (all->forest->message_count + 1) * sizeof *seen), 0xff,
				(all->forest->message_count + 1) * sizeof *seen);

	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t at = all->order[i], first;

		while (at != FOREST_NONE && seen[at] == FOREST_NONE) {
			seen[at] = i;
			at = all->list[at].parent;
		}
		if (at == FOREST_NONE || seen[at] != i)
			continue;
		first = at;
		for (uint32_t t = all->list[at].parent; t != at; t = all->list[t].parent)
			first = cut_rather(all, t, first) ? t : first;
		all->list[first].parent = all->list[first].hangs_on = FOREST_NONE;
	}
}

/* The turns that follow each, in the order of their times. */
static void link_turns(struct turns *all)
{
	qsort_r(all->order, all->count, sizeof *all->order, latest_first, all);
	cut_circles(all);
	for (uint32_t i = 0; i < all->count; i++) {
		const struct turn *t = &all->list[all->order[i]];
		uint32_t *at = t->parent == FOREST_NONE	 ? &all->roots
			       : t->asker == FOREST_NONE ? &all->list[t->parent].child
							 : &all->list[t->parent].started;

		all->list[all->order[i]].next = *at;
		*at = all->order[i];
	}
}

static void begin_turn(struct turns *all, uint32_t m)
{
	const struct forest_message *x = &all->forest->messages[m];
	struct turn *t = &all->list[m];
	uint32_t before = x->prev;

	t->asker = all->askers && before == FOREST_NONE ? all->askers[m] : FOREST_NONE;
	if (before == FOREST_NONE)
		before = t->asker != FOREST_NONE ? t->asker : forest_goes_on_from(all->forest, m);
	if (before != FOREST_NONE && !turns_show(all, before))
		before = FOREST_NONE;
	t->child = t->started = t->head = FOREST_NONE;
	t->parent = before == FOREST_NONE ? FOREST_NONE : all->of[before];
	t->hangs_on = t->asker == FOREST_NONE ? before : FOREST_NONE;
}

uint32_t turns_messages_in(const struct forest *f, const struct forest_message *m)
{
	uint32_t lines = 0;

	if (m->role == FOREST_ASSISTANT)
		return 1;
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		lines += forest_line(f, n)->type == RECORD_USER;
	return lines;
}

/* Each from the one it follows, counted from those that follow none. */
static void number_turns(struct turns *all)
{
	uint32_t *stack = arena_alloc(all->mem, (all->count + 1) * sizeof *stack), depth = 0;

	for (uint32_t t = all->roots; t != FOREST_NONE; t = all->list[t].next)
		stack[depth++] = t;
	while (depth) {
		struct turn *t = &all->list[stack[--depth]];

		t->number += all->forest->messages[stack[depth]].origin != ORIGIN_NONE;
		for (uint32_t c = t->child; c != FOREST_NONE; c = all->list[c].next) {
			all->list[c].number = t->number;
			stack[depth++] = c;
		}
		for (uint32_t c = t->started; c != FOREST_NONE; c = all->list[c].next)
			stack[depth++] = c;
	}
}

static void gather_turns(struct turns *all)
{
	const struct forest *f = all->forest;
	uint32_t *last = memset(arena_alloc(all->mem, (f->message_count + 1) * sizeof *last), 0xff,
				(f->message_count + 1) * sizeof *last);

	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i], turn = all->of[m];
		const struct forest_message *x = &f->messages[m];

		if (!turns_show(all, m))
			continue;
		if (turn == m) {
			begin_turn(all, m);
			all->order[all->count++] = m;
		}
		all->list[turn].messages += turns_messages_in(f, x);
		for (uint32_t n = x->first; n != FOREST_NONE && x->role == FOREST_ASSISTANT;
		     n = f->nodes[n].next)
			all->list[turn].calls += forest_line(f, n)->tool_count;
		if (last[turn] == FOREST_NONE)
			all->first[turn] = m;
		else
			all->after[last[turn]] = m;
		all->after[m] = FOREST_NONE;
		last[turn] = m;
	}
	link_turns(all);
	number_turns(all);
}

static void want(struct turns *all, uint32_t message)
{
	for (uint32_t t = all->of[message]; t != FOREST_NONE && !all->list[t].wanted; t = all->list[t].parent)
		all->list[t].wanted = true;
}

void turns_want(struct turns *all, uint32_t message)
{
	for (uint32_t i = 0; i < all->count; i++)
		all->list[all->order[i]].wanted = false;
	want(all, message);
}

static void gather_heads(struct turns *all)
{
	const struct forest *f = all->forest;

	for (uint32_t s = f->source_count, at, line; s-- > 0;) {
		uint32_t m = FOREST_NONE;

		all->leaf_nodes[s] = FOREST_NONE;
		if (forest_leaf(f, s, &at, &line)) {
			m = forest_message_of(f, at, line);
			all->leaf_nodes[s] = f->sources[at].nodes[line];
		}
		all->leaves[s] = m;
		if (m == FOREST_NONE || !turns_show(all, m))
			continue;
		/* Nobody goes on with a sub-agent's file. */
		if (!f->sources[s].agent.n) {
			all->next_head[s] = all->list[all->of[m]].head;
			all->list[all->of[m]].head = s;
		}
		if (s == all->source)
			want(all, m);
	}
}

void turns_find(struct turns *all)
{
	const struct forest *f = all->forest;
	struct arena *mem = all->mem;

	all->roots = FOREST_NONE;
	all->of_agent = forest_is_agents(f, all->source);
	all->list = arena_alloc(mem, (f->message_count + 1) * sizeof *all->list);
	all->order = arena_alloc(mem, (f->message_count + 1) * sizeof *all->order);
	all->first = arena_alloc(mem, (f->message_count + 1) * sizeof *all->first);
	all->after = arena_alloc(mem, (f->message_count + 1) * sizeof *all->after);
	all->next_head = arena_alloc(mem, (f->source_count + 1) * sizeof *all->next_head);
	all->leaves = arena_alloc(mem, (f->source_count + 1) * sizeof *all->leaves);
	all->leaf_nodes = arena_alloc(mem, (f->source_count + 1) * sizeof *all->leaf_nodes);
	find_turns(all);
	name_turns(all);
	gather_turns(all);
	gather_heads(all);
}
