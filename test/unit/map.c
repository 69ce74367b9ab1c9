/*
 * The map against a plain array of the same entries.
 */
#include "base/map.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

enum { KEYS = 5000 };

TEST(an_empty_map_has_nothing)
{
	struct map m = MAP_INIT;

	CHECK(map_get(&m, STR("x")) == NULL);
	CHECK(map_get(&m, STR("")) == NULL);
	CHECK(map_get(&m, (struct str){ 0 }) == NULL);
	EQ(m.count, 0);
	map_release(&m);
}

TEST(what_was_put_is_got_however_many_there_are)
{
	static char keys[KEYS][16];
	static int values[KEYS];
	struct map m = MAP_INIT;

	for (size_t i = 0; i < KEYS; i++) {
		snprintf(keys[i], sizeof keys[i], "key-%zu", i);
		CHECK(map_get(&m, str_of(keys[i])) == NULL);
		map_put(&m, str_of(keys[i]), &values[i]);
		EQ(m.count, i + 1);
		CHECK(m.count * 3 <= m.cap * 2 && (m.cap & (m.cap - 1)) == 0);
		/* Everything stays reachable through every growth. */
		if (i % 97 == 0 || (m.cap & m.count) == m.cap / 2)
			for (size_t k = 0; k <= i; k++)
				NEED(map_get(&m, str_of(keys[k])) == &values[k]);
	}
	for (size_t i = 0; i < KEYS; i++)
		CHECK(map_get(&m, str_of(keys[i])) == &values[i]);
	CHECK(map_get(&m, STR("key-")) == NULL && map_get(&m, STR("key-5000")) == NULL);
	map_release(&m);
	CHECK(map_get(&m, STR("key-1")) == NULL);
}

TEST(putting_again_replaces)
{
	struct map m = MAP_INIT;
	int a, b;

	map_put(&m, STR("k"), &a);
	map_put(&m, STR("k"), &b);
	CHECK(map_get(&m, STR("k")) == &b);
	EQ(m.count, 1);
	map_release(&m);
}

TEST(keys_are_bytes_and_their_length_counts)
{
	struct map m = MAP_INIT;
	int v[6];

	map_put(&m, STR(""), &v[0]);
	map_put(&m, STR("a"), &v[1]);
	map_put(&m, STR("a\0"), &v[2]);
	map_put(&m, STR("a\0b"), &v[3]);
	map_put(&m, STR("A"), &v[4]);
	map_put(&m, STR("\xff"), &v[5]);
	EQ(m.count, 6);
	CHECK(map_get(&m, (struct str){ 0 }) == &v[0]);
	CHECK(map_get(&m, STR("a")) == &v[1]);
	CHECK(map_get(&m, STR("a\0")) == &v[2]);
	CHECK(map_get(&m, STR("a\0b")) == &v[3]);
	CHECK(map_get(&m, STR("A")) == &v[4]);
	CHECK(map_get(&m, STR("\xff")) == &v[5]);
	map_release(&m);
}

/* Keys that all want the same place, so that probing and its wrap at the end
 * of the table are what finds them. */
TEST(keys_that_collide_are_told_apart)
{
	static char keys[KEYS * 20][12];
	const char *same[40];
	size_t found = 0, last;
	struct map m = MAP_INIT;

	map_put(&m, STR("first"), &m);
	last = m.cap - 1;
	map_release(&m);
	for (size_t i = 0; i < COUNT(keys) && found < COUNT(same); i++) {
		struct map one = MAP_INIT;

		snprintf(keys[i], sizeof keys[i], "%zu", i);
		map_put(&one, str_of(keys[i]), &m);
		if (one.slots[last].value)
			same[found++] = keys[i];
		map_release(&one);
	}
	NEED(found == COUNT(same));
	for (size_t i = 0; i < found; i++) {
		map_put(&m, str_of(same[i]), &same[i]);
		for (size_t k = 0; k < found; k++)
			CHECK(map_get(&m, str_of(same[k])) == (k <= i ? &same[k] : NULL));
	}
	map_release(&m);
}

TESTS(CASE(an_empty_map_has_nothing),
      CASE(what_was_put_is_got_however_many_there_are),
      CASE(putting_again_replaces),
      CASE(keys_are_bytes_and_their_length_counts),
      CASE(keys_that_collide_are_told_apart))
