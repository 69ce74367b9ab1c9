/*
 * What purged lines hung on.
 */
#include "store/line_parent.h"
#include "store/db.h"
#include "t.h"
#include "tree.h"

#define STORE struct store CLEANUP(store_closep)

static struct uuid id(unsigned char n)
{
	return (struct uuid){ .b = { n } };
}

/* parents[i] is what line i hung on; 0 = nothing. Line 0 does not count. */
static enum status keep(struct store *s, const unsigned char *parents, unsigned char count, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (store_reach(s, STORE_PURGED, err) || txn_begin(s, &txn, err))
		return err_failed(err->status);
	for (unsigned char i = 1; i < count; i++) {
		struct uuid line = id(i), parent = id(parents[i]);

		if (line_parent_keep(s, &line, parents[i] ? &parent : NULL, err))
			return err_failed(err->status);
	}
	return txn_commit(&txn, err);
}

/* 0 = it hangs on nothing. */
static int above(struct store *s, unsigned char n)
{
	struct uuid line = id(n);
	struct err err;
	bool hangs;

	if (line_parent_above(s, &line, &hangs, &err))
		return -1;
	return hangs ? line.b[0] : 0;
}

TEST(who_hung_on_purged_lines_hangs_on_what_is_above_them)
{
	STORE *s = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(keep(s, (const unsigned char[]){ 0, 9, 1, 2, 0, 4 }, 6, &err));
	EQ(above(s, 9), 9); /* not purged */
	EQ(above(s, 1), 9);
	EQ(above(s, 3), 9);
	EQ(above(s, 4), 0);
	EQ(above(s, 5), 0);
}

TEST(what_is_known_of_a_line_first_stays)
{
	STORE *s = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	OK(keep(s, (const unsigned char[]){ 0, 9 }, 2, &err));
	OK(keep(s, (const unsigned char[]){ 0, 8 }, 2, &err));
	EQ(above(s, 1), 9);
}

TEST(lines_that_hung_on_each_other_hang_on_nothing)
{
	STORE *s = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &s, &err));
	/* On itself; two; five, and one that leads there from afar. */
	OK(keep(s, (const unsigned char[]){ 0, 1, 3, 2, 5, 6, 7, 8, 4, 10, 11, 4 }, 12, &err));
	for (unsigned char n = 1; n < 12; n++)
		EQ(above(s, n), 0);
}

TESTS(CASE(who_hung_on_purged_lines_hangs_on_what_is_above_them), CASE(what_is_known_of_a_line_first_stays),
      CASE(lines_that_hung_on_each_other_hang_on_nothing))
