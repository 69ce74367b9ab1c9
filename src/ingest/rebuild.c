/*
 * Rebuilding is forgetting and reading again: the tables are made anew in one
 * transaction that also enters the words of notes and says that every source and made node is unread,
 * and then read by the same code that fills them after a sync, so that both cannot differ.
 */
#include "ingest/rebuild.h"

#include "store/annotation.h"
#include "store/made_text.h"
#include "store/mirror.h"

/* Drops and makes the tables, if that is still needed once we have the lock. */
static enum status start_over(struct store *s, bool only_if_stale, bool *done, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool current;

	if (txn_begin(s, &txn, err) || store_derived_current(s, &current, err))
		return err_failed(err->status);
	*done = !(current && only_if_stale);
	if (!*done)
		return STATUS_OK;
	if (store_derived_reset(s, err) || annotation_index_all(s, err) || made_text_miss_all(s, err) ||
	    unread_add_all(s, err) || store_derived_made(s, err))
		return err_pass(err, "making derived data anew");
	return txn_commit(&txn, err);
}

enum status rebuild_all(struct store *s, const struct read_options *o, struct err *err)
{
	bool done;

	return start_over(s, false, &done, err) ? err_failed(err->status) : read_unread(s, o, err);
}

enum status rebuild_if_stale(struct store *s, const struct read_options *o, bool *done, struct err *err)
{
	bool current;

	*done = false;
	if (store_derived_current(s, &current, err))
		return err_failed(err->status);
	if (current)
		return STATUS_OK;
	if (start_over(s, true, done, err))
		return err_pass(err, "the index of another version of arbor has to be made anew");
	return read_unread(s, o, err);
}
