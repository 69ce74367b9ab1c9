/*
 * Adding up what answers cost. The table has a row for each message of each transcript;
 * forks, resumes and sub-agents repeat messages, so rows are joined by the message's id
 * wherever they stand. Taking the largest of each number does not depend on their order.
 */
#include "query/usage.h"

#include "base/numbers.h"
#include "base/order.h"
#include "claude/fork.h"
#include "claude/record.h"
#include "store/db.h"
#include "store/tokens.h"

#include <stdlib.h>
#include <string.h>

enum { USAGE_PAGES, USAGE_MODELS, USAGE_RANKS, USAGE_ROWS, USAGE_ROWS_AGENTS, USAGE_STATEMENTS };

/* Handed over inside of SQLite (arbor_row): there are tens of thousands. */
#define COLUMNS "u.session, u.model, u.told"

static const char *const sql[USAGE_STATEMENTS] = {
	[USAGE_PAGES] = "PRAGMA page_count",
	[USAGE_MODELS] = "SELECT id, name FROM model ORDER BY name",
	/* The one that began first, of copies the one that ended first, told it first. */
	[USAGE_RANKS] = ("SELECT id, session_id, agent IS NULL FROM mirror_session"
			 " ORDER BY started_at, updated_at, session_id, agent, id"),
	[USAGE_ROWS] = "SELECT 1 FROM usage u WHERE arbor_row(" COLUMNS ")",
	/* Each row has its line. A LEFT JOIN would load all lines of all sessions first: views of virtual tables are
	 * not seen through there. */
	[USAGE_ROWS_AGENTS] = "SELECT 1 FROM usage u CROSS JOIN mirror_session s ON s.id = u.session"
			      " CROSS JOIN entry e ON e.session = u.session AND e.offset = u.first"
			      " WHERE arbor_row(" COLUMNS ", coalesce(e.agent, s.agent), e.flags)",
};

const struct db_set usage_statements = { DB_USAGE, sql, USAGE_STATEMENTS };

/* Names of models, in the order of their names: a number that does not depend on rows. */
struct models {
	struct str *names;
	struct numbers places; /* row -> place, from 1 on */
	size_t count;
};

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &usage_statements, index, st, err);
}

static enum status load_models(struct store *s, struct arena *mem, struct models *out, struct err *err)
{
	enum { MOST = 4096 }; /* nobody has had more; the rest is unknown */
	int64_t rows[MOST];
	enum step step;
	size_t count = 0, cap = 0;
	STMT st = { 0 };

	if (use(s, USAGE_MODELS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW && count < MOST) {
		if (count == cap) {
			struct str *bigger = arena_alloc(mem, ((cap = cap ? 2 * cap : 32) + 1) * sizeof *bigger);

			if (count)
				memcpy(bigger, out->names, (count + 1) * sizeof *bigger);
			out->names = bigger;
		}
		rows[count++] = col_int(&st, 0);
		out->names[count] = arena_str(mem, col_bytes(&st, 1));
	}
	out->count = count;
	out->places = numbers_new(mem, count);
	for (size_t i = 0; i < count; i++)
		numbers_put(&out->places, (uint64_t)rows[i], (uint32_t)i + 1);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Which of two transcripts an answer stands in is said to have told it. */
static bool is_before(const struct numbers *ranks, int64_t a, int64_t b)
{
	uint32_t x = numbers_get(ranks, (uint64_t)a), y = numbers_get(ranks, (uint64_t)b);

	return x != y ? x < y : a < b;
}

/* A copy that says it is one tells nothing first, whatever else its file says: the original may have gone on later. */
static bool told_first(const struct usage *a, const struct usage *b, const struct numbers *ranks)
{
	if (a->copied != b->copied)
		return b->copied;
	if (a->at != b->at)
		return a->at && (!b->at || a->at < b->at);
	return is_before(ranks, a->session, b->session);
}

static void join(struct usage *to, const struct usage *from, const struct numbers *ranks)
{
	if (told_first(from, to, ranks)) {
		to->at = from->at;
		to->session = from->session;
		to->copied = from->copied;
	}
	to->input = larger(to->input, from->input);
	to->output = larger(to->output, from->output);
	to->written = larger(to->written, from->written);
	to->written_1h = larger(to->written_1h, from->written_1h);
	to->read = larger(to->read, from->read);
	to->final |= from->final;
	to->fast |= from->fast;
	to->aside |= from->aside;
	if (!to->model.n || (from->model.n && str_cmp(from->model, to->model) < 0))
		to->model = from->model;
	if (!to->agent.n || (from->agent.n && str_cmp(from->agent, to->agent) < 0))
		to->agent = from->agent;
}

static int by_message(const void *a, const void *b)
{
	const struct usage *x = a, *y = b;

	return x->message < y->message ? -1 : x->message > y->message;
}

struct adding {
	struct store *store;
	unsigned want;
	struct arena *mem;
	struct models models;
	struct numbers ranks;
	struct numbers known; /* message -> place in the list */
	struct usage *list;
	size_t count, most;
};

static bool read_row(const struct adding *a, sqlite3_value **row, struct usage *out)
{
	uint32_t place = numbers_get(&a->models.places, (uint64_t)sqlite3_value_int64(row[1]));
	struct tokens told;

	if (!tokens_unpack(row_bytes(row, 2), &told))
		return false;
	*out = (struct usage){
		.message = told.message,
		.at = told.at,
		.session = sqlite3_value_int64(row[0]),
		.input = told.input,
		.output = told.output,
		.written = told.written,
		.written_1h = told.written_1h,
		.read = told.read,
		.final = told.final,
		.fast = told.fast,
		.copied = told.copied,
	};
	if (place != NUMBERS_NONE)
		out->model = a->models.names[place];
	if (a->want & USAGE_AGENTS) {
		out->agent = arena_str(a->mem, row_bytes(row, 3));
		out->aside = out->agent.n || (sqlite3_value_int64(row[4]) & RECORD_SIDECHAIN);
	}
	return true;
}

static void make_room(struct adding *a, size_t most)
{
	struct usage *bigger = arena_room(a->mem, most * sizeof *bigger);

	if (a->count)
		memcpy(bigger, a->list, a->count * sizeof *bigger);
	a->list = bigger;
	a->most = most;
	a->known = numbers_new(a->mem, most);
	for (size_t i = 0; i < a->count; i++)
		numbers_put(&a->known, a->list[i].message, (uint32_t)i);
}

static enum status add_row(void *ctx, sqlite3_value **row, struct err *err)
{
	struct adding *a = ctx;
	struct usage u;
	uint32_t at;

	if (!read_row(a, row, &u))
		return tokens_damaged(a->store, err);
	if (a->count == a->most)
		make_room(a, 2 * a->most);
	at = numbers_add(&a->known, u.message, (uint32_t)a->count);
	if (at < a->count)
		join(&a->list[at], &u, &a->ranks);
	else
		a->list[a->count++] = u;
	return STATUS_OK;
}

/* Each to where it belongs, along the rings that these moves make: a copy of them all would take longer to get memory
 * for than to make. */
static void move_all(struct usage *list, struct ordered *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct usage first = list[i];
		size_t at = i;

		while (order[at].place != i) {
			size_t from = order[at].place;

			list[at] = list[from];
			order[at].place = (uint32_t)at;
			at = from;
		}
		list[at] = first;
		order[at].place = (uint32_t)at;
	}
}

/* By their times, those of one moment by their messages. */
static void put_in_order(struct usage *list, size_t count, struct arena *mem)
{
	struct ordered *times = arena_room(mem, (count + 1) * sizeof *times);

	for (size_t i = 0; i < count; i++)
		times[i] = (struct ordered){ (uint64_t)list[i].at ^ (uint64_t)1 << 63, (uint32_t)i };
	move_all(list, order_by_number(times, count, mem), count);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && list[end].at == list[i].at;)
			end++;
		if (end - i > 1)
			qsort(&list[i], end - i, sizeof *list, by_message);
	}
}

/* Whether it is a file that we wrote, of lines that others have. */
static bool is_fork(struct stmt *st)
{
	struct uuid id = col_uuid(st, 1);

	return col_int(st, 2) && fork_is_marked(&id);
}

/* Forks come behind all others, whose answers they repeat. */
static enum status load_ranks(struct store *s, struct arena *mem, struct numbers *out, struct err *err)
{
	size_t count = 0, cap = 0;
	int64_t *rows = NULL;
	enum step step;
	STMT st = { 0 };

	if (use(s, USAGE_RANKS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (count == cap)
			rows = mem_resize(rows, (cap = cap ? 2 * cap : 256) * sizeof *rows);
		rows[count++] = is_fork(&st) ? -col_int(&st, 0) : col_int(&st, 0);
	}
	*out = numbers_new(mem, count);
	for (size_t i = 0; i < count; i++)
		numbers_put(out, (uint64_t)(rows[i] < 0 ? -rows[i] : rows[i]), (uint32_t)(rows[i] < 0 ? count + i : i));
	mem_free(rows);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* Counting rows would read them all once more. A store has about one answer on each page; of room that is not
 * needed nothing is touched. */
static enum status guess_rows(struct store *s, size_t *out, struct err *err)
{
	enum { MOST = 100 * 1000 }; /* more room is made when there are more */
	STMT pages = { 0 };

	if (use(s, USAGE_PAGES, &pages, err) || stmt_row(&pages, "pages", err))
		return err_failed(err->status);
	*out = size_min(1000 + (size_t)col_int(&pages, 0) / 4 * 5, MOST);
	return STATUS_OK;
}

enum status usage_all(struct store *s, unsigned want, struct arena *mem, struct usage **out, size_t *count,
		      struct err *err)
{
	struct adding a = { .store = s, .want = want, .mem = mem, .ranks = numbers_new(mem, 0) };
	STMT st = { 0 };
	size_t rows;

	if (load_models(s, mem, &a.models, err) || guess_rows(s, &rows, err) ||
	    ((want & USAGE_SESSIONS) && load_ranks(s, mem, &a.ranks, err)) ||
	    use(s, want & USAGE_AGENTS ? USAGE_ROWS_AGENTS : USAGE_ROWS, &st, err))
		return err_failed(err->status);
	make_room(&a, rows);
	if (stmt_each(&st, add_row, &a, err))
		return err_failed(err->status);
	if (want & USAGE_ORDERED)
		put_in_order(a.list, a.count, mem);
	*out = a.list;
	*count = a.count;
	return STATUS_OK;
}
