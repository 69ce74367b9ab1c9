/*
 * Adding up what answers cost. The table has a row for each message of each transcript;
 * forks, resumes and sub-agents repeat messages, so rows are joined by the message's id
 * wherever they stand. Taking the largest of each number does not depend on their order.
 */
#include "query/usage.h"

#include "base/numbers.h"
#include "store/db.h"

#include <stdlib.h>
#include <string.h>

enum { USAGE_COUNT, USAGE_MODELS, USAGE_ROWS, USAGE_STATEMENTS };

static const char *const sql[USAGE_STATEMENTS] = {
	[USAGE_COUNT] = "SELECT count(*) FROM usage",
	[USAGE_MODELS] = "SELECT id, name FROM model ORDER BY name",
	[USAGE_ROWS] =
		("SELECT message, coalesce(at, 0), session, input, output, written, written_1h, read, final,"
		" coalesce(model, 0) FROM usage"),
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
	enum step step;
	STMT st = { 0 };

	out->names = arena_alloc(mem, (MOST + 1) * sizeof *out->names);
	out->places = numbers_new(mem, MOST);
	if (use(s, USAGE_MODELS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW && out->count < MOST) {
		out->names[++out->count] = arena_str(mem, col_bytes(&st, 1));
		numbers_put(&out->places, (uint64_t)col_int(&st, 0), (uint32_t)out->count);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void join(struct usage *to, const struct usage *from)
{
	if (from->at &&
	    (!to->at || from->at < to->at || (from->at == to->at && from->session < to->session))) {
		to->at = from->at;
		to->session = from->session;
	}
	to->input = larger(to->input, from->input);
	to->output = larger(to->output, from->output);
	to->written = larger(to->written, from->written);
	to->written_1h = larger(to->written_1h, from->written_1h);
	to->read = larger(to->read, from->read);
	to->final |= from->final;
	if (!to->model.n || (from->model.n && str_cmp(from->model, to->model) < 0))
		to->model = from->model;
}

static int by_time(const void *a, const void *b)
{
	const struct usage *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->message < y->message ? -1 : x->message > y->message;
}

static void read_row(const struct stmt *st, const struct models *models, struct usage *out)
{
	uint32_t place = numbers_get(&models->places, (uint64_t)col_int(st, 9));

	*out = (struct usage){
		.message = (uint64_t)col_int(st, 0),
		.at = col_int(st, 1),
		.session = col_int(st, 2),
		.input = col_int(st, 3),
		.output = col_int(st, 4),
		.written = col_int(st, 5),
		.written_1h = col_int(st, 6),
		.read = col_int(st, 7),
		.final = col_int(st, 8) != 0,
	};
	if (place != NUMBERS_NONE)
		out->model = models->names[place];
}

enum status usage_all(struct store *s, struct arena *mem, struct usage **out, size_t *count, struct err *err)
{
	struct models models = { 0 };
	struct numbers known;
	STMT total = { 0 };
	STMT st = { 0 };
	enum step step;

	*count = 0;
	if (load_models(s, mem, &models, err) || use(s, USAGE_COUNT, &total, err) ||
	    stmt_row(&total, "usage", err) || use(s, USAGE_ROWS, &st, err))
		return err_failed(err->status);
	*out = arena_alloc(mem, (size_t)(col_int(&total, 0) + 1) * sizeof **out);
	known = numbers_new(mem, (size_t)col_int(&total, 0));
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		uint64_t message = (uint64_t)col_int(&st, 0);
		uint32_t at = numbers_get(&known, message);
		struct usage row;

		read_row(&st, &models, &row);
		if (at != NUMBERS_NONE) {
			join(&(*out)[at], &row);
			continue;
		}
		numbers_put(&known, message, (uint32_t)*count);
		(*out)[(*count)++] = row;
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	qsort(*out, *count, sizeof **out, by_time);
	return STATUS_OK;
}
