/*
 * From made nodes to documents.
 *
 * A document says where it stands by session and offset. These stand in no session: theirs is DOC_NODES, and
 * the offset is the row of the node. Which document is a node's is remembered beside it (node_doc).
 *
 * After a rebuild the words of all nodes are missing. A transaction for a million of them would keep others
 * from writing, so they come a few at a time, from the newest to the oldest; how far that has got is in
 * node_unread. What is made meanwhile has a higher number and enters itself. In a store whose index was never
 * made, or by another version, nothing is entered: whoever makes it comes to all of them.
 */
#include "store/made_text.h"

#include "base/json_plain.h"
#include "base/words.h"
#include "store/db.h"

#include <string.h>

enum {
	MADE_DOC_ADD,
	MADE_DOC_GET,
	MADE_DOC_DROP,
	MADE_MISS_ALL,
	MADE_MISSING,
	MADE_MISSING_SET,
	MADE_MISSING_DONE,
	MADE_NEXT,
	MADE_ARCHIVED,
	MADE_ROWS,
	MADE_TEXT_STATEMENTS
};

static const char *const sql[MADE_TEXT_STATEMENTS] = {
	[MADE_DOC_ADD] = "INSERT INTO node_doc(node, doc) VALUES (?1, ?2)",
	[MADE_DOC_GET] = "SELECT doc FROM node_doc WHERE node = ?1",
	[MADE_DOC_DROP] = "DELETE FROM node_doc WHERE node = ?1",
	[MADE_MISS_ALL] = "INSERT INTO node_unread(id, last) SELECT 1, max(id) FROM node HAVING max(id) > 0",
	[MADE_MISSING] = "SELECT last FROM node_unread",
	[MADE_MISSING_SET] = "UPDATE node_unread SET last = ?1",
	[MADE_MISSING_DONE] = "DELETE FROM node_unread",
	[MADE_NEXT] = "SELECT coalesce(max(id), 0) FROM node WHERE id <= ?1",
	[MADE_ARCHIVED] =
		("SELECT d.doc FROM lifecycle l CROSS JOIN node n ON n.node_id = l.subject_id"
		 " CROSS JOIN node_doc d ON d.node = n.id WHERE l.state = 'archived'"
		 " UNION SELECT d.doc FROM lifecycle l CROSS JOIN tree t ON t.tree_id = l.subject_id"
		 " CROSS JOIN node n ON n.tree = t.id CROSS JOIN node_doc d ON d.node = n.id"
		 " WHERE l.state IN ('archived', 'purged') ORDER BY 1"),
	[MADE_ROWS] =
		("SELECT n.id FROM tree t CROSS JOIN node n ON n.tree = t.id WHERE t.tree_id = ?1 ORDER "
		 "BY n.id"),
};

const struct db_set made_text_statements = { DB_MADE_TEXT, sql, MADE_TEXT_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &made_text_statements, index, st, err);
}

/* ---- What it says ------------------------------------------------------------------ */

void made_text(const struct tree_node *n, struct buf *out)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err ignored;

	buf_str(out, n->kind == TREE_NODE_EXTERNAL ? n->handle : n->content);
	if (!n->metadata.p || json_read(&j, n->metadata, LIMIT_METADATA_DEPTH, &ignored))
		return;
	buf_byte(out, '\n');
	json_plain(&j, json_root(&j), out);
}

void made_words_init(struct made_words *w, const struct tree_node *n)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_NODE_TEXT + 8 * LIMIT_METADATA);

	*w = (struct made_words){ .packed = BUF_INIT(4 * LIMIT_NODE_TEXT + 32 * LIMIT_METADATA) };
	if (n->kind == TREE_NODE_ROOT)
		return;
	made_text(n, &text);
	w->count = words_pack(&w->packed, buf_as_str(&text));
}

void made_words_release(struct made_words *w)
{
	buf_release(&w->packed);
}

/* ---- Writing ----------------------------------------------------------------------- */

/* What a person or a model would have said in a conversation counts as that does there. */
static uint8_t place_of(const struct tree_node *n)
{
	return n->role == ROLE_USER	   ? MADE_PLACE_USER
	       : n->role == ROLE_ASSISTANT ? MADE_PLACE_ASSISTANT
					   : MADE_PLACE_OTHER;
}

static enum status remember(struct store *s, int64_t row, int64_t doc, struct err *err)
{
	STMT st = { 0 };

	if (use(s, MADE_DOC_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_int(&st, 2, doc);
	return stmt_run(&st, err);
}

static enum status add_doc(struct doc_writer *w, int64_t row, const struct tree_node *n,
			   const struct made_words *words, struct err *err)
{
	struct doc d = { .session = DOC_NODES, .offset = row, .at = n->created_at, .block = DOC_LINE };
	int64_t doc;

	if (!words->count)
		return STATUS_OK;
	if (doc_writer_add(w, &d, place_of(n), words->count, buf_as_str(&words->packed), &doc, err))
		return err_failed(err->status);
	return remember(w->store, row, doc, err);
}

enum status made_text_enter(struct store *s, int64_t row, const struct tree_node *n,
			    const struct made_words *words, struct err *err)
{
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	bool current;

	if (store_derived_current(s, &current, err))
		return err_failed(err->status);
	if (!current)
		return STATUS_OK;
	if (doc_writer_begin(&w, s, err) || add_doc(&w, row, n, words, err))
		return err_failed(err->status);
	return doc_writer_finish(&w, err);
}

enum status made_text_leave(struct store *s, int64_t row, struct err *err)
{
	bool found, current;
	STMT st = { 0 };

	if (store_derived_current(s, &current, err))
		return err_failed(err->status);
	if (!current)
		return STATUS_OK;
	if (use(s, MADE_DOC_GET, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (!found)
		return STATUS_OK;
	if (doc_remove(s, col_int(&st, 0), 1, err))
		return err_failed(err->status);
	return stmt_run_with(s, &made_text_statements, MADE_DOC_DROP, row, err);
}

/* ---- After a rebuild ---------------------------------------------------------------- */

/* A statement without parameters. */
static enum status run(struct store *s, int index, struct err *err)
{
	STMT st = { 0 };

	return use(s, index, &st, err) ? err_failed(err->status) : stmt_run(&st, err);
}

enum status made_text_miss_all(struct store *s, struct err *err)
{
	bool has;

	if (store_has(s, STORE_TREES, &has, err))
		return err_failed(err->status);
	return has ? run(s, MADE_MISS_ALL, err) : STATUS_OK;
}

/* The number that a statement gives; 0 = it gives none. */
static enum status number(struct store *s, int index, int64_t about, int64_t *out, struct err *err)
{
	bool found;
	STMT st = { 0 };

	*out = 0;
	if (use(s, index, &st, err))
		return err_failed(err->status);
	if (about)
		stmt_int(&st, 1, about);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (found)
		*out = col_int(&st, 0);
	return STATUS_OK;
}

static enum status enter_row(struct doc_writer *w, int64_t row, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct made_words words CLEANUP(made_words_release) = { 0 };
	struct tree_node n;

	if (tree_node_at(w->store, row, NODE_WHOLE, &mem, &n, err))
		return err_failed(err->status);
	made_words_init(&words, &n);
	return add_doc(w, row, &n, &words, err);
}

/* Some of those that are missing; *more = there are others. */
static enum status complete_some(struct store *s, bool *more, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	int64_t last, row = 0;

	if (txn_begin(s, &txn, err) || number(s, MADE_MISSING, 0, &last, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	while (last > 0) {
		if (number(s, MADE_NEXT, last, &row, err) || (row && enter_row(&w, row, err)))
			return err_failed(err->status);
		last = row - 1;
		if (txn_is_long(s, LIMIT_INDEX_TXN_ALONE_NS, LIMIT_INDEX_TXN_NS))
			break;
	}
	*more = last > 0;
	if (doc_writer_finish(&w, err))
		return err_failed(err->status);
	if (*more ? stmt_run_with(s, &made_text_statements, MADE_MISSING_SET, last, err)
		  : run(s, MADE_MISSING_DONE, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status made_text_complete(struct store *s, struct err *err)
{
	int64_t last = 0;
	bool has;

	if (store_has(s, STORE_TREES, &has, err) || (has && number(s, MADE_MISSING, 0, &last, err)))
		return err_failed(err->status);
	for (bool more = last > 0; more;) {
		if (store_is_cancelled(s))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (complete_some(s, &more, err))
			return err_failed(err->status);
		txn_pause(s);
	}
	return STATUS_OK;
}

/* ---- Asking -------------------------------------------------------------------------- */

enum status made_text_archived(struct store *s, struct arena *mem, struct doc_range **out, size_t *count,
			       struct err *err)
{
	size_t cap = 0;
	enum step step;
	STMT st = { 0 };
	bool has;

	*out = NULL;
	*count = 0;
	if (store_has(s, STORE_TREES, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	if (use(s, MADE_ARCHIVED, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		doc_range_add(mem, out, count, &cap, (struct doc_range){ col_int(&st, 0), 1 });
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status made_rows(struct store *s, const struct uuid *tree, made_rows_fn *fn, void *ctx, struct err *err)
{
	int64_t first = 0, behind = 0;
	enum step step;
	STMT st = { 0 };

	if (use(s, MADE_ROWS, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, tree);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (col_int(&st, 0) != behind) {
			if (first && fn(ctx, first, behind, err))
				return err_failed(err->status);
			first = col_int(&st, 0);
		}
		behind = col_int(&st, 0) + 1;
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	return first ? fn(ctx, first, behind, err) : STATUS_OK;
}
