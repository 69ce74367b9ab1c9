/*
 * Following one file.
 *
 *     compare ──► same so far, longer      ──► continue the generation
 *        │                                     (a file that is appended to)
 *        ├──────► same so far, longer      ──► new generation on top of it
 *        │                                     (a file that is replaced)
 *        ├──────► same, same length        ──► nothing but its new times
 *        └──────► differs at byte n        ──► new generation, n bytes shared
 *
 * A generation that was never read to its end (the last sync was killed) is
 * continued whatever kind of file it is.
 *
 * Continuing takes the last block out again and packs it anew together with the
 * new bytes, so that blocks are as if the file had come in at once.
 *
 * Lines that may not be kept are blank as soon as they are read (ingest/sieve.h), and the
 * pieces say where. A line that was archived before it was complete may turn out to be one.
 *
 * The file may change while it is read. What was read is then kept as it is,
 * and the source is left unsettled: the next sync looks at it whatever its times
 * say (ingest/compare.c says how closely), and if what was read never existed as
 * a whole, the true version becomes another generation.
 */
#include "ingest/follow.h"

#include "base/hash.h"
#include "claude/layout.h"
#include "ingest/compare.h"
#include "ingest/read.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

/* Packed bytes after which a piece is handed over. */
enum { PIECE_TARGET = 256 * 1024 };

/* A copy packed to this part of its size is worth that two have to be unpacked to read it. */
enum { LITTLE = 12 };

/* The file being read. */
struct following {
	struct follower *f;
	struct job *job;
	int fd;
	struct file_stat st;      /* when it was opened */
	struct source_seen seen;
	struct piece *piece;      /* being filled */
	int64_t at;               /* next byte of the file to read */
	int64_t raw_offset;       /* of the first byte in f->raw */
	struct line_count lines;  /* of the bytes before `counted` */
	int64_t handed_lines;     /* of them those the archive has, or pieces handed over */
	int64_t counted;          /* all that is archived or packed; never what was only read */
	struct comparison found;  /* with the archive */
	struct fresh *fresh;      /* NULL: nobody will read its bytes */
	bool stopped;             /* the queue does not take any more */
};

enum status follower_init(struct follower *f, const struct store *s, int root_fd, int64_t mark,
			  struct piece_queue *queue, struct fresh *fresh, const atomic_bool *cancel,
			  struct err *err)
{
	*f = (struct follower){ .queue = queue, .root_fd = root_fd, .fresh = fresh, .cancel = cancel };
	if (store_open_again(s, &f->store, err))
		return err_failed(err->status);
	f->packer = packer_new();
	buf_init(&f->raw, 2 * LIMIT_BLOCK_MAX);
	buf_init(&f->like.bytes, ARCHIVE_BASES * LIMIT_BLOCK_MAX);
	return sieve_init(&f->sieve, f->store, mark, err);
}

void follower_release(struct follower *f)
{
	store_close(f->store);
	packer_free(f->packer);
	buf_release(&f->raw);
	likeness_release(&f->like);
	sieve_release(&f->sieve);
	mem_free(f->gaps);
}

/* ---- Looking --------------------------------------------------------------- */

static enum status open_file(struct following *w, struct err *err)
{
	int number;

	if (file_open_beneath(w->f->root_fd, w->job->path, O_RDONLY, &w->fd, err))
		return err_failed(err->status);
	number = file_stat_at(w->fd, "", &w->st);
	if (number)
		return err_fail_errno(err, number, "%.*s", STR_ARG(w->job->path));
	if (!w->st.is_regular)
		return err_fail(err, STATUS_DENIED, "%.*s: not a regular file, not read", STR_ARG(w->job->path));
	sieve_begin(&w->f->sieve, w->fd, w->st.size);
	return STATUS_OK;
}

static enum status hash_head(struct following *w, struct err *err)
{
	char head[LIMIT_HEAD_HASH];
	size_t got;

	if (file_read_at(w->fd, 0, head, size_min(sizeof head, (size_t)w->st.size), &got, err) ||
	    sieve_bytes(&w->f->sieve, 0, head, got, NULL, NULL, err))
		return err_pass(err, "%.*s", STR_ARG(w->job->path));
	w->seen.head_length = (int64_t)got;
	w->seen.head_hash = hash64(head, got);
	return STATUS_OK;
}

/* A large file that only grew, as far as one can see, need not be read whole. */
static enum compare_depth how_deep(const struct following *w, const struct generation *g)
{
	const struct source *known = w->job->known;
	bool only_grew = !w->job->renamed && known->complete && !known->vanished && known->st.inode == w->st.inode &&
			 w->st.size > g->length && claude_file_grows(w->job->path);

	if (w->job->whole)
		return COMPARE_DEEP;
	return only_grew && g->length > (int64_t)LIMIT_VERIFY_WHOLE ? COMPARE_QUICK : COMPARE_WHOLE;
}

/* The oldest generation that has these first bytes, so that chains stay short. */
static enum status choose_base(struct following *w, const struct generation *newest, int64_t shared, int64_t *base,
			       struct err *err)
{
	struct generation g = *newest;

	while (shared > 0 && shared <= g.shared)
		if (generation_get(w->f->store, g.base, &g, err))
			return err_failed(err->status);
	*base = shared > 0 ? g.row : 0;
	return STATUS_OK;
}

/* Reads a block's bytes from the file instead, if it still has them. */
static enum status read_block_from_file(struct following *w, const struct archive_block *b, struct buf *out,
					struct err *err)
{
	size_t start = out->n, got;
	char *to = buf_reserve(out, (size_t)b->stored);

	if (!to)
		return err_fail(err, STATUS_CORRUPT, "a block claims %" PRId64 " bytes", b->stored);
	if (file_read_at(w->fd, b->offset, to, (size_t)b->stored, &got, err) ||
	    sieve_bytes(&w->f->sieve, b->offset, to, got, NULL, NULL, err))
		return err_failed(err->status);
	buf_grew(out, got);
	if (got != (size_t)b->stored || hash64(out->p + start, got) != b->hash)
		return err_fail(err, STATUS_CORRUPT,
				"block at byte %" PRId64 " is damaged, and the file no longer has its bytes",
				b->offset);
	return STATUS_OK;
}

static enum status take_out_last_block(struct following *w, const struct generation *g, struct err *err)
{
	struct archive_block last;
	enum status status = archive_last(w->f->store, g->row, &last, err);

	if (status == STATUS_NOT_FOUND)
		return STATUS_OK; /* all its bytes are its base's */
	if (status == STATUS_OK) {
		status = archive_unpack(w->f->store, &last, &w->f->raw, err);
		if (status == STATUS_CORRUPT) {
			buf_clear(&w->f->raw);
			status = read_block_from_file(w, &last, &w->f->raw, err);
		}
	}
	if (status == STATUS_OK)
		w->raw_offset = last.offset;
	return status;
}

static void note_gap(void *ctx, const struct span *span)
{
	struct follower *f = ((struct following *)ctx)->f;

	if (f->gap_count == f->gap_cap) {
		f->gap_cap = f->gap_cap ? f->gap_cap * 2 : 16;
		f->gaps = mem_resize(f->gaps, f->gap_cap * sizeof *f->gaps);
	}
	f->gaps[f->gap_count++] = *span;
}

/* The last line that is archived was not complete. It may be the beginning of one that may not be
 * kept, as can be seen now. */
static enum status blank_beginning(struct following *w, struct generation *g, struct err *err)
{
	struct span line;
	bool goes, gone;

	if (sieve_line(&w->f->sieve, g->length, &line, &goes, err))
		return err_failed(err->status);
	line.to = g->length;
	if (!goes || line.from >= line.to)
		return STATUS_OK;
	if (gap_covers(w->f->store, g->row, &line, &gone, err))
		return err_failed(err->status);
	if (gone)
		return STATUS_OK;
	w->piece->blank = line;
	if (g->shared > line.from) /* it will have these bytes to itself */
		g->shared = line.from;
	line.from = line.from > w->raw_offset ? line.from : w->raw_offset;
	if (line.from < line.to) { /* in what is about to be packed anew */
		gap_fill(w->f->raw.p + (line.from - w->raw_offset), (size_t)(line.to - line.from));
		note_gap(w, &line);
	}
	return STATUS_OK;
}

/* Decides where the new bytes go, and sets the first piece up for it. */
static enum status compare_with_archive(struct following *w, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct store *s = w->f->store;
	struct piece *p = w->piece;
	struct generation g;

	if (read_begin(s, &snapshot, err) || generation_get(s, p->generation, &g, err) ||
	    compare_file(s, &w->f->sieve, w->fd, w->st.size, &g, how_deep(w, &g), &w->found, err))
		return err_failed(err->status);
	w->at = w->raw_offset = w->counted = w->found.equal;
	w->lines = w->found.lines;
	w->handed_lines = w->lines.lines;
	p->length = w->found.equal;
	p->starts_generation = !(
		w->found.equal == g.length &&
		(w->st.size == g.length || claude_file_grows(w->job->path) || !w->job->known->complete));
	if (!p->starts_generation && w->st.size > g.length && take_out_last_block(w, &g, err))
		return err_failed(err->status);
	if (w->found.equal == g.length && w->st.size > g.length && blank_beginning(w, &g, err))
		return err_failed(err->status);
	if (!p->starts_generation)
		return STATUS_OK;
	p->shared = w->found.equal;
	return choose_base(w, &g, w->found.equal, &p->base, err);
}

/* ---- Packing --------------------------------------------------------------- */

static bool hand_over(struct following *w, bool more)
{
	struct piece *p = w->piece;

	piece_seal(p);
	p->lines = w->lines;
	p->new_lines = w->lines.lines - w->handed_lines;
	w->handed_lines = w->lines.lines;
	w->piece = more ? piece_new(w->job, w->fresh) : NULL;
	w->stopped = !piece_queue_put(w->f->queue, p);
	return !w->stopped;
}

/* A block may begin with bytes that are archived already, and counted. */
static void count_block(struct following *w, struct str raw)
{
	int64_t end = w->raw_offset + (int64_t)raw.n;

	if (end <= w->counted)
		return;
	line_count_add(&w->lines, str_sub(raw, (size_t)(w->counted - w->raw_offset), SIZE_MAX));
	w->counted = end;
}

/* What the piece is to mark of a block. Spans are in order; a long one goes on in the next block. */
static void hand_gaps(struct following *w, int64_t end)
{
	struct follower *f = w->f;
	struct piece *p = w->piece;
	size_t done = 0;

	while (done < f->gap_count && f->gaps[done].from < end) {
		struct span *span = &f->gaps[done];

		if (p->gap_count == p->gap_cap) {
			p->gap_cap = p->gap_cap ? p->gap_cap * 2 : 16;
			p->gaps = mem_resize(p->gaps, p->gap_cap * sizeof *p->gaps);
		}
		p->gaps[p->gap_count++] = (struct span){ span->from, span->to < end ? span->to : end };
		if (span->to > end) {
			span->from = end;
			break;
		}
		done++;
	}
	f->gap_count -= done;
	if (f->gap_count)
		memmove(f->gaps, f->gaps + done, f->gap_count * sizeof *f->gaps);
}

/* Against what it is a copy of; *done = that is worth it. */
static enum status pack_copy(struct following *w, struct str raw, struct archive_new *b, bool *done, struct err *err)
{
	struct likeness *like = &w->f->like;
	struct buf *packed = &w->piece->packed;
	size_t before = packed->n;

	*done = false;
	if (like_find(w->f->store, raw, like, err))
		return err_failed(err->status);
	if (!like->count)
		return STATUS_OK;
	if (packer_pack_like(w->f->packer, raw, buf_as_str(&like->bytes), packed, err))
		return err_failed(err->status);
	*done = packed->n - before <= raw.n / LITTLE;
	if (!*done) {
		packed->n = before;
		return STATUS_OK;
	}
	memcpy(b->bases, like->bases, sizeof b->bases);
	b->base_count = like->count;
	return STATUS_OK;
}

static enum status pack_block(struct following *w, struct str raw, struct err *err)
{
	struct piece *p = w->piece;
	struct archive_new *b = &p->blocks[p->count];
	size_t before = p->packed.n;
	bool done = false;

	*b = (struct archive_new){ .offset = w->raw_offset, .length = (int64_t)raw.n, .hash = hash64(raw.p, raw.n) };
	if (w->job->copy && pack_copy(w, raw, b, &done, err))
		return err_failed(err->status);
	if (!done && packer_pack(w->f->packer, raw, &p->packed, err))
		return err_failed(err->status);
	b->packed.n = p->packed.n - before;
	p->copies[p->count] = fresh_copy(w->fresh, raw, w->raw_offset, b->hash);
	p->count++;
	count_block(w, raw);
	w->raw_offset += (int64_t)raw.n;
	if (w->f->gap_count)
		hand_gaps(w, w->raw_offset);
	return STATUS_OK;
}

/* Packs full blocks out of the raw bytes; at the end of the file, all of them. */
static enum status pack_raw(struct following *w, bool is_end, struct err *err)
{
	struct str left = buf_as_str(&w->f->raw);
	size_t n;

	while (left.n && !w->stopped) {
		n = pack_cut(left);
		if (n == 0 && !is_end)
			break;
		if (n == 0)
			n = left.n;
		if (pack_block(w, str_sub(left, 0, n), err))
			return err_failed(err->status);
		left = str_sub(left, n, SIZE_MAX);
		/* Never less than what the archive has already. */
		if (w->raw_offset < w->counted)
			continue;
		if ((w->piece->packed.n >= PIECE_TARGET || w->piece->count == PIECE_BLOCKS) && !hand_over(w, true))
			break;
	}
	buf_drop(&w->f->raw, w->f->raw.n - left.n);
	return STATUS_OK;
}

static bool is_cancelled(const struct following *w)
{
	return w->stopped || (w->f->cancel && atomic_load(w->f->cancel));
}

static enum status read_and_pack(struct following *w, struct err *err)
{
	while (w->at < w->st.size && !is_cancelled(w)) {
		size_t want = size_min(LIMIT_BLOCK_MAX, (size_t)(w->st.size - w->at)), got;
		char *to = buf_reserve(&w->f->raw, want);

		if (!to)
			return err_fail(err, STATUS_INTERNAL, "%.*s: no room for a block", STR_ARG(w->job->path));
		if (file_read_at(w->fd, w->at, to, want, &got, err) ||
		    sieve_bytes(&w->f->sieve, w->at, to, got, note_gap, w, err))
			return err_pass(err, "%.*s", STR_ARG(w->job->path));
		buf_grew(&w->f->raw, got);
		w->at += (int64_t)got;
		w->piece->new_bytes += (int64_t)got;
		if (got < want) /* it has become shorter meanwhile */
			break;
		if (pack_raw(w, false, err))
			return err_failed(err->status);
	}
	return is_cancelled(w) ? STATUS_OK : pack_raw(w, true, err);
}

/* Whether the next sync may trust the file's times. */
static bool is_settled(const struct following *w)
{
	struct timespec now;
	struct file_stat after;

	if (w->at < w->st.size || file_stat_at(w->fd, "", &after))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	return file_stat_eq(&after, &w->st) &&
	       (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - after.ctime_ns > LIMIT_RACY_NS;
}

/* Packs the bytes of damaged blocks anew, behind the last blocks of the file. */
static enum status pack_repairs(struct following *w, struct err *err)
{
	struct piece *p = w->piece;

	if (w->found.damaged_count == 0)
		return STATUS_OK;
	p->repairs = mem_alloc(w->found.damaged_count * sizeof *p->repairs);
	for (size_t i = 0; i < w->found.damaged_count; i++) {
		const struct archive_block *b = &w->found.damaged[i];
		size_t before = p->packed.n;

		buf_clear(&w->f->raw);
		if (read_block_from_file(w, b, &w->f->raw, err) ||
		    packer_pack(w->f->packer, buf_as_str(&w->f->raw), &p->packed, err))
			return err_failed(err->status);
		p->repairs[p->repair_count++] = (struct archive_repair){
			.data = b->data,
			.hash = b->hash,
			.packed = { NULL, p->packed.n - before },
		};
	}
	return STATUS_OK;
}

static enum status follow(struct following *w, struct err *err)
{
	if (open_file(w, err) || hash_head(w, err))
		return err_failed(err->status);
	if (w->piece->generation == 0)
		w->piece->starts_generation = true;
	else if (compare_with_archive(w, err))
		return err_pass(err, "%.*s", STR_ARG(w->job->path));
	if (read_and_pack(w, err))
		return err_failed(err->status);
	if (is_cancelled(w))
		return STATUS_OK;
	if (pack_repairs(w, err))
		return err_pass(err, "%.*s", STR_ARG(w->job->path));
	w->seen.st = w->st;
	w->seen.settled = is_settled(w);
	if (w->seen.head_length > w->at) /* it has become shorter since */
		w->seen.head_length = 0;
	w->piece->last = true;
	w->piece->seen = w->seen;
	hand_over(w, false);
	return STATUS_OK;
}

bool follow_file(struct follower *f, struct job *job)
{
	struct following w = { .f = f, .job = job, .fd = -1, .fresh = read_looks_into(job->path) ? f->fresh : NULL };
	struct err err;

	w.piece = piece_new(job, w.fresh);
	w.piece->first = true;
	w.piece->generation = job->known ? job->known->generation : 0;
	buf_clear(&f->raw);
	f->gap_count = 0;
	if (follow(&w, &err)) {
		piece_free(w.piece);
		w.piece = piece_new(job, w.fresh);
		w.piece->failed = err.status;
		w.piece->err = err;
		hand_over(&w, false);
	}
	piece_free(w.piece);
	file_close(&w.fd);
	return !is_cancelled(&w);
}
