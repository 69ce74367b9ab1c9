/*
 * The store: statements, transactions, revisions, permissions, waiting, and
 * several processes at one file.
 */
#include "ingest/rebuild.h"
#include "store/db.h"
#include "t.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STORE struct store CLEANUP(store_closep)

static void store_file(char out[LIMIT_PATH], const char *dir)
{
	snprintf(out, LIMIT_PATH, "%.2000s/deep/er/arbor.db", dir);
}

static enum status open_store(const char *path, struct store **out, struct err *err)
{
	struct store_options o = { .path = path, .create = true };

	return store_open(&o, out, err);
}

/* One integer from the database, -1 when there is none. */
static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static bool setting_is(struct store *s, const char *key, struct str want)
{
	struct buf b CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;

	return store_setting_get(s, key, &b, &err) == STATUS_OK && str_eq(buf_as_str(&b), want);
}

static bool has_setting(struct store *s, const char *key)
{
	struct buf b CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;

	return store_setting_get(s, key, &b, &err) == STATUS_OK;
}

static void pause_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static int64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

/* ---- Statements ------------------------------------------------------------ */

static enum status begin_lending(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	return txn_begin(s, &txn, err) || db_begin_lending(s, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

TEST(every_statement_can_be_prepared)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	int count = 0;
	struct err err;
	bool done;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(rebuild_if_stale(s, NULL, &done, &err));
	OK(store_reach(s, STORE_TREES, &err));
	OK(begin_lending(s, &err));
	for (int slot = 0; slot < DB_SLOTS; slot++) {
		if (slot >= DB_RANK)
			continue; /* src/query's come last: the first needs a function that is registered there */
		NEED(db_sets[slot]);
		EQ(db_sets[slot]->slot, slot);
		for (size_t i = 0; i < db_sets[slot]->count; i++) {
			STMT st = { 0 };

			if (stmt_use(s, db_sets[slot], (int)i, &st, &err))
				t_fail(t, __FILE__, __LINE__, "set %d, statement %zu: %s", slot, i, err.text);
			count++;
		}
	}
	CHECK(count > 40);
}

/* The tables that grow with what is archived, under the names statements give
 * them; hosts, roots and settings are a handful of rows. */
static bool scans_a_large_table(const char *plan)
{
	static const char *const large[] = { "s",	    "g",	  "b",		"c",	 "f",
					     "d",	    "source",	  "generation", "block", "block_data",
					     "source_path", "line_count", "line",	"event", "node" };
	const char *name = strncmp(plan, "SCAN ", 5) == 0 ? plan + 5 : NULL;

	for (size_t i = 0; name && i < COUNT(large); i++) {
		size_t n = strlen(large[i]);

		if (strncmp(name, large[i], n) == 0 && (name[n] == '\0' || name[n] == ' '))
			return true;
	}
	return false;
}

static void explain(struct t *t, struct store *s, const char *sql)
{
	char *explained = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(s->db, explained, -1, &st, NULL) != SQLITE_OK)
		t_fail(t, __FILE__, __LINE__, "cannot explain: %s", sql);
	while (st && sqlite3_step(st) == SQLITE_ROW)
		if (scans_a_large_table((const char *)sqlite3_column_text(st, 3)))
			t_fail(t, __FILE__, __LINE__, "%s: %s", sqlite3_column_text(st, 3), sql);
	sqlite3_finalize(st);
	sqlite3_free(explained);
}

/* Those that answer a question of a person and may look at every source once.
 * Adding a generation plans a look for children that it only takes when a
 * deferred foreign key is open, which none is. */
static bool may_scan(const char *sql)
{
	return strstr(sql, "INSERT INTO generation") || strstr(sql, "ORDER BY h.label") ||
	       strstr(sql, "|| '/' ||") || strstr(sql, "GLOB") || strstr(sql, "JOIN source_path");
}

TEST(what_a_sync_asks_for_is_found_by_an_index)
{
	static const enum db_slot hot[] = { DB_STORE, DB_SOURCE, DB_FIND, DB_ARCHIVE };
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct err err;
	bool done;
	int n = 0;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(rebuild_if_stale(s, NULL, &done, &err));
	for (size_t i = 0; i < COUNT(hot); i++)
		for (size_t k = 0; k < db_sets[hot[i]]->count; k++) {
			const char *sql = db_sets[hot[i]]->sql[k];

			if (strncmp(sql, "PRAGMA", 6) == 0 || may_scan(sql))
				continue;
			explain(t, s, sql);
			n++;
		}
	CHECK(n > 30);
	/* The check itself can fail. */
	CHECK(scans_a_large_table("SCAN s") && scans_a_large_table("SCAN block USING INDEX x"));
}

/* ---- Transactions ---------------------------------------------------------- */

static enum status put_and_abandon(struct store *s, const char *key, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || store_setting_put(s, key, STR("x"), err))
		return err_failed(err->status);
	return STATUS_OK; /* without a commit */
}

TEST(what_is_not_committed_is_rolled_back)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	int64_t rev;
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	rev = ask(s, "SELECT value FROM store_setting WHERE key = 'rev'");
	OK(put_and_abandon(s, "a", &err));
	CHECK(!has_setting(s, "a"));
	EQ(s->depth, 0);
	CHECK(sqlite3_get_autocommit(s->db));
	EQ(ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"), rev);
	OK(store_setting_put(s, "b", STR("y"), &err));
	CHECK(setting_is(s, "b", STR("y")));
}

TEST(nested_transactions_join_the_outer_one)
{
	STORE *s = NULL;
	STORE *other = NULL;
	struct txn outer = { 0 }, inner = { 0 };
	char path[LIMIT_PATH];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(open_store(path, &other, &err));
	OK(txn_begin(s, &outer, &err));
	OK(txn_begin(s, &inner, &err));
	EQ(s->depth, 2);
	OK(store_setting_put(s, "a", STR("1"), &err));
	OK(txn_commit(&inner, &err));
	txn_end(&inner); /* after a commit it does nothing */
	CHECK(!has_setting(other, "a"));
	OK(txn_commit(&outer, &err));
	CHECK(setting_is(other, "a", STR("1")));
	EQ(s->depth, 0);
}

TEST(an_abandoned_inner_transaction_dooms_the_outer_one)
{
	STORE *s = NULL;
	struct txn outer = { 0 };
	char path[LIMIT_PATH];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(txn_begin(s, &outer, &err));
	OK(store_setting_put(s, "a", STR("1"), &err));
	OK(put_and_abandon(s, "b", &err));
	EQ(txn_commit(&outer, &err), STATUS_INTERNAL);
	CHECK(!has_setting(s, "a") && !has_setting(s, "b"));
	EQ(s->depth, 0);
	CHECK(sqlite3_get_autocommit(s->db));
	/* The doom does not stay. */
	OK(store_setting_put(s, "c", STR("1"), &err));
	CHECK(setting_is(s, "c", STR("1")));
}

TEST(a_savepoint_undoes_only_its_part)
{
	STORE *s = NULL;
	struct txn txn = { 0 };
	struct save part = { 0 };
	char path[LIMIT_PATH];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(txn_begin(s, &txn, &err));
	OK(store_setting_put(s, "before", STR("1"), &err));
	OK(save_begin(s, &part, &err));
	OK(store_setting_put(s, "undone", STR("1"), &err));
	OK(store_setting_put(s, "before", STR("2"), &err));
	save_end(&part);
	OK(save_begin(s, &part, &err));
	OK(store_setting_put(s, "kept", STR("1"), &err));
	OK(save_keep(&part, &err));
	save_end(&part); /* does nothing any more */
	OK(store_setting_put(s, "after", STR("1"), &err));
	OK(txn_commit(&txn, &err));
	CHECK(setting_is(s, "before", STR("1")) && setting_is(s, "kept", STR("1")) && setting_is(s, "after", STR("1")));
	CHECK(!has_setting(s, "undone"));
}

/* ---- Revisions ------------------------------------------------------------- */

TEST(the_revision_grows_once_a_transaction_and_stamps_its_rows)
{
	STORE *s = NULL;
	struct txn txn = { 0 };
	char path[LIMIT_PATH];
	int64_t before, rev, again;
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	before = ask(s, "SELECT value FROM store_setting WHERE key = 'rev'");
	CHECK(before >= 1);
	OK(txn_begin(s, &txn, &err));
	OK(db_rev(s, &rev, &err));
	OK(db_rev(s, &again, &err));
	OK(store_setting_put(s, "a", STR("1"), &err));
	OK(store_setting_put(s, "b", STR("1"), &err));
	OK(txn_commit(&txn, &err));
	EQ(rev, before + 1);
	EQ(again, rev);
	EQ(ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"), rev);
	EQ(ask(s, "SELECT count(*) FROM store_setting WHERE key IN ('a', 'b', 'rev') AND rev = value * 0 +"
		  " (SELECT value FROM store_setting WHERE key = 'rev')"),
	   3);
	OK(store_setting_put(s, "a", STR("2"), &err));
	EQ(ask(s, "SELECT rev FROM store_setting WHERE key = 'a'"), before + 2);
	EQ(ask(s, "SELECT rev FROM store_setting WHERE key = 'b'"), before + 1);
	OK(txn_begin(s, &txn, &err)); /* one that writes nothing takes none */
	OK(txn_commit(&txn, &err));
	EQ(ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"), before + 2);
}

/* A revision taken in a part that is undone is undone with it: no two
 * transactions may stamp rows with the same one. */
TEST(a_revision_first_taken_in_an_undone_part_is_taken_again)
{
	STORE *s = NULL;
	struct txn txn = { 0 };
	struct save part = { 0 };
	char path[LIMIT_PATH];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(txn_begin(s, &txn, &err));
	OK(save_begin(s, &part, &err));
	OK(store_setting_put(s, "undone", STR("1"), &err));
	save_end(&part);
	OK(store_setting_put(s, "first", STR("1"), &err));
	OK(txn_commit(&txn, &err));
	EQ(ask(s, "SELECT rev FROM store_setting WHERE key = 'first'"),
	   ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"));
	OK(store_setting_put(s, "second", STR("1"), &err));
	CHECK(ask(s, "SELECT rev FROM store_setting WHERE key = 'second'") >
	      ask(s, "SELECT rev FROM store_setting WHERE key = 'first'"));
}

/* ---- Opening --------------------------------------------------------------- */

TEST(without_create_a_missing_store_is_not_made)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct store_options o = { .path = path };
	const char *dir = t_tmpdir(t);
	struct err err;

	store_file(path, dir);
	EQ(store_open(&o, &s, &err), STATUS_NOT_FOUND);
	CHECK(s == NULL && access(path, F_OK) != 0);
	snprintf(path, sizeof path, "%s/deep", dir);
	CHECK(access(path, F_OK) != 0);
	EQ(open_store(dir, &s, &err), STATUS_NOT_A_STORE);
}

TEST(a_second_connection_reads_and_cannot_write)
{
	STORE *s = NULL;
	STORE *reader = NULL;
	char path[LIMIT_PATH];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(store_setting_put(s, "a", STR("1"), &err));
	OK(store_open_again(s, &reader, &err));
	CHECK(setting_is(reader, "a", STR("1")));
	CHECK(store_setting_put(reader, "a", STR("2"), &err) != STATUS_OK);
	CHECK(setting_is(s, "a", STR("1")));
	EQS(str_of(store_path(reader)), str_of(path));
}

TEST(settings_come_back_as_they_were)
{
	static const struct str values[] = { { "", 0 }, { "text", 4 }, { "a\0b", 3 }, { "\xff\xfe", 2 }, { "7", 1 } };
	STORE *s = NULL;
	struct buf none CLEANUP(buf_release) = BUF_INIT(KIB);
	char path[LIMIT_PATH];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	for (size_t i = 0; i < COUNT(values); i++) {
		OK(store_setting_put(s, "k", values[i], &err));
		CHECK(setting_is(s, "k", values[i]));
	}
	store_close(s);
	s = NULL;
	OK(open_store(path, &s, &err));
	CHECK(setting_is(s, "k", STR("7")) && setting_is(s, "host_label", STR("local")));
	EQ(store_setting_get(s, "nothing", &none, &err), STATUS_NOT_FOUND);
	EQ(none.n, 0);
}

static int64_t fixed_ms(void *ctx)
{
	(void)ctx;
	return 1234567890123;
}

TEST(the_time_is_the_one_given)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct store_options o = { .path = path, .create = true, .clock = { fixed_ms, NULL } };
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(store_open(&o, &s, &err));
	EQ(store_now(s), 1234567890123);
	CHECK(setting_is(s, "created_at", STR("1234567890123")));
}

static int mode_of(const char *path, const char *suffix)
{
	char name[LIMIT_PATH + 8];
	struct stat st;

	snprintf(name, sizeof name, "%s%s", path, suffix);
	return stat(name, &st) ? -1 : (int)(st.st_mode & 07777);
}

static const char *const files[] = { "", "-wal", "-shm", "-bell" };

TEST(all_files_are_private_whatever_the_umask)
{
	STORE *s = NULL;
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH], folder[LIMIT_PATH];
	mode_t before = umask(0);
	struct err err;

	store_file(path, dir);
	OK(open_store(path, &s, &err));
	umask(before);
	OK(store_setting_put(s, "a", STR("1"), &err));
	for (size_t i = 0; i < COUNT(files); i++)
		EQ(mode_of(path, files[i]), 0600);
	snprintf(folder, sizeof folder, "%s/deep", dir);
	EQ(mode_of(folder, ""), 0700);
	EQ(mode_of(folder, "/er"), 0700);
}

TEST(wider_permissions_are_narrowed_when_a_store_is_opened)
{
	STORE *s = NULL;
	STORE *again = NULL;
	char path[LIMIT_PATH], name[LIMIT_PATH + 8];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(store_setting_put(s, "a", STR("1"), &err));
	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(name, sizeof name, "%s%s", path, files[i]);
		NEED(chmod(name, 0644) == 0);
	}
	OK(open_store(path, &again, &err));
	for (size_t i = 0; i < COUNT(files); i++)
		EQ(mode_of(path, files[i]), 0600);
}

/* ---- Several at once ------------------------------------------------------- */

static bool child_ended_well(pid_t pid)
{
	int code;

	return waitpid(pid, &code, 0) == pid && WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

/* Opens, tells the parent, waits for it, and commits one setting. */
static void commit_as_child(const char *path, int ready, int go)
{
	struct store *s = NULL;
	struct err err;
	char c;

	if (open_store(path, &s, &err) || write(ready, "r", 1) != 1 || read(go, &c, 1) != 1)
		_exit(2);
	pause_ms(30); /* so that the parent is waiting */
	if (store_setting_put(s, "from child", STR("1"), &err))
		_exit(3);
	store_close(s);
	_exit(0);
}

TEST(waiting_ends_when_another_connection_commits)
{
	STORE *s = NULL;
	int ready[2], go[2];
	char path[LIMIT_PATH], c;
	bool changed = true;
	int64_t start;
	struct err err;
	pid_t pid;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	NEED(pipe(ready) == 0 && pipe(go) == 0);
	pid = fork();
	if (pid == 0)
		commit_as_child(path, ready[1], go[0]);
	NEED(pid > 0 && read(ready[0], &c, 1) == 1);
	OK(store_wait(s, 0, &changed, &err)); /* what opening may have changed */
	OK(store_wait(s, 0, &changed, &err));
	CHECK(!changed);
	NEED(write(go[1], "g", 1) == 1);
	start = now_ms();
	OK(store_wait(s, 10000, &changed, &err));
	CHECK(changed);
	CHECK(now_ms() - start < 5000);
	CHECK(has_setting(s, "from child"));
	CHECK(child_ended_well(pid));
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
}

TEST(the_bell_rings_after_a_commit_that_wrote_and_only_then)
{
	struct bell bell = BELL_INIT;
	struct txn txn = { 0 };
	STORE *s = NULL;
	char path[LIMIT_PATH], name[LIMIT_PATH + 8];
	int64_t start;
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	snprintf(name, sizeof name, "%s-bell", path);
	OK(bell_open(&bell, name, &err));
	bell_listen(&bell);
	OK(store_setting_put(s, "a", STR("1"), &err));
	start = now_ms();
	bell_wait(&bell, 10000);
	CHECK(now_ms() - start < 5000);
	OK(txn_begin(s, &txn, &err)); /* nothing written */
	OK(txn_commit(&txn, &err));
	OK(put_and_abandon(s, "b", &err)); /* nothing committed */
	start = now_ms();
	bell_wait(&bell, 60);
	CHECK(now_ms() - start >= 55);
	bell_close(&bell);
}

TEST(waiting_times_out_and_own_commits_do_not_count)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	bool changed = true;
	int64_t start;
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(store_setting_put(s, "mine", STR("1"), &err));
	start = now_ms();
	OK(store_wait(s, 80, &changed, &err));
	CHECK(!changed);
	CHECK(now_ms() - start >= 75);
	CHECK(now_ms() - start < 5000);
}

TEST(a_commit_before_the_wait_is_not_missed)
{
	STORE *s = NULL;
	STORE *other = NULL;
	char path[LIMIT_PATH];
	bool changed = false;
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &other, &err));
	OK(open_store(path, &s, &err));
	OK(store_setting_put(other, "a", STR("1"), &err));
	OK(store_wait(s, 0, &changed, &err));
	CHECK(changed);
	OK(store_wait(s, 0, &changed, &err));
	CHECK(!changed);
}

static void hold_lock_as_child(const char *path, int ready)
{
	struct store *s = NULL;
	struct txn txn = { 0 };
	struct err err;

	if (open_store(path, &s, &err) || txn_begin(s, &txn, &err) ||
	    store_setting_put(s, "held", STR("1"), &err) || write(ready, "r", 1) != 1)
		_exit(2);
	pause_ms(300);
	if (txn_commit(&txn, &err))
		_exit(3);
	store_close(s);
	_exit(0);
}

TEST(a_lock_held_by_another_is_waited_for)
{
	STORE *s = NULL;
	char path[LIMIT_PATH], c;
	int ready[2];
	int64_t start;
	struct err err;
	pid_t pid;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	NEED(pipe(ready) == 0);
	pid = fork();
	if (pid == 0)
		hold_lock_as_child(path, ready[1]);
	NEED(pid > 0 && read(ready[0], &c, 1) == 1);
	start = now_ms();
	CHECK(!has_setting(s, "held")); /* reading does not wait */
	OK(store_setting_put(s, "mine", STR("1"), &err));
	CHECK(now_ms() - start >= 200);
	CHECK(has_setting(s, "held") && has_setting(s, "mine"));
	CHECK(child_ended_well(pid));
	close(ready[0]);
	close(ready[1]);
}

static void create_as_child(const char *path, int number, int go)
{
	struct store *s = NULL;
	struct err err;
	char key[32], c;

	snprintf(key, sizeof key, "child %d", number);
	if (read(go, &c, 1) < 0)
		_exit(2);
	if (open_store(path, &s, &err) || store_setting_put(s, key, STR("1"), &err)) {
		fprintf(stderr, "# child: %s\n", err.text);
		_exit(3);
	}
	store_close(s);
	_exit(0);
}

TEST(many_processes_can_make_the_same_store_at_once)
{
	enum { CHILDREN = 8, ROUNDS = 30 };
	const char *dir = t_tmpdir(t);
	struct err err;

	for (int round = 0; round < ROUNDS; round++) {
		STORE *s = NULL;
		pid_t pids[CHILDREN];
		char path[LIMIT_PATH];
		int go[2];

		snprintf(path, sizeof path, "%.2000s/%d/arbor.db", dir, round);
		NEED(pipe(go) == 0);
		for (int i = 0; i < CHILDREN; i++) {
			pids[i] = fork();
			if (pids[i] == 0) {
				close(go[1]);
				create_as_child(path, i, go[0]);
			}
			NEED(pids[i] > 0);
		}
		close(go[0]);
		close(go[1]); /* all read the end of the file at once */
		for (int i = 0; i < CHILDREN; i++)
			CHECK(child_ended_well(pids[i]));
		OK(open_store(path, &s, &err));
		EQ(ask(s, "SELECT count(*) FROM store_setting WHERE key LIKE 'child %'"), CHILDREN);
		EQ(ask(s, "PRAGMA user_version"), STORE_ARCHIVE);
		EQ(ask(s, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
		/* one store id, made by the first migration, and a revision a child */
		EQ(ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"), CHILDREN + 1);
	}
}

/* Waits for the lock in a thread of its own, as another program would. */
static void *want_lock(void *path)
{
	struct store *s = NULL;
	struct txn txn = { 0 };
	struct err err;
	bool good;

	good = open_store(path, &s, &err) == STATUS_OK && txn_begin(s, &txn, &err) == STATUS_OK;
	txn_end(&txn);
	store_close(s);
	return good ? path : NULL;
}

TEST(who_waits_for_the_lock_shortens_the_transaction)
{
	const int64_t never = INT64_MAX;
	STORE *s = NULL;
	struct txn txn = { 0 };
	char path[LIMIT_PATH];
	pthread_t thread;
	void *good = NULL;
	struct err err;
	int tries = 0;

	snprintf(path, sizeof path, "%.2000s/a.db", t_tmpdir(t));
	OK(open_store(path, &s, &err));
	OK(txn_begin(s, &txn, &err));
	CHECK(!txn_is_long(s, never, 0));
	CHECK(txn_is_long(s, 0, never));
	NEED(pthread_create(&thread, NULL, want_lock, path) == 0);
	while (!txn_is_long(s, never, 0) && tries++ < 5000)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	CHECK(tries < 5000);
	OK(txn_commit(&txn, &err));
	NEED(pthread_join(thread, &good) == 0);
	CHECK(good == path);
	OK(txn_begin(s, &txn, &err));
	CHECK(!txn_is_long(s, never, 0));
	OK(txn_commit(&txn, &err));
}

TEST(the_size_is_that_of_the_file)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct stat st;
	int64_t size = 0;
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	NEED(sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) == SQLITE_OK);
	OK(store_size(s, &size, &err));
	NEED(stat(path, &st) == 0);
	CHECK(size >= st.st_size && size < 2 * st.st_size);
}

TEST(a_synced_commit_is_asked_for_once)
{
	STORE *s = NULL;
	char path[LIMIT_PATH];
	struct err err;

	store_file(path, t_tmpdir(t));
	OK(open_store(path, &s, &err));
	EQ(ask(s, "PRAGMA synchronous"), 1);
	OK(store_sync_next_commit(s, &err));
	EQ(ask(s, "PRAGMA synchronous"), 2);
	OK(store_setting_put(s, "a", STR("1"), &err));
	EQ(ask(s, "PRAGMA synchronous"), 1);
	EQ(ask(s, "PRAGMA foreign_keys"), 1);
}

TESTS(CASE(every_statement_can_be_prepared),
      CASE(what_a_sync_asks_for_is_found_by_an_index),
      CASE(what_is_not_committed_is_rolled_back),
      CASE(nested_transactions_join_the_outer_one),
      CASE(an_abandoned_inner_transaction_dooms_the_outer_one),
      CASE(a_savepoint_undoes_only_its_part),
      CASE(the_revision_grows_once_a_transaction_and_stamps_its_rows),
      CASE(a_revision_first_taken_in_an_undone_part_is_taken_again),
      CASE(without_create_a_missing_store_is_not_made),
      CASE(a_second_connection_reads_and_cannot_write),
      CASE(settings_come_back_as_they_were),
      CASE(the_time_is_the_one_given),
      CASE(all_files_are_private_whatever_the_umask),
      CASE(wider_permissions_are_narrowed_when_a_store_is_opened),
      CASE(waiting_ends_when_another_connection_commits),
      CASE(the_bell_rings_after_a_commit_that_wrote_and_only_then),
      CASE(waiting_times_out_and_own_commits_do_not_count),
      CASE(a_commit_before_the_wait_is_not_missed),
      CASE(a_lock_held_by_another_is_waited_for),
      CASE(many_processes_can_make_the_same_store_at_once),
      CASE(who_waits_for_the_lock_shortens_the_transaction),
      CASE(the_size_is_that_of_the_file),
      CASE(a_synced_commit_is_asked_for_once))
