/*
 * Numbers in order: as qsort() has them, and equal ones as they came.
 */
#include "base/order.h"
#include "t.h"

#include <stdlib.h>

enum { MANY = 5000 };

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int as_wanted(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Orders numbers below a limit, from a first one on, both ways. */
static void compare(struct t *t, size_t count, uint64_t first, uint64_t limit)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct ordered *list = arena_room(&mem, (count + 1) * sizeof *list);
	struct ordered *wanted = arena_room(&mem, (count + 1) * sizeof *wanted), *got;
	uint64_t seed = 20260101 + first + limit;

	for (size_t i = 0; i < count; i++)
		wanted[i] = list[i] = (struct ordered){ first + next(&seed) % limit, (uint32_t)i };
	qsort(wanted, count, sizeof *wanted, as_wanted);
	got = order_by_number(list, count, &mem);
	for (size_t i = 0; i < count; i++) {
		EQ(got[i].number, wanted[i].number);
		EQ(got[i].place, wanted[i].place);
	}
}

TEST(none_and_one_are_in_order)
{
	compare(t, 0, 0, 1);
	compare(t, 1, 42, 1);
}

TEST(equal_numbers_stay_as_they_came)
{
	compare(t, MANY, 7, 1);
	compare(t, MANY, 0, 3);
}

TEST(times_of_a_year_are_put_in_order)
{
	compare(t, MANY, 1767225600000, 366ull * 24 * 3600 * 1000);
}

TEST(numbers_of_all_sizes_are_put_in_order)
{
	for (unsigned bits = 1; bits < 64; bits++)
		compare(t, 200, 0, (uint64_t)1 << bits);
	compare(t, MANY, 0, UINT64_MAX);
	compare(t, MANY, UINT64_MAX - 5000, 5000);
}

TEST(the_smallest_and_the_largest_number_may_stand_together)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct ordered list[] = { { UINT64_MAX, 0 }, { 0, 1 }, { UINT64_MAX, 2 }, { 0, 3 } };
	const struct ordered *got = order_by_number(list, COUNT(list), &mem);

	EQ(got[0].place, 1);
	EQ(got[1].place, 3);
	EQ(got[2].place, 0);
	EQ(got[3].place, 2);
}

TESTS(CASE(none_and_one_are_in_order), CASE(equal_numbers_stay_as_they_came), CASE(times_of_a_year_are_put_in_order),
      CASE(numbers_of_all_sizes_are_put_in_order), CASE(the_smallest_and_the_largest_number_may_stand_together))
