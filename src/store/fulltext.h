/*
 * Words of documents: the full-text index, apart from what a query means and how
 * hits are ranked (src/query).
 *
 * A document is the text of one block of a conversation. Only its words are kept,
 * packed by base/words.h; the text itself is in the archive.
 */
#ifndef ARBOR_STORE_FULLTEXT_H
#define ARBOR_STORE_FULLTEXT_H

#include "base/arena.h"
#include "store/store.h"

/* What the number of a document says of it: ranking looks nothing up. */
struct doc_rank {
	uint8_t place; /* what kind of text it is: the writer's numbers, 0..7 */
	double words;  /* how many, about */
};
enum { DOC_CODES = 128, DOC_CHUNK = 128 };
struct doc_rank doc_rank(int64_t id); /* all of it in doc_code(), which can stand for the id here */
static inline unsigned doc_code(int64_t id)
{
	return (unsigned)id % DOC_CODES;
}
static inline int64_t doc_sequence(int64_t id)
{
	return (int64_t)((uint64_t)id / DOC_CODES); /* no number is below 0 */
}
/* The row of slots it is in: for its day. */
static inline size_t doc_chunk_of(int64_t id)
{
	return (size_t)doc_sequence(id) / DOC_CHUNK;
}

/* What is known of it besides. */
struct doc {
	int64_t session; /* row; 0 = removed */
	int64_t offset;	 /* of its line */
	int64_t at;	 /* ms; 0 = unknown */
	uint16_t block;	 /* in its line; DOC_LINE = the line itself */
	uint32_t sum;	 /* stands for its words, marks included; doc_writer_add() sets it */
};

enum { DOC_LINE = UINT16_MAX };

/* Lines further back in their file are not found: 256 GB. */
enum { DOC_OFFSET_BITS = 38 };
#define DOC_OFFSET_MOST ((INT64_C(1) << DOC_OFFSET_BITS) - 1)

/* The session of documents that belong to none: notes, whose offset is their row (store/annotation.h). */
#define DOC_NOTES ((int64_t)UINT32_MAX)

/* So too texts of files beside the conversations; the offset is their row (store/paper.h). */
#define DOC_PAPERS (DOC_NOTES - 1)

/* And nodes that were made; the offset is their row (store/made_text.h). Rows of sessions are below this. */
#define DOC_NODES (DOC_NOTES - 2)

/* Documents that follow each other. */
struct doc_range {
	int64_t first, count; /* sequences */
};

/* Appends one to those that are in the arena. One that goes on where the last ends is a part of that. */
struct arena;
void doc_range_add(struct arena *mem, struct doc_range **list, size_t *count, size_t *cap, struct doc_range one);

/* Adds documents one after the other and writes their slots at the end: begin, add
 * ..., finish, all inside one write transaction. */
struct doc_writer {
	struct store *store;
	int64_t chunk;
	size_t used;
	bool dirty;
	uint8_t *slots;
};

enum status doc_writer_begin(struct doc_writer *w, struct store *s, struct err *err) MUST_USE;

/* *sequence counts up by one from document to document. */
enum status doc_writer_add(struct doc_writer *w, const struct doc *d, uint8_t place, size_t words, struct str packed,
			   int64_t *sequence, struct err *err) MUST_USE;

/* What two documents with the same words have in common, and hardly any others. */
struct doc_mark {
	unsigned code; /* doc_code() */
	uint32_t sum;
};
struct doc_mark doc_mark(uint8_t place, size_t words, struct str packed);

/* One that has its words elsewhere (store/copied.h). */
enum status doc_writer_add_copy(struct doc_writer *w, const struct doc *d, struct doc_mark mark, int64_t *sequence,
				struct err *err) MUST_USE;

/* The sequence that the next one gets. */
int64_t doc_writer_next(const struct doc_writer *w);
enum status doc_writer_finish(struct doc_writer *w, struct err *err) MUST_USE;
void doc_writer_release(struct doc_writer *w);

/* Takes `count` documents out of the index, from sequence `first` on. */
enum status doc_remove(struct store *s, int64_t first, int64_t count, struct err *err) MUST_USE;

/* Its words alone, by its number. It stays, and has the words of another from then on (store/copied.h). */
enum status doc_drop_words(struct store *s, int64_t id, struct err *err) MUST_USE;

/*
 * What documents from sequence `from` on stand for goes to those from `to` on, which have the same words and keep
 * them; the former are gone. `fn` gets each with its new sequence.
 */
typedef enum status doc_moved_fn(void *ctx, int64_t sequence, const struct doc *doc, struct err *err);
enum status doc_move(struct store *s, int64_t from, int64_t to, int64_t count, doc_moved_fn *fn, void *ctx,
		     struct err *err) MUST_USE;

/* This or copied_remove() for each row of a statement: the sequence of a first document, and how many. */
struct stmt;
typedef enum status doc_remove_fn(struct store *s, int64_t first, int64_t count, struct err *err);
enum status doc_remove_each(struct stmt *st, doc_remove_fn *remove, struct err *err) MUST_USE;

/* The rows of such a statement, as an array in the arena. */
enum status doc_ranges(struct stmt *st, struct arena *mem, struct doc_range **out, size_t *count,
		       struct err *err) MUST_USE;

/* The sequence of the first document that has a word, which may be a mark; 0 = none has. */
enum status doc_with_word(struct store *s, struct str word, int64_t *sequence, struct err *err) MUST_USE;

/* Each transaction that adds documents makes a segment of the index. Merges some of them, if
 * there are many, in a transaction of its own. *more: there may be more to do. */
enum status fulltext_merge(struct store *s, bool *more, struct err *err) MUST_USE;

/* Begins to merge all of them, however few: fulltext_merge() goes on with it. */
enum status fulltext_merge_all(struct store *s, struct err *err) MUST_USE;

/* Documents, read a chunk at a time and kept. */
struct doc_reader {
	struct store *store;
	struct doc_chunk **chunks; /* by number; NULL = not read yet */
	size_t count;
	int32_t *days; /* by chunk: since 1970, around which its documents were written; 0 = unknown */
	size_t day_count;
};

void doc_reader_release(struct doc_reader *r);

/* By sequence, and the number that goes with it. STATUS_NOT_FOUND when there is no such
 * document or it was removed. */
enum status doc_get(struct doc_reader *r, int64_t sequence, struct doc *out, int64_t *id, struct err *err) MUST_USE;

/* Every document that is there, the last added first; nothing of it is kept. */
typedef enum status doc_fn(void *ctx, int64_t id, const struct doc *doc, struct err *err);
enum status doc_each(struct store *s, doc_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Reads the days. */
enum status doc_days(struct doc_reader *r, struct err *err) MUST_USE;

/* Teaches a connection the tokenizer of the index. For store_open() alone. */
enum status fulltext_register(struct store *s, struct err *err) MUST_USE;

/* Every word of the index: for comparing stores. In the order of words. */
typedef enum status fulltext_fn(void *ctx, struct str word, int64_t doc, int64_t position, struct err *err);
enum status fulltext_each(struct store *s, fulltext_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Each word of the index that begins so, those in most documents first. Their lists are read whole. */
typedef void fulltext_word_fn(void *ctx, struct str word);
enum status fulltext_beginning(struct store *s, struct str prefix, fulltext_word_fn *fn, void *ctx,
			       struct err *err) MUST_USE;

#endif
