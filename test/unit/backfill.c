/*
 * The log carried over by a thread: nothing is lost, the log does not grow without end, and those who read an older
 * state keep it.
 */
#include "store/backfill.h"
#include "store/db.h"
#include "t.h"

#include <stdio.h>
#include <sys/stat.h>

#define STORE struct store CLEANUP(store_closep)

enum { BLOB = 1024 * 1024, PER_COMMIT = 4 };

static enum status open_store(struct t *t, char path[LIMIT_PATH], struct store **out, struct err *err)
{
	snprintf(path, LIMIT_PATH, "%.2000s/store.db", t_tmpdir(t));
	return store_open(&(struct store_options){ .path = path, .create = true }, out, err) ||
			       db_exec(*out, "CREATE TABLE blobs (bytes BLOB)", err)
		       ? err_failed(err->status)
		       : STATUS_OK;
}

static int64_t log_size(const char *path)
{
	char name[LIMIT_PATH + 8];
	struct stat st;

	snprintf(name, sizeof name, "%s-wal", path);
	return stat(name, &st) ? 0 : (int64_t)st.st_size;
}

static int64_t count_rows(struct store *s)
{
	sqlite3_stmt *st = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(s->db, "SELECT count(*) FROM blobs WHERE length(bytes) = 1048576", -1, &st, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

/* Some megabytes in each transaction; *longest: of the log, meanwhile. */
static enum status write_much(struct store *s, const char *path, int commits, int64_t *longest, struct err *err)
{
	for (int i = 0; i < commits; i++) {
		struct txn txn CLEANUP(txn_end) = { 0 };

		if (txn_begin(s, &txn, err))
			return err_failed(err->status);
		for (int k = 0; k < PER_COMMIT; k++)
			if (db_exec(s, "INSERT INTO blobs VALUES (zeroblob(1048576))", err))
				return err_failed(err->status);
		if (txn_commit(&txn, err))
			return err_failed(err->status);
		*longest = log_size(path) > *longest ? log_size(path) : *longest;
	}
	return STATUS_OK;
}

TEST(the_log_stays_short_and_all_that_was_committed_is_there)
{
	STORE *s = NULL, *other = NULL;
	struct backfill *b;
	char path[LIMIT_PATH];
	int64_t longest = 0;
	struct err err;

	OK(open_store(t, path, &s, &err));
	b = backfill_begin(s);
	NEED(b);
	OK(write_much(s, path, 60, &longest, &err));
	backfill_end(b);
	/* 240 MB were written. */
	CHECK(longest > 0 && longest < 144 * (int64_t)BLOB);
	OK(store_open_again(s, &other, &err));
	EQ(count_rows(other), 60 * PER_COMMIT);
	store_close(s);
	s = NULL;
	EQ(count_rows(other), 60 * PER_COMMIT);
}

TEST(who_reads_an_older_state_keeps_it)
{
	STORE *s = NULL, *other = NULL;
	struct read_txn old CLEANUP(read_end) = { 0 };
	struct backfill *b;
	char path[LIMIT_PATH];
	int64_t longest = 0;
	struct err err;

	OK(open_store(t, path, &s, &err));
	OK(write_much(s, path, 1, &longest, &err));
	OK(store_open_again(s, &other, &err));
	OK(read_begin(other, &old, &err));
	EQ(count_rows(other), PER_COMMIT);
	b = backfill_begin(s);
	NEED(b);
	OK(write_much(s, path, 30, &longest, &err));
	EQ(count_rows(other), PER_COMMIT);
	backfill_end(b);
	EQ(count_rows(other), PER_COMMIT);
	EQ(count_rows(s), 31 * PER_COMMIT);
}

TEST(afterwards_the_writer_does_it_as_before)
{
	STORE *s = NULL;
	struct backfill *b;
	char path[LIMIT_PATH];
	int64_t longest = 0;
	struct err err;

	OK(open_store(t, path, &s, &err));
	b = backfill_begin(s);
	NEED(b);
	backfill_end(b);
	backfill_end(NULL);
	OK(write_much(s, path, 20, &longest, &err));
	CHECK(longest > 0 && longest < 40 * (int64_t)BLOB);
	EQ(count_rows(s), 20 * PER_COMMIT);
}

TESTS(CASE(the_log_stays_short_and_all_that_was_committed_is_there), CASE(who_reads_an_older_state_keeps_it),
      CASE(afterwards_the_writer_does_it_as_before))
