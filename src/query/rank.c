/*
 * Ranking: BM25 over FTS5's matches, with our own document lengths.
 *
 * FTS5's own bm25() looks every match up in a table of document sizes, which makes
 * common words slower than reading the files. Here a document's size and place are in
 * its number, its day is that of its neighbours (store/fulltext.c), and only what is
 * needed is computed:
 *
 *     score = sum over phrases  idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))
 *             * weight of the place * (1 + RECENT * 2^(-age / HALF_LIFE))
 *
 * With a single phrase its idf is the same for all and is left out. With several,
 * counting stops at MOST_COUNTED documents: a word that is in more of them says
 * little either way.
 *
 * The best `limit` are kept in a heap while all matches pass by; FTS5 gives them in
 * the order of their numbers, which means nothing.
 */
#include "query/rank.h"

#include "store/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define K1 1.2
#define B 0.5 /* long outputs are long by nature: less than the usual 0.75 */
#define RECENT 0.4
#define HALF_LIFE_DAYS 21.0
#define DAY_MS (24.0 * 3600 * 1000)

enum { MOST_PHRASES = 128, MOST_COUNTED = 20000, MOST_TF = 16 };

/* Lives with the connection: FTS5 calls the function with it. */
struct ranker {
	struct doc_reader docs;
	const struct rank_query *q; /* while a query runs */
	bool prepared;		    /* the numbers below are those of the query */
	int phrases;
	double idf[MOST_PHRASES];
	double average; /* words of a document */
	struct err err; /* what went wrong inside the function */
	bool failed;
};

/* ---- The function ------------------------------------------------------------ */

struct counting {
	int64_t count;
};

static int count_one(const Fts5ExtensionApi *api, Fts5Context *fts, void *ctx)
{
	struct counting *c = ctx;

	(void)api;
	(void)fts;
	return ++c->count < MOST_COUNTED ? SQLITE_OK : SQLITE_DONE;
}

static int prepare(struct ranker *r, const Fts5ExtensionApi *api, Fts5Context *fts)
{
	sqlite3_int64 rows = 0, words = 0;
	int code = api->xRowCount(fts, &rows);

	if (code == SQLITE_OK)
		code = api->xColumnTotalSize(fts, -1, &words);
	r->average = rows > 0 && words > 0 ? (double)words / (double)rows : 1;
	r->phrases = api->xPhraseCount(fts);
	if (r->phrases > MOST_PHRASES)
		r->phrases = MOST_PHRASES;
	for (int i = 0; i < r->phrases && code == SQLITE_OK; i++) {
		struct counting c = { 0 };

		if (r->phrases > 1)
			code = api->xQueryPhrase(fts, i, &c, count_one);
		if (code == SQLITE_DONE)
			code = SQLITE_OK;
		r->idf[i] = r->phrases > 1
				    ? log(1 + ((double)rows - (double)c.count + 0.5) / ((double)c.count + 0.5))
				    : 1;
		if (!(r->idf[i] > 0.01))
			r->idf[i] = 0.01;
	}
	r->prepared = code == SQLITE_OK;
	return code;
}

static bool is_listed(const struct rank_query *q, int64_t session)
{
	size_t low = 0, high = q->session_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (q->sessions[middle] < session)
			low = middle + 1;
		else
			high = middle;
	}
	return low < q->session_count && q->sessions[low] == session;
}

static double count_phrase(const Fts5ExtensionApi *api, Fts5Context *fts, int phrase)
{
	Fts5PhraseIter at;
	int column, offset, n = 0;

	if (api->xPhraseFirst(fts, phrase, &at, &column, &offset) != SQLITE_OK)
		return 0;
	for (; column >= 0 && n < MOST_TF; api->xPhraseNext(fts, &at, &column, &offset))
		n++;
	return n;
}

/* How much a day since 1970 counts. */
static double freshness(const struct rank_query *q, double day)
{
	double age = (double)q->now / DAY_MS - day;

	return 1 + RECENT * exp2(-(age > 0 ? age : 0) / HALF_LIFE_DAYS);
}

static double relevance_of(const struct ranker *r, const struct doc_rank *d, const Fts5ExtensionApi *api,
			   Fts5Context *fts)
{
	double length = K1 * (1 - B + B * d->words / r->average), sum = 0;

	for (int i = 0; i < r->phrases; i++) {
		double tf = count_phrase(api, fts, i);

		sum += r->idf[i] * tf * (K1 + 1) / (tf + length);
	}
	return sum * r->q->weights[d->place];
}

/* The document of a number that the index knows: it has to be there, and to agree. */
static enum status look_up(struct ranker *r, int64_t id, struct doc *out, struct err *err)
{
	int64_t sequence = doc_sequence(id), same;
	enum status status = doc_get(&r->docs, sequence, out, &same, err);

	if (status == STATUS_NOT_FOUND || (status == STATUS_OK && same != id))
		return err_fail(err, STATUS_CORRUPT,
				"%s: the index has words of document %" PRId64
				", which is not there; 'arbor rebuild' makes both anew",
				r->docs.store->path, sequence);
	return status;
}

/* Whether its place and session are asked for; only the session costs a look. */
static enum status is_wanted(struct ranker *r, int64_t id, const struct doc_rank *d, bool *out)
{
	struct doc doc;

	*out = d->place < r->q->place_count && (!r->q->places || r->q->places & 1u << d->place);
	if (!*out || !r->q->sessions)
		return STATUS_OK;
	if (look_up(r, id, &doc, &r->err))
		return err_failed(r->err.status);
	*out = is_listed(r->q, doc.session);
	return STATUS_OK;
}

/* Gives the relevance, and NULL for a document that is not wanted. */
static void rank_document(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *result, int count,
			  sqlite3_value **values)
{
	struct ranker *r = api->xUserData(fts);
	struct doc_rank d = doc_rank(api->xRowid(fts));
	int code = r->prepared ? SQLITE_OK : prepare(r, api, fts);
	bool wanted;

	(void)count;
	(void)values;
	if (code != SQLITE_OK) {
		sqlite3_result_error_code(result, code);
		return;
	}
	if (is_wanted(r, api->xRowid(fts), &d, &wanted)) {
		r->failed = true;
		sqlite3_result_error_code(result, SQLITE_ABORT);
	} else if (wanted) {
		sqlite3_result_double(result, relevance_of(r, &d, api, fts));
	}
}

static void free_ranker(void *ctx)
{
	struct ranker *r = ctx;

	doc_reader_release(&r->docs);
	mem_free(r);
}

/* NULL when FTS5 cannot be told of it. */
static struct ranker *get_ranker(struct store *s, struct err *err)
{
	fts5_api *api;
	int code;

	if (s->ranker)
		return s->ranker;
	if (fulltext_api(s, &api, err))
		return NULL;
	s->ranker = mem_alloc(sizeof(struct ranker));
	code = api->xCreateFunction(api, "arbor_score", s->ranker, rank_document, free_ranker);
	if (code != SQLITE_OK) {
		s->ranker = NULL;
		db_fail(s, code, "registering the rank function", err);
	}
	return s->ranker;
}

/* ---- The best ---------------------------------------------------------------- */

/* Whether a stands below b. The later one first among equals, so that the order is
 * one. */
static bool is_worse(const struct ranked *a, const struct ranked *b)
{
	if (a->score < b->score || a->score > b->score)
		return a->score < b->score;
	return a->doc.at != b->doc.at ? a->doc.at < b->doc.at : a->id < b->id;
}

static int best_first(const void *a, const void *b)
{
	return is_worse(a, b) ? 1 : is_worse(b, a) ? -1 : 0;
}

/* Moves the first of a heap, whose worst stands first, to where it belongs. */
static void sink(struct ranked *heap, size_t count)
{
	for (size_t at = 0;;) {
		size_t child = 2 * at + 1;
		struct ranked swap;

		if (child >= count)
			return;
		if (child + 1 < count && is_worse(&heap[child + 1], &heap[child]))
			child++;
		if (!is_worse(&heap[child], &heap[at]))
			return;
		swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

static void rise(struct ranked *heap, size_t at)
{
	while (at > 0 && is_worse(&heap[at], &heap[(at - 1) / 2])) {
		struct ranked swap = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = swap;
		at = (at - 1) / 2;
	}
}

static void keep(struct ranking *out, size_t limit, size_t *cap, const struct ranked *r)
{
	if (limit && out->count == limit) {
		if (!is_worse(&out->list[0], r))
			return;
		out->list[0] = *r;
		sink(out->list, out->count);
		return;
	}
	if (out->count == *cap) {
		*cap = *cap ? *cap * 2 : 32;
		out->list = mem_resize(out->list, *cap * sizeof *out->list);
	}
	out->list[out->count++] = *r;
	rise(out->list, out->count - 1);
}

void ranking_release(struct ranking *r)
{
	mem_free(r->list);
	*r = (struct ranking){ 0 };
}

/* How many to gather: some more than are asked for, since settle() may change their
 * order; 0 = all. */
static size_t most_gathered(size_t limit)
{
	return limit && limit < SIZE_MAX / 2 ? limit + limit / 2 + 4 : 0;
}

static enum status gather(struct store *s, struct ranker *r, struct ranking *out, struct err *err)
{
	size_t cap = 0, wanted = most_gathered(r->q->limit);
	enum step step;
	STMT st = { 0 };

	if (stmt_use(s, &rank_statements, 0, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, r->q->match);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct ranked hit = { .id = col_int(&st, 0), .relevance = sqlite3_column_double(st.st, 1) };

		if (s->cancel && atomic_load(s->cancel))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (col_null(&st, 1))
			continue;
		hit.score = hit.relevance * freshness(r->q, (double)doc_day(&r->docs, doc_sequence(hit.id)));
		out->total++;
		keep(out, wanted, &cap, &hit);
	}
	if (step == STEP_FAILED && r->failed)
		*err = r->err;
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* The day of a match was taken from its neighbours; those that came through get their
 * own, and a place by it. */
static enum status settle(struct ranker *r, const struct rank_query *q, struct ranking *out, struct err *err)
{
	for (size_t i = 0; i < out->count; i++) {
		struct ranked *hit = &out->list[i];

		if (look_up(r, hit->id, &hit->doc, err))
			return err_failed(err->status);
		hit->score = hit->relevance * freshness(q, (double)hit->doc.at / DAY_MS);
	}
	if (out->count)
		qsort(out->list, out->count, sizeof *out->list, best_first);
	if (q->limit && out->count > q->limit)
		out->count = q->limit;
	return STATUS_OK;
}

static const char *const sql[] = {
	"SELECT rowid, arbor_score(search) FROM search WHERE search MATCH ?1",
};

const struct db_set rank_statements = { DB_RANK, sql, COUNT(sql) };

enum status rank_run(struct store *s, const struct rank_query *q, struct ranking *out, struct err *err)
{
	struct ranker *r = get_ranker(s, err);
	enum status status;

	*out = (struct ranking){ 0 };
	if (!r)
		return err_failed(err->status);
	/* Another program may have changed the slots since the last query. */
	doc_reader_release(&r->docs);
	r->docs.store = s;
	r->q = q;
	r->prepared = r->failed = false;
	status = doc_days(&r->docs, err) ? err_failed(err->status) : gather(s, r, out, err);
	if (status == STATUS_OK)
		status = settle(r, q, out, err);
	if (status)
		ranking_release(out);
	r->q = NULL;
	return status;
}
