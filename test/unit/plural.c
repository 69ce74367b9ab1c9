/*
 * Words in the singular and the plural.
 */
#include "base/limits.h"
#include "base/plural.h"
#include "t.h"

static const struct {
	const char *plural, *singular;
} words[] = {
	{ "hooks", "hook" },	     { "strategies", "strategy" }, { "entries", "entry" },
	{ "retries", "retry" },	     { "branches", "branch" },	   { "matches", "match" },
	{ "patches", "patch" },	     { "hashes", "hash" },	   { "passes", "pass" },
	{ "processes", "process" },  { "indexes", "index" },	   { "fixes", "fix" },
	{ "caches", "cache" },	     { "sizes", "size" },	   { "quizzes", "quizz" },
	{ "cookies", "cookie" },     { "movies", "movie" },	   { "ties", "tie" },
	{ "keys", "key" },	     { "databases", "database" },  { "clauses", "clause" },
	{ "responses", "response" }, { "statuses", "status" },	   { "aliases", "alias" },
	{ "releases", "release" },   { "messages", "message" },	   { "types", "type" },
};

TEST(a_plural_has_one_singular_and_the_other_way)
{
	struct buf room CLEANUP(buf_release) = BUF_INIT(KIB);

	for (size_t i = 0; i < COUNT(words); i++) {
		EQS(plural_singular(str_of(words[i].plural), &room), str_of(words[i].singular));
		EQS(plural_singular(str_of(words[i].singular), &room), str_of(words[i].singular));
		EQS(plural_other(str_of(words[i].plural), &room), str_of(words[i].singular));
		EQS(plural_other(str_of(words[i].singular), &room), str_of(words[i].plural));
	}
}

TEST(what_only_ends_like_a_plural_stays_as_it_is)
{
	static const char *const same[] = { "series", "class", "status", "analysis", "alias",  "canvas",
					    "https",  "news",  "this",	 "bus",	     "always", "kubernetes" };
	struct buf room CLEANUP(buf_release) = BUF_INIT(KIB);

	for (size_t i = 0; i < COUNT(same); i++)
		EQS(plural_singular(str_of(same[i]), &room), str_of(same[i]));
	EQS(plural_other(STR("series"), &room), STR(""));
	EQS(plural_other(STR("as"), &room), STR(""));
	EQS(plural_other(STR(""), &room), STR(""));
	EQS(plural_other(STR("a-word-that-is-much-too-long-for-one"), &room), STR(""));
}

TESTS(CASE(a_plural_has_one_singular_and_the_other_way), CASE(what_only_ends_like_a_plural_stays_as_it_is))
