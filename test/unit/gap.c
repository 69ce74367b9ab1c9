/*
 * Overwriting archived bytes, against copies of them in memory: spans over many blocks and over chains of
 * generations; marks; parting from a base; blocks that are damaged.
 */
#include "base/hash.h"
#include "store/check.h"
#include "store/db.h"
#include "store/gap.h"
#include "t.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { GENERATIONS = 6, BLOCK = 1000 };

struct world {
	struct store *s;
	int64_t source, rows[GENERATIONS], shared[GENERATIONS];
	struct buf bytes[GENERATIONS]; /* what should be there */
	bool *gaps[GENERATIONS];       /* and what of it is marked, by byte */
	uint64_t random;
};

static void world_release(struct world *w)
{
	for (int i = 0; i < GENERATIONS; i++) {
		buf_release(&w->bytes[i]);
		mem_free(w->gaps[i]);
	}
	store_close(w->s);
}

static int64_t below(struct world *w, int64_t limit)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((w->random >> 33) % (uint64_t)limit);
}

/* Blocks of whatever length, which may be anything. */
static enum status append(struct world *w, int g, int64_t from, struct err *err)
{
	struct packer *packer = packer_new();
	enum status status = STATUS_OK;

	for (int64_t at = from; status == STATUS_OK && at < (int64_t)w->bytes[g].n;) {
		struct str raw = str_sub(buf_as_str(&w->bytes[g]), (size_t)at,
					 (size_t)(1 + below(w, 2 * BLOCK)));
		struct buf packed CLEANUP(buf_release) = BUF_INIT(MIB);
		struct archive_new block = { .offset = at, .length = (int64_t)raw.n, .hash = hash64(raw.p, raw.n) };

		status = packer_pack(packer, raw, &packed, err);
		block.packed = buf_as_str(&packed);
		if (status == STATUS_OK)
			status = archive_append(w->s, w->rows[g], at, &block, 1, err);
		at += (int64_t)raw.n;
	}
	packer_free(packer);
	return status;
}

/* Each shares some of its beginning with an earlier one. */
static enum status make(struct world *w, const char *dir, uint64_t seed, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct root root;

	w->random = seed;
	if (tree_store(dir, "s", NULL, NULL, &w->s, err) || root_use(w->s, "/x", STR("claude"), &root, err) ||
	    txn_begin(w->s, &txn, err) ||
	    source_add(w->s, root.row, STR("projects/p/x.jsonl"), &w->source, err))
		return err_failed(err->status);
	for (int g = 0; g < GENERATIONS; g++) {
		int base = g ? (int)below(w, g) : 0;

		buf_init(&w->bytes[g], MIB);
		w->shared[g] = g ? below(w, (int64_t)w->bytes[base].n + 1) : 0;
		buf_add(&w->bytes[g], w->bytes[base].p, (size_t)w->shared[g]);
		for (int64_t i = 2000 + below(w, 9000); i > 0; i--)
			buf_byte(&w->bytes[g], below(w, 60) ? (char)('a' + below(w, 26)) : '\n');
		w->gaps[g] = mem_alloc(w->bytes[g].n);
		if (generation_add(w->s, w->source, g ? w->rows[g - 1] : 0, w->shared[g] ? w->rows[base] : 0,
				   w->shared[g], &w->rows[g], err) ||
		    append(w, g, w->shared[g], err))
			return err_failed(err->status);
	}
	return txn_commit(&txn, err);
}

static enum status gather(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

struct marks {
	bool *seen;
	struct span last;
	bool overlap;
};

static enum status take_mark(void *ctx, const struct gap *g, struct err *err)
{
	struct marks *m = ctx;

	(void)err;
	m->overlap |= g->span.from <= m->last.to && m->last.to > 0;
	m->last = g->span;
	memset(m->seen + g->span.from, true, (size_t)(g->span.to - g->span.from));
	return STATUS_OK;
}

static void check_generation(struct t *t, struct world *w, int g)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	struct marks m = { .seen = mem_alloc(w->bytes[g].n) };
	struct err err;

	if (archive_read(w->s, w->rows[g], 0, (int64_t)w->bytes[g].n, gather, &got, &err) ||
	    gap_each(w->s, w->rows[g], 0, (int64_t)w->bytes[g].n, take_mark, &m, &err))
		t_fail(t, __FILE__, __LINE__, "generation %d: %s", g, err.text);
	if (!str_eq(buf_as_str(&got), buf_as_str(&w->bytes[g])))
		t_fail(t, __FILE__, __LINE__, "generation %d has other bytes", g);
	CHECK(!m.overlap);
	/* Between neighbours a line feed may be marked as well. */
	for (size_t i = 0; i < w->bytes[g].n; i++)
		if (m.seen[i] != w->gaps[g][i] && w->bytes[g].p[i] != '\n') {
			t_fail(t, __FILE__, __LINE__, "generation %d: byte %zu is %s", g, i,
			       m.seen[i] ? "marked" : "not marked");
			break;
		}
	mem_free(m.seen);
}

static void check_all(struct t *t, struct world *w)
{
	struct check_report report = { 0 };
	struct err err;

	for (int g = 0; g < GENERATIONS; g++)
		check_generation(t, w, g);
	OK(check_run(w->s, &report, &err));
	EQ(report.problems, 0);
}

/* Lines of a generation, about one in three, from an offset on; told what they are in each that has them. */
static size_t choose_lines(struct world *w, int g, struct span *out, size_t most)
{
	struct str all = buf_as_str(&w->bytes[g]);
	size_t count = 0, at = 0;

	while (at < all.n && count < most) {
		size_t n = size_min(str_find(str_sub(all, at, SIZE_MAX), '\n'), all.n - at);

		if (n && (int64_t)at >= w->shared[g] && below(w, 3) == 0)
			out[count++] = (struct span){ (int64_t)at, (int64_t)(at + n) };
		at += n + 1;
	}
	return count;
}

static enum status overwrite(struct world *w, int g, const struct span *spans, size_t count, int64_t at,
			     struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(w->s, &txn, err) || gap_make(w->s, w->rows[g], spans, count, at, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* In memory: in every generation that has these very bytes. */
static void lose(struct world *w, int g, const int *bases, const struct span *span)
{
	for (int k = g; k < GENERATIONS; k++) {
		int64_t shares = INT64_MAX;
		int at = k;

		while (at > g) {
			shares = w->shared[at] < shares ? w->shared[at] : shares;
			at = bases[at];
		}
		for (int64_t i = span->from; at == g && i < span->to && i < shares; i++) {
			w->bytes[k].p[i] = ' ';
			w->gaps[k][i] = true;
		}
	}
}

static enum status find_bases(struct world *w, int bases[GENERATIONS], struct err *err)
{
	for (int g = 0; g < GENERATIONS; g++) {
		struct generation info;

		if (generation_get(w->s, w->rows[g], &info, err))
			return err_failed(err->status);
		bases[g] = -1;
		for (int k = 0; k < g; k++)
			if (w->rows[k] == info.base)
				bases[g] = k;
	}
	return STATUS_OK;
}

TEST(what_is_overwritten_is_blank_in_every_generation_that_shares_it)
{
	for (uint64_t seed = 1; seed <= 15; seed++) {
		struct world w CLEANUP(world_release) = { 0 };
		int bases[GENERATIONS];
		char dir[200];
		struct err err;

		snprintf(dir, sizeof dir, "%.150s/a%d", t_tmpdir(t), (int)seed);
		OK(file_make_dirs(dir, &err));
		OK(make(&w, dir, seed, &err));
		OK(find_bases(&w, bases, &err));
		check_all(t, &w);
		for (int round = 0; round < 4; round++) {
			struct span spans[400];
			int g = (int)below(&w, GENERATIONS);
			size_t count = choose_lines(&w, g, spans, COUNT(spans));

			OK(overwrite(&w, g, spans, count, 100 + round / 2, &err));
			for (size_t i = 0; i < count; i++)
				lose(&w, g, bases, &spans[i]);
			check_all(t, &w);
		}
	}
}

TEST(parting_changes_no_byte_and_lets_each_go_its_way)
{
	struct world w CLEANUP(world_release) = { 0 };
	struct txn txn CLEANUP(txn_end) = { 0 };
	int bases[GENERATIONS];
	struct generation info;
	int64_t half;
	struct err err;
	int g = 0;

	OK(make(&w, t_tmpdir(t), 3, &err));
	OK(find_bases(&w, bases, &err));
	while (g < GENERATIONS - 1 && w.shared[g] < 100)
		g++;
	NEED(w.shared[g] >= 100);
	half = w.shared[g] / 2;
	OK(overwrite(&w, bases[g], &(struct span){ half - 5, half + 5 }, 1, 7, &err));
	lose(&w, bases[g], bases, &(struct span){ half - 5, half + 5 });
	OK(txn_begin(w.s, &txn, &err));
	OK(gap_part(w.s, w.rows[g], half, &err));
	OK(gap_part(w.s, w.rows[g], half, &err)); /* once is enough */
	OK(txn_commit(&txn, &err));
	OK(generation_get(w.s, w.rows[g], &info, &err));
	EQ(info.shared, half);
	w.shared[g] = half;
	check_all(t, &w);
	/* From there on what happens to the one does not happen to the other. */
	OK(overwrite(&w, g, &(struct span){ half + 20, half + 40 }, 1, 8, &err));
	lose(&w, g, bases, &(struct span){ half + 20, half + 40 });
	OK(overwrite(&w, bases[g], &(struct span){ half + 40, half + 45 }, 1, 8, &err));
	lose(&w, bases[g], bases, &(struct span){ half + 40, half + 45 });
	check_all(t, &w);
}

static int64_t count_rows(struct world *w)
{
	sqlite3_stmt *st = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(w->s->db, "SELECT count(*) FROM gap", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

TEST(neighbours_that_went_together_have_one_mark)
{
	struct world w CLEANUP(world_release) = { 0 };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct err err;
	bool covered;

	OK(make(&w, t_tmpdir(t), 5, &err));
	OK(txn_begin(w.s, &txn, &err));
	OK(gap_mark(w.s, w.rows[0], &(struct span){ 10, 20 }, 1, &err));
	OK(gap_mark(w.s, w.rows[0], &(struct span){ 21, 30 }, 1, &err)); /* a line feed between */
	EQ(count_rows(&w), 1);
	OK(gap_mark(w.s, w.rows[0], &(struct span){ 12, 18 }, 9, &err)); /* it is marked */
	EQ(count_rows(&w), 1);
	OK(gap_mark(w.s, w.rows[0], &(struct span){ 31, 40 }, 2, &err)); /* at another time */
	EQ(count_rows(&w), 2);
	OK(gap_mark(w.s, w.rows[0], &(struct span){ 50, 60 }, 2, &err));
	EQ(count_rows(&w), 3);
	OK(gap_covers(w.s, w.rows[0], &(struct span){ 10, 40 }, &covered, &err));
	CHECK(covered);
	OK(gap_covers(w.s, w.rows[0], &(struct span){ 10, 51 }, &covered, &err));
	CHECK(!covered);
	OK(gap_mark(w.s, w.rows[0], &(struct span){ 0, 100 }, 3, &err)); /* all of it */
	EQ(count_rows(&w), 1);
	OK(txn_commit(&txn, &err));
}

static void damage(struct world *w, int g, int64_t offset)
{
	sqlite3_stmt *st = NULL;

	sqlite3_prepare_v2(w->s->db,
			   "UPDATE block_data SET bytes = zeroblob(20) WHERE id = (SELECT data FROM block "
			   "WHERE generation = ?1"
			   " AND offset = ?2)",
			   -1, &st, NULL);
	sqlite3_bind_int64(st, 1, w->rows[g]);
	sqlite3_bind_int64(st, 2, offset);
	sqlite3_step(st);
	sqlite3_finalize(st);
}

TEST(a_damaged_block_goes_as_a_whole_or_not_at_all)
{
	struct world w CLEANUP(world_release) = { 0 };
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	OK(make(&w, t_tmpdir(t), 7, &err));
	damage(&w, 0, 0);
	EQ(overwrite(&w, 0, &(struct span){ 5, 10 }, 1, 1, &err), STATUS_CORRUPT);
	EQ(count_rows(&w), 0);
	OK(overwrite(&w, 0, &(struct span){ 0, 2 * BLOCK }, 1, 1, &err));
	OK(archive_read(w.s, w.rows[0], 0, 2 * BLOCK, gather, &got, &err));
	CHECK(gap_is_filled(buf_as_str(&got)));
}

TESTS(CASE(what_is_overwritten_is_blank_in_every_generation_that_shares_it),
      CASE(parting_changes_no_byte_and_lets_each_go_its_way),
      CASE(neighbours_that_went_together_have_one_mark), CASE(a_damaged_block_goes_as_a_whole_or_not_at_all))
