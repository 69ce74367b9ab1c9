/*
 * Branches of git that lines of a transcript were written on. Changes are rare, so they are all that is kept.
 */
#ifndef ARBOR_STORE_BRANCH_H
#define ARBOR_STORE_BRANCH_H

#include "base/arena.h"
#include "store/store.h"

/* From this line on, until another run begins. */
struct branch_run {
	int64_t offset;
	struct str branch; /* empty = on none */
};

/* Behind those that are there; one that goes on with the last is a part of it. Wants a write transaction. */
enum status branch_add(struct store *s, int64_t session, const struct branch_run *run, struct err *err) MUST_USE;
enum status branch_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

/* Those of a transcript in order, as an array in the arena. */
enum status branch_list(struct store *s, int64_t session, struct arena *mem, struct branch_run **out, size_t *count,
			struct err *err) MUST_USE;

/* Each branch that transcripts were on, those of most transcripts first. Every run is looked at. */
typedef void branch_name_fn(void *ctx, struct str name);
enum status branch_names(struct store *s, branch_name_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
