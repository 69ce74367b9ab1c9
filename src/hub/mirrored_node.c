/*
 * Mirrored nodes in the methods that show nodes: one, what is around it, the ways to it; and made nodes that
 * hang on one.
 *
 * The path of a mirrored node is the messages that it follows, from the first one on, as 'arbor log' shows
 * them; behind them the node itself, if it is no message. What contains it, turns and trees, is not on it.
 */
#include "hub/mirrored_methods.h"

#include "hub/mirrored.h"
#include "query/context.h"
#include "store/tree_graft.h"

/* ---- One, and what is around it -------------------------------------------------- */

static enum status emit_one(struct call *c, struct str id, enum gate gate, struct err *err)
{
	MIRRORED m = { 0 };

	if (mirrored_find(c, id, gate, &m, err))
		return err_failed(err->status);
	return mirrored_emit(&m, m.ref, -1, NODE_WHOLE, err);
}

enum status mirrored_node_get(struct call *c, struct str id, struct err *err)
{
	return emit_one(c, id, GATE_ALIVE, err);
}

enum status mirrored_node_get_archived(struct call *c, struct str id, struct err *err)
{
	return emit_one(c, id, GATE_ARCHIVED, err);
}

enum status mirrored_node_get_parent(struct call *c, struct str id, struct err *err)
{
	struct grove_ref parent;
	MIRRORED m = { 0 };

	if (mirrored_find(c, id, GATE_ALIVE, &m, err))
		return err_failed(err->status);
	if (!grove_parent(&m.grove, m.ref, &parent))
		return err_fail(err, STATUS_NOT_FOUND, "the root of a tree has no parent");
	return mirrored_emit(&m, parent, -1, NODE_WHOLE, err);
}

enum status mirrored_parent_of_made(struct call *c, const struct made_node *n, struct err *err)
{
	MIRRORED m = { 0 };

	return mirrored_below(c, n, &m, err) ? err_failed(err->status)
					     : mirrored_emit(&m, m.ref, -1, NODE_WHOLE, err);
}

/* ---- Children ------------------------------------------------------------------------ */

struct children {
	struct mirrored *m;
	bool begun; /* behind the one that a page goes on behind */
	struct uuid after;
	struct uuid last;
	int64_t count, place;
	bool full;
};

static bool skip(struct children *x, const struct uuid *id)
{
	if (x->begun)
		return false;
	x->begun = uuid_eq(id, &x->after);
	return true;
}

static bool has_room(struct children *x)
{
	x->full = is_full(x->m->call, x->count);
	if (x->full)
		note_more(x->m->call, &x->last);
	return !x->full;
}

static enum status list_mirrored(struct children *x, struct err *err)
{
	const struct grove *g = &x->m->grove;
	struct grove_ref child;
	bool is_there;

	if (grove_first(g, x->m->ref, &child, &is_there, err))
		return err_failed(err->status);
	for (; is_there && !x->full; x->place++) {
		struct uuid id;

		if (grove_id(g, child, &id, err))
			return err_failed(err->status);
		if (!skip(x, &id) && has_room(x)) {
			if (mirrored_emit(x->m, child, x->place, NODE_WHOLE, err))
				return err_failed(err->status);
			x->count++;
			x->last = id;
		}
		if (grove_next(g, child, &child, &is_there, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status list_made(void *ctx, const struct tree_node *n, bool *go_on, struct err *err)
{
	struct children *x = ctx;
	struct made_node made = { .node = *n };

	if (skip(x, &n->id) || !has_room(x)) {
		*go_on = !x->full;
		return STATUS_OK;
	}
	x->count++;
	x->last = n->id;
	if (tree_at(x->m->call->store, n->tree, &x->m->call->mem, &made.tree, err) ||
	    mirrored_place(x->m, &made, x->place + n->position - 1, err))
		return err_failed(err->status);
	made.life = life_within(&n->life, &made.tree.life);
	put_node(call_begin(x->m->call), &made);
	return call_emit(x->m->call, err);
}

static enum status find_after(struct children *x, struct err *err)
{
	struct str text = call_text(x->m->call, "after");
	struct made_node made = { 0 };
	struct grove_ref after;

	x->begun = !text.p;
	if (!text.p)
		return STATUS_OK;
	if (find_node(x->m->call, "after", 0, true, &made, err) == STATUS_OK) {
		x->after = made.node.id;
		return STATUS_OK;
	}
	return mirrored_find_in(x->m, "after", text, &after, err)
		       ? err_failed(err->status)
		       : grove_id(&x->m->grove, after, &x->after, err);
}

enum status mirrored_node_get_children(struct call *c, struct str id, struct err *err)
{
	bool archived = call_flag(c, "archived");
	MIRRORED m = { 0 };
	struct children x = { .m = &m };
	int64_t *grafts;
	size_t count;

	if (mirrored_find(c, id, archived ? GATE_ANY : GATE_ALIVE, &m, err) || find_after(&x, err) ||
	    list_mirrored(&x, err) || mirrored_grafts(&m, m.ref, &grafts, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count && !x.full; i++)
		if (tree_node_children(c->store, grafts[i], 0, archived, NODE_WHOLE, list_made, &x, err))
			return err_failed(err->status);
	if (!x.begun)
		return err_fail(err, STATUS_USAGE, "after: this node is no child of the other");
	return STATUS_OK;
}

/* ---- Paths ---------------------------------------------------------------------------- */

/* Mirrored nodes and below them made ones. */
struct way {
	struct grove_ref *refs;
	uint32_t ref_count;
	struct tree_node *steps;
	size_t step_count;
};

static struct way way_to(struct mirrored *m, struct grove_ref r)
{
	const struct forest *f = &m->grove.forest;
	uint32_t count = 0, *path, at = grove_message(&m->grove, r);
	struct way way = { 0 };

	/* A turn contains its first message. */
	if (r.kind == GROVE_TURN)
		at = f->messages[r.at].prev;
	path = forest_path(f, at, &m->call->mem, &count);
	way.refs = arena_alloc(&m->call->mem, (count + 1) * sizeof *way.refs);
	for (uint32_t i = 0; i < count; i++)
		way.refs[way.ref_count++] = (struct grove_ref){ GROVE_MESSAGE, path[i], 0 };
	if (r.kind != GROVE_MESSAGE)
		way.refs[way.ref_count++] = r;
	return way;
}

/* The row that stands for the mirrored node is left out. */
static enum status way_to_made(struct mirrored *m, const struct made_node *n, struct way *out,
			       struct err *err)
{
	*out = way_to(m, m->ref);
	if (tree_path(m->call->store, 0, n->node.row, &m->call->mem, &out->steps, &out->step_count, err))
		return err_failed(err->status);
	out->steps++;
	out->step_count--;
	return STATUS_OK;
}

static size_t way_length(const struct way *way)
{
	return way->ref_count + way->step_count;
}

static bool same_step(const struct way *a, const struct way *b, size_t i)
{
	if (i < a->ref_count || i < b->ref_count)
		return i < a->ref_count && i < b->ref_count && grove_same(a->refs[i], b->refs[i]);
	return a->steps[i - a->ref_count].row == b->steps[i - b->ref_count].row;
}

static enum status emit_step(struct mirrored *m, const struct way *way, size_t i, enum tree_node_part part,
			     struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct grove_ref asked = m->ref;
	struct made_node made;
	enum status status;

	if (i < way->ref_count)
		return mirrored_emit(m, way->refs[i], -1, part, err);
	if (tree_node_at(m->call->store, way->steps[i - way->ref_count].row, part, &mem, &made.node, err) ||
	    tree_at(m->call->store, made.node.tree, &mem, &made.tree, err))
		return err_failed(err->status);
	made.life = life_within(&made.node.life, &made.tree.life);
	m->ref = way->refs[way->ref_count - 1];
	status = mirrored_place(m, &made, -1, err);
	m->ref = asked;
	if (status)
		return status;
	put_node(call_begin(m->call), &made);
	return call_emit(m->call, err);
}

static enum status emit_way(struct mirrored *m, const struct way *way, enum tree_node_part part,
			    struct err *err)
{
	for (size_t i = 0; i < way_length(way); i++)
		if (emit_step(m, way, i, part, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status mirrored_node_get_path(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };
	struct way way;

	if (mirrored_find(c, id, GATE_ALIVE, &m, err))
		return err_failed(err->status);
	way = way_to(&m, m.ref);
	return emit_way(&m, &way, NODE_SKELETON, err);
}

static enum status emit_handle(struct mirrored *m, const struct way *way, size_t i, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json_writer *w = &m->call->writer;
	struct made_node made;
	struct uuid id;

	if (i < way->ref_count) {
		if (grove_id(&m->grove, way->refs[i], &id, err))
			return err_failed(err->status);
		call_begin(m->call);
		put_uuid(w, "id", &id);
		put_int(w, "depth", grove_depth(&m->grove, way->refs[i]));
		return mirrored_put_handle(m, way->refs[i], err) ? err_failed(err->status)
								 : call_emit(m->call, err);
	}
	if (tree_node_at(m->call->store, way->steps[i - way->ref_count].row, NODE_WHOLE, &mem, &made.node,
			 err))
		return err_failed(err->status);
	if (made.node.kind != TREE_NODE_EXTERNAL)
		return STATUS_OK;
	call_begin(m->call);
	put_uuid(w, "id", &made.node.id);
	put_int(w, "depth", made.node.depth + grove_depth(&m->grove, way->refs[way->ref_count - 1]));
	put_text(w, "handle", made.node.handle);
	return call_emit(m->call, err);
}

static enum status emit_handles(struct mirrored *m, const struct way *way, struct err *err)
{
	for (size_t i = 0; i < way_length(way); i++) {
		if (call_is_cancelled(m->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (emit_handle(m, way, i, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status mirrored_context_get_handles(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };
	struct way way;

	if (mirrored_find(c, id, GATE_ALIVE, &m, err))
		return err_failed(err->status);
	way = way_to(&m, m.ref);
	return emit_handles(&m, &way, err);
}

enum status mirrored_handles_to_made(struct call *c, const struct made_node *n, struct err *err)
{
	MIRRORED m = { 0 };
	struct way way;

	if (mirrored_below(c, n, &m, err) || way_to_made(&m, n, &way, err))
		return err_failed(err->status);
	return emit_handles(&m, &way, err);
}

/* ---- Between two ------------------------------------------------------------------------ */

struct pair {
	struct mirrored m; /* of the first */
	struct way from, to;
	size_t common; /* steps that both have */
};

static void pair_release(struct pair *p)
{
	mirrored_release(&p->m);
}

/* One of the two in the tree of the first; *first: it is that one. */
static enum status find_way(struct pair *p, struct call *c, const char *param, bool first, struct way *out,
			    struct err *err)
{
	struct str text = call_text(c, param);
	struct made_node made = { 0 };
	enum status status = find_node(c, param, 0, false, &made, err);
	struct tree_node *steps;
	struct grove_ref ref;
	char id[UUID_TEXT + 1];
	bool is_made = status == STATUS_OK && tree_is_graft(&made.tree);
	size_t count;

	if (is_made) {
		if (tree_path(c->store, 0, made.node.row, &c->mem, &steps, &count, err))
			return err_failed(err->status);
		uuid_print(&steps[0].id, id);
		text = arena_str(&c->mem, str_of(id));
	} else if (status != STATUS_NOT_FOUND && status != STATUS_OK) {
		return status;
	}
	if (first ? mirrored_find(c, text, GATE_ALIVE, &p->m, err)
		  : mirrored_find_in(&p->m, param, text, &ref, err))
		return err_failed(err->status);
	if (!first)
		p->m.ref = ref;
	if (is_made)
		return way_to_made(&p->m, &made, out, err);
	*out = way_to(&p->m, p->m.ref);
	return STATUS_OK;
}

static enum status find_pair(struct call *c, struct pair *p, struct err *err)
{
	if (find_way(p, c, "from", true, &p->from, err) || find_way(p, c, "to", false, &p->to, err))
		return err_failed(err->status);
	while (p->common < way_length(&p->from) && p->common < way_length(&p->to) &&
	       same_step(&p->from, &p->to, p->common))
		p->common++;
	return STATUS_OK;
}

/* Where both begin when their paths have nothing in common. */
static enum status emit_root(struct pair *p, enum tree_node_part part, struct err *err)
{
	struct grove_ref root = { GROVE_TREE, grove_tree(&p->m.grove, p->from.refs[0]), 0 };

	return mirrored_emit(&p->m, root, -1, part, err);
}

enum status mirrored_between(struct call *c, struct err *err)
{
	struct pair p CLEANUP(pair_release) = { 0 };

	if (find_pair(c, &p, err))
		return err_failed(err->status);
	for (size_t i = way_length(&p.from); i-- > p.common;)
		if (emit_step(&p.m, &p.from, i, NODE_SKELETON, err))
			return err_failed(err->status);
	if (p.common ? emit_step(&p.m, &p.to, p.common - 1, NODE_SKELETON, err)
		     : emit_root(&p, NODE_SKELETON, err))
		return err_failed(err->status);
	for (size_t i = p.common; i < way_length(&p.to); i++)
		if (emit_step(&p.m, &p.to, i, NODE_SKELETON, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status mirrored_common(struct call *c, struct err *err)
{
	struct pair p CLEANUP(pair_release) = { 0 };

	if (find_pair(c, &p, err))
		return err_failed(err->status);
	return p.common ? emit_step(&p.m, &p.from, p.common - 1, NODE_WHOLE, err)
			: emit_root(&p, NODE_WHOLE, err);
}

/* ---- Context ------------------------------------------------------------------------------ */

struct sending {
	struct mirrored *m;
	uint32_t source;
};

static enum status emit_sent(void *ctx, const struct context_message *sent, struct err *err)
{
	struct sending *x = ctx;
	struct mirrored *m = x->m;
	uint32_t line = sent->first, message = forest_message_above(&m->grove.forest, x->source, &line);
	struct grove_ref r = { GROVE_MESSAGE, message, 0 };
	struct json_writer *w;
	struct uuid id;

	if (call_is_cancelled(m->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	if (message == FOREST_NONE || grove_id(&m->grove, r, &id, err))
		return message == FOREST_NONE ? STATUS_OK : err_failed(err->status);
	w = call_begin(m->call);
	put_uuid(w, "id", &id);
	put_uuid(w, "tree", &m->grove.trees[m->grove.spots[message].tree].id);
	put_int(w, "depth", grove_depth(&m->grove, r));
	put_int(w, "position", m->grove.spots[message].place + 1);
	put_text(w, "kind", STR("message"));
	put_text(w, "role", sent->role);
	put_text(w, "state", str_of(life_state_names[m->life.state]));
	json_write_key(w, STR("sent"));
	json_write_raw(w, sent->content);
	return call_emit(m->call, err);
}

/* The line in whose file the context is asked for: of a message its last one there. */
static void last_line(const struct mirrored *m, uint32_t message, uint32_t *source, uint32_t *line)
{
	const struct forest *f = &m->grove.forest;
	uint32_t n = f->messages[message].first;

	*source = f->messages[message].source;
	*line = f->nodes[n].canon.line;
	if (f->nodes[n].canon.source != *source)
		*source = f->nodes[n].canon.source;
	for (; n != FOREST_NONE; n = f->nodes[n].next)
		for (uint32_t c = f->nodes[n].copies; c != FOREST_NONE; c = f->copies[c].next)
			if (f->copies[c].source == *source && f->copies[c].line > *line &&
			    !f->sources[*source].chain.lines[f->copies[c].line].shadowed)
				*line = f->copies[c].line;
}

static enum status send(struct mirrored *m, struct err *err)
{
	struct sending x = { .m = m };
	uint32_t message = grove_message(&m->grove, m->ref), line;
	struct life life;

	if (message == FOREST_NONE || mirrored_life(m, m->ref, &life, err))
		return message == FOREST_NONE ? STATUS_OK : err_failed(err->status);
	last_line(m, message, &x.source, &line);
	return context_each(lines_set_of(&m->lines, &m->grove.forest.sources[x.source].session),
			    &m->grove.forest.sources[x.source].chain, line, false, emit_sent, &x, err);
}

enum status mirrored_context_get_path(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };

	return mirrored_find(c, id, GATE_ALIVE, &m, err) ? err_failed(err->status) : send(&m, err);
}

enum status mirrored_path_to_made(struct call *c, const struct made_node *n, enum tree_node_part part,
				  struct err *err)
{
	MIRRORED m = { 0 };
	struct way way;

	if (mirrored_below(c, n, &m, err) || way_to_made(&m, n, &way, err))
		return err_failed(err->status);
	if (part == NODE_SKELETON)
		return emit_way(&m, &way, part, err);
	if (send(&m, err))
		return err_failed(err->status);
	for (size_t i = way.ref_count; i < way_length(&way); i++)
		if (emit_step(&m, &way, i, part, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Making --------------------------------------------------------------------------------- */

/* Below a made node that is in this tree. */
static enum status create_below_made(struct call *c, const struct mirrored *m, const struct made_node *above,
				     struct tree_node_new *what, struct err *err)
{
	MIRRORED other = { 0 };

	if (mirrored_below(c, above, &other, err))
		return err_failed(err->status);
	if (!uuid_eq(&m->grove.trees[grove_tree(&m->grove, m->ref)].id,
		     &other.grove.trees[grove_tree(&other.grove, other.ref)].id))
		return err_fail(err, STATUS_USAGE, "parent: this is no node of the same tree");
	what->tree = above->tree.id;
	what->parent = &above->node.id;
	return STATUS_OK;
}

enum status mirrored_node_create(struct call *c, struct str tree, const struct tree_node_new *what, struct err *err)
{
	struct str parent = call_text(c, "parent");
	struct life_windows windows = call_windows(c);
	struct tree_node_new added = *what;
	struct made_node made = { 0 };
	struct uuid above, id;
	MIRRORED m = { 0 };

	if (mirrored_find(c, tree, GATE_ALIVE, &m, err))
		return err_failed(err->status);
	if (parent.p && find_node(c, "parent", 0, false, &made, err) == STATUS_OK &&
	    tree_is_graft(&made.tree)) {
		if (create_below_made(c, &m, &made, &added, err))
			return err_failed(err->status);
	} else {
		if ((parent.p && mirrored_find_in(&m, "parent", parent, &m.ref, err)) ||
		    grove_id(&m.grove, m.ref, &above, err))
			return err_failed(err->status);
		added.tree = m.grove.trees[grove_tree(&m.grove, m.ref)].id;
		added.parent = &above;
		added.mirrored = true;
	}
	mirrored_end_reading(&m);
	return tree_node_add(c->store, &added, &windows, &id, err) ? err_failed(err->status)
								 : emit_node_now(c, &id, err);
}
