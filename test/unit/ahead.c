/*
 * A block unpacked ahead: whoever takes it gets its bytes or is told that it is not there, however
 * fast the other thread is.
 */
#include "store/ahead.h"
#include "base/hash.h"

#include "store/pack.h"
#include "t.h"

#include <string.h>
#include <unistd.h>

enum { BLOCKS = 40 };

/* Block i of length_of(i) bytes, which tell whose they are and where they stand. */
static size_t length_of(int i)
{
	return i == 0 ? 1 : (size_t)i * 7919 % 200000 + 1;
}

static char byte_of(int i, size_t at)
{
	return (char)(at / 50 * 31 + (size_t)i);
}

static void fill(struct buf *raw, int i)
{
	for (size_t at = 0; at < length_of(i); at++)
		buf_byte(raw, byte_of(i, at));
}

static struct ahead_block block_of(int i)
{
	struct buf raw CLEANUP(buf_release) = BUF_INIT(MIB);

	fill(&raw, i);
	return (struct ahead_block){ 1000 + i, hash64(raw.p, raw.n), raw.n };
}

static void announce_as(struct t *t, struct ahead *a, int i, struct ahead_block b)
{
	struct buf raw CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf packed CLEANUP(buf_release) = BUF_INIT(MIB);
	struct packer *p = packer_new();
	struct err err;

	fill(&raw, i);
	CHECK(packer_pack(p, buf_as_str(&raw), &packed, &err) == STATUS_OK);
	packer_free(p);
	ahead_announce(a, &b, PACK_CODEC_ZSTD, buf_as_str(&packed));
}

static void announce(struct t *t, struct ahead *a, int i)
{
	announce_as(t, a, i, block_of(i));
}

/* Whether it was there; its bytes are right then, behind what the buffer had. */
static bool take(struct t *t, struct ahead *a, int i)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(2 * MIB);
	struct ahead_block b = block_of(i);
	enum status status;
	struct err err;
	size_t wrong = 0;

	buf_text(&out, "kept");
	if (!ahead_take(a, &b, &out, &status, &err))
		return false;
	EQ(status, STATUS_OK);
	if (!EQ(out.n, b.length + 4))
		return true;
	for (size_t at = 0; at < b.length; at++)
		wrong += out.p[at + 4] != byte_of(i, at);
	EQ(wrong, 0);
	CHECK(memcmp(out.p, "kept", 4) == 0);
	return true;
}

#define AHEAD                                                     \
	struct ahead *a = ahead_new();                            \
                                                                  \
	if (!a)                                                   \
		SKIP("one processor: nothing is unpacked ahead")

TEST(what_was_announced_comes_once)
{
	AHEAD;
	for (int i = 0; i < BLOCKS; i++) {
		announce(t, a, i);
		if (i % 5 == 0)
			usleep(2000); /* it is done, or not */
		CHECK(take(t, a, i));
		CHECK(!take(t, a, i));
	}
	ahead_free(a);
}

TEST(another_block_is_not_taken_for_it)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct ahead_block other[3] = { block_of(3), block_of(3), block_of(3) };
	enum status status;
	struct err err;
	AHEAD;

	CHECK(!take(t, a, 3)); /* none yet */
	announce(t, a, 3);
	other[0].data++;
	other[1].hash++;
	other[2].length++;
	for (size_t i = 0; i < COUNT(other); i++)
		CHECK(!ahead_take(a, &other[i], &out, &status, &err));
	EQ(out.n, 0);
	CHECK(take(t, a, 3));
	ahead_free(a);
}

TEST(one_nobody_takes_gives_way_and_is_never_confused)
{
	int got = 0;
	AHEAD;

	for (int i = 0; i < BLOCKS; i++) {
		announce(t, a, i);
		announce(t, a, (i + 7) % BLOCKS);
		usleep(i % 3 ? 0 : 1000);
		got += take(t, a, i) + take(t, a, (i + 7) % BLOCKS);
	}
	CHECK(got >= BLOCKS && got <= 2 * BLOCKS);
	ahead_free(a);
}

TEST(a_damaged_block_fails_for_who_takes_it_and_the_next_is_fine)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct ahead_block bad = block_of(5);
	enum status status = STATUS_OK;
	struct err err = { 0 };
	AHEAD;

	ahead_announce(a, &bad, PACK_CODEC_ZSTD, STR("this was never packed"));
	CHECK(ahead_take(a, &bad, &out, &status, &err));
	EQ(status, STATUS_CORRUPT);
	CHECK(err.text[0] != '\0');
	EQ(out.n, 0);
	announce(t, a, 6);
	CHECK(take(t, a, 6));
	ahead_free(a);
}

TEST(bytes_without_the_hash_of_their_block_are_not_given)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct ahead_block b = block_of(5);
	enum status status = STATUS_OK;
	struct err err = { 0 };
	AHEAD;

	b.hash ^= 1;
	announce_as(t, a, 5, b);
	CHECK(ahead_take(a, &b, &out, &status, &err));
	EQ(status, STATUS_CORRUPT);
	EQ(out.n, 0);
	ahead_free(a);
}

TEST(a_full_buffer_is_told)
{
	struct buf small CLEANUP(buf_release) = BUF_INIT(10);
	struct ahead_block b = block_of(8);
	enum status status = STATUS_OK;
	struct err err = { 0 };
	AHEAD;

	announce(t, a, 8);
	CHECK(ahead_take(a, &b, &small, &status, &err));
	EQ(status, STATUS_LIMIT);
	ahead_free(a);
}

TEST(it_can_be_given_up_at_any_moment)
{
	for (int turn = 0; turn < 50; turn++) {
		AHEAD;

		for (int i = 0; i < turn % 4; i++)
			announce(t, a, i);
		if (turn % 5 == 0)
			usleep((useconds_t)turn * 10);
		ahead_free(a);
	}
	ahead_free(NULL);
}

TESTS(CASE(what_was_announced_comes_once), CASE(another_block_is_not_taken_for_it),
      CASE(one_nobody_takes_gives_way_and_is_never_confused),
      CASE(a_damaged_block_fails_for_who_takes_it_and_the_next_is_fine),
      CASE(bytes_without_the_hash_of_their_block_are_not_given), CASE(a_full_buffer_is_told),
      CASE(it_can_be_given_up_at_any_moment))
