/*
 * Documents: what their numbers say, and that slots come back as they were written,
 * around the borders of the chunks they are kept in and when they are damaged.
 */
#include "docs.h"
#include "store/db.h"

#include <string.h>

enum { CHUNK = 128, DAY_MS = 86400000, DAY = 20000 };

#define STORE  struct store *s CLEANUP(store_closep) = NULL
#define READER struct doc_reader CLEANUP(doc_reader_release)
#define TXN    struct txn txn CLEANUP(txn_end) = { 0 }

/* Something that differs from document to document. */
static struct doc doc_of(int64_t sequence)
{
	return (struct doc){ .session = 1 + sequence % 7,
			     .offset = sequence << 24,
			     .at = sequence * 1000,
			     .block = (uint16_t)(sequence % 3 ? sequence : DOC_LINE) };
}

static uint8_t place_of(int64_t sequence)
{
	return (uint8_t)(sequence % 8);
}

/* Adds those of the sequences [first, end), which have to be the next. */
static enum status add_next(struct store *s, int64_t first, int64_t end, struct err *err)
{
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	TXN;

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (int64_t i = first; i < end; i++) {
		int64_t sequence = -1;

		if (docs_add(&w, doc_of(i), place_of(i), STR("a word"), &sequence, err))
			return err_failed(err->status);
		if (sequence != i)
			return err_fail(err, STATUS_INTERNAL, "%" PRId64 " instead of %" PRId64, sequence, i);
	}
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

static enum status remove_docs(struct store *s, int64_t first, int64_t count, struct err *err)
{
	TXN;

	if (txn_begin(s, &txn, err) || doc_remove(s, first, count, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status mark_word(void *ctx, struct str word, int64_t doc, int64_t position, struct err *err)
{
	uint8_t *words = ctx;
	int64_t sequence = doc_sequence(doc);

	if (sequence <= 0 || sequence >= 4 * CHUNK || position > 1 ||
	    doc_rank(doc).place != place_of(sequence) || !str_eq(word, position ? STR("word") : STR("a")))
		return err_fail(err, STATUS_INTERNAL, "'%.*s' at %" PRId64 " of document %" PRId64,
				STR_ARG(word), position, sequence);
	words[sequence]++;
	return STATUS_OK;
}

static bool is_as_written(const struct doc *d, int64_t id, int64_t sequence)
{
	struct doc want = doc_of(sequence);

	return d->session == want.session && d->offset == want.offset && d->at == want.at &&
	       d->block == want.block && doc_sequence(id) == sequence &&
	       doc_rank(id).place == place_of(sequence);
}

/* The documents of [1, end), but for those in [gone, gone_end), are there with their
 * words, and nothing else is. */
static void check_docs(struct t *t, int line, struct store *s, int64_t end, int64_t gone, int64_t gone_end)
{
	uint8_t words[4 * CHUNK] = { 0 };
	READER r = { .store = s };
	struct err err;

	OK(fulltext_each(s, mark_word, words, &err));
	for (int64_t i = -2; i < (int64_t)sizeof words; i++) {
		bool there = i > 0 && i < end && !(i >= gone && i < gone_end);
		struct doc d = { 0 };
		int64_t id = 0;
		enum status status = doc_get(&r, i, &d, &id, &err);

		if (status != (there ? STATUS_OK : STATUS_NOT_FOUND) ||
		    (there && !is_as_written(&d, id, i)) || (i >= 0 && words[i] != (there ? 2 : 0))) {
			t_fail(t, __FILE__, line, "document %" PRId64 " of %" PRId64 ": %s, %d words", i,
			       end - 1, status ? err.text : "found", i >= 0 ? words[i] : 0);
			return;
		}
	}
}

#define DOCS_ARE(end, gone, gone_end) check_docs(t, __LINE__, s, end, gone, gone_end)

/* ---- Numbers --------------------------------------------------------------------------- */

static void check_number(struct t *t, struct doc_writer *w, struct doc_reader *r, uint8_t place, size_t words,
			 double want)
{
	struct doc in = { .session = 3, .at = 5000 }, out;
	int64_t sequence, id;
	struct err err;

	OK(doc_writer_add(w, &in, place, words, (struct str){ 0 }, &sequence, &err));
	OK(doc_writer_finish(w, &err));
	doc_reader_release(r);
	r->store = w->store;
	OK(doc_get(r, sequence, &out, &id, &err));
	EQ(doc_sequence(id), sequence);
	EQ(doc_rank(id).place, place);
	EQ(doc_rank(id).words * 2, want * 2);
}

TEST(the_number_of_a_document_says_its_place_and_about_how_many_words_it_has)
{
	static const struct {
		size_t words;
		double about;
	} rows[] = {
		{ 0, 1.5 },	  { 1, 1.5 },	    { 2, 3 },		{ 3, 3 },
		{ 4, 6 },	  { 7, 6 },	    { 8, 12 },		{ 15, 12 },
		{ 1023, 768 },	  { 1024, 1536 },   { 16383, 12288 },	{ 16384, 24576 },
		{ 32767, 24576 }, { 32768, 49152 }, { 1000000, 49152 }, { SIZE_MAX, 49152 },
	};
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	READER r = { 0 };
	struct err err;
	STORE;
	TXN;

	OK(docs_open(t, NULL, &s, &err));
	OK(txn_begin(s, &txn, &err));
	OK(doc_writer_begin(&w, s, &err));
	for (uint8_t place = 0; place < 8; place++)
		for (size_t i = 0; i < COUNT(rows); i++)
			check_number(t, &w, &r, place, rows[i].words, rows[i].about);
}

TEST(what_a_slot_has_no_room_for_is_rounded_and_nothing_beside_it_suffers)
{
	static const struct {
		int64_t at, want;
	} rows[] = {
		{ 0, 0 },
		{ 999, 0 },
		{ 1999, 1999 },
		{ -1, 0 },
		{ INT64_MIN, 0 },
		{ INT64_C(1700000000123), INT64_C(1700000000123) },
		{ UINT32_MAX * INT64_C(1000) + 999, UINT32_MAX * INT64_C(1000) + 999 },
		{ UINT32_MAX * INT64_C(1000) + 1000, UINT32_MAX * INT64_C(1000) },
		{ INT64_MAX, UINT32_MAX * INT64_C(1000) },
	};
	READER r = { 0 };
	struct err err;
	STORE;
	TXN;

	OK(docs_open(t, NULL, &s, &err));
	OK(txn_begin(s, &txn, &err));
	r.store = s;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct doc in = {
			.session = UINT32_MAX, .offset = INT64_MAX, .at = rows[i].at, .block = DOC_LINE
		};
		struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
		struct doc out;
		int64_t sequence, id;

		OK(doc_writer_begin(&w, s, &err));
		OK(docs_add(&w, in, 7, STR("x"), &sequence, &err));
		OK(doc_writer_finish(&w, &err));
		doc_reader_release(&r);
		r.store = s;
		OK(doc_get(&r, sequence, &out, &id, &err));
		EQ(out.at, rows[i].want);
		EQ(out.session, UINT32_MAX);
		EQ(out.offset, DOC_OFFSET_MOST);
		EQ(out.block, DOC_LINE);
	}
}

/* ---- Chunks ---------------------------------------------------------------------------- */

/* Sequences begin with 1: the first chunk has room for one less. */
TEST(documents_come_back_as_written_on_both_sides_of_a_border)
{
	static const int64_t counts[] = { 0,		1,	       CHUNK - 2,     CHUNK - 1, CHUNK,
					  CHUNK + 1, 2 * CHUNK - 2, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1 };
	struct err err;

	for (size_t i = 0; i < COUNT(counts); i++) {
		int64_t end = counts[i] + 1;
		STORE;

		OK(docs_open(t, NULL, &s, &err));
		OK(add_next(s, 1, end, &err));
		DOCS_ARE(end, 0, 0);
		/* The next writer goes on where this one stopped. */
		OK(add_next(s, end, end + 2, &err));
		DOCS_ARE(end + 2, 0, 0);
	}
}

TEST(documents_written_a_few_at_a_time_are_those_written_at_once)
{
	static const int64_t ends[] = { 2,	 CHUNK - 1,	 CHUNK,		CHUNK,	   CHUNK + 1,
					CHUNK + 2, 2 * CHUNK - 1, 2 * CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 1 };
	int64_t at = 1;
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	for (size_t i = 0; i < COUNT(ends); i++) {
		OK(add_next(s, at, ends[i], &err));
		at = ends[i];
		DOCS_ARE(at, 0, 0);
	}
}

static int64_t segments(struct store *s)
{
	sqlite3_stmt *st = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(s->db, "SELECT count(DISTINCT segid) FROM search_idx", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

TEST(segments_are_merged_when_there_are_many)
{
	enum { MANY = 8 };
	bool more = true;
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	for (int64_t i = 1; i < MANY; i++)
		OK(add_next(s, i, i + 1, &err));
	OK(fulltext_merge(s, &more, &err));
	CHECK(!more);
	EQ(segments(s), MANY - 1);
	OK(add_next(s, MANY, MANY + 1, &err));
	EQ(segments(s), MANY);
	OK(fulltext_merge(s, &more, &err));
	CHECK(more);
	EQ(segments(s), 1);
	OK(fulltext_merge(s, &more, &err));
	CHECK(!more);
	DOCS_ARE(MANY + 1, 0, 0);
}

TEST(documents_that_were_not_committed_never_were)
{
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_next(s, 1, 100, &err));
	{
		struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
		int64_t sequence;
		TXN;

		OK(txn_begin(s, &txn, &err));
		OK(doc_writer_begin(&w, s, &err));
		for (int i = 0; i < 100; i++)
			OK(docs_add(&w, doc_of(1), 0, STR("never"), &sequence, &err));
		EQ(sequence, 199);
		OK(doc_writer_finish(&w, &err));
	}
	DOCS_ARE(100, 0, 0);
	OK(add_next(s, 100, 130, &err));
	DOCS_ARE(130, 0, 0);
}

TEST(a_reader_and_a_far_sequence_get_along)
{
	static const int64_t far[] = { 4096, 1 << 30, INT64_C(1) << 40, INT64_MAX, INT64_MIN };
	READER r = { 0 };
	struct doc d;
	int64_t id;
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_next(s, 1, 10, &err));
	r.store = s;
	for (size_t i = 0; i < COUNT(far); i++)
		EQ(doc_get(&r, far[i], &d, &id, &err), STATUS_NOT_FOUND);
	OK(doc_get(&r, 9, &d, &id, &err));
	EQ(doc_get(&r, 10, &d, &id, &err), STATUS_NOT_FOUND);
}

/* ---- Removing -------------------------------------------------------------------------- */

TEST(removed_documents_are_gone_with_their_words_and_their_neighbours_stay)
{
	static const struct {
		int64_t first, count;
	} rows[] = {
		{ 1, 0 },	  { 1, 1 },	    { 1, CHUNK - 2 }, { 1, CHUNK - 1 },	  { 1, CHUNK },
		{ CHUNK - 1, 1 }, { CHUNK - 1, 2 }, { CHUNK, 1 },     { CHUNK + 1, 1 },	  { CHUNK - 4, 10 },
		{ CHUNK, CHUNK }, { 100, 200 },	    { 2 * CHUNK - 1, 2 }, { 300, 1 },	  { 1, 300 },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t end = rows[i].first + rows[i].count;
		STORE;

		OK(docs_open(t, NULL, &s, &err));
		OK(add_next(s, 1, 301, &err));
		OK(remove_docs(s, rows[i].first, rows[i].count, &err));
		DOCS_ARE(301, rows[i].first, end);
		/* Once more is no harm, and their numbers are not used again. */
		OK(remove_docs(s, rows[i].first, rows[i].count, &err));
		OK(add_next(s, 301, 303, &err));
		DOCS_ARE(303, rows[i].first, end);
	}
}

TEST(documents_that_never_were_cannot_be_removed)
{
	static const struct {
		int64_t first, count;
	} rows[] = {
		{ 100, CHUNK - 100 },
		{ CHUNK, 1 },
		{ CHUNK - 1, 1 },
		{ 5000, 1 },
		{ 1, 5000 },
		{ 1, INT64_MAX },
		{ INT64_MAX, 1 },
		{ INT64_MAX, INT64_MAX },
		{ INT64_MIN, 5 },
		{ -1, 2 },
		{ 1, -1 },
		{ INT64_C(1) << 40, 1 },
		{ 1, INT64_MAX - 1 },
		{ INT64_MAX - CHUNK, 1 },
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_next(s, 1, CHUNK - 1, &err));
	for (size_t i = 0; i < COUNT(rows); i++) {
		EQ(remove_docs(s, rows[i].first, rows[i].count, &err), STATUS_CORRUPT);
		CHECK(strstr(err.text, "'arbor rebuild'"));
	}
	DOCS_ARE(CHUNK - 1, 0, 0);
}

/* ---- Days ------------------------------------------------------------------------------ */

/* Those of sequences [first, end), on days from `day` on, in turn `spread` of them. */
static enum status add_dated(struct store *s, int64_t first, int64_t end, int64_t day, int64_t spread,
			     struct err *err)
{
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	TXN;

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (int64_t i = first, sequence; i < end; i++)
		if (docs_add(&w, (struct doc){ .at = day ? (day + (i - first) % spread) * DAY_MS + 1000 : 0 },
			     0, STR("x"), &sequence, err))
			return err_failed(err->status);
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

static int64_t day_of(struct t *t, struct store *s, int64_t sequence)
{
	READER r = { .store = s };
	struct err err;

	if (doc_days(&r, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return -1;
	}
	return (size_t)sequence / CHUNK < r.day_count ? r.days[sequence / CHUNK] : 0;
}

TEST(a_day_is_that_of_the_neighbours_who_have_one)
{
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	EQ(day_of(t, s, 1), 0);
	OK(add_dated(s, 1, CHUNK - 24, 0, 1, &err));
	EQ(day_of(t, s, 1), 0);
	OK(add_dated(s, CHUNK - 24, CHUNK, DAY, 3, &err)); /* 8 on each of three days */
	EQ(day_of(t, s, 1), DAY + 1);
	EQ(day_of(t, s, CHUNK - 1), DAY + 1);
	EQ(day_of(t, s, CHUNK), 0);
	OK(add_dated(s, CHUNK, CHUNK + 1, DAY + 50, 1, &err));
	EQ(day_of(t, s, CHUNK - 1), DAY + 1);
	EQ(day_of(t, s, CHUNK), DAY + 50);
	OK(add_dated(s, CHUNK + 1, 2 * CHUNK + 1, DAY + 50, 1, &err)); /* fills the second, begins the third */
	EQ(day_of(t, s, 2 * CHUNK - 1), DAY + 50);
	EQ(day_of(t, s, 2 * CHUNK), DAY + 50);
	EQ(day_of(t, s, 3 * CHUNK), 0);
	EQ(day_of(t, s, INT64_MAX), 0);
	EQ(day_of(t, s, INT64_MIN), 0);
	EQ(day_of(t, s, -1), 0);
}

TEST(removed_documents_have_no_day)
{
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_dated(s, 1, 64, DAY, 1, &err));
	OK(add_dated(s, 64, CHUNK - 1, DAY + 10, 1, &err));
	OK(add_dated(s, CHUNK - 1, 200, DAY + 100, 1, &err));
	OK(remove_docs(s, CHUNK - 1, 1, &err));
	EQ(day_of(t, s, 1), DAY + 5);
	OK(remove_docs(s, 1, 63, &err));
	EQ(day_of(t, s, 1), DAY + 10);
	EQ(day_of(t, s, CHUNK), DAY + 100);
	OK(remove_docs(s, 64, 200 - 64, &err));
	EQ(day_of(t, s, 1), 0);
	EQ(day_of(t, s, CHUNK), 0);
}

/* ---- Damage ---------------------------------------------------------------------------- */

static bool is_damage(enum status status, const struct err *err)
{
	return status == STATUS_CORRUPT && strstr(err->text, "'arbor rebuild'");
}

static void check_damage(struct t *t, struct store *s, const char *damage)
{
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	READER r = { .store = s };
	struct doc d;
	int64_t id;
	struct err err;
	TXN;

	OK(txn_begin(s, &txn, &err));
	OK(db_exec(s, damage, &err));
	if (!is_damage(doc_get(&r, 150, &d, &id, &err), &err) ||
	    !is_damage(doc_remove(s, CHUNK - 4, 10, &err), &err) ||
	    !is_damage(doc_writer_begin(&w, s, &err), &err))
		t_fail(t, __FILE__, __LINE__, "after %s: %s", damage, err.text);
	OK(doc_get(&r, 100, &d, &id, &err)); /* the other chunk */
}

TEST(a_damaged_chunk_says_so_and_harms_no_other)
{
	static const char *const damages[] = {
		"UPDATE doc_chunk SET used = used - 1 WHERE id = 1",
		"UPDATE doc_chunk SET used = used + 1 WHERE id = 1",
		"UPDATE doc_chunk SET used = -1 WHERE id = 1",
		"UPDATE doc_chunk SET used = 129, slots = zeroblob(129 * 20) WHERE id = 1",
		"UPDATE doc_chunk SET used = 9223372036854775807 WHERE id = 1",
		"UPDATE doc_chunk SET used = -9223372036854775807 - 1 WHERE id = 1",
		"UPDATE doc_chunk SET used = 4611686018427387904, slots = x'' WHERE id = 1",
		"UPDATE doc_chunk SET slots = x'' WHERE id = 1",
		"UPDATE doc_chunk SET slots = substr(slots, 2) WHERE id = 1",
		"UPDATE doc_chunk SET slots = substr(slots, 21) WHERE id = 1",
		"UPDATE doc_chunk SET slots = CAST(slots || x'00' AS BLOB) WHERE id = 1",
		/* A number that would reach into the sequence. */
		("UPDATE doc_chunk SET slots = CAST(substr(slots, 1, 10) || x'8000' || substr(slots, 13) AS "
		 "BLOB)"
		 " WHERE id = 1"),
		("UPDATE doc_chunk SET slots = CAST(substr(slots, 1, 10) || x'80' || substr(slots, 12) AS "
		 "BLOB)"
		 " WHERE id = 1"),
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_next(s, 1, 201, &err));
	for (size_t i = 0; i < COUNT(damages); i++)
		check_damage(t, s, damages[i]);
	DOCS_ARE(201, 0, 0);
}

TEST(days_of_chunks_that_cannot_be_are_damage)
{
	static const char *const damages[] = {
		"DELETE FROM doc_day WHERE id = 0",
		"UPDATE doc_day SET id = 2 WHERE id = 1",
		"UPDATE doc_day SET id = -1 WHERE id = 0",
		"UPDATE doc_day SET id = 2147483647 WHERE id = 1",
		"UPDATE doc_day SET id = 9223372036854775807 WHERE id = 1",
		"UPDATE doc_day SET id = -9223372036854775807 WHERE id = 0",
		"UPDATE doc_day SET days = substr(days, 3) WHERE id = 0",
		"UPDATE doc_day SET days = CAST(days || days AS BLOB) WHERE id = 0",
		"UPDATE doc_day SET days = x''",
		"UPDATE doc_day SET days = substr(days, 2) WHERE id = 1",
	};
	enum { DAYS = 256 }; /* in a row */
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_dated(s, 1, (DAYS + 1) * CHUNK + 1, DAY, 1, &err));
	for (size_t i = 0; i < COUNT(damages); i++) {
		READER r = { .store = s };
		TXN;

		OK(txn_begin(s, &txn, &err));
		OK(db_exec(s, damages[i], &err));
		if (!is_damage(doc_days(&r, &err), &err))
			t_fail(t, __FILE__, __LINE__, "after %s: %s", damages[i], err.text);
	}
	{
		READER r = { .store = s };

		OK(doc_days(&r, &err));
		OK(doc_days(&r, &err)); /* twice is no more than once */
		EQ(r.day_count, DAYS + 2);
	}
}

TESTS(CASE(the_number_of_a_document_says_its_place_and_about_how_many_words_it_has),
      CASE(what_a_slot_has_no_room_for_is_rounded_and_nothing_beside_it_suffers),
      CASE(documents_come_back_as_written_on_both_sides_of_a_border),
      CASE(documents_written_a_few_at_a_time_are_those_written_at_once),
      CASE(segments_are_merged_when_there_are_many),
      CASE(documents_that_were_not_committed_never_were), CASE(a_reader_and_a_far_sequence_get_along),
      CASE(removed_documents_are_gone_with_their_words_and_their_neighbours_stay),
      CASE(documents_that_never_were_cannot_be_removed), CASE(a_day_is_that_of_the_neighbours_who_have_one),
      CASE(removed_documents_have_no_day), CASE(a_damaged_chunk_says_so_and_harms_no_other),
      CASE(days_of_chunks_that_cannot_be_are_damage))
