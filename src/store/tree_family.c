/*
 * Commands for a made node and all below it: let go, rescued, moved by force.
 *
 * They work through a list of these nodes in transactions of a few milliseconds, children before parents when they
 * go and parents before children when they come back, so that after each of them no node is further along than one
 * below it. What somebody else does meanwhile is met as it is.
 */
#include "store/tree_life.h"

#include "store/tree_gone.h"
#include "store/tree_member.h"
#include "store/tree_row.h"

/* Rows, each behind its parent. */
struct family {
	int64_t *rows;
	size_t count, cap;
};

static void family_release(struct family *f)
{
	mem_free(f->rows);
}

static void family_add(void *ctx, int64_t row)
{
	struct family *f = ctx;

	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->rows = mem_resize(f->rows, f->cap * sizeof *f->rows);
	}
	f->rows[f->count++] = row;
}

/* As it is now; the root has none. */
static enum status gather(struct store *s, const struct uuid *id, struct family *f, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	char text[SUBJECT_TEXT];
	struct member m;
	struct home t;

	if (read_begin(s, &snapshot, err) || member_find(s, id, &m, &t, err))
		return err_failed(err->status);
	if (!m.parent)
		return err_fail(err, STATUS_USAGE,
				"%s is the root of its tree and goes with it; 'arbor.tree_schedule' and"
				" 'arbor.tree_rescue' are for trees",
				subject_text(&m.what, text));
	family_add(f, m.row);
	for (size_t i = 0; i < f->count; i++)
		if (member_children(s, f->rows[i], family_add, f, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* What is done with each of them. */
struct work {
	struct store *store;
	const struct life_windows *windows;
	int64_t first; /* row of the node that was named */
	enum row_state to;
	bool force;
	struct tree_change *out;
};

typedef enum status member_fn(struct work *w, struct member *m, struct err *err);

/* As many as fit into a transaction, from *at on; children first or parents first. */
static enum status work_some(struct work *w, const struct family *f, bool children_first, member_fn *fn, size_t *at,
			     struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (tree_begin(w->store, &txn, err))
		return err_failed(err->status);
	for (bool first = true; *at < f->count && (first || !tree_is_long(w->store)); first = false) {
		struct member m;
		bool found;

		if (member_at(w->store, f->rows[children_first ? f->count - 1 - *at : *at], &m, &found, err) ||
		    (found && fn(w, &m, err)))
			return err_failed(err->status);
		++*at;
	}
	return txn_commit(&txn, err);
}

static enum status work_all(struct work *w, const struct family *f, bool children_first, member_fn *fn,
			    struct err *err)
{
	for (size_t at = 0; at < f->count;) {
		if (store_is_cancelled(w->store))
			return err_fail(err, STATUS_CANCELLED, "stopped after %zu of %zu nodes", at, f->count);
		if (work_some(w, f, children_first, fn, &at, err))
			return err_failed(err->status);
		txn_pause(w->store);
	}
	return STATUS_OK;
}

static enum status let_go(struct work *w, struct member *m, struct err *err)
{
	struct store *s = w->store;
	struct member after;

	if (m->life.state >= ROW_SCHEDULED)
		return STATUS_OK;
	if ((m->life.state == ROW_NONE && row_enter(s, &m->what, &m->life, ROW_HELD, NULL, err)) ||
	    member_settle(s, m->row, 0, w->windows, err) || member_must(s, m->row, &after, err))
		return err_failed(err->status);
	if (after.life.state == ROW_HELD)
		w->out->kept++;
	else
		w->out->changed++;
	return STATUS_OK;
}

enum status tree_node_delete(struct store *s, const struct uuid *id, const struct life_windows *windows,
			     struct tree_change *out, struct err *err)
{
	struct family f CLEANUP(family_release) = { 0 };
	struct work w = { .store = s, .windows = windows, .out = out };

	*out = (struct tree_change){ 0 };
	return gather(s, id, &f, err) ? err_failed(err->status) : work_all(&w, &f, true, let_go, err);
}

static const struct life_row no_row = { .state = ROW_NONE };

/* Also what was only held has its standing claim again. The first is the node itself. */
static enum status take_back(struct work *w, struct member *m, struct err *err)
{
	bool first = m->row == w->first;
	struct home t;

	if (home_at(w->store, m->tree, &t, err))
		return err_failed(err->status);
	if (first && t.life.state >= ROW_SCHEDULED && home_take_back(w->store, &t, err))
		return err_failed(err->status);
	if (m->life.state == ROW_NONE || (m->life.ephemeral && !first))
		return STATUS_OK;
	w->out->changed++;
	return row_put(w->store, &m->what, &no_row, err) ? err_failed(err->status)
							 : tree_keep_above(w->store, m->row, err);
}

enum status tree_node_rescue(struct store *s, const struct uuid *id, struct tree_change *out, struct err *err)
{
	struct family f CLEANUP(family_release) = { 0 };
	struct work w = { .store = s, .out = out };

	*out = (struct tree_change){ 0 };
	if (gather(s, id, &f, err))
		return err_failed(err->status);
	w.first = f.rows[0];
	return work_all(&w, &f, false, take_back, err);
}

/* ---- By force --------------------------------------------------------------- */

static enum status move_one(struct work *w, struct member *m, struct err *err)
{
	struct store *s = w->store;
	char text[SUBJECT_TEXT];
	bool held_back;

	if (m->life.state >= w->to)
		return STATUS_OK;
	if ((w->force ? claim_drop(s, &m->what.id, err) : claim_refuse(s, &m->what, err)) ||
	    member_is_held_back(s, m, w->to, &held_back, err))
		return err_failed(err->status);
	if (held_back)
		return err_fail(err, STATUS_CONFLICT, "%s: something was added or kept below it meanwhile; try again",
				subject_text(&m->what, text));
	if (w->to == ROW_PURGED ? tree_node_gone(s, m->row, &m->what.id, err)
				: row_enter(s, &m->what, &m->life, w->to, w->windows, err))
		return err_failed(err->status);
	w->out->changed++;
	return member_settle_above(s, m, w->windows, err) || home_settle(s, m->tree, w->windows, err) ?
		       err_failed(err->status) :
		       STATUS_OK;
}

/* Nothing is begun that cannot be done. */
static enum status check_claims(struct store *s, const struct family *f, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	if (read_begin(s, &snapshot, err))
		return err_failed(err->status);
	for (size_t i = 0; i < f->count; i++) {
		struct member m;
		bool found;

		if (member_at(s, f->rows[i], &m, &found, err) || (found && claim_refuse(s, &m.what, err)))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status tree_node_move(struct store *s, const struct uuid *id, enum life_state state, bool force,
			   const struct life_windows *windows, struct tree_change *out, struct err *err)
{
	struct family f CLEANUP(family_release) = { 0 };
	struct work w = { .store = s,
			  .windows = windows,
			  .to = state == LIFE_PURGED ? ROW_PURGED : ROW_ARCHIVED,
			  .force = force,
			  .out = out };

	*out = (struct tree_change){ 0 };
	if (gather(s, id, &f, err) || (!force && check_claims(s, &f, err)))
		return err_failed(err->status);
	return work_all(&w, &f, true, move_one, err);
}
