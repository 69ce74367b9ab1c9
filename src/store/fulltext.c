/*
 * The full-text index: FTS5 as an inverted index and nothing more.
 *
 * Splitting text into words is the costly part that can be done by many threads,
 * while only one may write. So the threads that read transcripts pack the words of
 * a document into one string (base/words.h), and the tokenizer registered here
 * only hands them over:
 *
 *     one byte: length of the word, 1..64; bit 7 set: same position as the one before
 *     the word's bytes
 *
 * In a query the tokenizer gets a word that src/query has folded already, and
 * passes it on as it is. FTS5 never sees text.
 *
 * The table is contentless; FTS5 knows documents by number only. Looking up what
 * ranking asks of each match would cost more than finding it, so that is part of
 * the number:
 *
 *     sequence | place, 3 bits | size, 4 bits
 *
 * Size is the binary logarithm of the number of words. More bits would make every
 * entry of the index longer. Everything else is in slots of fixed size, 128 in a
 * row (sql/derived.sql has their layout), so that a row is on one page: asked for the few that are shown. For each
 * row there is the day around which its documents were written; those of many rows stand together.
 *
 * Invariants
 *   (1) A sequence is its chunk * 128 + slot, never used again.
 *   (2) Chunks are numbered from 0 on without gaps, and only the last one has free slots.
 *   (3) Every chunk has a day.
 */
#include "store/fulltext.h"

#include "base/arena.h"
#include "base/hash.h"
#include "store/db.h"

#include <string.h>

enum {
	CHUNK = DOC_CHUNK,
	SLOT = 21, /* three rows of them fit on a page */
	CHUNK_BYTES = CHUNK * SLOT,
	DAYS = 256, /* in a row */
	DAY_BYTES = 2,
	PLACE_BITS = 3,
	SIZE_BITS = 4,
	CODE_BITS = PLACE_BITS + SIZE_BITS,
};

enum {
	TEXT_ADD,
	TEXT_REMOVE,
	TEXT_WITH,
	TEXT_MERGE,
	TEXT_LAST_CHUNK,
	TEXT_CHUNK,
	TEXT_CHUNKS,
	TEXT_DAYS,
	TEXT_SOME_DAYS,
	TEXT_ADD_CHUNK,
	TEXT_SET_CHUNK,
	TEXT_SET_DAYS,
	TEXT_STATEMENTS
};

static const char *const sql[TEXT_STATEMENTS] = {
	[TEXT_ADD] = "INSERT INTO search(rowid, text) VALUES (?1, ?2)",
	[TEXT_REMOVE] = "DELETE FROM search WHERE rowid = ?1",
	[TEXT_WITH] = "SELECT rowid FROM search WHERE search MATCH ?1 LIMIT 1",
	[TEXT_MERGE] = "INSERT INTO search(search, rank) VALUES ('merge', ?1)",
	[TEXT_LAST_CHUNK] = "SELECT id, used, slots FROM doc_chunk ORDER BY id DESC LIMIT 1",
	[TEXT_CHUNK] = "SELECT used, slots FROM doc_chunk WHERE id = ?1",
	[TEXT_CHUNKS] = "SELECT id, used, slots FROM doc_chunk ORDER BY id DESC",
	[TEXT_DAYS] = "SELECT id, days FROM doc_day ORDER BY id",
	[TEXT_SOME_DAYS] = "SELECT days FROM doc_day WHERE id = ?1",
	[TEXT_ADD_CHUNK] = "INSERT OR IGNORE INTO doc_chunk(id, used, slots) VALUES (?1, 0, x'')",
	[TEXT_SET_CHUNK] = "UPDATE doc_chunk SET used = ?2, slots = ?3 WHERE id = ?1",
	[TEXT_SET_DAYS] = "INSERT OR REPLACE INTO doc_day(id, days) VALUES (?1, ?2)",
};

const struct db_set fulltext_statements = { DB_FULLTEXT, sql, TEXT_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &fulltext_statements, index, st, err);
}

/* ---- The tokenizer --------------------------------------------------------- */

static int create_tokenizer(void *ctx, const char **args, int count, Fts5Tokenizer **out)
{
	(void)args;
	(void)count;
	*out = ctx; /* it has no state; anything but NULL will do */
	return SQLITE_OK;
}

static void delete_tokenizer(Fts5Tokenizer *t)
{
	(void)t;
}

typedef int token_fn(void *ctx, int flags, const char *word, int n, int start, int end);

static int hand_over_words(Fts5Tokenizer *t, void *ctx, int flags, const char *text, int n, token_fn *fn)
{
	int code = SQLITE_OK;

	(void)t;
	if (flags & FTS5_TOKENIZE_QUERY)
		return n ? fn(ctx, 0, text, n, 0, n) : SQLITE_OK;
	for (int at = 0; at < n && code == SQLITE_OK;) {
		int head = (unsigned char)text[at++], length = head & 0x7f;

		if (length > n - at)
			return SQLITE_CORRUPT;
		code = fn(ctx, head & 0x80 ? FTS5_TOKEN_COLOCATED : 0, text + at, length, at, at + length);
		at += length;
	}
	return code;
}

/* FTS5 hands its interface out through an SQL function with a pointer argument. */
static enum status fts5_interface(struct store *s, fts5_api **out, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(s->db, "SELECT fts5(?1)", -1, &st, NULL);

	*out = NULL;
	if (code == SQLITE_OK)
		code = sqlite3_bind_pointer(st, 1, out, "fts5_api_ptr", NULL);
	if (code == SQLITE_OK)
		sqlite3_step(st);
	sqlite3_finalize(st);
	return *out ? STATUS_OK : db_fail(s, code, "this SQLite has no full-text search", err);
}

enum status fulltext_api(struct store *s, fts5_api **out, struct err *err)
{
	if (!s->fts5 && fts5_interface(s, &s->fts5, err))
		return err_failed(err->status);
	*out = s->fts5;
	return STATUS_OK;
}

enum status fulltext_register(struct store *s, struct err *err)
{
	fts5_tokenizer tokenizer = { create_tokenizer, delete_tokenizer, hand_over_words };
	fts5_api *api;
	int code;

	if (fulltext_api(s, &api, err))
		return err_failed(err->status);
	code = api->xCreateTokenizer(api, "arbor", s, &tokenizer, NULL);
	return code == SQLITE_OK ? STATUS_OK : db_fail(s, code, "registering the tokenizer", err);
}

/* ---- Numbers and slots ------------------------------------------------------- */

static unsigned code_for(uint8_t place, size_t words)
{
	unsigned size = 0;

	while (size < (1 << SIZE_BITS) - 1 && words >> (size + 1))
		size++;
	return (unsigned)(place & ((1 << PLACE_BITS) - 1)) << SIZE_BITS | size;
}

struct doc_rank doc_rank(int64_t id)
{
	unsigned size = (unsigned)id & ((1 << SIZE_BITS) - 1);

	return (struct doc_rank){
		.place = (uint8_t)((unsigned)id >> SIZE_BITS & ((1 << PLACE_BITS) - 1)),
		.words = 1.5 * (double)(1u << size),
	};
}

_Static_assert(DOC_CODES == 1 << CODE_BITS, "a code is what stands below the sequence");

static void put_number(uint8_t *to, size_t bytes, uint64_t v)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_number(const uint8_t *from, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)from[i] << 8 * i;
	return v;
}

static void slot_write(uint8_t *slot, const struct doc *d, unsigned code)
{
	int64_t seconds = d->at / 1000;
	uint64_t ms = seconds > 0 && seconds <= UINT32_MAX ? (uint64_t)(d->at % 1000) : 0;
	uint64_t offset = (uint64_t)(d->offset > DOC_OFFSET_MOST ? DOC_OFFSET_MOST : d->offset);

	put_number(slot, 4, (uint64_t)d->session);
	put_number(slot + 4, 4, seconds < 0 ? 0 : seconds > UINT32_MAX ? UINT32_MAX : (uint64_t)seconds);
	put_number(slot + 8, 2, d->block);
	put_number(slot + 10, 1, code);
	put_number(slot + 11, 5, offset | ms >> 8 << DOC_OFFSET_BITS);
	put_number(slot + 16, 4, d->sum);
	put_number(slot + 20, 1, ms & 0xff);
}

static unsigned slot_read(const uint8_t *slot, struct doc *d)
{
	uint64_t place = get_number(slot + 11, 5), ms = place >> DOC_OFFSET_BITS << 8 | get_number(slot + 20, 1);

	*d = (struct doc){
		.session = (int64_t)get_number(slot, 4),
		.at = (int64_t)get_number(slot + 4, 4) * 1000 + (int64_t)ms,
		.block = (uint16_t)get_number(slot + 8, 2),
		.offset = (int64_t)(place & DOC_OFFSET_MOST),
		.sum = (uint32_t)get_number(slot + 16, 4),
	};
	return (unsigned)get_number(slot + 10, 1);
}

static int64_t average_day(const uint8_t *slots, size_t used)
{
	int64_t sum = 0, count = 0;

	for (size_t i = 0; i < used; i++) {
		int64_t seconds = (int64_t)get_number(slots + i * SLOT + 4, 4);

		sum += seconds / (24 * 3600);
		count += seconds > 0;
	}
	return count ? sum / count : 0; /* times have 32 bits, so a day has 16 */
}

static enum status bad_chunk(struct store *s, int64_t chunk, struct err *err)
{
	return err_fail(err, STATUS_CORRUPT,
			"%s: documents from %" PRId64 " on are damaged; 'arbor rebuild' makes them anew", s->path,
			chunk * CHUNK);
}

/* Copies a chunk's slots into room for all of them; false when they are damaged. */
static bool copy_slots(struct str bytes, int64_t used, uint8_t *to)
{
	if (used < 0 || used > CHUNK || bytes.n != (size_t)used * SLOT)
		return false;
	if (bytes.n)
		memcpy(to, bytes.p, bytes.n);
	for (size_t at = 0; at < bytes.n; at += SLOT)
		if (get_number(to + at + 10, 1) >> CODE_BITS)
			return false; /* it would reach into the sequence */
	return true;
}

/* ---- Writing ----------------------------------------------------------------- */

enum status doc_writer_begin(struct doc_writer *w, struct store *s, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	*w = (struct doc_writer){ .store = s, .slots = mem_alloc(CHUNK_BYTES), .used = 1 };
	if (use(s, TEXT_LAST_CHUNK, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_DONE)
		return STATUS_OK; /* slot 0 stays empty: no document has the sequence 0 */
	w->chunk = col_int(&st, 0);
	w->used = (size_t)col_int(&st, 1);
	return copy_slots(col_bytes(&st, 2), col_int(&st, 1), w->slots) ? STATUS_OK : bad_chunk(s, w->chunk, err);
}

static enum status add_chunk(struct store *s, int64_t chunk, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEXT_ADD_CHUNK, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, chunk);
	return stmt_run(&st, err);
}

/* Whether these are days of at most so many chunks. */
static bool are_days(struct str bytes, size_t most)
{
	return bytes.n > 0 && bytes.n <= most * DAY_BYTES && bytes.n % DAY_BYTES == 0;
}

/* The days of the row in which that of a chunk stands, or is to stand behind the others. */
static enum status days_beside(struct store *s, int64_t chunk, uint8_t days[DAYS * DAY_BYTES], size_t *used,
			       struct err *err)
{
	size_t before = (size_t)(chunk % DAYS) * DAY_BYTES;
	struct str bytes = { 0 };
	STMT st = { 0 };
	enum step step;

	if (use(s, TEXT_SOME_DAYS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, chunk / DAYS);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_ROW)
		bytes = col_bytes(&st, 0);
	if (bytes.n < before || (step == STEP_ROW && !are_days(bytes, DAYS)))
		return bad_chunk(s, chunk, err);
	if (bytes.n)
		memcpy(days, bytes.p, bytes.n);
	*used = bytes.n;
	return STATUS_OK;
}

static enum status set_day(struct store *s, int64_t chunk, int64_t day, struct err *err)
{
	size_t at = (size_t)(chunk % DAYS) * DAY_BYTES, used = 0;
	uint8_t days[DAYS * DAY_BYTES];
	STMT st = { 0 };

	if (days_beside(s, chunk, days, &used, err))
		return err_failed(err->status);
	if (at < used && get_number(days + at, DAY_BYTES) == (uint64_t)day)
		return STATUS_OK;
	put_number(days + at, DAY_BYTES, (uint64_t)day);
	if (use(s, TEXT_SET_DAYS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, chunk / DAYS);
	stmt_blob(&st, 2, days, at < used ? used : at + DAY_BYTES);
	return stmt_run(&st, err);
}

static enum status set_chunk(struct store *s, int64_t chunk, const uint8_t *slots, size_t used, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEXT_SET_CHUNK, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, chunk);
	stmt_int(&st, 2, (int64_t)used);
	stmt_blob(&st, 3, slots, used * SLOT);
	if (stmt_run_one(&st, "a chunk of documents", err))
		return err_failed(err->status);
	return set_day(s, chunk, average_day(slots, used), err);
}

enum status doc_writer_finish(struct doc_writer *w, struct err *err)
{
	if (!w->dirty)
		return STATUS_OK;
	w->dirty = false;
	if (add_chunk(w->store, w->chunk, err))
		return err_failed(err->status);
	return set_chunk(w->store, w->chunk, w->slots, w->used, err);
}

static enum status index_words(struct store *s, int64_t id, struct str packed, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEXT_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, id);
	stmt_text(&st, 2, packed);
	return stmt_run(&st, err);
}

int64_t doc_writer_next(const struct doc_writer *w)
{
	return w->chunk * CHUNK + (int64_t)w->used; /* of a full chunk that is the first of the one behind it */
}

struct doc_mark doc_mark(uint8_t place, size_t words, struct str packed)
{
	return (struct doc_mark){ code_for(place, words), (uint32_t)hash64(packed.p, packed.n) };
}

enum status doc_writer_add_copy(struct doc_writer *w, const struct doc *d, struct doc_mark mark, int64_t *sequence,
				struct err *err)
{
	struct doc summed = *d;

	summed.sum = mark.sum;
	if (w->used == CHUNK) {
		if (doc_writer_finish(w, err))
			return err_failed(err->status);
		w->chunk++;
		w->used = 0;
	}
	*sequence = doc_writer_next(w);
	slot_write(w->slots + w->used++ * SLOT, &summed, mark.code);
	w->dirty = true;
	return STATUS_OK;
}

enum status doc_writer_add(struct doc_writer *w, const struct doc *d, uint8_t place, size_t words, struct str packed,
			   int64_t *sequence, struct err *err)
{
	struct doc_mark mark = doc_mark(place, words, packed);

	return doc_writer_add_copy(w, d, mark, sequence, err)
		       ? err_failed(err->status)
		       : index_words(w->store, *sequence << CODE_BITS | mark.code, packed, err);
}

void doc_writer_release(struct doc_writer *w)
{
	mem_free(w->slots);
	w->slots = NULL;
}

/* STATUS_NOT_FOUND when there is no such chunk. */
static enum status read_slots(struct store *s, int64_t chunk, uint8_t *to, size_t *used, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, TEXT_CHUNK, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, chunk);
	step = stmt_step(&st, err);
	if (step == STEP_DONE)
		return err_fail(err, STATUS_NOT_FOUND, "no documents from %" PRId64 " on", chunk * CHUNK);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	*used = (size_t)col_int(&st, 0);
	return copy_slots(col_bytes(&st, 1), col_int(&st, 0), to) ? STATUS_OK : bad_chunk(s, chunk, err);
}

static enum status remove_words(struct store *s, int64_t id, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEXT_REMOVE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, id);
	return stmt_run(&st, err);
}

enum status doc_drop_words(struct store *s, int64_t id, struct err *err)
{
	return remove_words(s, id, err);
}

/* The documents [from, to) of a chunk. */
static enum status remove_some(struct store *s, int64_t chunk, size_t from, size_t to, struct err *err)
{
	uint8_t slots[CHUNK_BYTES];
	size_t used = 0;
	enum status status = read_slots(s, chunk, slots, &used, err);

	if (status == STATUS_NOT_FOUND || (status == STATUS_OK && to > used))
		return bad_chunk(s, chunk, err);
	if (status)
		return err_failed(status);
	for (size_t i = from; i < to; i++) {
		struct doc d;
		unsigned code = slot_read(slots + i * SLOT, &d);

		if (remove_words(s, (chunk * CHUNK + (int64_t)i) << CODE_BITS | code, err))
			return err_failed(err->status);
		slot_write(slots + i * SLOT, &(struct doc){ 0 }, code);
	}
	return set_chunk(s, chunk, slots, used, err);
}

enum status doc_remove(struct store *s, int64_t first, int64_t count, struct err *err)
{
	int64_t end;

	/* Numbers from a damaged row: there are no such documents. */
	if (first < 0 || count < 0 || count > INT64_MAX - CHUNK - first)
		return bad_chunk(s, first / CHUNK, err);
	end = first + count;
	for (int64_t at = first; at < end;) {
		int64_t chunk = at / CHUNK, next = (chunk + 1) * CHUNK;

		if (remove_some(s, chunk, (size_t)(at % CHUNK), (size_t)((next < end ? next : end) - chunk * CHUNK),
				err))
			return err_failed(err->status);
		at = next;
	}
	return STATUS_OK;
}

/* Documents of neighbouring lines mostly follow each other: removed together, each chunk
 * of them is written once. */
enum status doc_remove_each(struct stmt *st, doc_remove_fn *remove, struct err *err)
{
	int64_t first = 0, count = 0;
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW) {
		if (col_int(st, 0) != first + count) {
			if (remove(st->store, first, count, err))
				return err_failed(err->status);
			first = col_int(st, 0);
			count = 0;
		}
		count += col_int(st, 1);
	}
	return step == STEP_DONE ? remove(st->store, first, count, err) : err_failed(err->status);
}

/* Slots as they are in the store, to be changed. */
struct slots {
	int64_t chunk; /* -1 = none */
	size_t used;
	uint8_t bytes[CHUNK_BYTES];
};

static enum status slots_of(struct store *s, int64_t sequence, struct slots *out, struct err *err)
{
	enum status status = read_slots(s, sequence / CHUNK, out->bytes, &out->used, err);

	out->chunk = sequence / CHUNK;
	if (status == STATUS_NOT_FOUND || (status == STATUS_OK && (size_t)(sequence % CHUNK) >= out->used))
		return bad_chunk(s, out->chunk, err);
	return status;
}

/* Some that are in one chunk here and in one there. */
static enum status move_some(struct store *s, int64_t from, int64_t to, size_t count, doc_moved_fn *fn, void *ctx,
			     struct err *err)
{
	struct slots there, here, *of_from = &there;
	size_t a = (size_t)(from % CHUNK), b = (size_t)(to % CHUNK);

	if (slots_of(s, to, &here, err) || slots_of(s, from, &there, err))
		return err_failed(err->status);
	if (there.chunk == here.chunk)
		of_from = &here;
	if (a + count > of_from->used || b + count > here.used)
		return bad_chunk(s, here.chunk, err);
	for (size_t i = 0; i < count; i++) {
		uint8_t *old = of_from->bytes + (a + i) * SLOT, *new = here.bytes + (b + i) * SLOT;
		struct doc d, gone;
		unsigned code = slot_read(old, &d), same = slot_read(new, &gone);

		if (code != same || d.sum != gone.sum)
			return bad_chunk(s, of_from->chunk, err);
		slot_write(new, &d, code);
		slot_write(old, &(struct doc){ 0 }, code);
		if (fn(ctx, to + (int64_t)i, &d, err))
			return err_failed(err->status);
	}
	if (of_from != &here && set_chunk(s, there.chunk, there.bytes, there.used, err))
		return err_failed(err->status);
	return set_chunk(s, here.chunk, here.bytes, here.used, err);
}

enum status doc_move(struct store *s, int64_t from, int64_t to, int64_t count, doc_moved_fn *fn, void *ctx,
		     struct err *err)
{
	while (count > 0) {
		int64_t room = CHUNK - (from % CHUNK > to % CHUNK ? from % CHUNK : to % CHUNK);
		int64_t some = count < room ? count : room;

		if (move_some(s, from, to, (size_t)some, fn, ctx, err))
			return err_failed(err->status);
		from += some;
		to += some;
		count -= some;
	}
	return STATUS_OK;
}

/* A word is folded and a mark has no quote: nothing of either is FTS5's syntax. */
enum status doc_with_word(struct store *s, struct str word, int64_t *sequence, struct err *err)
{
	struct buf match CLEANUP(buf_release) = BUF_INIT(KIB);
	enum step step;
	STMT st = { 0 };

	buf_printf(&match, "\"%.*s\"", STR_ARG(word));
	if (use(s, TEXT_WITH, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, buf_as_str(&match));
	step = stmt_step(&st, err);
	*sequence = step == STEP_ROW ? doc_sequence(col_int(&st, 0)) : 0;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum { MERGE_PAGES = 128 }; /* some milliseconds */

/* The statement counts as one change; what it writes counts besides. */
static enum status merge(struct store *s, int64_t pages, bool *more, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t before = sqlite3_total_changes64(s->db);
	STMT st = { 0 };

	if (txn_begin(s, &txn, err) || use(s, TEXT_MERGE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, pages);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*more = sqlite3_total_changes64(s->db) - before > 1;
	s->wrote = *more;
	return txn_commit(&txn, err);
}

enum status fulltext_merge(struct store *s, bool *more, struct err *err)
{
	return merge(s, MERGE_PAGES, more, err);
}

enum status fulltext_merge_all(struct store *s, struct err *err)
{
	bool more;

	return merge(s, -MERGE_PAGES, &more, err);
}

/* ---- Ranges ------------------------------------------------------------------ */

void doc_range_add(struct arena *mem, struct doc_range **list, size_t *count, size_t *cap, struct doc_range one)
{
	struct doc_range *last = *count ? &(*list)[*count - 1] : NULL, *more;

	if (last && last->first + last->count == one.first) {
		last->count += one.count;
		return;
	}
	if (*count == *cap) {
		*cap = *cap ? 2 * *cap : 64;
		more = arena_alloc(mem, *cap * sizeof *more);
		if (*count) /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): so there is a list */
			memcpy(more, *list, *count * sizeof *more);
		*list = more;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): from an arena, which never gives NULL */
	(*list)[(*count)++] = one;
}

enum status doc_ranges(struct stmt *st, struct arena *mem, struct doc_range **out, size_t *count, struct err *err)
{
	size_t cap = 0;
	enum step step;

	*out = NULL;
	*count = 0;
	while ((step = stmt_step(st, err)) == STEP_ROW)
		doc_range_add(mem, out, count, &cap, (struct doc_range){ col_int(st, 0), col_int(st, 1) });
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* ---- Reading ----------------------------------------------------------------- */

struct doc_chunk {
	uint8_t slots[CHUNK_BYTES];
	size_t used;
};

void doc_reader_release(struct doc_reader *r)
{
	for (size_t i = 0; i < r->count; i++)
		mem_free(r->chunks[i]);
	mem_free(r->chunks);
	mem_free(r->days);
	*r = (struct doc_reader){ 0 };
}

enum status doc_days(struct doc_reader *r, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	r->day_count = 0;
	if (use(r->store, TEXT_DAYS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct str bytes = col_bytes(&st, 1);
		size_t count = bytes.n / DAY_BYTES;

		if (r->day_count % DAYS || col_int(&st, 0) != (int64_t)(r->day_count / DAYS) || !are_days(bytes, DAYS))
			return bad_chunk(r->store, (int64_t)r->day_count, err);
		r->days = mem_resize(r->days, (r->day_count + count) * sizeof *r->days);
		for (size_t i = 0; i < count; i++)
			r->days[r->day_count + i] =
				(int32_t)get_number((const uint8_t *)bytes.p + i * DAY_BYTES, DAY_BYTES);
		r->day_count += count;
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static enum status load_chunk(struct doc_reader *r, size_t chunk, struct err *err)
{
	struct doc_chunk *c = mem_resize(NULL, sizeof *c); /* no slot is looked at that is not used */

	if (read_slots(r->store, (int64_t)chunk, c->slots, &c->used, err)) {
		mem_free(c);
		return err_failed(err->status);
	}
	if (chunk >= r->count) {
		r->chunks = mem_resize(r->chunks, (chunk + 1) * sizeof *r->chunks);
		memset(r->chunks + r->count, 0, (chunk + 1 - r->count) * sizeof *r->chunks);
		r->count = chunk + 1;
	}
	r->chunks[chunk] = c;
	return STATUS_OK;
}

enum status doc_get(struct doc_reader *r, int64_t sequence, struct doc *out, int64_t *id, struct err *err)
{
	size_t chunk = (size_t)sequence / CHUNK, slot = (size_t)sequence % CHUNK;

	if (sequence <= 0)
		return err_fail(err, STATUS_NOT_FOUND, "no document %" PRId64, sequence);
	if ((chunk >= r->count || !r->chunks[chunk]) && load_chunk(r, chunk, err))
		return err_failed(err->status);
	*out = (struct doc){ 0 };
	if (slot < r->chunks[chunk]->used)
		*id = sequence << CODE_BITS | slot_read(r->chunks[chunk]->slots + slot * SLOT, out);
	return out->session ? STATUS_OK : err_fail(err, STATUS_NOT_FOUND, "no document %" PRId64, sequence);
}

static enum status each_of_chunk(const struct stmt *st, uint8_t *slots, doc_fn *fn, void *ctx, struct err *err)
{
	int64_t chunk = col_int(st, 0), used = col_int(st, 1);

	if (!copy_slots(col_bytes(st, 2), used, slots))
		return bad_chunk(st->store, chunk, err);
	for (int64_t i = used - 1; i >= 0; i--) {
		struct doc d;
		unsigned code = slot_read(slots + i * SLOT, &d);

		if (d.session && fn(ctx, (chunk * CHUNK + i) << CODE_BITS | code, &d, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status doc_each(struct store *s, doc_fn *fn, void *ctx, struct err *err)
{
	uint8_t slots[CHUNK_BYTES];
	enum step step;
	STMT st = { 0 };

	if (use(s, TEXT_CHUNKS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (each_of_chunk(&st, slots, fn, ctx, err))
			return err_failed(err->status);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status fulltext_each(struct store *s, fulltext_fn *fn, void *ctx, struct err *err)
{
	struct stmt st = { .store = s };
	enum step step = STEP_FAILED;
	int code;

	/* The table of words exists only for this connection. */
	if (db_exec(s, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words USING fts5vocab(main, search, instance)",
		    err))
		return err_failed(err->status);
	code = sqlite3_prepare_v2(s->db, "SELECT term, doc, \"offset\" FROM temp.search_words", -1, &st.st, NULL);
	if (code != SQLITE_OK)
		return db_fail(s, code, "listing the words", err);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (fn(ctx, col_bytes(&st, 0), col_int(&st, 1), col_int(&st, 2), err))
			break;
	sqlite3_finalize(st.st);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status fulltext_beginning(struct store *s, struct str prefix, fulltext_word_fn *fn, void *ctx, struct err *err)
{
	struct stmt st = { .store = s };
	enum step step = STEP_FAILED;
	int code;

	if (db_exec(s, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms USING fts5vocab(main, search, row)", err))
		return err_failed(err->status);
	/* Behind every word that begins so: no byte of UTF-8 is as high. */
	code = sqlite3_prepare_v2(s->db,
				  "SELECT term FROM temp.search_terms WHERE term >= ?1 AND"
				  " term < CAST(CAST(?1 AS BLOB) || x'ff' AS TEXT) ORDER BY doc DESC, term",
				  -1, &st.st, NULL);
	if (code != SQLITE_OK)
		return db_fail(s, code, "listing words", err);
	stmt_text(&st, 1, prefix);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		fn(ctx, col_bytes(&st, 0));
	sqlite3_finalize(st.st);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}
