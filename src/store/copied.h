/*
 * Documents of lines that stand more than once: in files that were forked or resumed, or twice in one. Of those that
 * say the same one counts; the others are noted here, so that a search passes them over.
 *
 * Mostly they have the same words as well. These are in the index once, with the one that counts. Whoever wants to
 * know of copies, too, finds theirs through it.
 */
#ifndef ARBOR_STORE_COPIED_H
#define ARBOR_STORE_COPIED_H

#include "base/arena.h"
#include "store/fulltext.h"

/* A line that stands elsewhere, too. */
struct copied_line {
	int64_t key; /* of its id: all lines with it are in node_key */
	int64_t session, offset;
};

/* Notes a line as a copy, if another that says the same counts. *dropped: its words have left the index. Wants a write
 * transaction, during which the reader was begun. */
enum status copied_note(struct store *s, struct doc_reader *docs, const struct copied_line *line, bool *dropped,
			struct err *err) MUST_USE;

/*
 * Of a line that is about to be written: the first document of one that counts, if it has this key, this content and as
 * many documents; 0 = none does. Whether these have the same words is to be seen with copied_is_same() for each. If so,
 * they are noted with copied_add() once they are written.
 */
enum status copied_find(struct store *s, int64_t key, uint64_t content, size_t docs, int64_t *out,
			struct err *err) MUST_USE;
enum status copied_is_same(struct doc_reader *docs, struct doc_mark mark, int64_t original, bool *out,
			   struct err *err) MUST_USE;
enum status copied_add(struct store *s, int64_t session, const struct doc_range *docs, int64_t original,
		       struct err *err) MUST_USE;

/* Before a line loses its key: if it counts and none has its words, another that says the same counts from then on.
 * Wants a write transaction. */
enum status copied_leave(struct store *s, const struct copied_line *line, struct err *err) MUST_USE;

/* Behind that, for all lines of a session, before its documents are removed. */
enum status copied_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

/* As doc_remove(), for documents of lines: what copies have of their words goes over to these. */
enum status copied_remove(struct store *s, int64_t first, int64_t count, struct err *err) MUST_USE;

/* Whether there are any. */
enum status copied_any(struct store *s, bool *out, struct err *err) MUST_USE;

/* Whether some transcripts are kin, and none of their lines is known here: so what one has of the other has ids of its
 * own. */
enum status copied_renamed(struct store *s, bool *out, struct err *err) MUST_USE;

/* All of them, or those that have words of their own and so can match, by sequence, as an array in the arena. */
enum status copied_load(struct store *s, bool all, struct arena *mem, struct doc_range **out, size_t *count,
			struct err *err) MUST_USE;

/* Those that have their words elsewhere, by where that is. */
struct copied_run {
	int64_t first, count; /* sequences */
	int64_t original;     /* the sequence of the first of as many that have the words */
};
enum status copied_runs(struct store *s, struct arena *mem, struct copied_run **out, size_t *count,
			struct err *err) MUST_USE;

/* Of lines that say the same as one, as documents with the same block: the one that counts, and those that stand
 * before it by session and offset. */
typedef enum status copied_fn(void *ctx, const struct doc *doc, bool *go_on, struct err *err);
enum status copied_before(struct store *s, struct doc_reader *docs, int64_t sequence, const struct doc *doc,
			  copied_fn *fn, void *ctx, bool *to_the_end, struct err *err) MUST_USE;

#endif
