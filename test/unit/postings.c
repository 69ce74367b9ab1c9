/*
 * What is read from FTS5's pages, against the texts themselves: in many segments, with documents taken out, merged, and
 * with words and positions that go over many pages. And pages that are damaged.
 */
#include "docs.h"
#include "query/matches.h"
#include "store/db.h"

#include <string.h>

#define STORE	struct store *s CLEANUP(store_closep) = NULL
#define MATCHES struct matches CLEANUP(matches_release)
#define READ	struct read_txn CLEANUP(read_end)
#define TXN	struct txn CLEANUP(txn_end)

/* ---- Texts ------------------------------------------------------------------------ */

/* The first is in nearly every document. Several begin alike. */
static const char *const vocabulary[] = { "the",   "local", "lo",  "loader", "load",	 "locally", "a",
					  "base",  "zeta",  "lob", "branch", "checkout", "loc",	    "onlyonce",
					  "lobes", "bases", "t" };
enum { DOCS = 2500, TRANSACTIONS = 7, LONG = 9000, GONE = 300, GONE_END = 700 };

static uint64_t random_at(uint64_t at)
{
	uint64_t z = (at + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t length_of(int64_t doc)
{
	return doc % 400 == 399 ? LONG : random_at((uint64_t)doc) % 40;
}

/* By its number in the vocabulary: the higher, the rarer. */
static size_t word_of(int64_t doc, size_t position)
{
	uint64_t random = random_at((uint64_t)doc << 20 | position);

	return (size_t)__builtin_ctzll(random | UINT64_C(1) << 60) / 2 % COUNT(vocabulary);
}

static enum status add_docs(struct store *s, int64_t first, int64_t end, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	TXN txn = { 0 };

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (int64_t i = first; i < end; i++) {
		int64_t sequence;

		buf_clear(&text);
		for (size_t k = 0; k < length_of(i); k++)
			buf_printf(&text, "%s ", vocabulary[word_of(i, k)]);
		if (docs_add(&w, (struct doc){ .session = 1 }, (uint8_t)(i % 6), buf_as_str(&text), &sequence, err))
			return err_failed(err->status);
		if (sequence != i)
			return err_fail(err, STATUS_INTERNAL, "%" PRId64 " instead of %" PRId64, sequence, i);
	}
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

static enum status add_all(struct store *s, struct err *err)
{
	for (int i = 0; i < TRANSACTIONS; i++)
		if (add_docs(s, 1 + DOCS * i / TRANSACTIONS, 1 + DOCS * (i + 1) / TRANSACTIONS, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status remove_some(struct store *s, struct err *err)
{
	TXN txn = { 0 };

	if (txn_begin(s, &txn, err) || doc_remove(s, GONE, GONE_END - GONE, err) || doc_remove(s, DOCS, 1, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static bool is_gone(int64_t doc, bool removed)
{
	return removed && ((doc >= GONE && doc < GONE_END) || doc == DOCS);
}

/* ---- What should be found ---------------------------------------------------------- */

static const char *const queries[] = {
	"(\"the\")",
	"(\"onlyonce\")",
	"(\"missing\")",
	"(\"aaaa\")",
	"(\"zzzz\")",
	"(\"lo\" *)",
	"(\"loc\" *)",
	"(\"t\" *)",
	"(\"onlyo\" *)",
	"(\"missing\" *)",
	"(\"zz\" *)",
	"(\"the\" + \"local\")",
	"(\"the\" + \"the\" + \"the\")",
	"(\"base\" + \"branch\")",
	"(\"load\" + \"the\" + \"lo\" *)",
	"(\"branch\" + \"the\" + \"local\" + \"the\")",
	"(\"onlyonce\" + \"missing\")",
	"(\"base\") OR (\"branch\")",
	"(\"onlyonce\") OR (\"the\") OR (\"missing\")",
	"(\"checkout\") AND (\"the\")",
	"(\"the\") AND (\"checkout\") AND (\"lo\" *)",
	"(\"the\") AND (\"missing\")",
	"(\"base\" + \"the\" OR \"branch\") AND (\"zeta\")",
	"((\"zeta\") OR (\"checkout\" + \"lo\" *)) AND (\"a\")",
};

static bool is_word(const struct posting_word *w, int64_t doc, size_t position)
{
	struct str word = str_of(vocabulary[word_of(doc, position)]);

	return w->prefix ? str_has_prefix(word, w->word) : str_eq(word, w->word);
}

static unsigned count_in_text(const struct match_phrase *p, int64_t doc)
{
	size_t count = 0;

	for (size_t at = 0; at + p->count <= length_of(doc); at++) {
		size_t k = 0;

		while (k < p->count && is_word(&p->words[k], doc, at + k))
			k++;
		count += k == p->count;
	}
	return (unsigned)size_min(count, POSTING_MOST);
}

/* Whether a document is meant; how often it has each phrase. */
static bool is_meant(const struct matches *m, int64_t doc, unsigned *times)
{
	uint64_t groups = 0;

	for (size_t i = 0; i < m->phrase_count; i++) {
		times[i] = count_in_text(&m->phrases[i], doc);
		groups |= (uint64_t)(times[i] > 0) << m->phrases[i].group;
	}
	return groups + 1 == (uint64_t)1 << m->group_count;
}

static void check_query(struct t *t, struct store *s, const char *query, bool removed)
{
	unsigned times[RANK_PHRASES];
	MATCHES m = { 0 };
	READ txn = { 0 };
	int64_t id = 0, total = 0, counted;
	struct err err;
	bool able, more;

	OK(read_begin(s, &txn, &err));
	OK(matches_find(&m, s, str_of(query), &able, &err));
	NEED(able);
	more = matches_next(&m, &id);
	for (int64_t doc = 1; doc <= DOCS; doc++) {
		if (is_gone(doc, removed) || !is_meant(&m, doc, times))
			continue;
		total++;
		if (!more || doc_sequence(id) != doc) {
			t_fail(t, __FILE__, __LINE__, "%s: %" PRId64 " instead of %" PRId64, query,
			       more ? doc_sequence(id) : -1, doc);
			return;
		}
		for (size_t i = 0; i < m.phrase_count; i++)
			if (matches_times(&m, i, id) != times[i])
				t_fail(t, __FILE__, __LINE__, "%s: phrase %zu is %u times in %" PRId64 ", not %u",
				       query, i, matches_times(&m, i, id), doc, times[i]);
		more = matches_next(&m, &id);
	}
	if (more)
		t_fail(t, __FILE__, __LINE__, "%s: %" PRId64 ", which has it not", query, doc_sequence(id));
	OK(rank_count(s, str_of(query), DOCS, &counted, &err));
	EQ(counted, total);
}

static void check_all(struct t *t, struct store *s, bool removed)
{
	for (size_t i = 0; i < COUNT(queries); i++)
		check_query(t, s, queries[i], removed);
}

TEST(lists_say_what_texts_have_however_the_index_is_divided)
{
	struct err err;
	bool more = true;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, &err));
	check_all(t, s, false);
	OK(remove_some(s, &err));
	check_all(t, s, true);
	OK(fulltext_merge_all(s, &err));
	check_all(t, s, true);
	while (more)
		OK(fulltext_merge(s, &more, &err));
	check_all(t, s, true);
}

static bool is_able(struct t *t, struct store *s, const char *query)
{
	MATCHES m = { 0 };
	struct err err;
	bool able = false;

	if (matches_find(&m, s, str_of(query), &able, &err))
		t_fail(t, __FILE__, __LINE__, "%s: %s", query, err.text);
	return able;
}

TEST(what_is_not_understood_is_left_to_fts5)
{
	static const char *const others[] = { "(\"a\") NOT (\"b\")",	    "(NEAR(\"a\" \"b\" , 5))", "",
					      "((\"a\") AND (\"b\")) OR (\"c\")", "(\"a\"",	       "(\"a)",
					      "\"a\" * + \"b\"",	    "(\"\")",		       "(\"a\") x" };
	STORE;
	READ txn = { 0 };
	struct err err;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_docs(s, 1, 3, &err));
	OK(read_begin(s, &txn, &err));
	CHECK(is_able(t, s, "(\"a\")"));
	for (size_t i = 0; i < COUNT(others); i++)
		if (is_able(t, s, others[i]))
			t_fail(t, __FILE__, __LINE__, "able to read %s", others[i]);
}

TEST(lists_are_read_in_read_transactions_alone)
{
	STORE;
	TXN txn = { 0 };
	struct err err;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_docs(s, 1, 3, &err));
	CHECK(!is_able(t, s, "(\"the\")"));
	OK(txn_begin(s, &txn, &err));
	CHECK(!is_able(t, s, "(\"the\")"));
}

/* ---- Damage --------------------------------------------------------------------------- */

static enum status set_block(struct store *s, int64_t id, struct str bytes, struct err *err)
{
	struct stmt st = { .store = s };
	enum status status;

	if (sqlite3_prepare_v2(s->db, "UPDATE search_data SET block = ?2 WHERE id = ?1", -1, &st.st, NULL))
		return err_fail(err, STATUS_INTERNAL, "%s", sqlite3_errmsg(s->db));
	stmt_int(&st, 1, id);
	stmt_blob(&st, 2, bytes.p, bytes.n);
	status = stmt_run(&st, err);
	sqlite3_finalize(st.st);
	return status;
}

/* The nth block there is, in memory of the caller. */
static int64_t get_block(struct store *s, uint64_t n, struct buf *out)
{
	sqlite3_stmt *st = NULL;
	int64_t id = 0;

	buf_clear(out);
	if (sqlite3_prepare_v2(s->db,
			       "SELECT id, block FROM search_data ORDER BY id LIMIT 1 "
			       "OFFSET ?1 % (SELECT count(*) FROM search_data)",
			       -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_bind_int64(st, 1, (int64_t)(n >> 1)) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW) {
		id = sqlite3_column_int64(st, 0);
		buf_add(out, sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1));
	}
	sqlite3_finalize(st);
	return id;
}

/* Some bytes are others, or the end is missing. */
static void damage(struct buf *b, uint64_t seed)
{
	static const uint8_t odd[] = { 0, 1, 0x7f, 0x80, 0xff };

	if (seed % 5 == 0)
		b->n = random_at(seed) % (b->n + 1);
	for (uint64_t i = 0; b->n && i < 1 + seed % 7; i++) {
		uint64_t random = random_at(seed << 8 | i);
		size_t at = random % (seed % 3 ? b->n : size_min(b->n, 8));

		b->p[at] = (char)odd[(random >> 32) % COUNT(odd)];
	}
}

TEST(damaged_pages_do_no_harm)
{
	struct buf whole CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf broken CLEANUP(buf_release) = BUF_INIT(MIB);
	size_t able = 0, tried = 0;
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, &err));
	OK(remove_some(s, &err));
	for (uint64_t seed = 0; seed < 300; seed++) {
		int64_t id = get_block(s, random_at(seed), &whole);

		buf_clear(&broken);
		buf_str(&broken, buf_as_str(&whole));
		damage(&broken, seed);
		OK(set_block(s, id, buf_as_str(&broken), &err));
		for (size_t i = 0; i < COUNT(queries); i++, tried++) {
			READ txn = { 0 };
			MATCHES m = { 0 };
			bool is = false;

			OK(read_begin(s, &txn, &err));
			if (matches_find(&m, s, str_of(queries[i]), &is, &err))
				EQ(err.status, STATUS_CORRUPT);
			able += is;
			for (int64_t doc = 0, last = 0; is && matches_next(&m, &doc); last = doc)
				NEED(doc > last);
		}
		OK(set_block(s, id, buf_as_str(&whole), &err));
	}
	CHECK(able && able < tried);
	check_all(t, s, true);
}

TESTS(CASE(lists_say_what_texts_have_however_the_index_is_divided), CASE(what_is_not_understood_is_left_to_fts5),
      CASE(lists_are_read_in_read_transactions_alone), CASE(damaged_pages_do_no_harm))
