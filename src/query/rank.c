/*
 * Ranking: BM25 over FTS5's matches, with our own document lengths.
 *
 * FTS5's own bm25() looks every match up in a table of document sizes, which makes
 * common words slower than reading the files. Here a document's size and place are in
 * its number, its day is that of its neighbours (store/fulltext.c), and only what is
 * needed is computed:
 *
 *     score = sum over items  idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / average))
 *             * weight of the place * (1 + RECENT * 2^(-age / HALF_LIFE))
 *
 * An item is what was typed as one; its phrases are spellings of the same, of which the
 * most frequent one counts. With a single item its idf is the same for all and is left
 * out. With several, documents are counted, all of them: an estimate would depend on the order in which files came in.
 *
 * The best `limit` are kept in a heap while all matches pass by, in the order of their
 * numbers, which means nothing. The day that counts then is that of a document's neighbours; its own is looked up
 * for those that come through. It puts the first BLOCK of them in order, and so the next, and so on: what stands where
 * depends on neither limit nor offset, so pages go on where others ended. A match whose place, size and day alone keep
 * it below the worst in a full heap is not looked into: of a common word that is nearly every one.
 * What filters ask that a number does not say, session and time, is in the slots of the
 * documents: they are read for a filtered query only, and as long as it runs kept.
 *
 * Documents that are copies mostly have their words with another (store/copied.h): when that one matches, so do they.
 *
 * Matches come from the lists of their words (query/matches.c), or where these cannot be used from FTS5, with the same
 * result. Then all of this happens in the function that FTS5 calls for a match, and SQL sees none of them: giving each
 * out and taking it back in costs more than ranking it.
 */
#include "query/rank.h"

#include "query/matches.h"
#include "store/copied.h"
#include "store/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define K1 1.2
#define B 0.5 /* long outputs are long by nature: less than the usual 0.75 */
#define RECENT 0.4
#define HALF_LIFE_DAYS 21.0
#define DAY_MS (24.0 * 3600 * 1000)

enum { MOST_PHRASES = RANK_PHRASES, MOST_TF = 16, BLOCK = 16 };

enum { RANK_MATCHES, RANK_COUNT, RANK_STATEMENTS };

/* What documents of one place and size have in common. */
struct grade {
	double weight; /* 0 = not wanted */
	double length; /* what tf is compared with */
	double most;   /* that a document can get, but for its day */
};

/* Documents that have their words elsewhere: runs, by where that is. */
struct copies {
	struct copied_run *runs;
	size_t count, next; /* of them; the first that is still ahead of the match in hand */
	size_t *open;	    /* those that the match in hand may be in */
	size_t open_count;
	struct arena mem;
};

/* Lives with the connection: FTS5 calls the function with it. */
struct ranker {
	struct doc_reader docs;
	const struct rank_query *q; /* while a query runs, as all that follows */
	bool prepared;		    /* the numbers up to `grades` are those of the query */
	int phrases;		       /* that are weighed */
	uint8_t weighed[MOST_PHRASES]; /* which they are */
	double idf[MOST_PHRASES];      /* of the item that begins with the phrase; 0 = the item goes on */
	double idf_sum;
	struct grade grades[DOC_CODES];
	double *fresh; /* by chunk: how much its day counts */
	bool filters;  /* by more than a number says */
	uint8_t *sessions; /* by row: whether it is wanted, enum known */
	size_t session_count;
	size_t passed; /* of the ranges that do not count */
	struct copies copies;
	struct ranking *out;
	size_t keep, cap; /* how many to keep, 0 = all; for how many there is room */
	struct err err;	  /* what went wrong inside the function */
};

/* Where matches come from: FTS5, or lists. */
struct source {
	const Fts5ExtensionApi *api;
	Fts5Context *fts;
	const struct matches *lists; /* NULL = FTS5 */
	int64_t id;		     /* the match in hand */
};

/* ---- What a query needs once --------------------------------------------------- */

static int count_one(const Fts5ExtensionApi *api, Fts5Context *fts, void *ctx)
{
	size_t *count = ctx;

	(void)api;
	(void)fts;
	++*count;
	return SQLITE_OK;
}

/* How many documents of all have the phrase. */
static int count_documents(const struct source *from, int phrase, size_t *out)
{
	*out = 0;
	if (!from->lists)
		return from->api->xQueryPhrase(from->fts, phrase, out, count_one);
	*out = from->lists->phrases[phrase].found.count;
	return SQLITE_OK;
}

/* Whether a weighed phrase is another spelling of the item before. */
static bool goes_on(const struct ranker *r, int i)
{
	const uint8_t *items = r->q->items;

	return i > 0 && i < r->phrases && r->weighed[i] < r->q->phrase_count &&
	       items[r->weighed[i]] == items[r->weighed[i - 1]];
}

static void choose_phrases(struct ranker *r, int count)
{
	r->phrases = 0;
	for (int i = 0; i < count && i < MOST_PHRASES; i++)
		if ((size_t)i >= r->q->phrase_count || r->q->items[i] != RANK_UNWEIGHED)
			r->weighed[r->phrases++] = (uint8_t)i;
}

static double idf_of(double count, double rows)
{
	return fmax(0.01, log(1 + (rows - count + 0.5) / (count + 0.5)));
}

static int weigh_items(struct ranker *r, const struct source *from, double rows)
{
	int code = SQLITE_OK, items = 0;

	for (int i = 0; i < r->phrases; i++)
		items += !goes_on(r, i);
	r->idf_sum = 0;
	for (int i = 0, next; i < r->phrases && code == SQLITE_OK; i = next) {
		size_t most = 0, count;

		for (next = i; code == SQLITE_OK && next < r->phrases && (next == i || goes_on(r, next)); next++) {
			r->idf[next] = 0;
			if (items == 1)
				continue;
			code = count_documents(from, r->weighed[next], &count);
			most = size_max(most, count);
		}
		r->idf[i] = items == 1 ? 1 : idf_of((double)most, rows);
		r->idf_sum += r->idf[i];
	}
	return code;
}

static void set_grades(struct ranker *r, double average)
{
	for (int code = 0; code < DOC_CODES; code++) {
		struct doc_rank d = doc_rank(code);
		bool wanted = d.place < r->q->place_count && (!r->q->places || r->q->places & 1u << d.place);

		r->grades[code] = (struct grade){ wanted ? r->q->weights[d.place] : 0,
						  K1 * (1 - B + B * d.words / average), 0 };
	}
}

/* A little more, since sums in another order may differ in their last digit. */
static void set_bounds(struct ranker *r)
{
	for (int code = 0; code < DOC_CODES; code++) {
		struct grade *g = &r->grades[code];

		g->most = r->idf_sum * MOST_TF * (K1 + 1) / (MOST_TF + g->length) * (1 + 1e-9) * g->weight;
	}
}

static int prepare(struct ranker *r, const struct source *from, int phrases, sqlite3_int64 rows, sqlite3_int64 words)
{
	int code;

	choose_phrases(r, phrases);
	set_grades(r, rows > 0 && words > 0 ? (double)words / (double)rows : 1);
	code = weigh_items(r, from, (double)rows);
	set_bounds(r);
	r->prepared = code == SQLITE_OK;
	return code;
}

static int prepare_fts5(struct ranker *r, const struct source *from)
{
	sqlite3_int64 rows = 0, words = 0;
	int code = from->api->xRowCount(from->fts, &rows);

	if (code == SQLITE_OK)
		code = from->api->xColumnTotalSize(from->fts, -1, &words);
	return code == SQLITE_OK ? prepare(r, from, from->api->xPhraseCount(from->fts), rows, words) : code;
}

/* How much a day since 1970 counts. */
static double freshness(const struct rank_query *q, double day)
{
	double age = (double)q->now / DAY_MS - day;

	return 1 + RECENT * exp2(-(age > 0 ? age : 0) / HALF_LIFE_DAYS);
}

static enum status set_freshness(struct ranker *r, struct err *err)
{
	if (doc_days(&r->docs, err))
		return err_failed(err->status);
	r->fresh = mem_resize(r->fresh, (r->docs.day_count + 1) * sizeof *r->fresh);
	for (size_t i = 0; i <= r->docs.day_count; i++)
		r->fresh[i] = freshness(r->q, i < r->docs.day_count ? r->docs.days[i] : 0);
	return STATUS_OK;
}

/* ---- The best ---------------------------------------------------------------- */

/* Whether a stands below b. No two are equal, so there is one order of all. */
static bool is_worse(const struct ranked *a, const struct ranked *b)
{
	if (a->order < b->order || a->order > b->order)
		return a->order < b->order;
	return a->tie < b->tie;
}

static int best_first(const void *a, const void *b)
{
	return is_worse(a, b) ? 1 : is_worse(b, a) ? -1 : 0;
}

/* When their times are known, the later one first among equals. */
static int settled_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->doc.at != y->doc.at && !(x->order < y->order) && !(x->order > y->order))
		return x->doc.at < y->doc.at ? 1 : -1;
	return best_first(a, b);
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

static bool is_full(const struct ranker *r)
{
	return r->keep && r->out->count == r->keep;
}

static void keep(struct ranker *r, const struct ranked *one)
{
	struct ranking *out = r->out;

	if (is_full(r)) {
		if (!is_worse(&out->list[0], one))
			return;
		out->list[0] = *one;
		sink(out->list, out->count);
		return;
	}
	if (out->count == r->cap) {
		r->cap = r->cap ? r->cap * 2 : 32;
		out->list = mem_resize(out->list, r->cap * sizeof *out->list);
	}
	out->list[out->count++] = *one;
	rise(out->list, out->count - 1);
}

void ranking_release(struct ranking *r)
{
	mem_free(r->list);
	*r = (struct ranking){ 0 };
}

/* ---- A match ----------------------------------------------------------------- */

static double count_phrase(const struct source *from, int phrase)
{
	Fts5PhraseIter at;
	int column, offset, n = 0;

	if (from->lists)
		return (double)size_min(matches_times(from->lists, (size_t)phrase, from->id), MOST_TF);
	if (from->api->xPhraseFirst(from->fts, phrase, &at, &column, &offset) != SQLITE_OK)
		return 0;
	for (; column >= 0 && n < MOST_TF; from->api->xPhraseNext(from->fts, &at, &column, &offset))
		n++;
	return n;
}

/* Without the weights of place and day. */
static double relevance_of(const struct ranker *r, double length, const struct source *from)
{
	double sum = 0;

	for (int i = 0, next; i < r->phrases; i = next) {
		double tf = count_phrase(from, r->weighed[i]);

		for (next = i + 1; next < r->phrases && r->idf[next] == 0; next++)
			tf = fmax(tf, count_phrase(from, r->weighed[next]));
		sum += r->idf[i] * tf * (K1 + 1) / (tf + length);
	}
	return sum;
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

enum known { UNKNOWN, WANTED, UNWANTED };

static enum status is_session_wanted(struct ranker *r, int64_t session, bool *out, struct err *err)
{
	const int64_t most = 1 << 24; /* a damaged slot may say anything */
	size_t row = (size_t)session;

	*out = true;
	if (!r->q->session || session >= DOC_NODES)
		return STATUS_OK;
	if (session < 0 || session >= most)
		return r->q->session(r->q->wanted_ctx, session, out, err);
	if (row >= r->session_count) {
		size_t count = size_max(2 * r->session_count, row + 256);

		r->sessions = mem_resize(r->sessions, count);
		memset(r->sessions + r->session_count, UNKNOWN, count - r->session_count);
		r->session_count = count;
	}
	if (r->sessions[row] == UNKNOWN) {
		if (r->q->session(r->q->wanted_ctx, session, out, err))
			return err_failed(err->status);
		r->sessions[row] = *out ? WANTED : UNWANTED;
	}
	*out = r->sessions[row] == WANTED;
	return STATUS_OK;
}

static bool is_in_time(const struct rank_query *q, int64_t at)
{
	if (!q->after && !q->before)
		return true;
	return at && at >= q->after && (!q->before || at < q->before);
}

/* One that matches by time or session: kept if it is among the first. */
static void take_by_time(struct ranker *r, struct ranked *one, const struct source *from)
{
	const struct grade *g = &r->grades[doc_code(one->id)];
	int sign = r->q->order == RANK_OLD ? -1 : 1;

	one->order = (double)one->doc.at * sign;
	one->tie = one->id * sign;
	/* What has no time is neither old nor new. */
	if (!one->doc.at)
		one->order = -HUGE_VAL;
	if (is_full(r) && !is_worse(&r->out->list[0], one))
		return;
	one->relevance = from ? relevance_of(r, g->length, from) * g->weight : 0;
	keep(r, one);
}

static void take_by_score(struct ranker *r, int64_t id, const struct doc *doc, const struct source *from)
{
	const struct grade *g = &r->grades[doc_code(id)];
	double fresh = r->fresh[size_min(doc_chunk_of(id), r->docs.day_count)];
	struct ranked one;

	if (is_full(r) && g->most * fresh < r->out->list[0].order)
		return;
	one = (struct ranked){ .id = id, .tie = id, .doc = *doc };
	one.relevance = relevance_of(r, g->length, from) * g->weight;
	one.order = one.relevance * fresh;
	keep(r, &one);
}

/* Whether a document that matches is one that is asked for. */
static enum status is_wanted(struct ranker *r, int64_t id, const struct doc *doc, bool *out, struct err *err)
{
	*out = is_in_time(r->q, doc->at);
	if (*out && is_session_wanted(r, doc->session, out, err))
		return err_failed(err->status);
	return *out && r->q->doc ? r->q->doc(r->q->wanted_ctx, id, doc, out, err) : STATUS_OK;
}

bool doc_ranges_have(const struct doc_range *list, size_t count, int64_t sequence)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].first <= sequence)
			low = mid + 1;
		else
			high = mid;
	}
	return low && sequence < list[low - 1].first + list[low - 1].count;
}

/* Of a match: they come in the order of numbers, and so do the ranges. */
static bool is_left_out(struct ranker *r, int64_t id)
{
	const struct doc_range *list = r->q->without;
	int64_t sequence = doc_sequence(id);

	while (r->passed < r->q->without_count && list[r->passed].first + list[r->passed].count <= sequence)
		r->passed++;
	return r->passed < r->q->without_count && list[r->passed].first <= sequence;
}

/* One that counts: counted if it is wanted, and kept if it is among the best. */
static enum status take_one(struct ranker *r, int64_t id, const struct source *from)
{
	struct doc doc = { 0 };
	bool wanted = true;

	if (r->filters && (look_up(r, id, &doc, &r->err) || is_wanted(r, id, &doc, &wanted, &r->err)))
		return err_failed(r->err.status);
	if (!wanted)
		return STATUS_OK;
	r->out->total++;
	if (r->q->order != RANK_BEST)
		take_by_time(r, &(struct ranked){ .id = id, .doc = doc }, from);
	else
		take_by_score(r, id, &doc, from);
	return STATUS_OK;
}

/* Those that have the words of the match in hand. */
static enum status take_copies(struct ranker *r, const struct source *from)
{
	struct copies *c = &r->copies;
	int64_t sequence = doc_sequence(from->id);

	while (c->next < c->count && c->runs[c->next].original <= sequence)
		c->open[c->open_count++] = c->next++;
	for (size_t i = 0; i < c->open_count;) {
		const struct copied_run *run = &c->runs[c->open[i]];
		int64_t copy = run->first + (sequence - run->original);

		if (run->original + run->count <= sequence) {
			c->open[i] = c->open[--c->open_count];
			continue;
		}
		if (!doc_ranges_have(r->q->without, r->q->without_count, copy) &&
		    take_one(r, copy * DOC_CODES + doc_code(from->id), from))
			return err_failed(r->err.status);
		i++;
	}
	return STATUS_OK;
}

static enum status take(struct ranker *r, const struct source *from)
{
	if (r->grades[doc_code(from->id)].weight <= 0)
		return STATUS_OK;
	if (!is_left_out(r, from->id) && take_one(r, from->id, from))
		return err_failed(r->err.status);
	return r->copies.count ? take_copies(r, from) : STATUS_OK;
}

static enum status check_cancel(struct ranker *r)
{
	const atomic_bool *cancel = r->docs.store->cancel;

	return cancel && atomic_load(cancel) ? err_fail(&r->err, STATUS_CANCELLED, "stopped") : STATUS_OK;
}

/* What FTS5 calls for every match. Gives 0, so that SQL passes all of them over. */
static void take_match(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *result, int count,
		       sqlite3_value **values)
{
	struct ranker *r = api->xUserData(fts);
	struct source from = { .api = api, .fts = fts, .id = api->xRowid(fts) };
	int code = r->prepared ? SQLITE_OK : prepare_fts5(r, &from);

	(void)count;
	(void)values;
	if (code == SQLITE_OK && (check_cancel(r) || take(r, &from)))
		code = SQLITE_ABORT;
	if (code == SQLITE_OK)
		sqlite3_result_int(result, 0);
	else
		sqlite3_result_error_code(result, code);
}

/* ---- A query ----------------------------------------------------------------- */

static void free_ranker(void *ctx)
{
	struct ranker *r = ctx;

	doc_reader_release(&r->docs);
	mem_free(r->fresh);
	mem_free(r->sessions);
	arena_release(&r->copies.mem);
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
	code = api->xCreateFunction(api, "arbor_take", s->ranker, take_match, free_ranker);
	if (code != SQLITE_OK) {
		s->ranker = NULL;
		db_fail(s, code, "registering the rank function", err);
	}
	return s->ranker;
}

/* How many to gather: whole blocks, since settle() may change their order; 0 = all. */
static size_t most_gathered(size_t limit)
{
	return limit && limit < SIZE_MAX / 2 ? (limit + BLOCK - 1) / BLOCK * BLOCK : 0;
}

static enum status take_listed(struct ranker *r, struct matches *lists)
{
	struct source from = { .lists = lists };

	/* Of lists nothing can fail here. */
	(void)prepare(r, &from, (int)lists->phrase_count, lists->rows, lists->words);
	while (matches_next(lists, &from.id))
		if (check_cancel(r) || take(r, &from))
			return err_failed(r->err.status);
	return STATUS_OK;
}

static enum status load_copies(struct ranker *r, struct store *s, struct err *err)
{
	struct copies *c = &r->copies;

	arena_release(&c->mem);
	*c = (struct copies){ 0 };
	if (r->q->without_copies)
		return STATUS_OK;
	if (copied_runs(s, &c->mem, &c->runs, &c->count, err))
		return err_failed(err->status);
	c->open = arena_alloc(&c->mem, (c->count + 1) * sizeof *c->open);
	return STATUS_OK;
}

static enum status gather(struct store *s, struct ranker *r, struct err *err)
{
	struct matches lists CLEANUP(matches_release) = { 0 };
	bool able;
	enum step step;
	STMT st = { 0 };

	if (load_copies(r, s, err) || matches_find(&lists, s, r->q->match, &able, err))
		return err_failed(err->status);
	if (able && take_listed(r, &lists)) {
		*err = r->err;
		return err_failed(err->status);
	}
	if (able)
		return STATUS_OK;
	if (stmt_use(s, &rank_statements, RANK_MATCHES, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, r->q->match);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED && r->err.status)
		*err = r->err;
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static enum status take_doc(void *ctx, int64_t id, const struct doc *doc, struct err *err)
{
	struct ranker *r = ctx;
	struct ranked one = { .id = id, .doc = *doc };
	bool wanted;

	if (r->grades[doc_code(id)].weight <= 0 ||
	    doc_ranges_have(r->q->without, r->q->without_count, doc_sequence(id)))
		return STATUS_OK;
	if (store_is_cancelled(r->docs.store))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	if (is_wanted(r, id, doc, &wanted, err))
		return err_failed(err->status);
	if (wanted) {
		r->out->total++;
		take_by_time(r, &one, NULL);
	}
	return STATUS_OK;
}

/* All documents there are, by time: there is no word to rank them by. */
static enum status gather_all(struct store *s, struct ranker *r, struct err *err)
{
	set_grades(r, 1);
	return doc_each(s, take_doc, r, err);
}

/* The day of a match was taken from its neighbours; those that came through get their
 * own, and a place in their block by it. */
static enum status settle(struct ranker *r, const struct rank_query *q, struct ranking *out, struct err *err)
{
	if (out->count)
		qsort(out->list, out->count, sizeof *out->list, best_first);
	for (size_t i = 0; i < out->count; i++) {
		struct ranked *hit = &out->list[i];

		if (look_up(r, hit->id, &hit->doc, err))
			return err_failed(err->status);
		hit->score = hit->relevance * freshness(q, (double)hit->doc.at / DAY_MS);
		if (q->order == RANK_BEST)
			hit->order = hit->score;
	}
	for (size_t i = 0; q->order == RANK_BEST && i < out->count; i += BLOCK)
		qsort(&out->list[i], size_min(BLOCK, out->count - i), sizeof *out->list, settled_first);
	if (q->limit && out->count > q->limit)
		out->count = q->limit;
	return STATUS_OK;
}

static const char *const sql[RANK_STATEMENTS] = {
	[RANK_MATCHES] = "SELECT 1 FROM search WHERE search MATCH ?1 AND arbor_take(search)",
	[RANK_COUNT] = "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ?1 LIMIT ?2)",
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
	r->out = out;
	r->keep = most_gathered(q->limit);
	r->cap = 0;
	r->prepared = false;
	r->filters = q->session || q->doc || q->after || q->before || q->order != RANK_BEST;
	r->session_count = 0;
	r->passed = 0;
	r->err = (struct err){ 0 };
	status = set_freshness(r, err) ? err_failed(err->status) :
		 q->match.n	       ? gather(s, r, err) :
					 gather_all(s, r, err);
	if (status == STATUS_OK)
		status = settle(r, q, out, err);
	if (status)
		ranking_release(out);
	r->q = NULL;
	r->out = NULL;
	return status;
}

enum status rank_count(struct store *s, struct str match, int64_t most, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &rank_statements, RANK_COUNT, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, match);
	stmt_int(&st, 2, most);
	if (stmt_step(&st, err) != STEP_ROW)
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}
