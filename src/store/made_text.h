/*
 * Words of nodes that were made, in the index.
 *
 * A node's document is entered in the transaction that makes the node, and taken out in the one that purges
 * it. Of what is archived, by itself or with its tree, the documents stay and are told to who searches, who
 * passes them over.
 */
#ifndef ARBOR_STORE_MADE_TEXT_H
#define ARBOR_STORE_MADE_TEXT_H

#include "base/arena.h"
#include "store/fulltext.h"
#include "store/tree.h"

/* What of a node is searched: its text, or the handle it holds; and behind that what its metadata says. */
void made_text(const struct tree_node *n, struct buf *out);

/* Its words, made before there is a transaction. */
struct made_words {
	struct buf packed;
	size_t count;
};

void made_words_init(struct made_words *w, const struct tree_node *n);
void made_words_release(struct made_words *w);

/* Enters them for the node of this row. Wants a write transaction, as the next two do. */
enum status made_text_enter(struct store *s, int64_t row, const struct tree_node *n,
			    const struct made_words *words, struct err *err) MUST_USE;

/* Takes them out, if they are there. */
enum status made_text_leave(struct store *s, int64_t row, struct err *err) MUST_USE;

/* Says of an index that is empty that the words of all nodes are missing; and enters what is, in transactions
 * of its own, if anything is. Who was killed meanwhile is completed by the next who asks. */
enum status made_text_miss_all(struct store *s, struct err *err) MUST_USE;
enum status made_text_complete(struct store *s, struct err *err) MUST_USE;

/* Documents of what is archived, by sequence, as an array in the arena. Wants a read transaction. */
enum status made_text_archived(struct store *s, struct arena *mem, struct doc_range **out, size_t *count,
			       struct err *err) MUST_USE;

/* The rows of a tree's nodes, by tree id, in runs. Wants a read transaction. */
typedef enum status made_rows_fn(void *ctx, int64_t first, int64_t behind, struct err *err);
enum status made_rows(struct store *s, const struct uuid *tree, made_rows_fn *fn, void *ctx,
		      struct err *err) MUST_USE;

#endif
