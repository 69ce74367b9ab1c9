/*
 * Differences: whatever two texts are, applying the diff to the first gives the second,
 * and no shorter one would.
 */
#include "base/diff.h"
#include "base/limits.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>

static void is_diff(struct t *t, const char *a, const char *b, const char *want)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

	diff_unified(str_of(a), str_of(b), &out);
	EQS(buf_as_str(&out), str_of(want));
}

TEST(a_diff_looks_as_diff_prints_it)
{
	is_diff(t, "", "", "");
	is_diff(t, "a\nb\n", "a\nb\n", "");
	is_diff(t, "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n");
	is_diff(t, "a\n", "", "@@ -1 +0,0 @@\n-a\n");
	is_diff(t, "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
	is_diff(t, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n",
		"@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+x\n");
	is_diff(t, "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n",
		"@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n");
	is_diff(t, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
		"@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n");
}

TEST(a_last_line_without_an_end_is_told_from_one_with_it)
{
	is_diff(t, "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
	is_diff(t, "x\na", "y\na", "@@ -1,2 +1,2 @@\n-x\n+y\n a\n\\ No newline at end of file\n");
	is_diff(t, "ab", "a",
		"@@ -1 +1 @@\n-ab\n\\ No newline at end of file\n+a\n\\ No newline at end of file\n");
}

TEST(lines_are_counted_with_one_that_is_not_ended)
{
	EQ(diff_lines(STR("")), 0);
	EQ(diff_lines(STR("\n")), 1);
	EQ(diff_lines(STR("a")), 1);
	EQ(diff_lines(STR("a\nb")), 2);
	EQ(diff_lines(STR("a\n\nb\n")), 3);
}

/* ---- Against applying it -------------------------------------------------------------- */

static struct str next_line(struct str *text)
{
	size_t end = str_find(*text, '\n');
	size_t n = end == SIZE_MAX ? text->n : end + 1;
	struct str line = str_sub(*text, 0, n);

	*text = str_sub(*text, n, SIZE_MAX);
	return line;
}

/* What a diff makes of a text; nothing is believed but marks and line numbers. */
static bool apply(struct str a, struct str diff, struct buf *out)
{
	int64_t line = 0;

	while (diff.n) {
		struct str l = next_line(&diff), body = str_sub(l, 1, SIZE_MAX);

		if (l.p[0] == '@') {
			int64_t from = strtoll(l.p + 4, NULL, 10);
			bool none = strstr(l.p, ",0 +") && strstr(l.p, ",0 +") < l.p + l.n;

			for (from -= !none; line < from; line++)
				buf_str(out, next_line(&a));
			continue;
		}
		if (l.p[0] == '\\')
			return false;
		if (str_has_prefix(diff, STR("\\ No newline"))) {
			body.n--;
			next_line(&diff);
		}
		if (l.p[0] != '+') {
			if (!str_eq(next_line(&a), body))
				return false;
			line++;
		}
		if (l.p[0] != '-')
			buf_str(out, body);
	}
	buf_str(out, a);
	return true;
}

/* Lines of a longest common subsequence, the slow way. */
static int64_t common_lines(struct str a, struct str b)
{
	enum { MOST = 64 };
	static struct str x[MOST], y[MOST];
	static int64_t best[MOST + 1][MOST + 1];
	int n = 0, m = 0;

	while (a.n && n < MOST)
		x[n++] = next_line(&a);
	while (b.n && m < MOST)
		y[m++] = next_line(&b);
	memset(best, 0, sizeof best);
	for (int i = 1; i <= n; i++)
		for (int k = 1; k <= m; k++) {
			int64_t skip = best[i - 1][k] > best[i][k - 1] ? best[i - 1][k] : best[i][k - 1];

			best[i][k] = str_eq(x[i - 1], y[k - 1]) ? best[i - 1][k - 1] + 1 : skip;
		}
	return best[n][m];
}

static void random_text(struct buf *out, unsigned *seed, int lines, int words)
{
	for (int i = 0; i < lines; i++)
		buf_printf(out, "%c\n", 'a' + rand_r(seed) % words);
	if (out->n && rand_r(seed) % 4 == 0)
		out->n--;
}

static void try_pair(struct t *t, struct str a, struct str b)
{
	struct buf diff CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf made CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct diff_size size = diff_count(a, b);

	diff_unified(a, b, &diff);
	buf_byte(&diff, '\0'); /* for strstr in apply() */
	diff.n--;
	CHECK(apply(a, buf_as_str(&diff), &made));
	EQS(buf_as_str(&made), b);
	EQ(size.added - size.removed, diff_lines(b) - diff_lines(a));
}

TEST(a_diff_applied_gives_the_other_text_and_is_as_short_as_can_be)
{
	unsigned seed = 1;

	for (int i = 0; i < 4000; i++) {
		struct buf a CLEANUP(buf_release) = BUF_INIT(KIB), b CLEANUP(buf_release) = BUF_INIT(KIB);
		int words = 1 + rand_r(&seed) % 8;
		struct diff_size size;

		random_text(&a, &seed, rand_r(&seed) % 40, words);
		random_text(&b, &seed, rand_r(&seed) % 40, words);
		try_pair(t, buf_as_str(&a), buf_as_str(&b));
		size = diff_count(buf_as_str(&a), buf_as_str(&b));
		EQ(size.removed, diff_lines(buf_as_str(&a)) - common_lines(buf_as_str(&a), buf_as_str(&b)));
	}
}

TEST(large_texts_that_have_little_in_common_do_not_take_forever)
{
	struct buf a CLEANUP(buf_release) = BUF_INIT(8 * MIB), b CLEANUP(buf_release) = BUF_INIT(8 * MIB);
	unsigned seed = 7;

	/* A quadratic comparison of these would take minutes. */
	random_text(&a, &seed, 400000, 2);
	random_text(&b, &seed, 400000, 2);
	try_pair(t, buf_as_str(&a), buf_as_str(&b));
	buf_clear(&a);
	while (a.n < 3 * MIB)
		buf_text(&a, "\n");
	try_pair(t, buf_as_str(&a), buf_as_str(&b));
	try_pair(t, buf_as_str(&b), buf_as_str(&a));
}

TESTS(CASE(a_diff_looks_as_diff_prints_it), CASE(a_last_line_without_an_end_is_told_from_one_with_it),
      CASE(lines_are_counted_with_one_that_is_not_ended),
      CASE(a_diff_applied_gives_the_other_text_and_is_as_short_as_can_be),
      CASE(large_texts_that_have_little_in_common_do_not_take_forever))
