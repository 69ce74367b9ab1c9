/*
 * Scrubbing a source: what has a tombstone is overwritten in every version that has it.
 *
 * Versions share bytes. Each is looked through where its bytes are its own, from the beginning of the line in
 * which that begins. That line may begin like another one in the version it shares them with; if one of them
 * goes and the other does not, the two are parted first (store/gap.h). But a version that ends in the middle
 * of a line, without a byte of its own, has what is left of the older line, and nothing of it if that goes.
 *
 * Younger versions come first. Whoever is killed in between then leaves older ones in which the line is still
 * whole, and can be known by its hash: of one whose beginning has been overwritten nothing could tell. That a
 * line was overwritten where a version has bytes of its own is told by its gap.
 *
 * Blocks that are damaged are passed over: nobody can read what is in them, and nothing mends them with bytes
 * that have a tombstone (ingest/compare.c reads files through the sieve).
 *
 * With the bytes of a line its ids are noted, and the source's rows are forgotten, in one transaction; there
 * is one for every few megabytes. Each changes the mark, so that nobody writes rows of what it has read
 * before.
 */
#include "ingest/scrub.h"

#include "base/hash.h"
#include "base/split.h"
#include "claude/record.h"
#include "store/gap.h"
#include "store/line_parent.h"
#include "store/paper.h"
#include "store/session.h"
#include "store/tombstone.h"

#include <stdio.h>
#include <string.h>

/* Of a transaction: bytes, and lines. */
enum { MOST_BYTES = 8 * 1024 * 1024, MOST_LINES = 2000 };

/* An id that is to outlive its line. */
struct kept_id {
	int64_t offset;
	struct uuid id;
	struct str uuid; /* p NULL = none */
	bool hung;	 /* with a uuid: on another line */
	struct uuid parent;
};

struct scrubbing {
	struct store *s;
	const struct line_salt *salt;
	const struct scrub_source *source;
	const struct generation *g; /* in hand */
	int64_t now;
	bool has_ids; /* it is a transcript: its lines are nodes */
	bool damaged;
	/* What the next transaction does: */
	struct arena mem;
	struct span *spans;
	size_t span_count, span_cap;
	struct span *unread; /* lines whose ids are not known yet: they go over the end of a block */
	size_t unread_count, unread_cap;
	struct kept_id *ids;
	size_t id_count, id_cap;
	int64_t bytes;
	/* Lines without a uuid so far, by their bytes: how many equal ones there were. */
	struct map equal;
	struct arena equal_mem;
	struct record_reader records;
	struct buf line; /* text of one */
};

static void scrubbing_release(struct scrubbing *y)
{
	arena_release(&y->mem);
	arena_release(&y->equal_mem);
	map_release(&y->equal);
	mem_free(y->spans);
	mem_free(y->unread);
	mem_free(y->ids);
	record_reader_release(&y->records);
	buf_release(&y->line);
}

/* Damage is noted, and no reason to stop. */
static enum status excuse(struct scrubbing *y, enum status status)
{
	y->damaged |= status == STATUS_CORRUPT;
	return status == STATUS_CORRUPT ? STATUS_OK : status;
}

/* ---- Lines of the archive ------------------------------------------------------ */

static enum status add_bytes(void *ctx, struct str bytes, struct err *err)
{
	buf_str(ctx, bytes);
	return ((struct buf *)ctx)->failed ? err_fail(err, STATUS_LIMIT, "a line is too long") : STATUS_OK;
}

static enum status add_to_digest(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	sha256_add(ctx, bytes.p, bytes.n);
	return STATUS_OK;
}

enum status scrub_line_start(struct store *s, int64_t generation, int64_t offset, int64_t *out,
			     struct err *err)
{
	enum { STEP = 64 * 1024 };
	struct buf piece CLEANUP(buf_release) = BUF_INIT(STEP);

	while (offset > 0) {
		int64_t from = offset > STEP ? offset - STEP : 0;
		size_t found;

		buf_clear(&piece);
		if (archive_read(s, generation, from, offset - from, add_bytes, &piece, err))
			return err_failed(err->status);
		found = str_rfind(buf_as_str(&piece), '\n');
		if (found != SIZE_MAX) {
			*out = from + (int64_t)found + 1;
			return STATUS_OK;
		}
		offset = from;
	}
	*out = 0;
	return STATUS_OK;
}

/* The line that begins at an offset: how far it goes, and its hash. */
struct first_line {
	struct line_hasher hasher;
	struct store *s;
	int64_t end; /* -1 = not known yet */
	bool goes;
};

static enum status look_up(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct first_line *l = ctx;

	return tombstone_of_line(l->s, line->hash, &l->goes, err);
}

static enum status take_first_line(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_BLOCK_MAX);
	struct first_line *l = ctx;
	size_t feed;

	if (archive_unpack(l->s, b, &bytes, err))
		return err_failed(err->status);
	feed = str_find(buf_as_str(&bytes), '\n');
	*go_on = feed == SIZE_MAX;
	if (!*go_on)
		l->end = b->offset + (int64_t)feed;
	return line_hasher_add(&l->hasher, str_sub(buf_as_str(&bytes), 0, feed), err);
}

/* Whether the line that begins at an offset of a version goes, or has gone. */
static enum status has_to_go(struct scrubbing *y, const struct generation *g, int64_t from, bool *out,
			     struct err *err)
{
	struct first_line l = { .s = y->s, .end = -1 };
	int64_t gone;

	line_hasher_begin(&l.hasher, y->salt, from, look_up, &l);
	if (excuse(y, archive_blocks(y->s, g->row, from, g->length - from, take_first_line, &l, err)) ||
	    line_hasher_end(&l.hasher, err))
		return err_failed(err->status);
	if (l.end < 0)
		l.end = g->length;
	if (gap_bytes(y->s, g->row, from, l.end - from, &gone, err))
		return err_failed(err->status);
	*out = l.goes || gone > 0;
	return STATUS_OK;
}

/* ---- Parting versions ------------------------------------------------------------ */

static const struct generation *version_of(const struct generation *list, size_t count, int64_t row)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].row == row)
			return &list[i];
	return NULL;
}

/* *from is where the line begins in which a version's own bytes begin. */
static enum status part_from_base(struct scrubbing *y, struct generation *g, const struct generation *base,
				  int64_t *from, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool mine, its;

	*from = g->shared;
	if (excuse(y, scrub_line_start(y->s, g->row, g->shared, from, err)))
		return err_failed(err->status);
	if (*from == g->shared || !base || y->source->whole)
		return STATUS_OK;
	if (has_to_go(y, g, *from, &mine, err) || has_to_go(y, base, *from, &its, err))
		return err_failed(err->status);
	if (mine == its || (!mine && g->shared == g->length))
		return STATUS_OK;
	if (txn_begin(y->s, &txn, err) || gap_part(y->s, g->row, *from, err) ||
	    purge_mark_change(y->s, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	g->shared = *from;
	return STATUS_OK;
}

/* ---- Ids ------------------------------------------------------------------------- */

static struct kept_id *keep_id(struct scrubbing *y, int64_t offset, const struct uuid *id, struct str uuid)
{
	if (y->id_count == y->id_cap) {
		y->id_cap = y->id_cap ? y->id_cap * 2 : 64;
		y->ids = mem_resize(y->ids, y->id_cap * sizeof *y->ids);
	}
	y->ids[y->id_count] = (struct kept_id){
		.offset = offset, .id = *id, .uuid = uuid.p ? arena_str(&y->mem, uuid) : (struct str){ 0 }
	};
	return &y->ids[y->id_count++];
}

/* As docs/DATA.md has it: the source, the bytes, and how many equal ones come before. They all go, so
 * those that went before are all there are. */
static void keep_nameless(struct scrubbing *y, int64_t offset, const uint8_t digest[SHA256_BYTES])
{
	char source[UUID_TEXT + 1], hex[2 * SHA256_BYTES + 1], nth[24];
	struct str key = str_from((const char *)digest, SHA256_BYTES);
	int64_t *count = map_get(&y->equal, key);
	struct uuid id;

	if (!count) {
		count = arena_alloc(&y->equal_mem, sizeof *count);
		map_put(&y->equal, arena_str(&y->equal_mem, key), count);
	}
	uuid_print(&y->source->id, source);
	hex_encode(digest, SHA256_BYTES, hex);
	snprintf(nth, sizeof nth, "%" PRId64, (*count)++);
	id = uuid_of_parts((struct str[]){ str_of(source), str_of(hex), str_of(nth) }, 3);
	keep_id(y, offset, &id, (struct str){ 0 });
}

static void keep_record(struct scrubbing *y, const struct record *r, int64_t offset)
{
	uint8_t digest[SHA256_BYTES];
	struct node_name name = { 0 };
	char text[UUID_TEXT + 1];
	struct kept_id *kept;
	struct uuid uuid, id;

	if (!r->uuid.n || r->uuid.n > LIMIT_LINE_UUID || str_has_byte(r->uuid, '\0')) {
		sha256(r->bytes, digest);
		keep_nameless(y, offset, digest);
		return;
	}
	name.uuid = r->uuid;
	if (uuid_parse(r->uuid, &uuid)) {
		uuid_print(&uuid, text);
		name.uuid = str_of(text);
	}
	id = node_id(&name, PART_LINE);
	kept = keep_id(y, offset, &id, name.uuid);
	kept->hung = r->parent.n > 0;
	if (kept->hung)
		kept->parent = line_key(r->parent);
}

/* Ids of a line that is about to go. */
static void keep_ids(struct scrubbing *y, struct str text, int64_t offset)
{
	struct record r, inner;

	record_begin(&y->records, record_line(text, offset));
	while (record_next(&y->records, &r)) {
		keep_record(y, &r, offset + (r.bytes.p - text.p));
		if (record_embedded(&y->records, &r, &inner))
			keep_record(y, &inner, offset + (inner.bytes.p - text.p));
	}
}

/* Those that were not in one piece. One too long to be read is a node without a uuid, known by its digest. */
static enum status read_ids(struct scrubbing *y, struct err *err)
{
	for (size_t i = 0; i < y->unread_count; i++) {
		const struct span *line = &y->unread[i];
		struct sha sha;
		uint8_t digest[SHA256_BYTES];

		if (line->to - line->from > (int64_t)LIMIT_LINE_PARSED) {
			sha256_init(&sha);
			if (excuse(y, archive_read(y->s, y->g->row, line->from, line->to - line->from,
						   add_to_digest, &sha, err)))
				return err_failed(err->status);
			sha256_end(&sha, digest);
			keep_nameless(y, line->from, digest);
			continue;
		}
		buf_clear(&y->line);
		if (excuse(y, archive_read(y->s, y->g->row, line->from, line->to - line->from, add_bytes,
					   &y->line, err)))
			return err_failed(err->status);
		keep_ids(y, buf_as_str(&y->line), line->from);
	}
	return STATUS_OK;
}

/* ---- A transaction ------------------------------------------------------------------- */

static enum status write_ids(struct scrubbing *y, struct err *err)
{
	for (size_t i = 0; i < y->id_count; i++) {
		const struct kept_id *k = &y->ids[i];
		struct uuid key;

		if (line_id_keep(y->s, y->g->row, k->offset, &k->id, k->uuid, err))
			return err_failed(err->status);
		if (y->source->whole || !k->uuid.p)
			continue;
		key = line_key(k->uuid);
		if (line_parent_keep(y->s, &key, k->hung ? &k->parent : NULL, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* What a renamed file must begin with has changed with the bytes. */
static enum status hash_head(struct scrubbing *y, struct err *err)
{
	struct buf head CLEANUP(buf_release) = BUF_INIT(LIMIT_HEAD_HASH);
	int64_t generation, length;

	if (source_head(y->s, y->source->row, &generation, &length, err))
		return err_failed(err->status);
	if (!generation || length <= 0 || length > (int64_t)LIMIT_HEAD_HASH)
		return STATUS_OK;
	if (excuse(y, archive_read(y->s, generation, 0, length, add_bytes, &head, err)))
		return err_failed(err->status);
	if (head.n < (size_t)length)
		return STATUS_OK;
	return source_head_again(y->s, y->source->row, hash64(head.p, head.n), err);
}

/* In a write transaction: what is known of the source by what its bytes said. */
static enum status forget(struct scrubbing *y, struct err *err)
{
	if (mirror_forget(y->s, y->source->row, err) || paper_forget(y->s, y->source->row, err) ||
	    unread_add(y->s, y->source->row, err))
		return err_failed(err->status);
	return purge_mark_change(y->s, err);
}

/* What goes as a whole is forgotten, also if all its lines are gone already. */
static enum status forget_whole(struct scrubbing *y, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (!y->source->whole)
		return STATUS_OK;
	if (txn_begin(y->s, &txn, err) || forget(y, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return STATUS_OK;
}

static enum status flush(struct scrubbing *y, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (!y->span_count)
		return STATUS_OK;
	if (store_is_cancelled(y->s))
		return err_fail(err, STATUS_CANCELLED, "stopped; the next sync goes on with it");
	txn_pause(y->s);
	if (read_ids(y, err) || txn_begin(y->s, &txn, err) || forget(y, err) || write_ids(y, err) ||
	    gap_make(y->s, y->g->row, y->spans, y->span_count, y->now, err) || hash_head(y, err) ||
	    txn_commit(&txn, err))
		return err_failed(err->status);
	y->span_count = y->id_count = y->unread_count = 0;
	y->bytes = 0;
	arena_release(&y->mem);
	return STATUS_OK;
}

/* ---- Lines of a version -------------------------------------------------------------- */

static void push(struct span **list, size_t *count, size_t *cap, struct span span)
{
	if (*count == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		*list = mem_resize(*list, *cap * sizeof **list);
	}
	(*list)[(*count)++] = span;
}

/* Neighbours are one, which is also how they are marked. */
static void add_span(struct scrubbing *y, struct span span)
{
	y->bytes += span.to - span.from;
	if (y->span_count && y->spans[y->span_count - 1].to + 1 >= span.from)
		y->spans[y->span_count - 1].to = span.to;
	else
		push(&y->spans, &y->span_count, &y->span_cap, span);
}

static enum status take_line(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct scrubbing *y = ctx;
	struct span span = { line->offset, line->offset + line->length };
	bool goes = y->source->whole;

	if (!goes && tombstone_of_line(y->s, line->hash, &goes, err))
		return err_failed(err->status);
	if (!goes)
		return STATUS_OK;
	if (y->has_ids && line->text.p)
		keep_ids(y, line->text, line->offset);
	else if (y->has_ids)
		push(&y->unread, &y->unread_count, &y->unread_cap, span);
	span.from = span.from > y->g->shared ? span.from : y->g->shared;
	if (span.from < span.to)
		add_span(y, span);
	return STATUS_OK;
}

struct pouring {
	struct scrubbing *y;
	struct line_hasher hasher;
	struct buf bytes;
};

static void pouring_release(struct pouring *p)
{
	buf_release(&p->bytes);
}

/* As much as goes into a transaction. */
static enum status pour(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct pouring *p = ctx;
	int64_t end = b->offset + b->length;

	buf_clear(&p->bytes);
	if (excuse(p->y, archive_unpack(p->y->s, b, &p->bytes, err)))
		return err_failed(err->status);
	if (p->bytes.n < (size_t)b->length) { /* what comes behind it begins anew */
		if (p->y->source->whole)
			add_span(p->y, (struct span){ b->offset, end });
		line_hasher_begin(&p->hasher, p->y->salt, end, take_line, p->y);
	} else if (line_hasher_add(&p->hasher, buf_as_str(&p->bytes), err)) {
		return err_failed(err->status);
	}
	*go_on = p->y->bytes < MOST_BYTES && p->y->id_count + p->y->unread_count < MOST_LINES;
	return STATUS_OK;
}

/* From a line on; *from moves behind what was done. */
static enum status scrub_some(struct scrubbing *y, int64_t *from, struct err *err)
{
	struct pouring p CLEANUP(pouring_release) = { .y = y, .bytes = BUF_INIT(LIMIT_BLOCK_MAX) };

	line_hasher_begin(&p.hasher, y->salt, *from, take_line, y);
	if (archive_blocks(y->s, y->g->row, *from, y->g->length - *from, pour, &p, err))
		return err_failed(err->status);
	if (p.hasher.at == y->g->length && line_hasher_end(&p.hasher, err))
		return err_failed(err->status);
	*from = p.hasher.open ? p.hasher.start : p.hasher.at;
	return flush(y, err);
}

static enum status scrub_version(struct scrubbing *y, const struct generation *g, int64_t from,
				 struct err *err)
{
	y->g = g;
	map_release(&y->equal);
	arena_release(&y->equal_mem);
	while (from < g->length)
		if (scrub_some(y, &from, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status scrub_source(struct store *s, const struct line_salt *salt, const struct scrub_source *source,
			 bool *damaged, struct err *err)
{
	struct scrubbing y CLEANUP(scrubbing_release) = { .s = s,
							  .salt = salt,
							  .source = source,
							  .now = store_now(s),
							  .line = BUF_INIT(LIMIT_LINE_PARSED) };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct transcript_name name;
	struct generation *list;
	int64_t *from;
	size_t count;

	y.has_ids = record_transcript_of_path(source->path, &name);
	if (forget_whole(&y, err) || generation_list(s, source->row, &mem, &list, &count, err))
		return err_failed(err->status);
	from = arena_alloc(&mem, (count + 1) * sizeof *from);
	for (size_t i = 0; i < count; i++) {
		if (part_from_base(&y, &list[i], version_of(list, count, list[i].base), &from[i], err))
			return err_failed(err->status);
		if (list[i].shared == list[i].length) /* it has nothing of its own */
			from[i] = list[i].length;
	}
	for (size_t i = count; i-- > 0;)
		if (scrub_version(&y, &list[i], from[i], err))
			return err_failed(err->status);
	*damaged = y.damaged;
	return STATUS_OK;
}
