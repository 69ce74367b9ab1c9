/*
 * Sources as people see them: listed, and found by what somebody calls them.
 */
#ifndef ARBOR_STORE_FIND_H
#define ARBOR_STORE_FIND_H

#include "store/source.h"

struct source_info {
	int64_t row;
	struct uuid id;
	struct str host, root, key, path;
	int64_t generation;      /* row of the newest, 0 = none */
	int64_t generations;     /* how many */
	int64_t bytes;           /* of the newest */
	struct line_count lines; /* of the newest */
	int64_t first_at;
	int64_t vanished_at;     /* 0 = still there */
	bool former;             /* found by a path it no longer has */
	bool complete;           /* the newest generation was once read to the end */
	bool purged;		 /* it has a tombstone */
};

typedef enum status source_fn(void *ctx, const struct source_info *info, struct err *err);

/* Every source, by host, root and key. Slices are valid during the call. */
enum status source_each(struct store *s, source_fn *fn, void *ctx, struct err *err) MUST_USE;

/* The same for those whose path begins with `prefix` (not empty, ASCII), by path, without what was purged;
 * their number alone decides how long it takes. */
enum status source_each_below(struct store *s, struct str prefix, source_fn *fn, void *ctx,
			      struct err *err) MUST_USE;

/* The folders mirrored from this host, in the order they were added. */
typedef enum status root_fn(void *ctx, struct str label, struct str dir, struct err *err);
enum status root_each(struct store *s, root_fn *fn, void *ctx, struct err *err) MUST_USE;

/*
 * What somebody means by `name`: a path below a root, ROOT:PATH, an absolute
 * path, a source id or a session id (the file's name without .jsonl) or the
 * unique beginning of one (four characters or more), a path a source had before,
 * a file's name without its folders; the first way that finds anything decides. STATUS_AMBIGUOUS lists
 * candidates in the error, a line each, their paths already made safe to show.
 */
enum status source_find(struct store *s, struct str name, struct arena *mem, struct source_info *out,
			struct err *err) MUST_USE;

/* The source with this id. Texts are in the arena. */
enum status source_get(struct store *s, const struct uuid *id, struct arena *mem, struct source_info *out,
		       struct err *err) MUST_USE;

/* Sources whose ids begin so, with four digits or more. Slices are valid during the call. */
enum status source_search(struct store *s, struct str prefix, source_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Whether another source than `but` has an id that begins so. */
enum status source_begins(struct store *s, struct str prefix, const struct uuid *but, bool *out,
			  struct err *err) MUST_USE;

#endif
