/*
 * A purge from beginning to end.
 *
 *     find ──► say what must not come back ──► overwrite ──► read again ──► wipe
 *                (one transaction: from here on it is decided)
 *
 * What is found is only good as long as nobody writes: whoever brings in more of a session in between
 * is noticed, and it is looked for again. After that a sync cannot bring anything in that
 * has a tombstone: what it has read before is dropped when it finds another mark (store/tombstone.h).
 *
 * A program that is killed leaves a note of what is still to be done, and the next sync does it. It has not
 * got the list any more, but tombstones are all it needs: it looks through everything.
 */
#include "ingest/purge.h"

#include "ingest/purge_list.h"
#include "ingest/read.h"
#include "ingest/scrub.h"
#include "store/find.h"
#include "store/mirror.h"
#include "store/session.h"
#include "store/tombstone.h"
#include "store/tree_graft.h"
#include "store/wipe.h"

#include <string.h>

/* How long a purge waits for those who read an older state; how long a sync does that finds the log of an
 * earlier one, which it may find every time, and whoever purges what was made, which may be often. */
enum { WAIT_PURGE_MS = 3000, WAIT_LATER_MS = 50 };

/* ---- Overwriting ---------------------------------------------------------------- */

/* Damaged files are told, and counted. */
static enum status scrub_one(struct store *s, const struct line_salt *salt, const struct scrub_source *source,
			     int64_t *damaged, struct err *err)
{
	bool is_damaged = false;

	if (scrub_source(s, salt, source, &is_damaged, err))
		return err_pass(err, "%.*s", STR_ARG(source->path));
	if (is_damaged)
		log_warn(store_log(s), "%.*s: damaged; what of it cannot be read is left as it is",
			 STR_ARG(source->path));
	*damaged += is_damaged;
	return STATUS_OK;
}

/* Of the sources that a purge has found. */
static enum status scrub_list(struct store *s, const struct purge_list *l, const struct purge_options *o,
			      const struct purge_report *report, int64_t *damaged, struct err *err)
{
	int64_t done = 0;

	for (const struct purge_source *p = l->first_source; p; p = p->next) {
		struct scrub_source source = { p->row, p->id, p->path, p->whole };

		if ((p->bytes || p->whole) && scrub_one(s, &l->salt, &source, damaged, err))
			return err_failed(err->status);
		done += p->bytes;
		if (o->progress)
			o->progress(o->ctx, "overwriting", done, report->bytes);
	}
	return STATUS_OK;
}

/* Of all there are. */
struct listing {
	struct arena mem;
	struct scrub_source *list;
	size_t count, cap;
};

static void listing_release(struct listing *l)
{
	mem_free(l->list);
	arena_release(&l->mem);
}

static enum status list_source(void *ctx, const struct source_info *i, struct err *err)
{
	struct listing *l = ctx;

	(void)err;
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 256;
		l->list = mem_resize(l->list, l->cap * sizeof *l->list);
	}
	l->list[l->count++] = (struct scrub_source){ i->row, i->id, arena_str(&l->mem, i->path), i->purged };
	return STATUS_OK;
}

static enum status scrub_all(struct store *s, int64_t *damaged, struct err *err)
{
	struct listing l CLEANUP(listing_release) = { 0 };
	struct line_salt salt;

	if (tombstone_salt(s, &salt, err) || source_each(s, list_source, &l, err))
		return err_failed(err->status);
	for (size_t i = 0; i < l.count; i++)
		if (scrub_one(s, &salt, &l.list[i], damaged, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- What follows ---------------------------------------------------------------- */

static enum status tidy(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || mirror_tidy(s, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return STATUS_OK;
}

/* Trees and nodes of which something is written down, and which are gone. */
struct settling {
	struct store *s;
	struct subject *list;
	size_t count, cap;
};

static void settling_release(struct settling *x)
{
	mem_free(x->list);
}

/* What another session has as well was purged in one place and is still there. */
static enum status take_gone(void *ctx, const struct subject *what, struct err *err)
{
	struct settling *x = ctx;
	char id[UUID_TEXT + 1];
	struct id_match match;
	struct purged purged;
	bool found = false;
	size_t count;

	uuid_print(&what->id, id);
	if (id_search(x->s, str_of(id), 0, &match, 1, &count, err) ||
	    (!count && purged_find(x->s, &what->id, &what->id, &found, &purged, err)))
		return err_failed(err->status);
	if (!found)
		return STATUS_OK;
	if (x->count == x->cap) {
		x->cap = x->cap ? x->cap * 2 : 16;
		x->list = mem_resize(x->list, x->cap * sizeof *x->list);
	}
	x->list[x->count++] = *what;
	return STATUS_OK;
}

/* Claims on what is gone hold nothing any more, and its tree is not on its way. */
static enum status settle(struct store *s, struct err *err)
{
	struct settling x CLEANUP(settling_release) = { .s = s };
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool has;

	if (store_has(s, STORE_TREES, &has, err) || (has && life_each_mirrored(s, take_gone, &x, err)))
		return err_failed(err->status);
	if (!x.count)
		return STATUS_OK;
	if (txn_begin(s, &txn, err))
		return err_failed(err->status);
	for (size_t i = 0; i < x.count; i++)
		if (tree_graft_purged(s, &x.list[i], err))
			return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status wipe(struct store *s, const struct purge_state *state, int wait_ms, struct err *err)
{
	bool done = false;

	if (wipe_pages(s, wait_ms, &done, err))
		return err_failed(err->status);
	if (!done)
		return STATUS_OK;
	/* This is written to the log, and is all that is in it. */
	return purge_state_done(s, state, PURGE_NOTHING, err);
}

/* When all bytes are overwritten: the rest, until nothing is left of it in the file. Made nodes may go with
 * it, and others may have been purged meanwhile; their words go with these. Without an index, or with one of another
 * version, only pages can be wiped; the rest stays undone until somebody has made one. */
static enum status finish(struct store *s, struct purge_state state, int wait_ms, struct err *err)
{
	struct purge_state now;
	bool current, done;

	if (store_derived_current(s, &current, err))
		return err_failed(err->status);
	if (!current)
		return wipe_pages(s, wait_ms, &done, err);
	if (read_unread(s, NULL, err) || tidy(s, err) || settle(s, err) || purge_state_get(s, &now, err))
		return err_failed(err->status);
	if (now.left != PURGE_BYTES)
		state = now;
	if (wipe_words(s, err) || purge_state_done(s, &state, PURGE_PAGES, err) ||
	    wipe(s, &state, wait_ms, err) || purge_state_get(s, &now, err))
		return err_failed(err->status);
	if (now.left != PURGE_NOTHING)
		log_warn(store_log(s), "another program reads the store as it was; the next sync or gc wipes "
				       "what is left in the log");
	return STATUS_OK;
}

/* ---- A purge --------------------------------------------------------------------- */

/* Decides. *again: somebody has written since the list was made. *others: another purge has bytes to overwrite just
 * now. What is left is said to be this one's from then on, so these are, too. */
static enum status decide(struct store *s, const struct purge_list *l, const struct purge_subject *list,
			  size_t count, int64_t rev, bool last, bool *again, bool *others, struct purge_state *state,
			  struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct purge_state before;
	int64_t now;

	if (store_sync_next_commit(s, err) || txn_begin(s, &txn, err) || store_rev(s, &now, err))
		return err_failed(err->status);
	*again = now != rev && !last;
	if (*again)
		return STATUS_OK;
	if (purge_list_write(l, s, list, count, err) || purge_state_get(s, &before, err) ||
	    purge_state_begin(s, err) || purge_mark_change(s, err) || purge_state_get(s, state, err))
		return err_failed(err->status);
	*others = before.left == PURGE_BYTES;
	return txn_commit(&txn, err);
}

/* One attempt. */
static enum status attempt(struct store *s, const struct purge_subject *list, size_t count,
			   const struct purge_options *o, bool last, bool *again, struct purge_report *report,
			   struct err *err)
{
	struct purge_list l CLEANUP(purge_list_release) = { 0 };
	struct purge_state state;
	int64_t rev, damaged = 0, damaged_there = 0;
	bool others = false;

	*again = false;
	if (store_rev(s, &rev, err) || purge_list_find(&l, s, list, count, o, report, err))
		return err_failed(err->status);
	if (o->dry_run)
		return STATUS_OK;
	if (decide(s, &l, list, count, rev, last, again, &others, &state, err))
		return err_failed(err->status);
	if (*again)
		return STATUS_OK;
	if (scrub_list(s, &l, o, report, &damaged, err) || (others && scrub_all(s, &damaged_there, err)) ||
	    finish(s, state, WAIT_PURGE_MS, err))
		return err_failed(err->status);
	return damaged ? err_fail(err, STATUS_PARTIAL,
				  "purged, but for what is damaged in %" PRId64 " file%s", damaged,
				  damaged == 1 ? "" : "s")
		       : STATUS_OK;
}

enum status purge_subjects(struct store *s, const struct purge_subject *list, size_t count,
			   const struct purge_options *o, struct purge_report *report, struct err *err)
{
	enum { ATTEMPTS = 5 };
	static const struct purge_options nothing = { 0 };
	bool again = true;

	o = o ? o : &nothing;
	if (!o->dry_run && (store_reach(s, STORE_PURGED, err) || purge_complete(s, err) ||
			    read_unread(s, NULL, err) || wipe_begin(s, err)))
		return err_failed(err->status);
	for (int i = 0; again && i < ATTEMPTS; i++)
		if (attempt(s, list, count, o, i == ATTEMPTS - 1, &again, report, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status purge_subject(struct store *s, const struct uuid *subject, bool tree, struct purge_report *report,
			  struct err *err)
{
	return purge_subjects(s, &(struct purge_subject){ .id = *subject, .tree = tree }, 1, NULL, report,
			      err);
}

enum status purge_complete(struct store *s, struct err *err)
{
	struct purge_state state;
	int64_t damaged = 0;

	if (purge_state_get(s, &state, err))
		return err_failed(err->status);
	if (state.left == PURGE_NOTHING)
		return STATUS_OK;
	if (store_reach(s, STORE_PURGED, err) || wipe_begin(s, err))
		return err_failed(err->status);
	if (state.left == PURGE_PAGES)
		return wipe(s, &state, WAIT_LATER_MS, err);
	if (state.left == PURGE_BYTES && scrub_all(s, &damaged, err))
		return err_failed(err->status);
	return finish(s, state, WAIT_PURGE_MS, err);
}

enum status purge_traces(struct store *s, struct err *err)
{
	struct purge_state state;

	if (purge_state_get(s, &state, err))
		return err_failed(err->status);
	if (state.left == PURGE_BYTES)
		return purge_complete(s, err);
	if (store_reach(s, STORE_PURGED, err) || wipe_begin(s, err))
		return err_failed(err->status);
	return finish(s, state, WAIT_LATER_MS, err);
}
