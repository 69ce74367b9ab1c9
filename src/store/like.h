/*
 * Blocks that say nearly what others say: those of forks and of conversations that were gone on with in another file.
 */
#ifndef ARBOR_STORE_LIKE_H
#define ARBOR_STORE_LIKE_H

#include "store/archive.h"

/* ---- Finding ---- */

/* Copies have the same lines at their beginnings, give or take a few: the first uuids that lines of one say are
 * their own. */
enum { LIKE_FIRST = 4 };
size_t like_first_uuids(struct str head, struct uuid out[LIKE_FIRST]);

/* Whether bytes from the beginning of a transcript are those of one that is archived. */
enum status like_is_known(struct store *s, struct str head, bool *out, struct err *err) MUST_USE;

/* What a block can be packed against. */
struct likeness {
	struct archive_base bases[ARCHIVE_BASES];
	size_t count;
	struct buf bytes; /* of all of them */
};

#define LIKENESS_INIT { .bytes = BUF_INIT(ARCHIVE_BASES * LIMIT_BLOCK_MAX) }
void likeness_release(struct likeness *l);

/* For whole lines; count is 0 when there is nothing. */
enum status like_find(struct store *s, struct str raw, struct likeness *out, struct err *err) MUST_USE;

/* ---- Stored ---- All but the first want a write transaction. */

/* The blocks that were referred to last, unpacked, and those of one block together: copies of one conversation refer to
 * the same. */
struct like_cache;
void like_cache_free(struct like_cache *c); /* NULL is fine */

/* The bytes that a block refers to; they stay until it is asked for others. */
enum status like_bytes(struct store *s, int64_t data, struct str *out, struct err *err) MUST_USE;

/* What a new block refers to; STATUS_CONFLICT when that is not what it was packed against any more. */
enum status like_note(struct store *s, int64_t data, const struct archive_new *b, struct err *err) MUST_USE;

/* It refers to nothing any more. */
enum status like_forget(struct store *s, int64_t data, struct err *err) MUST_USE;

/* Before its bytes change: whoever refers to a block gets bytes of its own. */
enum status like_part(struct store *s, int64_t data, struct err *err) MUST_USE;

#endif
