/*
 * Bytes in and out of blocks.
 *
 * A generation's bytes are its own blocks from `shared` on, and before that the
 * bytes of its base, which may have a base again. A read first turns its range
 * into *extents*, one for each generation of the chain that owns part of it, and
 * then visits the blocks of each. Chains can be long (a file rewritten a
 * thousand times), so nothing here recurses.
 *
 * Only the newest generation of a source grows, and only at its end: its last
 * block is replaced by a longer one until it is full (store/pack.h says when),
 * then another is begun. A block that is not the last of its generation never
 * changes, but where bytes are overwritten (store/gap.h).
 *
 * Invariant: the own blocks of a generation cover [shared, length) exactly.
 */
#include "store/archive.h"

#include "base/hash.h"
#include "store/ahead.h"
#include "store/db.h"
#include "store/like.h"
#include "store/pack.h"

#include <string.h>

enum {
	ARCHIVE_CHAIN,
	ARCHIVE_BLOCKS,
	ARCHIVE_LAST,
	ARCHIVE_BYTES,
	ARCHIVE_AT,
	ARCHIVE_GROW,
	ARCHIVE_ADD_BYTES,
	ARCHIVE_ADD_BLOCK,
	ARCHIVE_SET_BYTES,
	ARCHIVE_SET_BLOCK,
	ARCHIVE_REPAIR,
	ARCHIVE_UNSHARE,
	ARCHIVE_STATEMENTS
};

static const char *const sql[ARCHIVE_STATEMENTS] = {
	[ARCHIVE_CHAIN] = "SELECT coalesce(base, 0), shared, length FROM generation WHERE id = ?1",
	/* The blocks that overlap [?2, ?3): the last one that begins at or before
	 * ?2, and all that begin before ?3. */
	[ARCHIVE_BLOCKS] = "SELECT offset, length, hash, data FROM block WHERE generation = ?1 AND offset < ?3"
			   " AND offset >= (SELECT coalesce(max(offset), 0) FROM block"
			   "  WHERE generation = ?1 AND offset <= ?2) ORDER BY offset",
	[ARCHIVE_LAST] = "SELECT offset, length, hash, data FROM block WHERE generation = ?1"
			 " ORDER BY offset DESC LIMIT 1",
	[ARCHIVE_BYTES] = "SELECT codec, bytes FROM block_data WHERE id = ?1",
	[ARCHIVE_AT] = "SELECT data FROM block WHERE generation = ?1 AND offset = ?2",
	[ARCHIVE_GROW] = "UPDATE generation SET length = ?3, rev = ?4 WHERE id = ?1 AND length = ?2"
			 " AND id = (SELECT s.generation FROM source s WHERE s.id = generation.source)",
	[ARCHIVE_ADD_BYTES] = "INSERT INTO block_data(codec, bytes) VALUES (?1, ?2) RETURNING id",
	[ARCHIVE_ADD_BLOCK] = "INSERT INTO block(generation, offset, length, hash, data, rev)"
			      " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[ARCHIVE_SET_BYTES] = "UPDATE block_data SET codec = ?2, bytes = ?3 WHERE id = ?1",
	[ARCHIVE_SET_BLOCK] = "UPDATE block SET length = ?3, hash = ?4, rev = ?5"
			      " WHERE generation = ?1 AND offset = ?2",
	[ARCHIVE_REPAIR] = "UPDATE block_data SET codec = ?2, bytes = ?3 WHERE id = ?1"
			   " AND EXISTS (SELECT 1 FROM block b WHERE b.data = ?1 AND b.hash = ?4)",
	[ARCHIVE_UNSHARE] = "UPDATE generation SET shared = ?2, rev = ?3 WHERE id = ?1 AND shared > ?2",
};

const struct db_set archive_statements = { DB_ARCHIVE, sql, ARCHIVE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &archive_statements, index, st, err);
}

/* ---- Extents --------------------------------------------------------------- */

struct extents {
	struct archive_extent *list; /* last bytes first, as the chain is walked */
	size_t count, cap;
};

static void extents_release(struct extents *e)
{
	mem_free(e->list);
}

static void add_extent(struct extents *e, struct archive_extent x)
{
	if (e->count == e->cap) {
		e->cap = e->cap ? e->cap * 2 : 8;
		e->list = mem_resize(e->list, e->cap * sizeof *e->list);
	}
	e->list[e->count++] = x;
}

static enum status chain_link(struct store *s, int64_t generation, int64_t *base, int64_t *shared, int64_t *length,
			      struct err *err)
{
	STMT st = { 0 };

	if (use(s, ARCHIVE_CHAIN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	switch (stmt_step(&st, err)) {
	case STEP_ROW:
		*base = col_int(&st, 0);
		*shared = col_int(&st, 1);
		*length = col_int(&st, 2);
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_CORRUPT, "generation %" PRId64 " is missing", generation);
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

static enum status find_extents(struct store *s, int64_t generation, int64_t from, int64_t to, struct extents *out,
				struct err *err)
{
	int64_t owner = generation, base, shared, length;

	while (from < to) {
		if (chain_link(s, owner, &base, &shared, &length, err))
			return err_failed(err->status);
		if (to > length)
			return err_fail(err, owner == generation ? STATUS_USAGE : STATUS_CORRUPT,
					"generation %" PRId64 " has %" PRId64 " bytes, wanted up to %" PRId64, owner,
					length, to);
		if (to > shared) {
			add_extent(out, (struct archive_extent){ owner, from > shared ? from : shared, to });
			to = shared;
		}
		/* A base is always older; anything else would go round in circles. */
		if (from < to && (base == 0 || base >= owner))
			return err_fail(err, STATUS_CORRUPT, "generation %" PRId64 " has no valid base", owner);
		owner = base;
	}
	return STATUS_OK;
}

/* Whether it is a range at all, and its extents. */
static enum status range_extents(struct store *s, int64_t generation, int64_t offset, int64_t length,
				 struct extents *out, struct err *err)
{
	if (offset < 0 || length < 0 || offset > INT64_MAX - length)
		return err_fail(err, STATUS_USAGE, "%" PRId64 " bytes from %" PRId64 " on: not a range",
				length, offset);
	return find_extents(s, generation, offset, offset + length, out, err);
}

enum status archive_extents(struct store *s, int64_t generation, int64_t offset, int64_t length,
			    archive_extent_fn *fn, void *ctx, struct err *err)
{
	struct extents e CLEANUP(extents_release) = { 0 };

	if (range_extents(s, generation, offset, length, &e, err))
		return err_failed(err->status);
	for (size_t i = e.count; i-- > 0;)
		if (fn(ctx, &e.list[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Reading --------------------------------------------------------------- */

static void read_block(const struct stmt *st, struct archive_block *out)
{
	*out = (struct archive_block){
		.offset = col_int(st, 0),
		.length = col_int(st, 1),
		.stored = col_int(st, 1),
		.hash = (uint64_t)col_int(st, 2),
		.data = col_int(st, 3),
	};
}

/* Cuts a stored block to the part inside [from, to). */
static void cut_block(struct archive_block *b, int64_t from, int64_t to)
{
	if (b->offset < from) {
		b->skip = from - b->offset;
		b->length -= b->skip;
		b->offset = from;
	}
	if (b->offset + b->length > to)
		b->length = to - b->offset;
}

static enum status visit_extent(struct store *s, const struct archive_extent *x, archive_block_fn *fn,
				void *ctx, bool *go_on, struct err *err)
{
	int64_t at = x->from;
	enum step step = STEP_DONE;
	STMT st = { 0 };

	if (use(s, ARCHIVE_BLOCKS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, x->owner);
	stmt_int(&st, 2, x->from);
	stmt_int(&st, 3, x->to);
	while (*go_on && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct archive_block b;

		read_block(&st, &b);
		cut_block(&b, x->from, x->to);
		if (b.offset != at || b.length <= 0)
			return err_fail(err, STATUS_CORRUPT, "generation %" PRId64 ": no block covers byte %" PRId64,
					x->owner, at);
		at += b.length;
		if (s->cancel && atomic_load(s->cancel))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (fn(ctx, &b, go_on, err))
			return err_failed(err->status);
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (*go_on && at != x->to)
		return err_fail(err, STATUS_CORRUPT, "generation %" PRId64 ": no block covers byte %" PRId64,
				x->owner, at);
	return STATUS_OK;
}

enum status archive_blocks(struct store *s, int64_t generation, int64_t offset, int64_t length, archive_block_fn *fn,
			   void *ctx, struct err *err)
{
	struct extents e CLEANUP(extents_release) = { 0 };
	bool go_on = true;

	if (range_extents(s, generation, offset, length, &e, err))
		return err_failed(err->status);
	for (size_t i = e.count; go_on && i-- > 0;)
		if (visit_extent(s, &e.list[i], fn, ctx, &go_on, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* The packed bytes of a block, in the row of the statement. */
static enum status find_bytes(struct store *s, const struct archive_block *b, struct stmt *st, struct err *err)
{
	if (b->stored <= 0 || (size_t)b->stored > LIMIT_BLOCK_MAX)
		return err_fail(err, STATUS_CORRUPT, "a block claims %" PRId64 " bytes", b->stored);
	if (use(s, ARCHIVE_BYTES, st, err))
		return err_failed(err->status);
	stmt_int(st, 1, b->data);
	switch (stmt_step(st, err)) {
	case STEP_ROW:
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_CORRUPT, "its bytes are missing");
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

static struct ahead_block ahead_of(const struct archive_block *b)
{
	return (struct ahead_block){ b->data, b->hash, (size_t)b->stored };
}

void archive_ahead(struct store *s, const struct archive_block *b)
{
	struct ahead_block block = ahead_of(b);
	struct err err;
	STMT st = { 0 };

	if (!s->ahead && !s->no_ahead) {
		s->ahead = ahead_new();
		s->no_ahead = !s->ahead;
	}
	if (s->ahead && !ahead_has(s->ahead, &block) && find_bytes(s, b, &st, &err) == STATUS_OK &&
	    col_int(&st, 0) != PACK_CODEC_LIKE)
		ahead_announce(s->ahead, &block, (int)col_int(&st, 0), col_bytes(&st, 1));
}

static enum status unpack(struct store *s, const struct archive_block *b, const struct packed *what, size_t wanted,
			  struct buf *out, struct err *err)
{
	if (!s->packer)
		s->packer = packer_new();
	return wanted < (size_t)b->stored ? packer_unpack_front(s->packer, what, wanted, out, err)
					  : packer_unpack(s->packer, what, b->hash, out, err);
}

/* Of one that refers to others, which are found with the same statement as itself: so its own bytes, a few, are
 * copied. */
static enum status unpack_like(struct store *s, const struct archive_block *b, struct stmt *st, size_t wanted,
			       struct buf *out, struct err *err)
{
	struct buf own CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_BLOCK_MAX);
	struct str other;

	buf_str(&own, col_bytes(st, 1));
	stmt_done(st);
	if (own.failed)
		return err_fail(err, STATUS_CORRUPT, "a block is larger than it can be");
	if (like_bytes(s, b->data, &other, err))
		return err_failed(err->status);
	return unpack(s, b,
		      &(struct packed){ PACK_CODEC_LIKE, buf_as_str(&own), other, (size_t)b->stored },
		      wanted, out, err);
}

/* The first `wanted` bytes of a stored block. Only all of them can be compared with its hash. */
static enum status unpack_row(struct store *s, const struct archive_block *b, size_t wanted, struct buf *out,
			      struct err *err)
{
	struct ahead_block block = ahead_of(b);
	enum status status;
	STMT st = { 0 };

	if (s->ahead && wanted == (size_t)b->stored && ahead_take(s->ahead, &block, out, &status, err))
		return status;
	if (find_bytes(s, b, &st, err))
		return err_failed(err->status);
	if (col_int(&st, 0) == PACK_CODEC_LIKE)
		return unpack_like(s, b, &st, wanted, out, err);
	return unpack(s, b,
		      &(struct packed){ (int)col_int(&st, 0), col_bytes(&st, 1), { 0 }, (size_t)b->stored }, wanted,
		      out, err);
}

/* Of what was unpacked to `start`, the used part. */
static void keep_used(const struct archive_block *b, struct buf *out, size_t start)
{
	if (b->skip)
		memmove(out->p + start, out->p + start + b->skip, (size_t)b->length);
	out->n = start + (size_t)b->length;
	out->p[out->n] = '\0';
}

enum status archive_unpack(struct store *s, const struct archive_block *b, struct buf *out, struct err *err)
{
	size_t start = out->n;

	if (unpack_row(s, b, (size_t)b->stored, out, err))
		return err_pass(err, "block at byte %" PRId64 " (data %" PRId64 ")", b->offset, b->data);
	keep_used(b, out, start);
	return STATUS_OK;
}

enum status archive_peek(struct store *s, const struct archive_block *b, struct buf *out, struct err *err)
{
	size_t start = out->n;

	if (unpack_row(s, b, (size_t)(b->skip + b->length), out, err))
		return err_pass(err, "block at byte %" PRId64 " (data %" PRId64 ")", b->offset, b->data);
	keep_used(b, out, start);
	return STATUS_OK;
}

struct reading {
	struct store *store;
	struct buf buf;
	archive_sink *sink;
	void *ctx;
};

static void reading_release(struct reading *r)
{
	buf_release(&r->buf);
}

static enum status pour_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct reading *r = ctx;

	(void)go_on;
	buf_clear(&r->buf);
	if (archive_unpack(r->store, b, &r->buf, err))
		return err_failed(err->status);
	return r->sink(r->ctx, buf_as_str(&r->buf), err);
}

enum status archive_read(struct store *s, int64_t generation, int64_t offset, int64_t length, archive_sink *sink,
			 void *ctx, struct err *err)
{
	struct reading r CLEANUP(reading_release) = { s, BUF_INIT(LIMIT_BLOCK_MAX), sink, ctx };

	return archive_blocks(s, generation, offset, length, pour_block, &r, err);
}

enum status archive_last(struct store *s, int64_t generation, struct archive_block *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, ARCHIVE_LAST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	switch (stmt_step(&st, err)) {
	case STEP_ROW:
		read_block(&st, out);
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_NOT_FOUND, "generation %" PRId64 " has no blocks", generation);
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

/* ---- Writing --------------------------------------------------------------- */

static int codec_of(const struct archive_new *b)
{
	return b->base_count ? PACK_CODEC_LIKE : PACK_CODEC_ZSTD;
}

static enum status insert_block(struct store *s, int64_t generation, const struct archive_new *b, int64_t rev,
				struct err *err)
{
	STMT bytes = { 0 };
	STMT block = { 0 };
	int64_t data;

	if (use(s, ARCHIVE_ADD_BYTES, &bytes, err))
		return err_failed(err->status);
	stmt_int(&bytes, 1, codec_of(b));
	stmt_blob(&bytes, 2, b->packed.p, b->packed.n);
	if (stmt_row(&bytes, "the new block", err))
		return err_failed(err->status);
	data = col_int(&bytes, 0);
	stmt_done(&bytes);
	if (like_note(s, data, b, err) || use(s, ARCHIVE_ADD_BLOCK, &block, err))
		return err_failed(err->status);
	stmt_int(&block, 1, generation);
	stmt_int(&block, 2, b->offset);
	stmt_int(&block, 3, b->length);
	stmt_int(&block, 4, (int64_t)b->hash);
	stmt_int(&block, 5, data);
	stmt_int(&block, 6, rev);
	return stmt_run(&block, err);
}

static enum status replace_block(struct store *s, int64_t generation, const struct archive_new *b, int64_t data,
				 int64_t rev, struct err *err)
{
	STMT bytes = { 0 };
	STMT block = { 0 };

	if (like_part(s, data, err) || like_forget(s, data, err) || use(s, ARCHIVE_SET_BYTES, &bytes, err))
		return err_failed(err->status);
	stmt_int(&bytes, 1, data);
	stmt_int(&bytes, 2, codec_of(b));
	stmt_blob(&bytes, 3, b->packed.p, b->packed.n);
	if (stmt_run_one(&bytes, "replacing a block", err) || like_note(s, data, b, err) ||
	    use(s, ARCHIVE_SET_BLOCK, &block, err))
		return err_failed(err->status);
	stmt_int(&block, 1, generation);
	stmt_int(&block, 2, b->offset);
	stmt_int(&block, 3, b->length);
	stmt_int(&block, 4, (int64_t)b->hash);
	stmt_int(&block, 5, rev);
	return stmt_run_one(&block, "replacing a block", err);
}

/* The data row of a block that begins exactly here; 0 = there is none. */
static enum status block_at(struct store *s, int64_t generation, int64_t offset, int64_t *data, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, ARCHIVE_AT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	stmt_int(&st, 2, offset);
	step = stmt_step(&st, err);
	*data = step == STEP_ROW ? col_int(&st, 0) : 0;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status grow(struct store *s, int64_t generation, int64_t expected, int64_t length, int64_t rev,
			struct err *err)
{
	STMT st = { 0 };

	if (use(s, ARCHIVE_GROW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	stmt_int(&st, 2, expected);
	stmt_int(&st, 3, length);
	stmt_int(&st, 4, rev);
	return stmt_run_one(&st, "appending to the archive", err);
}

enum status archive_append(struct store *s, int64_t generation, int64_t expected, const struct archive_new *blocks,
			   size_t count, struct err *err)
{
	int64_t rev, data, end;

	if (count == 0)
		return STATUS_OK;
	end = blocks[count - 1].offset + blocks[count - 1].length;
	if (db_rev(s, &rev, err) || grow(s, generation, expected, end, rev, err) ||
	    block_at(s, generation, blocks[0].offset, &data, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 && data ? replace_block(s, generation, &blocks[i], data, rev, err)
				   : insert_block(s, generation, &blocks[i], rev, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status archive_repair(struct store *s, const struct archive_repair *r, struct err *err)
{
	STMT st = { 0 };

	if (use(s, ARCHIVE_REPAIR, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, r->data);
	stmt_int(&st, 2, PACK_CODEC_ZSTD);
	stmt_blob(&st, 3, r->packed.p, r->packed.n);
	stmt_int(&st, 4, (int64_t)r->hash);
	/* Its bytes are what they were, so whoever refers to it may go on doing so. */
	return stmt_run_one(&st, "repairing a block", err) ? err_failed(err->status) : like_forget(s, r->data, err);
}

enum status archive_replace(struct store *s, int64_t generation, const struct archive_new *b, struct err *err)
{
	int64_t rev, data;

	if (db_rev(s, &rev, err) || block_at(s, generation, b->offset, &data, err))
		return err_failed(err->status);
	if (!data)
		return err_fail(err, STATUS_CONFLICT, "no block begins at byte %" PRId64 " any more",
				b->offset);
	return replace_block(s, generation, b, data, rev, err);
}

enum status archive_insert(struct store *s, int64_t generation, const struct archive_new *b, struct err *err)
{
	int64_t rev;

	return db_rev(s, &rev, err) ? err_failed(err->status) : insert_block(s, generation, b, rev, err);
}

enum status archive_unshare(struct store *s, int64_t generation, int64_t shared, struct err *err)
{
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, ARCHIVE_UNSHARE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	stmt_int(&st, 2, shared);
	stmt_int(&st, 3, rev);
	return stmt_run_one(&st, "a generation", err);
}
