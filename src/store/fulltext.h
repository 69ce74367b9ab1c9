/*
 * Words of documents: the full-text index, apart from what a query means and how
 * hits are ranked (src/query).
 *
 * A document is the text of one block of a conversation. Only its words are kept,
 * packed by base/words.h; the text itself is in the archive.
 */
#ifndef ARBOR_STORE_FULLTEXT_H
#define ARBOR_STORE_FULLTEXT_H

#include "store/store.h"

struct doc {
	int64_t session;    /* row */
	int64_t offset;	    /* of its line */
	int64_t at;	    /* ms; 0 = unknown. Kept to the second */
	uint32_t words;	    /* how many; 0 = removed */
	uint16_t block;	    /* in its line; DOC_LINE = the line itself */
	uint8_t place;	    /* what kind of text it is: the writer's numbers */
};

enum { DOC_LINE = UINT16_MAX, DOC_CHUNK = 1024 };

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
enum status doc_writer_add(struct doc_writer *w, const struct doc *d, struct str packed, int64_t *id,
			   struct err *err) MUST_USE;
enum status doc_writer_finish(struct doc_writer *w, struct err *err) MUST_USE;
void doc_writer_release(struct doc_writer *w);

/* Takes `count` documents out of the index, from `first` on. */
enum status doc_remove(struct store *s, int64_t first, int64_t count, struct err *err) MUST_USE;

/* What is known of documents, read a chunk at a time and kept: ranking asks for
 * most of them. */
struct doc_reader {
	struct store *store;
	uint8_t **chunks; /* by number; NULL = not read yet */
	size_t count;
};

void doc_reader_release(struct doc_reader *r);

/* STATUS_NOT_FOUND when there is no such document or it was removed. */
enum status doc_get(struct doc_reader *r, int64_t id, struct doc *out, struct err *err) MUST_USE;

/* Teaches a connection the tokenizer of the index. For store_open() alone. */
enum status fulltext_register(struct store *s, struct err *err) MUST_USE;

/* Every word of the index: for comparing stores. In the order of words. */
typedef enum status fulltext_fn(void *ctx, struct str word, int64_t doc, int64_t position, struct err *err);
enum status fulltext_each(struct store *s, fulltext_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
