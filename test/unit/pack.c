/*
 * Packing: what comes out is what went in or an error; and where blocks end,
 * which may depend on nothing but the bytes.
 */
#include "store/pack.h"

#include "base/hash.h"
#include "t.h"

#include <string.h>

#define HASH_OF(raw) hash64((raw).p, (raw).n)

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Noise packs badly, text well. */
static void fill(struct buf *b, size_t n, bool noise, uint64_t seed)
{
	static const char words[] = "{\"type\":\"assistant\",\"message\":{\"role\":\"user\"}}\n";

	while (b->n < n)
		buf_byte(b, noise ? (char)next_random(&seed)
				  : words[next_random(&seed) % 3 ? b->n % (sizeof words - 1) : 9]);
}

/* ---- Packing --------------------------------------------------------------- */

static void round_trip(struct t *t, struct packer *p, struct str raw)
{
	struct buf packed = BUF_INIT(4 * MIB), out = BUF_INIT(4 * MIB);
	struct err err;

	buf_text(&packed, "before"); /* both append */
	buf_text(&out, "kept");
	CHECK(packer_pack(p, raw, &packed, &err) == STATUS_OK);
	CHECK(packer_unpack(
		      p,
		      &(struct packed){
			      PACK_CODEC_ZSTD, str_sub(buf_as_str(&packed), 6, SIZE_MAX), { 0 }, raw.n },
		      HASH_OF(raw), &out, &err) == STATUS_OK);
	CHECK(str_eq(str_sub(buf_as_str(&out), 4, SIZE_MAX), raw));
	CHECK(str_has_prefix(buf_as_str(&out), STR("kept")) &&
	      str_has_prefix(buf_as_str(&packed), STR("before")));
	buf_release(&packed);
	buf_release(&out);
}

TEST(what_is_packed_comes_out_again)
{
	static const size_t sizes[] = { 1, 2, 3, 100, 4096, 131072, LIMIT_BLOCK_TARGET, LIMIT_BLOCK_MAX };
	struct packer *p = packer_new();

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (int noise = 0; noise < 2; noise++) {
			struct buf raw = BUF_INIT(4 * MIB);

			fill(&raw, sizes[i], noise, i);
			round_trip(t, p, buf_as_str(&raw));
			buf_release(&raw);
		}
	for (int c = 0; c < 256; c++) {
		char byte = (char)c;

		round_trip(t, p, str_from(&byte, 1));
	}
	packer_free(p);
	packer_free(NULL);
}

/* Against bytes that are nearly the same, before and behind. */
TEST(what_is_packed_like_other_bytes_comes_out_with_them_only)
{
	struct packer *p = packer_new();
	struct buf other = BUF_INIT(4 * MIB), raw = BUF_INIT(4 * MIB), packed = BUF_INIT(4 * MIB),
		   out = BUF_INIT(4 * MIB);
	struct packed what = { .codec = PACK_CODEC_LIKE };
	struct err err;

	fill(&other, 300000, true, 3);
	buf_str(&raw, str_sub(buf_as_str(&other), 150000, 50000));
	buf_text(&raw, "something else");
	buf_str(&raw, str_sub(buf_as_str(&other), 20000, 60000));
	OK(packer_pack_like(p, buf_as_str(&raw), buf_as_str(&other), &packed, &err));
	CHECK(packed.n < 200);
	what.bytes = buf_as_str(&packed);
	what.other = buf_as_str(&other);
	what.length = raw.n;
	OK(packer_unpack(p, &what, HASH_OF(raw), &out, &err));
	CHECK(str_eq(buf_as_str(&out), buf_as_str(&raw)));
	buf_clear(&out);
	OK(packer_unpack_front(p, &what, 70000, &out, &err));
	CHECK(str_eq(buf_as_str(&out), str_sub(buf_as_str(&raw), 0, 70000)));
	buf_clear(&out);
	other.p[160000]++;
	EQ(packer_unpack(p, &what, HASH_OF(raw), &out, &err), STATUS_CORRUPT);
	what.other.n /= 3;
	EQ(packer_unpack(p, &what, HASH_OF(raw), &out, &err), STATUS_CORRUPT);
	/* What comes next knows nothing of it. */
	round_trip(t, p, buf_as_str(&raw));
	buf_release(&other);
	buf_release(&raw);
	buf_release(&packed);
	buf_release(&out);
	packer_free(p);
}

TEST(text_becomes_smaller)
{
	struct packer *p = packer_new();
	struct buf raw = BUF_INIT(MIB), packed = BUF_INIT(MIB);
	struct err err;

	fill(&raw, 100000, false, 7);
	OK(packer_pack(p, buf_as_str(&raw), &packed, &err));
	CHECK(packed.n < raw.n / 2);
	buf_release(&raw);
	buf_release(&packed);
	packer_free(p);
}

/* An altered block is refused, or, where the altered bit means nothing, gives
 * the right bytes. It never gives wrong ones. */
static void unpack_altered(struct t *t, struct packer *p, struct str packed, struct str raw, int *refused)
{
	struct buf out = BUF_INIT(4 * MIB);
	struct err err;
	enum status status = packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, packed, { 0 }, raw.n },
					   HASH_OF(raw), &out, &err);

	if (status == STATUS_OK) {
		CHECK(str_eq(buf_as_str(&out), raw));
	} else {
		EQ(status, STATUS_CORRUPT);
		EQ(out.n, 0);
		(*refused)++;
	}
	buf_release(&out);
}

TEST(no_altered_byte_gives_wrong_bytes)
{
	static const size_t sizes[] = { 1, 40, 700 };
	struct packer *p = packer_new();
	struct err err;

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (int noise = 0; noise < 2; noise++) {
			struct buf raw = BUF_INIT(MIB), packed = BUF_INIT(MIB);
			int refused = 0, tried = 0;

			fill(&raw, sizes[i], noise, i + 5);
			OK(packer_pack(p, buf_as_str(&raw), &packed, &err));
			for (size_t at = 0; at < packed.n; at++)
				for (int change = 1; change<256; change += packed.n> 100 ? 37 : 1) {
					packed.p[at] = (char)(packed.p[at] ^ change);
					unpack_altered(t, p, buf_as_str(&packed), buf_as_str(&raw), &refused);
					packed.p[at] = (char)(packed.p[at] ^ change);
					tried++;
				}
			CHECK(refused > tried * 9 / 10);
			buf_release(&raw);
			buf_release(&packed);
		}
	packer_free(p);
}

TEST(a_cut_or_lengthened_block_is_corrupt)
{
	struct packer *p = packer_new();
	struct buf raw = BUF_INIT(MIB), packed = BUF_INIT(MIB), out = BUF_INIT(MIB);
	struct err err;

	fill(&raw, 500, false, 3);
	OK(packer_pack(p, buf_as_str(&raw), &packed, &err));
	for (size_t n = 0; n < packed.n; n++)
		EQ(packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, str_from(packed.p, n), { 0 }, raw.n },
				 HASH_OF(raw), &out, &err),
		   STATUS_CORRUPT);
	buf_byte(&packed, 'x');
	EQ(packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, buf_as_str(&packed), { 0 }, raw.n },
			 HASH_OF(raw), &out, &err),
	   STATUS_CORRUPT);
	EQ(out.n, 0);
	buf_release(&raw);
	buf_release(&packed);
	buf_release(&out);
	packer_free(p);
}

TEST(a_wrong_length_or_codec_is_corrupt)
{
	static const size_t wrong[] = { 0, 1, 499, 501, 1000, LIMIT_BLOCK_MAX, SIZE_MAX };
	struct packer *p = packer_new();
	struct buf raw = BUF_INIT(MIB), packed = BUF_INIT(MIB), out = BUF_INIT(MIB);
	struct err err;

	fill(&raw, 500, false, 3);
	OK(packer_pack(p, buf_as_str(&raw), &packed, &err));
	for (size_t i = 0; i < COUNT(wrong); i++)
		EQ(packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, buf_as_str(&packed), { 0 }, wrong[i] },
				 HASH_OF(raw), &out, &err),
		   STATUS_CORRUPT);
	EQ(packer_unpack(p, &(struct packed){ 0, buf_as_str(&packed), { 0 }, 500 }, HASH_OF(raw), &out, &err),
	   STATUS_CORRUPT);
	EQ(packer_unpack(p, &(struct packed){ 3, buf_as_str(&packed), { 0 }, 500 }, HASH_OF(raw), &out, &err),
	   STATUS_CORRUPT);
	EQ(packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, STR("not zstd at all"), { 0 }, 500 },
			 HASH_OF(raw), &out, &err),
	   STATUS_CORRUPT);
	EQ(packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, (struct str){ 0 }, { 0 }, 500 }, HASH_OF(raw),
			 &out, &err),
	   STATUS_CORRUPT);
	EQ(out.n, 0);
	/* After all these failures it still works. */
	OK(packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, buf_as_str(&packed), { 0 }, 500 },
			 HASH_OF(raw), &out, &err));
	CHECK(str_eq(buf_as_str(&out), buf_as_str(&raw)));
	buf_release(&raw);
	buf_release(&packed);
	buf_release(&out);
	packer_free(p);
}

TEST(a_buffer_that_is_too_small_is_a_limit)
{
	struct packer *p = packer_new();
	struct buf raw = BUF_INIT(MIB), packed = BUF_INIT(MIB), small = BUF_INIT(499);
	struct err err;

	fill(&raw, 500, true, 3);
	OK(packer_pack(p, buf_as_str(&raw), &packed, &err));
	EQ(packer_unpack(p, &(struct packed){ PACK_CODEC_ZSTD, buf_as_str(&packed), { 0 }, 500 },
			 HASH_OF(raw), &small, &err),
	   STATUS_LIMIT);
	buf_clear(&small);
	EQ(packer_pack(p, buf_as_str(&raw), &small, &err), STATUS_LIMIT);
	EQ(small.n, 0);
	buf_release(&raw);
	buf_release(&packed);
	buf_release(&small);
	packer_free(p);
}

/* ---- Cutting --------------------------------------------------------------- */

/* A text with lines of about this length; every tenth may be `huge`. */
static void fill_lines(struct buf *b, size_t n, size_t line, size_t huge, uint64_t *state)
{
	while (b->n < n) {
		size_t length = next_random(state) % 10 ? (size_t)(next_random(state) % line) : huge;
		char *to = buf_reserve(b, length + 1);

		memset(to, 'x', length);
		to[length] = '\n';
		buf_grew(b, length + 1);
	}
}

/* One cut: its bounds, and that it is at a line end wherever that is possible. */
static void check_cut(struct t *t, struct str bytes, size_t cut)
{
	if (cut == 0) {
		CHECK(bytes.n < LIMIT_BLOCK_MAX);
		return;
	}
	CHECK(cut <= LIMIT_BLOCK_MAX && cut <= bytes.n);
	if (bytes.p[cut - 1] != '\n') {
		EQ(cut, LIMIT_BLOCK_MAX);
		CHECK(str_find(str_sub(bytes, 0, cut), '\n') == SIZE_MAX);
	}
}

TEST(less_than_a_block_is_not_cut)
{
	struct buf b = BUF_INIT(4 * MIB);

	EQ(pack_cut((struct str){ 0 }), 0);
	while (b.n < LIMIT_BLOCK_TARGET - 1)
		buf_byte(&b, '\n');
	EQ(pack_cut(buf_as_str(&b)), 0);
	buf_byte(&b, '\n');
	EQ(pack_cut(buf_as_str(&b)), LIMIT_BLOCK_TARGET);
	buf_release(&b);
}

TEST(cuts_keep_their_bounds_and_end_behind_line_feeds)
{
	static const size_t huge[] = {
		10,	     100 * 1024,	  300 * 1024,	       600 * 1024,	900 * 1024,
		1000 * 1024, LIMIT_BLOCK_MAX - 2, LIMIT_BLOCK_MAX - 1, LIMIT_BLOCK_MAX, 3 * MIB
	};
	uint64_t state = 1;

	for (size_t i = 0; i < COUNT(huge); i++) {
		struct buf b = BUF_INIT(16 * MIB);
		struct str left;

		fill_lines(&b, 4 * MIB, 1 + (size_t)(next_random(&state) % 60000), huge[i], &state);
		left = buf_as_str(&b);
		while (left.n) {
			size_t cut = pack_cut(left);

			check_cut(t, left, cut);
			left = str_sub(left, cut ? cut : left.n, SIZE_MAX);
		}
		buf_release(&b);
	}
}

TEST(ordinary_lines_give_blocks_between_half_and_full_size)
{
	struct buf b = BUF_INIT(16 * MIB);
	uint64_t state = 9;
	struct str left;
	size_t cut;

	fill_lines(&b, 6 * MIB, 20000, 20000, &state);
	left = buf_as_str(&b);
	while ((cut = pack_cut(left))) {
		CHECK(cut >= LIMIT_BLOCK_TARGET / 2 && cut <= LIMIT_BLOCK_TARGET);
		left = str_sub(left, cut, SIZE_MAX);
	}
	CHECK(left.n < LIMIT_BLOCK_TARGET);
	buf_release(&b);
}

TEST(a_cut_does_not_depend_on_what_follows_it)
{
	static const size_t lines[] = { 100, 20000, 200000, 500000, 1100000 };
	uint64_t state = 3;

	for (size_t i = 0; i < COUNT(lines); i++)
		for (int round = 0; round < 4; round++) {
			struct buf b = BUF_INIT(16 * MIB);
			size_t whole;

			fill_lines(&b, LIMIT_BLOCK_MAX + 1000, lines[i], lines[i], &state);
			whole = pack_cut(buf_as_str(&b));
			CHECK(whole > 0);
			/* Every prefix: no decision yet, or the same one; and never later
			 * than all bytes that could matter are there. */
			for (size_t n = 0; n <= b.n; n += 1 + (size_t)(next_random(&state) % 3000)) {
				size_t cut = pack_cut(str_from(b.p, n));

				CHECK(cut == 0 || cut == whole);
				CHECK(cut || n < LIMIT_BLOCK_MAX);
			}
			EQ(pack_cut(str_from(b.p, LIMIT_BLOCK_MAX)), whole);
			buf_release(&b);
		}
}

TEST(a_long_line_is_waited_for_until_a_block_is_full)
{
	static const size_t line_end[] = { SIZE_MAX, 0, 100 };

	for (size_t i = 0; i < COUNT(line_end); i++) {
		struct buf b = BUF_INIT(4 * MIB);

		while (b.n < LIMIT_BLOCK_MAX)
			buf_byte(&b, b.n == line_end[i] ? '\n' : 'x');
		for (size_t n = LIMIT_BLOCK_MAX - 3; n < LIMIT_BLOCK_MAX; n++)
			EQ(pack_cut(str_from(b.p, n)), 0);
		EQ(pack_cut(buf_as_str(&b)), line_end[i] == SIZE_MAX ? LIMIT_BLOCK_MAX : line_end[i] + 1);
		buf_release(&b);
	}
}

/* A line that is longer than what is left of a block, but fits into one of its
 * own, is not torn. */
TEST(a_line_that_fits_into_a_block_is_never_torn)
{
	static const size_t before[] = {
		1, 100, 50000, LIMIT_BLOCK_TARGET / 2 - 1, LIMIT_BLOCK_TARGET / 2, LIMIT_BLOCK_TARGET - 1
	};

	for (size_t i = 0; i < COUNT(before); i++) {
		struct buf b = BUF_INIT(16 * MIB);
		size_t cut;

		while (b.n < before[i])
			buf_byte(&b, b.n % 50 == 49 || b.n + 1 == before[i] ? '\n' : 'a');
		while (b.n < before[i] + LIMIT_BLOCK_MAX - 1)
			buf_byte(&b, 'l');
		buf_byte(&b, '\n');
		cut = pack_cut(buf_as_str(&b));
		EQ(cut, before[i]);
		EQ(pack_cut(str_sub(buf_as_str(&b), cut, SIZE_MAX)), LIMIT_BLOCK_MAX);
		buf_release(&b);
	}
}

TESTS(CASE(what_is_packed_comes_out_again), CASE(text_becomes_smaller),
      CASE(no_altered_byte_gives_wrong_bytes), CASE(a_cut_or_lengthened_block_is_corrupt),
      CASE(what_is_packed_like_other_bytes_comes_out_with_them_only),
      CASE(a_wrong_length_or_codec_is_corrupt), CASE(a_buffer_that_is_too_small_is_a_limit),
      CASE(less_than_a_block_is_not_cut), CASE(cuts_keep_their_bounds_and_end_behind_line_feeds),
      CASE(ordinary_lines_give_blocks_between_half_and_full_size),
      CASE(a_cut_does_not_depend_on_what_follows_it), CASE(a_long_line_is_waited_for_until_a_block_is_full),
      CASE(a_line_that_fits_into_a_block_is_never_torn))
