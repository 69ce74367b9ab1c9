/*
 * Blocks unpacked ahead: whoever takes one gets its bytes or is told that it is not there, in
 * whatever order and however fast the other thread is.
 */
#include "store/ahead.h"

#include "store/pack.h"
#include "t.h"

#include <string.h>
#include <unistd.h>

enum { BLOCKS = 40 };

/* Block i of length(i) bytes, all of them i and where they are. */
static size_t length_of(int i)
{
	return i == 0 ? 1 : (size_t)i * 7919 % 200000 + 1;
}

static char byte_of(int i, size_t at)
{
	return (char)(at / 50 * 31 + (size_t)i);
}

static struct ahead_block block_of(int i, size_t wanted)
{
	return (struct ahead_block){ 1000 + i, 77 * (uint64_t)i, length_of(i), wanted };
}

static void pack(struct t *t, int i, struct buf *out)
{
	struct buf raw CLEANUP(buf_release) = BUF_INIT(MIB);
	struct packer *p = packer_new();
	struct err err;

	for (size_t at = 0; at < length_of(i); at++)
		buf_byte(&raw, byte_of(i, at));
	CHECK(packer_pack(p, buf_as_str(&raw), out, &err) == STATUS_OK);
	packer_free(p);
}

static void announce(struct t *t, struct ahead *a, int i, size_t wanted)
{
	struct buf packed CLEANUP(buf_release) = BUF_INIT(MIB);
	struct ahead_block b = block_of(i, wanted);

	pack(t, i, &packed);
	ahead_announce(a, &b, PACK_CODEC_ZSTD, buf_as_str(&packed));
}

/* Whether it was there; its bytes are right then, behind what the buffer had. */
static bool take(struct t *t, struct ahead *a, int i, size_t wanted)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(2 * MIB);
	struct ahead_block b = block_of(i, wanted);
	enum status status;
	struct err err;
	size_t wrong = 0;

	buf_text(&out, "kept");
	if (!ahead_take(a, &b, &out, &status, &err))
		return false;
	EQ(status, STATUS_OK);
	if (!EQ(out.n, wanted + 4))
		return true;
	for (size_t at = 0; at < wanted; at++)
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

TEST(what_was_announced_comes_once_in_any_order)
{
	AHEAD;
	for (int turn = 0; turn < 12; turn++) {
		int step = turn % 3 == 0 ? 1 : turn % 3 == 1 ? AHEAD_BLOCKS - 1 : 5;

		for (int i = 0; i < AHEAD_BLOCKS; i++)
			announce(t, a, i, turn % 2 ? length_of(i) / 2 : length_of(i));
		if (turn > 8)
			usleep(20000); /* all of them done */
		for (int k = 0, i = 0; k < AHEAD_BLOCKS; k++, i = (i + step) % AHEAD_BLOCKS) {
			size_t wanted = turn % 2 ? length_of(i) / 2 : length_of(i);
			struct ahead_block b = block_of(i, wanted);

			CHECK(ahead_has(a, &b));
			CHECK(take(t, a, i, wanted));
			CHECK(!ahead_has(a, &b));
			CHECK(!take(t, a, i, wanted));
		}
	}
	ahead_free(a);
}

TEST(another_block_is_not_taken_for_it)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct ahead_block other;
	enum status status;
	struct err err;
	AHEAD;

	announce(t, a, 3, 100);
	other = block_of(3, 101); /* more than there is */
	CHECK(!ahead_take(a, &other, &out, &status, &err));
	other = block_of(3, 100);
	other.hash++;
	CHECK(!ahead_take(a, &other, &out, &status, &err));
	other = block_of(3, 100);
	other.length++;
	CHECK(!ahead_take(a, &other, &out, &status, &err));
	CHECK(!take(t, a, 4, 100));
	CHECK(take(t, a, 3, 40)); /* less will do */
	EQ(out.n, 0);
	ahead_free(a);
}

TEST(too_many_are_forgotten_and_never_confused)
{
	int got = 0;
	AHEAD;

	for (int turn = 0; turn < 5; turn++) {
		for (int i = 0; i < BLOCKS; i++)
			announce(t, a, i, length_of(i));
		for (int i = 0; i < BLOCKS; i++)
			got += take(t, a, i, length_of(i));
	}
	CHECK(got > 0 && got <= 5 * BLOCKS);
	ahead_free(a);
}

TEST(a_damaged_block_fails_for_who_takes_it_and_for_nobody_else)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct ahead_block bad = block_of(5, length_of(5));
	enum status status = STATUS_OK;
	struct err err = { 0 };
	AHEAD;

	announce(t, a, 6, length_of(6));
	ahead_announce(a, &bad, PACK_CODEC_ZSTD, STR("this was never packed"));
	announce(t, a, 7, length_of(7));
	CHECK(ahead_take(a, &bad, &out, &status, &err));
	EQ(status, STATUS_CORRUPT);
	CHECK(err.text[0] != '\0');
	EQ(out.n, 0);
	CHECK(take(t, a, 6, length_of(6)));
	CHECK(take(t, a, 7, length_of(7)));
	ahead_free(a);
}

TEST(a_full_buffer_is_told)
{
	struct buf small CLEANUP(buf_release) = BUF_INIT(10);
	struct ahead_block b = block_of(8, 100);
	enum status status = STATUS_OK;
	struct err err = { 0 };
	AHEAD;

	announce(t, a, 8, 100);
	CHECK(ahead_take(a, &b, &small, &status, &err));
	EQ(status, STATUS_LIMIT);
	ahead_free(a);
}

TEST(it_can_be_given_up_at_any_moment)
{
	for (int turn = 0; turn < 50; turn++) {
		AHEAD;

		for (int i = 0; i < turn % (AHEAD_BLOCKS + 3); i++)
			announce(t, a, i, length_of(i));
		if (turn % 4 == 0)
			usleep((useconds_t)turn * 10);
		ahead_free(a);
	}
	ahead_free(NULL);
}

TESTS(CASE(what_was_announced_comes_once_in_any_order), CASE(another_block_is_not_taken_for_it),
      CASE(too_many_are_forgotten_and_never_confused),
      CASE(a_damaged_block_fails_for_who_takes_it_and_for_nobody_else), CASE(a_full_buffer_is_told),
      CASE(it_can_be_given_up_at_any_moment))
