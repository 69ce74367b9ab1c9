/*
 * Words of made nodes in the index: entered with the node, taken out with it, made anew with all the rest.
 */
#include "store/made_text.h"

#include "ingest/rebuild.h"
#include "store/db.h"
#include "store/tree_life.h"
#include "life.h"

static enum status add(struct world *w, const struct uuid *tree, const char *text, struct uuid *id,
		       struct err *err)
{
	return tree_node_add(
		w->s,
		&(struct tree_node_new){ .tree = *tree, .kind = TREE_NODE_TEXT, .content = str_of(text) },
		&weeks, id, err);
}

/* How many documents of nodes there are, by what remembers them. */
static int64_t count_docs(struct t *t, struct world *w, const char *sql)
{
	struct stmt st = { .store = w->s };
	int64_t count = -1;

	if (sqlite3_prepare_v2(w->s->db, sql, -1, &st.st, NULL) == SQLITE_OK &&
	    sqlite3_step(st.st) == SQLITE_ROW)
		count = sqlite3_column_int64(st.st, 0);
	sqlite3_finalize(st.st);
	CHECK(count >= 0);
	return count;
}

#define DOCS	"SELECT count(*) FROM node_doc"
#define MISSING "SELECT count(*) FROM node_unread"

static bool has_word(struct t *t, struct world *w, const char *word)
{
	int64_t sequence = 0;
	struct err err;

	CHECK(doc_with_word(w->s, str_of(word), &sequence, &err) == STATUS_OK);
	return sequence != 0;
}

TEST(a_node_is_in_the_index_from_its_making_to_its_purging)
{
	WORLD w;
	struct uuid tree, one, two;
	struct tree_change change = { 0 };
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(rebuild_all(w.s, NULL, &err));
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("me") }, &tree, &err));
	EQ(count_docs(t, &w, DOCS), 0);
	OK(add(&w, &tree, "a wombat", &one, &err));
	OK(add(&w, &tree, "an echidna", &two, &err));
	CHECK(has_word(t, &w, "wombat") && has_word(t, &w, "echidna"));
	EQ(count_docs(t, &w, DOCS), 2);
	OK(tree_node_move(w.s, &one, LIFE_PURGED, true, &weeks, &change, &err));
	CHECK(!has_word(t, &w, "wombat") && has_word(t, &w, "echidna"));
	EQ(count_docs(t, &w, DOCS), 1);
}

TEST(what_was_refused_leaves_no_words)
{
	WORLD w;
	struct uuid tree, id, nowhere = { { 1 } };
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(rebuild_all(w.s, NULL, &err));
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("me") }, &tree, &err));
	EQ(tree_node_add(w.s,
			 &(struct tree_node_new){ .tree = tree,
						  .parent = &nowhere,
						  .kind = TREE_NODE_TEXT,
						  .content = STR("a wombat") },
			 &weeks, &id, &err),
	   STATUS_NOT_FOUND);
	CHECK(!has_word(t, &w, "wombat"));
}

TEST(a_rebuild_enters_all_and_each_once)
{
	WORLD w;
	struct uuid tree, id;
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(rebuild_all(w.s, NULL, &err));
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("me") }, &tree, &err));
	for (int i = 0; i < 20; i++)
		OK(add(&w, &tree, i ? "a wombat" : "...", &id, &err));
	EQ(count_docs(t, &w, DOCS), 19); /* the first has no word */
	OK(rebuild_all(w.s, NULL, &err));
	EQ(count_docs(t, &w, DOCS), 19);
	EQ(count_docs(t, &w, "SELECT count(*) FROM search WHERE search MATCH 'wombat'"), 19);
	EQ(count_docs(t, &w, MISSING), 0);
}

TEST(what_is_made_while_others_are_missing_enters_itself_and_the_rest_follows)
{
	WORLD w;
	struct uuid tree, id;
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(rebuild_all(w.s, NULL, &err));
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("me") }, &tree, &err));
	OK(add(&w, &tree, "a wombat", &id, &err));
	OK(add(&w, &tree, "a wombat", &id, &err));
	/* As a rebuild leaves it that was killed before it came to them. */
	OK(txn_begin(w.s, &txn, &err));
	OK(store_derived_reset(w.s, &err));
	OK(made_text_miss_all(w.s, &err));
	OK(store_derived_made(w.s, &err));
	OK(txn_commit(&txn, &err));
	EQ(count_docs(t, &w, MISSING), 1);
	OK(add(&w, &tree, "a wombat", &id, &err));
	EQ(count_docs(t, &w, DOCS), 1);
	OK(made_text_complete(w.s, &err));
	EQ(count_docs(t, &w, DOCS), 3);
	EQ(count_docs(t, &w, MISSING), 0);
	OK(made_text_complete(w.s, &err));
	EQ(count_docs(t, &w, "SELECT count(*) FROM search WHERE search MATCH 'wombat'"), 3);
}

TEST(where_there_is_no_index_nodes_are_made_all_the_same_and_found_once_there_is)
{
	WORLD w;
	struct uuid tree, one, two;
	struct tree_change change = { 0 };
	struct err err;

	OK(world_open(&w, t_tmpdir(t), &err));
	OK(tree_add(w.s, &(struct tree_new){ .owner = STR("me") }, &tree, &err));
	OK(add(&w, &tree, "a wombat", &one, &err));
	OK(add(&w, &tree, "an echidna", &two, &err));
	OK(tree_node_move(w.s, &one, LIFE_PURGED, true, &weeks, &change, &err));
	OK(rebuild_all(w.s, NULL, &err));
	CHECK(!has_word(t, &w, "wombat") && has_word(t, &w, "echidna"));
}

TESTS(CASE(a_node_is_in_the_index_from_its_making_to_its_purging), CASE(what_was_refused_leaves_no_words),
      CASE(a_rebuild_enters_all_and_each_once),
      CASE(what_is_made_while_others_are_missing_enters_itself_and_the_rest_follows),
      CASE(where_there_is_no_index_nodes_are_made_all_the_same_and_found_once_there_is))
