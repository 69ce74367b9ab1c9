/*
 * Looking up what was made, for whatever takes ids of all kinds.
 */
#include "store/made.h"

#include "store/db.h"
#include "store/lifecycle.h"

enum { MADE_PREFIX, MADE_STATEMENTS };

/* No more of a text than somebody is shown beside others. */
#define BEGINNING "substr(coalesce(n.content, n.handle, ''), 1, 400)"
#define OF_MIRROR "t.owner = '" CLAIM_MIRROR "'"

static const char *const sql[MADE_STATEMENTS] = {
	[MADE_PREFIX] =
		"SELECT n.node_id, 0, " BEGINNING " FROM node n WHERE n.node_id BETWEEN ?1 AND ?2"
		" AND (n.parent IS NOT NULL OR NOT EXISTS (SELECT 1 FROM tree t WHERE t.id = n.tree "
		"AND " OF_MIRROR ")) UNION ALL"
		" SELECT t.tree_id, 1, '' FROM tree t WHERE t.tree_id BETWEEN ?1 AND ?2 AND NOT " OF_MIRROR
		" UNION ALL SELECT a.alias_id, a.subject = 'tree', '' FROM alias a"
		" WHERE a.alias_id BETWEEN ?1 AND ?2 ORDER BY 1 LIMIT ?3",
};

const struct db_set made_statements = { DB_MADE, sql, MADE_STATEMENTS };

enum status made_search(struct store *s, struct str prefix, struct arena *mem, struct made *out, size_t most,
			size_t *count, struct err *err)
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
	stmt_int(&st, 3, (int64_t)most);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		out[(*count)++] = (struct made){ col_uuid(&st, 0), col_int(&st, 1) != 0,
						 arena_str(mem, col_bytes(&st, 2)) };
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}
