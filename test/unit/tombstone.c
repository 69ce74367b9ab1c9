/*
 * Tombstones: what they are asked for, and that they stay.
 */
#include "ingest/rebuild.h"
#include "store/archive.h"
#include "store/gap.h"
#include "store/session.h"
#include "store/source.h"
#include "store/tombstone.h"
#include "t.h"
#include "tree.h"

#include <string.h>

#define STORE struct store CLEANUP(store_closep)

static enum status add_lines(struct store *s, const char *const *lines, size_t count, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	uint8_t hash[SHA256_BYTES];
	struct line_salt salt;

	if (tombstone_salt(s, &salt, err) || txn_begin(s, &txn, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (line_hash(&salt, str_of(lines[i]), hash) && tombstone_add_line(s, hash, 1000, err))
			return err_failed(err->status);
	return txn_commit(&txn, err);
}

static bool has_line(struct store *s, const char *line)
{
	uint8_t hash[SHA256_BYTES];
	struct line_salt salt;
	struct err err;
	bool is = false;

	return tombstone_salt(s, &salt, &err) == STATUS_OK && line_hash(&salt, str_of(line), hash) &&
	       tombstone_of_line(s, hash, &is, &err) == STATUS_OK && is;
}

TEST(a_line_is_known_by_its_bytes_and_by_this_store_alone)
{
	STORE *s = NULL, *other = NULL;
	struct line_salt mine, its;
	uint8_t a[SHA256_BYTES], b[SHA256_BYTES];
	struct err err;
	bool any;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(tree_store(t_tmpdir(t), "b", NULL, NULL, &other, &err));
	OK(tombstone_any_line(s, &any, &err));
	CHECK(!any);
	OK(add_lines(s, (const char *const[]){ "{\"a\":1}", "{\"a\":1}", "two" }, 3, &err));
	OK(tombstone_any_line(s, &any, &err));
	CHECK(any);
	CHECK(has_line(s, "{\"a\":1}"));
	CHECK(has_line(s, "two"));
	CHECK(!has_line(s, "{\"a\":1} "));
	CHECK(!has_line(s, "tw"));
	/* Whoever has the tombstones of one store cannot try lines out with another's key. */
	OK(tombstone_salt(s, &mine, &err));
	OK(tombstone_salt(other, &its, &err));
	CHECK(line_hash(&mine, STR("two"), a) && line_hash(&its, STR("two"), b));
	CHECK(memcmp(a, b, sizeof a));
}

TEST(a_rebuild_keeps_tombstones)
{
	STORE *s = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(add_lines(s, (const char *const[]){ "gone" }, 1, &err));
	OK(rebuild_all(s, NULL, &err));
	CHECK(has_line(s, "gone"));
}

static enum status add_source(struct store *s, const char *path, struct root *root, int64_t *row,
			      struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (root_use(s, "/somewhere", STR("claude"), root, err) || txn_begin(s, &txn, err) ||
	    source_add(s, root->row, str_of(path), row, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

TEST(files_and_sessions_are_known_by_their_folder)
{
	STORE *s = NULL;
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tombstones here CLEANUP(tombstones_release) = { 0 }, there CLEANUP(tombstones_release) = { 0 };
	struct uuid session = { .b = { 1, 2, 3 } };
	struct root root, other;
	int64_t row;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(add_source(s, "projects/p/\xff.jsonl", &root, &row, &err));
	OK(root_use(s, "/elsewhere", STR("other"), &other, &err));
	OK(txn_begin(s, &txn, &err));
	OK(tombstone_add_source(s, row, 5, &err));
	OK(tombstone_add_source(s, row, 6, &err));
	OK(tombstone_add(s, TOMBSTONE_SESSION, &session, 7, &err));
	OK(tombstone_add(s, TOMBSTONE_NODE, &(struct uuid){ .b = { 9 } }, 8, &err));
	OK(txn_commit(&txn, &err));
	OK(tombstones_load(s, root.row, &mem, &here, &err));
	OK(tombstones_load(s, other.row, &mem, &there, &err));
	EQ(here.paths.count, 1);
	CHECK(map_get(&here.paths, STR("projects/p/\xff.jsonl")));
	EQ(there.paths.count, 0);
	EQ(there.sessions.count, 1); /* of a session every copy is meant */
	CHECK(map_get(&there.sessions, str_from((const char *)session.b, UUID_BYTES)));
}

TEST(the_mark_is_another_one_whenever_something_is_purged)
{
	STORE *s = NULL;
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t first, second, third;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(purge_mark(s, &first, &err));
	EQ(first, 0);
	OK(txn_begin(s, &txn, &err));
	OK(purge_mark_change(s, &err));
	OK(txn_commit(&txn, &err));
	OK(purge_mark(s, &second, &err));
	OK(txn_begin(s, &txn, &err));
	OK(purge_mark_change(s, &err));
	OK(txn_commit(&txn, &err));
	OK(purge_mark(s, &third, &err));
	CHECK(second != first && third != second);
}

static enum status begin_purge(struct store *s, struct purge_state *out, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || purge_state_begin(s, err) || purge_state_get(s, out, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

TEST(what_is_left_of_one_purge_is_not_done_by_another)
{
	STORE *s = NULL;
	struct purge_state one, two, now;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(purge_state_get(s, &now, &err));
	EQ(now.left, PURGE_NOTHING);
	OK(begin_purge(s, &one, &err));
	EQ(one.left, PURGE_BYTES);
	OK(begin_purge(s, &two, &err));
	OK(purge_state_done(s, &one, PURGE_NOTHING, &err));
	OK(purge_state_get(s, &now, &err));
	EQ(now.left, PURGE_BYTES);
	OK(purge_state_done(s, &two, PURGE_PAGES, &err));
	OK(purge_state_get(s, &now, &err));
	EQ(now.left, PURGE_PAGES);
	OK(purge_state_done(s, &two, PURGE_BYTES, &err)); /* never back */
	OK(purge_state_get(s, &now, &err));
	EQ(now.left, PURGE_PAGES);
	OK(purge_state_done(s, &two, PURGE_NOTHING, &err));
	OK(purge_state_get(s, &now, &err));
	EQ(now.left, PURGE_NOTHING);
}

/* A line whose bytes have gone, in a generation of its own. */
static enum status lose_line(struct store *s, const struct uuid *id, struct str uuid, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct root root;
	int64_t source, generation;

	if (add_source(s, "projects/p/x.jsonl", &root, &source, err) || txn_begin(s, &txn, err) ||
	    generation_add(s, source, 0, 0, 0, &generation, err) ||
	    gap_mark(s, generation, &(struct span){ 0, 100 }, 4711, err) ||
	    line_id_keep(s, generation, 10, id, uuid, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

TEST(ids_of_a_purged_line_and_its_parts_are_known)
{
	static const char uuid[] = "12345678-9abc-4def-8123-456789abcdef";
	STORE *s = NULL;
	struct node_name name = { .uuid = { uuid, UUID_TEXT } };
	struct uuid id = node_id(&name, PART_LINE), low, high;
	struct purged p;
	struct err err;
	bool found;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(lose_line(s, &id, str_of(uuid), &err));
	for (int part = PART_TURN; part < 3; part++) {
		if (part == PART_CALL || part == PART_PARENT || part == PART_API)
			continue;
		id = node_id(&name, part);
		OK(purged_find(s, &id, &id, &found, &p, &err));
		CHECK(found && uuid_eq(&p.id, &id));
		EQ(p.at, 4711);
	}
	CHECK(uuid_range(STR("12345678"), &low, &high)); /* its own */
	OK(purged_find(s, &low, &high, &found, &p, &err));
	CHECK(found);
	CHECK(uuid_range(STR("12345679"), &low, &high));
	OK(purged_find(s, &low, &high, &found, &p, &err));
	CHECK(!found);
}

static enum status delete_rows(struct store *s, struct purge_state *out, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || purge_state_words(s, err) || purge_state_get(s, out, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

TEST(deleted_rows_leave_words_to_be_wiped_and_undo_nothing_that_others_have_left)
{
	STORE *s = NULL;
	struct purge_state first, second, now;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(delete_rows(s, &first, &err));
	EQ(first.left, PURGE_WORDS);
	OK(delete_rows(s, &second, &err));
	OK(purge_state_done(s, &first, PURGE_NOTHING, &err)); /* not those of the second */
	OK(purge_state_get(s, &now, &err));
	EQ(now.left, PURGE_WORDS);
	OK(purge_state_done(s, &second, PURGE_PAGES, &err));
	OK(begin_purge(s, &first, &err));
	OK(delete_rows(s, &second, &err));
	EQ(second.left, PURGE_BYTES);
	EQ(second.number, first.number);
}

TESTS(CASE(a_line_is_known_by_its_bytes_and_by_this_store_alone), CASE(a_rebuild_keeps_tombstones),
      CASE(files_and_sessions_are_known_by_their_folder),
      CASE(the_mark_is_another_one_whenever_something_is_purged),
      CASE(what_is_left_of_one_purge_is_not_done_by_another),
      CASE(ids_of_a_purged_line_and_its_parts_are_known),
      CASE(deleted_rows_leave_words_to_be_wiped_and_undo_nothing_that_others_have_left))
