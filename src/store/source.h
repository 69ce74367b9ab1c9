/*
 * Roots, sources and their generations: what is mirrored, and in which versions
 * it was seen. Bytes are in archive.h.
 *
 * Functions that write want an open transaction (txn_begin). They answer
 * STATUS_CONFLICT when another program got there first; the caller then looks
 * again and starts over.
 */
#ifndef ARBOR_STORE_SOURCE_H
#define ARBOR_STORE_SOURCE_H

#include "base/arena.h"
#include "base/file.h"
#include "base/lines.h"
#include "store/store.h"

struct root {
	int64_t row;
	char label[LIMIT_LABEL + 1];
};

/*
 * The root of folder `dir` (absolute, links resolved) on this host; STATUS_NOT_FOUND
 * when it has not been mirrored yet, STATUS_USAGE when it is known by another label than
 * the one given, or that is none. Reads only.
 */
enum status root_find(struct store *s, const char *dir, struct str label, struct root *out, struct err *err) MUST_USE;

/*
 * The same, but a new one is added. Without a label it gets the first free of claude,
 * claude-2, ...; STATUS_CONFLICT when another folder has the one given.
 */
enum status root_use(struct store *s, const char *dir, struct str label, struct root *out, struct err *err) MUST_USE;

/* What that would give, without writing anything; row 0 = it would be added. `s` NULL = there
 * is no store yet. */
enum status root_foresee(struct store *s, const char *dir, struct str label, struct root *out,
			 struct err *err) MUST_USE;

/* A label, and with it all its sources, goes from folder `from` to one that is not known:
 * how a moved folder keeps them. STATUS_CONFLICT when another program was faster. */
enum status root_move(struct store *s, struct str label, struct str from, const char *dir, struct err *err) MUST_USE;

/* The root, of no folder, of what clients printed and wrote into no file. Nobody can name a folder so. Wants a
 * write transaction. */
#define ROOT_OUTPUT ".output"
enum status root_of_output(struct store *s, struct root *out, struct err *err) MUST_USE;

/* The folder of a label, empty when there is no such label. */
enum status root_dir(struct store *s, struct str label, struct buf *out, struct err *err) MUST_USE;

/* Notes that a sync has changed something below this root. */
enum status root_synced(struct store *s, int64_t root, struct err *err) MUST_USE;

/* A source as a sync needs it. */
struct source {
	int64_t row;
	struct str path;         /* in the arena given */
	int64_t generation;      /* newest, 0 = none yet */
	bool vanished;
	bool complete;           /* its newest generation was once read to the end */
	bool settled;            /* times can be trusted: compare `st` alone */
	struct file_stat st;     /* as last read to the end; zero when never */
	int64_t head_length;
	uint64_t head_hash;
	int64_t rev;             /* when it was last written */
};

/* All sources of a root, as an array in the arena. */
enum status source_load(struct store *s, int64_t root, struct arena *mem, struct source **out, size_t *count,
			struct err *err) MUST_USE;

/* The one at a path, if there is; those last seen with an inode, gone ones included. The
 * latter looks at all sources of the root. Their texts are in the arena. */
enum status source_load_path(struct store *s, int64_t root, struct str path, struct arena *mem,
			     void (*take)(void *ctx, const struct source *s), void *ctx, struct err *err) MUST_USE;
enum status source_load_inode(struct store *s, int64_t root, int64_t inode, struct arena *mem,
			      void (*take)(void *ctx, const struct source *s), void *ctx, struct err *err) MUST_USE;

/* A new source at `path`. */
enum status source_add(struct store *s, int64_t root, struct str path, int64_t *row, struct err *err) MUST_USE;

/* Same file, new name; the old name is remembered. */
enum status source_rename(struct store *s, int64_t row, struct str old_path, struct str new_path,
			  struct err *err) MUST_USE;

/* STATUS_CONFLICT when it has another path by now. What is read of a source depends on how it
 * is called, and a file that was opened by its path may be another one since. */
enum status source_expect(struct store *s, int64_t row, struct str path, struct err *err) MUST_USE;

/* Not found any more. Nothing happens, and *done is false, if anything of it has
 * changed since it was loaded: who changed it has seen it. */
enum status source_vanish(struct store *s, const struct source *source, bool *done, struct err *err) MUST_USE;

/* The file was read to its end, which is the first `length` bytes of a generation, and
 * looked like `st`. `settled` false makes the next sync compare bytes whatever the times
 * say. Also ends "vanished". STATUS_CONFLICT when there is a newer generation, or more of
 * this one: it may be that somebody has seen a later file, or one that was longer before. */
struct source_seen {
	struct file_stat st;
	bool settled;
	int64_t head_length;
	uint64_t head_hash;
};
enum status source_saw(struct store *s, int64_t row, int64_t generation, int64_t length,
		       const struct source_seen *seen, struct err *err) MUST_USE;

/* Bytes were overwritten (store/gap.h): what a renamed file must begin with is other than it was. */
enum status source_head_again(struct store *s, int64_t row, uint64_t hash, struct err *err) MUST_USE;

/* What that is: the first bytes of the newest generation; length 0 = unknown. */
enum status source_head(struct store *s, int64_t row, int64_t *generation, int64_t *length,
			struct err *err) MUST_USE;

/*
 * A new generation of a source, whose first `shared` bytes are those of
 * generation `base` (0 = none). `expected` is the generation it replaces as the
 * newest (0 = none).
 */
enum status generation_add(struct store *s, int64_t source, int64_t expected, int64_t base, int64_t shared,
			   int64_t *row, struct err *err) MUST_USE;

struct generation {
	int64_t row;
	int64_t number;
	int64_t base;            /* row, 0 = none */
	int64_t base_number;
	int64_t shared;
	int64_t length;
	int64_t started_at;      /* first seen by a sync */
	int64_t mtime_ms;        /* the file's own date then; 0 = never read to its end */
};
enum status generation_get(struct store *s, int64_t row, struct generation *out, struct err *err) MUST_USE;

/* Derived line counts, of the newest generation of each source only. *known is
 * false when there are none: the bytes could not be read when they were counted. */
enum status generation_lines(struct store *s, int64_t row, struct line_count *out, bool *known,
			     struct err *err) MUST_USE;

/* Also forgets those of `replaced`, the generation before (0 = none). */
enum status generation_set_lines(struct store *s, int64_t row, int64_t replaced, const struct line_count *c,
				 struct err *err) MUST_USE;

/* One generation by its number, 0 = the newest; STATUS_NOT_FOUND says which exist. */
enum status generation_pick(struct store *s, int64_t source, uint64_t number, struct generation *out,
			    struct err *err) MUST_USE;

/* Generations of a source in order, as an array in the arena. */
enum status generation_list(struct store *s, int64_t source, struct arena *mem, struct generation **out,
			    size_t *count, struct err *err) MUST_USE;

#endif
