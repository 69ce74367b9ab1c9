/*
 * Where messages begin in transcripts without keys: what is found, when it is looked for again, and that asking for
 * each message costs as much as there are of them.
 */
#include "store/firsts.h"

#include "store/db.h"
#include "t.h"
#include "tree.h"

#include <time.h>

static struct store *make_store(struct t *t)
{
	struct store *s = NULL;
	struct err err;

	CHECK(!tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	return s;
}

/* Session 7, with lines of ten bytes, two of which make a message. Keys reach up to keyed_to. */
static void write_lines(struct t *t, struct store *s, int64_t from, int64_t to, int64_t keyed_to)
{
	char sql[800];

	snprintf(sql, sizeof sql,
		 "INSERT OR REPLACE INTO mirror_session(id, session_id, source, generation, read_to, reading, keyed_to)"
		 " VALUES (7, zeroblob(16), 1, 1, %" PRId64 ", 1, %" PRId64 ");"
		 "WITH RECURSIVE n(i) AS (SELECT %" PRId64 " UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %" PRId64 ")"
		 " INSERT INTO entry(session, offset, length, type, flags, message, blocks)"
		 " SELECT 7, i * 10, 9, 1, 0, 1000 + i / 2, 1 FROM n",
		 10 * to, 10 * keyed_to, from, to);
	EQ(sqlite3_exec(s->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static int64_t find(struct t *t, struct store *s, int64_t reading, int64_t before, uint64_t message)
{
	int64_t offset = -2;
	struct err err;

	CHECK(!firsts_find(s, &(struct firsts_of){ 7, reading, 10 * before }, message, &offset, &err));
	return offset;
}

TEST(the_first_line_of_a_message_is_found_among_those_before)
{
	struct store *s CLEANUP(store_closep) = make_store(t);

	write_lines(t, s, 0, 10, 0);
	EQ(find(t, s, 1, 10, 1000), 0);
	EQ(find(t, s, 1, 10, 1004), 80);
	EQ(find(t, s, 1, 10, 1005), -1);
	EQ(find(t, s, 1, 10, 0), -1);
	EQ(find(t, s, 1, 8, 1004), -1); /* for who began earlier */
}

TEST(what_has_keys_is_not_looked_at)
{
	struct store *s CLEANUP(store_closep) = make_store(t);

	write_lines(t, s, 0, 10, 6);
	EQ(find(t, s, 1, 10, 1002), -1);
	EQ(find(t, s, 1, 10, 1003), 60);
	EQ(find(t, s, 1, 6, 1001), -1);
}

TEST(lines_that_came_since_are_added)
{
	struct store *s CLEANUP(store_closep) = make_store(t);

	write_lines(t, s, 0, 9, 0);
	EQ(find(t, s, 1, 9, 1004), 80);
	EQ(find(t, s, 1, 9, 1006), -1);
	write_lines(t, s, 9, 14, 0);
	EQ(find(t, s, 1, 14, 1006), 120);
	EQ(find(t, s, 1, 14, 1004), 80); /* not that which came later */
	EQ(find(t, s, 1, 14, 1001), 20);
}

TEST(a_session_that_is_read_anew_is_looked_at_anew)
{
	struct store *s CLEANUP(store_closep) = make_store(t);

	write_lines(t, s, 0, 4, 0);
	EQ(find(t, s, 1, 4, 1001), 20);
	EQ(sqlite3_exec(s->db, "DELETE FROM entry WHERE offset >= 20", NULL, NULL, NULL), SQLITE_OK);
	EQ(find(t, s, 2, 4, 1001), -1);
	EQ(find(t, s, 2, 4, 1000), 0);
}

/* ---- What it costs ------------------------------------------------------------------- */

enum { SMALL = 2000, TIMES = 10, MOST_RATIO = 40, TRIES = 5 };

static double ask_for_all(struct t *t, int64_t lines)
{
	struct store *s CLEANUP(store_closep) = make_store(t);
	struct timespec a, b;

	write_lines(t, s, 0, lines, 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int64_t i = 0; i < lines; i += 2)
		EQ(find(t, s, 1, lines, (uint64_t)(1000 + i / 2)), i * 10);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
}

TEST(asking_for_each_of_many_costs_as_much_as_there_are)
{
	double ratio = 1e9;

	for (int i = 0; i < TRIES && ratio >= MOST_RATIO; i++) {
		double small = ask_for_all(t, SMALL), now = ask_for_all(t, TIMES * SMALL) / small;

		ratio = now < ratio ? now : ratio;
	}
	CHECK(ratio < MOST_RATIO);
}

TESTS(CASE(the_first_line_of_a_message_is_found_among_those_before), CASE(what_has_keys_is_not_looked_at),
      CASE(lines_that_came_since_are_added), CASE(a_session_that_is_read_anew_is_looked_at_anew),
      CASE(asking_for_each_of_many_costs_as_much_as_there_are))
