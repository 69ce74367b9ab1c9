/*
 * node_key as everybody reads it: keys that are stored, and those of lines that are borrowed (store/borrowed.h). It is
 * asked by key. Each row that is stored is followed by those of everybody who borrows its line.
 */
#include "store/borrowed_inner.h"

#include "base/hash.h"
#include "store/db.h"

#include <stdlib.h>

enum kind { KEYS_IN, BORROWERS, BORROWER };

static const char *const sql[] = {
	[KEYS_IN] = ("SELECT key, session, offset, part FROM main.node_key_own WHERE key BETWEEN ?1 AND ?2"
		     " ORDER BY key, session, offset, part"),
	[BORROWERS] = INNER_RUNS " WHERE lender = ?1 AND at > ?2 AND at <= ?3",
	[BORROWER] = INNER_RUNS " WHERE session = ?4 AND lender = ?1 AND at > ?2 AND at <= ?3",
};

static int connect_keys(sqlite3 *db, void *ctx, int count, const char *const *words, sqlite3_vtab **out, char **why)
{
	(void)ctx;
	(void)count;
	(void)words;
	(void)why;
	return inner_connect(db, "CREATE TABLE x(key INTEGER, session INTEGER, offset INTEGER, part INTEGER)", sql,
			     sizeof(struct inner_table), out);
}

enum { KEY, KEY_SESSION, KEY_OFFSET, KEY_PART };

/* Bits of a plan: what is known of the rows, each with an argument, in this order. */
enum { KEY_IS = 1, FROM = 2, UP_TO = 4, SESSION_IS = 8, PART_IS = 16 };

struct key_row {
	int64_t key, session, offset, part;
};

struct key_cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *own;
	bool has_own;
	bool at_once; /* all rows are gathered and put into order: they have one key. But for the first: */
	bool has_first; /* it has been given, and its borrowers have not */
	struct key_row first;
	bool one_session, one_part;
	int64_t session, part;
	struct key_row *rows;
	size_t count, cap, at;
};

static int key_bit_of(const struct sqlite3_index_constraint *c)
{
	if (!c->usable)
		return 0;
	if (c->op == SQLITE_INDEX_CONSTRAINT_EQ)
		return c->iColumn == KEY	   ? KEY_IS
		       : c->iColumn == KEY_SESSION ? SESSION_IS
		       : c->iColumn == KEY_PART	   ? PART_IS
						   : 0;
	if (c->iColumn != KEY)
		return 0;
	return c->op == SQLITE_INDEX_CONSTRAINT_GE ? FROM : c->op == SQLITE_INDEX_CONSTRAINT_LE ? UP_TO : 0;
}

/* By session, offset and part, as far as it goes; the key itself says nothing. */
static bool is_in_order(const sqlite3_index_info *info)
{
	int column = KEY_SESSION;

	for (int i = 0; i < info->nOrderBy; i++) {
		if (info->aOrderBy[i].iColumn == KEY)
			continue;
		if (info->aOrderBy[i].iColumn != column++ || info->aOrderBy[i].desc)
			return false;
	}
	return info->nOrderBy > 0;
}

static int plan_keys(sqlite3_vtab *table, sqlite3_index_info *info)
{
	static const int bits[] = { KEY_IS, FROM, UP_TO, SESSION_IS, PART_IS };
	int arguments = 0;

	(void)table;
	info->idxNum = 0;
	for (size_t b = 0; b < COUNT(bits); b++)
		for (int i = 0; i < info->nConstraint; i++)
			if (key_bit_of(&info->aConstraint[i]) == bits[b] && !(info->idxNum & bits[b])) {
				info->idxNum |= bits[b];
				info->aConstraintUsage[i].argvIndex = ++arguments;
				info->aConstraintUsage[i].omit = 1;
			}
	info->orderByConsumed = (info->idxNum & KEY_IS) && is_in_order(info);
	info->estimatedRows = info->idxNum & KEY_IS ? 2 : info->idxNum & FROM ? 10 : 1000000;
	info->estimatedCost = 10.0 * (double)info->estimatedRows;
	return SQLITE_OK;
}

static int open_keys(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct key_cursor *c = mem_alloc(sizeof *c);

	(void)table;
	*out = &c->base;
	return SQLITE_OK;
}

static int close_keys(sqlite3_vtab_cursor *cursor)
{
	struct key_cursor *c = (struct key_cursor *)cursor;

	inner_give_back(inner_of(cursor), KEYS_IN, 0, &c->own);
	mem_free(c->rows);
	mem_free(c);
	return SQLITE_OK;
}

static void add_row(struct key_cursor *c, const struct key_row *row)
{
	if (c->one_session && row->session != c->session)
		return;
	if (c->count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 8;
		c->rows = mem_resize(c->rows, c->cap * sizeof *c->rows);
	}
	c->rows[c->count++] = *row;
}

/* All that are borrowed from a row that is there. */
static int add_borrowers(struct key_cursor *c, const struct key_row *row)
{
	struct inner_table *t = inner_of(&c->base);
	enum kind which = c->one_session ? BORROWER : BORROWERS;
	sqlite3_stmt *st = NULL;
	int code = inner_take(t, which, 0, &st);

	if (code != SQLITE_OK)
		return code;
	if (c->one_session)
		sqlite3_bind_int64(st, 4, c->session);
	sqlite3_bind_int64(st, 1, row->session);
	sqlite3_bind_int64(st, 2, row->offset - BORROWED_BYTES);
	sqlite3_bind_int64(st, 3, row->offset);
	while ((code = sqlite3_step(st)) == SQLITE_ROW) {
		struct key_row more = *row;
		struct borrowed_run r = inner_run(st);

		more.session = r.session;
		more.offset += borrowed_shift(&r);
		if (more.offset < r.until)
			add_row(c, &more);
	}
	inner_give_back(t, which, 0, &st);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int add_with_borrowers(struct key_cursor *c, const struct key_row *row)
{
	add_row(c, row);
	return add_borrowers(c, row);
}

static int compare_rows(const void *a, const void *b)
{
	const struct key_row *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

/*
 * Rows until there are some, or all. Who asks for a key mostly wants to know of one row, whichever it is, and there may
 * be hundreds of forks. The first that is stored is the first of all: who borrows has a larger number than its lender.
 */
static int gather(struct key_cursor *c)
{
	bool first = c->at_once && !c->has_first && !c->one_session;
	int code = SQLITE_OK;

	c->count = c->at = 0;
	if (c->has_first)
		code = add_borrowers(c, &c->first);
	c->has_first = false;
	while (code == SQLITE_OK && c->has_own && (c->at_once || !c->count)) {
		struct key_row row = {
			sqlite3_column_int64(c->own, KEY),
			sqlite3_column_int64(c->own, KEY_SESSION),
			sqlite3_column_int64(c->own, KEY_OFFSET),
			sqlite3_column_int64(c->own, KEY_PART),
		};

		if (code == SQLITE_OK)
			code = inner_step(c->own, &c->has_own);
		if (c->one_part && row.part != c->part)
			continue;
		if (code == SQLITE_OK && first) {
			c->has_first = true;
			c->first = row;
			add_row(c, &row);
			return SQLITE_OK;
		}
		if (code == SQLITE_OK)
			code = add_with_borrowers(c, &row);
	}
	if (c->at_once && c->count > 1)
		qsort(c->rows, c->count, sizeof *c->rows, compare_rows);
	return code;
}

static int filter_keys(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **arguments)
{
	struct key_cursor *c = (struct key_cursor *)cursor;
	int64_t low = INT64_MIN, high = INT64_MAX, v;
	int at = 0, code;

	(void)text;
	inner_give_back(inner_of(cursor), KEYS_IN, 0, &c->own);
	c->count = c->at = 0;
	c->has_own = c->has_first = false;
	if (inner_any_null(arguments, count))
		return SQLITE_OK;
	c->at_once = plan & KEY_IS;
	if (plan & KEY_IS)
		low = high = sqlite3_value_int64(arguments[at++]);
	if ((plan & FROM) && (v = sqlite3_value_int64(arguments[at++])) > low)
		low = v;
	if ((plan & UP_TO) && (v = sqlite3_value_int64(arguments[at++])) < high)
		high = v;
	c->one_session = plan & SESSION_IS;
	c->session = c->one_session ? sqlite3_value_int64(arguments[at++]) : 0;
	c->one_part = plan & PART_IS;
	c->part = c->one_part ? sqlite3_value_int64(arguments[at++]) : 0;
	code = inner_take(inner_of(cursor), KEYS_IN, 0, &c->own);
	if (code != SQLITE_OK)
		return code;
	sqlite3_bind_int64(c->own, 1, low);
	sqlite3_bind_int64(c->own, 2, high);
	code = inner_step(c->own, &c->has_own);
	return code == SQLITE_OK ? gather(c) : code;
}

static int next_key(sqlite3_vtab_cursor *cursor)
{
	struct key_cursor *c = (struct key_cursor *)cursor;

	return ++c->at < c->count ? SQLITE_OK : gather(c);
}

static int keys_end(sqlite3_vtab_cursor *cursor)
{
	const struct key_cursor *c = (const struct key_cursor *)cursor;

	return c->at >= c->count;
}

static int key_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct key_cursor *c = (const struct key_cursor *)cursor;
	const struct key_row *row = &c->rows[c->at];

	sqlite3_result_int64(result, column == KEY	     ? row->key
				     : column == KEY_SESSION ? row->session
				     : column == KEY_OFFSET  ? row->offset
							     : row->part);
	return SQLITE_OK;
}

static int key_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	const struct key_cursor *c = (const struct key_cursor *)cursor;

	*out = (int64_t)hash64(&c->rows[c->at], sizeof c->rows[c->at]);
	return SQLITE_OK;
}

const sqlite3_module borrowed_keys_module = {
	.xConnect = connect_keys,
	.xBestIndex = plan_keys,
	.xDisconnect = inner_disconnect,
	.xOpen = open_keys,
	.xClose = close_keys,
	.xFilter = filter_keys,
	.xNext = next_key,
	.xEof = keys_end,
	.xColumn = key_column,
	.xRowid = key_rowid,
};
