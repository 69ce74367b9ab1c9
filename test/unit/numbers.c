/*
 * A table from numbers to numbers: what was put in comes out, and nothing else.
 */
#include "base/numbers.h"
#include "t.h"

static void numbers_done(struct arena *a)
{
	arena_release(a);
}

TEST(an_empty_table_has_nothing)
{
	struct arena mem CLEANUP(numbers_done) = ARENA_INIT;
	struct numbers n = numbers_new(&mem, 0);

	EQ(numbers_get(&n, 0), NUMBERS_NONE);
	EQ(numbers_get(&n, UINT64_MAX), NUMBERS_NONE);
}

TEST(zero_and_the_largest_are_keys_like_any_other)
{
	struct arena mem CLEANUP(numbers_done) = ARENA_INIT;
	struct numbers n = numbers_new(&mem, 2);

	numbers_put(&n, 0, 7);
	EQ(numbers_get(&n, UINT64_MAX), NUMBERS_NONE);
	numbers_put(&n, UINT64_MAX, 0);
	EQ(numbers_get(&n, 0), 7);
	EQ(numbers_get(&n, UINT64_MAX), 0);
}

TEST(a_second_value_replaces_the_first)
{
	struct arena mem CLEANUP(numbers_done) = ARENA_INIT;
	struct numbers n = numbers_new(&mem, 1);

	for (uint32_t i = 0; i < 1000; i++)
		numbers_put(&n, 42, i);
	EQ(numbers_get(&n, 42), 999);
	EQ(numbers_get(&n, 41), NUMBERS_NONE);
}

TEST(as_many_as_there_is_room_for_all_come_out)
{
	static const uint32_t sizes[] = { 1, 7, 8, 9, 1000, 100000 };

	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct arena mem CLEANUP(numbers_done) = ARENA_INIT;
		struct numbers n = numbers_new(&mem, sizes[s]);
		uint32_t wrong = 0;

		for (uint32_t i = 0; i < sizes[s]; i++)
			numbers_put(&n, (uint64_t)i << 32, i);
		for (uint32_t i = 0; i < sizes[s]; i++)
			wrong += numbers_get(&n, (uint64_t)i << 32) != i ||
				 numbers_get(&n, i + 1) != NUMBERS_NONE;
		EQ(wrong, 0);
	}
}

TESTS(CASE(an_empty_table_has_nothing), CASE(zero_and_the_largest_are_keys_like_any_other),
      CASE(a_second_value_replaces_the_first), CASE(as_many_as_there_is_room_for_all_come_out))
