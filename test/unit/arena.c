/*
 * Arenas: zeroed, aligned, apart from each other, and never moved.
 */
#include "base/arena.h"
#include "t.h"

#include <string.h>

TEST(an_unused_arena_can_be_released)
{
	struct arena a = ARENA_INIT;

	arena_release(&a);
	arena_release(&a);
	CHECK(a.last == NULL && a.used == 0);
}

TEST(memory_is_zeroed_and_aligned_at_every_size)
{
	struct arena a = ARENA_INIT;

	for (size_t n = 0; n < 40000; n = n < 70 ? n + 1 : n * 2 - 3) {
		char *p = arena_alloc(&a, n);

		EQ((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			NEED(p[i] == 0);
		memset(p, 0xEE, n); /* would show in the next one if they overlapped */
	}
	arena_release(&a);
}

TEST(what_was_handed_out_neither_moves_nor_changes)
{
	enum { COUNT_OF = 3000 };
	struct arena a = ARENA_INIT;
	uint32_t *given[COUNT_OF];

	for (uint32_t i = 0; i < COUNT_OF; i++) {
		size_t words = 1 + i * 7 % 50;

		given[i] = arena_alloc(&a, words * sizeof(uint32_t));
		for (size_t k = 0; k < words; k++)
			given[i][k] = i;
	}
	for (uint32_t i = 0; i < COUNT_OF; i++)
		for (size_t k = 0; k < 1 + i * 7 % 50; k++)
			NEED(given[i][k] == i);
	arena_release(&a);
}

TEST(a_request_larger_than_a_chunk_is_served)
{
	struct arena a = ARENA_INIT;
	char *small = arena_alloc(&a, 8);
	char *large = arena_alloc(&a, 1000000);
	char *after = arena_alloc(&a, 8);

	memset(small, 1, 8);
	memset(large, 2, 1000000);
	memset(after, 3, 8);
	CHECK(small[7] == 1 && large[0] == 2 && large[999999] == 2 && after[0] == 3);
	arena_release(&a);
}

TEST(an_arena_can_be_used_again_after_release)
{
	struct arena a = ARENA_INIT;

	memset(arena_alloc(&a, 100), 0xEE, 100);
	arena_release(&a);
	EQ(*(char *)arena_alloc(&a, 100), 0);
	arena_release(&a);
}

TEST(copied_text_is_its_own_and_ends_with_nul)
{
	struct arena a = ARENA_INIT;
	char source[] = "ab\0cd";
	struct str copy = arena_str(&a, str_from(source, 5));
	const char *c = arena_cstr(&a, str_from(source, 2));

	memset(source, 'x', sizeof source);
	EQS(copy, STR("ab\0cd"));
	EQ(copy.p[5], 0);
	EQS(str_of(c), STR("ab"));
	EQS(arena_str(&a, (struct str){ 0 }), STR(""));
	EQ(arena_cstr(&a, (struct str){ 0 })[0], 0);
	arena_release(&a);
}

TEST(printed_text_is_complete_however_long)
{
	struct arena a = ARENA_INIT;
	struct str s = arena_printf(&a, "%s-%d", "x", 5);
	struct str wide = arena_printf(&a, "%*d", 50000, 9);

	EQS(s, STR("x-5"));
	EQ(s.p[s.n], 0);
	EQ(wide.n, 50000);
	EQ(wide.p[49999], '9');
	EQ(arena_printf(&a, "%s", "").n, 0);
	arena_release(&a);
}

TEST(megabytes_are_zeroed_and_apart_from_what_comes_before_and_behind)
{
	struct arena a CLEANUP(arena_release) = ARENA_INIT;
	size_t many = 5 * 1024 * 1024 + 7;
	char *small = arena_alloc(&a, 100), *large, *other, *behind;

	memset(small, 'a', 100);
	large = arena_alloc_large(&a, many);
	for (size_t i = 0; i < many; i++)
		NEED(large[i] == 0);
	memset(large, 'b', many);
	behind = arena_alloc(&a, 100);
	memset(behind, 'c', 100);
	other = arena_alloc_large(&a, 10); /* too small for that */
	EQ(other[9], 0);
	CHECK(small[0] == 'a' && small[99] == 'a' && large[0] == 'b' && large[many - 1] == 'b');
	EQ((uintptr_t)large % 16, 0);
}

TESTS(CASE(megabytes_are_zeroed_and_apart_from_what_comes_before_and_behind), CASE(an_unused_arena_can_be_released),
      CASE(memory_is_zeroed_and_aligned_at_every_size),
      CASE(what_was_handed_out_neither_moves_nor_changes),
      CASE(a_request_larger_than_a_chunk_is_served),
      CASE(an_arena_can_be_used_again_after_release),
      CASE(copied_text_is_its_own_and_ends_with_nul),
      CASE(printed_text_is_complete_however_long))
