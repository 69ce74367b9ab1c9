/*
 * From archived trees to the files that are in them.
 *
 * A tree is known by a name, which is made of a line (query/grove_names.c), and the line by a key. The files
 * that have it, and those that share lines with them, are the tree's, with their sub-agents: that is not
 * computed from their lines but from what is known of files that belong together, because a search has no
 * time for more. A sub-agent that is archived alone is left out when it has a file of its own.
 */
#include "query/hidden.h"

#include "base/map.h"
#include "claude/record.h"
#include "store/db.h"
#include "store/keys.h"

#include <stdlib.h>

enum { HIDDEN_TREES, HIDDEN_FILES, HIDDEN_VERSIONS, HIDDEN_STATEMENTS };

static const char *const sql[HIDDEN_STATEMENTS] = {
	[HIDDEN_TREES] = "SELECT subject_id FROM lifecycle WHERE state = 'archived' AND subject = 'tree'",
	[HIDDEN_FILES] = "SELECT k.session, m.agent IS NOT NULL, e.flags FROM node_key k JOIN mirror_session "
			 "m ON m.id = k.session"
			 " AND m.old = 0 JOIN entry e ON e.session = k.session AND e.offset = k.offset"
			 " WHERE k.key = ?1 AND k.part = -7",
	[HIDDEN_VERSIONS] =
		"SELECT o.id FROM mirror_session m JOIN mirror_session o USING (source) WHERE m.id = ?1 AND o.old = 1",
};
_Static_assert(PART_TREE == -7, "as the statement has it");

const struct db_set hidden_statements = { DB_HIDDEN, sql, HIDDEN_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &hidden_statements, index, st, err);
}

void hidden_release(struct hidden *h)
{
	mem_free(h->rows);
	*h = (struct hidden)HIDDEN_INIT;
}

static int compare_rows(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

bool hidden_has(const struct hidden *h, int64_t row)
{
	return h->count && bsearch(&row, h->rows, h->count, sizeof row, compare_rows);
}

/* ---- Gathering ------------------------------------------------------------------ */

struct gathering {
	struct store *store;
	struct hidden *out;
	size_t done; /* of the rows, those whose kin are among them */
	struct map known;
	struct arena mem;
};

static void gathering_release(struct gathering *g)
{
	map_release(&g->known);
	arena_release(&g->mem);
}

static void add(struct gathering *g, int64_t row)
{
	struct str key = str_from((const char *)&row, sizeof row);
	struct hidden *h = g->out;

	if (map_get(&g->known, key))
		return;
	map_put(&g->known, arena_str(&g->mem, key), g);
	if (h->count == h->cap) {
		h->cap = h->cap ? 2 * h->cap : 64;
		h->rows = mem_resize(h->rows, h->cap * sizeof *h->rows);
	}
	h->rows[h->count++] = row;
}

/* Those that belong to the rows that were added last, and so on. */
static enum status add_kin(struct gathering *g, struct err *err)
{
	for (; g->done < g->out->count; g->done++) {
		int64_t *kin;
		size_t count;

		if (session_kin(g->store, g->out->rows[g->done], &g->mem, &kin, &count, err))
			return err_failed(err->status);
		for (size_t i = 0; i < count; i++)
			add(g, kin[i]);
	}
	return STATUS_OK;
}

static enum status add_tree(struct gathering *g, const struct uuid *tree, struct err *err)
{
	enum step step;
	bool alone = false;
	STMT st = { 0 };

	if (use(g->store, HIDDEN_FILES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key_of(tree));
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		bool is_agent = col_int(&st, 1) != 0;

		/* A sub-agent inside the file of a conversation is not left out of it. */
		if (!is_agent && (col_int(&st, 2) & (RECORD_SIDECHAIN | RECORD_EMBEDDED)))
			continue;
		add(g, col_int(&st, 0));
		alone |= is_agent;
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (alone)
		g->done = g->out->count;
	return add_kin(g, err);
}

static enum status add_trees(struct gathering *g, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(g->store, HIDDEN_TREES, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 0);

		if (add_tree(g, &id, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* What only older versions of their files have. */
static enum status add_versions(struct gathering *g, struct err *err)
{
	size_t count = g->out->count;

	for (size_t i = 0; i < count; i++) {
		enum step step;
		STMT st = { 0 };

		if (use(g->store, HIDDEN_VERSIONS, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, g->out->rows[i]);
		while ((step = stmt_step(&st, err)) == STEP_ROW)
			add(g, col_int(&st, 0));
		if (step == STEP_FAILED)
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status hidden_load(struct store *s, struct hidden *out, struct err *err)
{
	struct gathering g CLEANUP(gathering_release) = { .store = s, .out = out };
	bool has;

	*out = (struct hidden)HIDDEN_INIT;
	if (store_has(s, STORE_TREES, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	if (add_trees(&g, err) || add_versions(&g, err))
		return err_failed(err->status);
	if (out->count)
		qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
	return STATUS_OK;
}
