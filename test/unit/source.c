/*
 * Roots and their labels, sources and their keys, and what people may call a
 * source.
 */
#include "ingest/rebuild.h"
#include "store/db.h"
#include "store/find.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

#define STORE struct store CLEANUP(store_closep)

static const struct str no_label;

static enum status open_named(const char *dir, const char *name, struct store **s, struct err *err)
{
	char path[LIMIT_PATH];
	struct store_options o = { .path = path, .create = true };
	bool done;

	snprintf(path, sizeof path, "%.2000s/%.100s", dir, name);
	return store_open(&o, s, err) ? err_failed(err->status) : rebuild_if_stale(*s, NULL, &done, err);
}

static enum status add(struct store *s, int64_t root, const char *path, int64_t *row, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t ignored;

	if (txn_begin(s, &txn, err) || source_add(s, root, str_of(path), row ? row : &ignored, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status rename_source(struct store *s, int64_t row, const char *from, const char *to, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || source_rename(s, row, str_of(from), str_of(to), err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

/* ---- Roots ----------------------------------------------------------------- */

static void check_label(struct t *t, struct store *s, const char *dir, struct str label, const char *want)
{
	struct root r = { 0 };
	struct err err;

	OK(root_use(s, dir, label, &r, &err));
	EQS(str_of(r.label), str_of(want));
	CHECK(r.row > 0);
}

TEST(roots_get_the_first_free_label_and_keep_it)
{
	STORE *s = NULL;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	check_label(t, s, "/a/.claude", no_label, "claude");
	check_label(t, s, "/b/.claude", no_label, "claude-2");
	check_label(t, s, "/c/.claude", no_label, "claude-3");
	check_label(t, s, "/a/.claude", no_label, "claude");
	check_label(t, s, "/b/.claude", no_label, "claude-2");
	check_label(t, s, "/d", STR("claude-4"), "claude-4");
	check_label(t, s, "/e", no_label, "claude-5");
	EQ(ask(s, "SELECT count(*) FROM root"), 5);
	EQ(ask(s, "SELECT count(*) FROM host"), 1);
}

TEST(using_a_known_root_writes_nothing)
{
	STORE *s = NULL;
	int64_t rev;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	check_label(t, s, "/a", STR("work"), "work");
	rev = ask(s, "SELECT value FROM store_setting WHERE key = 'rev'");
	check_label(t, s, "/a", STR("work"), "work");
	check_label(t, s, "/a", no_label, "work");
	EQ(ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"), rev);
}

TEST(a_label_takes_over_its_sources_for_another_folder)
{
	STORE *s = NULL;
	struct root before, after;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/old", no_label, &before, &err));
	OK(add(s, before.row, "projects/p/a.jsonl", NULL, &err));
	EQ(root_use(s, "/new", STR("claude"), &after, &err), STATUS_CONFLICT);
	EQ(root_move(s, STR("claude"), STR("/elsewhere"), "/new", &err), STATUS_CONFLICT);
	EQ(root_move(s, STR("claude"), STR("/old"), "/old", &err), STATUS_CONFLICT);
	EQ(root_find(s, "/new", no_label, &after, &err), STATUS_NOT_FOUND);
	OK(root_move(s, STR("claude"), STR("/old"), "/new", &err)); /* the folder was moved */
	OK(root_use(s, "/new", STR("claude"), &after, &err));
	EQ(after.row, before.row);
	check_label(t, s, "/new", no_label, "claude"); /* it stays so */
	EQ(ask(s, "SELECT count(*) FROM root"), 1);
	EQ(ask(s, "SELECT count(*) FROM source WHERE root = (SELECT id FROM root WHERE dir = '/new')"), 1);
	/* The folder it was before is a stranger now. */
	check_label(t, s, "/old", no_label, "claude-2");
}

TEST(a_known_folder_does_not_take_another_label)
{
	STORE *s = NULL;
	struct root r = { .row = -7 };
	int64_t rev;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	EQ(root_find(s, "/a", no_label, &r, &err), STATUS_NOT_FOUND);
	check_label(t, s, "/a", no_label, "claude");
	check_label(t, s, "/b", no_label, "claude-2");
	rev = ask(s, "SELECT value FROM store_setting WHERE key = 'rev'");
	EQ(root_use(s, "/a", STR("other"), &r, &err), STATUS_USAGE);
	EQ(root_use(s, "/a", STR("claude-2"), &r, &err), STATUS_USAGE);
	CHECK(strstr(err.text, "claude"));
	EQ(r.row, -7);
	EQ(ask(s, "SELECT count(*) FROM root"), 2);
	EQ(ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"), rev);
}

TEST(bad_labels_are_refused)
{
	static const struct str bad[] = {
		{ "", 0 }, { "a/b", 3 }, { ".hidden", 7 }, { "a b", 3 }, { "a:b", 3 }, { "\xc3\xa9", 2 }, { "a\0b", 3 },
		{ "a\n", 2 }, { "..", 2 }, { "*", 1 },
	};
	static const struct str good[] = { { "a", 1 }, { "Work-2_x.y", 10 }, { "7", 1 }, { "-", 1 } };
	char name[LIMIT_LABEL + 1];
	STORE *s = NULL;
	struct root r;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	for (size_t i = 0; i < COUNT(bad); i++)
		EQ(root_use(s, "/a", (struct str){ bad[i].n ? bad[i].p : "x", bad[i].n }, &r, &err), STATUS_USAGE);
	memset(name, 'l', sizeof name);
	EQ(root_use(s, "/a", str_from(name, LIMIT_LABEL + 1), &r, &err), STATUS_USAGE);
	EQ(ask(s, "SELECT count(*) FROM root"), 0);
	OK(root_use(s, "/long", str_from(name, LIMIT_LABEL), &r, &err));
	EQ(strlen(r.label), LIMIT_LABEL);
	for (size_t i = 0; i < COUNT(good); i++) {
		char dir[16];

		snprintf(dir, sizeof dir, "/%zu", i);
		check_label(t, s, dir, good[i], good[i].p);
	}
}

/* ---- Keys and ids ---------------------------------------------------------- */

static void check_found(struct t *t, struct store *s, struct str name, int64_t want)
{
	struct arena mem = ARENA_INIT;
	struct source_info info = { 0 };
	struct err err;
	enum status status = source_find(s, name, &mem, &info, &err);

	if (status != STATUS_OK || info.row != want)
		t_fail(t, __FILE__, __LINE__, "'%.*s' found %" PRId64 ", wanted %" PRId64 ": %s",
		       STR_ARG(name), info.row, want, status ? err.text : "");
	arena_release(&mem);
}

static void check_not_found(struct t *t, struct store *s, struct str name, enum status want)
{
	struct arena mem = ARENA_INIT;
	struct source_info info = { .row = -7 };
	struct err err;

	if (source_find(s, name, &mem, &info, &err) != want)
		t_fail(t, __FILE__, __LINE__, "'%.*s' gave row %" PRId64 " or another error", STR_ARG(name), info.row);
	EQ(info.row, -7);
	arena_release(&mem);
}

static bool key_is(struct store *s, int64_t row, const char *want)
{
	sqlite3_stmt *st = NULL;
	bool same = false;

	if (sqlite3_prepare_v2(s->db, "SELECT key FROM source WHERE id = ?1", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_bind_int64(st, 1, row) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		same = strcmp((const char *)sqlite3_column_text(st, 0), want) == 0;
	sqlite3_finalize(st);
	return same;
}

TEST(a_new_file_at_an_old_path_gets_a_key_of_its_own)
{
	STORE *s = NULL;
	struct root root;
	int64_t rows[4];
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &root, &err));
	OK(add(s, root.row, "tasks/a", &rows[0], &err));
	OK(rename_source(s, rows[0], "tasks/a", "tasks/b", &err));
	OK(add(s, root.row, "tasks/a", &rows[1], &err));
	OK(rename_source(s, rows[1], "tasks/a", "tasks/c", &err));
	OK(add(s, root.row, "tasks/a", &rows[2], &err));
	CHECK(key_is(s, rows[0], "tasks/a") && key_is(s, rows[1], "tasks/a//2") && key_is(s, rows[2], "tasks/a//3"));
	check_found(t, s, STR("tasks/a"), rows[2]);
	check_found(t, s, STR("tasks/b"), rows[0]);
	check_found(t, s, STR("tasks/c"), rows[1]);
	EQ(ask(s, "SELECT count(DISTINCT source_id) FROM source"), 3);
	/* A path that a source still has cannot be added or taken. */
	EQ(add(s, root.row, "tasks/b", &rows[3], &err), STATUS_CONFLICT);
	EQ(rename_source(s, rows[2], "tasks/a", "tasks/b", &err), STATUS_CONFLICT);
	EQ(ask(s, "SELECT count(*) FROM source"), 3);
	EQ(ask(s, "SELECT count(*) FROM source_path"), 2);
}

TEST(a_rename_that_somebody_else_has_done_conflicts)
{
	STORE *s = NULL;
	struct root root;
	int64_t row;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &root, &err));
	OK(add(s, root.row, "tasks/a", &row, &err));
	OK(rename_source(s, row, "tasks/a", "tasks/b", &err));
	EQ(rename_source(s, row, "tasks/a", "tasks/b", &err), STATUS_CONFLICT);
	EQ(ask(s, "SELECT count(*) FROM source_path WHERE path = 'tasks/b'"), 0);
	/* Back again: the old name is former and current, and found as current. */
	OK(rename_source(s, row, "tasks/b", "tasks/a", &err));
	check_found(t, s, STR("tasks/a"), row);
	check_found(t, s, STR("tasks/b"), row);
}

TEST(ids_are_the_same_in_every_store)
{
	static const char *const paths[] = { "projects/p/a.jsonl", "tasks/1.json", "plans/\xff.md" };
	const char *dir = t_tmpdir(t);
	STORE *a = NULL;
	STORE *b = NULL;
	struct root ra, rb;
	struct uuid want;
	struct source_info info;
	struct arena mem = ARENA_INIT;
	int64_t row;
	struct err err;

	OK(open_named(dir, "a.db", &a, &err));
	OK(open_named(dir, "b.db", &b, &err));
	OK(root_use(a, "/here", no_label, &ra, &err));
	OK(root_use(b, "/other", STR("x"), &rb, &err));
	OK(root_use(b, "/there", no_label, &rb, &err));
	for (size_t i = 0; i < COUNT(paths); i++)
		OK(add(a, ra.row, paths[i], &row, &err));
	for (size_t i = COUNT(paths); i-- > 0;)
		OK(add(b, rb.row, paths[i], &row, &err));
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct source_info other;

		OK(source_find(a, str_of(paths[i]), &mem, &info, &err));
		OK(source_find(b, str_of(paths[i]), &mem, &other, &err));
		CHECK(uuid_eq(&info.id, &other.id));
		want = uuid_of_parts((struct str[]){ STR("source"), STR("local"), STR("claude"), str_of(paths[i]) }, 4);
		CHECK(uuid_eq(&info.id, &want));
	}
	arena_release(&mem);
}

/* ---- Finding --------------------------------------------------------------- */

#define SESSION "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e5f"

TEST(a_source_is_found_in_every_way_people_name_it)
{
	STORE *s = NULL;
	struct root root, second;
	struct source_info info;
	struct arena mem = ARENA_INIT;
	char id[UUID_TEXT + 1], upper[UUID_TEXT + 1], plain[UUID_TEXT + 1];
	int64_t row, other, odd;
	size_t n = 0;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/home/me/.claude", no_label, &root, &err));
	OK(root_use(s, "/srv/claude", STR("server"), &second, &err));
	OK(add(s, root.row, "projects/-x/" SESSION ".jsonl", &row, &err));
	OK(add(s, second.row, "projects/-y/other.jsonl", &other, &err));
	OK(add(s, root.row, "plans/a:b.md", &odd, &err));

	check_found(t, s, STR("projects/-x/" SESSION ".jsonl"), row);
	check_found(t, s, STR("claude:projects/-x/" SESSION ".jsonl"), row);
	check_found(t, s, STR("server:projects/-y/other.jsonl"), other);
	check_found(t, s, STR("/home/me/.claude/projects/-x/" SESSION ".jsonl"), row);
	check_found(t, s, STR("/srv/claude/projects/-y/other.jsonl"), other);
	check_found(t, s, STR(SESSION), row);
	check_found(t, s, STR("plans/a:b.md"), odd);
	check_found(t, s, STR("claude:plans/a:b.md"), odd);

	OK(source_find(s, STR(SESSION), &mem, &info, &err));
	uuid_print(&info.id, id);
	for (size_t i = 0; i <= UUID_TEXT; i++) {
		upper[i] = id[i] >= 'a' && id[i] <= 'f' ? (char)(id[i] - 32) : id[i];
		if (id[i] != '-')
			plain[n++] = id[i];
	}
	EQS(info.path, STR("projects/-x/" SESSION ".jsonl"));
	EQS(info.root, STR("claude"));
	EQS(info.host, STR("local"));
	check_found(t, s, str_of(id), row);
	check_found(t, s, str_of(upper), row);
	check_found(t, s, str_of(plain), row);
	for (size_t i = 8; i <= UUID_TEXT; i++)
		check_found(t, s, str_from(id, i), row);

	check_not_found(t, s, STR("server:projects/-x/" SESSION ".jsonl"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("nobody:projects/-x/" SESSION ".jsonl"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("/home/me/projects/-x/" SESSION ".jsonl"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("projects"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR(""), STATUS_NOT_FOUND);
	check_not_found(t, s, STR(":"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("claude:"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("projects/%"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("projects/*"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("' OR 1 = 1 --"), STATUS_NOT_FOUND);
	check_not_found(t, s, str_from(id, 3), STATUS_NOT_FOUND);
	check_not_found(t, s, str_from(id, 0), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("11111111-8f5a-4f0c-9d53-0a1b2c3d4e5f"), STATUS_NOT_FOUND);
	arena_release(&mem);
}

TEST(a_session_id_is_found_in_either_case)
{
	STORE *s = NULL;
	struct root root;
	int64_t row;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &root, &err));
	OK(add(s, root.row, "projects/-x/" SESSION ".jsonl", &row, &err));
	check_found(t, s, STR("0B7F3C1E-8F5A-4F0C-9D53-0A1B2C3D4E5F"), row);
}

TEST(the_beginning_of_a_session_id_and_a_bare_file_name_are_enough)
{
	STORE *s = NULL;
	struct root root;
	int64_t row, plan, nested;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &root, &err));
	OK(add(s, root.row, "projects/-x/" SESSION ".jsonl", &row, &err));
	OK(add(s, root.row, "plans/deep/a-plan.md", &plan, &err));
	OK(add(s, root.row, "projects/-x/s/subagents/" SESSION ".jsonl", &nested, &err));
	check_found(t, s, STR("0b7f3c1e"), row); /* the nested one is not a session */
	check_found(t, s, STR("0B7F3C1E-8F5A"), row);
	check_found(t, s, STR("a-plan.md"), plan);
	check_not_found(t, s, STR("plan.md"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("*"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("a-plan.m?"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("[a]-plan.md"), STATUS_NOT_FOUND);
	check_not_found(t, s, STR("0b7"), STATUS_NOT_FOUND);
}

TEST(a_name_that_means_several_is_ambiguous_and_lists_them)
{
	STORE *s = NULL;
	struct root a, b;
	struct source_info info;
	struct arena mem = ARENA_INIT;
	int64_t rows[2];
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &a, &err));
	OK(root_use(s, "/b", no_label, &b, &err));
	OK(add(s, a.row, "projects/p/" SESSION ".jsonl", &rows[0], &err));
	OK(add(s, b.row, "projects/p/" SESSION ".jsonl", &rows[1], &err));
	check_not_found(t, s, STR(SESSION), STATUS_AMBIGUOUS);
	EQ(source_find(s, STR("projects/p/" SESSION ".jsonl"), &mem, &info, &err), STATUS_AMBIGUOUS);
	CHECK(strstr(err.text, "claude:projects/p") && strstr(err.text, "claude-2:projects/p"));
	check_found(t, s, STR("claude:projects/p/" SESSION ".jsonl"), rows[0]);
	check_found(t, s, STR("claude-2:projects/p/" SESSION ".jsonl"), rows[1]);
	check_found(t, s, STR("/b/projects/p/" SESSION ".jsonl"), rows[1]);
	arena_release(&mem);
}

TEST(an_id_prefix_is_unique_or_ambiguous)
{
	enum { FILES = 700 };
	STORE *s = NULL;
	struct txn txn = { 0 };
	struct root root;
	int64_t row;
	int unique = 0, shared = 0;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &root, &err));
	OK(txn_begin(s, &txn, &err));
	for (int i = 0; i < FILES; i++) {
		char path[32];

		snprintf(path, sizeof path, "tasks/%d.json", i);
		OK(source_add(s, root.row, str_of(path), &row, &err));
	}
	OK(txn_commit(&txn, &err));
	for (int i = 0; i < FILES; i++) {
		struct uuid id = uuid_of_parts(
		    (struct str[]){ STR("source"), STR("local"), STR("claude"), { NULL, 0 } }, 4);
		struct arena mem = ARENA_INIT;
		struct source_info info;
		char path[32], text[UUID_TEXT + 1], sql[160];
		enum status status;
		int64_t same;

		snprintf(path, sizeof path, "tasks/%d.json", i);
		OK(source_find(s, str_of(path), &mem, &info, &err));
		id = info.id;
		uuid_print(&id, text);
		snprintf(sql, sizeof sql,
			 "SELECT count(*) FROM source WHERE substr(lower(hex(source_id)), 1, 4) = '%.4s'",
			 text);
		same = ask(s, sql);
		status = source_find(s, str_from(text, 4), &mem, &info, &err);
		EQ(status, same == 1 ? STATUS_OK : STATUS_AMBIGUOUS);
		if (same == 1)
			CHECK(uuid_eq(&id, &info.id));
		unique += same == 1;
		shared += same > 1;
		arena_release(&mem);
	}
	CHECK(unique > 0 && shared > 0);
}

TEST(former_paths_are_tried_last)
{
	STORE *s = NULL;
	struct root root;
	int64_t old, fresh;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &root, &err));
	OK(add(s, root.row, "tasks/a", &old, &err));
	OK(rename_source(s, old, "tasks/a", "tasks/b", &err));
	check_found(t, s, STR("tasks/a"), old);
	OK(add(s, root.row, "tasks/a", &fresh, &err));
	check_found(t, s, STR("tasks/a"), fresh);
	check_found(t, s, STR("tasks/b"), old);
}

/* ---- State ----------------------------------------------------------------- */

struct seen_sources {
	char keys[8][64];
	int count;
};

static enum status note_source(void *ctx, const struct source_info *info, struct err *err)
{
	struct seen_sources *l = ctx;

	(void)err;
	if (l->count < (int)COUNT(l->keys))
		snprintf(l->keys[l->count++], sizeof l->keys[0], "%.*s:%.*s", STR_ARG(info->root), STR_ARG(info->key));
	return STATUS_OK;
}

TEST(every_source_is_listed_by_root_and_key)
{
	static const char *const want[] = { "claude:a", "claude:b", "claude-2:a", "claude-2:z" };
	struct seen_sources l = { 0 };
	STORE *s = NULL;
	struct root a, b;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &a, &err));
	OK(root_use(s, "/b", no_label, &b, &err));
	OK(add(s, b.row, "z", NULL, &err));
	OK(add(s, a.row, "b", NULL, &err));
	OK(add(s, b.row, "a", NULL, &err));
	OK(add(s, a.row, "a", NULL, &err));
	OK(source_each(s, note_source, &l, &err));
	EQ(l.count, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++)
		EQS(str_of(l.keys[i]), str_of(want[i]));
}

TEST(sources_below_a_folder_are_those_that_begin_with_it)
{
	static const char *const paths[] = { "tasks", "tasks.x", "tasks/\xff\xff", "tasks/a", "tasks0" };
	static const char *const want[] = { "claude:tasks/a", "claude-2:tasks/a", "claude:tasks/\xff\xff" };
	struct seen_sources l = { 0 };
	STORE *s = NULL;
	struct root a, b;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &a, &err));
	OK(root_use(s, "/b", no_label, &b, &err));
	for (size_t i = 0; i < COUNT(paths); i++)
		OK(add(s, a.row, paths[i], NULL, &err));
	OK(add(s, b.row, "tasks/a", NULL, &err));
	OK(source_each_below(s, STR("tasks/"), note_source, &l, &err));
	EQ(l.count, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++)
		EQS(str_of(l.keys[i]), str_of(want[i]));
}

static enum status note_root(void *ctx, struct str label, struct str dir, struct err *err)
{
	(void)err;
	buf_printf(ctx, "%.*s=%.*s ", STR_ARG(label), STR_ARG(dir));
	return STATUS_OK;
}

TEST(roots_are_listed_in_the_order_they_were_added)
{
	struct buf list CLEANUP(buf_release) = BUF_INIT(KIB);
	STORE *s = NULL;
	struct root r;
	struct err err;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_each(s, note_root, &list, &err));
	EQ(list.n, 0);
	OK(root_use(s, "/b", no_label, &r, &err));
	OK(root_use(s, "/a", no_label, &r, &err));
	OK(root_each(s, note_root, &list, &err));
	EQS(buf_as_str(&list), STR("claude=/b claude-2=/a "));
}

TEST(what_was_seen_is_loaded_again)
{
	struct source_seen seen = { .st = { .inode = INT64_MIN, .size = 5, .mtime_ns = 6, .ctime_ns = 7 },
				    .settled = true, .head_length = 5, .head_hash = UINT64_MAX };
	struct arena mem = ARENA_INIT;
	struct txn txn = { 0 };
	STORE *s = NULL;
	struct source *list;
	struct root root;
	int64_t row, generation;
	size_t n;
	struct err err;
	bool done;

	OK(open_named(t_tmpdir(t), "a.db", &s, &err));
	OK(root_use(s, "/a", no_label, &root, &err));
	OK(add(s, root.row, "tasks/\n\xff", &row, &err));
	OK(source_load(s, root.row, &mem, &list, &n, &err));
	EQ(n, 1);
	EQS(list[0].path, STR("tasks/\n\xff"));
	CHECK(list[0].generation == 0 && !list[0].complete && !list[0].settled && !list[0].vanished);

	OK(txn_begin(s, &txn, &err));
	OK(generation_add(s, row, 0, 0, 0, &generation, &err));
	OK(source_saw(s, row, generation, 0, &seen, &err));
	OK(txn_commit(&txn, &err));
	OK(source_load(s, root.row, &mem, &list, &n, &err));
	CHECK(list[0].complete && list[0].settled && list[0].generation == generation);
	CHECK(file_stat_eq(&list[0].st, &seen.st));
	CHECK(list[0].head_length == 5 && list[0].head_hash == UINT64_MAX);

	OK(txn_begin(s, &txn, &err));
	EQ(source_saw(s, row, generation + 1, 0, &seen, &err), STATUS_CONFLICT);
	EQ(source_saw(s, row, generation, 7, &seen, &err), STATUS_CONFLICT); /* not what was compared */
	seen.settled = false;
	OK(source_saw(s, row, generation, 0, &seen, &err));
	OK(source_vanish(s, &list[0], &done, &err)); /* somebody has seen it since it was loaded */
	CHECK(!done);
	OK(txn_commit(&txn, &err));
	OK(source_load(s, root.row, &mem, &list, &n, &err));
	CHECK(list[0].complete && !list[0].settled && !list[0].vanished);

	OK(txn_begin(s, &txn, &err));
	OK(source_vanish(s, &list[0], &done, &err));
	CHECK(done);
	OK(txn_commit(&txn, &err));
	OK(source_load(s, root.row, &mem, &list, &n, &err));
	CHECK(list[0].vanished);

	OK(txn_begin(s, &txn, &err));
	OK(source_saw(s, row, generation, 0, &seen, &err)); /* it is back */
	OK(txn_commit(&txn, &err));
	OK(source_load(s, root.row, &mem, &list, &n, &err));
	CHECK(!list[0].vanished);

	OK(txn_begin(s, &txn, &err));
	OK(generation_add(s, row, generation, generation, 0, &generation, &err)); /* begun, not read to its end */
	OK(txn_commit(&txn, &err));
	OK(source_load(s, root.row, &mem, &list, &n, &err));
	CHECK(!list[0].complete && !list[0].settled && list[0].generation == generation);
	OK(source_load(s, root.row + 1, &mem, &list, &n, &err));
	EQ(n, 0);
	arena_release(&mem);
}

TESTS(CASE(roots_get_the_first_free_label_and_keep_it),
      CASE(using_a_known_root_writes_nothing),
      CASE(a_label_takes_over_its_sources_for_another_folder),
      CASE(a_known_folder_does_not_take_another_label),
      CASE(bad_labels_are_refused),
      CASE(a_new_file_at_an_old_path_gets_a_key_of_its_own),
      CASE(a_rename_that_somebody_else_has_done_conflicts),
      CASE(ids_are_the_same_in_every_store),
      CASE(a_source_is_found_in_every_way_people_name_it),
      CASE(a_session_id_is_found_in_either_case),
      CASE(the_beginning_of_a_session_id_and_a_bare_file_name_are_enough),
      CASE(a_name_that_means_several_is_ambiguous_and_lists_them),
      CASE(an_id_prefix_is_unique_or_ambiguous),
      CASE(former_paths_are_tried_last),
      CASE(every_source_is_listed_by_root_and_key),
      CASE(sources_below_a_folder_are_those_that_begin_with_it),
      CASE(roots_are_listed_in_the_order_they_were_added),
      CASE(what_was_seen_is_loaded_again))
