/*
 * Looking up what was made, for whatever can be attached to it.
 */
#include "store/made.h"

#include "store/db.h"

enum { MADE_PREFIX, MADE_STATEMENTS };

static const char *const sql[MADE_STATEMENTS] = {
	[MADE_PREFIX] = "SELECT node_id, 0, coalesce(content, handle, '') FROM node"
			" WHERE node_id BETWEEN ?1 AND ?2 UNION ALL"
			" SELECT tree_id, 1, '' FROM tree WHERE tree_id BETWEEN ?1 AND ?2 ORDER BY 1 LIMIT 2",
};

const struct db_set made_statements = { DB_MADE, sql, MADE_STATEMENTS };

enum status made_search(struct store *s, struct str prefix, struct arena *mem, struct made *out, size_t *count,
			struct err *err)
{
	struct uuid low, high;
	enum step step;
	STMT st = { 0 };
	bool has;

	*count = 0;
	if (!uuid_range(prefix, &low, &high))
		return STATUS_OK;
	if (store_has(s, STORE_TREES, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	if (stmt_use(s, &made_statements, MADE_PREFIX, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (!(*count)++)
			*out = (struct made){ col_uuid(&st, 0), col_int(&st, 1) != 0,
					      arena_str(mem, col_bytes(&st, 2)) };
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}
