/*
 * The lifecycle of made trees and nodes: claims, windows, what keeps what, force, and what gc does and leaves.
 */
#include "store/db.h"
#include "store/tree_graft.h"
#include "life.h"

static int64_t ask(struct world *w, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(w->s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static void claim(struct t *t, struct world *w, const struct uuid *id)
{
	int64_t now;
	struct err err;

	if (tree_node_claim(w->s, id, STR("me"), 1, &now, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
}

static void release(struct t *t, struct world *w, const struct uuid *id)
{
	int64_t now;
	struct err err;

	if (tree_node_release(w->s, id, STR("me"), 1, &weeks, &now, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
}

/* ---- Windows ---------------------------------------------------------------- */

static enum status world_with_tree(struct t *t, struct world *w, struct uuid *tree, struct err *err)
{
	if (world_open(w, t_tmpdir(t), err))
		return err_failed(err->status);
	*tree = plant(t, w, "me");
	return STATUS_OK;
}

TEST(an_ephemeral_node_is_scheduled_at_day_0_archived_at_7_and_purged_at_37)
{
	WORLD w;
	struct uuid tree, node;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	node = grow_as(t, &w, &tree, NULL, "try", true);
	EQ(state_of_node(&w, &node), LIFE_SCHEDULED);
	w.now += 7 * DAY - 1;
	EQ(collect(t, &w).nodes_archived, 0);
	w.now += 1;
	EQ(collect(t, &w).nodes_archived, 1);
	EQ(state_of_node(&w, &node), LIFE_ARCHIVED);
	w.now += 30 * DAY - 1;
	EQ(collect(t, &w).nodes_purged, 0);
	w.now += 1;
	EQ(collect(t, &w).nodes_purged, 1);
	EQ(state_of_node(&w, &node), LIFE_PURGED);
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	check_world(t, &w);
}

TEST(a_tree_that_is_released_goes_with_its_nodes_at_the_same_days)
{
	WORLD w;
	struct uuid tree, node, deep;
	struct gc_report r;
	int64_t left;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	node = grow(t, &w, &tree, NULL, "a");
	deep = grow(t, &w, &tree, &node, "b");
	OK(tree_release(w.s, &tree, STR("me"), 1, &weeks, &left, &err));
	EQ(left, 0);
	EQ(state_of_node(&w, &deep), LIFE_SCHEDULED);
	w.now += 7 * DAY;
	EQ(collect(t, &w).trees_archived, 1);
	EQ(state_of_tree(&w, &tree), LIFE_ARCHIVED);
	EQ(state_of_node(&w, &deep), LIFE_ARCHIVED);
	w.now += 30 * DAY;
	r = collect(t, &w);
	EQ(r.trees_purged, 1);
	EQ(r.nodes_purged, 3);
	EQ(state_of_tree(&w, &tree), LIFE_PURGED);
	EQ(state_of_node(&w, &deep), LIFE_PURGED);
	EQ(ask(&w, "SELECT count(*) FROM node"), 0);
	EQ(ask(&w, "SELECT count(*) FROM claim"), 0);
	EQ(ask(&w, "SELECT count(*) FROM deleted_row WHERE table_name = 'node'"), 3);
	EQ(ask(&w, "SELECT count(*) FROM tombstone WHERE kind = 'tree'"), 1);
	check_world(t, &w);
}

TEST(a_late_collector_leaves_what_it_archives_its_days)
{
	WORLD w;
	struct uuid tree, node;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	node = grow_as(t, &w, &tree, NULL, "try", true);
	w.now += 400 * DAY;
	EQ(collect(t, &w).nodes_archived, 1);
	EQ(collect(t, &w).nodes_purged, 0);
	EQ(state_of_node(&w, &node), LIFE_ARCHIVED);
	w.now += 30 * DAY;
	EQ(collect(t, &w).nodes_purged, 1);
}

/* ---- What keeps what --------------------------------------------------------- */

TEST(a_chain_of_ephemeral_nodes_goes_together)
{
	WORLD w;
	struct uuid tree, a, b;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow_as(t, &w, &tree, NULL, "a", true);
	b = grow_as(t, &w, &tree, &a, "b", true);
	grow_as(t, &w, &tree, &b, "c", true);
	w.now += 7 * DAY;
	EQ(collect(t, &w).nodes_archived, 3);
	w.now += 30 * DAY;
	EQ(collect(t, &w).nodes_purged, 3);
	check_world(t, &w);
}

TEST(a_parent_waits_for_the_last_below_it)
{
	WORLD w;
	struct uuid tree, a, b;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow_as(t, &w, &tree, NULL, "a", true);
	w.now += 3 * DAY;
	b = grow_as(t, &w, &tree, &a, "b", true);
	w.now += 4 * DAY;
	EQ(collect(t, &w).nodes_archived, 0);
	EQ(state_of_node(&w, &a), LIFE_SCHEDULED);
	check_world(t, &w);
	w.now += 3 * DAY;
	EQ(collect(t, &w).nodes_archived, 2);
	w.now += 30 * DAY;
	EQ(collect(t, &w).nodes_purged, 2);
	EQ(state_of_node(&w, &b), LIFE_PURGED);
	check_world(t, &w);
}

TEST(claiming_makes_the_path_and_the_tree_active_and_releasing_starts_their_windows)
{
	WORLD w;
	struct uuid tree, a, b, c;
	int64_t left;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow_as(t, &w, &tree, NULL, "a", true);
	b = grow_as(t, &w, &tree, &a, "b", true);
	c = grow_as(t, &w, &tree, &b, "c", true);
	OK(tree_release(w.s, &tree, STR("me"), 1, &weeks, &left, &err));
	w.now += 5 * DAY;
	claim(t, &w, &b);
	EQ(state_of_node(&w, &a), LIFE_ACTIVE);
	EQ(state_of_node(&w, &b), LIFE_ACTIVE);
	EQ(state_of_node(&w, &c), LIFE_SCHEDULED);
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	check_world(t, &w);
	w.now += 100 * DAY;
	EQ(collect(t, &w).nodes_archived, 1);
	EQ(state_of_node(&w, &a), LIFE_ACTIVE);
	release(t, &w, &b);
	EQ(state_of_node(&w, &a), LIFE_SCHEDULED);
	EQ(state_of_tree(&w, &tree), LIFE_SCHEDULED);
	w.now += 7 * DAY - 1;
	EQ(collect(t, &w).nodes_archived, 0);
	w.now += 1;
	EQ(collect(t, &w).nodes_archived, 2);
	EQ(state_of_tree(&w, &tree), LIFE_ARCHIVED);
	check_world(t, &w);
}

TEST(a_node_that_was_meant_to_stay_stays_when_a_claim_on_it_ends)
{
	WORLD w;
	struct uuid tree, node;
	int64_t left;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	node = grow(t, &w, &tree, NULL, "a");
	claim(t, &w, &node);
	claim(t, &w, &node);
	OK(tree_node_release(w.s, &node, STR("me"), 2, &weeks, &left, &err));
	EQ(left, 0);
	EQ(state_of_node(&w, &node), LIFE_ACTIVE);
}

TEST(something_that_stays_below_keeps_what_is_above_and_nothing_else)
{
	WORLD w;
	struct uuid tree, a, b, aside, kept;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow_as(t, &w, &tree, NULL, "a", true);
	b = grow_as(t, &w, &tree, &a, "b", true);
	aside = grow_as(t, &w, &tree, &a, "aside", true);
	kept = grow(t, &w, &tree, &b, "kept");
	EQ(state_of_node(&w, &a), LIFE_ACTIVE);
	EQ(state_of_node(&w, &b), LIFE_ACTIVE);
	EQ(state_of_node(&w, &aside), LIFE_SCHEDULED);
	EQ(state_of_node(&w, &kept), LIFE_ACTIVE);
	w.now += 7 * DAY;
	EQ(collect(t, &w).nodes_archived, 1);
	check_world(t, &w);
}

TEST(who_is_kept_by_several_goes_with_the_last)
{
	WORLD w;
	struct uuid tree, a, kids[5];
	struct tree_change change;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow_as(t, &w, &tree, NULL, "a", true);
	for (size_t i = 0; i < COUNT(kids); i++)
		kids[i] = grow(t, &w, &tree, &a, "kid");
	for (size_t i = 0; i < COUNT(kids); i++) {
		EQ(state_of_node(&w, &a), LIFE_ACTIVE);
		check_world(t, &w);
		OK(tree_node_delete(w.s, &kids[(i * 2 + 1) % COUNT(kids)], &weeks, &change, &err));
		EQ(change.changed, 1);
	}
	EQ(state_of_node(&w, &a), LIFE_SCHEDULED);
	check_world(t, &w);
}

TEST(deleting_takes_all_below_and_leaves_what_is_claimed_with_its_path)
{
	WORLD w;
	struct uuid tree, a, b, c, d;
	struct tree_change change;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow(t, &w, &tree, NULL, "a");
	b = grow(t, &w, &tree, &a, "b");
	c = grow(t, &w, &tree, &b, "c");
	d = grow(t, &w, &tree, &a, "d");
	claim(t, &w, &b);
	OK(tree_node_delete(w.s, &a, &weeks, &change, &err));
	EQ(change.changed, 2);
	EQ(change.kept, 2);
	EQ(state_of_node(&w, &a), LIFE_ACTIVE);
	EQ(state_of_node(&w, &b), LIFE_ACTIVE);
	EQ(state_of_node(&w, &c), LIFE_SCHEDULED);
	EQ(state_of_node(&w, &d), LIFE_SCHEDULED);
	check_world(t, &w);
	release(t, &w, &b);
	EQ(state_of_node(&w, &a), LIFE_SCHEDULED);
	check_world(t, &w);
}

/* ---- Claims ----------------------------------------------------------------- */

TEST(nobody_releases_more_than_was_claimed)
{
	WORLD w;
	struct uuid tree, node;
	int64_t left;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	node = grow(t, &w, &tree, NULL, "a");
	claim(t, &w, &node);
	EQ(tree_node_release(w.s, &node, STR("me"), 2, &weeks, &left, &err), STATUS_USAGE);
	CHECK(strstr(err.text, "'me' has 1 claim on node ") && strstr(err.text, "cannot release 2"));
	EQ(tree_node_release(w.s, &node, STR("you"), 1, &weeks, &left, &err), STATUS_USAGE);
	EQ(tree_release(w.s, &tree, STR("you"), 1, &weeks, &left, &err), STATUS_USAGE);
	EQ(tree_release(w.s, &tree, STR("me"), 0, &weeks, &left, &err), STATUS_USAGE);
	EQ(tree_claim(w.s, &tree, STR("me"), LIMIT_CLAIMS, &left, &err), STATUS_LIMIT);
	EQ(tree_node_claim(w.s, &node, STR("tree"), 1, &left, &err), STATUS_USAGE);
	OK(tree_release(w.s, &tree, STR("me"), 1, &weeks, &left, &err));
}

TEST(claims_are_counted_by_owner)
{
	WORLD w;
	struct uuid tree;
	int64_t now;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	OK(tree_claim(w.s, &tree, STR("you"), 3, &now, &err));
	EQ(now, 3);
	OK(tree_claim(w.s, &tree, STR("you"), 2, &now, &err));
	EQ(now, 5);
	OK(claim_total(w.s, &tree, &now, &err));
	EQ(now, 6);
	OK(tree_release(w.s, &tree, STR("me"), 1, &weeks, &now, &err));
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	OK(tree_release(w.s, &tree, STR("you"), 5, &weeks, &now, &err));
	EQ(now, 0);
	EQ(state_of_tree(&w, &tree), LIFE_SCHEDULED);
	OK(tree_claim(w.s, &tree, STR("you"), 1, &now, &err));
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	check_world(t, &w);
}

TEST(a_tree_is_scheduled_by_its_owner_and_not_over_others)
{
	WORLD w;
	struct uuid tree;
	int64_t now;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	OK(tree_claim(w.s, &tree, STR("you"), 1, &now, &err));
	EQ(tree_schedule(w.s, &tree, STR("me"), &weeks, &err), STATUS_CONFLICT);
	CHECK(strstr(err.text, "is claimed by 'you' (1)"));
	OK(claim_total(w.s, &tree, &now, &err));
	EQ(now, 2);
	OK(tree_release(w.s, &tree, STR("you"), 1, &weeks, &now, &err));
	OK(tree_schedule(w.s, &tree, STR("me"), &weeks, &err));
	EQ(state_of_tree(&w, &tree), LIFE_SCHEDULED);
	OK(tree_schedule(w.s, &tree, STR("me"), &weeks, &err));
}

/* ---- Archived, rescued, by force ------------------------------------------------ */

TEST(what_is_archived_can_be_neither_claimed_nor_added_to_but_rescued)
{
	WORLD w;
	struct uuid tree, a, b, id;
	struct tree_node_new what = { .kind = TREE_NODE_TEXT, .content = STR("x") };
	struct tree_change change;
	int64_t now;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow(t, &w, &tree, NULL, "a");
	b = grow(t, &w, &tree, &a, "b");
	OK(tree_node_move(w.s, &a, LIFE_ARCHIVED, false, &weeks, &change, &err));
	EQ(change.changed, 2);
	what.tree = tree;
	what.parent = &a;
	EQ(tree_node_add(w.s, &what, &weeks, &id, &err), STATUS_USAGE);
	CHECK(strstr(err.text, "arbor.node_get_archived") && strstr(err.text, "arbor.node_rescue"));
	EQ(tree_node_claim(w.s, &b, STR("me"), 1, &now, &err), STATUS_USAGE);
	OK(tree_node_rescue(w.s, &b, &change, &err));
	EQ(change.changed, 1);
	EQ(state_of_node(&w, &a), LIFE_ACTIVE);
	EQ(state_of_node(&w, &b), LIFE_ACTIVE);
	check_world(t, &w);
	/* It was brought back for its own sake, and what is above it only for that of it. */
	OK(tree_node_delete(w.s, &b, &weeks, &change, &err));
	EQ(state_of_node(&w, &a), LIFE_SCHEDULED);
	OK(tree_node_rescue(w.s, &a, &change, &err));
	EQ(change.changed, 2);
	EQ(state_of_node(&w, &b), LIFE_ACTIVE);
	check_world(t, &w);
}

TEST(rescuing_leaves_ephemeral_nodes_below_where_they_are)
{
	WORLD w;
	struct uuid tree, a, try, b;
	struct tree_change change;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow(t, &w, &tree, NULL, "a");
	try = grow_as(t, &w, &tree, &a, "try", true);
	b = grow(t, &w, &tree, &a, "b");
	OK(tree_node_delete(w.s, &a, &weeks, &change, &err));
	EQ(change.changed, 2);
	OK(tree_node_rescue(w.s, &a, &change, &err));
	EQ(change.changed, 2);
	EQ(state_of_node(&w, &b), LIFE_ACTIVE);
	EQ(state_of_node(&w, &try), LIFE_SCHEDULED);
	OK(tree_node_rescue(w.s, &try, &change, &err));
	EQ(state_of_node(&w, &try), LIFE_ACTIVE);
	check_world(t, &w);
}

TEST(a_tree_comes_back_with_a_node_that_is_rescued)
{
	WORLD w;
	struct uuid tree, a;
	struct tree_change change;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow(t, &w, &tree, NULL, "a");
	OK(tree_move(w.s, &tree, LIFE_ARCHIVED, true, &weeks, &change, &err));
	EQ(state_of_node(&w, &a), LIFE_ARCHIVED);
	OK(tree_node_rescue(w.s, &a, &change, &err));
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	EQ(state_of_node(&w, &a), LIFE_ACTIVE);
	OK(tree_schedule(w.s, &tree, STR("me"), &weeks, &err));
	OK(tree_rescue(w.s, &tree, &err));
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	check_world(t, &w);
}

TEST(a_tree_that_is_rescued_is_claimed_by_its_owner_again)
{
	WORLD w;
	struct uuid tree;
	int64_t now;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	OK(tree_schedule(w.s, &tree, STR("me"), &weeks, &err));
	OK(tree_rescue(w.s, &tree, &err));
	OK(claim_of(w.s, &tree, STR("me"), &now, &err));
	EQ(now, 1);
	/* Who needs it for a moment does not let it go. */
	OK(tree_claim(w.s, &tree, STR("tool"), 1, &now, &err));
	OK(tree_release(w.s, &tree, STR("tool"), 1, &weeks, &now, &err));
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	OK(tree_rescue(w.s, &tree, &err)); /* once is enough */
	OK(claim_of(w.s, &tree, STR("me"), &now, &err));
	EQ(now, 1);
	OK(tree_release(w.s, &tree, STR("me"), 1, &weeks, &now, &err));
	EQ(state_of_tree(&w, &tree), LIFE_SCHEDULED);
	check_world(t, &w);
}

TEST(force_is_needed_for_what_is_claimed_and_releases_it)
{
	WORLD w;
	struct uuid tree, a, b;
	struct tree_change change;
	int64_t now;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow(t, &w, &tree, NULL, "a");
	b = grow_as(t, &w, &tree, &a, "b", true);
	claim(t, &w, &b);
	EQ(tree_node_move(w.s, &a, LIFE_ARCHIVED, false, &weeks, &change, &err), STATUS_CONFLICT);
	CHECK(strstr(err.text, "claimed by 'me' (1)") && strstr(err.text, "'force'"));
	EQ(state_of_node(&w, &b), LIFE_ACTIVE);
	EQ(tree_move(w.s, &tree, LIFE_PURGED, false, &weeks, &change, &err), STATUS_CONFLICT);
	OK(tree_release(w.s, &tree, STR("me"), 1, &weeks, &now, &err));
	EQ(tree_move(w.s, &tree, LIFE_PURGED, false, &weeks, &change, &err), STATUS_CONFLICT);
	OK(tree_move(w.s, &tree, LIFE_ARCHIVED, true, &weeks, &change, &err));
	check_world(t, &w);
	OK(tree_rescue(w.s, &tree, &err));
	EQ(state_of_node(&w, &b), LIFE_SCHEDULED);
	claim(t, &w, &b);
	OK(tree_node_move(w.s, &a, LIFE_PURGED, true, &weeks, &change, &err));
	EQ(change.changed, 2);
	check_world(t, &w);
	OK(tree_move(w.s, &tree, LIFE_PURGED, true, &weeks, &change, &err));
	EQ(change.changed, 1);
	check_world(t, &w);
}

TEST(a_root_goes_with_its_tree_only)
{
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid tree;
	struct tree found;
	struct tree_change change;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	OK(tree_get(w.s, &tree, &mem, &found, &err));
	EQ(tree_node_delete(w.s, &found.root_id, &weeks, &change, &err), STATUS_USAGE);
	EQ(tree_node_move(w.s, &found.root_id, LIFE_PURGED, true, &weeks, &change, &err), STATUS_USAGE);
	claim(t, &w, &found.root_id);
	OK(tree_schedule(w.s, &tree, STR("me"), &weeks, &err));
	EQ(state_of_tree(&w, &tree), LIFE_ACTIVE);
	release(t, &w, &found.root_id);
	EQ(state_of_tree(&w, &tree), LIFE_SCHEDULED);
	check_world(t, &w);
}

TEST(nothing_is_added_to_a_tree_that_is_to_go)
{
	WORLD w;
	struct uuid tree, id;
	struct tree_node_new what = { .kind = TREE_NODE_TEXT, .content = STR("x") };
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	what.tree = tree = plant(t, &w, "me");
	OK(tree_schedule(w.s, &tree, STR("me"), &weeks, &err));
	EQ(tree_node_add(w.s, &what, &weeks, &id, &err), STATUS_USAGE);
	CHECK(strstr(err.text, "arbor.tree_claim"));
	OK(tree_rescue(w.s, &tree, &err));
	OK(tree_node_add(w.s, &what, &weeks, &id, &err));
}

TEST(what_was_purged_says_when)
{
	WORLD w;
	struct uuid tree, a, b;
	struct tree_change change;
	int64_t now;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	a = grow(t, &w, &tree, NULL, "a");
	b = grow(t, &w, &tree, NULL, "b");
	OK(tree_node_move(w.s, &a, LIFE_PURGED, false, &weeks, &change, &err));
	EQ(tree_node_claim(w.s, &a, STR("me"), 1, &now, &err), STATUS_GONE);
	CHECK(strstr(err.text, "was purged on 2027-01-15 08:00Z"));
	OK(tree_move(w.s, &tree, LIFE_PURGED, true, &weeks, &change, &err));
	EQ(tree_node_claim(w.s, &b, STR("me"), 1, &now, &err), STATUS_GONE);
	CHECK(strstr(err.text, "was purged on"));
	EQ(tree_claim(w.s, &tree, STR("me"), 1, &now, &err), STATUS_GONE);
	EQ(tree_rescue(w.s, &tree, &err), STATUS_GONE);
}

/* ---- gc --------------------------------------------------------------------- */

TEST(a_dry_run_says_what_a_run_does_and_changes_nothing)
{
	WORLD w;
	struct uuid tree, other, a, b;
	struct gc_report dry, wet;
	int64_t rev;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	other = plant(t, &w, "me");
	grow(t, &w, &other, NULL, "x");
	OK(tree_schedule(w.s, &other, STR("me"), &weeks, &err));
	a = grow_as(t, &w, &tree, NULL, "a", true);
	b = grow_as(t, &w, &tree, &a, "b", true);
	grow_as(t, &w, &tree, NULL, "c", true);
	w.now += DAY;
	grow_as(t, &w, &tree, &b, "late", true);
	for (int i = 0; i < 50; i++) {
		w.now += DAY;
		rev = ask(&w, "SELECT value FROM store_setting WHERE key = 'rev'");
		OK(gc_run(w.s, &(struct gc_options){ .windows = weeks, .dry_run = true }, &dry, &err));
		EQ(ask(&w, "SELECT value FROM store_setting WHERE key = 'rev'"), rev);
		wet = collect(t, &w);
		EQ(dry.trees_archived, wet.trees_archived);
		EQ(dry.trees_purged, wet.trees_purged);
		EQ(dry.nodes_archived, wet.nodes_archived);
		EQ(dry.nodes_purged, wet.nodes_purged);
	}
	EQ(ask(&w, "SELECT count(*) FROM node"), 1);
	check_world(t, &w);
}

TEST(it_can_be_done_in_slices)
{
	enum { NODES = 50 };
	WORLD w;
	struct uuid tree, other;
	struct gc_options o = { .windows = weeks, .limit = 7 };
	struct gc_report r = { .more = true };
	int runs = 0;
	int64_t purged = 0;
	struct err err;

	OK(world_with_tree(t, &w, &tree, &err));
	other = plant(t, &w, "me");
	for (int i = 0; i < NODES; i++) {
		grow_as(t, &w, &tree, NULL, "try", true);
		grow(t, &w, &other, NULL, "x");
	}
	OK(tree_schedule(w.s, &other, STR("me"), &weeks, &err));
	w.now += 7 * DAY;
	for (; r.more && runs < 100; runs++) {
		OK(gc_run(w.s, &o, &r, &err));
		CHECK(r.nodes_archived + r.trees_archived <= o.limit);
		check_world(t, &w);
	}
	EQ(runs, (NODES + 1) / 7 + 1);
	w.now += 30 * DAY;
	for (r.more = true, runs = 0; r.more && runs < 100; runs++) {
		OK(gc_run(w.s, &o, &r, &err));
		purged += r.nodes_purged;
		check_world(t, &w);
	}
	EQ(purged, 2 * NODES + 1);
	EQ(ask(&w, "SELECT count(*) FROM tree"), 1);
	EQ(ask(&w, "SELECT count(*) FROM node"), 1);
}

static enum status purge_them(void *ctx, const struct subject *list, size_t count, struct gc_mirrored *out,
			      struct err *err)
{
	struct world *w = ctx;
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(w->s, &txn, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (life_bury(w->s, &list[i], err) || tree_graft_purged(w->s, &list[i], err))
			return err_failed(err->status);
	out->trees = (int64_t)count;
	return txn_commit(&txn, err);
}

TEST(mirrored_subjects_move_too_and_are_purged_by_who_can)
{
	WORLD w;
	struct subject what = { .kind = SUBJECT_TREE };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct gc_report r;
	struct life l;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(uuid_random(&what.id, &err));
	OK(store_reach(w.s, STORE_TREES, &err));
	OK(txn_begin(w.s, &txn, &err));
	OK(life_put(w.s, &what, LIFE_SCHEDULED, &weeks, &err));
	OK(txn_commit(&txn, &err));
	w.now += 7 * DAY;
	EQ(collect(t, &w).trees_archived, 1);
	w.now += 30 * DAY;
	EQ(collect(t, &w).trees_purged, 0);
	OK(gc_run(w.s, &(struct gc_options){ .windows = weeks, .purge = purge_them, .ctx = &w }, &r, &err));
	EQ(r.trees_purged, 1);
	OK(life_get(w.s, &what.id, &l, &err));
	EQ(l.state, LIFE_PURGED);
	EQ(collect(t, &w).trees_purged, 0);
	check_world(t, &w);
}

TESTS(CASE(an_ephemeral_node_is_scheduled_at_day_0_archived_at_7_and_purged_at_37),
      CASE(a_tree_that_is_released_goes_with_its_nodes_at_the_same_days),
      CASE(a_late_collector_leaves_what_it_archives_its_days), CASE(a_chain_of_ephemeral_nodes_goes_together),
      CASE(a_parent_waits_for_the_last_below_it),
      CASE(claiming_makes_the_path_and_the_tree_active_and_releasing_starts_their_windows),
      CASE(a_node_that_was_meant_to_stay_stays_when_a_claim_on_it_ends),
      CASE(something_that_stays_below_keeps_what_is_above_and_nothing_else),
      CASE(who_is_kept_by_several_goes_with_the_last),
      CASE(deleting_takes_all_below_and_leaves_what_is_claimed_with_its_path),
      CASE(nobody_releases_more_than_was_claimed), CASE(claims_are_counted_by_owner),
      CASE(a_tree_is_scheduled_by_its_owner_and_not_over_others),
      CASE(what_is_archived_can_be_neither_claimed_nor_added_to_but_rescued),
      CASE(rescuing_leaves_ephemeral_nodes_below_where_they_are),
      CASE(a_tree_comes_back_with_a_node_that_is_rescued),
      CASE(a_tree_that_is_rescued_is_claimed_by_its_owner_again),
      CASE(force_is_needed_for_what_is_claimed_and_releases_it), CASE(a_root_goes_with_its_tree_only),
      CASE(nothing_is_added_to_a_tree_that_is_to_go), CASE(what_was_purged_says_when),
      CASE(a_dry_run_says_what_a_run_does_and_changes_nothing), CASE(it_can_be_done_in_slices),
      CASE(mirrored_subjects_move_too_and_are_purged_by_who_can))
