/*
 * Commands for made trees, and claims on trees and nodes. What follows from them for what is above a node is
 * tree_member.c's; commands for a node and all below it are tree_family.c's.
 */
#include "store/tree_life.h"

#include "store/tree_gone.h"
#include "store/tree_member.h"
#include "store/tree_row.h"

/* ---- Claims ----------------------------------------------------------------- */

static enum status hold(struct store *s, const struct subject *what, struct life_row *life, struct err *err)
{
	if (life->state != ROW_SCHEDULED)
		return STATUS_OK;
	return row_enter(s, what, life, ROW_HELD, NULL, err);
}

enum status tree_claim(struct store *s, const struct uuid *id, struct str owner, int64_t count, int64_t *now,
		       struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;
	struct life l;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || home_find(s, id, &t, err))
		return err_failed(err->status);
	l = life_of_row(&t.life);
	if (life_alive(&t.what, &l, err) || claim_add(s, &t.what, 0, owner, count, now, err) ||
	    hold(s, &t.what, &t.life, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status tree_node_claim(struct store *s, const struct uuid *id, struct str owner, int64_t count, int64_t *now,
			    struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct member m;
	struct home t;
	bool was_going;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || member_find(s, id, &m, &t, err) ||
	    member_alive(&m, &t, err) || claim_add(s, &m.what, m.tree, owner, count, now, err))
		return err_failed(err->status);
	was_going = m.life.state == ROW_SCHEDULED;
	if (hold(s, &m.what, &m.life, err) || (was_going && tree_keep_above(s, m.row, err)) ||
	    hold(s, &t.what, &t.life, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* The last claim on a tree has gone. */
static enum status let_tree_go(struct store *s, struct home *t, const struct life_windows *windows, struct err *err)
{
	if (t->life.state == ROW_NONE && row_enter(s, &t->what, &t->life, ROW_HELD, windows, err))
		return err_failed(err->status);
	return home_settle(s, t->row, windows, err);
}

enum status tree_release(struct store *s, const struct uuid *id, struct str owner, int64_t count,
			 const struct life_windows *windows, int64_t *now, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;
	int64_t left;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || home_find(s, id, &t, err) ||
	    claim_remove(s, &t.what, owner, count, now, err) || claim_total(s, &t.what.id, &left, err) ||
	    (!left && let_tree_go(s, &t, windows, err)))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status tree_node_release(struct store *s, const struct uuid *id, struct str owner, int64_t count,
			      const struct life_windows *windows, int64_t *now, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct member m;
	struct home t;
	int64_t left;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || member_find(s, id, &m, &t, err) ||
	    claim_remove(s, &m.what, owner, count, now, err) || claim_total(s, &m.what.id, &left, err))
		return err_failed(err->status);
	/* Held by a child it stays as it is. */
	if (!left && m.life.state == ROW_HELD && !m.life.held_by && member_settle(s, m.row, 0, windows, err))
		return err_failed(err->status);
	if (!left && home_settle(s, m.tree, windows, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status tree_schedule(struct store *s, const struct uuid *id, struct str owner,
			  const struct life_windows *windows, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;
	struct life l;
	int64_t own;

	if (claim_check_owner(owner, err) || tree_begin(s, &txn, err) || home_find(s, id, &t, err))
		return err_failed(err->status);
	l = life_of_row(&t.life);
	if (life_alive(&t.what, &l, err) || claim_of(s, &t.what.id, owner, &own, err) ||
	    (own && claim_remove(s, &t.what, owner, own, &own, err)) ||
	    claim_none(s, &t.what, err) || let_tree_go(s, &t, windows, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status tree_rescue(struct store *s, const struct uuid *id, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;

	if (tree_begin(s, &txn, err) || home_find(s, id, &t, err) || home_take_back(s, &t, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* ---- By force --------------------------------------------------------------- */

/* A node of which somebody had claims, without them. */
static enum status drop_one(struct store *s, const struct uuid *id, const struct life_windows *windows, struct err *err)
{
	struct member m;

	if (claim_drop(s, id, err) || member_by_id(s, id, &m, err))
		return err_failed(err->status);
	if (m.life.state != ROW_HELD || m.life.held_by)
		return STATUS_OK;
	return member_settle(s, m.row, 0, windows, err);
}

/* Some nodes of a tree. */
static enum status drop_some(struct store *s, int64_t tree, const struct life_windows *windows, bool *done,
			     struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (tree_begin(s, &txn, err))
		return err_failed(err->status);
	*done = false;
	for (bool first = true; !*done && (first || !tree_is_long(s)); first = false) {
		struct subject node;
		bool found;

		if (home_claimed_node(s, tree, &node, &found, err) || (found && drop_one(s, &node.id, windows, err)))
			return err_failed(err->status);
		*done = !found;
	}
	return txn_commit(&txn, err);
}

static enum status drop_claims(struct store *s, const struct uuid *id, const struct life_windows *windows,
			       struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct home t;
	bool done = false;

	if (read_begin(s, &snapshot, err) || home_find(s, id, &t, err))
		return err_failed(err->status);
	read_end(&snapshot);
	while (!done) {
		if (drop_some(s, t.row, windows, &done, err))
			return err_failed(err->status);
		txn_pause(s);
	}
	return STATUS_OK;
}

/* Nobody claims the tree or a node in it. */
static enum status is_unclaimed(struct store *s, const struct home *t, struct err *err)
{
	struct subject node;
	bool found;

	if (claim_refuse(s, &t->what, err) || home_claimed_node(s, t->row, &node, &found, err))
		return err_failed(err->status);
	return found ? claim_refuse(s, &node, err) : STATUS_OK;
}

enum status tree_move(struct store *s, const struct uuid *id, enum life_state state, bool force,
		      const struct life_windows *windows, struct tree_change *out, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct home t;

	*out = (struct tree_change){ 0 };
	if ((force && drop_claims(s, id, windows, err)) || tree_begin(s, &txn, err) || home_find(s, id, &t, err) ||
	    (force && claim_drop(s, &t.what.id, err)) || is_unclaimed(s, &t, err))
		return err_failed(err->status);
	if (state != LIFE_PURGED) {
		out->changed = t.life.state < ROW_ARCHIVED;
		if (out->changed && row_enter(s, &t.what, &t.life, ROW_ARCHIVED, windows, err))
			return err_failed(err->status);
		return txn_commit(&txn, err);
	}
	if (tree_gone_begin(s, &t.what.id, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return tree_gone_all(s, t.row, &out->changed, err);
}
