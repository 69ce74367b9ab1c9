/*
 * Blocks are single zstd frames with content size. Whoever has one has the hash of its bytes as well, so
 * a checksum of zstd's own would be added up for nothing. A frame can only be
 * unpacked from its front, and zstd's own blocks, its smallest unit, would be as large
 * as ours. So they are ended every STEP bytes: a reader who wants a line of the first
 * half, as a snippet may, unpacks only that. It costs 1 % of size.
 *
 * Level 3 takes 30 % more time than this on transcripts and saves 4 %; higher levels take
 * twice and three times as much for another 5 %. Dictionaries gain nothing at this block size.
 */
#include "store/pack.h"

#include "base/hash.h"

#define ZSTD_STATIC_LINKING_ONLY /* settings that only save time */
#include <zstd.h>

enum {
	LEVEL = 1,
	HASH_LOG = 17, /* the level's own is 13: a larger table takes an eighth less time, and saves a little */
	MIN_MATCH = 7, /* bytes */
	STEP = 32 * 1024,
	LARGEST_WINDOW = 24,
};

struct packer {
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
};

struct packer *packer_new(void)
{
	return mem_alloc(sizeof(struct packer));
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->compress);
	ZSTD_freeDCtx(p->decompress);
	mem_free(p);
}

static enum status ready_to_compress(struct packer *p, struct err *err)
{
	if (p->compress)
		return STATUS_OK;
	p->compress = ZSTD_createCCtx();
	if (!p->compress || ZSTD_isError(ZSTD_CCtx_setParameter(p->compress, ZSTD_c_compressionLevel, LEVEL)))
		return err_fail(err, STATUS_INTERNAL, "zstd cannot be set up");
	ZSTD_CCtx_setParameter(p->compress, ZSTD_c_hashLog, HASH_LOG);
	ZSTD_CCtx_setParameter(p->compress, ZSTD_c_minMatch, MIN_MATCH);
	/* Straight from the bytes and to where they go: they stay where they are. */
	ZSTD_CCtx_setParameter(p->compress, ZSTD_c_stableInBuffer, 1);
	ZSTD_CCtx_setParameter(p->compress, ZSTD_c_stableOutBuffer, 1);
	return STATUS_OK;
}

/* A frame, from the packer as it is set up. */
static enum status pack_frame(struct packer *p, struct str raw, struct buf *out, struct err *err)
{
	/* Each step may need a header more than the bound of the whole. */
	size_t bound = ZSTD_compressBound(raw.n) + raw.n / STEP * 8, n = 0;
	ZSTD_outBuffer into = { .size = bound };
	ZSTD_inBuffer from = { .src = raw.p };
	char *to = buf_reserve(out, bound);

	if (!to)
		return err_fail(err, STATUS_LIMIT, "a block of %zu bytes is too large to pack", raw.n);
	into.dst = to;
	ZSTD_CCtx_setPledgedSrcSize(p->compress, raw.n);
	do {
		bool last = raw.n - from.size <= STEP;

		from.size = last ? raw.n : from.size + STEP;
		n = ZSTD_compressStream2(p->compress, &into, &from, last ? ZSTD_e_end : ZSTD_e_flush);
	} while (n == 0 && from.size < raw.n);
	if (n != 0)
		return err_fail(err, STATUS_INTERNAL, "packing a block: %s",
				ZSTD_isError(n) ? ZSTD_getErrorName(n) : "it does not become smaller");
	buf_grew(out, into.pos);
	return STATUS_OK;
}

enum status packer_pack(struct packer *p, struct str raw, struct buf *out, struct err *err)
{
	if (ready_to_compress(p, err))
		return err_failed(err->status);
	ZSTD_CCtx_reset(p->compress, ZSTD_reset_session_only);
	return pack_frame(p, raw, out, err);
}

/* How far back a frame must be able to look for all of the other bytes. */
static int window_for(size_t bytes)
{
	int log = ZSTD_WINDOWLOG_MIN;

	while (log < LARGEST_WINDOW && (size_t)1 << log < bytes)
		log++;
	return log;
}

enum status packer_pack_like(struct packer *p, struct str raw, struct str other, struct buf *out, struct err *err)
{
	enum status status;

	if (ready_to_compress(p, err))
		return err_failed(err->status);
	ZSTD_CCtx_reset(p->compress, ZSTD_reset_session_only);
	if (ZSTD_isError(ZSTD_CCtx_setParameter(p->compress, ZSTD_c_windowLog, window_for(raw.n + other.n))) ||
	    ZSTD_isError(ZSTD_CCtx_refPrefix(p->compress, other.p, other.n)))
		status = err_fail(err, STATUS_INTERNAL, "zstd cannot be set up");
	else
		status = pack_frame(p, raw, out, err);
	ZSTD_CCtx_reset(p->compress, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(p->compress, ZSTD_c_windowLog, 0);
	return status;
}

/* Older blocks have a checksum, too. */
static void set_up(struct packer *p, const struct packed *what)
{
	ZSTD_DCtx_reset(p->decompress, ZSTD_reset_session_and_parameters);
	ZSTD_DCtx_setParameter(p->decompress, ZSTD_d_forceIgnoreChecksum, ZSTD_d_ignoreChecksum);
	if (what->codec == PACK_CODEC_LIKE)
		ZSTD_DCtx_refPrefix(p->decompress, what->other.p, what->other.n);
}

/* Everything but the unpacking: *to has room for all of it. */
static enum status prepare(struct packer *p, const struct packed *what, struct buf *out, char **to, struct err *err)
{
	if (what->codec != PACK_CODEC_ZSTD && what->codec != PACK_CODEC_LIKE)
		return err_fail(err, STATUS_CORRUPT, "a block is packed in an unknown way (%d)", what->codec);
	if (ZSTD_getFrameContentSize(what->bytes.p, what->bytes.n) != what->length)
		return err_fail(err, STATUS_CORRUPT, "a block does not say the size it should have");
	*to = buf_reserve(out, what->length);
	if (!*to)
		return err_fail(err, STATUS_LIMIT, "a block of %zu bytes is too large", what->length);
	if (!p->decompress)
		p->decompress = ZSTD_createDCtx();
	if (!p->decompress)
		return err_fail(err, STATUS_INTERNAL, "zstd cannot be set up");
	set_up(p, what);
	return STATUS_OK;
}

static enum status check(size_t result, bool right_size, struct err *err)
{
	if (ZSTD_isError(result) || !right_size)
		return err_fail(err, STATUS_CORRUPT, "a block cannot be unpacked: %s",
				ZSTD_isError(result) ? ZSTD_getErrorName(result) : "wrong size");
	return STATUS_OK;
}

enum status packer_unpack(struct packer *p, const struct packed *what, uint64_t hash, struct buf *out,
			  struct err *err)
{
	char *to;
	size_t n;

	if (prepare(p, what, out, &to, err))
		return err_failed(err->status);
	n = ZSTD_decompressDCtx(p->decompress, to, what->length, what->bytes.p, what->bytes.n);
	if (check(n, n == what->length, err))
		return err_failed(err->status);
	if (hash64(to, n) != hash)
		return err_fail(err, STATUS_CORRUPT, "its bytes have changed");
	buf_grew(out, n);
	return STATUS_OK;
}

enum status packer_unpack_front(struct packer *p, const struct packed *what, size_t wanted, struct buf *out,
				struct err *err)
{
	/* In small bites: zstd unpacks all it is given and has room for. */
	enum { BITE = 4096 };
	ZSTD_inBuffer from = { .src = what->bytes.p };
	ZSTD_outBuffer into = { .size = what->length };
	size_t result = 1;
	char *to;

	if (prepare(p, what, out, &to, err))
		return err_failed(err->status);
	into.dst = to;
	/* Straight into our buffer, which has room for all. */
	ZSTD_DCtx_setParameter(p->decompress, ZSTD_d_stableOutBuffer, 1);
	while (into.pos < wanted && from.pos < what->bytes.n && !ZSTD_isError(result)) {
		from.size = what->bytes.n - from.pos < BITE ? what->bytes.n : from.pos + BITE;
		result = ZSTD_decompressStream(p->decompress, &into, &from);
	}
	ZSTD_DCtx_reset(p->decompress, ZSTD_reset_session_and_parameters);
	if (check(result, into.pos >= wanted, err))
		return err_failed(err->status);
	buf_grew(out, wanted);
	return STATUS_OK;
}

size_t pack_cut(struct str bytes)
{
	enum { LEAST = LIMIT_BLOCK_TARGET / 2 };
	struct str tail;
	size_t at;

	if (bytes.n < LIMIT_BLOCK_TARGET)
		return 0;
	/* The last line end that keeps the block between half and full size ... */
	at = str_rfind(str_sub(bytes, LEAST, LIMIT_BLOCK_TARGET - LEAST), '\n');
	if (at != SIZE_MAX)
		return LEAST + at + 1;
	/* ... else the first one behind, for a long line ... */
	tail = str_sub(bytes, LIMIT_BLOCK_TARGET, LIMIT_BLOCK_MAX - LIMIT_BLOCK_TARGET);
	at = str_find(tail, '\n');
	if (at != SIZE_MAX)
		return LIMIT_BLOCK_TARGET + at + 1;
	if (bytes.n < LIMIT_BLOCK_MAX)
		return 0;
	/* ... else before that line, if it is not the first ... */
	at = str_rfind(str_sub(bytes, 0, LEAST), '\n');
	if (at != SIZE_MAX)
		return at + 1;
	/* ... else anywhere: the line is longer than a block may be. */
	return LIMIT_BLOCK_MAX;
}
