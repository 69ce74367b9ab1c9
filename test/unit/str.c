/*
 * Slices: every function at its edges, with the empty slice whose pointer is
 * NULL, and with bytes that are not text.
 */
#include "t.h"

static const struct str nothing = { 0 };

TEST(a_slice_of_null_is_empty)
{
	EQ(str_of(NULL).n, 0);
	EQS(str_of(NULL), STR(""));
	EQ(str_of("abc").n, 3);
	EQS(str_from("abcdef", 3), STR("abc"));
	EQ(STR("a\0b").n, 3);
}

TEST(a_part_is_cut_to_what_exists)
{
	struct str s = STR("abcdef");

	EQS(str_sub(s, 0, 6), s);
	EQS(str_sub(s, 2, 3), STR("cde"));
	EQS(str_sub(s, 2, SIZE_MAX), STR("cdef"));
	EQS(str_sub(s, 6, 1), STR(""));
	EQS(str_sub(s, SIZE_MAX, SIZE_MAX), STR(""));
	EQS(str_sub(s, 3, 0), STR(""));
	EQ(str_sub(nothing, 5, 5).n, 0);
	CHECK(str_sub(nothing, 5, 5).p == NULL);
}

TEST(equal_means_same_length_and_bytes)
{
	CHECK(str_eq(nothing, STR("")));
	CHECK(str_eq(STR("a\0b"), STR("a\0b")));
	CHECK(!str_eq(STR("a\0b"), STR("a\0c")));
	CHECK(!str_eq(STR("a"), STR("ab")));
	CHECK(!str_eq(STR("ab"), STR("a")));
}

TEST(order_is_by_unsigned_bytes_then_length)
{
	static const char *const sorted[] = {
		"", "\x01", "A", "a", "aa", "ab", "b", "\x7f", "\x80", "\xff", "\xff\x01",
	};

	for (size_t i = 0; i < COUNT(sorted); i++) {
		for (size_t j = 0; j < COUNT(sorted); j++) {
			int c = str_cmp(str_of(sorted[i]), str_of(sorted[j]));

			EQ((c > 0) - (c < 0), (i > j) - (i < j));
		}
	}
	EQ(str_cmp(nothing, nothing), 0);
	CHECK(str_cmp(nothing, STR("a")) < 0);
}

TEST(prefix_and_suffix_may_be_empty_or_everything)
{
	struct str s = STR("notes.jsonl");

	CHECK(str_has_prefix(s, STR("")) && str_has_suffix(s, STR("")));
	CHECK(str_has_prefix(s, s) && str_has_suffix(s, s));
	CHECK(str_has_prefix(s, STR("notes")) && str_has_suffix(s, STR(".jsonl")));
	CHECK(!str_has_prefix(s, STR("otes")) && !str_has_suffix(s, STR(".json")));
	CHECK(!str_has_prefix(STR("no"), s) && !str_has_suffix(STR("nl"), s));
	CHECK(str_has_prefix(nothing, nothing) && str_has_suffix(nothing, nothing));
}

TEST(a_byte_is_found_first_and_last)
{
	struct str s = STR("a/b/c\0\xff");

	EQ(str_find(s, '/'), 1);
	EQ(str_rfind(s, '/'), 3);
	EQ(str_find(s, '\0'), 5);
	EQ(str_find(s, '\xff'), 6);
	EQ(str_rfind(s, 'a'), 0);
	CHECK(str_find(s, 'x') == SIZE_MAX && str_rfind(s, 'x') == SIZE_MAX);
	CHECK(str_find(nothing, 'a') == SIZE_MAX && str_rfind(nothing, 'a') == SIZE_MAX);
	/* Only inside the slice: what stands behind it is not seen. */
	CHECK(str_find(str_sub(s, 0, 1), '/') == SIZE_MAX);
	CHECK(str_has_byte(s, 'b') && !str_has_byte(s, 'x') && !str_has_byte(nothing, 0));
}

TEST(cutting_tells_an_empty_rest_from_none)
{
	struct str rest;

	EQS(str_cut(STR("key=value=x"), '=', &rest), STR("key"));
	EQS(rest, STR("value=x"));
	EQS(str_cut(STR("key="), '=', &rest), STR("key"));
	CHECK(rest.n == 0 && rest.p != NULL);
	EQS(str_cut(STR("key"), '=', &rest), STR("key"));
	CHECK(rest.n == 0 && rest.p == NULL);
	EQS(str_cut(STR("=v"), '=', &rest), STR(""));
	EQS(rest, STR("v"));
	EQS(str_cut(nothing, '=', &rest), STR(""));
	CHECK(rest.p == NULL);
}

TEST(trimming_removes_ascii_space_only)
{
	EQS(str_trim(STR(" \t\r\n\v\f a b \n")), STR("a b"));
	EQS(str_trim(STR(" \n ")), STR(""));
	EQS(str_trim(nothing), STR(""));
	EQS(str_trim(STR("\0a\0")), STR("\0a\0"));
	EQS(str_trim(STR("\xc2\xa0" "a")), STR("\xc2\xa0" "a"));
}

TEST(a_basename_is_what_follows_the_last_slash)
{
	EQS(str_basename(STR("/a/b/c.txt")), STR("c.txt"));
	EQS(str_basename(STR("c.txt")), STR("c.txt"));
	EQS(str_basename(STR("a/")), STR(""));
	EQS(str_basename(STR("/")), STR(""));
	EQS(str_basename(nothing), STR(""));
}

TEST(numbers_are_taken_up_to_their_limits)
{
	uint64_t u = 0;
	int64_t i = 0;

	CHECK(str_to_u64(STR("0"), &u) && u == 0);
	CHECK(str_to_u64(STR("0007"), &u) && u == 7);
	CHECK(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
	CHECK(str_to_i64(STR("9223372036854775807"), &i) && i == INT64_MAX);
	CHECK(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
	CHECK(str_to_i64(STR("-1"), &i) && i == -1);
	CHECK(str_to_i64(STR("-0"), &i) && i == 0);
}

TEST(what_is_no_number_leaves_the_output_alone)
{
	const struct str bad[] = {
		{ 0 }, STR(""), STR("-"), STR("--1"), STR("+1"), STR(" 1"), STR("1 "), STR("1\0"),
		STR("0x10"), STR("1e3"), STR("1.0"), STR("1_000"), STR("/"), STR(":"), STR("a"), STR("\xb2"),
		STR("18446744073709551616"), STR("99999999999999999999999"),
	};

	for (size_t k = 0; k < COUNT(bad); k++) {
		uint64_t u = 77;
		int64_t i = 77;

		CHECK(!str_to_u64(bad[k], &u) && u == 77);
		CHECK(!str_to_i64(bad[k], &i) && i == 77);
	}
}

TEST(signed_numbers_stop_at_their_own_limits)
{
	uint64_t u = 77;
	int64_t i = 77;

	CHECK(!str_to_u64(STR("-1"), &u) && u == 77);
	CHECK(!str_to_i64(STR("9223372036854775808"), &i) && i == 77);
	CHECK(!str_to_i64(STR("-9223372036854775809"), &i) && i == 77);
}

TEST(bytes_may_have_a_unit)
{
	static const struct {
		const char *text;
		int64_t bytes; /* -1 = it is none */
	} cases[] = {
		{ "0", 0 }, { "4711", 4711 }, { "1k", 1024 }, { "500K", 512000 }, { "10M", 10485760 },
		{ "1G", 1 << 30 }, { "2T", (int64_t)2 << 40 }, { "3MiB", 3 << 20 }, { "3MB", 3000000 }, { "1kB", 1000 },
		{ "8388607T", (int64_t)8388607 << 40 },
		{ "", -1 }, { "K", -1 }, { "-1K", -1 }, { "1.5M", -1 }, { "1 M", -1 }, { "1X", -1 }, { "1MBB", -1 },
		{ "1Mb", -1 }, { "1iB", -1 }, { "8388608T", -1 }, { "9223372036854775808", -1 }, { "1MiX", -1 },
	};

	for (size_t k = 0; k < COUNT(cases); k++) {
		int64_t bytes = -1;

		EQ(str_to_bytes(str_of(cases[k].text), &bytes), cases[k].bytes >= 0);
		EQ(bytes, cases[k].bytes);
	}
	CHECK(!str_to_bytes((struct str){ 0 }, &(int64_t){ 0 }));
}

TESTS(CASE(a_slice_of_null_is_empty),
      CASE(a_part_is_cut_to_what_exists),
      CASE(equal_means_same_length_and_bytes),
      CASE(order_is_by_unsigned_bytes_then_length),
      CASE(prefix_and_suffix_may_be_empty_or_everything),
      CASE(a_byte_is_found_first_and_last),
      CASE(cutting_tells_an_empty_rest_from_none),
      CASE(trimming_removes_ascii_space_only),
      CASE(a_basename_is_what_follows_the_last_slash),
      CASE(numbers_are_taken_up_to_their_limits),
      CASE(what_is_no_number_leaves_the_output_alone),
      CASE(signed_numbers_stop_at_their_own_limits),
      CASE(bytes_may_have_a_unit))
