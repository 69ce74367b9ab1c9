/*
 * Made trees and nodes: what can be made and what not, and that it is found and read as it was made.
 */
#include "store/alias.h"
#include "store/check_trees.h"
#include "store/db.h"
#include "store/tree_walk.h"
#include "life.h"

#include <sys/wait.h>
#include <unistd.h>

static enum status add_child(struct world *w, const struct tree_node_new *what, struct uuid *id,
			     struct err *err)
{
	return tree_node_add(w->s, what, &weeks, id, err);
}

static struct tree_node read_node(struct t *t, struct world *w, const struct uuid *id, struct arena *mem)
{
	struct tree_node n = { 0 };
	struct err err;

	if (tree_node_get(w->s, id, NODE_WHOLE, mem, &n, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	return n;
}

static int64_t row_of(struct t *t, struct world *w, const struct uuid *id)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;

	return read_node(t, w, id, &mem).row;
}

static int64_t root_of(struct t *t, struct world *w, const struct uuid *tree)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree found;
	struct err err;

	if (tree_get(w->s, tree, &mem, &found, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	return row_of(t, w, &found.root_id);
}

/* ---- Making ----------------------------------------------------------------- */

TEST(a_tree_has_an_owner_metadata_a_root_and_a_claim)
{
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid id;
	struct tree tree;
	struct tree_node root;
	int64_t claims, count;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("me"), .metadata = STR("{\"a\": [1.50]}") }, &id,
		    &err));
	OK(tree_get(w.s, &id, &mem, &tree, &err));
	EQS(tree.owner, STR("me"));
	EQS(tree.metadata, STR("{\"a\": [1.50]}"));
	EQ(tree.created_at, w.now);
	EQ(tree.life.state, LIFE_ACTIVE);
	root = read_node(t, &w, &tree.root_id, &mem);
	EQ(root.kind, TREE_NODE_ROOT);
	EQ(root.depth, 0);
	OK(claim_total(w.s, &id, &claims, &err));
	EQ(claims, 1);
	OK(tree_count(w.s, tree.row, &count, &err));
	EQ(count, 1);
	check_world(t, &w);
}

TEST(a_node_is_read_as_it_was_made)
{
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid tree, text, other, plugin;
	struct tree_node n;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(uuid_random(&plugin, &err));
	tree = plant(t, &w, "me");
	OK(add_child(&w,
		     &(struct tree_node_new){ .tree = tree,
					      .kind = TREE_NODE_TEXT,
					      .role = ROLE_ASSISTANT,
					      .content = STR("zwei\0Teile \xe2\x82\xac"),
					      .metadata = STR(" {\"k\":1}") },
		     &text, &err));
	OK(add_child(&w,
		     &(struct tree_node_new){ .tree = tree,
					      .parent = &text,
					      .kind = TREE_NODE_EXTERNAL,
					      .handle = STR("x@1.0.0::y:z"),
					      .plugin_id = plugin },
		     &other, &err));
	n = read_node(t, &w, &text, &mem);
	EQ(n.kind, TREE_NODE_TEXT);
	EQ(n.role, ROLE_ASSISTANT);
	EQS(n.content, STR("zwei\0Teile \xe2\x82\xac"));
	EQS(n.metadata, STR(" {\"k\":1}"));
	CHECK(!n.handle.p && n.depth == 1 && n.position == 1);
	n = read_node(t, &w, &other, &mem);
	EQ(n.kind, TREE_NODE_EXTERNAL);
	EQS(n.handle, STR("x@1.0.0::y:z"));
	CHECK(uuid_eq(&n.plugin_id, &plugin) && uuid_eq(&n.parent_id, &text));
	CHECK(!n.content.p && !n.metadata.p && n.depth == 2);
	check_world(t, &w);
}

static void refused(struct t *t, struct world *w, const struct tree_node_new *what, enum status want,
		    const char *says)
{
	struct err err = { 0 };
	struct uuid id;

	EQ(add_child(w, what, &id, &err), want);
	if (!strstr(err.text, says))
		t_fail(t, __FILE__, __LINE__, "'%s' lacks '%s'", err.text, says);
}

TEST(what_cannot_be_a_node_is_refused_and_leaves_nothing)
{
	static char large[LIMIT_METADATA + 3] = "\"";
	WORLD w;
	struct uuid tree, elsewhere, there, nowhere, none = { { 1 } };
	int64_t before, after;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	elsewhere = plant(t, &w, "me");
	there = grow(t, &w, &elsewhere, NULL, "x");
	memset(large + 1, 'a', LIMIT_METADATA);
	large[LIMIT_METADATA + 1] = '"';
	OK(uuid_random(&nowhere, &err));
	OK(tree_count(w.s, 1, &before, &err));
	struct tree_node_new what = { .tree = tree, .kind = TREE_NODE_TEXT, .content = STR("x") }, x;

	x = what, x.tree = nowhere;
	refused(t, &w, &x, STATUS_NOT_FOUND, "there is no tree");
	x = what, x.parent = &nowhere;
	refused(t, &w, &x, STATUS_NOT_FOUND, "there is no node");
	x = what, x.parent = &there;
	refused(t, &w, &x, STATUS_USAGE, "is not in tree");
	x = what, x.replaces = &there;
	refused(t, &w, &x, STATUS_USAGE, "is not in tree");
	x = what, x.id = &none;
	refused(t, &w, &x, STATUS_USAGE, "version 4");
	x = what, x.id = &there;
	refused(t, &w, &x, STATUS_CONFLICT, "there already");
	x = what, x.id = &tree;
	refused(t, &w, &x, STATUS_CONFLICT, "there already");
	x = what, x.metadata = STR("{");
	refused(t, &w, &x, STATUS_FORMAT, "metadata");
	x = what, x.metadata = STR("\"\xff\"");
	refused(t, &w, &x, STATUS_FORMAT, "UTF-8");
	x = what, x.metadata = str_of(large);
	refused(t, &w, &x, STATUS_LIMIT, "65536");
	x = what, x.content = STR("\xff");
	refused(t, &w, &x, STATUS_FORMAT, "UTF-8");
	x = what, x.kind = TREE_NODE_EXTERNAL;
	refused(t, &w, &x, STATUS_USAGE, "a handle may not be empty");
	OK(tree_count(w.s, 1, &after, &err));
	EQ(after, before);
	check_world(t, &w);
}

TEST(an_id_can_be_chosen_once)
{
	static const struct uuid chosen = { { 1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16 } };
	WORLD w;
	struct tree_change change;
	struct uuid id;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(tree_add(w.s, &(struct tree_new){ .id = &chosen, .owner = STR("me") }, &id, &err));
	CHECK(uuid_eq(&id, &chosen));
	EQ(tree_add(w.s, &(struct tree_new){ .id = &chosen, .owner = STR("me") }, &id, &err),
	   STATUS_CONFLICT);
	OK(tree_move(w.s, &chosen, LIFE_PURGED, true, &weeks, &change, &err));
	EQ(tree_add(w.s, &(struct tree_new){ .id = &chosen, .owner = STR("me") }, &id, &err),
	   STATUS_CONFLICT);
}

TEST(an_owner_has_a_name_that_can_be_shown)
{
	static const char *const bad[] = { "", "mirror", "tree", "a\nb", "\xff", "\x1b[1m" };
	WORLD w;
	struct uuid id;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	for (size_t i = 0; i < COUNT(bad); i++)
		EQ(tree_add(w.s, &(struct tree_new){ .owner = str_of(bad[i]) }, &id, &err), STATUS_USAGE);
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("Jürgen's tool 2") }, &id, &err));
}

TEST(metadata_of_a_tree_is_replaced_or_taken_away)
{
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree found;
	struct uuid tree;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	w.now += 5;
	OK(tree_set_metadata(w.s, &tree, STR("{\"b\":2}"), &err));
	OK(tree_get(w.s, &tree, &mem, &found, &err));
	EQS(found.metadata, STR("{\"b\":2}"));
	EQ(found.updated_at, found.created_at + 5);
	EQ(tree_set_metadata(w.s, &tree, STR("nonsense"), &err), STATUS_FORMAT);
	OK(tree_set_metadata(w.s, &tree, (struct str){ 0 }, &err));
	OK(tree_get(w.s, &tree, &mem, &found, &err));
	CHECK(!found.metadata.p);
}

/* ---- Reading ---------------------------------------------------------------- */

TEST(a_store_without_trees_is_read_and_stays_without_them)
{
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct gc_report r;
	struct tree found;
	struct uuid id;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(uuid_random(&id, &err));
	EQ(tree_get(w.s, &id, &mem, &found, &err), STATUS_NOT_FOUND);
	EQ(tree_find(w.s, STR("abcd"), &id, &err), STATUS_NOT_FOUND);
	OK(gc_run(w.s, &(struct gc_options){ .windows = weeks }, &r, &err));
	check_world(t, &w);
	{
		STMT st = { 0 };

		OK(stmt_use(w.s, &store_statements, 5, &st, &err));
		OK(stmt_row(&st, "version", &err));
		EQ(col_int(&st, 0), STORE_ARCHIVE);
	}
}

TEST(an_id_is_found_by_its_beginning_and_several_are_named)
{
	static const struct uuid a = { { 0xab, 0xcd, 1, 0, 0, 0, 0x40, 0, 0x80 } };
	static const struct uuid b = { { 0xab, 0xcd, 2, 0, 0, 0, 0x40, 0, 0x80 } };
	WORLD w;
	struct uuid id;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(tree_add(w.s, &(struct tree_new){ .id = &a, .owner = STR("me") }, &id, &err));
	OK(tree_add(w.s, &(struct tree_new){ .id = &b, .owner = STR("me") }, &id, &err));
	OK(tree_find(w.s, STR("abcd02"), &id, &err));
	CHECK(uuid_eq(&id, &b));
	EQ(tree_find(w.s, STR("abcd"), &id, &err), STATUS_AMBIGUOUS);
	CHECK(strstr(err.text, "abcd0100-") && strstr(err.text, "abcd0200-"));
	EQ(tree_find(w.s, STR("abc"), &id, &err), STATUS_USAGE);
	EQ(tree_find(w.s, STR("what"), &id, &err), STATUS_USAGE);
	EQ(tree_node_find(w.s, STR("abcd02"), &id, &err), STATUS_NOT_FOUND);
}

TEST(another_id_of_a_tree_or_node_means_it)
{
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid tree, alias;
	struct tree found;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	OK(uuid_random(&alias, &err));
	OK(alias_add(w.s, &alias, &(struct subject){ SUBJECT_TREE, tree }, &err));
	OK(tree_get(w.s, &alias, &mem, &found, &err));
	CHECK(uuid_eq(&found.id, &tree));
	EQ(alias_add(w.s, &alias, &(struct subject){ SUBJECT_TREE, tree }, &err), STATUS_CONFLICT);
	EQ(alias_add(w.s, &tree, &(struct subject){ SUBJECT_TREE, tree }, &err), STATUS_CONFLICT);
	OK(alias_remove(w.s, &alias, &err));
	EQ(alias_remove(w.s, &alias, &err), STATUS_NOT_FOUND);
	EQ(tree_get(w.s, &alias, &mem, &found, &err), STATUS_NOT_FOUND);
}

struct names {
	char text[256];
	size_t limit;
};

static enum status add_name(void *ctx, const struct tree_node *n, bool *go_on, struct err *err)
{
	struct names *names = ctx;
	size_t at = strlen(names->text);

	(void)err;
	snprintf(names->text + at, sizeof names->text - at, "%.*s ", STR_ARG(n->content));
	*go_on = --names->limit > 0;
	return STATUS_OK;
}

TEST(children_come_in_the_order_they_were_made_and_a_page_goes_on)
{
	WORLD w;
	struct uuid tree, b;
	struct names all = { .limit = 99 }, some = { .limit = 2 }, rest = { .limit = 99 };
	int64_t root;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	grow(t, &w, &tree, NULL, "a");
	b = grow(t, &w, &tree, NULL, "b");
	grow(t, &w, &tree, &b, "deeper");
	grow(t, &w, &tree, NULL, "c");
	root = root_of(t, &w, &tree);
	OK(tree_node_children(w.s, root, 0, false, NODE_WHOLE, add_name, &all, &err));
	EQS(str_of(all.text), STR("a b c "));
	OK(tree_node_children(w.s, root, 0, false, NODE_WHOLE, add_name, &some, &err));
	EQS(str_of(some.text), STR("a b "));
	OK(tree_node_children(w.s, root, 2, false, NODE_WHOLE, add_name, &rest, &err));
	EQS(str_of(rest.text), STR("c "));
}

TEST(a_path_leads_from_above_down_and_only_so)
{
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid tree, a, b, c, aside;
	struct tree_node *steps;
	int64_t common;
	size_t count;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	a = grow(t, &w, &tree, NULL, "a");
	b = grow(t, &w, &tree, &a, "b");
	aside = grow(t, &w, &tree, &a, "aside");
	c = grow(t, &w, &tree, &b, "c");
	OK(tree_path(w.s, 0, row_of(t, &w, &c), &mem, &steps, &count, &err));
	EQ(count, 4);
	CHECK(uuid_eq(&steps[1].id, &a) && uuid_eq(&steps[2].id, &b) && uuid_eq(&steps[3].id, &c));
	OK(tree_path(w.s, row_of(t, &w, &b), row_of(t, &w, &c), &mem, &steps, &count, &err));
	EQ(count, 2);
	CHECK(uuid_eq(&steps[0].id, &b));
	EQ(tree_path(w.s, row_of(t, &w, &aside), row_of(t, &w, &c), &mem, &steps, &count, &err),
	   STATUS_NOT_FOUND);
	EQ(tree_path(w.s, row_of(t, &w, &c), row_of(t, &w, &a), &mem, &steps, &count, &err),
	   STATUS_NOT_FOUND);
	OK(tree_common(w.s, row_of(t, &w, &c), row_of(t, &w, &aside), &common, &err));
	EQ(common, row_of(t, &w, &a));
	OK(tree_common(w.s, row_of(t, &w, &c), row_of(t, &w, &b), &common, &err));
	EQ(common, row_of(t, &w, &b));
	tree = plant(t, &w, "me");
	EQ(tree_common(w.s, row_of(t, &w, &c), root_of(t, &w, &tree), &common, &err), STATUS_USAGE);
}

static enum status add_tree(void *ctx, const struct tree *tree, bool *go_on, struct err *err)
{
	struct names *names = ctx;
	size_t at = strlen(names->text);

	(void)err;
	snprintf(names->text + at, sizeof names->text - at, "%.*s ", STR_ARG(tree->owner));
	*go_on = --names->limit > 0;
	return STATUS_OK;
}

TEST(trees_are_listed_by_state_newest_first)
{
	WORLD w;
	struct names active = { .limit = 99 }, first = { .limit = 1 }, scheduled = { .limit = 99 },
		     archived = { .limit = 99 };
	struct uuid a, b;
	struct tree_change change;
	int64_t left;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	a = plant(t, &w, "a");
	b = plant(t, &w, "b");
	plant(t, &w, "c");
	plant(t, &w, "d");
	OK(tree_release(w.s, &a, STR("a"), 1, &weeks, &left, &err));
	OK(tree_move(w.s, &b, LIFE_ARCHIVED, true, &weeks, &change, &err));
	OK(tree_each(w.s, LIFE_ACTIVE, 0, add_tree, &active, &err));
	EQS(str_of(active.text), STR("d c "));
	OK(tree_each(w.s, LIFE_ACTIVE, 4, add_tree, &first, &err));
	EQS(str_of(first.text), STR("c "));
	OK(tree_each(w.s, LIFE_SCHEDULED, 0, add_tree, &scheduled, &err));
	EQS(str_of(scheduled.text), STR("a "));
	OK(tree_each(w.s, LIFE_ARCHIVED, 0, add_tree, &archived, &err));
	EQS(str_of(archived.text), STR("b "));
}

/* ---- Walking ---------------------------------------------------------------- */

/* Its text, '<' before what is below it and '.' behind the last of siblings. */
static void draw_walk(struct t *t, struct world *w, struct tree_walk *walk, char out[256])
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct err err;
	int64_t row;

	*out = '\0';
	for (;;) {
		struct tree_node n;
		bool leaf, next;
		size_t at = strlen(out);

		OK(walk_next(walk, &row, &err));
		if (!row)
			return;
		OK(tree_node_at(w->s, row, NODE_WHOLE, &mem, &n, &err));
		OK(walk_is_leaf(walk, &leaf, &err));
		OK(walk_has_next(walk, 0, &next, &err));
		snprintf(out + at, 256 - at, "%.*s%s%s ", STR_ARG(n.content), leaf ? "" : "<",
			 next ? "" : ".");
	}
}

TEST(a_walk_goes_through_a_tree_and_on_from_any_node)
{
	WORLD w;
	struct uuid tree, a, b, deep, e;
	struct tree_walk walk CLEANUP(walk_release) = { 0 };
	char drawn[256];
	bool next;
	int64_t root;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	a = grow(t, &w, &tree, NULL, "a");
	b = grow(t, &w, &tree, &a, "b");
	deep = grow(t, &w, &tree, &b, "deep");
	grow(t, &w, &tree, &a, "c");
	e = grow(t, &w, &tree, NULL, "e");
	grow(t, &w, &tree, &e, "f");
	root = root_of(t, &w, &tree);
	OK(walk_begin(&walk, w.s, root, 0, false, &err));
	draw_walk(t, &w, &walk, drawn);
	EQS(str_of(drawn), STR("<. a< b< deep. c. e<. f. "));
	walk_release(&walk);
	OK(walk_begin(&walk, w.s, root, row_of(t, &w, &deep), false, &err));
	OK(walk_has_next(&walk, 0, &next, &err));
	CHECK(!next);
	OK(walk_has_next(&walk, 1, &next, &err)); /* b */
	CHECK(next);
	OK(walk_has_next(&walk, 2, &next, &err)); /* a */
	CHECK(next);
	OK(walk_has_next(&walk, 3, &next, &err));
	CHECK(!next);
	OK(walk_has_next(&walk, 9, &next, &err));
	CHECK(!next);
	draw_walk(t, &w, &walk, drawn);
	EQS(str_of(drawn), STR("c. e<. f. "));
	walk_release(&walk);
	OK(walk_begin(&walk, w.s, row_of(t, &w, &a), 0, false, &err));
	draw_walk(t, &w, &walk, drawn);
	EQS(str_of(drawn), STR("a<. b< deep. c. "));
}

TEST(a_walk_leaves_out_what_is_archived_unless_it_is_asked_for)
{
	WORLD w;
	struct uuid tree, b;
	struct tree_walk walk CLEANUP(walk_release) = { 0 };
	struct tree_change change;
	char drawn[256];
	int64_t root;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	grow(t, &w, &tree, NULL, "a");
	b = grow(t, &w, &tree, NULL, "b");
	grow(t, &w, &tree, &b, "c");
	OK(tree_node_move(w.s, &b, LIFE_ARCHIVED, false, &weeks, &change, &err));
	root = root_of(t, &w, &tree);
	OK(walk_begin(&walk, w.s, root, 0, false, &err));
	draw_walk(t, &w, &walk, drawn);
	EQS(str_of(drawn), STR("<. a. "));
	walk_release(&walk);
	OK(walk_begin(&walk, w.s, root, 0, true, &err));
	draw_walk(t, &w, &walk, drawn);
	EQS(str_of(drawn), STR("<. a b<. c. "));
}

TEST(a_chain_as_deep_as_can_be_is_walked_and_followed)
{
	enum { DEPTH = 20000 };
	WORLD w;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct uuid tree, at;
	struct tree_walk walk CLEANUP(walk_release) = { 0 };
	struct tree_node *steps;
	struct tree_change change;
	size_t count, walked = 0;
	int64_t row;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	at = grow(t, &w, &tree, NULL, "first");
	OK(txn_begin(w.s, &txn, &err));
	for (int i = 1; i < DEPTH && !t->failures; i++)
		at = grow(t, &w, &tree, &at, "x");
	OK(txn_commit(&txn, &err));
	OK(tree_path(w.s, 0, row_of(t, &w, &at), &mem, &steps, &count, &err));
	EQ(count, DEPTH + 1);
	OK(walk_begin(&walk, w.s, steps[0].row, 0, false, &err));
	for (row = 1; row; walked += row != 0)
		OK(walk_next(&walk, &row, &err));
	EQ(walked, DEPTH + 1);
	OK(tree_node_delete(w.s, &steps[1].id, &weeks, &change, &err));
	EQ(change.changed, DEPTH);
	w.now += 7 * DAY;
	EQ(collect(t, &w).nodes_archived, DEPTH);
	w.now += 30 * DAY;
	EQ(collect(t, &w).nodes_purged, DEPTH);
	check_world(t, &w);
}

/* ---- Check ------------------------------------------------------------------ */

static void count_problem(void *ctx, struct str text)
{
	(void)text;
	++*(int *)ctx;
}

TEST(a_check_finds_what_is_wrong_with_trees)
{
	static const char *const harm[] = {
		"UPDATE node SET depth = 7 WHERE depth = 2",
		"UPDATE tree SET root_id = randomblob(16)",
		"UPDATE node SET tree = 2 WHERE depth = 2",
		"UPDATE lifecycle SET state = 'scheduled', held_by = NULL, due_at = 1 WHERE state = 'held'",
		"UPDATE claim SET count = 0 WHERE subject = 'node'",
		"UPDATE lifecycle SET due_at = NULL WHERE state = 'scheduled'",
		"UPDATE lifecycle SET held_by = 1",
		"UPDATE claim SET tree = 2 WHERE subject = 'node'",
		"DELETE FROM tombstone",
		"INSERT INTO lifecycle SELECT root_id, 'node', 'scheduled', 0, NULL, NULL, 1, 2, 1 FROM tree",
		"DELETE FROM lifecycle WHERE parent IN (SELECT id FROM node WHERE depth = 1 AND position = 2)",
	};
	WORLD w;
	struct uuid tree, a, b, c;
	struct tree_change change;
	int64_t claims;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	tree = plant(t, &w, "me");
	plant(t, &w, "me");
	a = grow_as(t, &w, &tree, NULL, "a", true);
	b = grow_as(t, &w, &tree, &a, "b", true);
	c = grow_as(t, &w, &tree, NULL, "c", true);
	grow_as(t, &w, &tree, &c, "d", true);
	OK(tree_node_claim(w.s, &b, STR("me"), 1, &claims, &err));
	b = grow(t, &w, &tree, NULL, "gone");
	OK(tree_node_move(w.s, &b, LIFE_PURGED, false, &weeks, &change, &err));
	check_world(t, &w);
	for (size_t i = 0; i < COUNT(harm); i++) {
		int problems = 0;
		struct check_report r = { .problem = count_problem, .ctx = &problems };

		OK(db_exec(w.s, "PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON; BEGIN", &err));
		OK(db_exec(w.s, harm[i], &err));
		OK(check_trees(w.s, &r, &err));
		if (!problems)
			t_fail(t, __FILE__, __LINE__, "nothing is found after: %s", harm[i]);
		OK(db_exec(w.s, "ROLLBACK", &err));
	}
}

TEST(whatever_is_asked_of_trees_is_found_by_an_index)
{
	static const struct db_set *const sets[] = { &tree_statements,	    &tree_node_statements,
						     &tree_walk_statements, &lifecycle_statements,
						     &tree_member_statements, &tree_gone_statements,
						     &gc_statements,	    &alias_statements };
	WORLD w;
	int plans = 0;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(store_reach(w.s, STORE_TREES, &err));
	for (size_t k = 0; k < COUNT(sets); k++)
		for (size_t i = 0; i < sets[k]->count; i++) {
			char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sets[k]->sql[i]);
			sqlite3_stmt *st = NULL;

			EQ(sqlite3_prepare_v2(w.s->db, sql, -1, &st, NULL), SQLITE_OK);
			for (; st && sqlite3_step(st) == SQLITE_ROW; plans++) {
				const char *step = (const char *)sqlite3_column_text(st, 3);

				if (strncmp(step, "SCAN ", 5) == 0 && strcmp(step, "SCAN CONSTANT ROW") != 0)
					t_fail(t, __FILE__, __LINE__, "%s: %s", step, sets[k]->sql[i]);
			}
			sqlite3_finalize(st);
			sqlite3_free(sql);
		}
	CHECK(plans > 50);
}

TESTS(CASE(whatever_is_asked_of_trees_is_found_by_an_index),
      CASE(a_tree_has_an_owner_metadata_a_root_and_a_claim), CASE(a_node_is_read_as_it_was_made),
      CASE(what_cannot_be_a_node_is_refused_and_leaves_nothing), CASE(an_id_can_be_chosen_once),
      CASE(an_owner_has_a_name_that_can_be_shown), CASE(metadata_of_a_tree_is_replaced_or_taken_away),
      CASE(a_store_without_trees_is_read_and_stays_without_them),
      CASE(an_id_is_found_by_its_beginning_and_several_are_named),
      CASE(another_id_of_a_tree_or_node_means_it),
      CASE(children_come_in_the_order_they_were_made_and_a_page_goes_on),
      CASE(a_path_leads_from_above_down_and_only_so), CASE(trees_are_listed_by_state_newest_first),
      CASE(a_walk_goes_through_a_tree_and_on_from_any_node),
      CASE(a_walk_leaves_out_what_is_archived_unless_it_is_asked_for),
      CASE(a_chain_as_deep_as_can_be_is_walked_and_followed), CASE(a_check_finds_what_is_wrong_with_trees))
