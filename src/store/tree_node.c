/*
 * Made nodes: added, found, read, and the ways between them.
 *
 * Inside, nodes are known by their row numbers, and a parent by its child's column: a step up is one look-up
 * of a number in one table, whatever the size of the tree. Children are found by the index (parent,
 * position), which is their order.
 *
 * Invariants, which `arbor check` looks at (check_trees.c): a parent is in the same tree and has a smaller
 * number; depth is one more than the parent's; a tree has one root; no two children of a parent have one
 * position.
 */
#include "store/tree.h"

#include "base/utf8.h"
#include "store/alias.h"
#include "store/life_row.h"
#include "store/made_text.h"
#include "store/tree_graft.h"
#include "store/tree_row.h"

#include <stdio.h>
#include <string.h>

const char *const tree_node_kinds[] = { "root", "text", "external", NULL };
const char *const tree_node_roles[] = { "note", "system", "user", "assistant", NULL };

enum {
	NODE_ADD,
	NODE_LAST_POSITION,
	NODE_BY_ID,
	NODE_BY_ID_WHOLE,
	NODE_BY_ROW,
	NODE_BY_ROW_WHOLE,
	NODE_CHILDREN,
	NODE_CHILDREN_WHOLE,
	NODE_IN_STATE,
	NODE_RANGE,
	NODE_UP,
	NODE_STEP,
	NODE_NEWEST,
	NODE_STATEMENTS
};

#define COLUMNS(parent_id) \
	"SELECT n.id, n.node_id, n.tree, coalesce(n.parent, 0), " parent_id \
	", n.depth, n.position, n.kind, n.role," \
	" n.plugin_id, n.replaces_id, n.created_at, " ROW_COLUMNS("l")
#define NODE_COLUMNS COLUMNS("p.node_id")
#define NODE_TEXTS   ", n.metadata, n.handle, n.content"
#define NODE_TABLES \
	" FROM node n LEFT JOIN node p ON p.id = n.parent LEFT JOIN lifecycle l ON l.subject_id = n.node_id"
enum { NODE_COLUMN_COUNT = 12 };

#define CHILDREN \
	NODE_TABLES \
		" WHERE n.parent = ?1 AND n.position > ?2 AND (?3 OR coalesce(l.state, '') <> 'archived')" \
		" ORDER BY n.position"

static const char *const sql[NODE_STATEMENTS] = {
	[NODE_ADD] =
		"INSERT INTO node(node_id, tree, parent, depth, position, kind, role, plugin_id, replaces_id,"
		" created_at, rev, metadata, handle, content)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
	[NODE_LAST_POSITION] = "SELECT coalesce(max(position), 0) FROM node WHERE parent = ?1",
	[NODE_BY_ID] = NODE_COLUMNS NODE_TABLES " WHERE n.node_id = ?1",
	[NODE_BY_ID_WHOLE] = NODE_COLUMNS NODE_TEXTS NODE_TABLES " WHERE n.node_id = ?1",
	[NODE_BY_ROW] = NODE_COLUMNS NODE_TABLES " WHERE n.id = ?1",
	[NODE_BY_ROW_WHOLE] = NODE_COLUMNS NODE_TEXTS NODE_TABLES " WHERE n.id = ?1",
	[NODE_CHILDREN] = NODE_COLUMNS CHILDREN,
	[NODE_CHILDREN_WHOLE] = NODE_COLUMNS NODE_TEXTS CHILDREN,
	[NODE_IN_STATE] = NODE_COLUMNS " FROM lifecycle l CROSS JOIN node n ON n.node_id = l.subject_id"
				       " LEFT JOIN node p ON p.id = n.parent WHERE l.state = ?1"
				       " AND (l.due_at, l.subject_id) > (?2, ?3) AND (?4 = 0 OR n.tree = ?4)"
				       " ORDER BY l.due_at, l.subject_id",
	[NODE_RANGE] =
		("SELECT node_id FROM node WHERE node_id BETWEEN ?1 AND ?2 UNION SELECT alias_id FROM alias"
		 " WHERE alias_id BETWEEN ?1 AND ?2 AND subject = 'node' LIMIT ?3"),
	[NODE_UP] = "SELECT coalesce(parent, 0), depth, node_id FROM node WHERE id = ?1",
	/* The id of the parent is met with the next step. */
	[NODE_STEP] = COLUMNS(
		"NULL") " FROM node n LEFT JOIN lifecycle l ON l.subject_id = n.node_id WHERE n.id = ?1",
	[NODE_NEWEST] = "SELECT n.id FROM node n LEFT JOIN lifecycle l ON l.subject_id = n.node_id WHERE n.tree = ?1"
			" AND coalesce(l.state, '') <> 'archived' ORDER BY n.id DESC LIMIT 1",
};

const struct db_set tree_node_statements = { DB_TREE_NODE, sql, NODE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &tree_node_statements, index, st, err);
}

/* ---- Making ----------------------------------------------------------------- */

static void bind_optional(struct stmt *st, int at, const struct uuid *id)
{
	static const struct uuid none = { 0 };

	if (!uuid_eq(id, &none))
		stmt_uuid(st, at, id);
}

/* Everything of `n` but its row number and its life. */
static enum status insert_node(struct store *s, const struct tree_node *n, int64_t *row, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, NODE_ADD, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &n->id);
	stmt_int(&st, 2, n->tree);
	stmt_int_or_null(&st, 3, n->parent, !n->parent);
	stmt_int(&st, 4, n->depth);
	stmt_int(&st, 5, n->position);
	stmt_text(&st, 6, str_of(tree_node_kinds[n->kind]));
	if (n->role != ROLE_NOTE)
		stmt_text(&st, 7, str_of(tree_node_roles[n->role]));
	bind_optional(&st, 8, &n->plugin_id);
	bind_optional(&st, 9, &n->replaces_id);
	stmt_int(&st, 10, n->created_at);
	stmt_int(&st, 11, rev);
	if (n->metadata.p)
		stmt_text(&st, 12, n->metadata);
	if (n->kind == TREE_NODE_EXTERNAL)
		stmt_text(&st, 13, n->handle);
	if (n->kind == TREE_NODE_TEXT)
		stmt_text(&st, 14, n->content);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*row = sqlite3_last_insert_rowid(s->db);
	return STATUS_OK;
}

enum status tree_add_root(struct store *s, int64_t tree, const struct uuid *id, struct err *err)
{
	struct tree_node root = { .id = *id, .tree = tree, .kind = TREE_NODE_ROOT, .created_at = store_now(s) };
	int64_t row;

	return insert_node(s, &root, &row, err);
}

static enum status check_texts(const struct tree_node_new *what, struct err *err)
{
	if (what->content.n > LIMIT_NODE_TEXT)
		return err_fail(err, STATUS_LIMIT, "the text of a node may have %zu bytes, this has %zu",
				LIMIT_NODE_TEXT, what->content.n);
	if (what->handle.n > LIMIT_HANDLE_TEXT)
		return err_fail(err, STATUS_LIMIT, "a handle may have %zu bytes, this has %zu",
				LIMIT_HANDLE_TEXT, what->handle.n);
	if (!utf8_valid(what->content) || !utf8_valid(what->handle))
		return err_fail(err, STATUS_FORMAT, "the text of a node is UTF-8, and this is not");
	if (what->kind == TREE_NODE_EXTERNAL && !what->handle.n)
		return err_fail(err, STATUS_USAGE, "a handle may not be empty");
	return tree_check_metadata(what->metadata, err);
}

/* A tree that is to go would take what is new along. */
static enum status find_growing_tree(struct store *s, const struct uuid *id, struct arena *mem,
				     struct tree *out, struct err *err)
{
	char text[SUBJECT_TEXT];

	if (tree_get(s, id, mem, out, err) ||
	    life_alive(&(struct subject){ SUBJECT_TREE, out->id }, &out->life, err))
		return err_failed(err->status);
	if (out->life.state == LIFE_ACTIVE)
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE,
			"%s is scheduled to be deleted, and nothing can be added; 'arbor.tree_claim' or"
			" 'arbor.tree_rescue' makes it active again",
			subject_text(&(struct subject){ SUBJECT_TREE, out->id }, text));
}

/* A node of the tree that is alive. */
static enum status find_living(struct store *s, const struct tree *t, const struct uuid *id,
			       struct tree_node *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct subject what = { SUBJECT_NODE, *id };
	char text[SUBJECT_TEXT], tree[UUID_TEXT + 1];

	if (tree_node_get(s, id, NODE_SKELETON, &mem, out, err) || life_alive(&what, &out->life, err))
		return err_failed(err->status);
	if (out->tree == t->row)
		return STATUS_OK;
	uuid_print(&t->id, tree);
	return err_fail(err, STATUS_USAGE, "%s is not in tree %s", subject_text(&what, text), tree);
}

static enum status next_position(struct store *s, int64_t parent, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NODE_LAST_POSITION, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, parent);
	if (stmt_row(&st, "a position", err))
		return err_failed(err->status);
	*out = col_int(&st, 0) + 1;
	return STATUS_OK;
}

/* An ephemeral node is let go at birth; another one keeps what is above it. */
static enum status begin_life(struct store *s, const struct tree_node *n, int64_t row, bool ephemeral,
			      const struct life_windows *windows, struct err *err)
{
	struct life_row life = { .ephemeral = true, .parent = n->parent };

	if (!ephemeral)
		return tree_keep_above(s, row, err);
	return row_enter(s, &(struct subject){ SUBJECT_NODE, n->id }, &life, ROW_SCHEDULED, windows, err);
}

enum status tree_node_add(struct store *s, const struct tree_node_new *what,
			  const struct life_windows *windows, struct uuid *id, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree_node parent, replaced,
		n = { .kind = what->kind,
		      .role = what->role,
		      .content = what->content,
		      .handle = what->handle,
		      .plugin_id = what->plugin_id,
		      .metadata = what->metadata };
	struct made_words words CLEANUP(made_words_release) = { 0 };
	struct uuid home = what->tree;
	struct tree t;
	int64_t row;

	if (check_texts(what, err))
		return err_failed(err->status);
	made_words_init(&words, &n);
	n.created_at = store_now(s);
	if (tree_begin(s, &txn, err) ||
	    (what->mirrored && tree_graft(s, &what->tree, what->parent, &home, err)) ||
	    find_growing_tree(s, &home, &mem, &t, err) ||
	    find_living(s, &t, what->parent ? what->parent : &t.root_id, &parent, err) ||
	    (what->replaces && find_living(s, &t, what->replaces, &replaced, err)))
		return err_failed(err->status);
	n.tree = t.row;
	n.parent = parent.row;
	n.depth = parent.depth + 1;
	if (what->replaces)
		n.replaces_id = replaced.id;
	if (tree_new_id(s, what->id, &n.id, err) || next_position(s, parent.row, &n.position, err) ||
	    insert_node(s, &n, &row, err) || begin_life(s, &n, row, what->ephemeral, windows, err) ||
	    made_text_enter(s, row, &n, &words, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	*id = n.id;
	return STATUS_OK;
}

/* ---- Reading ---------------------------------------------------------------- */

static int index_of(const char *const *names, struct str name)
{
	for (int i = 0; names[i]; i++)
		if (str_eq(name, str_of(names[i])))
			return i;
	return 0;
}

/* Texts are valid until the next step. */
static void read_node(const struct stmt *st, enum tree_node_part part, struct tree_node *out)
{
	int texts = NODE_COLUMN_COUNT + ROW_COLUMN_COUNT;
	struct life_row r = row_read(st, NODE_COLUMN_COUNT);

	*out = (struct tree_node){
		.row = col_int(st, 0),
		.tree = col_int(st, 2),
		.parent = col_int(st, 3),
		.depth = col_int(st, 5),
		.position = col_int(st, 6),
		.kind = (enum tree_node_kind)index_of(tree_node_kinds, col_bytes(st, 7)),
		.role = (enum tree_node_role)index_of(tree_node_roles, col_bytes(st, 8)),
		.created_at = col_int(st, 11),
		.life = life_of_row(&r),
	};
	out->id = col_uuid(st, 1);
	out->parent_id = col_uuid(st, 4);
	out->plugin_id = col_uuid(st, 9);
	out->replaces_id = col_uuid(st, 10);
	if (part == NODE_SKELETON)
		return;
	out->metadata = col_text(st, texts);
	out->handle = col_text(st, texts + 1);
	out->content = col_text(st, texts + 2);
}

static void keep_text(struct arena *mem, struct str *text)
{
	if (text->p)
		*text = arena_str(mem, *text);
}

static enum status take_node(struct stmt *st, enum tree_node_part part, struct arena *mem,
			     struct tree_node *out, bool *found, struct err *err)
{
	if (stmt_found(st, found, err))
		return err_failed(err->status);
	if (!*found)
		return STATUS_OK;
	read_node(st, part, out);
	keep_text(mem, &out->metadata);
	keep_text(mem, &out->handle);
	keep_text(mem, &out->content);
	return STATUS_OK;
}

static enum status get_by_id(struct store *s, const struct uuid *id, enum tree_node_part part,
			     struct arena *mem, struct tree_node *out, bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, part == NODE_WHOLE ? NODE_BY_ID_WHOLE : NODE_BY_ID, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	return take_node(&st, part, mem, out, found, err);
}

enum status tree_node_get(struct store *s, const struct uuid *id, enum tree_node_part part, struct arena *mem,
			  struct tree_node *out, struct err *err)
{
	struct subject what = { SUBJECT_NODE, *id };
	struct tree_node n = { 0 };
	bool found;

	if (get_by_id(s, id, part, mem, &n, &found, err))
		return err_failed(err->status);
	if (!found && (alias_follow(s, SUBJECT_NODE, id, &what.id, &found, err) ||
		       (found && get_by_id(s, &what.id, part, mem, &n, &found, err))))
		return err_failed(err->status);
	if (!found) {
		n.id = what.id;
		if (tree_find_purged(s, &what, &n.life, err))
			return err_failed(err->status);
	}
	*out = n;
	return STATUS_OK;
}

static enum status no_row(struct store *s, struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "%s: a node was purged meanwhile", store_path(s));
}

enum status tree_node_at(struct store *s, int64_t row, enum tree_node_part part, struct arena *mem,
			 struct tree_node *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	if (use(s, part == NODE_WHOLE ? NODE_BY_ROW_WHOLE : NODE_BY_ROW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (take_node(&st, part, mem, out, &found, err))
		return err_failed(err->status);
	return found ? STATUS_OK : no_row(s, err);
}

enum status tree_node_find(struct store *s, struct str text, struct uuid *id, struct err *err)
{
	return tree_find_prefix(s, &tree_node_statements, NODE_RANGE, "node", text, id, err);
}

enum status tree_newest(struct store *s, int64_t tree, int64_t *row, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NODE_NEWEST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, tree);
	if (stmt_row(&st, "the newest node", err))
		return err_failed(err->status);
	*row = col_int(&st, 0);
	return STATUS_OK;
}

static enum status each_node(struct stmt *st, enum tree_node_part part, tree_node_fn *fn, void *ctx,
			     struct err *err)
{
	bool go_on = true;
	enum step step = STEP_DONE;

	while (go_on && (step = stmt_step(st, err)) == STEP_ROW) {
		struct tree_node n;

		read_node(st, part, &n);
		if (fn(ctx, &n, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status tree_node_children(struct store *s, int64_t parent, int64_t after, bool archived,
			       enum tree_node_part part, tree_node_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, part == NODE_WHOLE ? NODE_CHILDREN_WHOLE : NODE_CHILDREN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, parent);
	stmt_int(&st, 2, after);
	stmt_int(&st, 3, archived);
	return each_node(&st, part, fn, ctx, err);
}

enum status tree_node_each(struct store *s, enum life_state state, int64_t tree, int64_t after_due,
			   const struct uuid *after, tree_node_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NODE_IN_STATE, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, str_of(life_state_names[state]));
	stmt_int(&st, 2, after_due);
	stmt_uuid(&st, 3, after);
	stmt_int(&st, 4, tree);
	return each_node(&st, NODE_SKELETON, fn, ctx, err);
}

/* ---- Ways ------------------------------------------------------------------- */

/* A node on the way up. */
struct step_up {
	int64_t row, parent, depth;
};

/* A statement about one row that must be there. */
static enum status use_row(struct store *s, int index, int64_t row, struct stmt *st, struct err *err)
{
	bool found;

	if (use(s, index, st, err))
		return err_failed(err->status);
	stmt_int(st, 1, row);
	if (stmt_found(st, &found, err))
		return err_failed(err->status);
	return found ? STATUS_OK : no_row(s, err);
}

static enum status look_up(struct store *s, int64_t row, struct step_up *out, struct err *err)
{
	STMT st = { 0 };

	if (use_row(s, NODE_UP, row, &st, err))
		return err_failed(err->status);
	*out = (struct step_up){ row, col_int(&st, 0), col_int(&st, 1) };
	return STATUS_OK;
}

static enum status step_to(struct store *s, int64_t row, struct tree_node *out, struct err *err)
{
	STMT st = { 0 };

	if (use_row(s, NODE_STEP, row, &st, err))
		return err_failed(err->status);
	read_node(&st, NODE_SKELETON, out);
	return STATUS_OK;
}

/* From the last one up; each step is one look at one row. */
static enum status climb(struct store *s, int64_t row, struct tree_node *list, size_t count, struct err *err)
{
	struct tree_node above;

	for (size_t i = count; i-- > 0; row = list[i].parent) {
		if (step_to(s, row, &list[i], err))
			return err_failed(err->status);
		if (i + 1 < count)
			list[i + 1].parent_id = list[i].id;
	}
	if (!row)
		return STATUS_OK;
	if (step_to(s, row, &above, err))
		return err_failed(err->status);
	list[0].parent_id = above.id;
	return STATUS_OK;
}

enum status tree_path(struct store *s, int64_t top, int64_t row, struct arena *mem, struct tree_node **nodes,
		      size_t *count, struct err *err)
{
	struct step_up up, highest = { 0 };
	struct tree_node *list;
	size_t n;

	if (look_up(s, row, &up, err) || (top && look_up(s, top, &highest, err)))
		return err_failed(err->status);
	n = up.depth < highest.depth ? 0 : (size_t)(up.depth - highest.depth) + 1;
	list = arena_alloc(mem, (n + 1) * sizeof *list);
	if (n && climb(s, row, list, n, err))
		return err_failed(err->status);
	if (!n || (top && list[0].row != top))
		return err_fail(err, STATUS_NOT_FOUND,
				"no path leads from one of the nodes down to the other");
	*nodes = list;
	*count = n;
	return STATUS_OK;
}

enum status tree_common(struct store *s, int64_t a, int64_t b, int64_t *out, struct err *err)
{
	struct step_up x, y;

	if (look_up(s, a, &x, err) || look_up(s, b, &y, err))
		return err_failed(err->status);
	while (x.row != y.row) {
		bool first = x.depth >= y.depth, second = y.depth >= x.depth;

		if ((first && !x.parent) || (second && !y.parent))
			return err_fail(err, STATUS_USAGE, "the nodes are in different trees");
		if ((first && look_up(s, x.parent, &x, err)) || (second && look_up(s, y.parent, &y, err)))
			return err_failed(err->status);
	}
	*out = x.row;
	return STATUS_OK;
}
