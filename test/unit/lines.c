/*
 * Counting lines: known texts, and random ones in every chunking against a
 * count byte by byte.
 */
#include "base/lines.h"
#include "t.h"

#include <string.h>

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static struct line_count count_plainly(struct str text)
{
	struct line_count c = { 0 };

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n') {
			c.lines++;
			c.tail = 0;
			continue;
		}
		c.tail++;
		if (c.tail > c.longest)
			c.longest = c.tail;
	}
	return c;
}

TEST(known_texts_have_known_counts)
{
	static const struct {
		struct str text;
		struct line_count want;
	} rows[] = {
		{ { "", 0 }, { 0, 0, 0 } },
		{ { NULL, 0 }, { 0, 0, 0 } },
		{ { "\n", 1 }, { 1, 0, 0 } },
		{ { "\n\n\n", 3 }, { 3, 0, 0 } },
		{ { "a", 1 }, { 0, 1, 1 } },
		{ { "a\n", 2 }, { 1, 0, 1 } },
		{ { "a\nbc", 4 }, { 1, 2, 2 } },
		{ { "abc\nb", 5 }, { 1, 1, 3 } },
		{ { "abc\r\nb\r\n", 8 }, { 2, 0, 4 } },   /* a carriage return belongs to its line */
		{ { "a\rb", 3 }, { 0, 3, 3 } },
		{ { "\xef\xbb\xbf{}\n", 6 }, { 1, 0, 5 } }, /* so does a byte order mark */
		{ { "a\0b\n\0", 5 }, { 1, 1, 3 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct line_count c = { 0 };

		line_count_add(&c, rows[i].text);
		if (!line_count_eq(&c, &rows[i].want))
			t_fail(t, __FILE__, __LINE__, "row %zu: %" PRId64 " %" PRId64 " %" PRId64, i, c.lines, c.tail,
			       c.longest);
	}
}

TEST(every_chunking_of_a_short_text_gives_the_same)
{
	uint64_t state = 1;

	for (int round = 0; round < 40; round++) {
		char text[12];
		size_t n = (size_t)(next_random(&state) % (sizeof text + 1));
		struct line_count want;

		for (size_t i = 0; i < n; i++)
			text[i] = "\nab\r"[next_random(&state) % 4];
		want = count_plainly(str_from(text, n));
		for (unsigned cuts = 0; cuts < 1u << (n ? n - 1 : 0); cuts++) {
			struct line_count c = { 0 };
			size_t from = 0;

			for (size_t i = 1; i <= n; i++)
				if (i == n || cuts >> (i - 1) & 1) {
					line_count_add(&c, str_from(text + from, i - from));
					from = i;
				}
			CHECK(line_count_eq(&c, &want));
		}
	}
}

TEST(random_chunkings_of_long_texts_give_the_same)
{
	uint64_t state = 2;

	for (int round = 0; round < 200; round++) {
		static char text[20000];
		size_t n = (size_t)(next_random(&state) % sizeof text);
		uint64_t rarity = 1 + next_random(&state) % 300;
		struct line_count want, c = { 0 };

		for (size_t i = 0; i < n; i++)
			text[i] = next_random(&state) % rarity ? 'x' : '\n';
		want = count_plainly(str_from(text, n));
		for (size_t at = 0; at < n;) {
			size_t piece = size_min(n - at, (size_t)(next_random(&state) % 3000));

			line_count_add(&c, str_from(text + at, piece));
			at += piece;
		}
		CHECK(line_count_eq(&c, &want));
	}
}

TEST(counts_differ_when_any_number_does)
{
	struct line_count a = { 1, 2, 3 }, b = a;

	CHECK(line_count_eq(&a, &b));
	b.lines++;
	CHECK(!line_count_eq(&a, &b));
	b = a;
	b.tail++;
	CHECK(!line_count_eq(&a, &b));
	b = a;
	b.longest++;
	CHECK(!line_count_eq(&a, &b));
}

TESTS(CASE(known_texts_have_known_counts),
      CASE(every_chunking_of_a_short_text_gives_the_same),
      CASE(random_chunkings_of_long_texts_give_the_same),
      CASE(counts_differ_when_any_number_does))
