/*
 * The table of templates.
 *
 * It comes with the trees, which many stores never have: whoever reads asks first whether
 * there is one, and the first that is set makes it. One that is deleted leaves a row that
 * says so, and setting it again takes that back.
 */
#include "store/template.h"

#include "store/db.h"

#include <string.h>

enum {
	TEMPLATE_GET,
	TEMPLATE_PUT,
	TEMPLATE_DELETE,
	TEMPLATE_EACH,
	TEMPLATE_GONE,
	TEMPLATE_BACK,
	TEMPLATE_STATEMENTS
};

#define COLUMNS "plugin_id, method, name, body, updated_at"
#define KEY	"plugin_id = ?1 AND method = ?2 AND name = ?3"

static const char *const sql[TEMPLATE_STATEMENTS] = {
	[TEMPLATE_GET] = "SELECT " COLUMNS " FROM template WHERE " KEY,
	[TEMPLATE_PUT] = "INSERT INTO template(" COLUMNS ", rev) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
			 " ON CONFLICT(plugin_id, method, name) DO UPDATE SET body = excluded.body,"
			 " updated_at = excluded.updated_at, rev = excluded.rev",
	[TEMPLATE_DELETE] = "DELETE FROM template WHERE " KEY,
	[TEMPLATE_EACH] = "SELECT " COLUMNS " FROM template ORDER BY plugin_id, method, name",
	[TEMPLATE_GONE] = "INSERT INTO deleted_row(table_name, key, at, rev) VALUES ('template', ?1, ?2, ?3)"
			  " ON CONFLICT(table_name, key) DO UPDATE SET at = excluded.at, rev = excluded.rev",
	[TEMPLATE_BACK] = "DELETE FROM deleted_row WHERE table_name = 'template' AND key = ?1",
};

const struct db_set template_statements = { DB_TEMPLATE, sql, TEMPLATE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &template_statements, index, st, err);
}

static void bind_key(struct stmt *st, const struct template_key *key)
{
	stmt_uuid(st, 1, &key->plugin);
	stmt_text(st, 2, key->method);
	stmt_text(st, 3, key->name);
}

static enum status none(struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "no such template");
}

static struct template_row row_of(const struct stmt *st)
{
	struct template_row row = {
		.key = { .method = col_bytes(st, 1), .name = col_bytes(st, 2) },
		.body = col_bytes(st, 3),
		.updated_at = col_int(st, 4),
	};

	memcpy(row.key.plugin.b, col_bytes(st, 0).p, UUID_BYTES);
	return row;
}

/* ---- Reading ---------------------------------------------------------------- */

static enum status read_row(struct store *s, const struct template_key *key, struct arena *mem,
			    struct template_row *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, TEMPLATE_GET, &st, err))
		return err_failed(err->status);
	bind_key(&st, key);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_DONE ? none(err) : err_failed(err->status);
	*out = row_of(&st);
	out->key.method = arena_str(mem, out->key.method);
	out->key.name = arena_str(mem, out->key.name);
	out->body = arena_str(mem, out->body);
	return STATUS_OK;
}

enum status template_get(struct store *s, const struct template_key *key, struct arena *mem,
			 struct template_row *out, struct err *err)
{
	bool any;

	if (store_has(s, STORE_TREES, &any, err))
		return err_failed(err->status);
	return any ? read_row(s, key, mem, out, err) : none(err);
}

enum status template_each(struct store *s, template_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	bool any;
	STMT st = { 0 };

	if (store_has(s, STORE_TREES, &any, err))
		return err_failed(err->status);
	if (!any)
		return STATUS_OK;
	if (use(s, TEMPLATE_EACH, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct template_row row = row_of(&st);

		if (fn(ctx, &row, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* ---- Writing ---------------------------------------------------------------- */

/* What it is called in deleted_row: plugin, method and name, which have no blanks in them. */
static struct str deleted_key(const struct template_key *key, struct arena *mem)
{
	char plugin[UUID_TEXT + 1];

	uuid_print(&key->plugin, plugin);
	return arena_printf(mem, "%s %.*s %.*s", plugin, STR_ARG(key->method), STR_ARG(key->name));
}

static enum status put_row(struct store *s, const struct template_key *key, struct str body, int64_t rev,
			   struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEMPLATE_PUT, &st, err))
		return err_failed(err->status);
	bind_key(&st, key);
	stmt_text(&st, 4, body);
	stmt_int(&st, 5, store_now(s));
	stmt_int(&st, 6, rev);
	return stmt_run(&st, err);
}

static enum status take_back(struct store *s, const struct template_key *key, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	STMT st = { 0 };

	if (use(s, TEMPLATE_BACK, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, deleted_key(key, &mem));
	return stmt_run(&st, err);
}

enum status template_put(struct store *s, const struct template_key *key, struct str body, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;

	if (store_reach(s, STORE_TREES, err) || txn_begin(s, &txn, err) || db_rev(s, &rev, err) ||
	    put_row(s, key, body, rev, err) || take_back(s, key, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status delete_row(struct store *s, const struct template_key *key, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEMPLATE_DELETE, &st, err))
		return err_failed(err->status);
	bind_key(&st, key);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	return sqlite3_changes64(s->db) ? STATUS_OK : none(err);
}

static enum status note_deleted(struct store *s, const struct template_key *key, int64_t rev, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	STMT st = { 0 };

	if (use(s, TEMPLATE_GONE, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, deleted_key(key, &mem));
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	return stmt_run(&st, err);
}

enum status template_delete(struct store *s, const struct template_key *key, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	bool any;

	if (store_has(s, STORE_TREES, &any, err))
		return err_failed(err->status);
	if (!any)
		return none(err);
	if (txn_begin(s, &txn, err) || delete_row(s, key, err) || db_rev(s, &rev, err) ||
	    note_deleted(s, key, rev, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}
