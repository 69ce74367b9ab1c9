/*
 * Rebuilding derived data by the same functions that fill it during a sync, so
 * that both cannot differ.
 */
#include "ingest/rebuild.h"

#include "store/archive.h"
#include "store/find.h"

static enum status count(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	line_count_add(ctx, bytes);
	return STATUS_OK;
}

/* Only the newest generation: nobody asks for the lines of older ones. */
static enum status rebuild_source(void *ctx, const struct source_info *info, struct err *err)
{
	struct store *s = ctx;
	struct line_count c = { 0 };
	enum status status;

	if (!info->generation)
		return STATUS_OK;
	status = archive_read(s, info->generation, 0, info->bytes, count, &c, err);
	if (status == STATUS_CORRUPT) {
		/* Damage in one file must not keep people from all others. */
		log_warn(store_log(s), "%.*s: %s", STR_ARG(info->path), err->text);
		return STATUS_OK;
	}
	return status == STATUS_OK ? generation_set_lines(s, info->generation, 0, &c, err) : status;
}

static enum status rebuild(struct store *s, struct err *err)
{
	if (store_derived_reset(s, err) || source_each(s, rebuild_source, s, err) || store_derived_filled(s, err))
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
