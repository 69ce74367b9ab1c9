/*
 * Reading: threads take unread sources, read their bytes from the archive, make
 * parts of their lines; this thread writes the parts.
 *
 *     unread ──► readers (unpack, JSON, words) ──► queue ──► writer
 *
 * The archive and not the file is read: what is derived then follows from the
 * facts alone, whoever brought them in and whenever. Unpacking costs a tenth of
 * what splitting into words does.
 *
 * Only whole lines are read. A line that is not terminated yet waits for its rest,
 * unless it is an object that is complete: most often only its line feed is missing.
 * The next sync goes on behind what was read. If the line went on after all, it is
 * another line than the one that was read, and the session is read from its beginning:
 * what it says may not depend on when somebody looked.
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
 * has transactions of its own, since it may take as long as what came before it.
 */
#include "ingest/read.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/split.h"
#include "base/thread.h"
#include "claude/layout.h"
#include "ingest/part.h"
#include "store/archive.h"
#include "store/fulltext.h"
#include "store/keys.h"
#include "store/made_text.h"
#include "store/tombstone.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST_READERS = 4,
	MOST_ROUNDS = 8,
	PROGRESS_NS = 100 * 1000 * 1000,
};

struct reading {
	struct store *store;
	const struct read_options *o;
	struct arena mem;
	struct unread *jobs;
	size_t count;
	atomic_bool *dead; /* by job: failed, or somebody else was faster */
	int round;
	int64_t number; /* of this round, among all that ever read */
	bool conflict; /* somebody else was */
	int64_t mark;  /* of the store before anything was read (store/tombstone.h) */
	bool outdated; /* it is another one by now */
	struct queue queue;
	atomic_size_t next_job;
	pthread_mutex_t large; /* who reads a line of many megabytes has it */
	int64_t total, done;   /* bytes */
	struct err trouble;    /* why a source could not be read that is not damaged; status 0 = none */
	int64_t to_merge_ns;   /* how long what has not been merged took to write */
	int64_t progress_at;
};

/* An older version of a source, and from where on it differs. */
struct old_version {
	int64_t generation, length;
	int64_t shared; /* bytes it has in common with the newest */
	int64_t from;	/* beginning of the line where that ends */
};

/* A thread, and the source it reads. */
struct reader {
	struct reading *y;
	struct store *store;
	pthread_t thread;
	struct part_reader lines;
	struct paper_reader papers;
	const struct unread *job;
	struct part *part;
	struct split split;
	bool at_end;  /* the line in hand has no line feed */
	/* Of a file with older versions: what the newest has, to know what they had more. */
	bool gathers;
	uint64_t *keys;
	size_t key_count, key_cap;
	struct old_version *old;
	size_t old_count;
	bool large;   /* it has many megabytes */
	bool stopped; /* the queue takes no more */
	int64_t broken, broken_at; /* lines of the source that could not be understood; the first */
};

static bool is_cancelled(const struct reading *y)
{
	return store_is_cancelled(y->store) || (y->o->cancel && atomic_load(y->o->cancel));
}

/* ---- Reading threads -------------------------------------------------------- */

static void begin_part(struct reader *r, int64_t from)
{
	r->part = part_new(r->job);
	r->part->mirror = (struct mirror_part){
		.source = r->job->source,
		.generation = r->job->generation,
		.source_id = r->job->source_id,
		.from = from,
		.to = from,
		.newest = r->job->generation,
		.reader = r->y->number,
	};
}

static bool hand_over(struct reader *r)
{
	struct part *p = r->part;

	r->part = NULL;
	part_seal(p);
	if (queue_put(&r->y->queue, &p->item))
		return true;
	part_free(p);
	r->stopped = true;
	return false;
}

/* A part that may be followed by another. */
static bool hand_over_some(struct reader *r)
{
	struct mirror_part before = r->part->mirror;
	struct paper_part papers = r->part->papers;
	bool has_papers = r->part->has_papers;

	if (!hand_over(r))
		return false;
	begin_part(r, before.to);
	r->part->mirror.session_id = before.session_id;
	r->part->mirror.agent = before.agent;
	r->part->mirror.began_at = before.began_at;
	r->part->mirror.old = before.old;
	r->part->mirror.generation = before.generation;
	r->part->papers = papers;
	r->part->papers.from = papers.to;
	r->part->papers.anew = false;
	r->part->papers.count = 0;
	r->part->has_papers = has_papers;
	return true;
}

/* ---- Older versions: what the newest has ------------------------------------ */

static void gather_line(struct reader *r, struct str uuid, int64_t offset)
{
	if (!r->gathers)
		return;
	for (size_t i = 0; i < r->old_count; i++)
		if (offset <= r->old[i].shared)
			r->old[i].from = offset;
	if (!uuid.p)
		return;
	if (r->key_count == r->key_cap) {
		r->key_cap = r->key_cap ? r->key_cap * 2 : 1024;
		r->keys = mem_resize(r->keys, r->key_cap * sizeof *r->keys);
	}
	r->keys[r->key_count++] = hash64(uuid.p, uuid.n);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Whether a line of an older version is one the newest has no more. */
static bool is_withdrawn(const struct reader *r, struct str uuid)
{
	uint64_t key = hash64(uuid.p, uuid.n);

	return uuid.p && !(r->key_count && bsearch(&key, r->keys, r->key_count, sizeof key, by_number));
}

static enum status count_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	line_count_add(ctx, bytes);
	return STATUS_OK;
}

/* Of each file the first is told by its place, and how many there are. */
static void note_broken(struct reader *r, int64_t offset)
{
	r->part->broken++;
	if (r->broken++ == 0)
		r->broken_at = offset;
}

static bool add_line(struct reader *r, struct str line, int64_t offset)
{
	part_begin_line(&r->lines, line, offset);
	while (part_add_record(r->part, &r->lines)) {
		if (part_last_is_broken(r->part) && !r->part->mirror.old)
			note_broken(r, offset);
		gather_line(r, part_last_uuid(r->part), offset);
		if (r->part->mirror.old && !is_withdrawn(r, part_last_uuid(r->part)))
			part_drop_last(r->part);
		r->part->has_lines = true;
		if (part_is_full(r->part) && !hand_over_some(r))
			return false;
	}
	return true;
}

static bool is_dead(const struct reader *r)
{
	return atomic_load(&r->y->dead[r->job - r->y->jobs]);
}

static bool take_line(void *ctx, const struct split_line *line)
{
	struct reader *r = ctx;

	if (!line->text.p && !r->part->mirror.old)
		part_add_unread(r->part, line->offset, line->length, line->digest);
	else if (line->text.p && !add_line(r, line->text, line->offset))
		return false;
	r->part->has_lines = true;
	r->part->mirror.to = r->split.at + (r->at_end ? 0 : 1);
	return (!part_is_full(r->part) || hand_over_some(r)) && !is_dead(r) && !is_cancelled(r->y);
}

/* The line in hand has grown large, or is not any more. It, its text and its words take
 * up to two hundred megabytes: only one at a time. */
static void set_large(struct reader *r, bool large)
{
	struct buf rest;

	if (r->large == large)
		return;
	r->large = large;
	if (large) {
		pthread_mutex_lock(&r->y->large);
		return;
	}
	buf_init(&rest, r->split.carry.max);
	buf_str(&rest, buf_as_str(&r->split.carry));
	buf_release(&r->split.carry);
	r->split.carry = rest;
	part_reader_shrink(&r->lines);
	pthread_mutex_unlock(&r->y->large);
}

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	enum { LARGE = 4 * 1024 * 1024 };
	struct reader *r = ctx;

	if (!split_add(&r->split, bytes))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	set_large(r, r->split.carry.n > LARGE);
	return STATUS_OK;
}

static enum status count_lines(struct reader *r, struct err *err)
{
	r->part->has_count = true;
	return archive_read(r->store, r->job->generation, 0, r->job->length, count_bytes, &r->part->count,
			    err);
}

static enum status add_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

/* Whether a line has gone on that was read without its line feed. */
static enum status line_went_on(struct reader *r, int64_t read_to, bool *out, struct err *err)
{
	const struct unread *u = r->job;
	struct buf around CLEANUP(buf_release) = BUF_INIT(2);

	*out = false;
	if (read_to == 0 || read_to >= u->length)
		return STATUS_OK;
	if (archive_read(r->store, u->generation, read_to - 1, 2, add_bytes, &around, err))
		return err_failed(err->status);
	*out = !str_has_byte(buf_as_str(&around), '\n');
	return STATUS_OK;
}

/* From where on. */
static enum status begin_lines(struct reader *r, int64_t *from, struct err *err)
{
	const struct unread *u = r->job;
	struct mirror_part *m = &r->part->mirror;

	m->known_generation = u->read_generation;
	m->known_to = m->from = m->to = u->read_to;
	m->known_old_for = u->old_for;
	m->anew = u->read_generation != u->generation || (u->generations > 1 && u->old_for != u->generation);
	if (!m->anew && line_went_on(r, u->read_to, &m->anew, err))
		return err_failed(err->status);
	*from = m->from = m->to = m->began_at = m->anew ? 0 : u->read_to;
	return STATUS_OK;
}

/* ---- Older versions ----------------------------------------------------------- */

/* How many bytes the newest generation shares with each other one: along the bases, as far
 * as each link goes. One that is not among them shares nothing that is known. */
static enum status list_old(struct reader *r, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct generation *list;
	size_t count;

	r->old_count = r->key_count = 0;
	r->gathers = r->part->mirror.anew && r->job->generations > 1;
	if (!r->gathers)
		return STATUS_OK;
	if (generation_list(r->store, r->job->source, &mem, &list, &count, err))
		return err_failed(err->status);
	r->old = mem_resize(r->old, (count + 1) * sizeof *r->old);
	for (size_t i = 0; i < count; i++) {
		int64_t at = r->job->generation, shared = INT64_MAX;

		if (list[i].row >= r->job->generation)
			continue;
		for (size_t j = count; j-- > 0 && at != list[i].row;)
			if (list[j].row == at) {
				shared = list[j].shared < shared ? list[j].shared : shared;
				at = list[j].base;
			}
		r->old[r->old_count++] = (struct old_version){
			.generation = list[i].row, .length = list[i].length, .shared = at == list[i].row ? shared : 0
		};
	}
	return STATUS_OK;
}

/* Lines from an offset on, to whoever takes them. */
static enum status split_lines(struct reader *r, int64_t from, split_fn *take, struct err *err)
{
	const struct unread *u = r->job;

	split_release(&r->split);
	split_begin(&r->split, LIMIT_LINE_PARSED, from, take, r);
	r->at_end = false;
	if (archive_read(r->store, u->generation, from, u->length - from, take_bytes, r, err))
		return err_failed(err->status);
	r->at_end = true;
	if (record_is_whole(&r->lines.records, record_line(split_rest(&r->split), r->split.start)) &&
	    !split_end(&r->split))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	return STATUS_OK;
}

static enum status read_lines(struct reader *r, struct err *err)
{
	int64_t from = 0;

	if (begin_lines(r, &from, err) || list_old(r, err))
		return err_failed(err->status);
	part_reader_begin(&r->lines, from == 0);
	return split_lines(r, from, take_line, err);
}

/* ---- Reading older versions ------------------------------------------------------ */

static enum status read_old_version(struct reader *r, const struct old_version *old, struct err *err)
{
	struct mirror_part before = r->part->mirror;

	if (!hand_over(r))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	begin_part(r, old->from);
	r->part->mirror.generation = old->generation;
	r->part->mirror.session_id = before.session_id;
	r->part->mirror.agent = before.agent;
	r->part->mirror.old = true;
	r->part->mirror.first_old = !before.old;
	r->part->mirror.newest_to = before.to;
	r->part->mirror.anew = true;
	r->part->has_lines = true;
	part_reader_begin(&r->lines, true);
	split_release(&r->split);
	split_begin(&r->split, LIMIT_LINE_PARSED, old->from, take_line, r);
	if (archive_read(r->store, old->generation, old->from, old->length - old->from, take_bytes, r, err))
		return err_failed(err->status);
	return STATUS_OK;
}

/* Lines that older versions had and the newest has not. */
static enum status read_old(struct reader *r, struct err *err)
{
	if (!r->gathers)
		return STATUS_OK;
	r->gathers = false;
	if (r->key_count)
		qsort(r->keys, r->key_count, sizeof *r->keys, by_number);
	for (size_t i = 0; i < r->old_count; i++) {
		enum status status = read_old_version(r, &r->old[i], err);

		/* What is damaged of what nobody needs any more is let be: 'check' tells. */
		if (status != STATUS_OK && status != STATUS_CORRUPT)
			return status;
	}
	r->part->old_done = true;
	return STATUS_OK;
}

/* ---- Papers ------------------------------------------------------------------------ */

static bool take_typed(void *ctx, const struct split_line *line)
{
	struct reader *r = ctx;

	if (line->text.p)
		part_add_papers(r->part, &r->papers, line->text, line->offset);
	r->part->papers.to = r->split.at + (r->at_end ? 0 : 1);
	return (!part_is_full(r->part) || hand_over_some(r)) && !is_dead(r) && !is_cancelled(r->y);
}

/* A longer one is kept, but not looked into. */
static enum status read_whole(struct reader *r, struct err *err)
{
	const struct unread *u = r->job;
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);

	r->part->papers.to = u->length;
	if (u->length > (int64_t)LIMIT_SMALL_FILE)
		return STATUS_OK;
	if (archive_read(r->store, u->generation, 0, u->length, add_bytes, &bytes, err))
		return err_failed(err->status);
	part_add_papers(r->part, &r->papers, buf_as_str(&bytes), 0);
	return STATUS_OK;
}

/* Texts of a file beside the conversations: of one that grows by lines what is new, of any other all. */
static enum status read_papers(struct reader *r, enum claude_kind kind, struct err *err)
{
	const struct unread *u = r->job;
	struct paper_part *p = &r->part->papers;
	bool by_line = paper_has_lines(kind), anew;
	struct generation g;

	if (generation_get(r->store, u->generation, &g, err))
		return err_failed(err->status);
	anew = !by_line || u->paper_generation != u->generation || u->paper_kind != (int)kind;
	if (!anew && line_went_on(r, u->paper_to, &anew, err))
		return err_failed(err->status);
	*p = (struct paper_part){ .source = u->source,
				  .generation = u->generation,
				  .kind = (int)kind,
				  .dated = g.mtime_ms,
				  .anew = anew,
				  .known_generation = u->paper_generation,
				  .known_to = u->paper_to };
	p->from = p->to = anew ? 0 : u->paper_to;
	if (!by_line)
		return read_whole(r, err);
	r->part->has_papers = true;
	return split_lines(r, p->from, take_typed, err);
}

/* ---- A source ---------------------------------------------------------------------- */

/* What there is to do depends on what kind of file it is. */
static enum status read_source(struct reader *r, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct transcript_name name;
	bool is_session = record_transcript_of_path(r->job->path, &name) && !r->job->purged;
	enum claude_kind kind = claude_kind_of(r->job->path);
	bool is_paper = paper_is(kind) && !r->job->purged;

	begin_part(r, 0);
	r->part->no_session = !is_session;
	r->part->no_papers = !is_paper && r->job->paper_generation;
	if (!r->job->generation)
		return STATUS_OK;
	if (read_begin(r->store, &snapshot, err))
		return err_failed(err->status);
	if (is_session) {
		r->part->mirror.session_id = name.session;
		r->part->mirror.agent = name.agent; /* in the job's path */
		r->part->has_lines = true; /* a session without lines is one, too */
		if (read_lines(r, err) || read_old(r, err))
			return err_failed(err->status);
	}
	if (is_paper) {
		if (read_papers(r, kind, err))
			return err_failed(err->status);
		r->part->has_papers = true;
	}
	r->part->has_lines = is_session; /* also if its last lines were in the part before */
	return r->job->counted ? STATUS_OK : count_lines(r, err);
}

static void read_one(struct reader *r, const struct unread *job)
{
	struct err err;
	enum status status;

	r->job = job;
	r->broken = 0;
	status = read_source(r, &err);
	buf_clear(&r->split.carry);
	set_large(r, false);
	if (r->stopped || status == STATUS_CANCELLED) {
		part_free(r->part);
		r->part = NULL;
		r->stopped |= !is_dead(r);
		return;
	}
	/* What could be read before the damage is kept. */
	if (status != STATUS_OK) {
		r->part->failed = status;
		r->part->err = err;
		r->part->has_count = false;
	}
	r->part->last = status == STATUS_OK;
	r->part->broken_all = r->broken;
	r->part->broken_at = r->broken_at;
	hand_over(r);
}

static void *read_sources(void *ctx)
{
	struct reader *r = ctx;
	struct reading *y = r->y;
	size_t i;

	while (!r->stopped && (i = atomic_fetch_add(&y->next_job, 1)) < y->count)
		read_one(r, &y->jobs[i]);
	queue_leave(&y->queue);
	return NULL;
}

static void reader_release(struct reader *r)
{
	store_close(r->store);
	part_reader_release(&r->lines);
	paper_reader_release(&r->papers);
	mem_free(r->keys);
	mem_free(r->old);
	part_free(r->part);
	split_release(&r->split);
}

static enum status reader_init(struct reader *r, struct reading *y, struct err *err)
{
	*r = (struct reader){ .y = y };
	part_reader_init(&r->lines);
	paper_reader_init(&r->papers);
	return store_open_again(y->store, &r->store, err);
}

/* ---- Writing ---------------------------------------------------------------- */

static void tell_progress(struct reading *y)
{
	int64_t now = clock_monotonic_ns();

	if (!y->o->progress || now - y->progress_at < PROGRESS_NS)
		return;
	y->progress_at = now;
	y->o->progress(y->o->ctx, y->done, y->total);
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
	struct read_report *r = y->o->report;

	if (p->broken_all && y->o->broken)
		y->o->broken(y->o->ctx, p->job->path, line_number(y, p->job, p->broken_at), p->broken_all - 1);
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
	atomic_store(&y->dead[p->job - y->jobs], true);
	if (y->round == 0) {
		y->conflict = true;
		return;
	}
	if ((p->failed == STATUS_IO || p->failed == STATUS_BUSY) && !y->trouble.status)
		y->trouble = p->err;
	if (y->o->report)
		y->o->report->damaged++;
	if (y->round == 1)
		log_warn(store_log(y->store), "%.*s: %s; from there on it cannot be searched until that is mended",
			 STR_ARG(p->job->path), p->err.text);
}

/* A conflict is found before anything of the part is written, so that nothing has to
 * be undone: FTS5 would write a segment for every savepoint. */
static enum status write_part(struct reading *y, const struct part *p, struct err *err)
{
	size_t job = (size_t)(p->job - y->jobs);
	enum status status;

	if (atomic_load(&y->dead[job]))
		return STATUS_OK;
	status = y->outdated ? STATUS_CONFLICT : write_rows(y, p, err);
	if (status == STATUS_CONFLICT) {
		atomic_store(&y->dead[job], true);
		y->conflict = true;
		return STATUS_OK;
	}
	if (status == STATUS_OK)
		report_part(y, p);
	if (p->failed)
		note_failure(y, p);
	y->done += p->mirror.to - p->mirror.from + p->papers.to - p->papers.from;
	return status;
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
	return status == STATUS_OK ? txn_commit(&txn, err) : err_failed(err->status);
}

/* About as many pages as have been written since, and their two or three merges will write.
 * If it is less, more segments are merged at once the next time. */
static enum status merge_some(struct reading *y, struct err *err)
{
	bool more = true;

	for (; y->to_merge_ns > 0; y->to_merge_ns = more ? y->to_merge_ns - LIMIT_TXN_NS : 0) {
		txn_pause(y->store);
		if (fulltext_merge(y->store, &more, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status write_all(struct reading *y, struct err *err)
{
	struct part *p;

	while (!is_cancelled(y) && (p = (struct part *)queue_take(&y->queue, true))) {
		txn_pause(y->store);
		if (write_some(y, p, err) || merge_some(y, err))
			return err_failed(err->status);
		tell_progress(y);
	}
	return STATUS_OK;
}

/* ---- Both ------------------------------------------------------------------- */

static void free_item(struct queue_item *item)
{
	part_free((struct part *)item);
}

static size_t wanted_readers(const struct reading *y)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return size_min(size_min(cores < 1 ? 1 : (size_t)cores, MOST_READERS), y->count);
}

/* As many threads as can be had; fails when not even one can. */
static enum status start_readers(struct reading *y, struct reader *readers, size_t *count, struct err *err)
{
	size_t n = 0, started = 0, want = wanted_readers(y);
	int code = 0;

	while (n < want && reader_init(&readers[n], y, err) == STATUS_OK)
		n++;
	if (n < want)
		reader_release(&readers[n]);
	queue_init(&y->queue, (int)n, LIMIT_SYNC_QUEUE);
	while (started < n && (code = thread_start(&readers[started].thread, read_sources, &readers[started])) == 0)
		started++;
	for (size_t i = started; i < n; i++) {
		reader_release(&readers[i]);
		queue_leave(&y->queue);
	}
	*count = started;
	if (started == 0 && n > 0)
		return err_fail_errno(err, code, "starting a thread");
	return started ? STATUS_OK : err_failed(err->status);
}

static enum status read_all(struct reading *y, struct err *err)
{
	struct reader readers[MOST_READERS];
	size_t count = 0;
	enum status status = start_readers(y, readers, &count, err);

	if (status == STATUS_OK)
		status = write_all(y, err);
	queue_close(&y->queue);
	for (size_t i = 0; i < count; i++) {
		pthread_join(readers[i].thread, NULL);
		reader_release(&readers[i]);
	}
	queue_release(&y->queue, free_item);
	return status;
}

static void reading_release(struct reading *y)
{
	pthread_mutex_destroy(&y->large);
	arena_release(&y->mem);
}

static int64_t bytes_to_read(const struct unread *u)
{
	return u->length - (u->read_generation == u->generation ? u->read_to : 0);
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

/* What is unread now. *again: some of it was read by others meanwhile. */
static enum status read_round(struct store *s, const struct read_options *o, int round, bool *again,
			      struct err *err)
{
	struct reading y CLEANUP(reading_release) = { .store = s, .o = o, .mem = ARENA_INIT, .round = round };

	pthread_mutex_init(&y.large, NULL);
	*again = false;
	if (purge_mark(s, &y.mark, err) || unread_list(s, &y.mem, &y.jobs, &y.count, err))
		return err_failed(err->status);
	if (o->report)
		o->report->damaged = 0;
	if (y.count == 0)
		return STATUS_OK;
	if (draw_number(&y.number, err))
		return err_failed(err->status);
	y.dead = arena_alloc(&y.mem, y.count * sizeof *y.dead);
	for (size_t i = 0; i < y.count; i++)
		y.total += bytes_to_read(&y.jobs[i]);
	if (read_all(&y, err))
		return err_failed(err->status);
	*again = y.conflict;
	if (y.trouble.status) {
		*err = y.trouble;
		return err_failed(err->status);
	}
	return is_cancelled(&y) ? err_fail(err, STATUS_CANCELLED, "stopped; what was read so far is kept")
				: STATUS_OK;
}

/* Longer each time, so that whoever was faster can finish. */
static void pause_for_others(int round)
{
	struct timespec pause = { .tv_nsec = (2L << round) * 1000 * 1000 };

	nanosleep(&pause, NULL);
}

enum status read_some(struct store *s, const struct read_options *o, struct err *err)
{
	bool again;

	return read_round(s, o, 0, &again, err);
}

enum status read_unread(struct store *s, const struct read_options *o, struct err *err)
{
	static const struct read_options nothing = { 0 };
	bool again;

	if (made_text_complete(s, err) || unread_any(s, &again, err))
		return err_failed(err->status);
	for (int round = 0; again && round < MOST_ROUNDS; round++) {
		if (round)
			pause_for_others(round - 1);
		if (read_round(s, o ? o : &nothing, round, &again, err))
			return err_failed(err->status);
	}
	return keys_complete(s, err);
}

enum status read_tell_damaged(int64_t damaged, struct err *err)
{
	if (damaged == 0)
		return STATUS_OK;
	return err_fail(err, STATUS_PARTIAL,
			"what is kept of %" PRId64 " %s could not be read back and cannot be searched;"
			" run 'arbor check'",
			damaged, damaged == 1 ? "file" : "files");
}
