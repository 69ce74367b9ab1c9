/*
 * What must not come back: tombstones of lines, files, sessions, nodes and trees; and the ids
 * that outlive the bytes they were made of.
 *
 * A line is known by a hash of its bytes and of a key that only this store has: whoever gets
 * hold of tombstones alone cannot try out what the lines might have said. How bytes are
 * overwritten is in store/gap.h, what is purged with what in ingest/purge.h.
 */
#ifndef ARBOR_STORE_TOMBSTONE_H
#define ARBOR_STORE_TOMBSTONE_H

#include "base/arena.h"
#include "base/line_hash.h"
#include "base/map.h"
#include "store/store.h"

/*
 * A number that another one takes the place of whenever something is purged; 0 = nothing ever
 * was. Whoever reads files or the archive, and writes what follows from them later, asks for it
 * before and in the transaction in which it writes: if they differ, what it has read may be
 * what was purged since.
 */
enum status purge_mark(struct store *s, int64_t *out, struct err *err) MUST_USE;
enum status purge_mark_change(struct store *s, struct err *err) MUST_USE; /* wants a write transaction */

/* ---- Lines ------------------------------------------------------------------ */

/* What lines are hashed with here. */
enum status tombstone_salt(struct store *s, struct line_salt *out, struct err *err) MUST_USE;

/* Whether any line must not come back; whether the one with this hash. */
enum status tombstone_any_line(struct store *s, bool *out, struct err *err) MUST_USE;
enum status tombstone_of_line(struct store *s, const uint8_t hash[SHA256_BYTES], bool *out,
			      struct err *err) MUST_USE;

/* ---- Files and sessions ----------------------------------------------------- */

/* Those of one folder; in the arena. */
struct tombstones {
	struct map paths;    /* below the folder */
	struct map sessions; /* their ids, 16 bytes */
};

enum status tombstones_load(struct store *s, int64_t root, struct arena *mem, struct tombstones *out,
			    struct err *err) MUST_USE;
void tombstones_release(struct tombstones *t);

/* ---- Writing: wants a write transaction --------------------------------------- */

enum status tombstone_add_line(struct store *s, const uint8_t hash[SHA256_BYTES], int64_t at,
			       struct err *err) MUST_USE;

/* The path that a source has now: no file there is read any more. */
enum status tombstone_add_source(struct store *s, int64_t source, int64_t at, struct err *err) MUST_USE;

enum tombstone_kind { TOMBSTONE_SESSION, TOMBSTONE_NODE, TOMBSTONE_TREE, TOMBSTONE_KINDS };
enum status tombstone_add(struct store *s, enum tombstone_kind kind, const struct uuid *subject, int64_t at,
			  struct err *err) MUST_USE;

/* The id of a line that is about to go. `uuid` is its own, p NULL = it has none. */
enum status line_id_keep(struct store *s, int64_t generation, int64_t offset, const struct uuid *id,
			 struct str uuid, struct err *err) MUST_USE;

/* ---- Asking for what is gone -------------------------------------------------- */

/* What was purged and has an id from `low` to `high`. */
struct purged {
	struct uuid id;
	bool is_session;
	int64_t at;
};

/* The first of them; *found false = there is none. Looks at every line that was purged. */
enum status purged_find(struct store *s, const struct uuid *low, const struct uuid *high, bool *found,
			struct purged *out, struct err *err) MUST_USE;

/* ---- Being interrupted -------------------------------------------------------- */

/* What a purge still has to do, and for which of them: PURGE_NOTHING when all is done. Whoever has bytes to
 * overwrite has words to take out of the index afterwards, and then pages to wipe. */
enum purge_left { PURGE_NOTHING, PURGE_PAGES, PURGE_WORDS, PURGE_BYTES };
struct purge_state {
	enum purge_left left;
	int64_t number; /* of the purge that was begun last */
};

enum status purge_state_get(struct store *s, struct purge_state *out, struct err *err) MUST_USE;

/* Begins one: all is to do. Wants a write transaction. */
enum status purge_state_begin(struct store *s, struct err *err) MUST_USE;

/* Begins one of which only words and pages are left: rows were deleted. Wants the transaction that did it. */
enum status purge_state_words(struct store *s, struct err *err) MUST_USE;

/* So far it is done, unless another purge was begun since. */
enum status purge_state_done(struct store *s, const struct purge_state *before, enum purge_left left,
			     struct err *err) MUST_USE;

#endif
