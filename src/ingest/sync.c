/*
 * A sync: plan, read with several threads, write with this one.
 *
 *     plan ──► jobs ──► followers (read, compare, pack) ──► queue ──► writer
 *
 * Everything that costs time happens outside of a transaction. The writer
 * gathers the pieces that are ready and writes them in transactions of a few
 * milliseconds, so that readers and other writers never wait long. After every
 * commit the store is consistent: a file half read is simply a file that was
 * shorter, and is continued by the next sync.
 *
 * Several syncs may run at once, in any processes. Each write names the state
 * it was planned for; if that is no longer so, this file is left to the other
 * and looked at again in another round. So are all files when something was purged
 * meanwhile: what was read of them may be just that.
 *
 * Files that repeat others which come in with them (ingest/copies.h) are left until these have been read, and then
 * brought in by themselves.
 *
 * Invariants
 *   (1) Pieces of one file are written in order, each in one savepoint.
 *   (2) A source's times are remembered only together with its last piece.
 */
#include "ingest/sync.h"

#include "base/clock.h"
#include "base/thread.h"
#include "claude/layout.h"
#include "claude/record.h"
#include "ingest/along.h"
#include "ingest/copies.h"
#include "ingest/follow.h"
#include "ingest/fresh.h"
#include "ingest/purge.h"
#include "ingest/read.h"
#include "store/backfill.h"
#include "store/gather.h"
#include "store/mirror.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST_FOLLOWERS = 4,
	MOST_ROUNDS = 50,           /* of looking again after a conflict */
	PROGRESS_NS = 100 * 1000 * 1000,
};

struct syncing {
	struct store *store;
	const struct sync_options *o;
	struct sync_report *report;
	struct root root;
	int root_fd;
	struct plan plan;
	struct piece_queue queue;
	struct queue_meet meet;     /* of all that is to be written */
	atomic_size_t next_job;
	int64_t bytes_total;        /* to be read in this round, as far as one can see */
	int64_t bytes_before;       /* brought in by earlier rounds */
	int round;
	int64_t progress_at;        /* monotonic */
	struct fresh *fresh;        /* what it need not unpack; NULL without it */
	struct backfill *backfill;  /* of the log, with it */
	struct gather *gather;	    /* what is written to it */
	struct along *along;        /* reads what is there already, when there is much to bring in */
	struct read_report read;    /* what it has read */
	bool reading_is_left;	    /* all is archived */
	int64_t mark;		    /* of the store when the plan was made (store/tombstone.h) */
	bool outdated;		    /* it is another one by now */
	bool conflict;              /* somebody else was faster somewhere */
	struct str *later;          /* paths of what repeats what came in first */
	size_t later_count;
	struct arena later_mem;     /* holds them */
	bool is_later;              /* these are in hand */
	int64_t told[SYNC_EVENTS];  /* before they were */
	bool wrote;
};

struct reader {
	struct syncing *y;
	struct follower follower;
	pthread_t thread;
};

static bool is_cancelled(const struct syncing *y)
{
	return y->o->cancel && atomic_load(y->o->cancel);
}

static void count_session(struct sync_report *r, enum sync_event what, struct str path)
{
	struct transcript_name name;

	if (!record_transcript_of_path(path, &name) || name.agent.n)
		return;
	r->new_sessions += what == SYNC_ADDED;
	r->updated_sessions += what == SYNC_GREW || what == SYNC_REWRITTEN;
}

static void tell(struct syncing *y, enum sync_event what, struct str path, const struct err *why)
{
	y->report->count[what]++;
	count_session(y->report, what, path);
	if (y->o->event)
		y->o->event(y->o->ctx, what, path, why);
}

static void tell_progress(struct syncing *y)
{
	int64_t now = clock_monotonic_ns();

	if (!y->o->progress || now - y->progress_at < PROGRESS_NS)
		return;
	y->progress_at = now;
	y->o->progress(y->o->ctx, "reading", y->report->new_bytes - y->bytes_before, y->bytes_total);
}

/* ---- Reading threads ------------------------------------------------------- */

static void *read_files(void *ctx)
{
	struct reader *r = ctx;
	struct syncing *y = r->y;
	size_t i;

	/* Filling the index takes one thread longest of all: while packing has the cores, it would be the
	 * only thing left to do afterwards. */
	if (y->along)
		thread_step_back();
	while ((i = atomic_fetch_add(&y->next_job, 1)) < y->plan.job_count)
		if (!follow_file(&r->follower, &y->plan.jobs[i]))
			break;
	piece_queue_leave(&y->queue);
	return NULL;
}

static size_t wanted_readers(const struct syncing *y)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = cores < 1 ? 1 : (size_t)cores;

	return size_min(size_min(n, MOST_FOLLOWERS), y->plan.job_count);
}

/* Starts as many as possible; fails only when not even one can be. */
static enum status start_readers(struct syncing *y, struct reader *readers, size_t *count, struct err *err)
{
	size_t want = wanted_readers(y), n = 0;
	int started;

	/* The queue counts who may still put, so count first and start then. */
	while (n < want) {
		readers[n].y = y;
		if (follower_init(&readers[n].follower, y->store, y->root_fd, y->mark, &y->queue,
				  y->along ? y->fresh : NULL, y->o->cancel, err))
			break;
		n++;
	}
	if (n == 0)
		return err_failed(err->status);
	piece_queue_init(&y->queue, (int)n, &y->meet);
	for (size_t i = 0; i < n; i++) {
		started = thread_start(&readers[i].thread, read_files, &readers[i]);
		if (started == 0)
			continue;
		for (size_t k = i; k < n; k++) {
			follower_release(&readers[k].follower);
			piece_queue_leave(&y->queue);
		}
		n = i;
		if (n == 0) {
			piece_queue_release(&y->queue);
			return err_fail_errno(err, started, "starting a thread");
		}
	}
	*count = n;
	return STATUS_OK;
}

static void stop_readers(struct syncing *y, struct reader *readers, size_t count)
{
	piece_queue_close(&y->queue);
	for (size_t i = 0; i < count; i++) {
		pthread_join(readers[i].thread, NULL);
		follower_release(&readers[i].follower);
	}
	piece_queue_release(&y->queue);
}

/* ---- Writing --------------------------------------------------------------- */

/* The first piece of a file: its source, its name, its generation. */
static enum status begin_file(struct syncing *y, struct job *job, const struct piece *p, struct err *err)
{
	struct job_written *w = &job->written;

	w->generation = p->generation;
	w->length = p->length;
	if (w->source ? source_expect(y->store, w->source, job->known->path, err)
		      : source_add(y->store, y->root.row, job->path, &w->source, err))
		return err_failed(err->status);
	/* What a file is called says what is read from it. */
	if (job->renamed && (source_rename(y->store, w->source, job->known->path, job->path, err) ||
			     unread_add(y->store, w->source, err)))
		return err_failed(err->status);
	if (p->blank.from < p->blank.to && gap_make_tail(y->store, p->generation, p->blank, err))
		return err_failed(err->status);
	if (!p->starts_generation)
		return STATUS_OK;
	w->length = p->shared;
	return generation_add(y->store, w->source, p->generation, p->base, p->shared, &w->generation, err);
}

/* Where lines of the file may not be kept. */
static enum status write_gaps(struct syncing *y, const struct piece *p, int64_t generation, struct err *err)
{
	int64_t now = store_now(y->store);

	for (size_t i = 0; i < p->gap_count; i++)
		if (gap_mark(y->store, generation, &p->gaps[i], now, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status write_bytes(struct syncing *y, const struct piece *p, struct job_written *w, struct err *err)
{
	if (archive_append(y->store, w->generation, w->length, p->blocks, p->count, err))
		return err_failed(err->status);
	if (p->count)
		w->length = p->blocks[p->count - 1].offset + p->blocks[p->count - 1].length;
	if (write_gaps(y, p, w->generation, err))
		return err_failed(err->status);
	for (size_t i = 0; i < p->repair_count; i++)
		if (archive_repair(y->store, &p->repairs[i], err))
			return err_failed(err->status);
	if (!p->count && !p->starts_generation)
		return STATUS_OK;
	if (unread_add(y->store, p->job->written.source, err))
		return err_failed(err->status);
	return generation_set_lines(y->store, w->generation, p->starts_generation ? p->generation : 0, &p->lines, err);
}

static enum status end_file(struct syncing *y, const struct piece *p, struct err *err)
{
	const struct job_written *w = &p->job->written;

	return source_saw(y->store, w->source, w->generation, w->length, &p->seen, err);
}

static enum status write_piece(struct syncing *y, const struct piece *p, struct err *err)
{
	struct save part CLEANUP(save_end) = { 0 };
	struct job *job = p->job;
	struct job_written before = job->written;

	if (save_begin(y->store, &part, err))
		return err_failed(err->status);
	if ((p->first && begin_file(y, job, p, err)) || write_bytes(y, p, &job->written, err) ||
	    (p->last && end_file(y, p, err))) {
		job->written = before;
		return err_failed(err->status);
	}
	return save_keep(&part, err);
}

/* A file that is gone by the time it is read will be found vanished next time. */
static void tell_failure(struct syncing *y, const struct piece *p)
{
	if (p->failed != STATUS_NOT_FOUND)
		tell(y, SYNC_FAILED, p->job->path, &p->err);
}

/* Only in the first round: later ones look again at files already counted. */
static void count_unchanged(struct syncing *y)
{
	if (y->round == 0)
		y->report->unchanged++;
}

/* What a piece has brought, once it is committed. */
static void tell_piece(struct syncing *y, const struct piece *p)
{
	const struct job *job = p->job;

	if (p->failed) {
		tell_failure(y, p);
		return;
	}
	y->report->new_bytes += p->new_bytes;
	y->report->new_lines += p->new_lines;
	if (p->first && job->renamed)
		tell(y, SYNC_RENAMED, job->path, NULL);
	if (p->first && p->starts_generation)
		tell(y, p->generation ? SYNC_REWRITTEN : SYNC_ADDED, job->path, NULL);
	else if (p->first && p->new_bytes)
		tell(y, SYNC_GREW, job->path, NULL);
	else if (p->first && !job->renamed)
		count_unchanged(y);
	if (p->repair_count)
		tell(y, SYNC_REPAIRED, job->path, NULL);
}

/* *kept says whether there is something to tell of it after the commit. */
static enum status take_piece(struct syncing *y, const struct piece *p, bool *kept, struct err *err)
{
	enum status status = STATUS_OK;

	*kept = !p->job->written.dead;
	if (p->job->written.dead)
		return STATUS_OK;
	if (p->failed)
		p->job->written.dead = true;
	else if (y->outdated)
		status = STATUS_CONFLICT;
	else
		status = write_piece(y, p, err);
	if (status == STATUS_CONFLICT) {
		p->job->written.dead = true;
		y->conflict = true;
		*kept = false;
		count_unchanged(y); /* it was the other who brought it in */
		return STATUS_OK;
	}
	if (!p->failed)
		y->wrote = true;
	return status;
}

/* Pieces written in the open transaction, newest first. */
struct batch {
	struct piece *pieces;
};

static void batch_release(struct batch *b)
{
	while (b->pieces) {
		struct piece *next = (struct piece *)b->pieces->item.next;

		piece_free(b->pieces);
		b->pieces = next;
	}
}

/* The piece given and what else is ready, for a few milliseconds. */
static enum status fill_batch(struct syncing *y, struct batch *b, struct piece *p, int64_t end, struct err *err)
{
	enum status status = STATUS_OK;
	bool kept;

	while (p && status == STATUS_OK) {
		status = take_piece(y, p, &kept, err);
		if (kept) {
			buf_release(&p->packed);
			p->item.next = b->pieces ? &b->pieces->item : NULL;
			b->pieces = p;
		} else {
			piece_free(p);
		}
		p = clock_monotonic_ns() < end ? piece_queue_take(&y->queue, false) : NULL;
	}
	piece_free(p);
	return status;
}

/* One transaction. Nothing is told before it is committed. */
static enum status write_batch(struct syncing *y, struct piece *p, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct batch batch CLEANUP(batch_release) = { 0 };
	int64_t end, mark;

	if (txn_begin(y->store, &txn, err) || purge_mark(y->store, &mark, err)) {
		piece_free(p);
		return err_failed(err->status);
	}
	y->outdated |= mark != y->mark;
	end = clock_monotonic_ns() + LIMIT_TXN_NS;
	if (fill_batch(y, &batch, p, end, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	for (struct piece *done = batch.pieces; done; done = (struct piece *)done->item.next) {
		piece_give_copies(done, done->job->written.generation);
		tell_piece(y, done);
	}
	return STATUS_OK;
}

static enum status write_pieces(struct syncing *y, struct piece *p, struct err *err)
{
	txn_pause(y->store);
	if (write_batch(y, p, err))
		return err_failed(err->status);
	tell_progress(y);
	return STATUS_OK;
}

/* Pieces, and what was read of those before. */
static enum status write_both(struct syncing *y, struct err *err)
{
	struct piece *p;

	while (!is_cancelled(y) && queue_wait(&y->queue.queue, along_queue(y->along))) {
		p = piece_queue_take(&y->queue, false);
		if (p && write_pieces(y, p, err))
			return err_failed(err->status);
		if (p)
			along_more(y->along);
		along_write(y->along);
	}
	return STATUS_OK;
}

static enum status write_all(struct syncing *y, struct err *err)
{
	struct piece *p;

	if (y->along)
		return write_both(y, err);
	while (!is_cancelled(y) && (p = piece_queue_take(&y->queue, true)))
		if (write_pieces(y, p, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static void on_index_progress(void *ctx, int64_t done, int64_t total)
{
	const struct syncing *y = ctx;

	y->o->progress(y->o->ctx, "indexing", done, total);
}

/* While pieces come in, these are what is told. */
static void on_along_progress(void *ctx, int64_t done, int64_t total)
{
	const struct syncing *y = ctx;

	if (y->reading_is_left)
		on_index_progress(ctx, done, total);
}

static void on_broken(void *ctx, struct str path, int64_t line, bool too_long, int64_t more)
{
	struct err why = { 0 };
	char others[64] = "; it is kept as it is";

	if (more)
		snprintf(others, sizeof others, ", nor %s %" PRId64 " more; they are kept as they are",
			 more == 1 ? "is" : "are", more);
	(void)err_fail(&why, STATUS_FORMAT, "%.*s: line %" PRId64 " is %s%s", (int)size_min(path.n, LIMIT_ERR_TEXT / 2),
		       path.p, line, too_long ? "too long to be read" : "not JSON of a record", others);
	tell(ctx, SYNC_BROKEN, path, &why);
}

static void begin_along(struct syncing *y)
{
	if (!y->fresh)
		y->fresh = fresh_new(y->o->cancel);
	y->along = along_begin(y->store, &y->meet,
			       &(struct read_options){ .cancel = y->o->cancel,
						       .progress = y->o->progress ? on_along_progress : NULL,
						       .broken = on_broken,
						       .fresh = y->fresh,
						       .report = &y->read,
						       .ctx = y });
	if (!y->backfill)
		y->backfill = backfill_begin(y->store);
	if (!y->gather)
		y->gather = gather_begin(y->store);
}

static enum status read_and_write(struct syncing *y, struct err *err)
{
	struct reader readers[MOST_FOLLOWERS] = { 0 };
	enum status status;
	size_t count = 0;

	if (y->plan.job_count == 0)
		return STATUS_OK;
	atomic_store(&y->next_job, 0);
	if (y->bytes_total >= (y->o->along_bytes ? y->o->along_bytes : (int64_t)LIMIT_ALONG_BYTES) && !y->along)
		begin_along(y);
	if (start_readers(y, readers, &count, err))
		return err_failed(err->status);
	status = write_all(y, err);
	stop_readers(y, readers, count);
	return status;
}

/* ---- A round --------------------------------------------------------------- */

/* Marks from *from on, for a few milliseconds, and moves *from behind them. */
static enum status mark_some_vanished(struct syncing *y, size_t *from, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t end = clock_monotonic_ns() + LIMIT_TXN_NS;
	const struct source *sources = y->plan.sources;
	size_t i = *from;

	if (txn_begin(y->store, &txn, err))
		return err_failed(err->status);
	for (; i < y->plan.source_count && clock_monotonic_ns() < end; i++)
		if (plan_has_vanished(&y->plan, i) && source_vanish(y->store, &sources[i], &y->plan.gone[i], err))
			return err_failed(err->status);
	if (txn_commit(&txn, err))
		return err_failed(err->status);
	y->wrote = true;
	for (; *from < i; ++*from)
		if (y->plan.gone[*from])
			tell(y, SYNC_VANISHED, sources[*from].path, NULL);
	return STATUS_OK;
}

static enum status mark_vanished(struct syncing *y, struct err *err)
{
	for (size_t i = 0;;) {
		while (i < y->plan.source_count && !plan_has_vanished(&y->plan, i))
			i++;
		if (i == y->plan.source_count)
			return STATUS_OK;
		txn_pause(y->store);
		if (mark_some_vanished(y, &i, err))
			return err_failed(err->status);
	}
}

/* Of files that come later all but what is wrong with them was told when all were looked at. */
static void tell_plan(struct syncing *y)
{
	if (!y->is_later)
		y->report->files = y->plan.files;
	if (!y->is_later && y->round == 0)
		y->report->unchanged = y->plan.files - (int64_t)y->plan.job_count;
	y->report->count[SYNC_FAILED] = y->told[SYNC_FAILED];
	y->report->count[SYNC_SKIPPED] = y->told[SYNC_SKIPPED];
	y->report->count[SYNC_HIDDEN] = y->told[SYNC_HIDDEN];
	for (const struct plan_failure *f = y->plan.failures; f; f = f->next)
		tell(y, !f->refused ? SYNC_FAILED : f->loud ? SYNC_HIDDEN : SYNC_SKIPPED, f->path, &f->why);
}

/* A file that is known will rarely have to be read whole. */
static int64_t bytes_to_read(const struct plan *p)
{
	int64_t total = 0;

	for (size_t i = 0; i < p->job_count; i++) {
		const struct job *job = &p->jobs[i];
		int64_t known = job->known && job->known->complete ? job->known->st.size : 0;

		total += job->st.size > known ? job->st.size - known : 0;
	}
	return total;
}

/* What comes later is known by its paths: the plan goes. */
static enum status put_back_copies(struct syncing *y, struct err *err)
{
	const struct plan *p = &y->plan;

	if (copies_mark(&y->plan, y->store, y->root_fd, !y->is_later, err))
		return err_failed(err->status);
	if (y->is_later)
		return STATUS_OK;
	y->later_count = p->later_count;
	y->later = arena_alloc(&y->later_mem, y->later_count * sizeof *y->later);
	for (size_t i = 0; i < y->later_count; i++)
		y->later[i] = arena_str(&y->later_mem, p->jobs[p->job_count + i].path);
	return STATUS_OK;
}

static enum status sync_round(struct syncing *y, struct err *err)
{
	struct plan_options planning = {
		.whole = y->o->force,
		.paths = y->is_later ? y->later : y->o->paths,
		.path_count = y->is_later ? y->later_count : y->o->path_count,
		.filter = y->o->filter,
		.cancel = y->o->cancel,
	};
	enum status status;

	y->conflict = y->outdated = false;
	y->bytes_before = y->report->new_bytes;
	if (purge_mark(y->store, &y->mark, err))
		return err_failed(err->status);
	if (y->mark && (purge_complete(y->store, err) || purge_mark(y->store, &y->mark, err)))
		return err_failed(err->status);
	planning.mark = y->mark;
	status = plan_make(&y->plan, y->store, y->root.row, y->root_fd, &planning, err);
	if (status == STATUS_OK && !is_cancelled(y)) {
		tell_plan(y);
		status = y->plan.job_count ? put_back_copies(y, err) : STATUS_OK;
	}
	if (status == STATUS_OK && !is_cancelled(y)) {
		y->bytes_total = bytes_to_read(&y->plan);
		status = read_and_write(y, err);
	}
	if (status == STATUS_OK && !is_cancelled(y))
		status = mark_vanished(y, err);
	plan_release(&y->plan);
	return status;
}

/* Success is reported only when a power cut could not take it back. */
static enum status settle(struct syncing *y, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (!y->wrote)
		return STATUS_OK;
	if (store_sync_next_commit(y->store, err) || txn_begin(y->store, &txn, err) ||
	    root_synced(y->store, y->root.row, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return STATUS_OK;
}

/* Opens a folder and gives its name with all links resolved. */
static enum status open_folder(const char *dir, char real[LIMIT_PATH], int *fd, struct err *err)
{
	char *resolved = realpath(dir, NULL);
	int n;

	if (!resolved && errno == ENOENT)
		return err_fail(err, STATUS_NOT_FOUND,
				"'%s': no such folder; name the one to mirror with --source", dir);
	if (!resolved)
		return err_fail_errno(err, errno, "%s", dir);
	n = snprintf(real, LIMIT_PATH, "%s", resolved);
	free(resolved);
	if (n >= LIMIT_PATH)
		return err_fail(err, STATUS_LIMIT, "%s: path too long", dir);
	*fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? err_fail_errno(err, errno, "%s", real) : STATUS_OK;
}

static bool has_claude_files(int fd)
{
	struct stat st;

	for (const char *const *name = claude_top_names; *name; name++)
		if (fstatat(fd, *name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}

enum status sync_inspect(const char *dir, bool *has_files, struct err *err)
{
	int fd CLEANUP(file_close) = -1;
	char real[LIMIT_PATH];

	if (open_folder(dir, real, &fd, err))
		return err_failed(err->status);
	*has_files = has_claude_files(fd);
	return STATUS_OK;
}

/* The folder a label was given to, empty = none. A label moves to another folder only when
 * the old one is gone: two living folders under one label would be mixed into each other. */
static enum status find_left(const struct syncing *y, const char *dir, struct buf *from, struct err *err)
{
	struct stat st;

	if (root_dir(y->store, y->o->label, from, err))
		return err_failed(err->status);
	if (from->n && str_eq(buf_as_str(from), str_of(dir)))
		return err_fail(err, STATUS_CONFLICT, "%s: added by another program", dir);
	if (from->n && stat(from->p, &st) == 0)
		return err_fail(err, STATUS_USAGE, "'%.*s' is the label of %s, which still exists; choose another",
				STR_ARG(y->o->label), from->p);
	return STATUS_OK;
}

static enum status move_label(const struct syncing *y, const char *dir, struct err *err)
{
	struct buf from CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);

	if (find_left(y, dir, &from, err))
		return err_failed(err->status);
	return from.n ? root_move(y->store, y->o->label, buf_as_str(&from), dir, err) : STATUS_OK;
}

static enum status nothing_in(const char *dir, struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "%s: nothing of Claude Code in it (no projects/, no history.jsonl)",
			dir);
}

/* STATUS_CONFLICT: another program does the same. */
static enum status use_root(struct syncing *y, const char *dir, struct err *err)
{
	enum status status = root_find(y->store, dir, y->o->label, &y->root, err);

	if (status != STATUS_NOT_FOUND)
		return status;
	if (!y->o->label.p && !has_claude_files(y->root_fd))
		return nothing_in(dir, err);
	if (y->o->label.p && move_label(y, dir, err))
		return err_failed(err->status);
	return root_use(y->store, dir, y->o->label, &y->root, err);
}

static enum status open_root(struct syncing *y, struct err *err)
{
	enum status status = STATUS_CONFLICT;
	char dir[LIMIT_PATH];

	if (open_folder(y->o->dir, dir, &y->root_fd, err))
		return err_failed(err->status);
	for (int i = 0; i < MOST_ROUNDS && status == STATUS_CONFLICT; i++)
		status = use_root(y, dir, err);
	return status;
}

/* Who was overtaken lets the other finish, longer each time, and not all of them
 * equally long. */
static void pause_after_conflict(const struct syncing *y)
{
	int64_t ms = 2 << (y->round < 7 ? y->round : 7);
	int64_t end = clock_monotonic_ns() + (ms + (int64_t)getpid() % ms) * 1000000;

	while (clock_monotonic_ns() < end && !is_cancelled(y))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static enum status sync_rounds(struct syncing *y, struct err *err)
{
	for (y->round = 0; y->round < MOST_ROUNDS; y->round++) {
		if (sync_round(y, err))
			return err_failed(err->status);
		if (!y->conflict || is_cancelled(y))
			break;
		pause_after_conflict(y);
	}
	if (y->round == MOST_ROUNDS)
		return err_fail(err, STATUS_CONFLICT,
				"other programs changed the same sources all the time; run it again");
	return STATUS_OK;
}

static void add_up(struct sync_report *all, const struct read_report *read)
{
	all->messages += read->messages;
	all->tools += read->tools;
	all->broken += read->broken;
	all->damaged = read->damaged;
}

static void end_along(struct syncing *y)
{
	y->wrote |= y->along != NULL;
	y->reading_is_left = true;
	along_end(y->along);
	y->along = NULL;
	add_up(y->report, &y->read);
	y->read = (struct read_report){ 0 };
}

/* Also what an earlier sync had no time for. */
static enum status read_what_is_new(struct syncing *y, struct err *err)
{
	struct read_report read = { 0 };
	struct read_options o = {
		.cancel = y->o->cancel,
		.progress = y->o->progress ? on_index_progress : NULL,
		.broken = on_broken,
		.fresh = y->fresh,
		.report = &read,
		.ctx = y,
	};
	enum status status;
	bool any;

	if (unread_any(y->store, &any, err))
		return err_failed(err->status);
	y->wrote |= any;
	status = read_unread(y->store, &o, err);
	add_up(y->report, &read);
	return status == STATUS_CANCELLED && is_cancelled(y) ? STATUS_OK : status;
}

/* Bytes, and what they say. */
static enum status bring_in(struct syncing *y, struct err *err)
{
	enum status status;

	y->reading_is_left = false;
	status = sync_rounds(y, err);
	end_along(y);
	return status == STATUS_OK && !is_cancelled(y) ? read_what_is_new(y, err) : status;
}

static enum status tell_partial(const struct sync_report *r, struct err *err)
{
	if (!r->count[SYNC_FAILED])
		return read_tell_damaged(r->damaged, err);
	return err_fail(err, STATUS_PARTIAL, "%" PRId64 " %s could not be read; everything else was",
			r->count[SYNC_FAILED], r->count[SYNC_FAILED] == 1 ? "file or folder" : "files or folders");
}

enum status sync_run(struct store *s, const struct sync_options *o, struct sync_report *report, struct err *err)
{
	struct syncing y = { .store = s, .o = o, .report = report, .root_fd = -1 };
	enum status status;

	*report = (struct sync_report){ 0 };
	queue_meet_init(&y.meet);
	status = open_root(&y, err);
	if (status == STATUS_OK) {
		snprintf(report->root, sizeof report->root, "%s", y.root.label);
		status = bring_in(&y, err);
	}
	if (status == STATUS_OK && y.later_count && !is_cancelled(&y)) {
		memcpy(y.told, report->count, sizeof y.told);
		y.is_later = true;
		status = bring_in(&y, err);
	}
	if (status == STATUS_OK)
		status = settle(&y, err);
	file_close(&y.root_fd);
	gather_end(y.gather);
	backfill_end(y.backfill);
	fresh_free(y.fresh);
	queue_meet_release(&y.meet);
	arena_release(&y.later_mem);
	if (status != STATUS_OK)
		return status;
	if (is_cancelled(&y))
		return err_fail(err, STATUS_CANCELLED, "stopped; what was read so far is kept");
	return tell_partial(report, err);
}

/* ---- What would be done ---------------------------------------------------- */

/* Whether it only grew cannot be known before it is read. */
static void preview_job(struct syncing *y, const struct job *job)
{
	const struct source *known = job->known;

	if (job->renamed)
		tell(y, SYNC_RENAMED, job->path, NULL);
	else if (!known || !known->generation)
		tell(y, SYNC_ADDED, job->path, NULL);
	else if (known->complete && !known->vanished && known->st.size == job->st.size &&
		 known->st.mtime_ns == job->st.mtime_ns)
		y->report->unchanged++;
	else
		tell(y, claude_file_grows(job->path) && job->st.size > known->st.size ? SYNC_GREW : SYNC_REWRITTEN,
		     job->path, NULL);
}

/* The root is not added when it is new: it then has no sources. */
static enum status find_root(struct syncing *y, struct err *err)
{
	struct buf from CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	enum status status = STATUS_NOT_FOUND;
	char dir[LIMIT_PATH];

	if (open_folder(y->o->dir, dir, &y->root_fd, err))
		return err_failed(err->status);
	if (y->store)
		status = root_find(y->store, dir, y->o->label, &y->root, err);
	if (status != STATUS_NOT_FOUND)
		return status;
	if (!y->o->label.p && !has_claude_files(y->root_fd))
		return nothing_in(dir, err);
	if (y->store && y->o->label.p && find_left(y, dir, &from, err))
		return err_failed(err->status);
	return root_foresee(y->store, dir, y->o->label, &y->root, err);
}

static enum status preview(struct syncing *y, struct err *err)
{
	struct plan_options planning = {
		.filter = y->o->filter,
		.paths = y->o->paths,
		.path_count = y->o->path_count,
		.cancel = y->o->cancel,
	};

	if (find_root(y, err) || (y->store && purge_mark(y->store, &planning.mark, err)) ||
	    plan_make(&y->plan, y->store, y->root.row, y->root_fd, &planning, err))
		return err_failed(err->status);
	tell_plan(y);
	for (size_t i = 0; i < y->plan.job_count; i++)
		preview_job(y, &y->plan.jobs[i]);
	for (size_t i = 0; i < y->plan.source_count; i++)
		if (plan_has_vanished(&y->plan, i))
			tell(y, SYNC_VANISHED, y->plan.sources[i].path, NULL);
	y->report->new_bytes = bytes_to_read(&y->plan);
	snprintf(y->report->root, sizeof y->report->root, "%s", y->root.label);
	return STATUS_OK;
}

enum status sync_preview(struct store *s, const struct sync_options *o, struct sync_report *report, struct err *err)
{
	struct syncing y = { .store = s, .o = o, .report = report, .root_fd = -1 };
	enum status status;

	*report = (struct sync_report){ 0 };
	status = preview(&y, err);
	plan_release(&y.plan);
	file_close(&y.root_fd);
	if (status != STATUS_OK)
		return status;
	if (is_cancelled(&y))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	return tell_partial(report, err);
}
