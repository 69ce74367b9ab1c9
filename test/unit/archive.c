/*
 * The archive against plain copies of the bytes in memory: random reads over
 * chains of generations, appends, conflicts, and damage of every kind.
 */
#include "base/hash.h"
#include "ingest/rebuild.h"
#include "store/archive.h"
#include "store/check.h"
#include "store/db.h"
#include "store/pack.h"
#include "t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE struct store CLEANUP(store_closep)

enum { MOST_GENERATIONS = 320, MOST_BLOCKS = 8 };

/* What should be in the store. */
struct model {
	struct store *s;
	struct packer *packer;
	int64_t source;
	struct {
		int64_t row;
		struct buf bytes;
		int64_t last; /* offset of its last own block, -1 = none */
	} g[MOST_GENERATIONS];
	int count;
	uint64_t random;
};

static void model_release(struct model *m)
{
	for (int i = 0; i < m->count; i++)
		buf_release(&m->g[i].bytes);
	packer_free(m->packer);
	store_close(m->s);
}

#define MODEL struct model CLEANUP(model_release)

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int64_t below(struct model *m, int64_t limit)
{
	return limit > 0 ? (int64_t)(next_random(&m->random) % (uint64_t)limit) : 0;
}

static enum status open_store(const char *path, struct store **s, struct err *err)
{
	struct store_options o = { .path = path, .create = true };
	bool done;

	return store_open(&o, s, err) ? err_failed(err->status) : rebuild_if_stale(*s, NULL, &done, err);
}

static enum status add_source(struct model *m, const char *path, int64_t *row, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct root root;

	if (txn_begin(m->s, &txn, err) || root_use(m->s, "/home/me/.claude", (struct str){ 0 }, &root, err) ||
	    source_add(m->s, root.row, str_of(path), row, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status model_init(struct model *m, const char *dir, struct err *err)
{
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/a.db", dir);
	m->packer = packer_new();
	if (open_store(path, &m->s, err))
		return err_failed(err->status);
	return add_source(m, "projects/p/a.jsonl", &m->source, err);
}

/* Starts a generation on top of the first `shared` bytes of another (-1 = none). */
static enum status start(struct model *m, int base, int64_t shared, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t row;

	if (txn_begin(m->s, &txn, err) ||
	    generation_add(m->s, m->source, m->count ? m->g[m->count - 1].row : 0,
			   base < 0 ? 0 : m->g[base].row, shared, &row, err) ||
	    txn_commit(&txn, err))
		return err_failed(err->status);
	m->g[m->count].row = row;
	m->g[m->count].last = -1;
	buf_init(&m->g[m->count].bytes, 16 * MIB);
	if (base >= 0)
		buf_add(&m->g[m->count].bytes, m->g[base].bytes.p, (size_t)shared);
	m->count++;
	return STATUS_OK;
}

/* Packs `count` blocks of the lengths given, out of `bytes`, from `offset` on. */
static enum status pack_blocks(struct model *m, struct str bytes, int64_t offset, const size_t *lengths, size_t count,
			       struct archive_new *out, struct buf *packed, struct err *err)
{
	size_t at = 0;

	buf_init(packed, 16 * MIB);
	for (size_t i = 0; i < count; i++) {
		struct str raw = str_sub(bytes, at, lengths[i]);
		size_t before = packed->n;

		if (packer_pack(m->packer, raw, packed, err))
			return err_failed(err->status);
		out[i] = (struct archive_new){ .offset = offset + (int64_t)at,
					       .length = (int64_t)raw.n,
					       .hash = hash64(raw.p, raw.n),
					       .packed.n = packed->n - before };
		at += raw.n;
	}
	at = 0;
	for (size_t i = 0; i < count; i++) {
		out[i].packed.p = packed->p + at;
		at += out[i].packed.n;
	}
	return STATUS_OK;
}

static enum status append_blocks(struct model *m, int64_t generation, int64_t expected,
				 const struct archive_new *blocks, size_t count, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct line_count lines = { 0 };

	if (txn_begin(m->s, &txn, err) || archive_append(m->s, generation, expected, blocks, count, err))
		return err_failed(err->status);
	line_count_add(&lines, buf_as_str(&m->g[m->count - 1].bytes));
	if (generation_set_lines(m->s, generation, 0, &lines, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* Adds random bytes to the newest generation, in some blocks; when asked, the
 * last block is replaced by one that is longer. */
static enum status append(struct model *m, int64_t most, bool replace, struct err *err)
{
	struct buf *bytes = &m->g[m->count - 1].bytes;
	int64_t expected = (int64_t)bytes->n, from = expected, last = m->g[m->count - 1].last;
	struct buf packed CLEANUP(buf_release) = { 0 };
	struct archive_new blocks[MOST_BLOCKS];
	size_t lengths[MOST_BLOCKS], count = (size_t)(1 + below(m, MOST_BLOCKS)), total = 0;

	for (size_t i = 0; i < count; i++) {
		lengths[i] = (size_t)(1 + below(m, most));
		total += lengths[i];
	}
	for (size_t i = 0; i < total; i++)
		buf_byte(bytes, "abcdefgh\n"[below(m, 9)]);
	if (replace && last >= 0) {
		lengths[0] += (size_t)(from - last);
		from = last;
	}
	if (pack_blocks(m, str_sub(buf_as_str(bytes), (size_t)from, SIZE_MAX), from, lengths, count, blocks,
			&packed, err))
		return err_failed(err->status);
	m->g[m->count - 1].last = blocks[count - 1].offset;
	return append_blocks(m, m->g[m->count - 1].row, expected, blocks, count, err);
}

static enum status gather(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

static void check_read(struct t *t, struct model *m, int g, int64_t offset, int64_t length)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct err err;
	enum status status = archive_read(m->s, m->g[g].row, offset, length, gather, &got, &err);

	if (status != STATUS_OK)
		t_fail(t, __FILE__, __LINE__, "generation %d, %" PRId64 " + %" PRId64 ": %s", g, offset,
		       length, err.text);
	else if (!str_eq(buf_as_str(&got), str_sub(buf_as_str(&m->g[g].bytes), (size_t)offset, (size_t)length)))
		t_fail(t, __FILE__, __LINE__, "generation %d, %" PRId64 " + %" PRId64 ": wrong bytes", g,
		       offset, length);
}

static void check_reads(struct t *t, struct model *m, int reads)
{
	for (int g = 0; g < m->count; g++)
		check_read(t, m, g, 0, (int64_t)m->g[g].bytes.n);
	for (int i = 0; i < reads; i++) {
		int g = (int)below(m, m->count);
		int64_t n = (int64_t)m->g[g].bytes.n, offset = below(m, n + 1);

		check_read(t, m, g, offset, below(m, n - offset + 1));
	}
}

static void count_problem(void *ctx, struct str text)
{
	buf_str(ctx, text);
	buf_byte(ctx, '\n');
}

static void check_healthy(struct t *t, struct store *s)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct check_report r = { .problem = count_problem, .ctx = &text };
	struct err err;

	OK(check_run(s, &r, &err));
	EQ(r.problems, 0);
	EQS(buf_as_str(&text), STR(""));
}

/* ---- Reading --------------------------------------------------------------- */

TEST(random_generations_read_as_their_plain_copies)
{
	MODEL m = { .random = 1 };
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	for (int i = 0; i < 150; i++) {
		if (m.count < 60 && below(&m, 3) == 0) {
			int base = (int)below(&m, m.count + 1) - 1;

			OK(start(&m, base, base < 0 ? 0 : below(&m, (int64_t)m.g[base].bytes.n + 1), &err));
		}
		OK(append(&m, 300, below(&m, 2), &err));
	}
	check_reads(t, &m, 1500);
	check_healthy(t, m.s);
}

TEST(a_chain_of_three_hundred_generations_is_read)
{
	MODEL m = { .random = 2 };
	struct generation *list;
	struct arena mem = ARENA_INIT;
	struct err err;
	size_t n;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	OK(append(&m, 50, false, &err));
	while (m.count < 301) {
		int64_t have = (int64_t)m.g[m.count - 1].bytes.n;

		OK(start(&m, m.count - 1, have - below(&m, have < 5 ? have : 5), &err));
		OK(append(&m, 6, false, &err));
	}
	check_reads(t, &m, 300);
	check_healthy(t, m.s);
	OK(generation_list(m.s, m.source, &mem, &list, &n, &err));
	EQ(n, 301);
	EQ(list[300].number, 301);
	EQ(list[300].base_number, 300);
	EQ(list[300].length, m.g[300].bytes.n);
	arena_release(&mem);
}

TEST(blocks_at_their_largest_are_stored_and_read)
{
	MODEL m = { .random = 3 };
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	OK(append(&m, LIMIT_BLOCK_MAX, false, &err));
	OK(start(&m, 0, (int64_t)m.g[0].bytes.n / 2, &err));
	OK(append(&m, LIMIT_BLOCK_MAX, false, &err));
	check_reads(t, &m, 20);
	check_healthy(t, m.s);
}

TEST(an_empty_generation_can_be_read_and_has_no_last_block)
{
	MODEL m = { .random = 4 };
	struct archive_block last;
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	check_read(t, &m, 0, 0, 0);
	EQ(archive_last(m.s, m.g[0].row, &last, &err), STATUS_NOT_FOUND);
	OK(append(&m, 10, false, &err));
	OK(archive_last(m.s, m.g[0].row, &last, &err));
	EQ(last.offset, m.g[0].last);
	EQ(last.offset + last.length, m.g[0].bytes.n);
	OK(start(&m, 0, (int64_t)m.g[0].bytes.n, &err)); /* all bytes are its base's */
	EQ(archive_last(m.s, m.g[1].row, &last, &err), STATUS_NOT_FOUND);
	check_read(t, &m, 1, 0, (int64_t)m.g[0].bytes.n);
	check_healthy(t, m.s);
}

TEST(reading_beyond_the_end_is_a_mistake_of_the_caller)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	MODEL m = { .random = 5 };
	int64_t n;
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	OK(append(&m, 100, false, &err));
	n = (int64_t)m.g[0].bytes.n;
	EQ(archive_read(m.s, m.g[0].row, 0, n + 1, gather, &got, &err), STATUS_USAGE);
	EQ(archive_read(m.s, m.g[0].row, n, 1, gather, &got, &err), STATUS_USAGE);
	EQ(archive_read(m.s, m.g[0].row, n + 5, 1, gather, &got, &err), STATUS_USAGE);
	EQ(archive_read(m.s, m.g[0].row, -1, 2, gather, &got, &err), STATUS_USAGE);
	EQ(archive_read(m.s, m.g[0].row, 5, -1, gather, &got, &err), STATUS_USAGE);
	EQ(archive_read(m.s, m.g[0].row, 1, INT64_MAX, gather, &got, &err), STATUS_USAGE);
	EQ(archive_read(m.s, m.g[0].row, INT64_MAX, 1, gather, &got, &err), STATUS_USAGE);
	EQ(got.n, 0);
}

static enum status stop_at_second(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	int *seen = ctx;

	(void)b;
	(void)err;
	*go_on = ++*seen < 2;
	return STATUS_OK;
}

static enum status refuse(void *ctx, struct str bytes, struct err *err)
{
	(void)ctx;
	(void)bytes;
	return err_fail(err, STATUS_FULL, "no more");
}

TEST(a_visit_can_be_ended_and_a_sink_can_refuse)
{
	MODEL m = { .random = 6 };
	int seen = 0;
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	for (int i = 0; i < 5; i++)
		OK(append(&m, 100, false, &err));
	OK(archive_blocks(m.s, m.g[0].row, 0, (int64_t)m.g[0].bytes.n, stop_at_second, &seen, &err));
	EQ(seen, 2);
	EQ(archive_read(m.s, m.g[0].row, 0, 1, refuse, NULL, &err), STATUS_FULL);
}

/* ---- Writing --------------------------------------------------------------- */

/* Everything that matters, as one number. */
static uint64_t digest(struct store *s)
{
	static const char *const tables[] = {
		"SELECT * FROM generation ORDER BY 1",	  "SELECT * FROM block ORDER BY 1, 2",
		"SELECT * FROM block_data ORDER BY 1",	  "SELECT * FROM source ORDER BY 1",
		"SELECT * FROM store_setting ORDER BY 1",
	};
	struct buf all = BUF_INIT(64 * MIB);
	uint64_t hash;

	for (size_t i = 0; i < COUNT(tables); i++) {
		sqlite3_stmt *st = NULL;

		if (sqlite3_prepare_v2(s->db, tables[i], -1, &st, NULL) != SQLITE_OK)
			abort();
		while (sqlite3_step(st) == SQLITE_ROW)
			for (int k = 0; k < sqlite3_column_count(st); k++) {
				const void *p = sqlite3_column_blob(st, k);

				buf_add(&all, p, (size_t)sqlite3_column_bytes(st, k));
				buf_byte(&all, '|');
			}
		sqlite3_finalize(st);
	}
	hash = hash64(all.p, all.n);
	buf_release(&all);
	return hash;
}

TEST(an_append_for_another_state_conflicts_and_changes_nothing)
{
	struct buf packed CLEANUP(buf_release) = { 0 };
	static const size_t lengths[] = { 3 };
	struct archive_new block;
	MODEL m = { .random = 7 };
	uint64_t before;
	int64_t n;
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	OK(append(&m, 100, false, &err));
	n = (int64_t)m.g[0].bytes.n;
	OK(pack_blocks(&m, STR("new"), n, lengths, 1, &block, &packed, &err));
	before = digest(m.s);
	EQ(append_blocks(&m, m.g[0].row, n - 1, &block, 1, &err), STATUS_CONFLICT);
	EQ(append_blocks(&m, m.g[0].row, n + 1, &block, 1, &err), STATUS_CONFLICT);
	EQ(append_blocks(&m, m.g[0].row + 1000, n, &block, 1, &err), STATUS_CONFLICT);
	CHECK(digest(m.s) == before);
	OK(start(&m, 0, 1, &err));
	before = digest(m.s);
	EQ(append_blocks(&m, m.g[0].row, n, &block, 1, &err), STATUS_CONFLICT); /* no longer the newest */
	CHECK(digest(m.s) == before);
	check_reads(t, &m, 10);
}

TEST(a_generation_started_from_another_state_conflicts)
{
	struct txn txn = { 0 };
	MODEL m = { .random = 8 };
	int64_t row;
	uint64_t before;
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	OK(append(&m, 10, false, &err));
	before = digest(m.s);
	OK(txn_begin(m.s, &txn, &err));
	EQ(generation_add(m.s, m.source, 0, 0, 0, &row, &err), STATUS_CONFLICT);
	txn_end(&txn);
	OK(txn_begin(m.s, &txn, &err));
	EQ(generation_add(m.s, m.source, m.g[0].row + 5, 0, 0, &row, &err), STATUS_CONFLICT);
	txn_end(&txn);
	CHECK(digest(m.s) == before);
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

TEST(appending_replaces_the_tail_block_and_leaves_no_orphans)
{
	struct buf packed CLEANUP(buf_release) = { 0 };
	static const size_t lengths[] = { 5 };
	MODEL m = { .random = 9 };
	struct archive_new block;
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	for (size_t n = 1; n <= 50; n++) {
		size_t whole = n;

		buf_release(&packed);
		buf_byte(&m.g[0].bytes, (char)('a' + n % 26));
		OK(pack_blocks(&m, buf_as_str(&m.g[0].bytes), 0, &whole, 1, &block, &packed, &err));
		OK(append_blocks(&m, m.g[0].row, (int64_t)n - 1, &block, 1, &err));
		EQ(ask(m.s, "SELECT count(*) FROM block"), 1);
		EQ(ask(m.s, "SELECT count(*) FROM block_data"), 1);
		check_read(t, &m, 0, 0, (int64_t)n);
	}
	buf_release(&packed);
	buf_text(&m.g[0].bytes, "12345");
	OK(pack_blocks(&m, STR("12345"), 50, lengths, 1, &block, &packed, &err));
	OK(append_blocks(&m, m.g[0].row, 50, &block, 1, &err));
	EQ(ask(m.s, "SELECT count(*) FROM block"), 2);
	check_reads(t, &m, 50);
	check_healthy(t, m.s);
}

TEST(appending_nothing_changes_nothing)
{
	MODEL m = { .random = 10 };
	struct txn txn = { 0 };
	uint64_t before;
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	before = digest(m.s);
	OK(txn_begin(m.s, &txn, &err));
	OK(archive_append(m.s, m.g[0].row, 12345, NULL, 0, &err));
	OK(txn_commit(&txn, &err));
	CHECK(digest(m.s) == before);
}

TEST(rows_carry_the_revision_of_their_transaction)
{
	MODEL m = { .random = 11 };
	struct err err;

	OK(model_init(&m, t_tmpdir(t), &err));
	OK(start(&m, -1, 0, &err));
	OK(append(&m, 10, false, &err));
	EQ(ask(m.s, "SELECT count(*) FROM block WHERE rev <> (SELECT value FROM store_setting WHERE key = 'rev')"), 0);
	EQ(ask(m.s, "SELECT rev FROM generation"), ask(m.s, "SELECT value FROM store_setting WHERE key = 'rev'"));
}

/* ---- Damage ---------------------------------------------------------------- */

/* Three generations: 1 whole, 2 on top of 1, 3 (the newest) on top of 2. */
static enum status make_sound(struct model *m, const char *dir, struct err *err)
{
	if (model_init(m, dir, err) || start(m, -1, 0, err) || append(m, 500, false, err) ||
	    append(m, 500, false, err) || start(m, 0, (int64_t)m->g[0].bytes.n - 100, err) ||
	    append(m, 500, false, err) || start(m, 1, (int64_t)m->g[1].bytes.n - 50, err))
		return err_failed(err->status);
	return append(m, 500, false, err);
}

struct damage {
	const char *sql;
	int generation;     /* whose reading is tried, 0 = none fails */
	enum status status; /* of reading it at its full length */
};

static void try_damage(struct t *t, struct model *m, const char *dir, const struct damage *d, int number)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf got CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct check_report r = { .problem = count_problem, .ctx = &text };
	char copy[LIMIT_PATH], vacuum[LIMIT_PATH + 32];
	STORE *s = NULL;
	struct err err;
	int g = d->generation - 1;

	snprintf(copy, sizeof copy, "%.2000s/copy-%d.db", dir, number);
	snprintf(vacuum, sizeof vacuum, "VACUUM INTO '%s'", copy);
	OK(db_exec(m->s, vacuum, &err));
	OK(open_store(copy, &s, &err));
	OK(db_exec(s, "PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON", &err));
	check_healthy(t, s);
	OK(db_exec(s, d->sql, &err));
	OK(check_run(s, &r, &err));
	if (r.problems == 0)
		t_fail(t, __FILE__, __LINE__, "not found: %s", d->sql);
	else if (!strstr(text.p, "projects/p/a.jsonl"))
		t_fail(t, __FILE__, __LINE__, "%s: does not name the file: %s", d->sql, text.p);
	if (g >= 0) {
		enum status status =
			archive_read(s, m->g[g].row, 0, (int64_t)m->g[g].bytes.n, gather, &got, &err);

		if (status != d->status)
			t_fail(t, __FILE__, __LINE__, "%s: reading gave %d: %s", d->sql, status, err.text);
		/* What came before the damage was true. */
		CHECK(str_has_prefix(buf_as_str(&m->g[g].bytes), buf_as_str(&got)));
	}
}

TEST(damage_is_found_and_named_and_never_read_as_data)
{
#define FIRST " WHERE generation = 1 AND offset = 0"
#define LAST(g) " WHERE generation = " #g " AND offset = (SELECT max(offset) FROM block WHERE generation = " #g ")"
	static const struct damage all[] = {
		{ "DELETE FROM block" FIRST, 1, STATUS_CORRUPT },
		{ "DELETE FROM block" FIRST, 3, STATUS_CORRUPT },
		{ "DELETE FROM block" LAST(3), 3, STATUS_CORRUPT },
		{ "DELETE FROM block WHERE generation = 2", 2, STATUS_CORRUPT },
		{ "DELETE FROM block_data WHERE id = (SELECT data FROM block" LAST(2) ")", 2,
		  STATUS_CORRUPT },
		{ "UPDATE block SET length = length + 1" FIRST, 1, STATUS_CORRUPT },
		{ "UPDATE block SET length = length - 1" FIRST, 1, STATUS_CORRUPT },
		{ "UPDATE block SET length = 0" FIRST, 1, STATUS_CORRUPT },
		{ "UPDATE block SET length = -5" FIRST, 1, STATUS_CORRUPT },
		{ "UPDATE block SET length = 2000000000" FIRST, 1, STATUS_CORRUPT },
		{ "UPDATE block SET length = 9223372036854775807" FIRST, 1, STATUS_CORRUPT },
		{ "UPDATE block SET length = length + 1" LAST(1), 0, STATUS_OK },
		{ "UPDATE block SET offset = offset + 1" LAST(3), 3, STATUS_CORRUPT },
		{ "UPDATE block SET hash = hash + 1" LAST(1), 1, STATUS_CORRUPT },
		{ "UPDATE block SET hash = hash + 1" FIRST, 3, STATUS_CORRUPT },
		{ "UPDATE block_data SET codec = 7 WHERE id = 1", 1, STATUS_CORRUPT },
		{ "UPDATE block_data SET bytes = x'' WHERE id = 1", 1, STATUS_CORRUPT },
		{ "UPDATE block_data SET bytes = (SELECT bytes FROM block_data WHERE id = 2) WHERE id = 1", 1,
		  STATUS_CORRUPT },
		{ "UPDATE generation SET length = length + 1 WHERE id = 1", 0, STATUS_OK },
		{ "UPDATE generation SET length = length - 1 WHERE id = 1", 1, STATUS_USAGE },
		{ "UPDATE generation SET length = length + 1 WHERE id = 3", 0, STATUS_OK },
		{ "UPDATE generation SET length = length - 1 WHERE id = 3", 3, STATUS_USAGE },
		{ "UPDATE generation SET length = 1 WHERE id = 1", 3, STATUS_CORRUPT },
		{ "UPDATE generation SET shared = shared - 1 WHERE id = 3", 3, STATUS_CORRUPT },
		{ "UPDATE generation SET shared = shared + 1 WHERE id = 2", 0, STATUS_OK },
		{ "UPDATE generation SET base = NULL WHERE id = 3", 3, STATUS_CORRUPT },
		{ "UPDATE generation SET base = 3 WHERE id = 3", 3, STATUS_CORRUPT },
		{ "UPDATE generation SET base = 3 WHERE id = 2", 2, STATUS_CORRUPT },
		{ "UPDATE generation SET base = 1000 WHERE id = 3", 3, STATUS_CORRUPT },
		{ "INSERT INTO source(source_id, root, key, path, generation, first_at, rev)"
		  " VALUES (zeroblob(16), 1, 'other', 'other', 1, 0, 0);"
		  "UPDATE generation SET source = last_insert_rowid() WHERE id = 1", 0, STATUS_OK },
		{ "UPDATE source SET generation = 2", 0, STATUS_OK },
		{ "UPDATE source SET generation = NULL", 0, STATUS_OK },
		{ "UPDATE line_count SET lines = lines + 1 WHERE generation = 3", 0, STATUS_OK },
		{ "UPDATE line_count SET longest = longest + 1 WHERE generation = 3", 0, STATUS_OK },
	};
	const char *dir = t_tmpdir(t);
	MODEL m = { .random = 12 };
	struct err err;

	OK(make_sound(&m, dir, &err));
	for (size_t i = 0; i < COUNT(all); i++)
		try_damage(t, &m, dir, &all[i], (int)i);
}

TEST(any_flipped_byte_of_a_block_is_found)
{
	const char *dir = t_tmpdir(t);
	MODEL m = { .random = 13 };
	struct err err;

	OK(make_sound(&m, dir, &err));
	for (int i = 0; i < 40; i++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
		struct buf got CLEANUP(buf_release) = BUF_INIT(64 * MIB);
		struct check_report r = { .problem = count_problem, .ctx = &text };
		int64_t row = 1 + below(&m, ask(m.s, "SELECT count(*) FROM block_data"));
		sqlite3_blob *blob = NULL;
		unsigned char byte, was;
		int at, owner;
		char sql[100];

		NEED(sqlite3_blob_open(m.s->db, "main", "block_data", "bytes", row, 1, &blob) == SQLITE_OK);
		at = (int)below(&m, sqlite3_blob_bytes(blob));
		if (at == 4)
			at++; /* the frame's flags have a bit without a meaning */
		NEED(sqlite3_blob_read(blob, &was, 1, at) == SQLITE_OK);
		byte = (unsigned char)(was ^ (1 << below(&m, 8)));
		NEED(sqlite3_blob_write(blob, &byte, 1, at) == SQLITE_OK);
		sqlite3_blob_close(blob);
		OK(check_run(m.s, &r, &err));
		CHECK(r.problems > 0);
		CHECK(text.p && strstr(text.p, "projects/p/a.jsonl"));
		snprintf(sql, sizeof sql, "SELECT generation FROM block WHERE data = %lld", (long long)row);
		owner = (int)ask(m.s, sql) - 1;
		EQ(archive_read(m.s, m.g[owner].row, 0, (int64_t)m.g[owner].bytes.n, gather, &got, &err),
		   STATUS_CORRUPT);
		NEED(sqlite3_blob_open(m.s->db, "main", "block_data", "bytes", row, 1, &blob) == SQLITE_OK);
		NEED(sqlite3_blob_write(blob, &was, 1, at) == SQLITE_OK);
		sqlite3_blob_close(blob);
	}
	check_healthy(t, m.s);
}

TEST(block_data_without_a_block_and_broken_references_are_found)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct check_report r = { .problem = count_problem, .ctx = &text };
	MODEL m = { .random = 14 };
	struct err err;

	OK(make_sound(&m, t_tmpdir(t), &err));
	OK(db_exec(m.s, "INSERT INTO block_data(codec, bytes) VALUES (1, x'00')", &err));
	OK(check_run(m.s, &r, &err));
	EQ(r.problems, 1);
	r.problems = 0;
	OK(db_exec(m.s, "PRAGMA foreign_keys=OFF;"
			"INSERT INTO source_path(source, path, until_at, rev) VALUES (99, 'x', 0, 0)", &err));
	OK(check_run(m.s, &r, &err));
	EQ(r.problems, 2);
	CHECK(strstr(text.p, "source_path"));
}

TEST(the_report_counts_what_was_checked)
{
	struct check_report r = { 0 };
	MODEL m = { .random = 15 };
	struct err err;

	OK(make_sound(&m, t_tmpdir(t), &err));
	OK(check_run(m.s, &r, &err));
	EQ(r.problems, 0);
	EQ(r.sources, 1);
	EQ(r.generations, 3);
	EQ(r.blocks, ask(m.s, "SELECT count(*) FROM block"));
	EQ(r.packed_bytes, ask(m.s, "SELECT sum(length(bytes)) FROM block_data"));
	CHECK(r.raw_bytes >= (int64_t)m.g[2].bytes.n);
}

TESTS(CASE(random_generations_read_as_their_plain_copies),
      CASE(a_chain_of_three_hundred_generations_is_read),
      CASE(blocks_at_their_largest_are_stored_and_read),
      CASE(an_empty_generation_can_be_read_and_has_no_last_block),
      CASE(reading_beyond_the_end_is_a_mistake_of_the_caller),
      CASE(a_visit_can_be_ended_and_a_sink_can_refuse),
      CASE(an_append_for_another_state_conflicts_and_changes_nothing),
      CASE(a_generation_started_from_another_state_conflicts),
      CASE(appending_replaces_the_tail_block_and_leaves_no_orphans),
      CASE(appending_nothing_changes_nothing),
      CASE(rows_carry_the_revision_of_their_transaction),
      CASE(damage_is_found_and_named_and_never_read_as_data),
      CASE(any_flipped_byte_of_a_block_is_found),
      CASE(block_data_without_a_block_and_broken_references_are_found),
      CASE(the_report_counts_what_was_checked))
