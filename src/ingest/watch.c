/*
 * Watching a folder.
 *
 *     file event ──► touched ──(a moment of quiet)──► sync of these paths ──► recent
 *     folder came ─► watched, what is in it touched                             │
 *     folder went, events lost, time passed ──► sync of everything              │
 *                        sync of these paths, whose times can now be trusted ◄──┘
 *
 * What is heard is only a hint where to look: the sync decides what has happened. So
 * a hint too many costs a look, and one that is missed is found by the next sync of
 * everything. These come minutes apart where all folders can be watched; where they
 * cannot (the system's limit, a network) they come every few seconds, but never so
 * often that they take more than a hundredth of the time.
 *
 * A burst of changes is one batch: a batch begins when nothing more comes for a
 * moment, or when its first change has waited long enough.
 *
 * A file may grow again just after a look that was not caused by an event: the last
 * lines of a turn come up to 100 ms after it seems to be over. So what a poll found
 * changed is looked at again until nothing new comes.
 *
 * Invariants
 *   (1) A folder is watched before what is in it is read, so that nothing comes in
 *       between.
 *   (2) Everything happens in one thread. What changes during a sync waits in the
 *       system's queue.
 */
#include "ingest/watch.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/notify.h"
#include "base/walk.h"

#include <fcntl.h>

enum {
	QUIET_MS = 15,	    /* of a burst, before it is synced */
	PATIENCE_MS = 40,   /* the longest a change waits for quiet */
	AGAIN_MS = 100,	    /* after a poll found something */
	WENT_MS = 500,	    /* a folder went: the rest of it may follow, or it comes back elsewhere */
	RESCAN_MS = 600000, /* everything, in case a hint was missed */
	POLL_MS = 2000,	    /* everything, where folders cannot be watched */
	POLL_SHARE = 100,   /* a poll may take this part of the time */
	RETRY_MS = 1000,    /* after a failure, then longer */
	RETRY_MOST_MS = 60000,
	MOST_PATHS = 1000, /* of more, a sync of everything costs no more */
};

/* Paths, each once. */
struct paths {
	struct arena mem;
	struct map set;
	struct str *list;
	size_t count, cap;
};

struct watching {
	struct store *store;
	const struct watch_options *o;
	struct loop *loop;
	struct notify *notify; /* NULL = nothing can be heard */
	int root_fd;
	struct loop_timer *soon, *later, *everything;
	struct paths touched; /* to be synced */
	struct paths recent;  /* synced, but too young for their times to be trusted */
	int64_t touched_at;   /* the first of them */
	int64_t everything_at;
	bool polling;
	bool lost;	  /* folders may have come unheard */
	int64_t retry_ms; /* 0 = the last sync went well */
	struct arena told_mem;
	struct map told;    /* trouble by path: a hash of its text */
	bool first, news;   /* of the sync that runs */
	enum status status; /* not OK: why it ends */
	struct err *err;
};

/* ---- Paths ------------------------------------------------------------------ */

static void paths_release(struct paths *p)
{
	map_release(&p->set);
	mem_free(p->list);
	arena_release(&p->mem);
	*p = (struct paths){ 0 };
}

static void paths_add(struct paths *p, struct str path)
{
	if (map_get(&p->set, path))
		return;
	if (p->count == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 16;
		p->list = mem_resize(p->list, p->cap * sizeof *p->list);
	}
	p->list[p->count] = arena_str(&p->mem, path);
	map_put(&p->set, p->list[p->count], p); /* only that it is there */
	p->count++;
}

static struct paths paths_take(struct paths *p)
{
	struct paths all = *p;

	*p = (struct paths){ 0 };
	return all;
}

/* ---- When ------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

static void touch(struct watching *w, struct str path, int64_t quiet)
{
	int64_t now = now_ms(), left;

	if (w->touched.count == 0)
		w->touched_at = now;
	paths_add(&w->touched, path);
	left = w->touched_at + (quiet > PATIENCE_MS ? quiet : PATIENCE_MS) - now;
	loop_timer_set(w->soon, left < quiet ? left : quiet);
}

static void everything_within(struct watching *w, int64_t ms)
{
	int64_t at = now_ms() + ms;

	if (loop_timer_is_set(w->everything) && w->everything_at <= at)
		return;
	w->everything_at = at;
	loop_timer_set(w->everything, ms);
}

static void end(struct watching *w, enum status status)
{
	w->status = err_failed(status);
	loop_stop(w->loop);
}

/* ---- Watching folders ------------------------------------------------------- */

static void start_polling(struct watching *w, const struct err *why)
{
	if (w->polling)
		return;
	w->polling = true;
	log_warn(store_log(w->store), "%s; looking at everything every few seconds instead", why->text);
	everything_within(w, POLL_MS);
}

/* One that cannot be opened is the sync's to tell. */
static void watch_folder(struct watching *w, struct str folder)
{
	struct err err;
	enum status status;

	if (!w->notify)
		return;
	status = notify_add(w->notify, w->root_fd, folder, &err);
	if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_DENIED)
		start_polling(w, &err);
}

/* A walk that watches every folder it comes to, before it is read. */
struct coming {
	struct watching *w;
	struct str front; /* of the paths, in the root */
	bool touches;	  /* files, too */
};

static bool come_to(void *ctx, struct str path, bool is_folder)
{
	struct coming *c = ctx;
	struct buf full CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH - 1);

	if (c->front.n) {
		buf_str(&full, c->front);
		buf_byte(&full, '/');
	}
	buf_str(&full, path);
	if (full.failed)
		return false;
	path = buf_as_str(&full);
	if (!filter_wants(c->w->o->sync.filter, path, is_folder))
		return false;
	if (!is_folder) {
		if (c->touches)
			touch(c->w, path, QUIET_MS);
		return false;
	}
	watch_folder(c->w, path);
	return true;
}

static void found(void *ctx, struct str path, const struct file_stat *st)
{
	(void)ctx;
	(void)path;
	(void)st;
}

static void failed(void *ctx, struct str path, enum walk_problem problem, const struct err *why)
{
	(void)ctx;
	(void)path;
	(void)problem;
	(void)why;
}

static void watch_below(struct watching *w, struct str folder, bool touches)
{
	struct coming c = { .w = w, .front = folder, .touches = touches };
	struct walk walk = {
		.wants = come_to, .found = found, .failed = failed, .ctx = &c, .cancel = w->o->sync.cancel
	};
	int fd CLEANUP(file_close) = -1;
	struct err err;

	watch_folder(w, folder);
	if (file_open_beneath(w->root_fd, folder, O_RDONLY | O_DIRECTORY, &fd, &err) ||
	    walk_run(&walk, fd, &err))
		log_debug(store_log(w->store), "%s", err.text); /* gone again, or the sync will tell */
}

/* The root may be another folder than before. */
static void watch_all(struct watching *w)
{
	w->lost = false;
	if (!w->notify)
		return;
	file_close(&w->root_fd);
	w->root_fd = open(w->o->sync.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->root_fd >= 0) /* else the sync tells */
		watch_below(w, (struct str){ 0 }, false);
}

static void on_change(void *ctx, enum notify_what what, struct str path)
{
	struct watching *w = ctx;

	switch (what) {
	case NOTIFY_FILE:
		if (filter_wants(w->o->sync.filter, path, false))
			touch(w, path, QUIET_MS);
		break;
	case NOTIFY_FOLDER_CAME:
		if (filter_wants(w->o->sync.filter, path, true))
			watch_below(w, path, true);
		break;
	case NOTIFY_FOLDER_WENT:
		if (path.n && !filter_wants(w->o->sync.filter, path, true))
			break;
		notify_drop(w->notify, path);
		w->lost = true;
		everything_within(w, WENT_MS);
		break;
	case NOTIFY_LOST:
		log_info(store_log(w->store),
			 "more happened at once than could be told; looking at everything");
		w->lost = true;
		everything_within(w, AGAIN_MS);
		break;
	}
}

static void on_readable(void *ctx)
{
	struct watching *w = ctx;

	notify_read(w->notify, on_change, w);
}

/* ---- Syncing ---------------------------------------------------------------- */

static bool is_told(struct watching *w, struct str path, const struct err *why)
{
	uint64_t text = hash64(why->text, str_of(why->text).n), *last = map_get(&w->told, path);

	if (last && *last == text)
		return true;
	if (!last) {
		last = arena_alloc(&w->told_mem, sizeof *last);
		map_put(&w->told, arena_str(&w->told_mem, path), last);
	}
	*last = text;
	return false;
}

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct watching *w = ctx;

	if (why && is_told(w, path, why))
		return;
	w->news = true;
	if (w->polling && !why && what != SYNC_VANISHED)
		touch(w, path, AGAIN_MS);
	if (w->o->sync.event)
		w->o->sync.event(w->o->sync.ctx, what, path, why);
}

static void on_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	struct watching *w = ctx;

	if (w->o->sync.progress)
		w->o->sync.progress(w->o->sync.ctx, what, done, total);
}

/* What another program, or the person at the machine, can end. */
static bool may_pass(enum status status)
{
	return status == STATUS_BUSY || status == STATUS_FULL || status == STATUS_IO ||
	       status == STATUS_CONFLICT || status == STATUS_NOT_FOUND;
}

static void retry(struct watching *w, const struct err *why)
{
	if (!w->retry_ms)
		log_warn(store_log(w->store), "%s; trying again until it works", why->text);
	w->retry_ms = w->retry_ms ? 2 * w->retry_ms : RETRY_MS;
	if (w->retry_ms > RETRY_MOST_MS)
		w->retry_ms = RETRY_MOST_MS;
	w->lost = true;
	everything_within(w, w->retry_ms);
}

/* These paths, or everything. */
static void sync_now(struct watching *w, const struct paths *only)
{
	struct sync_options o = w->o->sync;
	struct sync_report report;
	struct err outcome = { .status = STATUS_OK };
	enum status status;

	if (w->status != STATUS_OK)
		return; /* it ends, but another timer was due as well */
	o.event = on_event;
	o.progress = w->first ? on_progress : NULL;
	o.ctx = w;
	o.force = o.force && w->first;
	o.paths = only ? only->list : NULL;
	o.path_count = only ? only->count : 0;
	w->news = w->first;
	status = sync_run(w->store, &o, &report, &outcome);
	if (status != STATUS_OK && status != STATUS_PARTIAL) {
		*w->err = outcome;
		if (w->first || !may_pass(status))
			end(w, status);
		else
			retry(w, &outcome);
		return;
	}
	w->retry_ms = 0;
	if (w->news && w->o->synced && w->o->synced(w->o->sync.ctx, &report, w->first, w->err))
		end(w, w->err->status);
}

static void sync_everything(struct watching *w)
{
	int64_t begun = now_ms(), next = RESCAN_MS;

	sync_now(w, NULL);
	if (w->polling) {
		int64_t share = (now_ms() - begun) * POLL_SHARE,
			wish = w->o->poll_ms ? w->o->poll_ms : POLL_MS;

		next = share > wish ? share : wish;
	}
	everything_within(w, next);
}

static void on_soon(void *ctx)
{
	struct watching *w = ctx;
	struct paths batch CLEANUP(paths_release) = paths_take(&w->touched);

	if (batch.count > MOST_PATHS) {
		sync_everything(w);
		return;
	}
	sync_now(w, &batch);
	for (size_t i = 0; i < batch.count; i++)
		paths_add(&w->recent, batch.list[i]);
	loop_timer_set(w->later, LIMIT_RACY_NS / 1000000 + AGAIN_MS);
}

static void on_later(void *ctx)
{
	struct watching *w = ctx;
	struct paths batch CLEANUP(paths_release) = paths_take(&w->recent);

	if (batch.count <= MOST_PATHS) /* else the next sync of everything does it */
		sync_now(w, &batch);
}

static void on_everything(void *ctx)
{
	struct watching *w = ctx;

	if (w->lost || !w->polling)
		watch_all(w);
	sync_everything(w);
}

/* ---- All of it -------------------------------------------------------------- */

static void watching_release(struct watching *w)
{
	loop_free(w->loop);
	notify_free(w->notify);
	file_close(&w->root_fd);
	paths_release(&w->touched);
	paths_release(&w->recent);
	map_release(&w->told);
	arena_release(&w->told_mem);
}

static enum status hear(struct watching *w, struct err *err)
{
	struct loop_fd *heard = NULL;
	struct err why;

	if (w->o->poll_ms) {
		w->polling = true;
		return STATUS_OK;
	}
	if (notify_new(&w->notify, &why)) {
		start_polling(w, &why);
		return STATUS_OK;
	}
	if (loop_fd_new(w->loop, notify_fd(w->notify), on_readable, w, &heard, err))
		return err_failed(err->status);
	loop_fd_want(heard, LOOP_READ);
	return STATUS_OK;
}

enum status watch_run(struct store *s, const struct watch_options *o, struct err *err)
{
	struct watching w CLEANUP(watching_release) = { .store = s, .o = o, .root_fd = -1, .err = err };

	if (loop_new(o->sync.cancel, &w.loop, err))
		return err_failed(err->status);
	w.soon = loop_timer_new(w.loop, on_soon, &w);
	w.later = loop_timer_new(w.loop, on_later, &w);
	w.everything = loop_timer_new(w.loop, on_everything, &w);
	if (hear(&w, err))
		return err_failed(err->status);
	watch_all(&w);
	w.first = true;
	sync_everything(&w);
	w.first = false;
	if (w.status == STATUS_OK)
		loop_run(w.loop);
	if (w.status != STATUS_OK)
		return w.status;
	return err_fail(err, STATUS_CANCELLED, "stopped watching; everything found so far is kept");
}
