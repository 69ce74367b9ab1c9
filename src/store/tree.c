/*
 * Made trees: their rows, their root nodes, their metadata; and ids, whose they are and whether they can be
 * given.
 *
 * Whoever makes something may say which id it has, so that doing it again after a failure is noticed. Such an
 * id is of version 4, as those that are made here are, and ids of mirrored things are of version 5: nothing
 * that is made can stand in front of something mirrored. An id that was purged stays taken.
 */
#include "store/tree.h"

#include "base/json.h"
#include "store/alias.h"
#include "store/db.h"
#include "store/life_row.h"
#include "store/tree_row.h"

#include <stdio.h>
#include <string.h>

enum {
	TREE_ADD,
	TREE_METADATA,
	TREE_BY_ID,
	TREE_BY_ROW,
	TREE_ACTIVE,
	TREE_IN_STATE,
	TREE_COUNT,
	TREE_RANGE,
	TREE_TAKEN,
	TREE_DELETED,
	TREE_STATEMENTS
};

#define TREE_COLUMNS \
	"SELECT t.id, t.tree_id, t.root_id, t.owner, t.metadata, t.created_at, t.updated_at, " ROW_COLUMNS( \
		"l")

#define TREE_TABLES " FROM tree t LEFT JOIN lifecycle l ON l.subject_id = t.tree_id"

static const char *const sql[TREE_STATEMENTS] = {
	[TREE_ADD] = "INSERT INTO tree(tree_id, owner, root_id, metadata, created_at, updated_at, rev)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)",
	[TREE_METADATA] = "UPDATE tree SET metadata = ?2, updated_at = ?3, rev = ?4 WHERE tree_id = ?1",
	[TREE_BY_ID] = TREE_COLUMNS TREE_TABLES " WHERE t.tree_id = ?1",
	[TREE_BY_ROW] = TREE_COLUMNS TREE_TABLES " WHERE t.id = ?1",
	[TREE_ACTIVE] = TREE_COLUMNS TREE_TABLES " WHERE t.id < ?1 AND t.owner <> '" CLAIM_MIRROR "'"
						 " AND coalesce(l.state, 'held') = 'held' ORDER BY t.id DESC",
	[TREE_IN_STATE] = TREE_COLUMNS " FROM lifecycle l CROSS JOIN tree t ON t.tree_id = l.subject_id"
				       " WHERE l.state = ?2 AND l.subject = 'tree' AND t.id < ?1"
				       " AND t.owner <> '" CLAIM_MIRROR "' ORDER BY t.id DESC",
	[TREE_COUNT] = "SELECT count(*) FROM node WHERE tree = ?1",
	[TREE_RANGE] =
		"SELECT tree_id FROM tree WHERE tree_id BETWEEN ?1 AND ?2 UNION SELECT alias_id FROM alias"
		" WHERE alias_id BETWEEN ?1 AND ?2 AND subject = 'tree' LIMIT ?3",
	[TREE_TAKEN] =
		"SELECT EXISTS (SELECT 1 FROM tree WHERE tree_id = ?1) OR EXISTS (SELECT 1 FROM node"
		" WHERE node_id = ?1) OR EXISTS (SELECT 1 FROM alias WHERE alias_id = ?1)"
		" OR EXISTS (SELECT 1 FROM deleted_row WHERE table_name IN ('tree', 'node') AND key = ?1)"
		" OR EXISTS (SELECT 1 FROM tombstone WHERE kind IN ('tree', 'node') AND subject_id = ?1)",
	[TREE_DELETED] = "SELECT at FROM deleted_row WHERE table_name = ?1 AND key = ?2",
};

const struct db_set tree_statements = { DB_TREE, sql, TREE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &tree_statements, index, st, err);
}

enum status tree_begin(struct store *s, struct txn *txn, struct err *err)
{
	return store_reach(s, STORE_TREES, err) ? err_failed(err->status) : txn_begin(s, txn, err);
}

/* ---- Ids -------------------------------------------------------------------- */

static bool is_random(const struct uuid *id)
{
	return id->b[6] >> 4 == 4 && id->b[8] >> 6 == 2;
}

enum status tree_new_id(struct store *s, const struct uuid *given, struct uuid *out, struct err *err)
{
	char text[UUID_TEXT + 1];
	STMT st = { 0 };

	if (!given)
		return uuid_random(out, err);
	uuid_print(given, text);
	if (!is_random(given))
		return err_fail(err, STATUS_USAGE,
				"'%s' cannot be the id of something new: those are random ones (version 4)",
				text);
	if (use(s, TREE_TAKEN, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, given);
	if (stmt_row(&st, "whether an id is taken", err))
		return err_failed(err->status);
	if (col_int(&st, 0))
		return err_fail(err, STATUS_CONFLICT, "a tree or node %s is there already, or was", text);
	*out = *given;
	return STATUS_OK;
}

/* Purged by itself it has a row in lifecycle; gone with its tree, it is only known to have been there. */
enum status tree_find_purged(struct store *s, const struct subject *what, struct life *out, struct err *err)
{
	char text[SUBJECT_TEXT];
	struct life_row r;
	bool found;
	STMT st = { 0 };

	if (row_get(s, &what->id, &r, err))
		return err_failed(err->status);
	*out = life_of_row(&r);
	if (out->state == LIFE_PURGED)
		return STATUS_OK;
	if (use(s, TREE_DELETED, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, what->kind == SUBJECT_TREE ? STR("tree") : STR("node"));
	stmt_uuid(&st, 2, &what->id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "there is no %s", subject_text(what, text));
	*out = (struct life){ .state = LIFE_PURGED, .let_go = true, .since_at = col_int(&st, 0) };
	return STATUS_OK;
}

/* What can be meant by the beginning of an id; the statement gives at most `?3` ids. */
enum status tree_find_prefix(struct store *s, const struct db_set *set, int index, const char *what,
			     struct str text, struct uuid *id, struct err *err)
{
	enum { LISTED = 8 };
	struct buf list CLEANUP(buf_release) = BUF_INIT(KIB);
	struct uuid low, high, found;
	int count = 0;
	enum step step;
	STMT st = { 0 };

	if (uuid_parse(text, id))
		return STATUS_OK;
	if (!uuid_range(text, &low, &high))
		return err_fail(err, STATUS_USAGE, "'%.*s' is no id of a %s: give %d or more of its digits",
				(int)size_min(text.n, 60), text.p ? text.p : "", what, LIMIT_ID_PREFIX);
	if (stmt_use(s, set, index, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	stmt_int(&st, 3, LISTED + 1);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		char printed[UUID_TEXT + 1];

		found = col_uuid(&st, 0);
		uuid_print(&found, printed);
		if (count++ < LISTED)
			buf_printf(&list, "\n  %s", printed);
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (count == 0)
		return err_fail(err, STATUS_NOT_FOUND, "no %s begins with '%.*s'", what, STR_ARG(text));
	if (count > 1)
		return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be%s%s", STR_ARG(text), list.p,
				count > LISTED ? "\n  and others; give more of the id" : "");
	*id = found;
	return STATUS_OK;
}

enum status tree_find(struct store *s, struct str text, struct uuid *id, struct err *err)
{
	return tree_find_prefix(s, &tree_statements, TREE_RANGE, "tree", text, id, err);
}

/* ---- Making ----------------------------------------------------------------- */

enum status tree_check_metadata(struct str metadata, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (!metadata.p)
		return STATUS_OK;
	if (metadata.n > LIMIT_METADATA)
		return err_fail(err, STATUS_LIMIT, "metadata may have %zu bytes, this has %zu",
				LIMIT_METADATA, metadata.n);
	if (json_read(&j, metadata, LIMIT_METADATA_DEPTH, err))
		return err_pass(err, "metadata");
	if (j.flags & JSON_BAD_UTF8)
		return err_fail(err, STATUS_FORMAT, "metadata is not UTF-8");
	return STATUS_OK;
}

enum status tree_insert(struct store *s, const struct tree_new *what, const struct uuid *id,
			const struct uuid *root, int64_t *row, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, TREE_ADD, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_text(&st, 2, what->owner);
	stmt_uuid(&st, 3, root);
	if (what->metadata.p)
		stmt_text(&st, 4, what->metadata);
	stmt_int(&st, 5, store_now(s));
	stmt_int(&st, 6, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*row = sqlite3_last_insert_rowid(s->db);
	return STATUS_OK;
}

enum status tree_add(struct store *s, const struct tree_new *what, struct uuid *id, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct subject tree = { .kind = SUBJECT_TREE };
	struct uuid root;
	int64_t row, claims;

	if (claim_check_owner(what->owner, err) || tree_check_metadata(what->metadata, err) ||
	    tree_begin(s, &txn, err) || tree_new_id(s, what->id, &tree.id, err) || uuid_random(&root, err) ||
	    tree_insert(s, what, &tree.id, &root, &row, err) || tree_add_root(s, row, &root, err) ||
	    claim_add(s, &tree, 0, what->owner, 1, &claims, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	*id = tree.id;
	return STATUS_OK;
}

enum status tree_set_metadata(struct store *s, const struct uuid *id, struct str metadata, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree t;
	int64_t rev;

	if (tree_check_metadata(metadata, err) || tree_begin(s, &txn, err) ||
	    tree_get(s, id, &mem, &t, err) ||
	    life_alive(&(struct subject){ SUBJECT_TREE, t.id }, &t.life, err) || db_rev(s, &rev, err))
		return err_failed(err->status);
	{
		STMT st = { 0 };

		if (use(s, TREE_METADATA, &st, err))
			return err_failed(err->status);
		stmt_uuid(&st, 1, &t.id);
		if (metadata.p)
			stmt_text(&st, 2, metadata);
		stmt_int(&st, 3, store_now(s));
		stmt_int(&st, 4, rev);
		if (stmt_run_one(&st, "the tree", err))
			return err_failed(err->status);
	}
	return txn_commit(&txn, err);
}

/* ---- Reading ---------------------------------------------------------------- */

/* Texts are valid until the next step. */
static void read_tree(const struct stmt *st, struct tree *out)
{
	struct life_row r = row_read(st, 7);

	*out = (struct tree){ .row = col_int(st, 0),
			      .owner = col_bytes(st, 3),
			      .created_at = col_int(st, 5),
			      .metadata = col_text(st, 4),
			      .updated_at = col_int(st, 6),
			      .life = life_of_row(&r) };
	out->id = col_uuid(st, 1);
	out->root_id = col_uuid(st, 2);
}

static enum status take_tree(struct stmt *st, struct arena *mem, struct tree *out, bool *found,
			     struct err *err)
{
	if (stmt_found(st, found, err))
		return err_failed(err->status);
	if (!*found)
		return STATUS_OK;
	read_tree(st, out);
	out->owner = arena_str(mem, out->owner);
	if (out->metadata.p)
		out->metadata = arena_str(mem, out->metadata);
	return STATUS_OK;
}

static enum status get_by_id(struct store *s, const struct uuid *id, struct arena *mem, struct tree *out,
			     bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TREE_BY_ID, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	return take_tree(&st, mem, out, found, err);
}

enum status tree_get(struct store *s, const struct uuid *id, struct arena *mem, struct tree *out,
		     struct err *err)
{
	struct subject what = { SUBJECT_TREE, *id };
	struct tree t = { 0 };
	bool found;

	if (get_by_id(s, id, mem, &t, &found, err))
		return err_failed(err->status);
	if (!found) {
		if (alias_follow(s, SUBJECT_TREE, id, &what.id, &found, err) ||
		    (found && get_by_id(s, &what.id, mem, &t, &found, err)))
			return err_failed(err->status);
		t.id = found ? t.id : what.id;
	}
	if (!found && tree_find_purged(s, &what, &t.life, err))
		return err_failed(err->status);
	*out = t;
	return STATUS_OK;
}

enum status tree_at(struct store *s, int64_t row, struct arena *mem, struct tree *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, TREE_BY_ROW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (take_tree(&st, mem, out, &found, err))
		return err_failed(err->status);
	return found ? STATUS_OK : err_fail(err, STATUS_CORRUPT, "%s: a tree is missing", store_path(s));
}

enum status tree_each(struct store *s, enum life_state state, int64_t after, tree_fn *fn, void *ctx,
		      struct err *err)
{
	bool go_on = true;
	enum step step = STEP_DONE;
	STMT st = { 0 };

	if (use(s, state == LIFE_ACTIVE ? TREE_ACTIVE : TREE_IN_STATE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, after ? after : INT64_MAX);
	if (state != LIFE_ACTIVE)
		stmt_text(&st, 2, str_of(life_state_names[state]));
	while (go_on && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct tree t;

		read_tree(&st, &t);
		if (fn(ctx, &t, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status tree_count(struct store *s, int64_t tree, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TREE_COUNT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, tree);
	if (stmt_row(&st, "a count of nodes", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}
