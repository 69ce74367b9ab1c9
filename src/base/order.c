/*
 * Putting numbers in order without comparing them.
 *
 * A pass goes by some bits of the numbers, the lowest first, and keeps the order that the passes before it have
 * made. Numbers that lie close together, as times of a year do, take few passes: only the bits in which they
 * differ from the smallest count. So the cost grows with how many there are, and not faster.
 */
#include "base/order.h"

enum { BITS = 11, BUCKETS = 1 << BITS };

static size_t bucket_of(const struct ordered *o, uint64_t least, unsigned shift)
{
	return (size_t)((o->number - least) >> shift) & (BUCKETS - 1);
}

static void pass(const struct ordered *from, struct ordered *to, size_t count, uint64_t least, unsigned shift)
{
	size_t starts[BUCKETS] = { 0 }, start = 0;

	for (size_t i = 0; i < count; i++)
		starts[bucket_of(&from[i], least, shift)]++;
	for (size_t i = 0; i < BUCKETS; i++) {
		size_t here = starts[i];

		starts[i] = start;
		start += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[bucket_of(&from[i], least, shift)]++] = from[i];
}

struct ordered *order_by_number(struct ordered *list, size_t count, struct arena *mem)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct ordered *other;

	for (size_t i = 0; i < count; i++) {
		least = list[i].number < least ? list[i].number : least;
		most = list[i].number > most ? list[i].number : most;
	}
	if (least >= most)
		return list;
	other = arena_room(mem, count * sizeof *other);
	for (unsigned shift = 0; shift < 64 && (most - least) >> shift; shift += BITS) {
		struct ordered *last = list;

		pass(list, other, count, least, shift);
		list = other;
		other = last;
	}
	return list;
}
