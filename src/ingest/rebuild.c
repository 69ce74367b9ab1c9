/*
 * Rebuilding derived data by the same functions that fill it during a sync, so
 * that both cannot differ.
 */
#include "ingest/rebuild.h"

#include "store/archive.h"
#include "store/find.h"

struct rebuilding {
	struct store *store;
	struct arena mem;
};

static void rebuilding_release(struct rebuilding *r)
{
	arena_release(&r->mem);
}

static enum status count(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	line_count_add(ctx, bytes);
	return STATUS_OK;
}

static enum status rebuild_source(void *ctx, const struct source_info *info, struct err *err)
{
	struct rebuilding *r = ctx;
	struct generation *list;
	size_t n;

	if (generation_list(r->store, info->row, &r->mem, &list, &n, err))
		return err_failed(err->status);
	for (size_t i = 0; i < n; i++) {
		struct line_count c = { 0 };

		if (archive_read(r->store, list[i].row, 0, list[i].length, count, &c, err) ||
		    generation_set_lines(r->store, list[i].row, &c, err))
			return err_pass(err, "%.*s, generation %" PRId64, STR_ARG(info->path), list[i].number);
	}
	return STATUS_OK;
}

static enum status rebuild(struct store *s, struct err *err)
{
	struct rebuilding r CLEANUP(rebuilding_release) = { .store = s };

	if (store_derived_reset(s, err) || source_each(s, rebuild_source, &r, err) || store_derived_filled(s, err))
		return err_pass(err, "rebuilding derived data");
	return STATUS_OK;
}

enum status rebuild_if_stale(struct store *s, bool *done, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool current;

	*done = false;
	if (store_derived_current(s, &current, err))
		return err_failed(err->status);
	if (current)
		return STATUS_OK;
	/* Ask again with the write lock: another program may have done it. */
	if (txn_begin(s, &txn, err) || store_derived_current(s, &current, err))
		return err_failed(err->status);
	if (!current && rebuild(s, err))
		return err_failed(err->status);
	*done = !current;
	return txn_commit(&txn, err);
}
