/*
 * Ranking against the formula in rank.c's first comment, computed here from plain
 * word counts, and against a full sort.
 */
#include "docs.h"
#include "query/expr.h"

#include <math.h>
#include <string.h>

#define STORE	struct store *s CLEANUP(store_closep) = NULL
#define RANKING struct ranking CLEANUP(ranking_release)

static const double weights[] = { 2.0, 1.5, 0.9, 1.0, 0.6, 1.2 };
enum { PLACE_COUNT = 6 };

static enum status run(struct store *s, const char *query, struct rank_query q, struct ranking *out,
		       struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct expr e CLEANUP(expr_release) = { 0 };

	if (expr_read(&e, str_of(query), &mem, err))
		return err_failed(err->status);
	q.match = buf_as_str(&e.match);
	q.weights = weights;
	q.place_count = PLACE_COUNT;
	return rank_run(s, &q, out, err);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ---- A made-up store --------------------------------------------------------------- */

enum { DOCS = 3000, VOCABULARY = 6, NOW_S = 1700000000 };
static const char *const vocabulary[VOCABULARY] = { "alpha", "beta", "gamma", "delta", "epsilon", "zeta" };

struct made {
	struct doc doc;
	int tf[VOCABULARY], length;
};

/* Words get rarer from alpha to zeta; every tenth document is like the one before. */
static void make_docs(struct made *list, uint64_t seed)
{
	for (int i = 0; i < DOCS; i++) {
		struct made *m = &list[i];

		*m = (struct made){ 0 };
		if (i % 10 == 9) {
			*m = list[i - 1];
			continue;
		}
		m->doc = (struct doc){ .session = 1 + (int64_t)(next_random(&seed) % 7),
				       .at = (NOW_S - (int64_t)(next_random(&seed) % (90 * 86400))) * 1000,
				       .place = (uint8_t)(next_random(&seed) % PLACE_COUNT) };
		m->length = 1 + (int)(next_random(&seed) % 30);
		for (int k = 0; k < m->length; k++)
			m->tf[__builtin_ctzll(next_random(&seed) | 1u << (VOCABULARY - 1))]++;
	}
}

static enum status add_made(struct doc_writer *w, const struct made *m, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	for (int k = 0; k < VOCABULARY; k++)
		for (int n = 0; n < m->tf[k]; n++)
			buf_printf(&text, "%s ", vocabulary[k]);
	return docs_add(w, m->doc, buf_as_str(&text), err);
}

static enum status add_all(struct store *s, const struct made *list, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (int i = 0; i < DOCS; i++)
		if (add_made(&w, &list[i], err))
			return err_failed(err->status);
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

/* ---- Against the formula -------------------------------------------------------------- */

/* Score of a document for words by their numbers; 0 when one is missing. */
static double score(const struct made *list, const struct made *m, const int *words, int count)
{
	double total = 0, average, age = ((double)NOW_S * 1000 - (double)m->doc.at) / (21.0 * 86400000), sum = 0;

	for (int i = 0; i < DOCS; i++)
		total += list[i].length;
	average = total / DOCS;
	for (int k = 0; k < count; k++) {
		double tf = m->tf[words[k]] < 16 ? m->tf[words[k]] : 16, with = 0, idf = 1;

		if (tf < 1)
			return 0;
		for (int i = 0; i < DOCS; i++)
			with += list[i].tf[words[k]] > 0;
		if (count > 1)
			idf = fmax(0.01, log(1 + (DOCS - with + 0.5) / (with + 0.5)));
		sum += idf * tf * 2.2 / (tf + 1.2 * (0.5 + 0.5 * m->length / average));
	}
	return sum * weights[m->doc.place] * (1 + 0.4 * exp2(-age));
}

static void check_scores(struct t *t, struct store *s, const struct made *list, const char *query,
			 const int *words, int count)
{
	RANKING r = { 0 };
	int64_t matching = 0;
	struct err err;

	OK(run(s, query, (struct rank_query){ .now = (int64_t)NOW_S * 1000 }, &r, &err));
	for (int i = 0; i < DOCS; i++) {
		bool all = true;

		for (int k = 0; k < count; k++)
			all &= list[i].tf[words[k]] > 0;
		matching += all;
	}
	EQ(r.total, matching);
	EQ(r.count, matching);
	for (size_t i = 0; i < r.count; i += 1 + r.count / 200) {
		double want = score(list, &list[r.list[i].id - 1], words, count);

		if (!(fabs(r.list[i].score - want) < 1e-9 * want))
			t_fail(t, __FILE__, __LINE__, "'%s', document %" PRId64 ": %.12f, wanted %.12f",
			       query, r.list[i].id, r.list[i].score, want);
	}
}

TEST(scores_are_those_of_the_formula)
{
	static struct made list[DOCS];
	struct err err;
	STORE;

	make_docs(list, 8);
	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, list, &err));
	check_scores(t, s, list, "alpha", (const int[]){ 0 }, 1);
	check_scores(t, s, list, "zeta", (const int[]){ 5 }, 1);
	check_scores(t, s, list, "alpha zeta", (const int[]){ 0, 5 }, 2);
	check_scores(t, s, list, "delta beta gamma", (const int[]){ 3, 1, 2 }, 3);
	check_scores(t, s, list, "beta beta", (const int[]){ 1, 1 }, 2);
}

/* ---- Order ------------------------------------------------------------------------------ */

static bool stands_before(const struct ranked *a, const struct ranked *b)
{
	if (a->score > b->score || a->score < b->score)
		return a->score > b->score;
	return a->doc.at != b->doc.at ? a->doc.at > b->doc.at : a->id > b->id;
}

static void check_limit(struct t *t, struct store *s, const char *query, const struct ranking *all,
			size_t limit)
{
	RANKING some = { 0 };
	struct err err;

	OK(run(s, query, (struct rank_query){ .now = (int64_t)NOW_S * 1000, .limit = limit }, &some, &err));
	EQ(some.total, all->total);
	NEED(some.count == size_min(limit, all->count));
	for (size_t i = 0; i < some.count; i++)
		CHECK(some.list[i].id == all->list[i].id);
}

TEST(a_limit_gives_the_beginning_of_the_whole_order)
{
	static const char *const queries[] = { "alpha", "delta", "alpha beta", "absent" };
	static const size_t limits[] = { 1, 2, 3, 7, 10, 31, 32, 33, 64, 100, 999, 5000, SIZE_MAX };
	static struct made list[DOCS];
	struct err err;
	STORE;

	make_docs(list, 9);
	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, list, &err));
	for (size_t i = 0; i < COUNT(queries); i++) {
		RANKING all = { 0 };

		OK(run(s, queries[i], (struct rank_query){ .now = (int64_t)NOW_S * 1000 }, &all, &err));
		EQ(all.count, all.total);
		for (size_t k = 1; k < all.count; k++)
			CHECK(stands_before(&all.list[k - 1], &all.list[k]));
		for (size_t k = 0; k < COUNT(limits); k++)
			check_limit(t, s, queries[i], &all, limits[k]);
	}
}

TEST(places_and_sessions_filter_alone_and_together)
{
	static const int64_t some[] = { 2, 3, 5 }, none[] = { 0 }, far[] = { -5, 4, 1000 };
	static const struct {
		unsigned places;
		const int64_t *sessions;
		size_t count;
	} filters[] = {
		{ 1u << 0, NULL, 0 },  { 1u << 5 | 1u << 2, NULL, 0 },
		{ 1u << 31, NULL, 0 }, { ~0u, NULL, 0 },
		{ 0, some, 3 },	       { 0, none, 0 },
		{ 0, none, 1 },	       { 0, far, 3 },
		{ 0, some, 1 },	       { 1u << 1 | 1u << 3, some, 3 },
	};
	static struct made list[DOCS];
	struct err err;
	STORE;

	make_docs(list, 10);
	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, list, &err));
	for (size_t i = 0; i < COUNT(filters); i++) {
		struct rank_query q = { .places = filters[i].places,
					.sessions = filters[i].sessions,
					.session_count = filters[i].count };
		RANKING r = { 0 };
		int64_t want = 0;

		for (int k = 0; k < DOCS; k++) {
			bool in = !filters[i].sessions;

			for (size_t n = 0; n < filters[i].count; n++)
				in |= filters[i].sessions[n] == list[k].doc.session;
			want += in && list[k].tf[1] && (!q.places || q.places >> list[k].doc.place & 1);
		}
		OK(run(s, "beta", q, &r, &err));
		EQ(r.total, want);
		EQ(r.count, want);
	}
}

static enum status add_some(struct store *s, const struct doc *docs, const char *const *texts, size_t count,
			    struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (docs_add(&w, docs[i], str_of(texts[i]), err))
			return err_failed(err->status);
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

static void check_order(struct t *t, struct store *s, const char *query, int64_t now, const char *want)
{
	RANKING r = { 0 };
	struct buf got CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;

	OK(run(s, query, (struct rank_query){ .now = now }, &r, &err));
	for (size_t i = 0; i < r.count; i++)
		buf_printf(&got, "%s%" PRId64, i ? " " : "", r.list[i].id);
	if (!str_eq(buf_as_str(&got), str_of(want)))
		t_fail(t, __FILE__, __LINE__, "'%s' gives %.*s, wanted %s", query, STR_ARG(buf_as_str(&got)),
		       want);
}

TEST(equal_scores_are_ordered_by_time_and_then_by_number)
{
	/* All older than the weight of age can tell. */
	static const struct doc docs[] = {
		{ .at = 5000 }, { .at = 9000 }, { .at = 0 }, { .at = 9000 }, { .at = 5000 }
	};
	static const char *const texts[] = { "x", "x", "x", "x", "x" };
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, docs, texts, COUNT(docs), &err));
	check_order(t, s, "x", INT64_MAX / 2, "4 2 5 1 3");
	check_order(t, s, "x", 0, "4 2 5 1 3"); /* what is in the future is new */
	check_order(t, s, "x", -1, "4 2 5 1 3");
}

TEST(the_rare_word_the_short_text_the_new_and_the_better_place_win)
{
	static const int64_t day = 86400000, now = 20000 * 86400000LL;
	const struct doc docs[] = { { .at = now },
				    { .at = now },
				    { .at = now },
				    { .at = now },
				    { .at = now },
				    { .at = now, .place = 4 },
				    { .at = now - 30 * day },
				    { .at = now - 31 * day },
				    { .at = now },
				    { .at = now } };
	static const char *const texts[] = {
		"common common common rare",
		"common rare rare rare",
		"common",
		"common",
		"short",
		"short",
		"aged",
		"aged",
		"long",
		"long and some more words that say nothing",
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, docs, texts, COUNT(docs), &err));
	check_order(t, s, "common rare", now, "2 1");
	check_order(t, s, "rare common", now, "2 1");
	check_order(t, s, "short", now, "5 6");
	check_order(t, s, "aged", now, "7 8");
	check_order(t, s, "long", now, "9 10");
}

/* ---- Odd stores --------------------------------------------------------------------------- */

TEST(removed_documents_are_gone)
{
	static const struct doc docs[4] = { { 0 } };
	static const char *const texts[] = { "x", "x y", "x y", "y" };
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	check_order(t, s, "x", 0, "");
	OK(add_some(s, docs, texts, COUNT(docs), &err));
	{
		struct txn txn CLEANUP(txn_end) = { 0 };

		OK(txn_begin(s, &txn, &err));
		OK(doc_remove(s, 2, 2, &err));
		OK(txn_commit(&txn, &err));
	}
	check_order(t, s, "x", 0, "1");
	check_order(t, s, "y", 0, "4");
	check_order(t, s, "x y", 0, "");
}

TEST(a_place_nobody_has_a_weight_for_is_not_looked_up)
{
	static const struct doc docs[] = { { .place = PLACE_COUNT - 1 },
					   { .place = PLACE_COUNT },
					   { .place = 31 },
					   { .place = 32 },
					   { .place = 200 },
					   { .place = 255 } };
	static const char *const texts[] = { "x", "x", "x", "x", "x", "x" };
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, docs, texts, COUNT(docs), &err));
	check_order(t, s, "x", 0, "1");
	for (unsigned bit = 0; bit < 32; bit++) {
		RANKING r = { 0 };

		OK(run(s, "x", (struct rank_query){ .places = 1u << bit }, &r, &err));
		EQ(r.total, bit == PLACE_COUNT - 1);
	}
}

TEST(a_cancelled_query_says_so_and_the_next_one_runs)
{
	static const struct doc docs[2] = { { 0 } };
	static const char *const texts[] = { "x", "x" };
	static atomic_bool cancel;
	RANKING r = { 0 };
	struct err err;
	STORE;

	OK(docs_open(t, &cancel, &s, &err));
	OK(add_some(s, docs, texts, COUNT(docs), &err));
	atomic_store(&cancel, true);
	EQ(run(s, "x", (struct rank_query){ 0 }, &r, &err), STATUS_CANCELLED);
	atomic_store(&cancel, false);
	check_order(t, s, "x", 0, "2 1");
}

TEST(what_another_connection_adds_is_found_by_the_next_query)
{
	static const struct doc docs[2] = { { 0 } };
	static const char *const texts[] = { "x", "x y" };
	struct store *other CLEANUP(store_closep) = NULL;
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, docs, texts, 1, &err));
	OK(store_open_again(s, &other, &err));
	check_order(t, other, "x", 0, "1");
	OK(add_some(s, docs, texts, 2, &err));
	check_order(t, other, "x", 0, "2 1 3");
	check_order(t, other, "y", 0, "3");
}

TESTS(CASE(scores_are_those_of_the_formula), CASE(a_limit_gives_the_beginning_of_the_whole_order),
      CASE(places_and_sessions_filter_alone_and_together),
      CASE(equal_scores_are_ordered_by_time_and_then_by_number),
      CASE(the_rare_word_the_short_text_the_new_and_the_better_place_win), CASE(removed_documents_are_gone),
      CASE(a_place_nobody_has_a_weight_for_is_not_looked_up),
      CASE(a_cancelled_query_says_so_and_the_next_one_runs),
      CASE(what_another_connection_adds_is_found_by_the_next_query))
