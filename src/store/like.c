/*
 * Copies keep the uuids of their lines, and uuids lead to where a line stood first. So of the bytes of a block the
 * first uuid that is known says which blocks have the same lines, give or take what a copy leaves out. Packed against
 * these, a line takes a few bytes.
 *
 * Blocks that others refer to are plain ones, so that nothing has to be followed further than once; and not the
 * last of their file, which changes whenever it grows. Other blocks change only where something is purged
 * (store/gap.h). Who refers to them is packed by itself then: what it says must not depend on what is purged elsewhere.
 *
 * Between packing and storing something may have been purged. The hashes of what a block was packed against say so.
 */
#include "store/like.h"

#include "store/db.h"
#include "store/keys.h"
#include "store/pack.h"

#include <string.h>

enum {
	LIKE_LINE,
	LIKE_CODEC,
	LIKE_IS_PLAIN,
	LIKE_ADD,
	LIKE_BASES,
	LIKE_FORGET,
	LIKE_REFERRING,
	LIKE_SET_BYTES,
	LIKE_STATEMENTS
};

static const char *const sql[LIKE_STATEMENTS] = {
	[LIKE_LINE] = ("SELECT m.generation, k.offset, g.length FROM node_key k JOIN mirror_session m"
		       " ON m.id = k.session AND m.old = 0 JOIN generation g ON g.id = m.generation"
		       " WHERE k.key = ?1 AND k.part = -1 ORDER BY k.session, k.offset LIMIT 1"),
	[LIKE_CODEC] = "SELECT codec FROM block_data WHERE id = ?1",
	[LIKE_IS_PLAIN] = ("SELECT 1 FROM block b JOIN block_data d ON d.id = b.data WHERE b.data = ?1 AND b.hash = ?2"
			   " AND d.codec = 1"),
	[LIKE_ADD] = "INSERT INTO block_base(data, nth, base) VALUES (?1, ?2, ?3)",
	[LIKE_BASES] = ("SELECT b.length, b.hash, b.data, d.codec FROM block_base l JOIN block b ON b.data = l.base"
			" JOIN block_data d ON d.id = l.base WHERE l.data = ?1 ORDER BY l.nth"),
	[LIKE_FORGET] = "DELETE FROM block_base WHERE data = ?1",
	[LIKE_REFERRING] = ("SELECT DISTINCT b.length, b.hash, b.data FROM block_base l JOIN block b ON b.data = l.data"
			    " WHERE l.base = ?1"),
	[LIKE_SET_BYTES] = "UPDATE block_data SET codec = 1, bytes = ?2 WHERE id = ?1",
};

const struct db_set like_statements = { DB_LIKE, sql, LIKE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &like_statements, index, st, err);
}

/* A block as a whole, from three columns. */
static struct archive_block whole_block(const struct stmt *st)
{
	return (struct archive_block){ .length = col_int(st, 0),
				       .stored = col_int(st, 0),
				       .hash = (uint64_t)col_int(st, 1),
				       .data = col_int(st, 2) };
}

/* ---- Finding ----------------------------------------------------------------- */

void likeness_release(struct likeness *l)
{
	buf_release(&l->bytes);
}

/* Where a line stands. */
struct line_place {
	int64_t generation, offset, length; /* the last: of the generation */
};

static enum status find_line(struct store *s, const struct uuid *uuid, bool *found, struct line_place *out,
			     struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, LIKE_LINE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key_of_line(uuid));
	step = stmt_step(&st, err);
	*found = step == STEP_ROW;
	if (*found)
		*out = (struct line_place){ col_int(&st, 0), col_int(&st, 1), col_int(&st, 2) };
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* The next uuid that a line says is its own, and where that line begins. What looks like one inside of a text leads
 * nowhere. */
static bool next_uuid(struct str raw, size_t *at, struct uuid *uuid, size_t *line)
{
	static const struct str name = { "\"uuid\":\"", 8 };
	const char *found;

	while ((found = memmem(raw.p + *at, raw.n - *at, name.p, name.n))) {
		size_t feed = str_rfind(str_sub(raw, 0, (size_t)(found - raw.p)), '\n');

		*at = (size_t)(found - raw.p) + name.n;
		*line = feed == SIZE_MAX ? 0 : feed + 1;
		if (uuid_parse(str_sub(raw, *at, UUID_TEXT), uuid))
			return true;
	}
	return false;
}

/* The first line of some that stands elsewhere; *line: where it begins here. */
static enum status find_first(struct store *s, struct str raw, size_t *line, bool *found, struct line_place *out,
			      struct err *err)
{
	struct uuid uuid;
	size_t at = 0;

	*found = false;
	for (int i = 0; i < LIKE_FIRST && !*found && next_uuid(raw, &at, &uuid, line); i++)
		if (find_line(s, &uuid, found, out, err))
			return err_failed(err->status);
	return STATUS_OK;
}

size_t like_first_uuids(struct str head, struct uuid out[LIKE_FIRST])
{
	size_t at = 0, line, count = 0;

	while (count < LIKE_FIRST && next_uuid(head, &at, &out[count], &line))
		count++;
	return count;
}

enum status like_is_known(struct store *s, struct str head, bool *out, struct err *err)
{
	struct line_place place;
	size_t line;

	return find_first(s, head, &line, out, &place, err);
}

struct gathering {
	struct store *s;
	struct likeness *out;
	int64_t last; /* data of the block that may not be taken; 0 = there is none */
};

static enum status is_plain(struct store *s, const struct archive_block *b, bool *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, LIKE_CODEC, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, b->data);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW && col_int(&st, 0) == PACK_CODEC_ZSTD;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status gather_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct gathering *g = ctx;
	struct archive_block whole = { .length = b->stored, .stored = b->stored, .hash = b->hash, .data = b->data };
	bool plain;

	if (b->data == g->last)
		return STATUS_OK;
	if (is_plain(g->s, b, &plain, err))
		return err_failed(err->status);
	if (!plain)
		return STATUS_OK;
	if (archive_unpack(g->s, &whole, &g->out->bytes, err))
		return err_failed(err->status);
	g->out->bases[g->out->count++] = (struct archive_base){ b->data, b->hash };
	*go_on = g->out->count < ARCHIVE_BASES;
	return STATUS_OK;
}

/* A copy leaves lines out, so as many bytes of it are more there. */
static enum status gather(struct store *s, const struct line_place *place, size_t before, size_t bytes,
			  struct likeness *out, struct err *err)
{
	int64_t from = place->offset > (int64_t)before ? place->offset - (int64_t)before : 0;
	int64_t wanted = (int64_t)(bytes + bytes / 4);
	struct archive_block last = { 0 };
	enum status status = archive_last(s, place->generation, &last, err);

	if (status != STATUS_OK && status != STATUS_NOT_FOUND)
		return status;
	if (wanted > place->length - from)
		wanted = place->length - from;
	return archive_blocks(s, place->generation, from, wanted, gather_block,
			      &(struct gathering){ s, out, last.data }, err);
}

enum status like_find(struct store *s, struct str raw, struct likeness *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct line_place place;
	enum status status;
	size_t line;
	bool found;

	out->count = 0;
	buf_clear(&out->bytes);
	if (read_begin(s, &snapshot, err) || find_first(s, raw, &line, &found, &place, err))
		return err_failed(err->status);
	if (!found)
		return STATUS_OK;
	status = gather(s, &place, line, raw.n, out, err);
	if (status == STATUS_CORRUPT) { /* whoever reads those will tell */
		out->count = 0;
		status = STATUS_OK;
	}
	return status;
}

/* ---- Stored ------------------------------------------------------------------ */

enum { CACHED = 8 };

struct like_cache {
	struct cached {
		int64_t data;
		uint64_t hash; /* the row may get other bytes */
		struct buf raw;
	} blocks[CACHED];
	size_t next; /* they are used in turn */
	/* Those that one block refers to, in a row. */
	struct archive_block joined[ARCHIVE_BASES];
	size_t joined_count;
	struct buf bytes;
};

void like_cache_free(struct like_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CACHED; i++)
		buf_release(&c->blocks[i].raw);
	buf_release(&c->bytes);
	mem_free(c);
}

static struct like_cache *cache_of(struct store *s)
{
	if (!s->like) {
		s->like = mem_alloc(sizeof *s->like);
		for (size_t i = 0; i < CACHED; i++)
			buf_init(&s->like->blocks[i].raw, LIMIT_BLOCK_MAX);
		buf_init(&s->like->bytes, ARCHIVE_BASES * LIMIT_BLOCK_MAX);
	}
	return s->like;
}

static enum status add_block(struct store *s, const struct archive_block *b, struct buf *out, struct err *err)
{
	struct like_cache *c = cache_of(s);
	struct cached *one;

	for (size_t i = 0; i < CACHED; i++)
		if (c->blocks[i].data == b->data && c->blocks[i].hash == b->hash) {
			buf_str(out, buf_as_str(&c->blocks[i].raw));
			return STATUS_OK;
		}
	one = &c->blocks[c->next++ % CACHED];
	one->data = 0;
	buf_clear(&one->raw);
	if (archive_unpack(s, b, &one->raw, err))
		return err_failed(err->status);
	one->data = b->data;
	one->hash = b->hash;
	buf_str(out, buf_as_str(&one->raw));
	return STATUS_OK;
}

/* Which blocks a block refers to. */
static enum status find_bases(struct store *s, int64_t data, struct archive_block *out, size_t *count, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	*count = 0;
	if (use(s, LIKE_BASES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, data);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (*count == ARCHIVE_BASES || col_int(&st, 3) != PACK_CODEC_ZSTD)
			return err_fail(err, STATUS_CORRUPT, "it refers to what it cannot refer to");
		out[(*count)++] = whole_block(&st);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static bool are_joined(const struct like_cache *c, const struct archive_block *bases, size_t count)
{
	if (c->joined_count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (c->joined[i].data != bases[i].data || c->joined[i].hash != bases[i].hash)
			return false;
	return true;
}

enum status like_bytes(struct store *s, int64_t data, struct str *out, struct err *err)
{
	struct like_cache *c = cache_of(s);
	struct archive_block bases[ARCHIVE_BASES];
	size_t count;

	if (find_bases(s, data, bases, &count, err))
		return err_failed(err->status);
	if (!are_joined(c, bases, count)) {
		c->joined_count = 0;
		buf_clear(&c->bytes);
		for (size_t i = 0; i < count; i++) {
			if (add_block(s, &bases[i], &c->bytes, err))
				return err_pass(err, "what it refers to");
			c->joined[i] = bases[i];
		}
		c->joined_count = count;
	}
	*out = buf_as_str(&c->bytes);
	return STATUS_OK;
}

static enum status check_base(struct store *s, const struct archive_base *base, struct err *err)
{
	STMT st = { 0 };

	if (use(s, LIKE_IS_PLAIN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, base->data);
	stmt_int(&st, 2, (int64_t)base->hash);
	switch (stmt_step(&st, err)) {
	case STEP_ROW:
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_CONFLICT, "what a block was packed against has changed");
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

enum status like_note(struct store *s, int64_t data, const struct archive_new *b, struct err *err)
{
	for (size_t i = 0; i < b->base_count; i++) {
		STMT st = { 0 };

		if (check_base(s, &b->bases[i], err) || use(s, LIKE_ADD, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, data);
		stmt_int(&st, 2, (int64_t)i);
		stmt_int(&st, 3, b->bases[i].data);
		if (stmt_run(&st, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status like_forget(struct store *s, int64_t data, struct err *err)
{
	bool any;

	if (store_has(s, STORE_BASES, &any, err))
		return err_failed(err->status);
	return any ? stmt_run_with(s, &like_statements, LIKE_FORGET, data, err) : STATUS_OK;
}

/* One that refers to the block; false = there is none. */
static enum status next_referring(struct store *s, int64_t data, struct archive_block *out, bool *any, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, LIKE_REFERRING, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, data);
	step = stmt_step(&st, err);
	*any = step == STEP_ROW;
	if (*any)
		*out = whole_block(&st);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* What cannot be unpacked is lost with or without what it refers to, unless its file still has it. */
static enum status make_plain(struct store *s, const struct archive_block *b, struct err *err)
{
	struct buf raw CLEANUP(buf_release) = BUF_INIT(LIMIT_BLOCK_MAX);
	struct buf packed CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_BLOCK_MAX);
	enum status status = archive_unpack(s, b, &raw, err);
	STMT st = { 0 };

	if (status == STATUS_CORRUPT)
		return like_forget(s, b->data, err);
	if (status != STATUS_OK || packer_pack(s->packer, buf_as_str(&raw), &packed, err) ||
	    use(s, LIKE_SET_BYTES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, b->data);
	stmt_blob(&st, 2, packed.p, packed.n);
	return stmt_run_one(&st, "packing a block by itself", err) ? err_failed(err->status)
								    : like_forget(s, b->data, err);
}

enum status like_part(struct store *s, int64_t data, struct err *err)
{
	struct archive_block b;
	bool any;

	if (store_has(s, STORE_BASES, &any, err))
		return err_failed(err->status);
	while (any) {
		if (next_referring(s, data, &b, &any, err) || (any && make_plain(s, &b, err)))
			return err_failed(err->status);
	}
	return STATUS_OK;
}
