/*
 * Ranking against the formula in rank.c's first comment, computed here from plain
 * word counts, and against a full sort of what comes through with the day of its
 * neighbours, by its own day.
 */
#include "docs.h"
#include "query/expr.h"
#include "store/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STORE	struct store *s CLEANUP(store_closep) = NULL
#define RANKING struct ranking CLEANUP(ranking_release)

static const double weights[] = { 2.0, 1.5, 0.9, 1.0, 0.6, 1.2 };
enum { PLACE_COUNT = 6 };

/* In a read transaction, from lists, and outside of one, by FTS5: there is no difference. */
static enum status run_both(struct store *s, const struct rank_query *q, struct ranking *out, struct err *err)
{
	RANKING listed = { 0 };
	struct read_txn txn CLEANUP(read_end) = { 0 };
	bool same;

	if (rank_run(s, q, out, err) || read_begin(s, &txn, err) || rank_run(s, q, &listed, err))
		return err_failed(err->status);
	same = listed.total == out->total && listed.count == out->count;
	for (size_t i = 0; same && i < out->count; i++)
		same = listed.list[i].id == out->list[i].id &&
		       listed.list[i].score == out->list[i].score;
	return same ? STATUS_OK : err_fail(err, STATUS_INTERNAL, "lists and FTS5 differ for %.*s", STR_ARG(q->match));
}

static enum status run(struct store *s, const char *query, struct rank_query q, struct ranking *out,
		       struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct expr e CLEANUP(expr_release) = { 0 };

	if (query && expr_read(&e, str_of(query), false, &mem, err))
		return err_failed(err->status);
	q.match = buf_as_str(&e.match);
	q.items = e.items;
	q.phrase_count = e.phrase_count;
	q.weights = weights;
	q.place_count = PLACE_COUNT;
	return run_both(s, &q, out, err);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ---- A made-up store --------------------------------------------------------------- */

enum { DOCS = 3000, VOCABULARY = 6, NOW_S = 1700000000, DAY_S = 86400, CHUNK = 128 };
static const char *const vocabulary[VOCABULARY] = { "alpha", "beta", "gamma", "delta", "epsilon", "zeta" };

struct made {
	struct doc doc;
	uint8_t place;
	int tf[VOCABULARY], length;
};

/* Document i of the list has the sequence i + 1. */
struct made_store {
	struct made list[DOCS];
	double average, with[VOCABULARY]; /* words of a document; documents with a word */
	double days[DOCS / CHUNK + 1];
};

static void make_doc(struct made *m, uint64_t *state)
{
	*m = (struct made){ .place = (uint8_t)(next_random(state) % PLACE_COUNT) };
	m->doc.session = 1 + (int64_t)(next_random(state) % 7);
	if (next_random(state) % 20)
		m->doc.at = (NOW_S - (int64_t)(next_random(state) % (90 * DAY_S))) * 1000;
	m->length = 1 + (int)(next_random(state) % 30);
	for (int k = 0; k < m->length; k++)
		m->tf[__builtin_ctzll(next_random(state) | 1u << (VOCABULARY - 1))]++;
}

/* Those that have a time, rounded down. */
static void measure_days(struct made_store *y)
{
	int64_t sum[COUNT(y->days)] = { 0 }, dated[COUNT(y->days)] = { 0 };

	for (int i = 0; i < DOCS; i++) {
		sum[(i + 1) / CHUNK] += y->list[i].doc.at / 1000 / DAY_S;
		dated[(i + 1) / CHUNK] += y->list[i].doc.at > 0;
	}
	for (size_t i = 0; i < COUNT(y->days); i++)
		y->days[i] = (double)(dated[i] ? sum[i] / dated[i] : 0);
}

/* Documents with a word. */
static int count_with(const struct made_store *y, int word)
{
	int count = 0;

	for (int i = 0; i < DOCS; i++)
		count += y->list[i].tf[word] > 0;
	return count;
}

/* Words get rarer from alpha to zeta; every tenth document is like the one before.
 * With `same_days` the documents of a chunk are all of one midnight. */
static void make_docs(struct made_store *y, uint64_t seed, bool same_days)
{
	*y = (struct made_store){ 0 };
	for (int i = 0; i < DOCS; i++) {
		struct made *m = &y->list[i];

		if (i % 10 == 9)
			*m = y->list[i - 1];
		else
			make_doc(m, &seed);
		if (same_days)
			m->doc.at = (NOW_S / DAY_S - 10 * ((i + 1) / CHUNK)) * (DAY_S * INT64_C(1000));
		y->average += (double)m->length / DOCS;
	}
	measure_days(y);
	for (int k = 0; k < VOCABULARY; k++)
		y->with[k] = count_with(y, k);
}

static enum status add_made(struct doc_writer *w, const struct made *m, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	int64_t sequence;

	for (int k = 0; k < VOCABULARY; k++)
		for (int n = 0; n < m->tf[k]; n++)
			buf_printf(&text, "%s ", vocabulary[k]);
	return docs_add(w, m->doc, m->place, buf_as_str(&text), &sequence, err);
}

static enum status add_all(struct store *s, const struct made_store *y, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (int i = 0; i < DOCS; i++)
		if (add_made(&w, &y->list[i], err))
			return err_failed(err->status);
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

/* ---- What ranking should make of it ---------------------------------------------------- */

/* A query: its text, and the same as numbers of words. */
struct asked {
	const char *text;
	int count, words[3];
};

/* All but the day. The number of words is known by its binary logarithm only, and
 * stands for the middle. */
static double relevance(const struct made_store *y, const struct made *m, const struct asked *q)
{
	double words = 1.5 * exp2(floor(log2(m->length))), sum = 0;
	double length = 1.2 * (1 - 0.5 + 0.5 * words / y->average);

	for (int k = 0; k < q->count; k++) {
		double tf = fmin(m->tf[q->words[k]], 16), with = y->with[q->words[k]], idf = 1;

		if (q->count > 1)
			idf = fmax(0.01, log(1 + (DOCS - with + 0.5) / (with + 0.5)));
		sum += idf * tf * 2.2 / (tf + length);
	}
	return sum * weights[m->place];
}

static double freshness(double day)
{
	return 1 + 0.4 * exp2(-fmax(0, (double)NOW_S / DAY_S - day) / 21.0);
}

struct expected {
	int64_t sequence, at;
	double relevance, score;
};

static int compare_expected(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->score < y->score || x->score > y->score)
		return x->score < y->score ? 1 : -1;
	if (x->at != y->at)
		return x->at < y->at ? 1 : -1;
	return x->sequence < y->sequence ? 1 : -1;
}

/* Every match, by the day of its chunk and, among equals, the later one first. */
static size_t expect_matches(const struct made_store *y, const struct asked *q, struct expected *out)
{
	size_t count = 0;

	for (int i = 0; i < DOCS; i++) {
		bool all = true;

		for (int k = 0; k < q->count; k++)
			all &= y->list[i].tf[q->words[k]] > 0;
		if (all) {
			double here = relevance(y, &y->list[i], q);

			out[count++] = (struct expected){ .sequence = i + 1,
							  .relevance = here,
							  .score = here *
								   freshness(y->days[(i + 1) / CHUNK]) };
		}
	}
	qsort(out, count, sizeof *out, compare_expected);
	return count;
}

/* Sixteen after sixteen of them, each by its own day. */
static size_t expect_best(const struct made_store *y, struct expected *list, size_t count, size_t limit)
{
	for (size_t i = 0; i < count; i++) {
		list[i].at = y->list[list[i].sequence - 1].doc.at;
		list[i].score = list[i].relevance * freshness((double)list[i].at / 1000 / DAY_S);
	}
	for (size_t i = 0; i < count; i += 16)
		qsort(&list[i], size_min(16, count - i), sizeof *list, compare_expected);
	return limit ? size_min(count, limit) : count;
}

static void check_ranking(struct t *t, struct store *s, const struct made_store *y, const struct asked *q,
			  size_t limit)
{
	static struct expected want[DOCS];
	size_t total = expect_matches(y, q, want), count = expect_best(y, want, total, limit);
	RANKING r = { 0 };
	struct err err;

	OK(run(s, q->text, (struct rank_query){ .now = NOW_S * INT64_C(1000), .limit = limit }, &r, &err));
	EQ(r.total, total);
	NEED(EQ(r.count, count));
	for (size_t i = 0; i < count; i++) {
		const struct ranked *got = &r.list[i];

		if (doc_sequence(got->id) != want[i].sequence ||
		    !(fabs(got->score - want[i].score) < 1e-9 * want[i].score)) {
			t_fail(t, __FILE__, __LINE__,
			       "'%s', limit %zu, at %zu: %" PRId64 " with %.12f, wanted %" PRId64
			       " with %.12f",
			       q->text, limit, i, doc_sequence(got->id), got->score, want[i].sequence,
			       want[i].score);
			return;
		}
		CHECK(got->doc.at == want[i].at);
		CHECK(got->doc.session == y->list[want[i].sequence - 1].doc.session);
		CHECK(doc_rank(got->id).place == y->list[want[i].sequence - 1].place);
	}
}

static const struct asked queries[] = {
	{ "alpha", 1, { 0 } },	       { "delta", 1, { 3 } },	     { "zeta", 1, { 5 } },
	{ "alpha zeta", 2, { 0, 5 } }, { "beta beta", 2, { 1, 1 } }, { "delta beta gamma", 3, { 3, 1, 2 } },
};

/* The last ones overflow when half as many and four are added. */
static const size_t limits[] = {
	0, 1, 2, 3, 7, 10, 31, 32, 33, 64, 100, 999, 5000, SIZE_MAX / 2, SIZE_MAX / 3 * 2, SIZE_MAX
};

TEST(scores_and_order_are_those_of_the_formula_whatever_the_limit)
{
	static struct made_store y;
	struct err err;
	STORE;

	make_docs(&y, 8, false);
	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, &y, &err));
	for (size_t i = 0; i < COUNT(queries); i++)
		for (size_t k = 0; k < COUNT(limits); k++)
			check_ranking(t, s, &y, &queries[i], limits[k]);
}

/* Pages are its parts. */
static void check_beginnings(struct t *t, bool same_day)
{
	static struct made_store y;
	struct err err;
	STORE;

	make_docs(&y, 9, same_day);
	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, &y, &err));
	for (size_t i = 0; i < COUNT(queries); i++) {
		struct rank_query q = { .now = NOW_S * INT64_C(1000) };
		RANKING all = { 0 };

		OK(run(s, queries[i].text, q, &all, &err));
		EQ(all.count, all.total);
		for (size_t k = 0; k < COUNT(limits); k++) {
			RANKING some = { 0 };

			q.limit = limits[k];
			OK(run(s, queries[i].text, q, &some, &err));
			EQ(some.total, all.total);
			NEED(EQ(some.count, limits[k] ? size_min(limits[k], all.count) : all.count));
			for (size_t n = 0; n < some.count; n++)
				CHECK(some.list[n].id == all.list[n].id);
		}
	}
}

TEST(a_limit_gives_the_beginning_of_the_whole_order)
{
	check_beginnings(t, true);
	check_beginnings(t, false);
}

struct some {
	int64_t list[3];
	size_t count, asked;
};

static bool is_in(int64_t session, const struct some *some)
{
	bool found = false;

	for (size_t i = 0; i < some->count; i++)
		found |= some->list[i] == session;
	return found;
}

static enum status is_wanted(void *ctx, int64_t session, bool *wanted, struct err *err)
{
	struct some *some = ctx;

	(void)err;
	some->asked++;
	*wanted = is_in(session, some);
	return STATUS_OK;
}

TEST(places_and_sessions_filter_alone_and_together)
{
	static struct {
		unsigned places;
		bool filters;
		struct some sessions;
	} filters[] = {
		{ 1u << 0, false, { { 0 }, 0, 0 } },
		{ 1u << 5 | 1u << 2, false, { { 0 }, 0, 0 } },
		{ 1u << 31, false, { { 0 }, 0, 0 } },
		{ ~0u, false, { { 0 }, 0, 0 } },
		{ 0, true, { { 2, 3, 5 }, 3, 0 } },
		{ 0, true, { { 0 }, 0, 0 } },
		{ 0, true, { { -5, 4, 1000 }, 3, 0 } },
		{ 0, true, { { 2 }, 1, 0 } },
		{ 1u << 1 | 1u << 3, true, { { 2, 3, 5 }, 3, 0 } },
	};
	static struct made_store y;
	struct err err;
	STORE;

	make_docs(&y, 10, false);
	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, &y, &err));
	for (size_t i = 0; i < COUNT(filters); i++) {
		struct some *some = filters[i].filters ? &filters[i].sessions : NULL;
		struct rank_query q = { .places = filters[i].places,
					.session = some ? is_wanted : NULL,
					.wanted_ctx = some };
		RANKING r = { 0 };
		int64_t want = 0;

		for (int k = 0; k < DOCS; k++) {
			bool in = !some || is_in(y.list[k].doc.session, some);

			want += in && y.list[k].tf[1] && (!q.places || q.places >> y.list[k].place & 1);
		}
		OK(run(s, "beta", q, &r, &err));
		EQ(r.total, want);
		EQ(r.count, want);
		for (size_t n = 0; n < r.count; n++) {
			const struct made *m = &y.list[doc_sequence(r.list[n].id) - 1];

			CHECK(m->tf[1] && (!q.places || q.places >> m->place & 1));
			CHECK(!some || is_in(m->doc.session, some));
		}
		CHECK(!some || some->asked < 100); /* once for each session, not for each match */
	}
}

/* Of all that match, or with `which` below 0 of all there are. */
static int64_t count_between(const struct made_store *y, int which, int64_t after, int64_t before)
{
	int64_t count = 0;

	for (int k = 0; k < DOCS; k++) {
		int64_t at = y->list[k].doc.at / 1000 * 1000;

		count += (which < 0 || y->list[k].tf[which]) &&
			 ((!after && !before) || (at && at >= after && (!before || at < before)));
	}
	return count;
}

TEST(times_filter_and_sort_and_without_a_query_everything_is_listed)
{
	static const int64_t day = DAY_S * INT64_C(1000), now = NOW_S * INT64_C(1000);
	static const size_t few[] = { 0, 1, 7 };
	static struct made_store y;
	struct err err;
	STORE;

	make_docs(&y, 11, false);
	OK(docs_open(t, NULL, &s, &err));
	OK(add_all(s, &y, &err));
	for (int i = 0; i < 36; i++) {
		struct rank_query q = { .after = i & 1 ? now - 90 * day : 0,
					.before = i & 2 ? now - 3 * day : 0,
					.limit = few[i / 4 % 3],
					.order = i / 12 % 2 ? RANK_OLD : RANK_RECENT };
		bool all = i >= 24;
		RANKING r = { 0 };
		int64_t want = count_between(&y, all ? -1 : 1, q.after, q.before);

		OK(run(s, all ? NULL : "beta", q, &r, &err));
		EQ(r.total, want);
		EQ(r.count, q.limit ? size_min(q.limit, (size_t)want) : (size_t)want);
		for (size_t n = 1; n < r.count; n++) {
			int64_t before = r.list[n - 1].doc.at, at = r.list[n].doc.at;

			CHECK(!at || (q.order == RANK_OLD ? before <= at : before >= at));
		}
		for (int k = 0; q.limit && r.count && k < DOCS; k++) {
			int64_t at = y.list[k].doc.at / 1000 * 1000, last = r.list[r.count - 1].doc.at;
			bool first = at && (q.order == RANK_OLD ? at < r.list[0].doc.at : at > r.list[0].doc.at);

			if (last && first && (all || y.list[k].tf[1]))
				CHECK((q.after && at < q.after) || (q.before && at >= q.before));
		}
	}
}

/* ---- Few documents ------------------------------------------------------------------------ */

struct sample {
	const char *text;
	int64_t at;
	uint8_t place;
};

static enum status add_some(struct store *s, const struct sample *list, size_t count, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	int64_t sequence;

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (docs_add(&w, (struct doc){ .at = list[i].at }, list[i].place, str_of(list[i].text),
			     &sequence, err))
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
		buf_printf(&got, "%s%" PRId64, i ? " " : "", doc_sequence(r.list[i].id));
	if (!str_eq(buf_as_str(&got), str_of(want)))
		t_fail(t, __FILE__, __LINE__, "'%s' gives %.*s, wanted %s", query, STR_ARG(buf_as_str(&got)),
		       want);
}

TEST(equal_scores_are_ordered_by_time_and_then_by_number)
{
	/* All older than the weight of age can tell. */
	static const struct sample list[] = {
		{ .text = "x", .at = 5000 }, { .text = "x", .at = 9000 }, { .text = "x", .at = 0 },
		{ .text = "x", .at = 9000 }, { .text = "x", .at = 5000 },
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, list, COUNT(list), &err));
	check_order(t, s, "x", INT64_MAX / 2, "4 2 5 1 3");
	check_order(t, s, "x", 0, "4 2 5 1 3"); /* what is in the future is new */
	check_order(t, s, "x", -1, "4 2 5 1 3");
}

TEST(the_rare_word_the_short_text_the_new_and_the_better_place_win)
{
	static const int64_t day = 86400000, now = 20000 * 86400000LL;
	const struct sample list[] = {
		{ .text = "common common common rare", .at = now },
		{ .text = "common rare rare rare", .at = now },
		{ .text = "common", .at = now },
		{ .text = "common", .at = now },
		{ .text = "short", .at = now },
		{ .text = "short", .at = now, .place = 4 },
		{ .text = "aged", .at = now - 30 * day },
		{ .text = "aged", .at = now - 31 * day },
		{ .text = "long", .at = now },
		{ .text = "long and some more words that say nothing", .at = now },
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, list, COUNT(list), &err));
	check_order(t, s, "common rare", now, "2 1");
	check_order(t, s, "rare common", now, "2 1");
	check_order(t, s, "short", now, "5 6");
	check_order(t, s, "aged", now, "7 8");
	check_order(t, s, "long", now, "9 10");
}

TEST(a_word_is_counted_in_all_documents_also_where_the_first_ones_are_not_like_the_others)
{
	enum { MANY = 20500, COMMON = 2000 };
	static struct sample list[MANY];
	double common = log(1 + (MANY - COMMON + 0.5) / (COMMON + 0.5));
	double rare = log(1 + (MANY - 1 + 0.5) / (1 + 0.5)), average = 1 + 1.0 / MANY;
	RANKING r = { 0 };
	struct err err;
	STORE;

	for (int i = 0; i < MANY; i++)
		list[i] = (struct sample){ .text = i == 7 ? "x y" : i < COMMON ? "x" : "z" };
	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, list, MANY, &err));
	OK(run(s, "x y", (struct rank_query){ .now = 20000 * 86400000LL }, &r, &err));
	EQ(r.total, 1);
	NEED(EQ(r.count, 1));
	EQ(doc_sequence(r.list[0].id), 8);
	CHECK(fabs(r.list[0].score -
		   (common + rare) * 2.2 / (1 + 1.2 * (0.5 + 0.5 * 3 / average)) * weights[0]) < 1e-9);
}

/* "fooBar" is looked for as two words and as one; both are the same item, and what counts is how often
 * it is there. */
TEST(spellings_of_one_item_count_once)
{
	static const int64_t now = 20000 * 86400000LL;
	const struct sample list[] = {
		{ .text = "foobar one two three", .at = now },	     /* the whole, once */
		{ .text = "foo bar and foo bar there", .at = now },  /* the words, twice */
		{ .text = "foobar x foobar y foobar z", .at = now }, /* the whole, three times */
		{ .text = "foobar foo bar two three", .at = now },   /* each once: as much as one */
		{ .text = "rare foobar two three", .at = now },
		{ .text = "rare other two three", .at = now },
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, list, COUNT(list), &err));
	check_order(t, s, "fooBar", now, "3 2 5 4 1");
	check_order(t, s, "fooBar rare", now, "5");
}

/* ---- Odd stores --------------------------------------------------------------------------- */

TEST(removed_documents_are_gone)
{
	static const struct sample list[] = {
		{ .text = "x" }, { .text = "x y" }, { .text = "x y" }, { .text = "y" }
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	check_order(t, s, "x", 0, "");
	OK(add_some(s, list, COUNT(list), &err));
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

TEST(a_place_nobody_has_a_weight_for_is_passed_over)
{
	static const struct sample list[] = {
		{ .text = "x", .place = PLACE_COUNT - 1 },
		{ .text = "x", .place = PLACE_COUNT },
		{ .text = "x", .place = 7 },
	};
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, list, COUNT(list), &err));
	check_order(t, s, "x", 0, "1");
	for (unsigned bit = 0; bit < 32; bit++) {
		RANKING r = { 0 };

		OK(run(s, "x", (struct rank_query){ .places = 1u << bit }, &r, &err));
		EQ(r.total, bit == PLACE_COUNT - 1);
	}
}

TEST(a_cancelled_query_says_so_and_the_next_one_runs)
{
	static const struct sample list[] = { { .text = "x" }, { .text = "x" } };
	struct some absent = { { 1000 }, 1, 0 };
	static atomic_bool cancel;
	RANKING r = { 0 };
	RANKING none = { 0 };
	struct err err;
	STORE;

	OK(docs_open(t, &cancel, &s, &err));
	OK(add_some(s, list, COUNT(list), &err));
	atomic_store(&cancel, true);
	EQ(run(s, "x", (struct rank_query){ 0 }, &r, &err), STATUS_CANCELLED);
	/* Also one that wants none of the many it has to look at. */
	EQ(run(s, "x", (struct rank_query){ .session = is_wanted, .wanted_ctx = &absent }, &none, &err),
	   STATUS_CANCELLED);
	atomic_store(&cancel, false);
	check_order(t, s, "x", 0, "2 1");
}

TEST(what_another_connection_adds_is_found_by_the_next_query)
{
	static const struct sample list[] = { { .text = "x" }, { .text = "x y" } };
	struct store *other CLEANUP(store_closep) = NULL;
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, list, 1, &err));
	OK(store_open_again(s, &other, &err));
	check_order(t, other, "x", 0, "1");
	OK(add_some(s, list, 2, &err));
	check_order(t, other, "x", 0, "2 1 3");
	check_order(t, other, "y", 0, "3");
}

TEST(an_index_that_contradicts_its_documents_is_damaged_and_the_advice_is_to_rebuild)
{
	static const char *const damages[] = {
		"UPDATE doc_chunk SET slots = zeroblob(length(slots))", /* all removed, but not their words */
		"DELETE FROM doc_chunk",
		"UPDATE doc_chunk SET used = used - 1",
		"UPDATE doc_chunk SET used = used - 1, slots = substr(slots, 1, length(slots) - 21)",
		/* Another place in the first slot, and what no number can end with. */
		"UPDATE doc_chunk SET slots = CAST(substr(slots, 1, 31) || x'3000' || substr(slots, 34) AS "
		"BLOB)",
		"UPDATE doc_chunk SET slots = CAST(substr(slots, 1, 31) || x'ff' || substr(slots, 33) AS "
		"BLOB)",
		"UPDATE doc_day SET id = 5",
	};
	static const struct sample list[] = { { .text = "x" }, { .text = "x" } };
	struct some first = { { 1 }, 1, 0 };
	struct err err;
	STORE;

	OK(docs_open(t, NULL, &s, &err));
	OK(add_some(s, list, COUNT(list), &err));
	for (size_t i = 0; i < 2 * COUNT(damages); i++) {
		struct rank_query q = { .session = i % 2 ? is_wanted : NULL, .wanted_ctx = &first };
		struct txn txn CLEANUP(txn_end) = { 0 };
		RANKING r = { 0 };

		check_order(t, s, "x", 0, "2 1");
		OK(txn_begin(s, &txn, &err));
		OK(db_exec(s, damages[i / 2], &err));
		if (run(s, "x", q, &r, &err) != STATUS_CORRUPT || !strstr(err.text, "'arbor rebuild'"))
			t_fail(t, __FILE__, __LINE__, "after %s, sessions %zu: %zu found, %s", damages[i / 2],
			       i % 2, r.count, err.text);
		CHECK(r.count == 0 && !r.list);
	}
}

TESTS(CASE(scores_and_order_are_those_of_the_formula_whatever_the_limit),
      CASE(a_limit_gives_the_beginning_of_the_whole_order),
      CASE(places_and_sessions_filter_alone_and_together),
      CASE(times_filter_and_sort_and_without_a_query_everything_is_listed),
      CASE(equal_scores_are_ordered_by_time_and_then_by_number),
      CASE(the_rare_word_the_short_text_the_new_and_the_better_place_win),
      CASE(a_word_is_counted_in_all_documents_also_where_the_first_ones_are_not_like_the_others),
      CASE(spellings_of_one_item_count_once), CASE(removed_documents_are_gone),
      CASE(a_place_nobody_has_a_weight_for_is_passed_over),
      CASE(a_cancelled_query_says_so_and_the_next_one_runs),
      CASE(what_another_connection_adds_is_found_by_the_next_query),
      CASE(an_index_that_contradicts_its_documents_is_damaged_and_the_advice_is_to_rebuild))
