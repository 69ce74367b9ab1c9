/*
 * Finding the shape of a grove: which messages are one tree, where events stand, what hangs on
 * what. Linear time whatever the lines say, and no recursion.
 *
 * A tree is what is connected: messages with what they follow or go on from, copies of one
 * another, and all that one file says, since rewinding to the very beginning starts a file's
 * conversation again without a word of what was before. What a sub-agent says is connected with
 * nothing else: in its own file, told in progress lines, or in the file of the conversation,
 * where it is told from others by what follows what.
 *
 * An event stands behind the message it hangs on, however many events are in between. One that
 * hangs on nothing stands before the first message that hangs on it, as a compaction's boundary
 * does; if none does, behind the line before it, and at the beginning of a file before the first
 * message there.
 */
#include "query/grove_inside.h"

#include "base/hash.h"
#include "claude/record.h"

#include <string.h>

/* Where an event stands: a message, times two, and one more if it is behind and not before it. */
#define NOWHERE	   FOREST_NONE
#define UNKNOWN	   (FOREST_NONE - 1)
#define ON_THE_WAY (FOREST_NONE - 2)

static uint32_t before(uint32_t message)
{
	return 2 * message;
}

static uint32_t behind(uint32_t message)
{
	return 2 * message + 1;
}

struct shaping {
	struct grove *g;
	struct arena mem;
	uint32_t *begins;  /* by event's node: the first message that hangs on it in the end */
	uint32_t *anchors; /* by node: where it stands */
	uint32_t *near;	   /* room for the lines of a source */
	uint32_t *up;	   /* by message: another one of its tree; itself = none */
	uint32_t *loose;   /* by source: the tree of events that stand nowhere */
	uint32_t *heads;   /* by anchor: the first of its events' list */
	uint32_t *nexts;   /* by event */
};

static void shaping_release(struct shaping *x)
{
	arena_release(&x->mem);
}

static uint32_t *new_list(struct arena *mem, size_t count)
{
	return memset(arena_alloc(mem, (count + 1) * sizeof(uint32_t)), 0xff, (count + 1) * sizeof(uint32_t));
}

uint32_t grove_message_of(const struct forest *f, uint32_t node)
{
	uint32_t m = f->nodes[node].message;

	if (m == FOREST_NONE)
		m = f->nodes[node].replaced;
	return m == FOREST_NONE ? FOREST_NONE : f->messages[m].canonical;
}

uint32_t grove_head_of(const struct forest *f, uint32_t node)
{
	return f->nodes[node].variant ? forest_find(f, &forest_line(f, node)->key) : node;
}

static bool is_canon(const struct forest *f, uint32_t node, uint32_t source, uint32_t line)
{
	return f->nodes[node].canon.source == source && f->nodes[node].canon.line == line;
}

/* ---- Where events stand ---------------------------------------------------------------- */

static void find_begins(struct shaping *x)
{
	const struct forest *f = &x->g->forest;

	x->begins = new_list(&x->mem, f->node_count);
	for (uint32_t i = f->order_count; i-- > 0;) {
		const struct turn *t = &x->g->turns.list[f->order[i]];

		if (t->top != FOREST_NONE)
			x->begins[t->top] = f->order[i];
	}
}

static uint32_t own_anchor(const struct shaping *x, uint32_t node)
{
	uint32_t m = grove_message_of(&x->g->forest, node);

	if (m != FOREST_NONE)
		return behind(m);
	return x->begins[node] == FOREST_NONE ? NOWHERE : before(x->begins[node]);
}

/* From a node upwards to one that stands somewhere; those on the way remember it. */
static void find_anchor(struct shaping *x, uint32_t node)
{
	const struct forest *f = &x->g->forest;
	uint32_t at = node, found;

	while (at != FOREST_NONE && x->anchors[at] == UNKNOWN) {
		x->anchors[at] = own_anchor(x, at);
		if (x->anchors[at] != NOWHERE)
			break;
		x->anchors[at] = ON_THE_WAY;
		at = forest_parent(f, at);
	}
	/* The top, or a circle. */
	found = at == FOREST_NONE || x->anchors[at] == ON_THE_WAY ? NOWHERE : x->anchors[at];
	for (at = node; at != FOREST_NONE && x->anchors[at] == ON_THE_WAY; at = forest_parent(f, at))
		x->anchors[at] = found;
}

/* For each line of a source where the nearest before it stands, else the nearest behind it; for
 * one that stands somewhere, itself. */
static void find_near(struct shaping *x, uint32_t source)
{
	const struct forest *f = &x->g->forest;
	const struct forest_source *s = &f->sources[source];
	uint32_t last = NOWHERE, first = NOWHERE, count = 0;

	for (uint32_t i = 0; i < s->chain.line_count; i++) {
		uint32_t n = s->nodes[i];

		if (n != FOREST_NONE && x->anchors[n] != NOWHERE)
			last = x->anchors[n];
		if (last != NOWHERE && first == NOWHERE) {
			first = grove_message_of(f, n) == FOREST_NONE ? last : before(grove_message_of(f, n));
			count = i;
		}
		x->near[i] = last;
	}
	for (uint32_t i = 0; first != NOWHERE && i < count; i++)
		x->near[i] = first;
}

/* Nodes that hang on nothing, by the lines around them. */
static void place_tops(struct shaping *x, uint32_t *placed, bool originals)
{
	const struct forest *f = &x->g->forest;

	for (uint32_t s = 0; s < f->source_count; s++) {
		bool any = false;

		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++) {
			uint32_t n = f->sources[s].nodes[i];

			if (n == FOREST_NONE || x->anchors[n] != NOWHERE || placed[n] != NOWHERE ||
			    (originals && !is_canon(f, n, s, i)))
				continue;
			if (!any)
				find_near(x, s);
			any = true;
			placed[n] = x->near[i];
		}
	}
}

static void find_anchors(struct shaping *x)
{
	const struct forest *f = &x->g->forest;
	uint32_t *placed = new_list(&x->mem, f->node_count), most = 0;

	x->anchors = arena_alloc(&x->mem, (f->node_count + 1) * sizeof *x->anchors);
	for (uint32_t s = 0; s < f->source_count; s++)
		most = f->sources[s].chain.line_count > most ? f->sources[s].chain.line_count : most;
	x->near = new_list(&x->mem, most);
	for (uint32_t n = 0; n < f->node_count; n++)
		x->anchors[n] = UNKNOWN;
	for (uint32_t n = 0; n < f->node_count; n++)
		find_anchor(x, n);
	place_tops(x, placed, true);
	place_tops(x, placed, false);
	for (uint32_t n = 0; n < f->node_count; n++)
		if (x->anchors[n] == NOWHERE)
			x->anchors[n] = placed[n];
}

/* ---- Events ------------------------------------------------------------------------------ */

static void add_event(struct shaping *x, uint32_t source, uint32_t line, uint32_t anchor)
{
	struct grove *g = x->g;
	bool nowhere = anchor == NOWHERE;

	g->events[g->event_count++] = (struct grove_event){
		.source = source,
		.line = line,
		.tree = FOREST_NONE,
		.message = nowhere ? FOREST_NONE : anchor / 2,
		.turn = nowhere ? FOREST_NONE : g->turns.of[anchor / 2],
		.before = !nowhere && anchor % 2 == 0,
	};
}

static void list_events(struct shaping *x)
{
	const struct forest *f = &x->g->forest;
	size_t lines = 0;

	for (uint32_t s = 0; s < f->source_count; s++)
		lines += f->sources[s].chain.line_count;
	x->g->events = arena_alloc(&x->g->mem, (lines + 1) * sizeof *x->g->events);
	for (uint32_t s = 0; s < f->source_count; s++) {
		find_near(x, s);
		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++) {
			uint32_t n = f->sources[s].nodes[i];

			if (n == FOREST_NONE)
				add_event(x, s, i, x->near[i]);
			else if (is_canon(f, n, s, i) && grove_message_of(f, n) == FOREST_NONE)
				add_event(x, s, i, x->anchors[n]);
		}
	}
}

/* ---- Trees --------------------------------------------------------------------------------- */

static uint32_t top_of(struct shaping *x, uint32_t m)
{
	while (x->up[m] != m)
		m = x->up[m] = x->up[x->up[m]];
	return m;
}

static void join(struct shaping *x, uint32_t a, uint32_t b)
{
	a = top_of(x, a);
	b = top_of(x, b);
	x->up[a > b ? a : b] = a < b ? a : b;
}

static void join_messages(struct shaping *x)
{
	const struct forest *f = &x->g->forest;

	for (uint32_t m = 0; m < f->message_count; m++) {
		uint32_t other = f->messages[m].prev;

		join(x, m, f->messages[m].canonical);
		if (other == FOREST_NONE)
			other = forest_goes_on_from(f, m);
		if (other != FOREST_NONE && f->messages[other].sidechain == f->messages[m].sidechain)
			join(x, m, other);
	}
}

static uint64_t agent_key(const struct forest_source *s)
{
	uint64_t both[2] = { hash64(s->session.id.b, UUID_BYTES), hash64(s->agent.p, s->agent.n) };

	return hash64(both, sizeof both);
}

/* What one file says, and of a sub-agent what others tell of it, too. */
static void join_sources(struct shaping *x)
{
	const struct forest *f = &x->g->forest;
	struct numbers agents = numbers_new(&x->mem, f->source_count);

	for (uint32_t s = 0; s < f->source_count; s++) {
		const struct forest_source *from = &f->sources[s];
		uint32_t first = FOREST_NONE;

		for (uint32_t i = 0; i < from->chain.line_count; i++) {
			uint32_t m = forest_message_of(f, s, i);

			if (m == FOREST_NONE || f->messages[m].sidechain != (from->agent.n > 0))
				continue;
			first = first == FOREST_NONE ? m : first;
			join(x, first, m);
		}
		if (from->agent.n && first != FOREST_NONE)
			join(x, first, numbers_add(&agents, agent_key(from), first));
	}
}

static uint32_t new_tree(struct grove *g, bool aside)
{
	g->trees[g->tree_count] = (struct grove_tree){ .root = FOREST_NONE, .aside = aside };
	return g->tree_count++;
}

static void find_trees(struct shaping *x)
{
	struct grove *g = x->g;
	const struct forest *f = &g->forest;
	uint32_t *numbers = new_list(&x->mem, f->message_count), count = 0;

	x->up = arena_alloc(&x->mem, (f->message_count + 1) * sizeof *x->up);
	for (uint32_t m = 0; m < f->message_count; m++)
		x->up[m] = m;
	join_messages(x);
	join_sources(x);
	for (uint32_t m = 0; m < f->message_count; m++)
		count += x->up[m] == m;
	g->trees = arena_alloc(&g->mem, (count + f->source_count + 1) * sizeof *g->trees);
	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i], top = top_of(x, m);

		if (numbers[top] == FOREST_NONE)
			numbers[top] = new_tree(g, f->messages[m].sidechain);
		g->spots[m].tree = numbers[top];
		g->trees[numbers[top]].message_count++;
	}
}

/* A line may stand with several contents, which are one name: where one of them stands somewhere, there. */
static uint32_t standing_variant(const struct shaping *x, uint32_t head)
{
	const struct forest *f = &x->g->forest;
	uint32_t n = head;

	while (n != FOREST_NONE && x->anchors[n] == NOWHERE)
		n = f->nodes[n].next_variant;
	return n;
}

/* What stands nowhere is in a tree of its file, if a line there can name one. */
static uint32_t loose_tree(struct shaping *x, uint32_t source, uint32_t node)
{
	struct grove *g = x->g;
	const struct forest *f = &g->forest;
	uint32_t head = grove_head_of(f, node), standing = standing_variant(x, head);
	uint32_t other = f->nodes[standing == FOREST_NONE ? head : standing].canon.source;
	bool aside = f->sources[source].agent.n > 0;

	if (aside != (f->sources[other].agent.n > 0))
		return new_tree(g, aside);
	if (standing != FOREST_NONE)
		return g->spots[x->anchors[standing] / 2].tree;
	if (x->loose[other] == FOREST_NONE)
		x->loose[other] = new_tree(g, aside);
	return x->loose[other];
}

static void find_event_trees(struct shaping *x)
{
	struct grove *g = x->g;
	const struct forest *f = &g->forest;

	x->loose = new_list(&x->mem, f->source_count);
	for (uint32_t e = 0; e < g->event_count; e++) {
		struct grove_event *v = &g->events[e];

		if (v->message != FOREST_NONE)
			v->tree = g->spots[v->message].tree;
		else if (f->sources[v->source].nodes[v->line] != FOREST_NONE &&
			 x->loose[v->source] == FOREST_NONE)
			x->loose[v->source] =
				loose_tree(x, v->source, f->sources[v->source].nodes[v->line]);
	}
	for (uint32_t e = 0; e < g->event_count; e++) {
		struct grove_event *v = &g->events[e];

		if (v->message == FOREST_NONE)
			v->tree = x->loose[v->source];
		if (v->tree != FOREST_NONE)
			g->trees[v->tree].event_count++;
	}
}

/* ---- Children ------------------------------------------------------------------------------ */

/* Events by where they stand, in order. */
static void list_by_anchor(struct shaping *x)
{
	struct grove *g = x->g;

	x->heads = new_list(&x->mem, 2 * (size_t)g->forest.message_count);
	x->nexts = new_list(&x->mem, g->event_count);
	for (uint32_t e = g->event_count; e-- > 0;) {
		uint32_t anchor;

		if (g->events[e].message == FOREST_NONE)
			continue;
		anchor = g->events[e].before ? before(g->events[e].message) : behind(g->events[e].message);
		x->nexts[e] = x->heads[anchor];
		x->heads[anchor] = e;
	}
}

static void add_events(struct shaping *x, uint32_t anchor, uint32_t start, uint32_t *count)
{
	struct grove *g = x->g;

	for (uint32_t e = x->heads[anchor]; e != FOREST_NONE; e = x->nexts[e]) {
		g->items[*count] = (struct grove_ref){ GROVE_EVENT, e, 0 };
		g->events[e].place = (*count)++ - start;
	}
}

static void fill_turns(struct shaping *x, uint32_t *count)
{
	struct grove *g = x->g;

	for (uint32_t i = g->turns.count; i-- > 0;) {
		uint32_t turn = g->turns.order[i], start = *count;

		for (uint32_t m = g->turns.first[turn]; m != FOREST_NONE; m = g->turns.after[m]) {
			add_events(x, before(m), start, count);
			g->items[*count] = (struct grove_ref){ GROVE_MESSAGE, m, 0 };
			g->spots[m].place = (*count)++ - start;
			add_events(x, behind(m), start, count);
		}
		g->spots[turn].items = (struct grove_span){ start, *count - start };
	}
}

void grove_set_start(struct grove_span *span, uint32_t *count)
{
	span->start = *count;
	*count += span->count;
	span->count = 0;
}

static void fill_loose(struct grove *g, uint32_t *count)
{
	for (uint32_t e = 0; e < g->event_count; e++)
		if (g->events[e].message == FOREST_NONE && g->events[e].tree != FOREST_NONE)
			g->trees[g->events[e].tree].loose.count++;
	for (uint32_t t = 0; t < g->tree_count; t++)
		grove_set_start(&g->trees[t].loose, count);
	for (uint32_t e = 0; e < g->event_count; e++) {
		struct grove_span *to;

		if (g->events[e].message != FOREST_NONE || g->events[e].tree == FOREST_NONE)
			continue;
		to = &g->trees[g->events[e].tree].loose;
		g->events[e].place = to->count;
		g->items[to->start + to->count++] = (struct grove_ref){ GROVE_EVENT, e, 0 };
	}
}

static struct grove_span *span_of(struct grove *g, uint32_t turn)
{
	const struct grove_spot *t = &g->spots[turn];

	return t->hangs_on == FOREST_NONE ? &g->trees[t->tree].turns : &g->spots[t->hangs_on].hanging;
}

/* Turns by what they hang on, the earliest first. A sub-agent's may go on from the conversation's,
 * which is another tree. */
static void fill_hanging(struct grove *g)
{
	const struct forest *f = &g->forest;
	uint32_t count = 0;

	g->hanging = arena_alloc(&g->mem, (g->turns.count + 1) * sizeof *g->hanging);
	for (uint32_t i = 0; i < g->turns.count; i++) {
		uint32_t turn = g->turns.order[i], on = g->turns.list[turn].hangs_on;

		if (on != FOREST_NONE && g->spots[on].tree != g->spots[turn].tree)
			on = FOREST_NONE;
		g->spots[turn].hangs_on = on;
		span_of(g, turn)->count++;
		g->trees[g->spots[turn].tree].turn_count++;
	}
	for (uint32_t t = 0; t < g->tree_count; t++)
		grove_set_start(&g->trees[t].turns, &count);
	for (uint32_t i = 0; i < f->order_count; i++)
		grove_set_start(&g->spots[f->order[i]].hanging, &count);
	for (uint32_t i = g->turns.count; i-- > 0;) {
		struct grove_span *span = span_of(g, g->turns.order[i]);

		g->spots[g->turns.order[i]].turn_place = span->count;
		g->hanging[span->start + span->count++] = g->turns.order[i];
	}
}

/* From the trees down: between a turn and one that goes on from it lies a message. */
static void find_depths(struct shaping *x)
{
	struct grove *g = x->g;
	uint32_t *stack = new_list(&x->mem, g->turns.count), count = 0;

	for (uint32_t t = 0; t < g->tree_count; t++)
		for (uint32_t i = 0; i < g->trees[t].turns.count; i++) {
			stack[count] = g->hanging[g->trees[t].turns.start + i];
			g->spots[stack[count++]].depth = 1;
		}
	while (count) {
		uint32_t turn = stack[--count];

		for (uint32_t m = g->turns.first[turn]; m != FOREST_NONE; m = g->turns.after[m])
			for (uint32_t i = 0; i < g->spots[m].hanging.count; i++) {
				stack[count] = g->hanging[g->spots[m].hanging.start + i];
				g->spots[stack[count++]].depth = g->spots[turn].depth + 2;
			}
	}
}

static void find_followed(struct grove *g)
{
	const struct forest *f = &g->forest;

	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t prev = f->messages[f->order[i]].prev;

		if (prev != FOREST_NONE)
			g->spots[prev].followed = true;
		g->spots[f->order[i]].followed |= g->spots[f->order[i]].hanging.count > 0;
	}
}

void grove_shape(struct grove *g)
{
	struct shaping x CLEANUP(shaping_release) = { .g = g };
	const struct forest *f = &g->forest;
	uint32_t count = 0;

	g->turns = (struct turns){ .mem = &g->mem, .forest = f, .source = g->source, .agents = true };
	turns_find(&g->turns);
	g->spots = arena_alloc(&g->mem, (f->message_count + 1) * sizeof *g->spots);
	find_begins(&x);
	find_anchors(&x);
	list_events(&x);
	find_trees(&x);
	find_event_trees(&x);
	g->items = arena_alloc(&g->mem, ((size_t)f->order_count + g->event_count + 1) * sizeof *g->items);
	list_by_anchor(&x);
	fill_turns(&x, &count);
	fill_loose(g, &count);
	fill_hanging(g);
	find_depths(&x);
	find_followed(g);
	grove_choose_roots(g);
}
