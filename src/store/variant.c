/*
 * Which uuids stand with different contents.
 *
 * Kept are the keys of these uuids alone. As long as a key is not among them, all lines with
 * it say the same; so a line that is entered is compared with one other, whichever it is, and
 * what results does not depend on the order. Left out are lines that only older versions of a
 * file have, and what progress lines tell of a sub-agent: its own file says it better.
 */
#include "store/variant.h"

#include "store/db.h"
#include "store/keys.h"

enum { VARIANT_DIFFERS, VARIANT_ADD, VARIANT_FORGET, VARIANT_ANY, VARIANT_IS, VARIANT_STATEMENTS };

static const char *const sql[VARIANT_STATEMENTS] = {
	[VARIANT_DIFFERS] =
		("SELECT e.content IS NOT mine.content FROM entry mine JOIN node_key k ON k.key = ?1 AND "
		 "k.part = -1"
		 " AND NOT (k.session = ?2 AND k.offset = ?3) JOIN mirror_session m ON m.id = k.session AND "
		 "m.old = 0"
		 " JOIN entry e ON e.session = k.session AND e.offset = k.offset AND e.agent IS NULL"
		 " AND e.uuid = mine.uuid"
		 " WHERE mine.session = ?2 AND mine.offset = ?3 AND mine.agent IS NULL LIMIT 1"),
	[VARIANT_ADD] = "INSERT OR IGNORE INTO variant(key) VALUES (?1)",
	/* Those of which the others say the same. */
	[VARIANT_FORGET] =
		("DELETE FROM variant WHERE EXISTS (SELECT 1 FROM node_key k WHERE k.key = variant.key"
		 " AND k.session = ?1 AND k.part = -1)"
		 " AND (SELECT count(DISTINCT coalesce(e.content, 0)) FROM node_key k JOIN mirror_session m"
		 " ON m.id = k.session AND m.old = 0 JOIN entry e ON e.session = k.session AND e.offset = "
		 "k.offset"
		 " AND e.agent IS NULL WHERE k.key = variant.key AND k.part = -1 AND k.session <> ?1) < 2"),
	[VARIANT_ANY] = "SELECT 1 FROM variant LIMIT 1",
	[VARIANT_IS] = "SELECT 1 FROM variant WHERE key = ?1",
};

const struct db_set variant_statements = { DB_VARIANT, sql, VARIANT_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &variant_statements, index, st, err);
}

enum status variant_compare(struct store *s, int64_t key, int64_t session, int64_t offset, struct err *err)
{
	bool differs;
	enum step step;
	STMT st = { 0 };

	if (use(s, VARIANT_DIFFERS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key);
	stmt_int(&st, 2, session);
	stmt_int(&st, 3, offset);
	step = stmt_step(&st, err);
	differs = step == STEP_ROW && col_int(&st, 0) != 0;
	if (step == STEP_FAILED)
		return err_failed(err->status);
	return differs ? stmt_run_with(s, &variant_statements, VARIANT_ADD, key, err) : STATUS_OK;
}

enum status variant_forget(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &variant_statements, VARIANT_FORGET, session, err);
}

enum status variant_any(struct store *s, bool *out, struct err *err)
{
	STMT st = { 0 };

	return use(s, VARIANT_ANY, &st, err) ? err_failed(err->status) : stmt_found(&st, out, err);
}

enum status variant_is(struct store *s, const struct uuid *line, bool *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, VARIANT_IS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key_of(line));
	return stmt_found(&st, out, err);
}
