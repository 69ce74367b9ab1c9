/*
 * The archive: bytes of generations, addressed by (generation, offset, length).
 */
#ifndef ARBOR_STORE_ARCHIVE_H
#define ARBOR_STORE_ARCHIVE_H

#include "store/source.h"

/* Hands over bytes in order, at most a block at a time. */
typedef enum status archive_sink(void *ctx, struct str bytes, struct err *err);

/* Reads [offset, offset + length) of a generation. A range that goes beyond the
 * generation is STATUS_USAGE; bytes that are damaged are STATUS_CORRUPT. Wants to
 * be inside a read or write transaction when others may write. */
enum status archive_read(struct store *s, int64_t generation, int64_t offset, int64_t length, archive_sink *sink,
			 void *ctx, struct err *err) MUST_USE;

/* Part of a stored block that belongs to a generation. */
struct archive_block {
	int64_t offset;    /* of its first used byte, in the generation asked for */
	int64_t length;    /* used bytes */
	int64_t skip;      /* bytes of the stored block before the used part */
	int64_t stored;    /* bytes of the stored block */
	uint64_t hash;     /* of the stored block: of the used part when that is all */
	int64_t data;      /* its row in block_data */
};

/* Bytes [from, to) of a generation that are stored in blocks of `owner`: itself, or one of those it
 * shares its beginning with. */
struct archive_extent {
	int64_t owner, from, to;
};

typedef enum status archive_extent_fn(void *ctx, const struct archive_extent *x, struct err *err);

/* Who stores the bytes [offset, offset + length), in order. */
enum status archive_extents(struct store *s, int64_t generation, int64_t offset, int64_t length,
			    archive_extent_fn *fn, void *ctx, struct err *err) MUST_USE;

/* *go_on, true at first, ends the iteration when the function sets it false. */
typedef enum status archive_block_fn(void *ctx, const struct archive_block *b, bool *go_on, struct err *err);

/* The blocks that cover [offset, offset + length), in order, bytes untouched. */
enum status archive_blocks(struct store *s, int64_t generation, int64_t offset, int64_t length,
			   archive_block_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Appends the used part of a block to `out`, after checking the stored hash. */
enum status archive_unpack(struct store *s, const struct archive_block *b, struct buf *out, struct err *err) MUST_USE;

/* The same for showing: of the block only what is needed is unpacked, and nothing is
 * checked but that it can be. */
enum status archive_peek(struct store *s, const struct archive_block *b, struct buf *out, struct err *err) MUST_USE;

/* Says that a block is going to be asked for: another thread may unpack it meanwhile. Only a hint;
 * what is wrong with a block is told when it is asked for. */
void archive_ahead(struct store *s, const struct archive_block *b);

/* The last block that is the generation's own; STATUS_NOT_FOUND when it has none. */
enum status archive_last(struct store *s, int64_t generation, struct archive_block *out, struct err *err) MUST_USE;

/* A stored block that another refers to (store/like.h). */
struct archive_base {
	int64_t data;	     /* its row */
	uint64_t hash;	     /* of its bytes: who has changed them meanwhile is found out */
};
enum { ARCHIVE_BASES = 4 };

/* A block ready to be stored. */
struct archive_new {
	int64_t offset;
	int64_t length;      /* unpacked */
	uint64_t hash;       /* of the unpacked bytes */
	struct str packed;
	struct archive_base bases[ARCHIVE_BASES]; /* that it was packed against */
	size_t base_count;   /* with any, wants that STORE_BASES was reached */
};

/* The bytes of a block that cannot be unpacked any more, from somewhere else. */
struct archive_repair {
	int64_t data;        /* row in block_data */
	uint64_t hash;       /* of the unpacked bytes, which must be the block's */
	struct str packed;
};
enum status archive_repair(struct store *s, const struct archive_repair *r, struct err *err) MUST_USE;

/* Other bytes, as many as before, for a block that is the generation's own. Wants a write
 * transaction. */
enum status archive_replace(struct store *s, int64_t generation, const struct archive_new *b,
			    struct err *err) MUST_USE;

/* From now on a generation shares only its first `shared` bytes with its base. What it shared behind
 * them must be its own by then, block after block. Both want a write transaction. */
enum status archive_insert(struct store *s, int64_t generation, const struct archive_new *b,
			   struct err *err) MUST_USE;
enum status archive_unshare(struct store *s, int64_t generation, int64_t shared, struct err *err) MUST_USE;

/*
 * Adds blocks behind the `expected` bytes a generation has. The first one may
 * begin at the offset of the last block, which it then replaces. Wants a write
 * transaction; STATUS_CONFLICT when the generation is no longer the newest or
 * no longer has `expected` bytes, or when what a block refers to has changed.
 */
enum status archive_append(struct store *s, int64_t generation, int64_t expected, const struct archive_new *blocks,
			   size_t count, struct err *err) MUST_USE;

#endif
