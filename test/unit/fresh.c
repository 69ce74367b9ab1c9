/*
 * Blocks that were just packed: they come back only in their own place, and never keep anybody waiting for ever.
 */
#include "ingest/fresh.h"
#include "t.h"

#include <pthread.h>
#include <string.h>

enum { BYTES = 1000 };

static struct str some_bytes(char fill)
{
	static char bytes[BYTES];

	memset(bytes, fill, sizeof bytes);
	return (struct str){ bytes, sizeof bytes };
}

static struct archive_block block_at(int64_t offset, uint64_t hash)
{
	return (struct archive_block){ .offset = offset, .length = BYTES, .stored = BYTES, .hash = hash };
}

TEST(a_copy_comes_back_once_and_only_for_its_block)
{
	struct fresh *f = fresh_new(NULL);
	struct archive_block b = block_at(5000, 77), other = b;
	struct fresh_block *copy = fresh_copy(f, some_bytes('a'), 5000, 77);

	NEED(copy);
	CHECK(fresh_take(f, 3, &b) == NULL); /* it is not archived yet */
	fresh_give(f, copy, 3);
	CHECK(fresh_take(f, 4, &b) == NULL);
	other.hash = 78; /* the same place with other bytes: somebody has changed it */
	CHECK(fresh_take(f, 3, &other) == NULL);
	other = b;
	other.stored = BYTES + 1;
	CHECK(fresh_take(f, 3, &other) == NULL);
	/* A part of it is asked for as what it is a part of. */
	b.skip = 10;
	b.offset += 10;
	b.length -= 10;
	copy = fresh_take(f, 3, &b);
	NEED(copy);
	EQ(copy->n, (size_t)BYTES);
	CHECK(memcmp(copy->bytes, some_bytes('a').p, BYTES) == 0);
	CHECK(fresh_take(f, 3, &b) == NULL);
	fresh_drop(f, copy);
	fresh_free(f);
}

TEST(a_block_that_grew_replaces_what_it_was)
{
	struct fresh *f = fresh_new(NULL);
	struct archive_block before = block_at(0, 1), now = block_at(0, 2);
	struct fresh_block *copy;

	fresh_give(f, fresh_copy(f, some_bytes('a'), 0, 1), 9);
	fresh_give(f, fresh_copy(f, some_bytes('b'), 0, 2), 9);
	CHECK(fresh_take(f, 9, &before) == NULL);
	copy = fresh_take(f, 9, &now);
	NEED(copy);
	EQ(copy->bytes[0], 'b');
	fresh_drop(f, copy);
	fresh_free(f);
}

TEST(what_is_forgotten_is_gone_and_the_rest_is_not)
{
	struct fresh *f = fresh_new(NULL);
	struct archive_block first = block_at(0, 1), second = block_at(BYTES, 2);
	struct fresh_block *copy;

	fresh_give(f, fresh_copy(f, some_bytes('a'), 0, 1), 9);
	fresh_give(f, fresh_copy(f, some_bytes('b'), BYTES, 2), 9);
	fresh_give(f, fresh_copy(f, some_bytes('c'), 0, 1), 9 + 256);
	fresh_forget(f, 9, BYTES);
	CHECK(fresh_take(f, 9, &first) == NULL);
	copy = fresh_take(f, 9 + 256, &first);
	NEED(copy);
	fresh_drop(f, copy);
	copy = fresh_take(f, 9, &second);
	NEED(copy);
	fresh_drop(f, copy);
	fresh_free(f);
}

static void *let_go_later(void *ctx)
{
	fresh_forget(ctx, 1, INT64_MAX);
	return NULL;
}

TEST(who_finds_no_room_waits_until_there_is_some)
{
	struct fresh *f = fresh_new(NULL);
	int64_t offset = 0;
	size_t taken = 0;
	pthread_t other;

	for (; taken < LIMIT_FRESH_BYTES / LIMIT_BLOCK_TARGET; taken++, offset += BYTES)
		fresh_give(f, fresh_copy(f, some_bytes('a'), offset, 1), 1);
	NEED(pthread_create(&other, NULL, let_go_later, f) == 0);
	fresh_give(f, fresh_copy(f, some_bytes('a'), offset, 1), 2);
	pthread_join(other, NULL);
	fresh_free(f);
}

TEST(nobody_waits_for_those_who_take_nothing)
{
	struct fresh *f = fresh_new(NULL);
	struct archive_block last;
	struct fresh_block *copy = NULL;
	int64_t offset = 0;

	for (; offset < (int64_t)(LIMIT_FRESH_BYTES / LIMIT_BLOCK_TARGET) + 1; offset++) {
		copy = fresh_copy(f, some_bytes('a'), offset, 1);
		NEED(copy);
		fresh_give(f, copy, 1);
	}
	last = block_at(offset - 1, 1);
	copy = fresh_take(f, 1, &last);
	NEED(copy); /* those before have made room for it */
	fresh_drop(f, copy);
	last.offset = 0;
	CHECK(fresh_take(f, 1, &last) == NULL);
	fresh_free(f);
}

TEST(nothing_is_kept_when_nobody_reads_or_it_is_too_large)
{
	static char large[2 * LIMIT_BLOCK_TARGET + 1];
	struct fresh *f = fresh_new(NULL);

	CHECK(fresh_copy(f, (struct str){ large, sizeof large }, 0, 1) == NULL);
	fresh_end(f);
	CHECK(fresh_copy(f, some_bytes('a'), 0, 1) == NULL);
	fresh_free(f);
	CHECK(fresh_copy(NULL, some_bytes('a'), 0, 1) == NULL);
}

TEST(large_blocks_and_small_ones_do_not_get_each_others_room)
{
	static char large[2 * LIMIT_BLOCK_TARGET];
	struct archive_block b = { .length = sizeof large, .stored = sizeof large, .hash = 1 };
	struct fresh *f = fresh_new(NULL);
	struct fresh_block *copy;

	for (int i = 0; i < 3; i++) {
		fresh_drop(f, fresh_copy(f, some_bytes('a'), 0, 1));
		memset(large, 'a' + i, sizeof large);
		fresh_give(f, fresh_copy(f, (struct str){ large, sizeof large }, 0, 1), 1);
		copy = fresh_take(f, 1, &b);
		NEED(copy);
		EQ(copy->n, sizeof large);
		CHECK(memcmp(copy->bytes, large, sizeof large) == 0);
		fresh_drop(f, copy);
	}
	fresh_free(f);
}

TESTS(CASE(a_copy_comes_back_once_and_only_for_its_block), CASE(a_block_that_grew_replaces_what_it_was),
      CASE(what_is_forgotten_is_gone_and_the_rest_is_not), CASE(who_finds_no_room_waits_until_there_is_some),
      CASE(nobody_waits_for_those_who_take_nothing), CASE(nothing_is_kept_when_nobody_reads_or_it_is_too_large),
      CASE(large_blocks_and_small_ones_do_not_get_each_others_room))
