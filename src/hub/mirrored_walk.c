/*
 * Walking: frames for the mirrored nodes from the tree down, and below the last of them the walk through the
 * made nodes that hang on it, once its mirrored children are done.
 */
#include "hub/mirrored_walk.h"

#include "store/tree_graft.h"

void mirrored_walk_release(struct mirrored_walk *w)
{
	walk_release(&w->made);
	mem_free(w->frames);
}

static struct mirrored_frame *last_frame(struct mirrored_walk *w)
{
	return &w->frames[w->count - 1];
}

static void push(struct mirrored_walk *w, struct grove_ref ref, int64_t place)
{
	if (w->count == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->frames = mem_resize(w->frames, w->cap * sizeof *w->frames);
	}
	w->frames[w->count++] = (struct mirrored_frame){ .ref = ref, .place = place };
}

static enum status know_grafts(struct mirrored_walk *w, struct mirrored_frame *f, struct err *err)
{
	if (f->knows_grafts)
		return STATUS_OK;
	f->knows_grafts = true;
	return mirrored_grafts(w->m, f->ref, &f->grafts, &f->graft_count, err);
}

/* ---- Beginning ------------------------------------------------------------------ */

/* Frames down to a node. */
static enum status push_above(struct mirrored_walk *w, struct grove_ref r, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	uint32_t count, place;
	struct grove_ref *list = grove_above(&w->m->grove, r, &mem, &count);

	for (uint32_t i = 0; i < count; i++) {
		if (grove_place(&w->m->grove, list[i], &place, err))
			return err_failed(err->status);
		push(w, list[i], place);
	}
	return STATUS_OK;
}

/* A made node hangs on what the first row above it stands for. */
static enum status go_on_behind_made(struct mirrored_walk *w, const struct made_node *n, struct err *err)
{
	struct call *c = w->m->call;
	struct mirrored_frame *f;
	struct tree_node *steps;
	struct grove_ref below;
	char id[UUID_TEXT + 1];
	uint32_t children;
	size_t count;

	if (tree_path(c->store, 0, n->node.row, &c->mem, &steps, &count, err))
		return err_failed(err->status);
	uuid_print(&steps[0].id, id);
	if (mirrored_find_in(w->m, "after", str_of(id), &below, err) || push_above(w, below, err) ||
	    grove_count(&w->m->grove, below, &children, err))
		return err_failed(err->status);
	f = last_frame(w);
	if (know_grafts(w, f, err))
		return err_failed(err->status);
	f->children = children;
	while (f->graft < f->graft_count && f->grafts[f->graft] != steps[0].row)
		f->graft++;
	w->in_made = true;
	w->row = n->node.row;
	return walk_begin(&w->made, c->store, steps[0].row, n->node.row, false, err);
}

static enum status go_on_behind(struct mirrored_walk *w, struct str text, struct err *err)
{
	struct made_node made = { 0 };
	struct grove_ref after;

	if (find_node(w->m->call, "after", 0, false, &made, err) == STATUS_OK && tree_is_graft(&made.tree))
		return go_on_behind_made(w, &made, err);
	return mirrored_find_in(w->m, "after", text, &after, err) ? err_failed(err->status)
								  : push_above(w, after, err);
}

enum status mirrored_walk_begin(struct mirrored_walk *w, struct mirrored *m, struct grove_ref top,
				struct err *err)
{
	struct str after = call_if_has(m->call, "after");

	*w = (struct mirrored_walk){ .m = m };
	w->begun = after.p != NULL;
	if (after.p ? go_on_behind(w, after, err) : push_above(w, top, err))
		return err_failed(err->status);
	w->top = grove_depth(&m->grove, top);
	if (w->count <= w->top || !grove_same(w->frames[w->top].ref, top))
		return err_fail(err, STATUS_USAGE, "after: this node is not below the other");
	return STATUS_OK;
}

/* ---- Going on ---------------------------------------------------------------------- */

/* The next made node below the last frame; w->row 0 = there is none. */
static enum status next_made(struct mirrored_walk *w, struct err *err)
{
	struct mirrored_frame *f = last_frame(w);

	w->row = 0;
	if (know_grafts(w, f, err))
		return err_failed(err->status);
	for (; f->graft < f->graft_count; f->graft++) {
		if (!w->made.store) {
			/* It begins with the row that stands for the frame's own node. */
			if (walk_begin(&w->made, w->m->call->store, f->grafts[f->graft], 0, false, err) ||
			    walk_next(&w->made, &w->row, err))
				return err_failed(err->status);
		}
		if (walk_next(&w->made, &w->row, err))
			return err_failed(err->status);
		if (w->row)
			return STATUS_OK;
		walk_release(&w->made);
		w->made = (struct tree_walk){ 0 };
	}
	return STATUS_OK;
}

static enum status first_child(struct mirrored_walk *w, bool *is_there, struct err *err)
{
	struct grove_ref child;

	if (grove_first(&w->m->grove, last_frame(w)->ref, &child, is_there, err))
		return err_failed(err->status);
	if (*is_there)
		push(w, child, 0);
	return STATUS_OK;
}

/* What follows a node that is done with all below it: its sibling, or what was made and hangs on its parent.
 */
static enum status leave(struct mirrored_walk *w, bool *is_there, struct err *err)
{
	struct mirrored_frame done = *last_frame(w);
	struct grove_ref next;

	w->count--;
	if (grove_next(&w->m->grove, done.ref, &next, is_there, err))
		return err_failed(err->status);
	w->in_made = !*is_there;
	if (*is_there)
		push(w, next, done.place + 1);
	else
		last_frame(w)->children = done.place + 1;
	return STATUS_OK;
}

enum status mirrored_walk_next(struct mirrored_walk *w, bool *is_there, struct err *err)
{
	*is_there = true;
	if (!w->begun) {
		w->begun = true;
		return STATUS_OK;
	}
	if (!w->in_made) {
		if (first_child(w, is_there, err))
			return err_failed(err->status);
		w->in_made = !*is_there;
	}
	while (w->in_made) {
		if (next_made(w, err))
			return err_failed(err->status);
		*is_there = w->row != 0;
		if (*is_there || w->count == w->top + 1)
			return STATUS_OK;
		if (leave(w, is_there, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- The one in hand ----------------------------------------------------------------- */

enum status mirrored_walk_made(struct mirrored_walk *w, enum tree_node_part part, struct arena *mem,
			       struct made_node *out, struct err *err)
{
	struct mirrored_frame *f = last_frame(w);
	struct mirrored *m = w->m;
	struct grove_ref asked = m->ref;
	enum status status;

	if (tree_node_at(m->call->store, w->row, part, mem, &out->node, err) ||
	    tree_at(m->call->store, out->node.tree, mem, &out->tree, err))
		return err_failed(err->status);
	out->life = life_within(&out->node.life, &out->tree.life);
	m->ref = f->ref;
	status = mirrored_place(m, out, f->children + out->node.position - 1, err);
	m->ref = asked;
	return status;
}

/* Whether something made hangs on a frame's node that is not done yet. */
static enum status has_made(struct mirrored_walk *w, struct mirrored_frame *f, bool *out, struct err *err)
{
	*out = false;
	if (know_grafts(w, f, err))
		return err_failed(err->status);
	for (size_t i = f->graft; !*out && i < f->graft_count; i++) {
		struct tree_walk walk CLEANUP(walk_release) = { 0 };
		int64_t row;

		if (walk_begin(&walk, w->m->call->store, f->grafts[i], 0, false, err) ||
		    walk_next(&walk, &row, err) || walk_next(&walk, &row, err))
			return err_failed(err->status);
		*out = row != 0;
	}
	return STATUS_OK;
}

enum status mirrored_walk_has_next(struct mirrored_walk *w, int64_t level, int64_t above, bool *out,
				   struct err *err)
{
	int64_t made = w->row ? level - (int64_t)(w->count - 1 - w->top) : 0, frame;
	struct grove_ref next;

	*out = false;
	if (above < made) {
		if (walk_has_next(&w->made, (size_t)above, out, err))
			return err_failed(err->status);
		/* What hangs on the same node by another of its ids. */
		*out |= above == made - 1 && last_frame(w)->graft + 1 < last_frame(w)->graft_count;
		return STATUS_OK;
	}
	frame = (int64_t)w->count - 1 - (above - made);
	if (frame <= (int64_t)w->top)
		return STATUS_OK;
	if (grove_next(&w->m->grove, w->frames[frame].ref, &next, out, err))
		return err_failed(err->status);
	return *out ? STATUS_OK : has_made(w, &w->frames[frame - 1], out, err);
}
