/*
 * Mirrored trees in the methods that show trees: one, its nodes, how it looks, where its ways end, and all of
 * them.
 */
#include "hub/mirrored_methods.h"

#include "base/numbers.h"
#include "hub/arbor_render.h"
#include "hub/mirrored_walk.h"
#include "store/tree_graft.h"

/* ---- tree_get ------------------------------------------------------------------- */

/* A session or anything in one stands for its tree. */
static enum status find_tree(struct call *c, struct str id, enum gate gate, struct mirrored *m,
			     struct err *err)
{
	if (mirrored_find(c, id, gate, m, err))
		return err_failed(err->status);
	if (m->ref.kind == GROVE_TREE)
		return STATUS_OK;
	return err_fail(err, STATUS_NOT_FOUND, "no tree is called '%.*s', but a node is",
			(int)size_min(id.n, 60), id.p);
}

enum status mirrored_tree_get(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };

	return find_tree(c, id, GATE_ALIVE, &m, err) ? err_failed(err->status)
						     : mirrored_emit_tree(&m, m.ref.at, err);
}

enum status mirrored_tree_get_archived(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };

	return find_tree(c, id, GATE_ARCHIVED, &m, err) ? err_failed(err->status)
							: mirrored_emit_tree(&m, m.ref.at, err);
}

/* ---- tree_get_skeleton ------------------------------------------------------------ */

#define WALK struct mirrored_walk CLEANUP(mirrored_walk_release)

static enum status emit_step(struct mirrored_walk *w, struct uuid *id, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const struct mirrored_frame *f = &w->frames[w->count - 1];
	struct made_node made;

	if (!w->row)
		return grove_id(&w->m->grove, f->ref, id, err) ||
				       mirrored_emit(w->m, f->ref, f->place, NODE_SKELETON, err)
			       ? err_failed(err->status)
			       : STATUS_OK;
	if (mirrored_walk_made(w, NODE_SKELETON, &mem, &made, err))
		return err_failed(err->status);
	*id = made.node.id;
	put_node(call_begin(w->m->call), &made);
	return call_emit(w->m->call, err);
}

enum status mirrored_tree_get_skeleton(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };
	WALK w = { 0 };
	struct uuid last;
	bool is_there;

	if (find_tree(c, id, call_flag(c, "archived") ? GATE_ANY : GATE_ALIVE, &m, err) ||
	    mirrored_walk_begin(&w, &m, m.ref, err))
		return err_failed(err->status);
	for (int64_t count = 0;; count++) {
		if (mirrored_walk_next(&w, &is_there, err))
			return err_failed(err->status);
		if (!is_there)
			return STATUS_OK;
		if (is_full(c, count))
			break;
		if (emit_step(&w, &last, err))
			return err_failed(err->status);
	}
	note_more(c, &last);
	return STATUS_OK;
}

/* ---- context_list_leaves ------------------------------------------------------------ */

/* Messages that nothing follows, in the order of the forest: each is the end of a way. */
enum status mirrored_context_list_leaves(struct call *c, struct str id, struct err *err)
{
	MIRRORED m = { 0 };
	struct str text = call_text(c, "after");
	struct grove_ref after = { 0 };
	bool begun = !text.p;
	struct uuid last = { 0 };
	int64_t count = 0;

	if (find_tree(c, id, GATE_ALIVE, &m, err) ||
	    (text.p && mirrored_find_in(&m, "after", text, &after, err)))
		return err_failed(err->status);
	for (uint32_t i = 0; i < m.grove.forest.order_count; i++) {
		struct grove_ref r = { GROVE_MESSAGE, m.grove.forest.order[i], 0 };

		if (m.grove.spots[r.at].tree != m.ref.at || m.grove.spots[r.at].followed)
			continue;
		if (!begun) {
			begun = grove_same(r, after);
			continue;
		}
		if (is_full(c, count++)) {
			note_more(c, &last);
			return STATUS_OK;
		}
		if (mirrored_emit(&m, r, -1, NODE_SKELETON, err) || grove_id(&m.grove, r, &last, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- tree_render --------------------------------------------------------------------- */

struct drawing {
	struct mirrored_walk *walk;
	int64_t level; /* of the node in hand, below the top */
	int width;
	struct buf line, text;
};

static void drawing_release(struct drawing *d)
{
	buf_release(&d->line);
	buf_release(&d->text);
}

static enum status draw_made(struct drawing *d, struct uuid *id, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct made_node made;

	if (mirrored_walk_made(d->walk, NODE_WHOLE, &mem, &made, err))
		return err_failed(err->status);
	*id = made.node.id;
	d->level = made.node.depth - (int64_t)d->walk->top;
	return render_words(d->walk->m->call, &made, &d->text, err);
}

static enum status has_next(void *ctx, int64_t above, bool *next, struct err *err)
{
	const struct drawing *d = ctx;

	return mirrored_walk_has_next(d->walk, d->level, above, next, err);
}

static enum status draw_line(struct drawing *d, struct uuid *id, struct err *err)
{
	struct mirrored_walk *w = d->walk;
	struct grove_ref ref = w->frames[w->count - 1].ref;
	int used;

	buf_clear(&d->text);
	d->level = (int64_t)(w->count - 1 - w->top);
	if (w->row ? draw_made(d, id, err)
		   : grove_id(&w->m->grove, ref, id, err) ||
			     mirrored_brief(w->m, ref, (size_t)d->width, &d->text, err))
		return err_failed(err->status);
	if (draw_front(&d->line, d->width, d->level, has_next, d, &used, err))
		return err_failed(err->status);
	draw_node(&d->line, id, buf_as_str(&d->text), d->width - used);
	return draw_end(w->m->call, &d->line, err);
}

static enum status draw_page(struct drawing *d, struct err *err)
{
	struct call *c = d->walk->m->call;
	struct uuid last = { 0 };
	bool is_there;

	for (int64_t count = 0;; count++) {
		if (mirrored_walk_next(d->walk, &is_there, err))
			return err_failed(err->status);
		if (!is_there || is_full(c, count))
			break;
		if (draw_line(d, &last, err))
			return err_failed(err->status);
	}
	return is_there ? draw_more(c, &last, &d->line, err) : STATUS_OK;
}

enum status mirrored_tree_render(struct call *c, struct str id, struct err *err)
{
	struct drawing d CLEANUP(drawing_release) = { .width = (int)call_int(c, "width"),
						      .line = BUF_INIT(64 * KIB),
						      .text = BUF_INIT(2 * LIMIT_NODE_TEXT) };
	struct str node = call_text(c, "node");
	struct grove_ref top;
	MIRRORED m = { 0 };
	WALK w = { 0 };

	if (find_tree(c, id, GATE_ALIVE, &m, err))
		return err_failed(err->status);
	top = m.ref;
	if ((node.p && mirrored_find_in(&m, "node", node, &top, err)) ||
	    mirrored_walk_begin(&w, &m, top, err))
		return err_failed(err->status);
	d.walk = &w;
	return draw_page(&d, err);
}

/* ---- tree_list ------------------------------------------------------------------------ */

/*
 * Trees that are active are listed by the files they are in. Those that belong together are loaded together,
 * so they are listed together, where the one last touched stands; whoever goes on behind a tree begins there.
 */
struct listing {
	struct call *call;
	int64_t count;
	struct uuid last;
	bool full;
	int64_t *rows; /* of transcripts, last touched first */
	size_t row_count, row_cap;
	struct numbers ranks; /* row -> its place among them */
	struct numbers done;  /* rows whose trees were listed */
};

static void listing_release(struct listing *l)
{
	mem_free(l->rows);
}

static enum status take_row(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	struct listing *l = ctx;

	(void)go_on;
	(void)err;
	if (l->row_count == l->row_cap) {
		l->row_cap = l->row_cap ? 2 * l->row_cap : 256;
		l->rows = mem_resize(l->rows, l->row_cap * sizeof *l->rows);
	}
	l->rows[l->row_count++] = s->row;
	return STATUS_OK;
}

static enum status list_tree(struct listing *l, struct mirrored *m, uint32_t tree, struct err *err)
{
	if (is_full(l->call, l->count)) {
		l->full = true;
		note_more(l->call, &l->last);
		return STATUS_OK;
	}
	l->count++;
	l->last = m->grove.trees[tree].id;
	return mirrored_emit_tree(m, tree, err);
}

/* The trees of a forest from this one on. */
static enum status list_forest(struct listing *l, struct mirrored *m, uint32_t from, struct err *err)
{
	const struct grove *g = &m->grove;

	for (uint32_t i = 0; i < g->forest.source_count; i++)
		numbers_put(&l->done, (uint64_t)g->forest.sources[i].session.row, 1);
	for (uint32_t t = from; t < g->tree_count && !l->full; t++) {
		struct life life;

		if (g->trees[t].aside && !call_flag(l->call, "agents"))
			continue;
		if (mirrored_life(m, (struct grove_ref){ GROVE_TREE, t, 0 }, &life, err) ||
		    (life.state == LIFE_ACTIVE && list_tree(l, m, t, err)))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* Where a forest is listed: at the first of its files. */
static uint32_t rank_of(const struct listing *l, const struct grove *g)
{
	uint32_t least = NUMBERS_NONE;

	for (uint32_t i = 0; i < g->forest.source_count; i++) {
		uint32_t rank = numbers_get(&l->ranks, (uint64_t)g->forest.sources[i].session.row);

		least = rank < least ? rank : least;
	}
	return least;
}

static enum status list_from(struct listing *l, size_t at, struct err *err)
{
	for (; at < l->row_count && !l->full; at++) {
		MIRRORED m = { .call = l->call,
			       .lines = { .store = l->call->store },
			       .life_of = FOREST_NONE };

		if (numbers_get(&l->done, (uint64_t)l->rows[at]) != NUMBERS_NONE)
			continue;
		if (call_is_cancelled(l->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (grove_load(l->call->store, l->rows[at], &m.grove, err))
			return err_failed(err->status);
		/* What is listed before was given on another page. */
		if (list_forest(l, &m, rank_of(l, &m.grove) < at ? m.grove.tree_count : 0, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status list_active(struct listing *l, struct err *err)
{
	struct str after = call_text(l->call, "after");
	MIRRORED m = { 0 };

	if (session_each(l->call->store, (struct str){ 0 }, take_row, l, err))
		return err_failed(err->status);
	l->ranks = numbers_new(&l->call->mem, l->row_count);
	l->done = numbers_new(&l->call->mem, l->row_count);
	for (size_t i = 0; i < l->row_count; i++)
		numbers_put(&l->ranks, (uint64_t)l->rows[i], (uint32_t)i);
	if (!after.p)
		return list_from(l, 0, err);
	if (find_tree(l->call, after, GATE_ANY, &m, err))
		return err_pass(err, "after");
	if (list_forest(l, &m, m.ref.at + 1, err))
		return err_failed(err->status);
	return list_from(l, rank_of(l, &m.grove) + (size_t)1, err);
}

/* By the id that it is written down by. */
static enum status list_in_state(void *ctx, const struct uuid *tree, const struct life *life, bool *go_on,
				 struct err *err)
{
	struct listing *l = ctx;
	char id[UUID_TEXT + 1];
	struct uuid subject;
	MIRRORED m = { 0 };

	(void)life;
	uuid_print(tree, id);
	if (find_tree(l->call, str_of(id), GATE_ANY, &m, err))
		return err->status == STATUS_NOT_FOUND ? STATUS_OK : err_failed(err->status);
	if (mirrored_subject(&m, m.ref.at, &subject, err))
		return err_failed(err->status);
	if (!uuid_eq(&subject, tree))
		return STATUS_OK;
	if (list_tree(l, &m, m.ref.at, err))
		return err_failed(err->status);
	*go_on = !l->full;
	return STATUS_OK;
}

enum status mirrored_tree_list(struct call *c, enum life_state state, int64_t count, struct err *err)
{
	struct listing l CLEANUP(listing_release) = { .call = c, .count = count };
	struct str text = call_text(c, "after");
	struct uuid subject;
	MIRRORED after = { 0 };

	if (state == LIFE_ACTIVE)
		return list_active(&l, err);
	/* Made ones are listed before. */
	if (!text.p || count || find_tree(c, text, GATE_ANY, &after, err))
		return tree_each_mirrored(c->store, state, NULL, list_in_state, &l, err);
	if (mirrored_subject(&after, after.ref.at, &subject, err))
		return err_failed(err->status);
	return tree_each_mirrored(c->store, state, &subject, list_in_state, &l, err);
}
