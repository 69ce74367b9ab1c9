/*
 * Buffers: content, the maximum, the failure that stays, and the NUL behind.
 */
#include "t.h"

#include <string.h>

TEST(a_new_buffer_is_empty_and_needs_no_release)
{
	struct buf b = BUF_INIT(10), c;

	buf_init(&c, 10);
	CHECK(b.p == NULL && b.n == 0 && b.max == 10 && !b.failed);
	CHECK(memcmp(&b.max, &c.max, sizeof b.max) == 0 && c.p == NULL && c.n == 0 && !c.failed);
	EQS(buf_as_str(&b), STR(""));
}

TEST(every_way_to_append_appends)
{
	struct buf b = BUF_INIT(1000);

	buf_add(&b, "a\0b", 3);
	buf_str(&b, STR("-str"));
	buf_text(&b, "-text");
	buf_byte(&b, '\n');
	buf_printf(&b, "%d|%s", 42, "x");
	EQS(buf_as_str(&b), STR("a\0b-str-text\n42|x"));
	CHECK(!b.failed && b.p[b.n] == '\0');
	buf_release(&b);
}

TEST(appending_nothing_is_allowed_even_from_null)
{
	struct buf b = BUF_INIT(0);

	buf_add(&b, NULL, 0);
	buf_str(&b, (struct str){ 0 });
	buf_printf(&b, "%s", "");
	CHECK(!b.failed && b.n == 0);
	buf_release(&b);
}

TEST(a_buffer_can_be_filled_to_its_maximum_and_not_further)
{
	for (size_t max = 0; max < 300; max++) {
		struct buf b = BUF_INIT(max);

		for (size_t i = 0; i < max; i++)
			buf_byte(&b, (char)('a' + i % 26));
		CHECK(!b.failed && b.n == max);
		buf_byte(&b, '!');
		CHECK(b.failed && b.n == max);
		for (size_t i = 0; i < max; i++)
			CHECK(b.p[i] == (char)('a' + i % 26));
		CHECK(max == 0 || b.p[max] == '\0');
		CHECK(b.cap <= max + 1);
		buf_release(&b);
	}
}

TEST(what_does_not_fit_changes_nothing)
{
	struct buf b = BUF_INIT(5);

	buf_text(&b, "abc");
	buf_text(&b, "def");
	EQS(buf_as_str(&b), STR("abc"));
	CHECK(b.failed && b.p[3] == '\0');
	buf_release(&b);

	buf_printf(&b, "%06d", 1);
	CHECK(b.failed && b.n == 0);
	buf_release(&b);
}

TEST(a_failure_stays_until_the_buffer_is_cleared)
{
	struct buf b = BUF_INIT(4);

	buf_text(&b, "ab");
	buf_text(&b, "cde");
	buf_byte(&b, 'c'); /* would fit, but something before it is missing */
	buf_printf(&b, "c");
	CHECK(buf_reserve(&b, 0) == NULL);
	EQS(buf_as_str(&b), STR("ab"));
	CHECK(b.failed);
	buf_clear(&b);
	CHECK(!b.failed && b.n == 0 && b.p[0] == '\0');
	buf_text(&b, "abcd");
	EQS(buf_as_str(&b), STR("abcd"));
	CHECK(!b.failed);
	buf_release(&b);
}

TEST(an_enormous_request_does_not_overflow)
{
	struct buf b = BUF_INIT(1000);

	buf_text(&b, "abc");
	CHECK(buf_reserve(&b, SIZE_MAX) == NULL);
	CHECK(b.failed && b.n == 3);
	buf_release(&b);
}

TEST(releasing_keeps_the_maximum)
{
	struct buf b = BUF_INIT(3);

	buf_text(&b, "abc");
	buf_release(&b);
	CHECK(b.p == NULL && b.n == 0 && b.cap == 0 && b.max == 3 && !b.failed);
	buf_text(&b, "abcd");
	CHECK(b.failed);
	buf_release(&b);
	buf_release(&b);
}

TEST(reserved_room_can_be_written_in_full)
{
	struct buf b = BUF_INIT(5000);
	char *to;

	buf_text(&b, "x");
	to = buf_reserve(&b, 4999);
	NEED(to);
	EQ(b.n, 1);
	memset(to, 'y', 4999);
	buf_grew(&b, 4999);
	EQ(b.n, 5000);
	CHECK(b.p[0] == 'x' && b.p[4999] == 'y' && b.p[5000] == '\0');
	CHECK(b.cap > b.n);
	buf_release(&b);
}

TEST(growing_takes_few_allocations)
{
	struct buf b = BUF_INIT((size_t)1 << 20);
	size_t cap = 0, moves = 0;

	for (size_t i = 0; i < (size_t)1 << 20; i++) {
		buf_byte(&b, 'x');
		moves += b.cap != cap;
		cap = b.cap;
	}
	CHECK(!b.failed && b.n == (size_t)1 << 20);
	CHECK(moves < 24);
	buf_release(&b);
}

TEST(dropping_moves_the_rest_to_the_front)
{
	struct buf b = BUF_INIT(20);

	buf_drop(&b, 1);
	CHECK(b.n == 0);
	buf_text(&b, "abcdef");
	buf_drop(&b, 0);
	EQS(buf_as_str(&b), STR("abcdef"));
	buf_drop(&b, 2);
	EQS(buf_as_str(&b), STR("cdef"));
	CHECK(b.p[4] == '\0');
	buf_drop(&b, 99);
	CHECK(b.n == 0 && b.p[0] == '\0');
	buf_release(&b);
}

TEST(printing_a_long_text_is_complete)
{
	struct buf b = BUF_INIT(100000);

	buf_printf(&b, "%*d%s", 70000, 7, "end");
	EQ(b.n, 70003);
	EQS(str_sub(buf_as_str(&b), 69999, SIZE_MAX), STR("7end"));
	buf_release(&b);
}

TESTS(CASE(a_new_buffer_is_empty_and_needs_no_release),
      CASE(every_way_to_append_appends),
      CASE(appending_nothing_is_allowed_even_from_null),
      CASE(a_buffer_can_be_filled_to_its_maximum_and_not_further),
      CASE(what_does_not_fit_changes_nothing),
      CASE(a_failure_stays_until_the_buffer_is_cleared),
      CASE(an_enormous_request_does_not_overflow),
      CASE(releasing_keeps_the_maximum),
      CASE(reserved_room_can_be_written_in_full),
      CASE(growing_takes_few_allocations),
      CASE(dropping_moves_the_rest_to_the_front),
      CASE(printing_a_long_text_is_complete))
