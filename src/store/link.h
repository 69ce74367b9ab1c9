/*
 * What transcripts name outside of themselves (claude/mention.h), each name once for each
 * transcript: filled while they are read, asked by whoever looks for what belongs together.
 */
#ifndef ARBOR_STORE_LINK_H
#define ARBOR_STORE_LINK_H

#include "base/arena.h"
#include "store/store.h"

struct link {
	int kind; /* enum mention_kind */
	struct str name;
	int64_t offset; /* of the first line that names it */
	int64_t times;	/* lines that do */
};

/* What names are compared by. */
int64_t link_key(int kind, struct str name);

/* Further lines of a transcript name it. `is_new`: nothing did before. Wants a write
 * transaction. */
enum status link_add(struct store *s, int64_t session, const struct link *l, bool is_new,
		     struct err *err) MUST_USE;
enum status link_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

/* Those of a transcript, by kind and name. Slices are valid during the call. */
typedef enum status link_fn(void *ctx, const struct link *l, struct err *err);
enum status link_each(struct store *s, int64_t session, link_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
