/*
 * Wildcards, compared with a matcher that tries everything.
 */
#include "base/glob.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

static bool try_all(const char *p, const char *s, bool path, bool begins);

/* Whether what follows a wildcard matches behind any number of bytes. */
static bool try_star(const char *p, const char *s, bool path, bool deep)
{
	for (;; s++) {
		if (try_all(p, s, path, false))
			return true;
		if (!*s || (path && !deep && *s == '/'))
			return false;
	}
}

static bool try_folders(const char *p, const char *s, bool path)
{
	for (; s; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL)
		if (try_all(p, s, path, true))
			return true;
	return false;
}

static bool try_all(const char *p, const char *s, bool path, bool begins)
{
	if (path && begins && strncmp(p, "**/", 3) == 0)
		return try_folders(p + 3, s, path);
	if (path && strncmp(p, "**", 2) == 0)
		return try_star(p + 2, s, path, true);
	if (*p == '*')
		return try_star(p + 1, s, path, false);
	if (!*p || !*s)
		return *p == *s;
	if (path && *p == '?' && *s != '/')
		return try_all(p + 1, s + 1, path, false);
	if (*p == '\\' && p[1])
		p++;
	return *p == *s && try_all(p + 1, s + 1, path, *p == '/');
}

static void spell(unsigned n, unsigned length, const char *letters, char *out)
{
	unsigned base = (unsigned)strlen(letters);

	for (unsigned i = 0; i < length; i++, n /= base)
		out[i] = letters[n % base];
	out[length] = '\0';
}

static unsigned power(unsigned base, unsigned n)
{
	return n ? base * power(base, n - 1) : 1;
}

static void compare(struct t *t, const char *pattern, const char *text)
{
	for (int path = 0; path < 2; path++) {
		int64_t steps = 100000;
		struct glob_how how = { .path = path != 0, .steps = &steps };

		if (glob_match(str_of(pattern), str_of(text), &how) !=
		    try_all(pattern, text, path != 0, true))
			t_fail(t, __FILE__, __LINE__, "'%s' and '%s', path %d", pattern, text, path);
	}
}

TEST(every_short_pattern_means_what_trying_everything_says)
{
	for (unsigned pn = 0; pn <= 6; pn++)
		for (unsigned p = 0; p < power(4, pn); p++)
			for (unsigned sn = 0; sn <= 4; sn++)
				for (unsigned s = 0; s < power(2, sn); s++) {
					char pattern[8] = "", text[8] = "";

					spell(p, pn, "a*/?", pattern);
					spell(s, sn, "a/", text);
					compare(t, pattern, text);
					if (t->failures > 10)
						return;
				}
}

static bool no_a(unsigned char c)
{
	return c != 'a';
}

TEST(a_wildcard_stands_only_for_what_it_may)
{
	int64_t steps = 1000;
	struct glob_how how = { .may = no_a, .steps = &steps };

	CHECK(glob_match(STR("x*y"), STR("xbcy"), &how));
	CHECK(!glob_match(STR("x*y"), STR("xbacy"), &how));
	CHECK(glob_match(STR("xa*y"), STR("xay"), &how));
	CHECK(glob_match(STR("*a*"), STR("bab"), &how));
	CHECK(!glob_match(STR("*a*"), STR("baab"), &how));
}

TEST(what_is_escaped_means_itself)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(100);
	int64_t steps = 1000;
	struct glob_how how = { .path = true, .steps = &steps };

	glob_escape(&out, STR("a*?\\**b"));
	CHECK(glob_match(buf_as_str(&out), STR("a*?\\**b"), &how));
	CHECK(!glob_match(buf_as_str(&out), STR("aa?\\**b"), &how));
	CHECK(!glob_is_wild(buf_as_str(&out)) && glob_is_wild(STR("a*")));
}

TEST(no_pattern_takes_more_steps_than_are_granted)
{
	struct buf pattern CLEANUP(buf_release) = BUF_INIT(MIB), text CLEANUP(buf_release) = BUF_INIT(MIB);
	int64_t steps = 100000;
	struct glob_how how = { .steps = &steps };

	for (int i = 0; i < 1000; i++)
		buf_text(&pattern, "*a");
	for (int i = 0; i < 100000; i++)
		buf_text(&text, "a");
	buf_text(&pattern, "b");
	CHECK(!glob_match(buf_as_str(&pattern), buf_as_str(&text), &how));
	EQ(steps, -1);
}

TESTS(CASE(every_short_pattern_means_what_trying_everything_says),
      CASE(a_wildcard_stands_only_for_what_it_may), CASE(what_is_escaped_means_itself),
      CASE(no_pattern_takes_more_steps_than_are_granted))
