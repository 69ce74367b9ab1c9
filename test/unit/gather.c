/*
 * Writes to the log, gathered: whatever is committed is in the files at once, for who reads beside and for
 * who finds them after a kill; what is not, is not; a write that fails fails the commit.
 *
 * A small cache has SQLite write pages before their commit, read them again, and correct them where they
 * stand.
 */
#include "store/gather.h"

#include "store/db.h"
#include "t.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define STORE struct store CLEANUP(store_closep)

enum { ROWS = 200, ROW_BYTES = 6000 };

struct trial {
	unsigned seed;
	char path[LIMIT_PATH], copy[LIMIT_PATH];
	int64_t committed, pending; /* sums of all numbers in the table */
};

static unsigned pick(struct trial *r, unsigned below)
{
	r->seed = r->seed * 1103515245u + 12345u;
	return r->seed / 65536u % below;
}

static int64_t ask(struct store *s, const char *question)
{
	sqlite3_stmt *st = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(s->db, question, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

static int64_t sum(struct store *s)
{
	return ask(s, "SELECT sum(number) FROM row");
}

static enum status open_trial(struct t *t, struct trial *r, struct store **out, struct err *err)
{
	snprintf(r->path, sizeof r->path, "%.2000s/store.db", t_tmpdir(t));
	snprintf(r->copy, sizeof r->copy, "%.2000s/copy.db", t_tmpdir(t));
	if (store_open(&(struct store_options){ .path = r->path, .create = true }, out, err) ||
	    db_set_up_writing(*out, err))
		return err_failed(err->status);
	return db_exec(*out,
		       "CREATE TABLE row (id INTEGER PRIMARY KEY, number INTEGER, bytes BLOB);"
		       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
		       " INSERT INTO row SELECT i, 0, zeroblob(6000) FROM n; PRAGMA cache_size=12;"
		       "PRAGMA wal_autocheckpoint=300",
		       err);
}

static enum status change_rows(struct trial *r, struct store *s, struct err *err)
{
	char text[200];

	for (unsigned i = pick(r, 60) + 1; i > 0; i--) {
		unsigned number = pick(r, 1000);

		snprintf(text, sizeof text,
			 "UPDATE row SET number = number + %u, bytes = randomblob(%u) WHERE id = %u", number,
			 1 + pick(r, ROW_BYTES), 1 + pick(r, ROWS));
		if (db_exec(s, text, err))
			return err_failed(err->status);
		r->pending += number;
	}
	return STATUS_OK;
}

/* One transaction; some are taken back, and some go to the disk. */
static enum status change(struct trial *r, struct store *s, void (*meanwhile)(struct t *, struct trial *),
			  struct t *t, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool keep = pick(r, 4) != 0;

	r->pending = r->committed;
	if ((keep && pick(r, 8) == 0 && store_sync_next_commit(s, err)) || txn_begin(s, &txn, err) ||
	    change_rows(r, s, err))
		return err_failed(err->status);
	meanwhile(t, r);
	if (!keep)
		return STATUS_OK;
	if (txn_commit(&txn, err))
		return err_failed(err->status);
	r->committed = r->pending;
	return STATUS_OK;
}

/* The file and its log as somebody finds them who comes after a kill. */
static void look_after_a_kill(struct t *t, struct trial *r)
{
	char command[8 * LIMIT_PATH];
	STORE *s = NULL;
	struct err err;

	snprintf(command, sizeof command, "rm -f '%s'-* && cp '%s' '%s' && cp '%s-wal' '%s-wal'", r->copy,
		 r->path, r->copy, r->path, r->copy);
	EQ(system(command), 0); /* lint: allow, a test */
	OK(store_open(&(struct store_options){ .path = r->copy }, &s, &err));
	EQ(sum(s), r->committed);
	EQ(ask(s, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

static void look_now_and_then(struct t *t, struct trial *r)
{
	if (pick(r, 10) == 0)
		look_after_a_kill(t, r);
}

TEST(what_is_committed_is_there_for_all_and_nothing_else)
{
	STORE *s = NULL, *other = NULL;
	struct trial r = { .seed = t_seed() };
	struct gather *g;
	struct err err;

	OK(open_trial(t, &r, &s, &err));
	OK(store_open_again(s, &other, &err));
	g = gather_begin(s);
	NEED(g);
	for (int i = 0; i < (t_is_full() ? 2000 : 150); i++) {
		OK(change(&r, s, look_now_and_then, t, &err));
		/* First: reading with the connection that wrote has it write what it kept. */
		look_now_and_then(t, &r);
		EQ(sum(other), r.committed);
		EQ(sum(s), r.committed);
	}
	gather_end(g);
	look_after_a_kill(t, &r);
	OK(change(&r, s, look_now_and_then, t, &err));
	EQ(sum(other), r.committed);
}

/* What is left of a transaction that was rolled back must not be written where another has written since. */
TEST(what_was_rolled_back_is_never_written_over_what_others_commit)
{
	STORE *s = NULL, *other = NULL;
	struct trial r = { .seed = t_seed() };
	struct gather *g;
	struct err err;

	OK(open_trial(t, &r, &s, &err));
	OK(store_open(&(struct store_options){ .path = r.path }, &other, &err));
	g = gather_begin(s);
	NEED(g);
	for (int i = 0; i < 60; i++) {
		{
			struct txn txn CLEANUP(txn_end) = { 0 };

			r.pending = r.committed;
			OK(txn_begin(s, &txn, &err));
			OK(change_rows(&r, s, &err));
		}
		{
			struct txn txn CLEANUP(txn_end) = { 0 };

			r.pending = r.committed;
			OK(txn_begin(other, &txn, &err));
			OK(change_rows(&r, other, &err));
			OK(txn_commit(&txn, &err));
			r.committed = r.pending;
		}
		EQ(sum(s), r.committed);
		OK(change(&r, s, look_now_and_then, t, &err));
		EQ(sum(other), r.committed);
	}
	gather_end(g);
	look_after_a_kill(t, &r);
}

/* Nothing can be written to the log any more: as on a full disk. */
TEST(a_write_that_fails_fails_the_commit)
{
	STORE *s = NULL, *other = NULL;
	struct trial r = { .seed = t_seed() };
	struct rlimit before, little;
	struct gather *g;
	struct stat log;
	char name[LIMIT_PATH + 8];
	int failed = 0;
	struct err err;

	OK(open_trial(t, &r, &s, &err));
	OK(store_open_again(s, &other, &err));
	g = gather_begin(s);
	NEED(g);
	OK(change(&r, s, look_now_and_then, t, &err));
	snprintf(name, sizeof name, "%s-wal", r.path);
	NEED(stat(name, &log) == 0 && getrlimit(RLIMIT_FSIZE, &before) == 0);
	signal(SIGXFSZ, SIG_IGN);
	little = before;
	little.rlim_cur = (rlim_t)log.st_size + 20000;
	NEED(setrlimit(RLIMIT_FSIZE, &little) == 0);
	OK(db_exec(s, "PRAGMA wal_autocheckpoint=0", &err));
	for (int i = 0; i < 40; i++) {
		struct txn txn CLEANUP(txn_end) = { 0 };

		r.pending = r.committed;
		if (txn_begin(s, &txn, &err) || change_rows(&r, s, &err) || txn_commit(&txn, &err))
			failed++;
		else
			r.committed = r.pending;
		EQ(sum(other), r.committed);
	}
	CHECK(failed > 0);
	setrlimit(RLIMIT_FSIZE, &before);
	look_after_a_kill(t, &r);
	for (int i = 0; i < 10; i++)
		OK(change(&r, s, look_now_and_then, t, &err));
	EQ(sum(other), r.committed);
	gather_end(g);
}

/* How often this process has asked the system to write. */
static int64_t count_writes(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	char line[100];
	long long n = -1;

	while (f && fgets(line, sizeof line, f) && sscanf(line, "syscw: %lld", &n) != 1)
		;
	if (f)
		fclose(f);
	return n;
}

/* Pages of one commit; how many writes that takes. */
static enum status rewrite_all(struct store *s, int64_t *writes, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t before = count_writes();

	if (txn_begin(s, &txn, err) || db_exec(s, "UPDATE row SET bytes = randomblob(6000)", err) ||
	    txn_commit(&txn, err))
		return err_failed(err->status);
	*writes = count_writes() - before;
	return STATUS_OK;
}

TEST(fewer_writes_are_made_of_many)
{
	STORE *s = NULL;
	struct trial r = { .seed = 1 };
	int64_t apart, gathered;
	struct gather *g;
	struct err err;

	OK(open_trial(t, &r, &s, &err));
	OK(db_exec(s, "PRAGMA cache_size=1000; PRAGMA wal_autocheckpoint=0", &err));
	if (count_writes() < 0)
		SKIP("the system does not tell how often something was written");
	OK(rewrite_all(s, &apart, &err));
	g = gather_begin(s);
	NEED(g);
	OK(rewrite_all(s, &gathered, &err));
	CHECK(apart >= 2 * ROWS);
	CHECK(gathered <= ROWS / 10);
	gather_end(g);
	gather_end(NULL);
}

TESTS(CASE(what_is_committed_is_there_for_all_and_nothing_else),
      CASE(what_was_rolled_back_is_never_written_over_what_others_commit),
      CASE(a_write_that_fails_fails_the_commit), CASE(fewer_writes_are_made_of_many))
