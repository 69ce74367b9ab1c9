/*
 * A grove is asked: what a node is called, what contains it, what it contains.
 *
 * Everything but blocks was found when the shape was (grove_shape.c). How many blocks a line has
 * the store knows, and is asked when it matters.
 */
#include "query/grove_inside.h"

#include "claude/record.h"

#include <stdlib.h>

void grove_release(struct grove *g)
{
	forest_release(&g->forest);
	arena_release(&g->mem);
	*g = (struct grove)GROVE_INIT;
}

static enum status name_trees(struct grove *g, struct err *err)
{
	for (uint32_t t = 0; t < g->tree_count; t++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct node_name name;

		if (forest_name(g->store, &g->forest, g->trees[t].root, &mem, &name, err))
			return err_failed(err->status);
		g->trees[t].id = node_id(&name, PART_TREE);
	}
	return STATUS_OK;
}

enum status grove_load(struct store *s, int64_t session, struct grove *out, struct err *err)
{
	out->store = s;
	if (forest_load(s, session, &out->forest, &out->source, err))
		return err_failed(err->status);
	grove_shape(out);
	return name_trees(out, err);
}

enum status grove_load_brief(struct store *s, int64_t session, struct grove *out, struct err *err)
{
	out->store = s;
	if (forest_load_brief(s, session, &out->forest, &out->source, err))
		return err_failed(err->status);
	grove_shape(out);
	return name_trees(out, err);
}

/* ---- Nodes ------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
	const struct grove_event *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

const struct grove_event *grove_event_at(const struct grove *g, uint32_t source, uint32_t line)
{
	const struct grove_event wanted = { .source = source, .line = line };

	return bsearch(&wanted, g->events, g->event_count, sizeof wanted, by_place);
}

/* What a line says outside of blocks is the one block of its message. */
static bool is_whole(const struct chain_line *l)
{
	return l->type == RECORD_ATTACHMENT || l->type == RECORD_SYSTEM;
}

/* The node of the canonical message that says what this one does; FOREST_NONE = none. */
static uint32_t find_equal(const struct forest *f, uint32_t message, uint32_t node)
{
	uint32_t n = f->messages[message].first;

	if (f->nodes[node].message == message)
		return node;
	while (n != FOREST_NONE && forest_line(f, n)->content != forest_line(f, node)->content)
		n = f->nodes[n].next;
	return n;
}

static bool find_event(const struct grove *g, uint32_t source, uint32_t line, struct grove_ref *out)
{
	uint32_t n = g->forest.sources[source].nodes[line];
	const struct grove_event *e;

	if (n != FOREST_NONE) {
		source = g->forest.nodes[n].canon.source;
		line = g->forest.nodes[n].canon.line;
	}
	e = grove_event_at(g, source, line);
	if (e)
		*out = (struct grove_ref){ GROVE_EVENT, (uint32_t)(e - g->events), 0 };
	return e != NULL;
}

static bool find_named(const struct grove *g, uint32_t node, struct grove_ref *out)
{
	uint32_t head = node == FOREST_NONE ? FOREST_NONE
					    : forest_find(&g->forest, &forest_line(&g->forest, node)->key);

	*out = (struct grove_ref){ GROVE_TREE, head == FOREST_NONE ? FOREST_NONE : g->names[head], 0 };
	return out->at != FOREST_NONE;
}

/* The turn that is named by an event. */
static uint32_t begun_by(const struct grove *g, uint32_t node)
{
	const struct forest *f = &g->forest;

	for (uint32_t i = 0; i < f->order_count; i++)
		if (g->turns.list[f->order[i]].line == node)
			return f->order[i];
	return FOREST_NONE;
}

/* Where a line stands. What is told of a sub-agent that has a file stands there. */
static enum status find_line(const struct grove *g, const struct node *node, uint32_t *source, uint32_t *line,
			     bool *is_there, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const struct forest *f = &g->forest;
	struct node_name name;
	struct node entry;
	struct uuid key;
	uint32_t n;

	*is_there = forest_find_line(f, node->session, node->offset, source, line);
	if (*is_there)
		return STATUS_OK;
	if (entry_get(g->store, node->session, node->offset, &mem, &entry, &name, err))
		return err_failed(err->status);
	if (!name.uuid.p)
		return STATUS_OK;
	key = line_key(name.uuid);
	n = forest_find(f, &key);
	*is_there = n != FOREST_NONE;
	if (*is_there) {
		*source = f->nodes[n].canon.source;
		*line = f->nodes[n].canon.line;
	}
	return STATUS_OK;
}

static bool find_part(const struct grove *g, uint32_t source, uint32_t line, int part, struct grove_ref *out)
{
	const struct forest *f = &g->forest;
	uint32_t n = f->sources[source].nodes[line], m = forest_message_of(f, source, line), equal;

	if (part == PART_TREE)
		return find_named(g, n, out);
	if (part == PART_TURN && m == FOREST_NONE && n != FOREST_NONE)
		m = begun_by(g, n);
	if (m == FOREST_NONE)
		return find_event(g, source, line, out);
	*out = (struct grove_ref){ GROVE_MESSAGE, m, 0 };
	if (part == PART_TURN)
		*out = (struct grove_ref){ GROVE_TURN, g->turns.of[m], 0 };
	if (part < PART_LINE || (part == PART_LINE && !is_whole(forest_line(f, n))))
		return true;
	equal = find_equal(f, m, n);
	if (equal != FOREST_NONE)
		*out = (struct grove_ref){ GROVE_BLOCK, equal, part };
	return true;
}

enum status grove_find(const struct grove *g, const struct node *node, struct grove_ref *out, bool *is_there,
		       struct err *err)
{
	uint32_t source, line;

	if (find_line(g, node, &source, &line, is_there, err))
		return err_failed(err->status);
	*is_there = *is_there && find_part(g, source, line, node->part, out);
	return STATUS_OK;
}

uint32_t grove_tree_of_source(const struct grove *g, uint32_t source)
{
	const struct forest *f = &g->forest;
	const struct forest_source *s = &f->sources[source];
	uint32_t any = FOREST_NONE;

	for (uint32_t i = 0; i < s->chain.line_count; i++) {
		uint32_t m = forest_message_of(f, source, i);
		struct grove_ref e;

		if (m != FOREST_NONE && f->messages[m].sidechain == (s->agent.n > 0))
			return g->spots[m].tree;
		if (any != FOREST_NONE)
			continue;
		if (m != FOREST_NONE)
			any = g->spots[m].tree;
		else if (find_event(g, source, i, &e))
			any = g->events[e.at].tree;
	}
	return any;
}

/* Of a node that has a name of its own. */
static enum status id_of(const struct grove *g, uint32_t node, int part, struct uuid *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct node_name name;

	if (forest_name(g->store, &g->forest, node, &mem, &name, err))
		return err_failed(err->status);
	*out = node_id(&name, part);
	return STATUS_OK;
}

/* A line without a uuid has its id in the store. */
static enum status id_of_event(const struct grove *g, const struct grove_event *e, struct uuid *out,
			       struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const struct forest_source *s = &g->forest.sources[e->source];
	struct node_name name;
	struct node node;

	if (s->nodes[e->line] != FOREST_NONE)
		return id_of(g, s->nodes[e->line], PART_LINE, out, err);
	if (entry_get(g->store, s->session.row, s->chain.lines[e->line].offset, &mem, &node, &name, err))
		return err_failed(err->status);
	*out = node.id;
	return STATUS_OK;
}

enum status grove_id(const struct grove *g, struct grove_ref r, struct uuid *out, struct err *err)
{
	switch (r.kind) {
	case GROVE_TURN:
		return id_of(g, g->turns.list[r.at].line, PART_TURN, out, err);
	case GROVE_MESSAGE:
		return id_of(g, g->forest.messages[r.at].first, PART_MESSAGE, out, err);
	case GROVE_BLOCK:
		return id_of(g, r.at, r.part, out, err);
	case GROVE_EVENT:
		return id_of_event(g, &g->events[r.at], out, err);
	case GROVE_TREE:
		*out = g->trees[r.at].id;
	}
	return STATUS_OK;
}

static uint32_t message_of_block(const struct grove *g, struct grove_ref r)
{
	return g->forest.messages[g->forest.nodes[r.at].message].canonical;
}

uint32_t grove_message(const struct grove *g, struct grove_ref r)
{
	const struct grove_event *e;

	switch (r.kind) {
	case GROVE_TURN:
	case GROVE_MESSAGE:
		return r.at;
	case GROVE_BLOCK:
		return message_of_block(g, r);
	case GROVE_EVENT:
		e = &g->events[r.at];
		return e->before ? g->forest.messages[e->message].prev : e->message;
	case GROVE_TREE:
		break;
	}
	return FOREST_NONE;
}

uint32_t grove_tree(const struct grove *g, struct grove_ref r)
{
	if (r.kind == GROVE_TREE)
		return r.at;
	return r.kind == GROVE_EVENT ? g->events[r.at].tree : g->spots[grove_message(g, r)].tree;
}

uint32_t grove_tree_of_line(const struct grove *g, uint32_t source, uint32_t line)
{
	uint32_t m = forest_message_of(&g->forest, source, line);
	struct grove_ref e;

	if (m != FOREST_NONE)
		return g->spots[m].tree;
	return find_event(g, source, line, &e) ? g->events[e.at].tree : FOREST_NONE;
}

void grove_line(const struct grove *g, struct grove_ref r, uint32_t *source, uint32_t *line)
{
	uint32_t node = r.kind == GROVE_TREE	  ? g->trees[r.at].root
			: r.kind == GROVE_TURN	  ? g->turns.list[r.at].line
			: r.kind == GROVE_MESSAGE ? g->forest.messages[r.at].first
						  : r.at;

	*source = r.kind == GROVE_EVENT ? g->events[r.at].source : g->forest.nodes[node].canon.source;
	*line = r.kind == GROVE_EVENT ? g->events[r.at].line : g->forest.nodes[node].canon.line;
}

/* ---- Parents ---------------------------------------------------------------------- */

static struct grove_ref ref_to(enum grove_kind kind, uint32_t at)
{
	return (struct grove_ref){ kind, at, 0 };
}

bool grove_parent(const struct grove *g, struct grove_ref r, struct grove_ref *out)
{
	const struct grove_event *e;

	switch (r.kind) {
	case GROVE_TREE:
		return false;
	case GROVE_TURN:
		*out = g->spots[r.at].hangs_on == FOREST_NONE
			       ? ref_to(GROVE_TREE, g->spots[r.at].tree)
			       : ref_to(GROVE_MESSAGE, g->spots[r.at].hangs_on);
		return true;
	case GROVE_MESSAGE:
		*out = ref_to(GROVE_TURN, g->turns.of[r.at]);
		return true;
	case GROVE_BLOCK:
		*out = ref_to(GROVE_MESSAGE, message_of_block(g, r));
		return true;
	case GROVE_EVENT:
		e = &g->events[r.at];
		*out = e->turn == FOREST_NONE ? ref_to(GROVE_TREE, e->tree) : ref_to(GROVE_TURN, e->turn);
		return out->at != FOREST_NONE;
	}
	return false;
}

uint32_t grove_depth(const struct grove *g, struct grove_ref r)
{
	switch (r.kind) {
	case GROVE_TREE:
		break;
	case GROVE_TURN:
		return g->spots[r.at].depth;
	case GROVE_MESSAGE:
		return g->spots[g->turns.of[r.at]].depth + 1;
	case GROVE_BLOCK:
		return g->spots[g->turns.of[message_of_block(g, r)]].depth + 2;
	case GROVE_EVENT:
		if (g->events[r.at].turn != FOREST_NONE)
			return g->spots[g->events[r.at].turn].depth + 1;
		return g->events[r.at].tree == FOREST_NONE ? 0 : 1;
	}
	return 0;
}

struct grove_ref *grove_above(const struct grove *g, struct grove_ref r, struct arena *mem, uint32_t *count)
{
	struct grove_ref *list, at = r;
	uint32_t n = 1;

	while (grove_parent(g, at, &at))
		n++;
	list = arena_alloc(mem, n * sizeof *list);
	*count = n;
	for (at = r; n > 0; grove_parent(g, at, &at))
		list[--n] = at;
	return list;
}

/* ---- Children --------------------------------------------------------------------- */

/* What a line's blocks are counted by. */
static enum status count_blocks(const struct grove *g, uint32_t node, uint32_t *out, struct err *err)
{
	const struct chain_line *l = forest_line(&g->forest, node);
	int64_t count = 1;

	if (!is_whole(l) &&
	    entry_blocks(g->store, g->forest.sources[g->forest.nodes[node].canon.source].session.row,
			 l->offset, &count, err))
		return err_failed(err->status);
	*out = (uint32_t)count;
	return STATUS_OK;
}

/* The first block of this line of a message, or of one behind it. */
static enum status block_from(const struct grove *g, uint32_t node, struct grove_ref *out, bool *is_there,
			      struct err *err)
{
	const struct forest *f = &g->forest;
	uint32_t count = 0;

	for (; node != FOREST_NONE; node = f->nodes[node].next) {
		if (count_blocks(g, node, &count, err))
			return err_failed(err->status);
		if (count)
			break;
	}
	*is_there = node != FOREST_NONE;
	if (*is_there)
		*out = (struct grove_ref){ GROVE_BLOCK, node,
					   is_whole(forest_line(f, node)) ? PART_LINE : 0 };
	return STATUS_OK;
}

/* How many blocks a message has before a line; FOREST_NONE = in all. */
static enum status blocks_before(const struct grove *g, uint32_t message, uint32_t node, uint32_t *out,
				 struct err *err)
{
	const struct forest *f = &g->forest;

	*out = 0;
	for (uint32_t n = f->messages[message].first; n != node; n = f->nodes[n].next) {
		uint32_t count;

		if (count_blocks(g, n, &count, err))
			return err_failed(err->status);
		*out += count;
	}
	return STATUS_OK;
}

static bool turn_from(const struct grove *g, const struct grove_span *span, uint32_t place,
		      struct grove_ref *out)
{
	if (place < span->count)
		*out = ref_to(GROVE_TURN, g->hanging[span->start + place]);
	return place < span->count;
}

static bool item_from(const struct grove *g, const struct grove_span *span, uint32_t place,
		      struct grove_ref *out)
{
	if (place < span->count)
		*out = g->items[span->start + place];
	return place < span->count;
}

enum status grove_count(const struct grove *g, struct grove_ref r, uint32_t *out, struct err *err)
{
	*out = 0;
	if (r.kind == GROVE_TREE)
		*out = g->trees[r.at].turns.count + g->trees[r.at].loose.count;
	else if (r.kind == GROVE_TURN)
		*out = g->spots[r.at].items.count;
	else if (r.kind == GROVE_MESSAGE) {
		if (blocks_before(g, r.at, FOREST_NONE, out, err))
			return err_failed(err->status);
		*out += g->spots[r.at].hanging.count;
	}
	return STATUS_OK;
}

enum status grove_first(const struct grove *g, struct grove_ref r, struct grove_ref *out, bool *is_there,
			struct err *err)
{
	*is_there = false;
	if (r.kind == GROVE_TREE)
		*is_there = turn_from(g, &g->trees[r.at].turns, 0, out) ||
			    item_from(g, &g->trees[r.at].loose, 0, out);
	else if (r.kind == GROVE_TURN)
		*is_there = item_from(g, &g->spots[r.at].items, 0, out);
	else if (r.kind == GROVE_MESSAGE) {
		if (block_from(g, g->forest.messages[r.at].first, out, is_there, err))
			return err_failed(err->status);
		if (!*is_there)
			*is_there = turn_from(g, &g->spots[r.at].hanging, 0, out);
	}
	return STATUS_OK;
}

static enum status next_of_block(const struct grove *g, struct grove_ref r, struct grove_ref *out,
				 bool *is_there, struct err *err)
{
	uint32_t count, message = message_of_block(g, r);

	if (count_blocks(g, r.at, &count, err))
		return err_failed(err->status);
	*is_there = r.part >= 0 && (uint32_t)r.part + 1 < count;
	if (*is_there)
		*out = (struct grove_ref){ GROVE_BLOCK, r.at, r.part + 1 };
	else if (block_from(g, g->forest.nodes[r.at].next, out, is_there, err))
		return err_failed(err->status);
	if (!*is_there)
		*is_there = turn_from(g, &g->spots[message].hanging, 0, out);
	return STATUS_OK;
}

enum status grove_next(const struct grove *g, struct grove_ref r, struct grove_ref *out, bool *is_there,
		       struct err *err)
{
	const struct grove_spot *spot;
	const struct grove_event *e;

	*is_there = false;
	switch (r.kind) {
	case GROVE_TREE:
		break;
	case GROVE_TURN:
		spot = &g->spots[r.at];
		if (spot->hangs_on != FOREST_NONE)
			*is_there = turn_from(g, &g->spots[spot->hangs_on].hanging, spot->turn_place + 1,
					      out);
		else
			*is_there = turn_from(g, &g->trees[spot->tree].turns, spot->turn_place + 1, out) ||
				    item_from(g, &g->trees[spot->tree].loose, 0, out);
		break;
	case GROVE_MESSAGE:
		*is_there = item_from(g, &g->spots[g->turns.of[r.at]].items, g->spots[r.at].place + 1, out);
		break;
	case GROVE_EVENT:
		e = &g->events[r.at];
		if (e->turn != FOREST_NONE)
			*is_there = item_from(g, &g->spots[e->turn].items, e->place + 1, out);
		else if (e->tree != FOREST_NONE)
			*is_there = item_from(g, &g->trees[e->tree].loose, e->place + 1, out);
		break;
	case GROVE_BLOCK:
		return next_of_block(g, r, out, is_there, err);
	}
	return STATUS_OK;
}

enum status grove_place(const struct grove *g, struct grove_ref r, uint32_t *out, struct err *err)
{
	*out = 0;
	switch (r.kind) {
	case GROVE_TREE:
		break;
	case GROVE_TURN:
		if (g->spots[r.at].hangs_on != FOREST_NONE &&
		    blocks_before(g, g->spots[r.at].hangs_on, FOREST_NONE, out, err))
			return err_failed(err->status);
		*out += g->spots[r.at].turn_place;
		break;
	case GROVE_MESSAGE:
		*out = g->spots[r.at].place;
		break;
	case GROVE_EVENT:
		*out = g->events[r.at].place;
		if (g->events[r.at].turn == FOREST_NONE && g->events[r.at].tree != FOREST_NONE)
			*out += g->trees[g->events[r.at].tree].turns.count;
		break;
	case GROVE_BLOCK:
		if (blocks_before(g, message_of_block(g, r), r.at, out, err))
			return err_failed(err->status);
		*out += r.part > 0 ? (uint32_t)r.part : 0;
		break;
	}
	return STATUS_OK;
}
