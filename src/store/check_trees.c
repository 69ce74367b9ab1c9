/*
 * What holds for made trees, their nodes, claims and lifecycle rows, each as a statement that finds what
 * breaks it. What the schema itself enforces (positions that are unique, counts that are not negative, rows
 * that are referred to) is looked at with the database as a whole.
 */
#include "store/check_trees.h"

#include "store/db.h"
#include "store/life_row.h"

#define SOME		  " LIMIT 20"
#define IS_CLAIMED(id)	  "EXISTS (SELECT 1 FROM claim c WHERE c.subject_id = " id " AND c.count > 0)"
#define IS_MADE(t)	  t ".owner <> '" CLAIM_MIRROR "'" /* and does not stand for a mirrored tree */
#define HAS_CLAIMED(tree) "EXISTS (SELECT 1 FROM claim c WHERE c.tree = " tree " AND c.count > 0)"

enum {
	TREES_COUNT,
	TREES_PARENT,
	TREES_ROOT,
	TREES_ROOTS,
	TREES_FURTHER,
	TREES_HELD,
	TREES_HOME_HELD,
	TREES_CLAIMED,
	TREES_HOME_CLAIMED,
	TREES_LIFE_ROW,
	TREES_LIFE_ROOT,
	TREES_PURGED,
	TREES_CLAIM_TREE,
	TREES_CLAIM_GONE,
	TREES_STATEMENTS
};

/* The first column is an id. */
static const char *const sql[TREES_STATEMENTS] = {
	[TREES_COUNT] = "SELECT (SELECT count(*) FROM tree), (SELECT count(*) FROM node)",
	[TREES_PARENT] =
		"SELECT n.node_id FROM node n LEFT JOIN node p ON p.id = n.parent WHERE n.parent IS NOT NULL"
		" AND (p.id IS NULL OR p.tree <> n.tree OR p.depth + 1 <> n.depth OR p.id >= n.id)" SOME,
	[TREES_ROOT] = "SELECT t.tree_id FROM tree t WHERE " IS_MADE(
		"t") " AND NOT EXISTS (SELECT 1 FROM node n"
		     " WHERE n.node_id = t.root_id AND n.tree = t.id AND n.parent IS NULL)" SOME,
	[TREES_ROOTS] = "SELECT t.tree_id FROM node n JOIN tree t ON t.id = n.tree AND " IS_MADE(
		"t") " WHERE n.parent IS NULL"
		     " GROUP BY n.tree HAVING count(*) > 1" SOME,
	[TREES_FURTHER] =
		"SELECT n.node_id FROM lifecycle above CROSS JOIN node p ON p.node_id = above.subject_id"
		" CROSS JOIN node n ON n.parent = p.id LEFT JOIN lifecycle l ON l.subject_id = n.node_id"
		" WHERE above.state IN ('scheduled', 'archived')"
		" AND " ROW_STATE("l") " < " ROW_STATE("above") SOME,
	[TREES_HELD] =
		"SELECT n.node_id FROM lifecycle l CROSS JOIN node n ON n.node_id = l.subject_id"
		" LEFT JOIN node h ON h.id = l.held_by LEFT JOIN lifecycle hl ON hl.subject_id = h.node_id"
		" WHERE l.state = 'held' AND CASE WHEN l.held_by IS NULL THEN NOT " IS_CLAIMED(
			"n.node_id") " ELSE h.parent IS NOT n.id OR " ROW_STATE("hl") " > 1 END" SOME,
	[TREES_HOME_HELD] = "SELECT t.tree_id FROM lifecycle l CROSS JOIN tree t ON t.tree_id = l.subject_id "
			    "AND " IS_MADE("t") " WHERE l.state = 'held' AND NOT " IS_CLAIMED(
				    "t.tree_id") " AND NOT " HAS_CLAIMED("t.id") SOME,
	[TREES_CLAIMED] = "SELECT l.subject_id FROM lifecycle l WHERE l.state IN ('scheduled', 'archived')"
			  " AND " IS_CLAIMED("l.subject_id") SOME,
	[TREES_HOME_CLAIMED] =
		"SELECT t.tree_id FROM lifecycle l CROSS JOIN tree t ON t.tree_id = l.subject_id"
		" WHERE l.state IN ('scheduled', 'archived') AND " HAS_CLAIMED("t.id") SOME,
	[TREES_LIFE_ROW] = "SELECT l.subject_id FROM lifecycle l LEFT JOIN node n ON n.node_id = l.subject_id"
			   " WHERE (l.state IN ('scheduled', 'archived')) <>"
			   " (l.due_at IS NOT NULL AND l.state <> 'purged')"
			   " OR (l.held_by IS NOT NULL AND l.state <> 'held') OR l.parent IS NOT n.parent"
			   " OR (n.id IS NOT NULL AND l.subject <> 'node')" SOME,
	[TREES_LIFE_ROOT] =
		"SELECT l.subject_id FROM lifecycle l CROSS JOIN node n ON n.node_id = l.subject_id"
		" WHERE n.parent IS NULL" SOME,
	[TREES_PURGED] =
		"SELECT l.subject_id FROM lifecycle l WHERE l.state = 'purged' AND (NOT EXISTS (SELECT 1"
		" FROM tombstone b WHERE b.kind = l.subject AND b.subject_id = l.subject_id)"
		" OR (l.due_at IS NULL AND (EXISTS (SELECT 1 FROM node WHERE node_id = l.subject_id)"
		" OR EXISTS (SELECT 1 FROM tree WHERE tree_id = l.subject_id))))" SOME,
	[TREES_CLAIM_TREE] = "SELECT c.subject_id FROM claim c LEFT JOIN node n ON n.node_id = c.subject_id"
			     " LEFT JOIN tree t ON t.id = n.tree WHERE c.tree IS NOT"
			     " iif(n.parent IS NULL AND NOT " IS_MADE("t") ", NULL, n.tree)" SOME,
	[TREES_CLAIM_GONE] =
		"SELECT c.subject_id FROM claim c CROSS JOIN deleted_row d ON d.key = c.subject_id"
		" AND d.table_name = c.subject" SOME,
};

static const struct {
	int statement;
	const char *what, *wrong;
} rules[] = {
	{ TREES_PARENT, "node", "its parent is missing, is in another tree, or is not one step above it" },
	{ TREES_ROOT, "tree", "its root is missing" },
	{ TREES_ROOTS, "tree", "it has several roots" },
	{ TREES_FURTHER, "node", "what is above it is further along in its lifecycle" },
	{ TREES_HELD, "node", "nothing keeps it, and it has no date" },
	{ TREES_HOME_HELD, "tree", "nobody claims it, and it has no date" },
	{ TREES_CLAIMED, "tree or node", "it is to go although it is claimed" },
	{ TREES_HOME_CLAIMED, "tree", "it is to go although a node in it is claimed" },
	{ TREES_LIFE_ROW, "tree or node", "its lifecycle row contradicts itself" },
	{ TREES_LIFE_ROOT, "node", "it is a root and has a lifecycle of its own" },
	{ TREES_PURGED, "tree or node", "it was purged and is there, or has no tombstone" },
	{ TREES_CLAIM_TREE, "node", "a claim on it names another tree" },
	{ TREES_CLAIM_GONE, "tree or node", "it was purged and is claimed" },
};

const struct db_set check_trees_statements = { DB_CHECK_TREES, sql, TREES_STATEMENTS };

static void tell(struct check_report *r, size_t rule, const struct uuid *id)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	char printed[UUID_TEXT + 1];

	uuid_print(id, printed);
	buf_printf(&text, "%s %s: %s", rules[rule].what, printed, rules[rule].wrong);
	r->problems++;
	if (r->problem)
		r->problem(r->ctx, buf_as_str(&text));
}

static enum status check_rule(struct store *s, size_t i, struct check_report *r, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (stmt_use(s, &check_trees_statements, rules[i].statement, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 0);

		tell(r, i, &id);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status check_trees(struct store *s, struct check_report *r, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &check_trees_statements, TREES_COUNT, &st, err) || stmt_row(&st, "the counts", err))
		return err_failed(err->status);
	r->trees = col_int(&st, 0);
	r->nodes = col_int(&st, 1);
	for (size_t i = 0; i < COUNT(rules); i++)
		if (check_rule(s, i, r, err))
			return err_failed(err->status);
	return STATUS_OK;
}
