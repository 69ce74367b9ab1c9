/*
 * Walking through a made tree in the order in which it is drawn.
 *
 * What is not known is looked up when it is asked for and remembered in the frame of its node: its first child,
 * its next sibling. The frames are those of the current node and of the nodes above it, up to wherever somebody
 * has looked, and no more than some; the one above the first is found by its number.
 */
#include "store/tree_walk.h"

#include "store/db.h"

#include <string.h>

enum { WALK_PLACE, WALK_CHILD, WALK_STATEMENTS };

static const char *const sql[WALK_STATEMENTS] = {
	[WALK_PLACE] = "SELECT coalesce(parent, 0), position FROM node WHERE id = ?1",
	[WALK_CHILD] = "SELECT n.id, n.position FROM node n LEFT JOIN lifecycle l ON l.subject_id = n.node_id"
		       " WHERE n.parent = ?1 AND n.position > ?2 AND (?3 OR coalesce(l.state, '') <> 'archived')"
		       " ORDER BY n.position LIMIT 1",
};

const struct db_set tree_walk_statements = { DB_TREE_WALK, sql, WALK_STATEMENTS };

/* A node by its place, and whether it is known. */
struct place {
	int64_t row, position; /* row 0 = there is none */
	bool known;
};

struct walk_frame {
	int64_t row, parent, position;
	struct place child, next;
};

void walk_release(struct tree_walk *w)
{
	mem_free(w->frames);
	w->frames = NULL;
	w->count = w->cap = 0;
}

/* As many as are kept; whoever gets back to one that was not looks it up again. */
enum { MOST_FRAMES = 1024 };

static void drop_upper_half(struct tree_walk *w)
{
	w->count /= 2;
	memmove(w->frames, w->frames + w->count, w->count * sizeof *w->frames);
}

/* Above all others (`at` 0), or below them. */
static void add_frame(struct tree_walk *w, size_t at, const struct walk_frame *f)
{
	if (at && w->count == MOST_FRAMES) {
		drop_upper_half(w);
		at = w->count;
	}
	if (w->count == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 32;
		w->frames = mem_resize(w->frames, w->cap * sizeof *w->frames);
	}
	memmove(w->frames + at + 1, w->frames + at, (w->count - at) * sizeof *w->frames);
	w->frames[at] = *f;
	w->count++;
}

static struct walk_frame *current(struct tree_walk *w)
{
	return &w->frames[w->count - 1];
}

static enum status load_frame(struct tree_walk *w, int64_t row, struct walk_frame *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (stmt_use(w->store, &tree_walk_statements, WALK_PLACE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "%s: a node was purged meanwhile", store_path(w->store));
	*out = (struct walk_frame){ .row = row, .parent = col_int(&st, 0), .position = col_int(&st, 1) };
	return STATUS_OK;
}

static enum status find_child(struct tree_walk *w, int64_t parent, int64_t behind, struct place *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (out->known)
		return STATUS_OK;
	if (stmt_use(w->store, &tree_walk_statements, WALK_CHILD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, parent);
	stmt_int(&st, 2, behind);
	stmt_int(&st, 3, w->archived);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	*out = (struct place){ .known = true };
	if (found) {
		out->row = col_int(&st, 0);
		out->position = col_int(&st, 1);
	}
	return STATUS_OK;
}

static enum status find_next(struct tree_walk *w, struct walk_frame *f, struct err *err)
{
	if (f->row == w->top)
		f->next = (struct place){ .known = true };
	return find_child(w, f->parent, f->position, &f->next, err);
}

enum status walk_begin(struct tree_walk *w, struct store *s, int64_t top, int64_t after, bool archived,
		       struct err *err)
{
	struct walk_frame f;

	*w = (struct tree_walk){ .store = s, .top = top, .archived = archived, .begun = after != 0 };
	if (load_frame(w, after ? after : top, &f, err))
		return err_failed(err->status);
	add_frame(w, 0, &f);
	return STATUS_OK;
}

/* To the next sibling of the current node, or of the first above it that has one. */
static enum status leave(struct tree_walk *w, bool *done, struct err *err)
{
	for (;;) {
		struct walk_frame f = *current(w);

		*done = f.row == w->top || !f.parent;
		if (*done)
			return STATUS_OK;
		if (find_next(w, &f, err))
			return err_failed(err->status);
		w->count--;
		if (f.next.row) {
			struct walk_frame next = { .row = f.next.row, .parent = f.parent, .position = f.next.position };

			add_frame(w, w->count, &next);
			return STATUS_OK;
		}
		if (w->count)
			continue;
		if (load_frame(w, f.parent, &f, err))
			return err_failed(err->status);
		add_frame(w, 0, &f);
	}
}

enum status walk_next(struct tree_walk *w, int64_t *row, struct err *err)
{
	struct walk_frame *f = current(w);
	bool done = false;

	if (w->begun) {
		if (find_child(w, f->row, 0, &f->child, err))
			return err_failed(err->status);
		if (f->child.row) {
			struct walk_frame child = { .row = f->child.row,
						    .parent = f->row,
						    .position = f->child.position };

			add_frame(w, w->count, &child);
		} else if (leave(w, &done, err)) {
			return err_failed(err->status);
		}
	}
	w->begun = true;
	*row = done ? 0 : current(w)->row;
	return STATUS_OK;
}

enum status walk_is_leaf(struct tree_walk *w, bool *out, struct err *err)
{
	struct walk_frame *f = current(w);

	if (find_child(w, f->row, 0, &f->child, err))
		return err_failed(err->status);
	*out = f->child.row == 0;
	return STATUS_OK;
}

enum status walk_has_next(struct tree_walk *w, size_t above, bool *out, struct err *err)
{
	while (above >= w->count && w->frames[0].row != w->top && w->frames[0].parent) {
		struct walk_frame f;

		if (load_frame(w, w->frames[0].parent, &f, err))
			return err_failed(err->status);
		add_frame(w, 0, &f);
	}
	*out = false;
	if (above >= w->count)
		return STATUS_OK;
	if (find_next(w, &w->frames[w->count - 1 - above], err))
		return err_failed(err->status);
	*out = w->frames[w->count - 1 - above].next.row != 0;
	return STATUS_OK;
}
