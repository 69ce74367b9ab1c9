/*
 * Wiping.
 *
 * Cells that are deleted are overwritten by every connection (db.c); pages that are freed only
 * when this one asked for it. The pages that others have freed are taken up by rows of zeros, which
 * are deleted in the same transaction, so nobody ever sees them. A table for them would be a change
 * of the schema, at which FTS5 fails in a connection that is just looking at its tables.
 *
 * FTS5 keeps the words of a deleted document until the segments they are in are merged. So all
 * segments are merged into one: that takes as long as reading and writing the index, some
 * seconds for a gigabyte of transcripts, and others can write in between.
 *
 * The log has the pages as they were. It is emptied when everything in it is in the database and nobody
 * reads from it.
 */
#include "store/wipe.h"

#include "store/db.h"
#include "store/fulltext.h"

enum { WIPE_FREE, WIPE_LAST, WIPE_FILL, WIPE_EMPTY, WIPE_STATEMENTS };

static const char *const sql[WIPE_STATEMENTS] = {
	[WIPE_FREE] = "SELECT freelist_count, page_size FROM pragma_freelist_count, pragma_page_size",
	[WIPE_LAST] = "SELECT coalesce(max(id), 0) FROM block_data",
	[WIPE_FILL] = "INSERT INTO block_data(codec, bytes) VALUES (0, zeroblob(?1))",
	[WIPE_EMPTY] = "DELETE FROM block_data WHERE id > ?1",
};

const struct db_set wipe_statements = { DB_WIPE, sql, WIPE_STATEMENTS };

enum status wipe_begin(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	/* Beginning to write sets up the connection, this among the rest. */
	if (txn_begin(s, &txn, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return db_exec(s, "PRAGMA secure_delete=ON", err);
}

enum status wipe_words(struct store *s, struct err *err)
{
	bool more = true;

	if (fulltext_merge_all(s, err))
		return err_failed(err->status);
	while (more) {
		if (store_is_cancelled(s))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		txn_pause(s);
		if (fulltext_merge(s, &more, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status count_free(struct store *s, int64_t *pages, int64_t *page_size, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &wipe_statements, WIPE_FREE, &st, err) || stmt_row(&st, "free pages", err))
		return err_failed(err->status);
	*pages = col_int(&st, 0);
	*page_size = col_int(&st, 1);
	return STATUS_OK;
}

/* Rows of zeros, until no page is free. */
static enum status fill_free_pages(struct store *s, struct err *err)
{
	enum { AT_ONCE = 1024 };
	int64_t pages, page_size;

	for (;;) {
		STMT st = { 0 };

		if (count_free(s, &pages, &page_size, err))
			return err_failed(err->status);
		if (!pages)
			return STATUS_OK;
		pages = pages < AT_ONCE ? pages : AT_ONCE;
		if (stmt_use(s, &wipe_statements, WIPE_FILL, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, pages * (page_size - 16) - page_size / 2);
		if (stmt_run(&st, err))
			return err_failed(err->status);
	}
}

static enum status last_row(struct store *s, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &wipe_statements, WIPE_LAST, &st, err) || stmt_row(&st, "the last row", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

static enum status wipe_free(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t pages, page_size, last;

	if (txn_begin(s, &txn, err) || count_free(s, &pages, &page_size, err))
		return err_failed(err->status);
	if (!pages)
		return STATUS_OK;
	if (last_row(s, &last, err) || fill_free_pages(s, err) ||
	    stmt_run_with(s, &wipe_statements, WIPE_EMPTY, last, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status wipe_pages(struct store *s, int wait_ms, bool *done, struct err *err)
{
	return wipe_free(s, err) ? err_failed(err->status) : db_empty_log(s, wait_ms, done, err);
}
