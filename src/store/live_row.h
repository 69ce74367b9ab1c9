/*
 * Inside the store: what the modules of live agents share.
 */
#ifndef ARBOR_STORE_LIVE_ROW_H
#define ARBOR_STORE_LIVE_ROW_H

#include "store/db.h"

/* A write transaction in a store that has the tables. */
static inline enum status live_begin(struct store *s, struct txn *txn, struct err *err)
{
	return store_reach(s, STORE_LIVE, err) ? err_failed(err->status) : txn_begin(s, txn, err);
}

/* The same, whose end waits for the disk when `synced`; inside of another transaction that one says it. */
static inline enum status live_begin_synced(struct store *s, struct txn *txn, bool synced, struct err *err)
{
	if (store_reach(s, STORE_LIVE, err) || (synced && !s->depth && store_sync_next_commit(s, err)))
		return err_failed(err->status);
	return txn_begin(s, txn, err);
}

static inline void stmt_uuid_or_null(struct stmt *st, int at, const struct uuid *u)
{
	if (u)
		stmt_uuid(st, at, u);
}

/* Text that may be missing: a parameter that is not bound is NULL. */
static inline void stmt_text_or_null(struct stmt *st, int at, struct str v)
{
	if (v.p)
		stmt_text(st, at, v);
}

#endif
