/*
 * Packing the bytes of one archive block. Needs no database: threads that
 * prepare blocks have a packer each.
 */
#ifndef ARBOR_STORE_PACK_H
#define ARBOR_STORE_PACK_H

#include "base/buf.h"
#include "base/err.h"

enum {
	PACK_CODEC_ZSTD = 1, /* one zstd frame */
	PACK_CODEC_LIKE = 2, /* one zstd frame that refers to other bytes, as 'zstd --patch-from' makes it */
};

struct packer;

struct packer *packer_new(void);
void packer_free(struct packer *p); /* NULL is fine */

/* Appends the packed form of `raw` to `out`. */
enum status packer_pack(struct packer *p, struct str raw, struct buf *out, struct err *err) MUST_USE;

/* The same with PACK_CODEC_LIKE: what `raw` has in common with `other` takes next to no room. */
enum status packer_pack_like(struct packer *p, struct str raw, struct str other, struct buf *out,
			     struct err *err) MUST_USE;

/* What was packed, and how. */
struct packed {
	int codec;
	struct str bytes;
	struct str other; /* of PACK_CODEC_LIKE: what it refers to */
	size_t length;	  /* unpacked */
};

/* Appends exactly its length in bytes, with this hash64(), to `out`, or fails with STATUS_CORRUPT. */
enum status packer_unpack(struct packer *p, const struct packed *what, uint64_t hash, struct buf *out,
			  struct err *err) MUST_USE;

/* The same for the first `wanted` bytes of them; what comes behind is not unpacked,
 * and so no hash is compared. */
enum status packer_unpack_front(struct packer *p, const struct packed *what, size_t wanted, struct buf *out,
				struct err *err) MUST_USE;

/*
 * Where to end a block: given bytes from the start of a block, how many belong
 * to it; 0 = all of them so far, and more may be added.
 *
 * Depends only on the bytes and not on how they arrived, so a file gives the
 * same blocks however often it is synced while it grows. Blocks end behind a
 * line feed unless one line is longer than LIMIT_BLOCK_MAX.
 */
size_t pack_cut(struct str bytes);

#endif
