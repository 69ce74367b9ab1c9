/* Numbers of answers, packed and unpacked. */
#include "store/tokens.h"

#include "t.h"

#include <string.h>

static const int64_t numbers[] = { 0,	      1,		127,	   128, 16383,	  16384,
				   INT32_MAX, INT64_C(1) << 62, INT64_MAX, -1,	INT64_MIN };

static bool same(const struct tokens *a, const struct tokens *b)
{
	return a->message == b->message && a->at == b->at && a->input == b->input && a->output == b->output &&
	       a->written == b->written && a->written_1h == b->written_1h && a->read == b->read &&
	       a->final == b->final && a->fast == b->fast && a->copied == b->copied;
}

static struct tokens example(size_t i)
{
	return (struct tokens){ .message = UINT64_MAX - i,
			      .at = numbers[i % COUNT(numbers)],
			      .input = numbers[(i + 1) % COUNT(numbers)],
			      .output = numbers[(i + 2) % COUNT(numbers)],
			      .written = numbers[(i + 3) % COUNT(numbers)],
			      .written_1h = numbers[(i + 4) % COUNT(numbers)],
			      .read = numbers[(i + 5) % COUNT(numbers)],
			      .final = i & 1,
			      .fast = i & 2,
			      .copied = i & 4 };
}

TEST(what_was_packed_comes_back_and_no_part_of_it_does)
{
	for (size_t i = 0; i < 4 * COUNT(numbers); i++) {
		struct tokens in = example(i), out;
		uint8_t packed[TOKENS_BYTES + 1] = { 0 };
		size_t n = tokens_pack(&in, packed);

		CHECK(n <= TOKENS_BYTES);
		CHECK(tokens_unpack(str_from((char *)packed, n), &out));
		CHECK(same(&in, &out));
		for (size_t less = 0; less < n; less++)
			CHECK(!tokens_unpack(str_from((char *)packed, less), &out));
		CHECK(!tokens_unpack(str_from((char *)packed, n + 1), &out));
	}
}

TEST(numbers_that_never_end_are_none)
{
	uint8_t packed[TOKENS_BYTES];
	struct tokens out;

	memset(packed, 0xff, sizeof packed);
	CHECK(!tokens_unpack(str_from((char *)packed, sizeof packed), &out));
}

TEST(of_each_number_the_larger_one_counts_in_any_order)
{
	struct tokens a = { .message = 1, .at = 5, .input = 3, .output = 9, .written = 2, .read = 7, .final = true,
			   .copied = true };
	struct tokens b = { .message = 1, .at = 6, .input = 4, .output = 8, .written_1h = 1, .read = 7, .fast = true };
	struct tokens want = { .message = 1, .at = 5, .input = 4, .output = 9, .written = 2, .written_1h = 1, .read = 7,
			     .final = true, .fast = true, .copied = true };
	struct tokens one = a, other = b;

	tokens_raise(&one, &b);
	CHECK(same(&one, &want));
	tokens_raise(&other, &a);
	want.at = 6; /* each keeps its time */
	CHECK(same(&other, &want));
}

TESTS(CASE(what_was_packed_comes_back_and_no_part_of_it_does), CASE(numbers_that_never_end_are_none),
      CASE(of_each_number_the_larger_one_counts_in_any_order))
