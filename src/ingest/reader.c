/*
 * A thread that reads: it takes sources, reads their bytes from the archive, makes parts of their lines and
 * hands them over.
 *
 * The archive and not the file is read: what is derived then follows from the
 * facts alone, whoever brought them in and whenever. Unpacking costs a tenth of
 * what splitting into words does, and what was packed just now need not even be unpacked (ingest/fresh.h).
 *
 * Only whole lines are read. A line that is not terminated yet waits for its rest,
 * unless it is an object that is complete: most often only its line feed is missing.
 * The next sync goes on behind what was read. If the line went on after all, it is
 * another line than the one that was read, and the session is read from its beginning:
 * what it says may not depend on when somebody looked.
 */
#include "ingest/reading.h"

#include "base/hash.h"
#include "claude/layout.h"
#include "ingest/fresh.h"
#include "store/archive.h"

#include <stdlib.h>

static bool is_cancelled(const struct reader *r)
{
	return reading_is_cancelled(r->y);
}

/* ---- Parts ------------------------------------------------------------------ */

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
static void note_broken(struct reader *r, int64_t offset, bool is_long)
{
	r->part->broken++;
	if (r->broken++)
		return;
	r->broken_at = offset;
	r->broken_is_long = is_long;
}

static bool add_line(struct reader *r, struct str line, int64_t offset)
{
	part_begin_line(&r->lines, line, offset);
	while (part_add_record(r->part, &r->lines)) {
		if (part_last_is_broken(r->part) && !r->part->mirror.old)
			note_broken(r, offset, false);
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
	return atomic_load(&read_job_of(r->job)->dead);
}

static bool take_line(void *ctx, const struct split_line *line)
{
	struct reader *r = ctx;

	if (!line->text.p && !r->part->mirror.old) {
		part_add_unread(r->part, line->offset, line->length, line->digest);
		note_broken(r, line->offset, true);
	} else if (line->text.p && !add_line(r, line->text, line->offset))
		return false;
	r->part->has_lines = true;
	r->part->mirror.to = r->split.at + (r->at_end ? 0 : 1);
	return (!part_is_full(r->part) || hand_over_some(r)) && !is_dead(r) && !is_cancelled(r);
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
	/* What a sub-agent says is marked as that, so a file that is called otherwise by now says something else. */
	m->anew = u->read_generation != u->generation || (u->generations > 1 && u->old_for != u->generation) ||
		  !str_eq(u->read_agent, m->agent);
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

/* A block's bytes, as they were before it was packed where somebody still has them. */
static enum status pour_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct reader *r = ctx;
	struct fresh *fresh = r->y->o.fresh;
	struct fresh_block *copy = fresh_take(fresh, r->job->generation, b);
	enum status status;

	(void)go_on;
	buf_clear(&r->raw);
	if (!copy && archive_unpack(r->store, b, &r->raw, err))
		return err_failed(err->status);
	status = take_bytes(
		r, copy ? (struct str){ copy->bytes + b->skip, (size_t)b->length } : buf_as_str(&r->raw), err);
	fresh_drop(fresh, copy);
	return status;
}

/* Lines from an offset on, to whoever takes them. */
static enum status split_lines(struct reader *r, int64_t from, split_fn *take, struct err *err)
{
	const struct unread *u = r->job;

	split_release(&r->split);
	split_begin(&r->split, LIMIT_LINE_PARSED, from, take, r);
	r->at_end = false;
	if (archive_blocks(r->store, u->generation, from, u->length - from, pour_block, r, err))
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

static enum status read_old_version(struct reader *r, const struct old_version *old,
				    const struct mirror_part *before, struct err *err)
{
	begin_part(r, old->from);
	r->part->mirror.generation = old->generation;
	r->part->mirror.session_id = before->session_id;
	r->part->mirror.agent = before->agent;
	r->part->mirror.old = true;
	r->part->mirror.first_old = !before->old;
	r->part->mirror.newest_to = before->to;
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
		struct mirror_part before = r->part->mirror;
		enum status status;

		if (!hand_over(r))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		status = read_old_version(r, &r->old[i], &before, err);
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
	return (!part_is_full(r->part) || hand_over_some(r)) && !is_dead(r) && !is_cancelled(r);
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

bool read_looks_into(struct str path)
{
	struct transcript_name name;

	return record_transcript_of_path(path, &name) || paper_is(claude_kind_of(path));
}

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
	fresh_forget(r->y->o.fresh, job->generation, job->length);
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
	r->part->broken_is_long = r->broken_is_long;
	hand_over(r);
}

void *reader_run(void *ctx)
{
	struct reader *r = ctx;
	struct reading *y = r->y;
	const struct read_job *job;

	while (!r->stopped && (job = jobs_take(&y->jobs, r->store)))
		read_one(r, &job->unread);
	/* What it had in hand comes to no end: nobody may wait for it. */
	if (r->stopped)
		jobs_end(&y->jobs);
	queue_leave(&y->queue);
	return NULL;
}

void reader_release(struct reader *r)
{
	store_close(r->store);
	part_reader_release(&r->lines);
	paper_reader_release(&r->papers);
	mem_free(r->keys);
	mem_free(r->old);
	part_free(r->part);
	buf_release(&r->raw);
	split_release(&r->split);
}

enum status reader_init(struct reader *r, struct reading *y, struct err *err)
{
	*r = (struct reader){ .y = y };
	part_reader_init(&r->lines);
	paper_reader_init(&r->papers);
	buf_init(&r->raw, LIMIT_BLOCK_MAX);
	return store_open_again(y->store, &r->store, err);
}
