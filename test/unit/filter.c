/*
 * Which files a sync takes.
 */
#include "ingest/filter.h"
#include "t.h"

struct world {
	struct arena mem;
	struct filter f;
	const struct filter_rules *rules;
};

static void world_release(struct world *w)
{
	arena_release(&w->mem);
}

#define WORLD struct world w CLEANUP(world_release) = { 0 }

static bool takes(const struct world *w, const char *path)
{
	return filter_wants(w->rules, str_of(path), false);
}

static bool enters(const struct world *w, const char *path)
{
	return filter_wants(w->rules, str_of(path), true);
}

static enum status exclude(struct world *w, const struct str *patterns, size_t count, struct err *err)
{
	w->f = (struct filter){ .exclude = patterns, .exclude_count = count };
	return filter_make(&w->f, &w->mem, &w->rules, err);
}

#define EXCLUDE(...) \
	do { \
		static const struct str patterns[] = { __VA_ARGS__ }; \
		OK(exclude(&w, patterns, COUNT(patterns), &err)); \
	} while (0)
#define S(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

TEST(without_rules_the_layout_decides)
{
	WORLD;
	struct err err;

	CHECK(takes(&w, "projects/p/a.jsonl") && takes(&w, "history.jsonl") && enters(&w, "projects"));
	CHECK(!takes(&w, ".credentials.json") && !takes(&w, "projects/p/x.lock") && !enters(&w, "plugins"));
	CHECK(filter_fits(NULL, INT64_MAX));
	OK(filter_make(&w.f, &w.mem, &w.rules, &err));
	CHECK(takes(&w, "projects/p/a.jsonl") && enters(&w, "projects/p") && !takes(&w, "settings.json"));
	CHECK(filter_fits(w.rules, INT64_MAX));
}

TEST(a_pattern_excludes_paths_and_what_is_below_them)
{
	WORLD;
	struct err err;

	EXCLUDE(S("file-history"), S("projects/*/tool-results/"), S("*.txt"), S("projects/-tmp-?"));
	CHECK(!enters(&w, "file-history") && !takes(&w, "file-history/s/x@v1"));
	CHECK(!takes(&w, "projects/p/s/tool-results/x.json") && !enters(&w, "projects/p/s/tool-results"));
	CHECK(takes(&w, "projects/p/s/tool-results-not/x.json"));
	CHECK(!takes(&w, "projects/p/notes.txt") && takes(&w, "projects/p/notes.txt.md"));
	CHECK(!takes(&w, "projects/-tmp-a/a.jsonl") && takes(&w, "projects/-tmp-ab/a.jsonl"));
	CHECK(takes(&w, "projects/p/a.jsonl") && takes(&w, "history.jsonl"));
}

TEST(a_pattern_with_a_slash_in_front_excludes_projects_by_their_folder)
{
	WORLD;
	struct err err;

	EXCLUDE(S("/home/u/secret"), S("/srv/*/x.y"));
	CHECK(!takes(&w, "projects/-home-u-secret/a.jsonl") && !enters(&w, "projects/-home-u-secret"));
	CHECK(takes(&w, "projects/-home-u-secrets/a.jsonl") && takes(&w, "projects/-home-u/a.jsonl"));
	CHECK(!takes(&w, "projects/-srv-a-b-x-y/a.jsonl") && takes(&w, "projects/-srv-x-y/a.jsonl"));
	CHECK(takes(&w, "tasks/-home-u-secret/1.json") && enters(&w, "projects"));
}

TEST(one_project_only)
{
	WORLD;
	struct err err;

	w.f.project = STR("/home/u/pro.ject/");
	OK(filter_make(&w.f, &w.mem, &w.rules, &err));
	CHECK(enters(&w, "projects") && enters(&w, "projects/-home-u-pro-ject") &&
	      enters(&w, "projects/-home-u-pro-ject/s") && takes(&w, "projects/-home-u-pro-ject/s/x.json"));
	CHECK(!enters(&w, "tasks") && !takes(&w, "history.jsonl") && !enters(&w, "projects/-home-u") &&
	      !takes(&w, "projects/-home-u-pro-ject-2/a.jsonl"));
}

TEST(one_session_only)
{
	WORLD;
	struct err err;

	w.f.session = STR("0ea33764");
	OK(filter_make(&w.f, &w.mem, &w.rules, &err));
	CHECK(enters(&w, "projects") && enters(&w, "projects/p") && enters(&w, "tasks"));
	CHECK(takes(&w, "projects/p/0ea33764-9f05.jsonl") &&
	      takes(&w, "projects/p/0ea33764-9f05/tool-results/x.txt") &&
	      takes(&w, "tasks/0ea33764-9f05/1.json") && takes(&w, "todos/0ea33764-9f05-agent-1.json"));
	CHECK(!takes(&w, "projects/p/1ea33764.jsonl") && !enters(&w, "projects/p/1ea33764") &&
	      !takes(&w, "history.jsonl") && !takes(&w, "projects/p/memory/a.md") && !enters(&w, "tasks/1"));
	w.f.session = STR("0ea");
	EQ(filter_make(&w.f, &w.mem, &w.rules, &err), STATUS_USAGE);
}

TEST(large_files_do_not_fit)
{
	WORLD;
	struct err err;

	w.f.max_size = 100;
	OK(filter_make(&w.f, &w.mem, &w.rules, &err));
	CHECK(filter_fits(w.rules, 100) && !filter_fits(w.rules, 101));
}

TEST(an_empty_pattern_is_refused)
{
	WORLD;
	struct err err;
	static const struct str empty = { "", 0 }, zero = { "a\0b", 3 };

	EQ(exclude(&w, &empty, 1, &err), STATUS_USAGE);
	EQ(exclude(&w, &zero, 1, &err), STATUS_USAGE);
}

TESTS(CASE(without_rules_the_layout_decides), CASE(a_pattern_excludes_paths_and_what_is_below_them),
      CASE(a_pattern_with_a_slash_in_front_excludes_projects_by_their_folder), CASE(one_project_only),
      CASE(one_session_only), CASE(large_files_do_not_fit), CASE(an_empty_pattern_is_refused))
