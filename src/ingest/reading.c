/*
 * Writing what threads have read.
 *
 *     unread ──► readers (unpack, JSON, words) ──► queue ──► writer
 *
 * Several programs may read at once. A part says from where to where it goes; when
 * the session is elsewhere by then, somebody else was faster. They may not have known
 * of the newest bytes, so what is unread then is looked at once more, a few times. The
 * last part of a source ends its being unread, in the transaction in which it finds the
 * session as the part before has left it: who is killed has left something unread.
 *
 * When something is purged meanwhile, all that was read is dropped and read again: it may be what
 * was purged.
 *
 * Words are written in transactions that are longer than those of a sync: FTS5
 * writes a segment for each, and small ones have to be merged again and again. Merging
 * has transactions of its own, since it may take as long as what came before it. While much comes
 * in, many segments are left to be merged at once: words are copied once then, and not two or three times.
 */
#include "ingest/reading.h"

#include "base/clock.h"
#include "base/thread.h"
#include "store/archive.h"
#include "store/fulltext.h"
#include "store/keys.h"
#include "store/tombstone.h"

#include <unistd.h>

enum {
	PROGRESS_NS = 100 * 1000 * 1000,
	/* Segments that may wait to be merged. A gigabyte makes some two hundred: merged two dozen at once they made
	 * eight, which are merged again (usermerge in sql/derived.sql), and every word is written once more. With 160
	 * (crisismerge) FTS5 merges in the middle of a transaction, and several programs may be reading. A search looks
	 * into each of them meanwhile. */
	MERGED_AT_ONCE = 48,
};

/* ---- Writing ---------------------------------------------------------------- */

static void tell_progress(struct reading *y)
{
	int64_t now = clock_monotonic_ns();

	if (!y->o.progress || now - y->progress_at < PROGRESS_NS)
		return;
	y->progress_at = now;
	y->o.progress(y->o.ctx, y->done, jobs_bytes(&y->jobs));
}

static enum status write_rows(struct reading *y, const struct part *p, struct err *err)
{
	struct store *s = y->store;
	bool done = true;

	if (source_expect(s, p->job->source, p->job->path, err))
		return err_failed(err->status);
	if (p->has_lines && mirror_add(s, &p->mirror, err))
		return err_failed(err->status);
	if (p->has_papers && paper_add(s, &p->papers, err))
		return err_failed(err->status);
	if (p->old_done && mirror_old_done(s, p->job->source, !p->mirror.old, err))
		return err_failed(err->status);
	if (p->no_session && mirror_forget(s, p->job->source, err))
		return err_failed(err->status);
	if (p->no_papers && paper_forget(s, p->job->source, err))
		return err_failed(err->status);
	if (p->has_count && unread_counted(s, p->job, &p->count, err))
		return err_failed(err->status);
	if (p->last && unread_done(s, p->job, &done, err))
		return err_failed(err->status);
	y->conflict |= !done; /* what is left is read in another round */
	return STATUS_OK;
}

static enum status count_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	line_count_add(ctx, bytes);
	return STATUS_OK;
}

/* Which line of the file begins at an offset. Counted when somebody has to be told; 0 when
 * that cannot be. */
static int64_t line_number(struct reading *y, const struct unread *job, int64_t offset)
{
	struct line_count before = { 0 };
	struct err ignored;

	if (archive_read(y->store, job->generation, 0, offset, count_bytes, &before, &ignored))
		return 0;
	return before.lines + 1;
}

/* A message is counted where its first line is, as far as this reading knows. */
static void report_part(struct reading *y, const struct part *p)
{
	struct read_report *r = y->o.report;

	if (p->broken_all && y->o.broken)
		y->o.broken(y->o.ctx, p->job->path, line_number(y, p->job, p->broken_at), p->broken_is_long,
			    p->broken_all - 1);
	if (!r)
		return;
	for (size_t i = 0; i < p->mirror.line_count && !p->mirror.old; i++)
		r->messages += p->lines[i].first >= 0 ? p->lines[i].first == p->lines[i].offset
						      : p->lines[i].first == MIRROR_ASK &&
								p->lines[i].first_here == p->lines[i].offset;
	r->tools += p->mirror.old ? 0 : p->mirror.tools;
	r->broken += p->broken;
}

/* A disk may fail once, and SQLite takes that for damage: it is looked at once more. What is damaged
 * stays unread and is told; that a disk cannot be read is an error. */
static void note_failure(struct reading *y, const struct part *p)
{
	atomic_store(&read_job_of(p->job)->dead, true);
	if (y->round == 0) {
		y->conflict = true;
		return;
	}
	if ((p->failed == STATUS_IO || p->failed == STATUS_BUSY) && !y->trouble.status)
		y->trouble = p->err;
	if (y->o.report)
		y->o.report->damaged++;
	if (y->round == 1)
		log_warn(store_log(y->store), "%.*s: %s; from there on it cannot be searched until that is mended",
			 STR_ARG(p->job->path), p->err.text);
}

/* A conflict is found before anything of the part is written, so that nothing has to
 * be undone: FTS5 would write a segment for every savepoint. */
static enum status write_part(struct reading *y, const struct part *p, struct err *err)
{
	struct read_job *job = read_job_of(p->job);
	enum status status;

	if (atomic_load(&job->dead))
		return STATUS_OK;
	status = y->outdated ? STATUS_CONFLICT : write_rows(y, p, err);
	if (status == STATUS_CONFLICT) {
		atomic_store(&job->dead, true);
		y->conflict = true;
		return STATUS_OK;
	}
	if (status == STATUS_OK)
		report_part(y, p);
	if (p->failed)
		note_failure(y, p);
	if (p->last && status == STATUS_OK) {
		job->next_written = y->written;
		y->written = job;
	}
	y->done += p->mirror.to - p->mirror.from + p->papers.to - p->papers.from;
	return status;
}

/* Who waits for what is in hand looks again, and sees it as it is: written, or left to others. */
static void note_written(struct reading *y)
{
	for (; y->written; y->written = y->written->next_written)
		atomic_store(&y->written->done, true);
	jobs_changed(&y->jobs);
}

/* What is ready, for a while, in one transaction. */
static enum status write_some(struct reading *y, struct part *p, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t begin = clock_monotonic_ns(), mark = 0;
	enum status status = txn_begin(y->store, &txn, err);

	if (status == STATUS_OK)
		status = purge_mark(y->store, &mark, err);
	y->outdated |= mark != y->mark;
	while (p && status == STATUS_OK) {
		status = write_part(y, p, err);
		part_free(p);
		p = NULL;
		if (status == STATUS_OK && !txn_is_long(y->store, LIMIT_INDEX_TXN_ALONE_NS, LIMIT_INDEX_TXN_NS))
			p = (struct part *)queue_take(&y->queue, false);
	}
	part_free(p);
	y->to_merge_ns += clock_monotonic_ns() - begin;
	if (status != STATUS_OK || txn_commit(&txn, err))
		return err_failed(err->status);
	note_written(y);
	return STATUS_OK;
}

/* About as many pages as have been written since, and their two or three merges will write.
 * If it is less, more segments are merged at once the next time. */
static enum status merge_some(struct reading *y, struct err *err)
{
	bool more = true;

	y->unmerged = 0;
	for (; y->to_merge_ns > 0; y->to_merge_ns = more ? y->to_merge_ns - LIMIT_TXN_NS : 0) {
		txn_pause(y->store);
		if (fulltext_merge(y->store, &more, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status reading_write(struct reading *y, struct part *p, struct err *err)
{
	txn_pause(y->store);
	if (write_some(y, p, err) || (++y->unmerged >= MERGED_AT_ONCE && merge_some(y, err)))
		return err_failed(err->status);
	tell_progress(y);
	return STATUS_OK;
}

enum status reading_write_all(struct reading *y, struct err *err)
{
	struct part *p;

	while (!reading_is_cancelled(y) && (p = (struct part *)queue_take(&y->queue, true)))
		if (reading_write(y, p, err))
			return err_failed(err->status);
	return reading_is_cancelled(y) ? STATUS_OK : merge_some(y, err);
}

/* ---- Threads ---------------------------------------------------------------- */

static void free_item(struct queue_item *item)
{
	part_free((struct part *)item);
}

static size_t wanted_readers(const struct reading *y)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = size_min(cores < 1 ? 1 : (size_t)cores, READING_MOST);

	return y->jobs.open ? most : size_min(most, y->jobs.count);
}

enum status reading_start(struct reading *y, struct queue_meet *meet, struct err *err)
{
	size_t n = 0, started = 0, want = wanted_readers(y);
	int code = 0;

	while (n < want && reader_init(&y->readers[n], y, err) == STATUS_OK)
		n++;
	if (n < want)
		reader_release(&y->readers[n]);
	queue_init(&y->queue, (int)n, LIMIT_SYNC_QUEUE, meet);
	while (started < n &&
	       (code = thread_start(&y->readers[started].thread, reader_run, &y->readers[started])) == 0)
		started++;
	for (size_t i = started; i < n; i++) {
		reader_release(&y->readers[i]);
		queue_leave(&y->queue);
	}
	y->reader_count = started;
	if (started)
		return STATUS_OK;
	queue_release(&y->queue, free_item);
	return n ? err_fail_errno(err, code, "starting a thread") : err_failed(err->status);
}

void reading_stop(struct reading *y)
{
	if (!y->reader_count)
		return;
	queue_close(&y->queue);
	jobs_end(&y->jobs);
	for (size_t i = 0; i < y->reader_count; i++) {
		pthread_join(y->readers[i].thread, NULL);
		reader_release(&y->readers[i]);
	}
	y->reader_count = 0;
	queue_release(&y->queue, free_item);
}

void reading_release(struct reading *y)
{
	reading_stop(y);
	pthread_mutex_destroy(&y->large);
	jobs_release(&y->jobs);
}

bool reading_is_cancelled(const struct reading *y)
{
	return store_is_cancelled(y->store) || (y->o.cancel && atomic_load(y->o.cancel));
}

/* Its number: a uuid's first bits, 0 excluded. */
static enum status draw_number(int64_t *out, struct err *err)
{
	struct uuid id;

	if (uuid_random(&id, err))
		return err_failed(err->status);
	*out = (key_of(&id) & INT64_MAX) | 1;
	return STATUS_OK;
}

enum status reading_init(struct reading *y, struct store *s, const struct read_options *o, bool open, struct err *err)
{
	*y = (struct reading){ .store = s, .o = *o };
	pthread_mutex_init(&y->large, NULL);
	jobs_init(&y->jobs, open);
	if (purge_mark(s, &y->mark, err) || draw_number(&y->number, err))
		return err_failed(err->status);
	return STATUS_OK;
}
