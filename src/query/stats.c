/*
 * Counting what happened. Lines are told apart by the id of their message or by their own,
 * which copies, forks and continuations share; calls of tools by theirs.
 */
#include "query/stats.h"

#include "base/hash.h"
#include "base/numbers.h"
#include "claude/record.h"
#include "store/db.h"

#include <string.h>

enum { STATS_COUNT, STATS_LINES, STATS_STATEMENTS };

static const char *const sql[STATS_STATEMENTS] = {
	[STATS_COUNT] = "SELECT count(*), coalesce(sum(CASE typeof(tools) WHEN 'blob' THEN length(tools) / 8"
			" WHEN 'integer' THEN 1 ELSE 0 END), 0) FROM entry",
	[STATS_LINES] =
		"SELECT session, offset, type, flags, coalesce(at, 0), uuid, message, coalesce(first, -1),"
		" CASE typeof(tools) WHEN 'integer' THEN tools END,"
		" CASE typeof(tools) WHEN 'blob' THEN tools END, agent FROM entry",
};

const struct db_set stats_statements = { DB_STATS, sql, STATS_STATEMENTS };

struct counting {
	stats_fn *fn;
	void *ctx;
	struct numbers prompts, messages, calls; /* that have been counted */
	const struct stmt *st;
	struct stats_event event;
};

static void count(struct counting *c, struct numbers *counted, enum stats_kind kind, uint64_t key)
{
	c->event.kind = kind;
	c->event.again = numbers_get(counted, key) != NUMBERS_NONE;
	if (c->fn(c->ctx, &c->event) && !c->event.again)
		numbers_put(counted, key, 0);
}

/* What a line shares with its copies; without an id it has none. */
static uint64_t key_of(const struct stmt *st)
{
	struct str uuid = col_bytes(st, 5);
	const int64_t place[2] = { col_int(st, 0), col_int(st, 1) };

	return uuid.n ? hash64(uuid.p, uuid.n) : hash64(place, sizeof place);
}

static void count_calls(struct counting *c)
{
	struct str several = col_bytes(c->st, 9);

	if (!col_null(c->st, 8))
		count(c, &c->calls, STATS_CALL, (uint64_t)col_int(c->st, 8));
	for (size_t at = 0; !col_null(c->st, 9) && at + sizeof(uint64_t) <= several.n;
	     at += sizeof(uint64_t)) {
		uint64_t call;

		memcpy(&call, several.p + at, sizeof call);
		count(c, &c->calls, STATS_CALL, call);
	}
}

static void count_line(struct counting *c)
{
	const struct stmt *st = c->st;
	unsigned flags = (unsigned)col_int(st, 3);

	c->event = (struct stats_event){ .session = col_int(st, 0),
					 .at = col_int(st, 4),
					 .aside = (flags & (RECORD_SIDECHAIN | RECORD_EMBEDDED)) != 0,
					 .agent = col_bytes(st, 10) };
	if ((flags & RECORD_TASK) && !c->event.agent.n)
		c->event.task = col_bytes(st, 5);
	if (record_is_typed(flags))
		count(c, &c->prompts, STATS_PROMPT, key_of(st));
	if (col_int(st, 7) == col_int(st, 1))
		count(c, &c->messages, STATS_MESSAGE,
		      col_null(st, 6) ? key_of(st) : (uint64_t)col_int(st, 6));
	if (col_int(st, 2) == RECORD_ASSISTANT)
		count_calls(c);
}

static enum status begin(struct store *s, struct arena *mem, struct counting *c, struct err *err)
{
	STMT total = { 0 };

	if (stmt_use(s, &stats_statements, STATS_COUNT, &total, err) || stmt_row(&total, "lines", err))
		return err_failed(err->status);
	c->prompts = numbers_new(mem, (size_t)col_int(&total, 0));
	c->messages = numbers_new(mem, (size_t)col_int(&total, 0));
	c->calls = numbers_new(mem, (size_t)col_int(&total, 1));
	return STATUS_OK;
}

enum status stats_each(struct store *s, struct arena *mem, stats_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };
	struct counting c = { .fn = fn, .ctx = ctx, .st = &st };
	enum step step;

	if (begin(s, mem, &c, err) || stmt_use(s, &stats_statements, STATS_LINES, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		count_line(&c);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}
