/*
 * Statements of virtual tables. Everything is asked of the stored tables in the snapshot of whoever asks, by
 * statements of the same connection. A look-up by id opens a cursor for each row it finds, and preparing one takes
 * longer than all it does; so they stay with the table, as many as are in use at once.
 *
 * A row is asked only for the columns that somebody wants of it: finding all of them takes longer than everything
 * else that is done for a row.
 */
#include "store/borrowed_inner.h"

#include "store/db.h"

#include <string.h>

int inner_connect(sqlite3 *db, const char *declare, const char *const *sql, size_t size, sqlite3_vtab **out)
{
	struct inner_table *t;
	int code = sqlite3_declare_vtab(db, declare);

	/* They are asked through views, and only read. */
	if (code == SQLITE_OK)
		code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	if (code != SQLITE_OK)
		return code;
	t = mem_alloc(size);
	t->db = db;
	t->sql = sql;
	*out = &t->base;
	return SQLITE_OK;
}

int inner_disconnect(sqlite3_vtab *table)
{
	struct inner_table *t = (struct inner_table *)table;

	for (unsigned kind = 0; kind < INNER_KINDS; kind++)
		for (int i = 0; i < INNER_KEPT; i++)
			sqlite3_finalize(t->kept[kind][i].st);
	mem_free(t);
	return SQLITE_OK;
}

static int prepare_some(struct inner_table *t, unsigned kind, uint32_t columns, sqlite3_stmt **out)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * KIB);

	buf_text(&text, "SELECT ");
	for (int i = 0; t->names[i]; i++) {
		buf_text(&text, i ? ", " : "");
		buf_text(&text, columns & 1u << i ? t->names[i] : "NULL");
	}
	buf_text(&text, t->sql[kind]);
	return sqlite3_prepare_v3(t->db, text.p, (int)text.n, SQLITE_PREPARE_PERSISTENT, out, NULL);
}

int inner_take(struct inner_table *t, unsigned kind, uint32_t columns, sqlite3_stmt **out)
{
	struct inner_kept *kept = t->kept[kind];

	for (int i = 0; i < INNER_KEPT && kept[i].st; i++)
		if (kept[i].columns == columns) {
			*out = kept[i].st;
			memmove(kept + i, kept + i + 1, (size_t)(INNER_KEPT - 1 - i) * sizeof *kept);
			kept[INNER_KEPT - 1].st = NULL;
			return SQLITE_OK;
		}
	return columns ? prepare_some(t, kind, columns, out)
		       : sqlite3_prepare_v3(t->db, t->sql[kind], -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
}

/* Where there is no room the one goes that nobody has wanted for longest. */
void inner_give_back(struct inner_table *t, unsigned kind, uint32_t columns, sqlite3_stmt **st)
{
	struct inner_kept *kept = t->kept[kind];

	if (!*st)
		return;
	sqlite3_reset(*st);
	sqlite3_finalize(kept[INNER_KEPT - 1].st);
	memmove(kept + 1, kept, (INNER_KEPT - 1) * sizeof *kept);
	kept[0] = (struct inner_kept){ columns, *st };
	*st = NULL;
}

int inner_step(sqlite3_stmt *st, bool *has)
{
	int code = sqlite3_step(st);

	*has = code == SQLITE_ROW;
	return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

struct borrowed_run inner_run(sqlite3_stmt *st)
{
	return (struct borrowed_run){
		.session = sqlite3_column_int64(st, 0),
		.offset = sqlite3_column_int64(st, 1),
		.until = sqlite3_column_int64(st, 2),
		.lender = sqlite3_column_int64(st, 3),
		.at = sqlite3_column_int64(st, 4),
		.docs = sqlite3_column_int64(st, 5),
		.has_parent = sqlite3_column_type(st, 6) != SQLITE_NULL,
		.parent = sqlite3_column_int64(st, 6),
	};
}

bool inner_any_null(sqlite3_value **arguments, int count)
{
	for (int i = 0; i < count; i++)
		if (sqlite3_value_type(arguments[i]) == SQLITE_NULL)
			return true;
	return false;
}

enum status borrowed_register(struct store *s, struct err *err)
{
	int code = sqlite3_create_module_v2(s->db, "arbor_entry", &borrowed_lines_module, NULL, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_create_module_v2(s->db, "arbor_usage", &borrowed_lines_module, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_create_module_v2(s->db, "arbor_node_key", &borrowed_keys_module, NULL, NULL);
	return code == SQLITE_OK ? STATUS_OK : db_fail(s, code, "registering a table", err);
}
