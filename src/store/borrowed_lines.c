/*
 * entry and usage as everybody reads them: rows that are stored, and rows that are borrowed (store/borrowed.h).
 *
 * Both have rows by session and offset. Those of a session are put together from its own and from the ranges of the
 * lenders that its runs say, both in order; a column is given as it is, or moved.
 *
 * Invariant: a run is over lines that follow each other, in the lender, too. So the lender's rows in its range are
 * exactly those that are borrowed.
 */
#include "store/borrowed_inner.h"

#include "base/hash.h"
#include "store/db.h"

#include <string.h>

/* What becomes of a column when its row is borrowed. */
enum move { AS_IT_IS, SESSION, BY_OFFSET, PARENT, BY_DOCS };

/* What is asked: rows of a session in a range, forwards and back; equal ones without a uuid; all; runs. */
enum kind { LINES_UP, LINES_DOWN, LINES_SAME, LINES_ALL, RUNS_IN, RUNS_ALL, KINDS };
_Static_assert((int)KINDS <= (int)INNER_KINDS, "there is room for them");

struct lines {
	const char *name;
	const char *declare;
	const char *const *names; /* of the columns */
	const char *sql[KINDS];	  /* of lines, behind their list */
	int place; /* the column that has the offset */
	bool has_same;
	const enum move *moves;
};

struct table {
	struct inner_table inner;
	const struct lines *lines;
};

#define LINES_OF(table, where) " FROM main." table "_own WHERE session = ?1 AND " where
#define IN_RANGE(column) column " BETWEEN ?2 AND ?3 ORDER BY " column
#define LINES_SQL(table, column, same) \
	{ \
		[LINES_UP] = (LINES_OF(table, IN_RANGE(column))), \
		[LINES_DOWN] = (LINES_OF(table, IN_RANGE(column) " DESC")), \
		[LINES_SAME] = (same), \
		[LINES_ALL] = (" FROM main." table "_own"), \
		[RUNS_IN] = (INNER_RUNS " WHERE session = ?1 AND offset > ?2 AND offset <= ?3 ORDER BY offset"), \
		[RUNS_ALL] = INNER_RUNS, \
	}

static const enum move entry_moves[ENTRY_COLUMNS] = {
	[ENTRY_SESSION] = SESSION, [ENTRY_OFFSET] = BY_OFFSET, [ENTRY_PARENT] = PARENT,
	[ENTRY_FIRST] = BY_OFFSET, [ENTRY_DOC] = BY_DOCS,
};

static const enum move usage_moves[USAGE_COLUMNS] = { [USAGE_SESSION] = SESSION, [USAGE_FIRST] = BY_OFFSET };

static const char *const entry_names[] = {
	"session", "offset", "length", "type", "flags",	  "at",	   "uuid", "line_id", "parent", "link",	  "content",
	"tools",   "agent",  "same",   "nth",  "message", "first", "doc",  "docs",    "blocks", NULL,
};
_Static_assert(COUNT(entry_names) == ENTRY_COLUMNS + 1, "each has its name");

static const char *const usage_names[] = { "session", "first", "model", "told", NULL };

static const struct lines tables[] = {
	{ "arbor_entry",
	  "CREATE TABLE x(session INTEGER, offset INTEGER, length INTEGER, type INTEGER, flags INTEGER, at INTEGER,"
	  " uuid, line_id BLOB, parent, link BLOB, content INTEGER, tools, agent TEXT, same INTEGER, nth INTEGER,"
	  " message INTEGER, first INTEGER, doc INTEGER, docs INTEGER, blocks INTEGER)",
	  entry_names, LINES_SQL("entry", "offset", LINES_OF("entry", "same = ?2")), ENTRY_OFFSET, true, entry_moves },
	{ "arbor_usage", "CREATE TABLE x(session INTEGER, first INTEGER, model INTEGER, told BLOB)",
	  usage_names, LINES_SQL("usage", "first", NULL), USAGE_FIRST, false, usage_moves },
};

static int connect_lines(sqlite3 *db, void *ctx, int count, const char *const *words, sqlite3_vtab **out, char **why)
{
	const struct lines *lines = &tables[0];
	int code;

	(void)ctx;
	(void)count;
	(void)why;
	while (strcmp(words[0], lines->name) != 0) /* as it is registered */
		lines++;
	code = inner_connect(db, lines->declare, lines->sql, sizeof(struct table), out);
	if (code != SQLITE_OK)
		return code;
	((struct table *)*out)->lines = lines;
	((struct table *)*out)->inner.names = lines->names;
	return SQLITE_OK;
}

/* ---- Lines: how they are found --------------------------------------------------- */

/* Bits of a plan: what is known of the rows, each with an argument, in this order; the order that is wanted; and behind
 * these the columns that are. */
enum {
	BY_SESSION = 1,
	BY_SAME = 2,
	FROM = 4,
	BEHIND = 8,
	UP_TO = 16,
	BEFORE = 32,
	EXACTLY = 64,
	BACKWARDS = 128,
	PLAN_BITS = 8,
};
_Static_assert(PLAN_BITS + ENTRY_COLUMNS < 31, "a plan is an int");

static int bit_of(const struct table *t, const struct sqlite3_index_constraint *c)
{
	if (!c->usable)
		return 0;
	if (c->iColumn == ENTRY_SESSION)
		return c->op == SQLITE_INDEX_CONSTRAINT_EQ ? BY_SESSION : 0;
	if (t->lines->has_same && c->iColumn == ENTRY_SAME)
		return c->op == SQLITE_INDEX_CONSTRAINT_EQ ? BY_SAME : 0;
	if (c->iColumn != t->lines->place)
		return 0;
	switch (c->op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return EXACTLY;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return FROM;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return BEHIND;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return UP_TO;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return BEFORE;
	default:
		return 0;
	}
}

static void set_order(const struct table *t, sqlite3_index_info *info)
{
	int from = info->nOrderBy && info->aOrderBy[0].iColumn == ENTRY_SESSION;

	if (!(info->idxNum & BY_SESSION) || (info->idxNum & BY_SAME) || info->nOrderBy != from + 1 ||
	    info->aOrderBy[from].iColumn != t->lines->place)
		return;
	info->orderByConsumed = 1;
	if (info->aOrderBy[from].desc)
		info->idxNum |= BACKWARDS;
}

static void set_cost(sqlite3_index_info *info)
{
	int plan = info->idxNum;
	bool bounded = (plan & (FROM | BEHIND)) && (plan & (UP_TO | BEFORE));

	if (!(plan & BY_SESSION)) {
		info->estimatedCost = 1e7;
		info->estimatedRows = 1000000;
	} else if (plan & EXACTLY) {
		info->estimatedCost = 10;
		info->estimatedRows = 1;
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	} else {
		info->estimatedRows = plan & BY_SAME ? 4 : bounded ? 20 : 200;
		info->estimatedCost = 10.0 + 2.0 * (double)info->estimatedRows;
	}
}

/* Where a row is has to be known whatever is asked of it. */
static int wanted_columns(const struct table *t, const sqlite3_index_info *info)
{
	return ((int)info->colUsed & ((1 << ENTRY_COLUMNS) - 1)) | 1 << ENTRY_SESSION | 1 << t->lines->place;
}

/* What is not known with the session is of no use; equal lines are few, and where they are is looked at by SQLite. */
static int plan_lines(sqlite3_vtab *table, sqlite3_index_info *info)
{
	static const int bits[] = { BY_SESSION, BY_SAME, FROM, BEHIND, UP_TO, BEFORE, EXACTLY };
	const struct table *t = (const struct table *)table;
	int arguments = 0;

	info->idxNum = 0;
	for (size_t b = 0; b < COUNT(bits) && (b == 0 || info->idxNum) && !(info->idxNum & BY_SAME); b++)
		for (int i = 0; i < info->nConstraint; i++)
			if (bit_of(t, &info->aConstraint[i]) == bits[b] && !(info->idxNum & bits[b])) {
				info->idxNum |= bits[b];
				info->aConstraintUsage[i].argvIndex = ++arguments;
				info->aConstraintUsage[i].omit = bits[b] == BY_SESSION || bits[b] == EXACTLY;
			}
	set_order(t, info);
	set_cost(info);
	info->idxNum |= wanted_columns(t, info) << PLAN_BITS;
	return SQLITE_OK;
}

/* ---- Lines: going through them ----------------------------------------------------- */

struct line_cursor {
	sqlite3_vtab_cursor base;
	enum kind how;
	uint32_t columns;
	bool by_session, back;
	int64_t low, high;	/* of the offsets that are wanted */
	sqlite3_stmt *own, *lent; /* lent: rows of the lender of the run in hand */
	bool has_own, has_lent;
	bool is_lent; /* the row in hand */
	struct borrowed_run *runs; /* forwards */
	size_t run_count, run_cap;
	size_t run; /* how many have been begun */
	bool knows_one;	 /* the first of them was over the place that was wanted last */
	int64_t changes; /* as many rows had been changed then */
};

static struct table *table_of(const sqlite3_vtab_cursor *c)
{
	return (struct table *)c->pVtab;
}

static int open_lines(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct line_cursor *c = mem_alloc(sizeof *c);

	(void)table;
	*out = &c->base;
	return SQLITE_OK;
}

static void end_lines(struct line_cursor *c)
{
	struct table *t = table_of(&c->base);

	inner_give_back(&t->inner, c->how, c->columns, &c->own);
	inner_give_back(&t->inner, c->back ? LINES_DOWN : LINES_UP, c->columns, &c->lent);
	c->run_count = c->run = 0;
	c->has_own = c->has_lent = false;
}

static int close_lines(sqlite3_vtab_cursor *cursor)
{
	struct line_cursor *c = (struct line_cursor *)cursor;

	end_lines(c);
	mem_free(c->runs);
	mem_free(c);
	return SQLITE_OK;
}

static const struct borrowed_run *run_in_hand(const struct line_cursor *c)
{
	return &c->runs[c->back ? c->run_count - c->run : c->run - 1];
}

static int64_t place_of(const struct line_cursor *c, sqlite3_stmt *st)
{
	return sqlite3_column_int64(st, table_of(&c->base)->lines->place);
}

/* The next row that is borrowed, perhaps of the next run. */
static int next_lent(struct line_cursor *c)
{
	int code = SQLITE_OK;

	if (c->has_lent)
		code = inner_step(c->lent, &c->has_lent);
	while (code == SQLITE_OK && !c->has_lent && c->run < c->run_count) {
		const struct borrowed_run *r;
		int64_t shift, from, to;

		c->run++;
		r = run_in_hand(c);
		shift = borrowed_shift(r);
		from = r->offset > c->low ? r->offset : c->low;
		to = r->until - 1 < c->high ? r->until - 1 : c->high;
		if (!c->lent)
			code = inner_take(inner_of(&c->base), c->back ? LINES_DOWN : LINES_UP, c->columns, &c->lent);
		if (code != SQLITE_OK)
			break;
		sqlite3_reset(c->lent);
		sqlite3_bind_int64(c->lent, 1, r->lender);
		sqlite3_bind_int64(c->lent, 2, from - shift);
		sqlite3_bind_int64(c->lent, 3, to - shift);
		code = inner_step(c->lent, &c->has_lent);
	}
	return code;
}

static int next_own(struct line_cursor *c)
{
	return c->own ? inner_step(c->own, &c->has_own) : SQLITE_OK;
}

/* Of both the one that comes first. Without a session there is no order: the borrowed ones come last. */
static void choose(struct line_cursor *c)
{
	int64_t own, lent;

	c->is_lent = c->has_lent;
	if (!c->has_lent || !c->has_own)
		return;
	own = place_of(c, c->own);
	lent = place_of(c, c->lent) + borrowed_shift(run_in_hand(c));
	c->is_lent = c->by_session && (c->back ? lent > own : lent < own);
}

static int load_runs(struct line_cursor *c, int64_t session)
{
	struct table *t = table_of(&c->base);
	enum kind which = c->by_session ? RUNS_IN : RUNS_ALL;
	sqlite3_stmt *st = NULL;
	int code = inner_take(&t->inner, which, 0, &st);

	c->knows_one = false;
	if (code != SQLITE_OK)
		return code;
	if (c->by_session) {
		sqlite3_bind_int64(st, 1, session);
		sqlite3_bind_int64(st, 2, c->low > INT64_MIN + BORROWED_BYTES ? c->low - BORROWED_BYTES : INT64_MIN);
		sqlite3_bind_int64(st, 3, c->high);
	}
	while ((code = sqlite3_step(st)) == SQLITE_ROW) {
		if (c->run_count == c->run_cap) {
			c->run_cap = c->run_cap ? 2 * c->run_cap : 8;
			c->runs = mem_resize(c->runs, c->run_cap * sizeof *c->runs);
		}
		c->runs[c->run_count] = inner_run(st);
		c->run_count += c->runs[c->run_count].until > c->low;
	}
	inner_give_back(&t->inner, which, 0, &st);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static void bind_own(struct line_cursor *c, int64_t session, sqlite3_value *same)
{
	if (!c->by_session)
		return;
	sqlite3_bind_int64(c->own, 1, session);
	if (c->how == LINES_SAME) {
		sqlite3_bind_value(c->own, 2, same);
		return;
	}
	sqlite3_bind_int64(c->own, 2, c->low);
	sqlite3_bind_int64(c->own, 3, c->high);
}

static int begin_own(struct line_cursor *c, int64_t session, sqlite3_value *same)
{
	int code = inner_take(inner_of(&c->base), c->how, c->columns, &c->own);

	if (code != SQLITE_OK)
		return code;
	bind_own(c, session, same);
	return next_own(c);
}

/* Whether the run that was found last is over the place that is wanted. The snapshot is the same, but for what this
 * connection has changed. */
static bool is_known(const struct line_cursor *c, int64_t session)
{
	const struct borrowed_run *r = c->runs;

	return c->knows_one && r->session == session && r->offset <= c->low && c->low < r->until &&
	       c->changes == sqlite3_total_changes64(inner_of(&c->base)->db);
}

/* The row in one place: what is stored there is not borrowed, and the other way round. Whoever joins lines with
 * something asks for one after the other, and most of them are of the same run. */
static int find_one(struct line_cursor *c, int64_t session)
{
	int code = SQLITE_OK;

	if (is_known(c, session)) {
		c->run_count = 1;
	} else {
		code = begin_own(c, session, NULL);
		if (code == SQLITE_OK && !c->has_own)
			code = load_runs(c, session);
		c->knows_one = c->run_count == 1;
		c->changes = sqlite3_total_changes64(inner_of(&c->base)->db);
	}
	if (code == SQLITE_OK)
		code = next_lent(c);
	choose(c);
	return code;
}

static void set_bounds(struct line_cursor *c, int plan, sqlite3_value **arguments)
{
	int at = (plan & BY_SESSION ? 1 : 0) + (plan & BY_SAME ? 1 : 0);
	int64_t v;

	c->low = INT64_MIN;
	c->high = INT64_MAX;
#define NARROW(bit, side, better, value) \
	if (plan & (bit)) { \
		v = sqlite3_value_int64(arguments[at]); \
		at++; \
		if ((value) better c->side) \
			c->side = (value); \
	}
	NARROW(FROM, low, >, v)
	NARROW(BEHIND, low, >, v == INT64_MAX ? v : v + 1)
	NARROW(UP_TO, high, <, v)
	NARROW(BEFORE, high, <, v == INT64_MIN ? v : v - 1)
#undef NARROW
	if (plan & EXACTLY) {
		v = sqlite3_value_int64(arguments[at]);
		c->low = v > c->low ? v : c->low;
		c->high = v < c->high ? v : c->high;
	}
}

static int filter_lines(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **arguments)
{
	struct line_cursor *c = (struct line_cursor *)cursor;
	int64_t session = plan & BY_SESSION ? sqlite3_value_int64(arguments[0]) : 0;
	int code;

	(void)text;
	end_lines(c);
	c->columns = (uint32_t)plan >> PLAN_BITS;
	c->by_session = plan & BY_SESSION;
	c->back = plan & BACKWARDS;
	c->how = !c->by_session ? LINES_ALL : plan & BY_SAME ? LINES_SAME : c->back ? LINES_DOWN : LINES_UP;
	if (inner_any_null(arguments, count))
		return SQLITE_OK;
	set_bounds(c, plan, arguments);
	if (c->how != LINES_SAME && c->by_session && c->low == c->high)
		return find_one(c, session);
	code = begin_own(c, session, plan & BY_SAME ? arguments[1] : NULL);
	/* What has a number among equal lines is nobody else's. */
	if (code == SQLITE_OK && c->how != LINES_SAME)
		code = load_runs(c, session);
	if (code == SQLITE_OK)
		code = next_lent(c);
	choose(c);
	return code;
}

static int next_line(sqlite3_vtab_cursor *cursor)
{
	struct line_cursor *c = (struct line_cursor *)cursor;
	int code = c->is_lent ? next_lent(c) : next_own(c);

	choose(c);
	return code;
}

static int lines_end(sqlite3_vtab_cursor *cursor)
{
	const struct line_cursor *c = (const struct line_cursor *)cursor;

	return !c->has_own && !c->has_lent;
}

static void give_lent(const struct line_cursor *c, sqlite3_context *result, int column)
{
	const struct borrowed_run *r = run_in_hand(c);
	sqlite3_value *v = sqlite3_column_value(c->lent, column);
	bool is_number = sqlite3_value_type(v) == SQLITE_INTEGER;

	switch (table_of(&c->base)->lines->moves[column]) {
	case SESSION:
		sqlite3_result_int64(result, r->session);
		return;
	case PARENT:
		if (r->has_parent && place_of(c, c->lent) == r->at)
			sqlite3_result_int64(result, r->parent);
		else if (is_number)
			sqlite3_result_int64(result, sqlite3_value_int64(v) + borrowed_shift(r));
		else
			sqlite3_result_value(result, v);
		return;
	case BY_OFFSET:
	case BY_DOCS:
		if (!is_number)
			break;
		sqlite3_result_int64(result, sqlite3_value_int64(v) +
						     (column == ENTRY_DOC ? r->docs : borrowed_shift(r)));
		return;
	case AS_IT_IS:
		break;
	}
	sqlite3_result_value(result, v);
}

static int line_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct line_cursor *c = (const struct line_cursor *)cursor;

	if (c->is_lent)
		give_lent(c, result, column);
	else
		sqlite3_result_value(result, sqlite3_column_value(c->own, column));
	return SQLITE_OK;
}

/* SQLite knows rows again by it. */
static int line_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	const struct line_cursor *c = (const struct line_cursor *)cursor;
	sqlite3_stmt *st = c->is_lent ? c->lent : c->own;
	int64_t of[2] = {
		c->is_lent ? run_in_hand(c)->session : sqlite3_column_int64(st, ENTRY_SESSION),
		place_of(c, st) + (c->is_lent ? borrowed_shift(run_in_hand(c)) : 0),
	};

	*out = (int64_t)hash64(of, sizeof of);
	return SQLITE_OK;
}

const sqlite3_module borrowed_lines_module = {
	.xConnect = connect_lines,
	.xBestIndex = plan_lines,
	.xDisconnect = inner_disconnect,
	.xOpen = open_lines,
	.xClose = close_lines,
	.xFilter = filter_lines,
	.xNext = next_line,
	.xEof = lines_end,
	.xColumn = line_column,
	.xRowid = line_rowid,
};
