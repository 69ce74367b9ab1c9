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
 * The table is contentless; FTS5 knows documents by number only. What ranking and
 * filters ask of a document is in slots of fixed size, 1024 in a row
 * (sql/derived.sql has their layout): one read serves a thousand hits.
 *
 * Invariants
 *   (1) A document's number is its chunk * 1024 + slot, never used again.
 *   (2) Only the last chunk has free slots.
 */
#include "store/fulltext.h"

#include "store/db.h"

#include <string.h>

enum { SLOT = 24, CHUNK_BYTES = DOC_CHUNK * SLOT, PLACE_REMOVED = 255 };

enum {
	TEXT_ADD,
	TEXT_REMOVE,
	TEXT_LAST_CHUNK,
	TEXT_CHUNK,
	TEXT_SET_CHUNK,
	TEXT_STATEMENTS
};

static const char *const sql[TEXT_STATEMENTS] = {
	[TEXT_ADD] = "INSERT INTO search(rowid, text) VALUES (?1, ?2)",
	[TEXT_REMOVE] = "DELETE FROM search WHERE rowid = ?1",
	[TEXT_LAST_CHUNK] = "SELECT id, used, slots FROM doc_chunk ORDER BY id DESC LIMIT 1",
	[TEXT_CHUNK] = "SELECT used, slots FROM doc_chunk WHERE id = ?1",
	[TEXT_SET_CHUNK] = "INSERT INTO doc_chunk(id, used, slots) VALUES (?1, ?2, ?3)"
			   " ON CONFLICT(id) DO UPDATE SET used = excluded.used, slots = excluded.slots",
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

/* ---- Slots ----------------------------------------------------------------- */

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

static void slot_write(uint8_t *slot, const struct doc *d)
{
	int64_t seconds = d->at / 1000;

	put_number(slot, 4, (uint64_t)d->session);
	put_number(slot + 4, 4, d->words);
	put_number(slot + 8, 8, (uint64_t)d->offset);
	put_number(slot + 16, 4, seconds < 0 ? 0 : seconds > UINT32_MAX ? UINT32_MAX : (uint64_t)seconds);
	put_number(slot + 20, 2, d->block);
	slot[22] = d->place;
	slot[23] = 0;
}

static void slot_read(const uint8_t *slot, struct doc *d)
{
	*d = (struct doc){
		.session = (int64_t)get_number(slot, 4),
		.words = (uint32_t)get_number(slot + 4, 4),
		.offset = (int64_t)get_number(slot + 8, 8),
		.at = (int64_t)get_number(slot + 16, 4) * 1000,
		.block = (uint16_t)get_number(slot + 20, 2),
		.place = slot[22],
	};
}

static enum status bad_chunk(struct store *s, int64_t chunk, struct err *err)
{
	return err_fail(err, STATUS_CORRUPT, "%s: documents from %" PRId64 " on are damaged; 'arbor rebuild' makes them anew",
			s->path, chunk * DOC_CHUNK);
}

/* Copies a row's slots; what is not used yet stays zero. */
static bool copy_slots(struct str bytes, int64_t used, uint8_t *to)
{
	if (used < 0 || used > DOC_CHUNK || bytes.n != (size_t)used * SLOT)
		return false;
	if (bytes.n)
		memcpy(to, bytes.p, bytes.n);
	return true;
}

/* ---- Writing --------------------------------------------------------------- */

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
		return STATUS_OK; /* slot 0 stays empty: no document has the number 0 */
	w->chunk = col_int(&st, 0);
	w->used = (size_t)col_int(&st, 1);
	return copy_slots(col_bytes(&st, 2), col_int(&st, 1), w->slots) ? STATUS_OK : bad_chunk(s, w->chunk, err);
}

static enum status set_chunk(struct store *s, int64_t chunk, const uint8_t *slots, size_t used, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEXT_SET_CHUNK, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, chunk);
	stmt_int(&st, 2, (int64_t)used);
	stmt_blob(&st, 3, slots, used * SLOT);
	return stmt_run(&st, err);
}

enum status doc_writer_finish(struct doc_writer *w, struct err *err)
{
	if (!w->dirty)
		return STATUS_OK;
	w->dirty = false;
	return set_chunk(w->store, w->chunk, w->slots, w->used, err);
}

enum status doc_writer_add(struct doc_writer *w, const struct doc *d, struct str packed, int64_t *id, struct err *err)
{
	STMT st = { 0 };

	if (w->used == DOC_CHUNK) {
		if (doc_writer_finish(w, err))
			return err_failed(err->status);
		w->chunk++;
		w->used = 0;
		memset(w->slots, 0, CHUNK_BYTES);
	}
	*id = w->chunk * DOC_CHUNK + (int64_t)w->used;
	slot_write(w->slots + w->used++ * SLOT, d);
	w->dirty = true;
	if (use(w->store, TEXT_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, *id);
	stmt_text(&st, 2, packed);
	return stmt_run(&st, err);
}

void doc_writer_release(struct doc_writer *w)
{
	mem_free(w->slots);
	w->slots = NULL;
}

static enum status remove_words(struct store *s, int64_t id, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TEXT_REMOVE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, id);
	return stmt_run(&st, err);
}

/* Marks the slots [from, to) of a chunk as removed. */
static enum status empty_slots(struct store *s, int64_t chunk, size_t from, size_t to, struct err *err)
{
	uint8_t slots[CHUNK_BYTES];
	STMT st = { 0 };
	int64_t used;

	if (use(s, TEXT_CHUNK, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, chunk);
	if (stmt_row(&st, "a chunk of documents", err))
		return err_failed(err->status);
	used = col_int(&st, 0);
	if (!copy_slots(col_bytes(&st, 1), used, slots))
		return bad_chunk(s, chunk, err);
	for (size_t i = from; i < to; i++)
		slot_write(slots + i * SLOT, &(struct doc){ .place = PLACE_REMOVED });
	return set_chunk(s, chunk, slots, (size_t)used, err);
}

enum status doc_remove(struct store *s, int64_t first, int64_t count, struct err *err)
{
	int64_t end = first + count;

	for (int64_t id = first; id < end; id++)
		if (remove_words(s, id, err))
			return err_failed(err->status);
	for (int64_t at = first; at < end;) {
		int64_t chunk = at / DOC_CHUNK, from = at % DOC_CHUNK;
		int64_t to = end - chunk * DOC_CHUNK < DOC_CHUNK ? end - chunk * DOC_CHUNK : DOC_CHUNK;

		if (empty_slots(s, chunk, (size_t)from, (size_t)to, err))
			return err_failed(err->status);
		at = (chunk + 1) * DOC_CHUNK;
	}
	return STATUS_OK;
}

/* ---- Reading --------------------------------------------------------------- */

void doc_reader_release(struct doc_reader *r)
{
	for (size_t i = 0; i < r->count; i++)
		mem_free(r->chunks[i]);
	mem_free(r->chunks);
	*r = (struct doc_reader){ 0 };
}

static enum status load_chunk(struct doc_reader *r, size_t chunk, struct err *err)
{
	STMT st = { 0 };
	uint8_t *slots;

	if (use(r->store, TEXT_CHUNK, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, (int64_t)chunk);
	if (stmt_row(&st, "a chunk of documents", err))
		return err_failed(err->status);
	if (chunk >= r->count) {
		r->chunks = mem_resize(r->chunks, (chunk + 1) * sizeof *r->chunks);
		memset(r->chunks + r->count, 0, (chunk + 1 - r->count) * sizeof *r->chunks);
		r->count = chunk + 1;
	}
	slots = mem_alloc(CHUNK_BYTES);
	r->chunks[chunk] = slots;
	if (!copy_slots(col_bytes(&st, 1), col_int(&st, 0), slots))
		return bad_chunk(r->store, (int64_t)chunk, err);
	return STATUS_OK;
}

enum status doc_get(struct doc_reader *r, int64_t id, struct doc *out, struct err *err)
{
	size_t chunk = (size_t)id / DOC_CHUNK;

	if (id <= 0)
		return err_fail(err, STATUS_NOT_FOUND, "no document %" PRId64, id);
	if ((chunk >= r->count || !r->chunks[chunk]) && load_chunk(r, chunk, err))
		return err_failed(err->status);
	slot_read(r->chunks[chunk] + (size_t)id % DOC_CHUNK * SLOT, out);
	return out->words ? STATUS_OK : err_fail(err, STATUS_NOT_FOUND, "no document %" PRId64, id);
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
