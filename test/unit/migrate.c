/*
 * Schema versions: a store that is upgraded from any version is the same as a
 * new one, an upgrade that is killed can go on, what is not ours is left alone,
 * and derived tables are rebuilt when what they were built from has changed.
 */
#include "ingest/rebuild.h"
#include "store/mirror.h"
#include "ingest/sync.h"
#include "store/check.h"
#include "store/db.h"
#include "t.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STORE struct store CLEANUP(store_closep)

static void path_in(char out[LIMIT_PATH], const char *dir, const char *name)
{
	snprintf(out, LIMIT_PATH, "%.2000s/%.2000s", dir, name);
}

static enum status open_store(const char *path, struct store **out, struct err *err)
{
	struct store_options o = { .path = path, .create = true };

	return store_open(&o, out, err);
}

/* A connection as store_open() makes one, before anything is migrated. */
static struct store *connect_raw(const char *path)
{
	struct store *s = mem_alloc(sizeof *s);

	s->bell = (struct bell)BELL_INIT;
	s->clock = clock_system();
	snprintf(s->path, sizeof s->path, "%s", path);
	sqlite3_initialize();
	if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ||
	    sqlite3_exec(s->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL)) {
		store_close(s);
		return NULL;
	}
	return s;
}

static void add_rows(struct store *s, const char *sql, struct buf *out)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		buf_printf(out, "cannot: %s: %s\n", sql, sqlite3_errmsg(s->db));
	while (st && sqlite3_step(st) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(st); i++) {
			const char *text = (const char *)sqlite3_column_text(st, i);

			buf_printf(out, "%s|", text ? text : "NULL");
		}
		buf_byte(out, '\n');
	}
	sqlite3_finalize(st);
}

/* The schema by what it means and not by its text. */
static void describe(struct store *s, struct buf *out)
{
	add_rows(
	    s,
	    "SELECT type, name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1, 2",
	    out);
	add_rows(s, "SELECT name, type, ncol, wr, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY 1", out);
	add_rows(s, "SELECT t.name, x.* FROM sqlite_schema t, pragma_table_xinfo(t.name) x"
		    " WHERE t.type IN ('table', 'view') ORDER BY 1, 2", out);
	add_rows(s, "SELECT t.name, f.* FROM sqlite_schema t, pragma_foreign_key_list(t.name) f"
		    " WHERE t.type = 'table' ORDER BY 1, 2, 3", out);
	add_rows(s, "SELECT t.name, i.name, i.\"unique\", i.origin, i.partial FROM sqlite_schema t,"
		    " pragma_index_list(t.name) i WHERE t.type = 'table' ORDER BY 1, 2", out);
	add_rows(s, "SELECT t.name, i.name, x.* FROM sqlite_schema t, pragma_index_list(t.name) i,"
		    " pragma_index_xinfo(i.name) x WHERE t.type = 'table' ORDER BY 1, 2, 3", out);
	add_rows(s, "PRAGMA user_version", out);
	add_rows(s, "PRAGMA application_id", out);
	add_rows(s, "SELECT name, type FROM derived_object ORDER BY name", out);
	add_rows(s, "SELECT key FROM store_setting ORDER BY key", out);
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

static bool make_version(const char *path, int version)
{
	struct store *s = connect_raw(path);
	struct err err;
	bool made = s && db_migrate(s, version, &err) == STATUS_OK && ask(s, "PRAGMA user_version") == version;

	store_close(s);
	return made;
}

/* Opens `path`, rebuilds, and compares it with the description of a new store. */
static void compare_with_new(struct t *t, const char *dir, const char *path)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	STORE *fresh = NULL;
	STORE *s = NULL;
	char fresh_path[LIMIT_PATH];
	struct err err;
	bool done;

	path_in(fresh_path, dir, "fresh.db");
	OK(open_store(fresh_path, &fresh, &err));
	OK(open_store(path, &s, &err));
	OK(store_reach(s, (enum store_part)db_newest_version(), &err));
	OK(store_reach(fresh, (enum store_part)db_newest_version(), &err));
	for (int round = 0; round < 2; round++) {
		buf_clear(&want);
		buf_clear(&got);
		describe(fresh, &want);
		describe(s, &got);
		CHECK(want.n > 1000 && str_eq(buf_as_str(&got), buf_as_str(&want)));
		CHECK(!strstr(want.p, "cannot"));
		OK(rebuild_if_stale(fresh, NULL, &done, &err));
		OK(rebuild_if_stale(s, NULL, &done, &err));
	}
}

TEST(a_store_upgraded_from_any_version_is_as_a_new_one)
{
	int newest = db_newest_version();

	CHECK(newest >= 3);
	for (int k = 0; k <= newest; k++) {
		const char *dir = t_tmpdir(t);
		char path[LIMIT_PATH];

		path_in(path, dir, "old.db");
		NEED(make_version(path, k));
		compare_with_new(t, dir, path);
	}
}

TEST(the_description_sees_differences)
{
	struct buf a CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf b CLEANUP(buf_release) = BUF_INIT(MIB);
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, t_tmpdir(t), "a.db");
	OK(open_store(path, &s, &err));
	describe(s, &a);
	NEED(sqlite3_exec(s->db, "ALTER TABLE host ADD COLUMN extra TEXT", NULL, NULL, NULL) == SQLITE_OK);
	describe(s, &b);
	CHECK(!str_eq(buf_as_str(&a), buf_as_str(&b)));
}

TEST(upgrading_keeps_what_is_there)
{
	STORE *s = NULL;
	struct buf id CLEANUP(buf_release) = BUF_INIT(KIB);
	char path[LIMIT_PATH], before[UUID_TEXT + 1];
	struct err err;

	path_in(path, t_tmpdir(t), "a.db");
	NEED(make_version(path, 1));
	s = connect_raw(path);
	NEED(s);
	OK(store_setting_get(s, "store_id", &id, &err));
	NEED(id.n == UUID_TEXT);
	memcpy(before, id.p, UUID_TEXT + 1);
	OK(store_setting_put(s, "mine", STR("kept"), &err));
	store_close(s);
	s = NULL;
	OK(open_store(path, &s, &err));
	buf_clear(&id);
	OK(store_setting_get(s, "store_id", &id, &err));
	EQS(buf_as_str(&id), str_of(before));
	buf_clear(&id);
	OK(store_setting_get(s, "mine", &id, &err));
	EQS(buf_as_str(&id), STR("kept"));
}

/* ---- Not ours -------------------------------------------------------------- */

static bool run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	bool good;

	sqlite3_initialize();
	good = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_close(db);
	return good;
}

/* That opening fails with this status, and leaves file and folder as they were. */
static void check_refused(struct t *t, const char *path, enum status want)
{
	struct buf before CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf after CLEANUP(buf_release) = BUF_INIT(MIB);
	struct store *s = NULL;
	struct stat st;
	struct err err;
	char bell[LIMIT_PATH + 8];

	NEED(chmod(path, 0644) == 0);
	CHECK(file_read_all(path, &before, &err) == STATUS_OK);
	EQ(open_store(path, &s, &err), want);
	CHECK(s == NULL);
	CHECK(strstr(err.text, path));
	CHECK(file_read_all(path, &after, &err) == STATUS_OK);
	CHECK(str_eq(buf_as_str(&before), buf_as_str(&after)));
	NEED(stat(path, &st) == 0);
	EQ(st.st_mode & 07777, 0644);
	snprintf(bell, sizeof bell, "%s-bell", path);
	CHECK(access(bell, F_OK) != 0);
}

TEST(a_store_of_a_newer_program_is_refused)
{
	STORE *s = NULL;
	char path[LIMIT_PATH], sql[64];
	struct err err;

	path_in(path, t_tmpdir(t), "a.db");
	OK(open_store(path, &s, &err));
	store_close(s);
	s = NULL;
	snprintf(sql, sizeof sql, "PRAGMA user_version=%d", db_newest_version() + 1);
	NEED(run_sql(path, sql));
	EQ(open_store(path, &s, &err), STATUS_TOO_NEW);
	CHECK(s == NULL);
	NEED(run_sql(path, "PRAGMA user_version=1000000"));
	EQ(open_store(path, &s, &err), STATUS_TOO_NEW);
}

TEST(a_database_of_another_program_is_refused_and_left_alone)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];

	path_in(path, dir, "id.db");
	NEED(run_sql(path, "PRAGMA application_id=7; CREATE TABLE t(x)"));
	check_refused(t, path, STATUS_NOT_A_STORE);
	path_in(path, dir, "no-id.db");
	NEED(run_sql(path, "CREATE TABLE t(x)"));
	check_refused(t, path, STATUS_NOT_A_STORE);
	path_in(path, dir, "version-only.db");
	NEED(run_sql(path, "PRAGMA user_version=1"));
	check_refused(t, path, STATUS_NOT_A_STORE);
}

TEST(a_text_file_is_refused_and_left_alone)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	path_in(path, dir, "short.txt");
	OK(file_write_atomic(path, STR("hello\n"), 0644, &err));
	check_refused(t, path, STATUS_NOT_A_STORE);
	while (text.n < 20000)
		buf_text(&text, "not a database\n");
	path_in(path, dir, "long.txt");
	OK(file_write_atomic(path, buf_as_str(&text), 0644, &err));
	check_refused(t, path, STATUS_NOT_A_STORE);
}

/* ---- Parts ----------------------------------------------------------------- */

TEST(a_part_is_made_when_it_is_needed_and_open_stores_go_on)
{
	STORE *s = NULL;
	STORE *other = NULL;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, t_tmpdir(t), "a.db");
	OK(open_store(path, &s, &err));
	OK(open_store(path, &other, &err));
	EQ(ask(s, "PRAGMA user_version"), STORE_ARCHIVE);
	EQ(ask(s, "SELECT count(*) FROM sqlite_schema WHERE name = 'tree'"), 0);
	OK(store_reach(s, STORE_TREES, &err));
	EQ(ask(s, "PRAGMA user_version"), STORE_TREES);
	EQ(ask(s, "SELECT count(*) FROM tree"), 0);
	OK(store_setting_put(other, "mine", STR("kept"), &err));
	OK(store_reach(other, STORE_ARCHIVE, &err));
	EQ(ask(other, "PRAGMA user_version"), STORE_TREES);
}

TEST(tables_that_stand_in_are_empty_and_not_in_the_file)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, t_tmpdir(t), "a.db");
	OK(open_store(path, &s, &err));
	OK(db_see(s, STORE_TREES, &err));
	EQ(ask(s, "SELECT count(*) FROM node"), 0);
	EQ(ask(s, "SELECT count(*) FROM temp.sqlite_schema WHERE name = 'node_children'"), 1);
	EQ(ask(s, "SELECT count(*) FROM main.sqlite_schema WHERE tbl_name = 'node'"), 0);
	EQ(ask(s, "PRAGMA user_version"), STORE_ARCHIVE);
	store_close(s);
	s = NULL;
	OK(open_store(path, &s, &err));
	OK(store_reach(s, STORE_TREES, &err));
	OK(db_see(s, STORE_TREES, &err));
	EQ(ask(s, "SELECT count(*) FROM main.node"), 0);
	EQ(ask(s, "SELECT count(*) FROM temp.sqlite_schema"), 0);
}

TEST(tables_that_stand_in_give_way_to_those_that_another_program_makes)
{
	STORE *s = NULL;
	STORE *other = NULL;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, t_tmpdir(t), "a.db");
	OK(open_store(path, &s, &err));
	OK(open_store(path, &other, &err));
	OK(db_see(s, STORE_TREES, &err));
	OK(store_reach(other, STORE_TREES, &err));
	OK(db_exec(other, "INSERT INTO tree VALUES (1, randomblob(16), 'me', randomblob(16), NULL, 1, 1, 1)", &err));
	EQ(ask(s, "SELECT count(*) FROM tree"), 0);
	OK(db_see(s, STORE_TREES, &err));
	EQ(ask(s, "SELECT count(*) FROM tree"), 1);
	EQ(ask(s, "SELECT count(*) FROM temp.sqlite_schema WHERE name NOT LIKE 'sqlite%'"), 0);
	OK(db_exec(s, "UPDATE tree SET owner = 'you'", &err));
}

static enum status make_old(struct store *s, struct err *err)
{
	return db_exec(s, "DROP TABLE node; CREATE TABLE node (id INTEGER PRIMARY KEY, tree_id BLOB) STRICT", err);
}

TEST(tables_of_an_early_design_are_made_anew_while_they_are_empty)
{
	const char *dir = t_tmpdir(t);
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, dir, "a.db");
	OK(open_store(path, &s, &err));
	OK(store_reach(s, STORE_LIVE, &err));
	OK(make_old(s, &err));
	store_close(s);
	s = NULL;
	OK(open_store(path, &s, &err));
	OK(db_see(s, STORE_TREES, &err));
	EQ(ask(s, "SELECT count(parent) FROM node"), 0);
	EQ(ask(s, "SELECT count(parent) FROM main.node"), -1);
	OK(store_reach(s, STORE_TREES, &err));
	EQ(ask(s, "SELECT count(parent) FROM main.node"), 0);
	EQ(ask(s, "PRAGMA user_version"), STORE_LIVE);
	store_close(s);
	s = NULL;
	compare_with_new(t, dir, path);
}

TEST(tables_of_an_early_design_are_left_alone_when_something_is_in_them)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, t_tmpdir(t), "a.db");
	OK(open_store(path, &s, &err));
	OK(store_reach(s, STORE_TREES, &err));
	OK(make_old(s, &err));
	OK(db_exec(s, "INSERT INTO node VALUES (1, NULL)", &err));
	store_close(s);
	s = NULL;
	OK(open_store(path, &s, &err));
	EQ(store_reach(s, STORE_TREES, &err), STATUS_CORRUPT);
	CHECK(strstr(err.text, "'node' is one of an unfinished version"));
	EQ(ask(s, "SELECT count(*) FROM main.node"), 1);
}

/* ---- Killed ---------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void describe_version(const char *dir, int version, struct buf *out)
{
	char path[LIMIT_PATH];
	struct store *s;

	snprintf(path, sizeof path, "%.2000s/v%d.db", dir, version);
	buf_clear(out);
	if (make_version(path, version) && (s = connect_raw(path))) {
		describe(s, out);
		store_close(s);
	}
}

TEST(an_upgrade_that_is_killed_stops_at_a_version_and_goes_on)
{
	enum { ROUNDS = 40 };
	int newest = db_newest_version(), ends[2], seen = 0;
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf want CLEANUP(buf_release) = BUF_INIT(MIB);
	uint64_t state = (uint64_t)clock_monotonic_ns();
	const char *dir = t_tmpdir(t);
	struct err err;

	for (int i = 0; i < ROUNDS; i++) {
		char path[LIMIT_PATH], name[32], c;
		struct timespec delay = { .tv_nsec = (long)(next_random(&state) %
							    (500000 + next_random(&state) % 16000000)) };
		STORE *s = NULL;
		int64_t version;
		pid_t pid;

		snprintf(name, sizeof name, "killed-%d.db", i);
		path_in(path, dir, name);
		NEED(pipe(ends) == 0);
		pid = fork();
		if (pid == 0) {
			struct store *mine = NULL;

			if (write(ends[1], "r", 1) != 1)
				_exit(2);
			_exit(open_store(path, &mine, &err) || store_reach(mine, STORE_LIVE, &err) ? 1 : 0);
		}
		NEED(pid > 0 && read(ends[0], &c, 1) == 1);
		nanosleep(&delay, NULL);
		kill(pid, SIGKILL);
		NEED(waitpid(pid, &(int){ 0 }, 0) == pid);
		close(ends[0]);
		close(ends[1]);
		s = connect_raw(path);
		NEED(s);
		version = ask(s, "PRAGMA user_version");
		NEED(version >= 0 && version <= newest);
		seen |= 1 << version;
		buf_clear(&got);
		describe(s, &got);
		describe_version(dir, (int)version, &want);
		CHECK(str_eq(buf_as_str(&got), buf_as_str(&want)));
		store_close(s);
		s = NULL;
		OK(open_store(path, &s, &err));
		OK(store_reach(s, (enum store_part)newest, &err));
		EQ(ask(s, "PRAGMA user_version"), newest);
		buf_clear(&got);
		describe(s, &got);
		describe_version(dir, newest, &want);
		CHECK(str_eq(buf_as_str(&got), buf_as_str(&want)));
	}
	printf("# versions at which it was killed: %#x\n", (unsigned)seen);
}

/* ---- Derived --------------------------------------------------------------- */

static bool put_file(const char *dir, const char *name, const char *text)
{
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, dir, name);
	return file_write_atomic(path, str_of(text), 0644, &err) == STATUS_OK;
}

/* A store with a few mirrored files, one of them in two versions. */
static enum status make_content(struct t *t, const char *dir, struct store **s, struct err *err)
{
	char path[LIMIT_PATH], root[LIMIT_PATH], folder[LIMIT_PATH];
	struct sync_options o = { .dir = root };
	struct sync_report r;
	bool done;

	path_in(path, dir, "a.db");
	path_in(root, dir, "claude");
	path_in(folder, root, "projects/p");
	if (file_make_dirs(folder, err) || open_store(path, s, err) || rebuild_if_stale(*s, NULL, &done, err))
		return err_failed(err->status);
	CHECK(done);
	CHECK(put_file(folder, "a.jsonl", "one\ntwo\nthr") && put_file(folder, "b.jsonl", "") &&
	      put_file(folder, "c.txt", "x\n"));
	if (sync_run(*s, &o, &r, err))
		return err_failed(err->status);
	CHECK(put_file(folder, "a.jsonl", "one\nzwei\nlonger line\n"));
	return sync_run(*s, &o, &r, err);
}

static const char derived_rows[] = "SELECT * FROM line_count ORDER BY generation";

TEST(stale_derived_tables_are_dropped_and_refilled_with_the_same)
{
	STORE *s = NULL;
	struct buf before CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf after CLEANUP(buf_release) = BUF_INIT(MIB);
	bool done = true, current = false;
	struct err err;

	OK(make_content(t, t_tmpdir(t), &s, &err));
	OK(store_derived_current(s, &current, &err));
	CHECK(current);
	OK(rebuild_if_stale(s, NULL, &done, &err));
	CHECK(!done);
	describe(s, &before);
	add_rows(s, derived_rows, &before);
	CHECK(ask(s, "SELECT count(*) FROM line_count") == 3);

	/* As another version of the program would have left it. */
	OK(db_exec(s, "CREATE TABLE old_thing(a INTEGER PRIMARY KEY, b TEXT); INSERT INTO old_thing VALUES (1, 'x');"
		      "CREATE INDEX old_index ON old_thing(b); CREATE INDEX old_on_facts ON source(first_at);"
		      "CREATE VIEW old_view AS SELECT * FROM old_thing; CREATE VIEW \"odd \"\"name\" AS SELECT 1;"
		      "INSERT INTO derived_object VALUES ('old_thing', 'table'), ('old_index', 'index'),"
		      " ('old_on_facts', 'index'), ('old_view', 'view'), ('odd \"name', 'view'), ('gone', 'table');"
		      "DROP VIEW source_overview; CREATE VIEW source_overview AS SELECT 7 AS seven;"
		      "UPDATE line_count SET lines = 99; INSERT INTO line_count VALUES (1000, 1, 1, 1);"
		      "UPDATE store_setting SET value = 'of another version' WHERE key = 'derived_hash'", &err));
	OK(store_derived_current(s, &current, &err));
	CHECK(!current);
	OK(rebuild_if_stale(s, NULL, &done, &err));
	CHECK(done);
	describe(s, &after);
	add_rows(s, derived_rows, &after);
	CHECK(str_eq(buf_as_str(&before), buf_as_str(&after)));
	if (!str_eq(buf_as_str(&before), buf_as_str(&after)))
		printf("# before:\n%s\n# after:\n%s\n", before.p, after.p);
	OK(rebuild_if_stale(s, NULL, &done, &err));
	CHECK(!done);
}

TEST(who_runs_while_another_version_makes_the_tables_anew_stops)
{
	STORE *s = NULL;
	STORE *other = NULL;
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool done = false;
	struct err err;

	OK(make_content(t, t_tmpdir(t), &s, &err));
	OK(open_store(store_path(s), &other, &err));
	OK(db_exec(other, "UPDATE store_setting SET value = 'of another version' WHERE key = 'derived_hash'", &err));
	EQ(txn_begin(s, &txn, &err), STATUS_TOO_NEW);
	CHECK(strstr(err.text, "start again"));
	txn_end(&txn);
	EQ(rebuild_all(s, NULL, &err), STATUS_TOO_NEW);
	/* Who starts now does so by making them anew again. */
	OK(rebuild_if_stale(other, NULL, &done, &err));
	CHECK(done);
	OK(txn_begin(s, &txn, &err));
	OK(txn_commit(&txn, &err));
}

TEST(tables_that_were_reset_and_not_filled_are_stale)
{
	STORE *s = NULL;
	struct txn txn = { 0 };
	bool current = true, done = false;
	struct err err;

	OK(make_content(t, t_tmpdir(t), &s, &err));
	OK(txn_begin(s, &txn, &err));
	OK(store_derived_reset(s, &err));
	OK(txn_commit(&txn, &err));
	OK(store_derived_current(s, &current, &err));
	CHECK(!current);
	EQ(ask(s, "SELECT count(*) FROM line_count"), 0);
	OK(rebuild_if_stale(s, NULL, &done, &err));
	CHECK(done);
	EQ(ask(s, "SELECT count(*) FROM line_count"), 3);
}

TEST(a_rebuild_goes_on_over_damage)
{
	STORE *s = NULL;
	bool done = false;
	struct err err;

	OK(make_content(t, t_tmpdir(t), &s, &err));
	OK(db_exec(s, "UPDATE block SET hash = hash + 1 WHERE generation = (SELECT max(generation) FROM block);"
		      "UPDATE store_setting SET value = 'old' WHERE key = 'derived_hash'", &err));
	OK(rebuild_if_stale(s, NULL, &done, &err));
	CHECK(done);
	EQ(ask(s, "SELECT count(*) FROM line_count"), 2);
}

TEST(a_rebuild_that_is_stopped_goes_on_later)
{
	atomic_bool stop = true;
	STORE *s = NULL;
	struct buf before CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf after CLEANUP(buf_release) = BUF_INIT(MIB);
	bool done = false, any = false;
	struct err err;

	OK(make_content(t, t_tmpdir(t), &s, &err));
	describe(s, &before);
	add_rows(s, derived_rows, &before);
	OK(db_exec(s, "UPDATE store_setting SET value = 'old' WHERE key = 'derived_hash'", &err));
	s->cancel = &stop;
	EQ(rebuild_if_stale(s, NULL, &done, &err), STATUS_CANCELLED);
	OK(unread_any(s, &any, &err));
	CHECK(any);
	s->cancel = NULL;
	OK(read_unread(s, NULL, &err));
	OK(unread_any(s, &any, &err));
	CHECK(!any);
	describe(s, &after);
	add_rows(s, derived_rows, &after);
	CHECK(str_eq(buf_as_str(&before), buf_as_str(&after)));
}

TESTS(CASE(a_store_upgraded_from_any_version_is_as_a_new_one),
      CASE(the_description_sees_differences),
      CASE(upgrading_keeps_what_is_there),
      CASE(a_store_of_a_newer_program_is_refused),
      CASE(a_database_of_another_program_is_refused_and_left_alone),
      CASE(a_text_file_is_refused_and_left_alone),
      CASE(a_part_is_made_when_it_is_needed_and_open_stores_go_on),
      CASE(tables_that_stand_in_are_empty_and_not_in_the_file),
      CASE(tables_that_stand_in_give_way_to_those_that_another_program_makes),
      CASE(tables_of_an_early_design_are_made_anew_while_they_are_empty),
      CASE(tables_of_an_early_design_are_left_alone_when_something_is_in_them),
      CASE(an_upgrade_that_is_killed_stops_at_a_version_and_goes_on),
      CASE(stale_derived_tables_are_dropped_and_refilled_with_the_same),
      CASE(who_runs_while_another_version_makes_the_tables_anew_stops),
      CASE(tables_that_were_reset_and_not_filled_are_stale),
      CASE(a_rebuild_goes_on_over_damage),
      CASE(a_rebuild_that_is_stopped_goes_on_later))
