/*
 * Tables that only our own statements use, as functions with rows:
 *
 *     arbor_part(session, offset, low, high)   numbers from low to high - 1; from 0 on they are
 *                                              blocks of the line, which is read when that is asked
 *     arbor_change(session, offset)            what a line tells of files that were changed
 *     arbor_hit(query, places)                 lines that a search finds, best first
 *
 * Arguments are hidden columns, as SQLite has it, and must all be given. Cursors keep no pointers
 * into a line: others are read between two rows.
 */
#include "query/sql_inside.h"

#include "base/map.h"
#include "claude/change.h"
#include "query/exact.h"
#include "query/expr.h"
#include "query/rank.h"
#include "query/search.h"

#include <string.h>

struct function_kind {
	const char *name;
	const char *declared;
	int first, arguments; /* columns that are arguments */
	size_t cursor;	      /* bytes of one */
};

struct function_table {
	sqlite3_vtab base; /* first: SQLite knows it by this */
	struct sql *q;
	const struct function_kind *kind;
};

/* What every cursor begins with. */
struct rows {
	sqlite3_vtab_cursor base;
	int64_t at, end;
};

enum { PART_NUMBER, PART_KIND, PART_NAME, PART_CALL_ID, PART_INPUT, PART_ARGUMENTS };

struct part_cursor {
	struct rows rows;
	int64_t session, offset;
};

enum { CHANGE_PATH, CHANGE_HOW, CHANGE_TOOL, CHANGE_BACKUP, CHANGE_VERSION, CHANGE_AT, CHANGE_ARGUMENTS };

struct change_row {
	struct str path, backup;
	const char *how, *tool;
	int64_t version, at; /* 0 = unknown */
};

/* A call whose result says in words alone that it was done. */
struct done_call {
	struct str id;
	bool made; /* the file is new */
};

struct change_cursor {
	struct rows rows;
	struct arena mem;
	struct change_row *list;
	size_t count, cap;
};

enum { HIT_SESSION, HIT_OFFSET, HIT_RANK, HIT_ARGUMENTS, HIT_QUERY = HIT_ARGUMENTS };

struct hit_cursor {
	struct rows rows;
	struct arena mem;
	struct str query;
	struct ranking ranking; /* of lines, each once */
};

static const struct function_kind kinds[] = {
	{ "arbor_part",
	  "CREATE TABLE x(part, kind, name, call, input, session HIDDEN, offset HIDDEN, low HIDDEN, high "
	  "HIDDEN)",
	  PART_ARGUMENTS, 4, sizeof(struct part_cursor) },
	{ "arbor_change",
	  "CREATE TABLE x(path, change, tool, backup, version, at, session HIDDEN, offset HIDDEN)",
	  CHANGE_ARGUMENTS, 2, sizeof(struct change_cursor) },
	{ "arbor_hit", "CREATE TABLE x(session, offset, rank, query HIDDEN, places HIDDEN)", HIT_ARGUMENTS, 2,
	  sizeof(struct hit_cursor) },
};

/* ---- What they have in common ------------------------------------------------------------ */

static int connect_table(sqlite3 *db, void *q, int argc, const char *const *argv, sqlite3_vtab **out,
			 char **error)
{
	struct function_table *t = mem_alloc(sizeof *t);
	int code;

	(void)argc;
	(void)error;
	t->q = q;
	t->kind = kinds;
	while (strcmp(t->kind->name, argv[0]) != 0)
		t->kind++;
	code = sqlite3_declare_vtab(db, t->kind->declared);
	if (code == SQLITE_OK)
		*out = &t->base;
	else
		mem_free(t);
	return code;
}

static int disconnect(sqlite3_vtab *table)
{
	mem_free(table);
	return SQLITE_OK;
}

/* All arguments are wanted; without one of them there is no way here. */
static int want_arguments(sqlite3_vtab *table, sqlite3_index_info *info)
{
	const struct function_kind *kind = ((struct function_table *)table)->kind;
	int found = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		int at = info->aConstraint[i].iColumn - kind->first;

		if (at < 0 || at >= kind->arguments ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || !info->aConstraint[i].usable ||
		    found & 1 << at)
			continue;
		found |= 1 << at;
		info->aConstraintUsage[i].argvIndex = at + 1;
		info->aConstraintUsage[i].omit = 1;
	}
	info->estimatedCost = 10;
	info->estimatedRows = 10;
	return found == (1 << kind->arguments) - 1 ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct rows *r = mem_alloc(((struct function_table *)table)->kind->cursor);

	*out = &r->base;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor)
{
	((struct rows *)cursor)->at++;
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	const struct rows *r = (struct rows *)cursor;

	return r->at >= r->end;
}

static struct sql *sql_of(const sqlite3_vtab_cursor *cursor)
{
	return ((struct function_table *)cursor->pVtab)->q;
}

static int no_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	(void)cursor;
	*out = 0;
	return SQLITE_OK;
}

/* ---- arbor_part ----------------------------------------------------------------------- */

static int part_close(sqlite3_vtab_cursor *cursor)
{
	mem_free(cursor);
	return SQLITE_OK;
}

static int part_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count,
		       sqlite3_value **values)
{
	struct part_cursor *c = (struct part_cursor *)cursor;

	(void)number;
	(void)text;
	(void)count;
	c->session = sqlite3_value_int64(values[0]);
	c->offset = sqlite3_value_int64(values[1]);
	c->rows.at = sqlite3_value_int64(values[2]);
	c->rows.end = sqlite3_value_int64(values[3]);
	return SQLITE_OK;
}

static void give_block(struct sql *q, sqlite3_context *result, const struct record_block *b, int column)
{
	const struct json *j = &q->from->reader.json;

	switch (column) {
	case PART_KIND:
		sql_give(result, str_of(block_kind_name(b->kind)));
		break;
	case PART_NAME:
		sql_give(result, b->name);
		break;
	case PART_CALL_ID:
		sql_give(result, b->tool);
		break;
	case PART_INPUT:
		sql_give(result, json_raw(j, json_get(j, b->node, STR("input"))));
		break;
	default:
		break;
	}
}

static int part_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct part_cursor *c = (struct part_cursor *)cursor;
	struct sql *q = sql_of(cursor);
	const struct record_block *b;
	struct err err;
	bool found;

	if (column == PART_NUMBER) {
		sqlite3_result_int64(result, c->rows.at);
		return SQLITE_OK;
	}
	if (c->rows.at < 0)
		return SQLITE_OK;
	if (sql_line(q, c->session, c->offset, &found, &err))
		return sql_failed(q, &err);
	b = found ? sql_block(q, c->rows.at) : NULL;
	if (b)
		give_block(q, result, b, column);
	return SQLITE_OK;
}

static const sqlite3_module part_module = {
	.xConnect = connect_table,
	.xBestIndex = want_arguments,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = part_close,
	.xFilter = part_filter,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = part_column,
	.xRowid = no_rowid,
};

/* ---- arbor_change ----------------------------------------------------------------------- */

static int change_close(sqlite3_vtab_cursor *cursor)
{
	struct change_cursor *c = (struct change_cursor *)cursor;

	arena_release(&c->mem);
	mem_free(c->list);
	mem_free(c);
	return SQLITE_OK;
}

static void add_change(struct change_cursor *c, const struct change_row *row)
{
	if (c->count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 8;
		c->list = mem_resize(c->list, c->cap * sizeof *c->list);
	}
	c->list[c->count] = *row;
	c->list[c->count].path = arena_str(&c->mem, row->path);
	c->list[c->count].backup = row->backup.n ? arena_str(&c->mem, row->backup) : (struct str){ 0 };
	c->count++;
}

static const char *change_name(enum change_kind kind)
{
	switch (kind) {
	case CHANGE_CREATE:
		return "create";
	case CHANGE_UPDATE:
		return "update";
	case CHANGE_EDIT:
		return "edit";
	case CHANGE_READ:
	case CHANGE_ALIEN:
		break;
	}
	return NULL;
}

static void take_changes(struct change_cursor *c, struct record_reader *r, const struct record *record)
{
	struct snapshot snapshot;
	struct snapshot_file file;
	struct change change;

	if (change_read(r, record, &change) && change_name(change.kind))
		add_change(c, &(struct change_row){ .path = change.path,
						    .how = change_name(change.kind),
						    .tool = change.tool,
						    .at = record->has_time ? record->at : 0 });
	if (!snapshot_read(r, record, &snapshot))
		return;
	for (uint32_t at = 0; snapshot_next(r, &snapshot, &at, &file);)
		add_change(c, &(struct change_row){ .path = file.path,
						    .how = "backup",
						    .backup = file.backup,
						    .version = file.version,
						    .at = file.at });
}

/* Calls whose results stand in the line in hand and are told by it in words alone. */
static size_t done_calls(struct change_cursor *c, struct sql *q, struct done_call *done, size_t most)
{
	const struct json *j = &q->from->reader.json;
	struct block_cursor at = { 0 };
	struct record_block b;
	struct str path;
	size_t count = 0;

	if (q->record.type != RECORD_USER || json_get(j, json_root(j), STR("toolUseResult")) != JSON_NONE)
		return 0;
	while (count < most && record_block(&q->from->reader, &q->record, &at, &b))
		if (b.kind == BLOCK_TOOL_RESULT && !b.is_error && b.tool.n) {
			struct done_call *d = &done[count++];

			d->id = arena_str(&c->mem, b.tool);
			d->made = change_said(&q->from->reader, &b, &path, &d->made) && d->made;
		}
	return count;
}

/* What the call itself says; of a tool that changes files. */
static enum status take_call(struct change_cursor *c, struct sql *q, int64_t session, const struct done_call *done,
			     int64_t when, struct err *err)
{
	const struct record_block *call;
	struct change change;

	if (sql_call(q, session, done->id, BLOCK_TOOL_USE, -1, &call, err))
		return err_failed(err->status);
	if (call && change_of_call(&q->from->reader, call, done->made, &change))
		add_change(c, &(struct change_row){ .path = change.path,
						    .how = change_name(change.kind),
						    .tool = change.tool,
						    .at = when });
	return STATUS_OK;
}

/* Reading a call ends the line in hand. */
static enum status take_done(struct change_cursor *c, struct sql *q, int64_t session, struct err *err)
{
	enum { MOST = 64 }; /* results in one line; the client writes one */
	int64_t when = q->record.has_time ? q->record.at : 0;
	struct done_call done[MOST];
	size_t count = done_calls(c, q, done, MOST);

	for (size_t i = 0; i < count; i++)
		if (take_call(c, q, session, &done[i], when, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static int change_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count,
			 sqlite3_value **values)
{
	struct change_cursor *c = (struct change_cursor *)cursor;
	struct sql *q = sql_of(cursor);
	struct err err;
	bool found;

	(void)number;
	(void)text;
	(void)count;
	c->count = 0;
	c->rows.at = c->rows.end = 0;
	arena_release(&c->mem);
	if (sql_line(q, sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1]), &found, &err))
		return sql_failed(q, &err);
	if (found)
		take_changes(c, &q->from->reader, &q->record);
	if (found && take_done(c, q, sqlite3_value_int64(values[0]), &err))
		return sql_failed(q, &err);
	c->rows.end = (int64_t)c->count;
	return SQLITE_OK;
}

static void give_number(sqlite3_context *result, int64_t n)
{
	if (n)
		sqlite3_result_int64(result, n);
}

static int change_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct change_cursor *c = (struct change_cursor *)cursor;
	const struct change_row *row = &c->list[c->rows.at];

	switch (column) {
	case CHANGE_PATH:
		sql_give(result, row->path);
		break;
	case CHANGE_HOW:
		sql_give(result, str_of(row->how));
		break;
	case CHANGE_TOOL:
		sql_give(result, row->tool ? str_of(row->tool) : (struct str){ 0 });
		break;
	case CHANGE_BACKUP:
		sql_give(result, row->backup);
		break;
	case CHANGE_VERSION:
		give_number(result, row->version);
		break;
	case CHANGE_AT:
		give_number(result, row->at);
		break;
	default:
		break;
	}
	return SQLITE_OK;
}

static const sqlite3_module change_module = {
	.xConnect = connect_table,
	.xBestIndex = want_arguments,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = change_close,
	.xFilter = change_filter,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = change_column,
	.xRowid = no_rowid,
};

/* ---- arbor_hit ------------------------------------------------------------------------- */

static int hit_close(sqlite3_vtab_cursor *cursor)
{
	struct hit_cursor *c = (struct hit_cursor *)cursor;

	ranking_release(&c->ranking);
	arena_release(&c->mem);
	mem_free(c);
	return SQLITE_OK;
}

/* Of the parts of a line that match the best stands for it. What is in no conversation is in no table. */
static void keep_lines(struct ranking *r)
{
	struct map seen CLEANUP(map_release) = MAP_INIT;
	size_t kept = 0;

	struct {
		int64_t session, offset;
	} *keys = mem_alloc((r->count + 1) * sizeof *keys);

	for (size_t i = 0; i < r->count; i++) {
		struct str key = str_from((const char *)&keys[i], sizeof keys[i]);

		keys[i].session = r->list[i].doc.session;
		keys[i].offset = r->list[i].doc.offset;
		if (keys[i].session >= DOC_NODES || map_get(&seen, key))
			continue;
		map_put(&seen, key, &keys[i]);
		r->list[kept++] = r->list[i];
	}
	r->count = kept;
	mem_free(keys);
}

static enum status run_search(struct sql *q, struct str query, const struct rank_query *wanted,
			      struct ranking *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct expr expr CLEANUP(expr_release) = { 0 };
	struct rank_query rank = *wanted;

	if (expr_read(&expr, query, false, &mem, err))
		return err_failed(err->status);
	rank.match = buf_as_str(&expr.match);
	rank.items = expr.items;
	rank.phrase_count = expr.phrase_count;
	if (rank_run(q->store, &rank, out, err) || exact_signs(q->store, &expr, out, err))
		return err_failed(err->status);
	keep_lines(out);
	return STATUS_OK;
}

static int hit_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int count,
		      sqlite3_value **values)
{
	struct hit_cursor *c = (struct hit_cursor *)cursor;
	struct sql *q = sql_of(cursor);
	struct rank_query rank = { .now = store_now(q->store),
				   .places = (unsigned)sqlite3_value_int(values[1]),
				   .weights = search_weights,
				   .place_count = PLACES };
	enum status status;
	struct err err;

	(void)number;
	(void)text;
	(void)count;
	c->rows.at = c->rows.end = 0;
	ranking_release(&c->ranking);
	arena_release(&c->mem);
	if (sqlite3_value_type(values[0]) == SQLITE_NULL)
		return SQLITE_OK;
	c->query = arena_str(&c->mem, row_bytes(values, 0));
	status = run_search(q, c->query, &rank, &c->ranking, &err);
	c->rows.end = (int64_t)c->ranking.count;
	return status ? sql_failed(q, &err) : SQLITE_OK;
}

static int hit_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct hit_cursor *c = (struct hit_cursor *)cursor;
	const struct ranked *hit = &c->ranking.list[c->rows.at];

	if (column == HIT_SESSION)
		sqlite3_result_int64(result, hit->doc.session);
	else if (column == HIT_OFFSET)
		sqlite3_result_int64(result, hit->doc.offset);
	else if (column == HIT_RANK)
		sqlite3_result_double(result, -hit->score);
	else if (column == HIT_QUERY)
		sql_give(result, c->query);
	return SQLITE_OK;
}

static const sqlite3_module hit_module = {
	.xConnect = connect_table,
	.xBestIndex = want_arguments,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = hit_close,
	.xFilter = hit_filter,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = hit_column,
	.xRowid = no_rowid,
};

int sql_register_parts(struct sql *q)
{
	int code = sqlite3_create_module_v2(q->store->db, "arbor_part", &part_module, q, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_module_v2(q->store->db, "arbor_change", &change_module, q, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_create_module_v2(q->store->db, "arbor_hit", &hit_module, q, NULL);
	return code;
}
