/*
 * Which files a sync takes.
 */
#include "claude/folder.h"
#include "ingest/filter.h"
#include "t.h"

struct world {
	struct arena mem;
	struct filter f;
	const struct filter_rules *rules;
};

static void world_release(struct world *w)
{
	filter_release(&w->rules);
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

static enum status exclude(struct world *w, const struct filter_pattern *patterns, size_t count, struct err *err)
{
	w->f = (struct filter){ .exclude = patterns, .exclude_count = count };
	return filter_make(&w->f, &w->mem, &w->rules, err);
}

#define EXCLUDE(...) \
	do { \
		static const struct filter_pattern patterns[] = { __VA_ARGS__ }; \
		OK(exclude(&w, patterns, COUNT(patterns), &err)); \
	} while (0)
#define S(literal) { .glob = { literal, sizeof(literal) - 1 } }

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

static bool excludes(const struct world *w, const char *folder)
{
	return filter_excludes_folder(w->rules, str_of(folder));
}

static bool may_exclude(const struct world *w, const char *name)
{
	return filter_excludes_name(w->rules, str_of(name));
}

TEST(a_pattern_with_a_slash_in_front_excludes_a_folder_and_those_below_it)
{
	WORLD;
	struct err err;

	EXCLUDE(S("/home/u/secret"), S("/srv/*/x.y"), S("/opt/a/"), S("/opt/b/*"), S("/opt/c/**"), S("/opt/d*"));
	CHECK(filter_has_folders(w.rules));
	CHECK(excludes(&w, "/home/u/secret") && excludes(&w, "/home/u/secret/deep/er"));
	CHECK(!excludes(&w, "/home/u/secrets") && !excludes(&w, "/home/u") && !excludes(&w, "/x/home/u/secret"));
	CHECK(excludes(&w, "/srv/a/b/x.y/z") && !excludes(&w, "/srv/x.y") && !excludes(&w, "/srv/a/xzy"));
	CHECK(excludes(&w, "/opt/a") && excludes(&w, "/opt/b") && excludes(&w, "/opt/c/x"));
	CHECK(excludes(&w, "/opt/dear/x") && !excludes(&w, "/opt/bb") && !excludes(&w, ""));
}

TEST(the_name_of_a_projects_folder_only_may_be_that_of_an_excluded_one)
{
	WORLD;
	struct err err;

	EXCLUDE(S("/home/u/secret"), S("/srv/*/x.y"));
	CHECK(may_exclude(&w, "-home-u-secret") && may_exclude(&w, "-home-u-secret-deep"));
	CHECK(!may_exclude(&w, "-home-u-secrets") && !may_exclude(&w, "-home-u"));
	CHECK(may_exclude(&w, "-srv-a-b-x-y") && !may_exclude(&w, "-srv-x-y"));
	CHECK(takes(&w, "projects/-home-u-secret/a.jsonl") && enters(&w, "projects/-home-u-secret"));
}

TEST(a_name_that_the_client_has_cut_may_be_that_of_an_excluded_folder)
{
	WORLD;
	struct err err;
	struct buf folder CLEANUP(buf_release) = BUF_INIT(KIB), name CLEANUP(buf_release) = BUF_INIT(KIB);
	struct filter_pattern pattern;

	for (int i = 0; i < 50; i++)
		buf_text(&folder, "/\xc3\xa9tude");
	pattern = (struct filter_pattern){ .glob = buf_as_str(&folder) };
	OK(exclude(&w, &pattern, 1, &err));
	claude_encode_cwd(buf_as_str(&folder), &name);
	CHECK(name.n > CLAUDE_FOLDER_WHOLE && filter_excludes_name(w.rules, buf_as_str(&name)));
	buf_text(&folder, "/below");
	buf_clear(&name);
	claude_encode_cwd(buf_as_str(&folder), &name);
	CHECK(filter_excludes_name(w.rules, buf_as_str(&name)));
	CHECK(filter_excludes_folder(w.rules, buf_as_str(&folder)));
	CHECK(!may_exclude(&w, "--tude"));
}

TEST(everything_is_below_the_root)
{
	WORLD;
	struct err err;

	EXCLUDE(S("/"));
	CHECK(excludes(&w, "/") && excludes(&w, "/a/b") && may_exclude(&w, "-") && may_exclude(&w, "-a-b"));
}

TEST(a_pattern_excludes_what_its_links_lead_to_as_well)
{
	WORLD;
	struct err err;

	EXCLUDE({ .glob = { "/home/u", 7 }, .real = { "/data/u", 7 } });
	CHECK(excludes(&w, "/home/u/x") && excludes(&w, "/data/u") && may_exclude(&w, "-data-u"));
	CHECK(filter_was_used(w.rules, 0));
}

TEST(which_patterns_were_of_use_is_known)
{
	WORLD;
	struct err err;

	EXCLUDE(S("tasks"), S("tas*"), S("todos"), S("/a"), S("/b"));
	CHECK(!filter_was_used(w.rules, 0));
	CHECK(!takes(&w, "tasks/x/1.json") && excludes(&w, "/a/c"));
	CHECK(filter_was_used(w.rules, 0) && filter_was_used(w.rules, 1) && filter_was_used(w.rules, 3));
	CHECK(!filter_was_used(w.rules, 2) && !filter_was_used(w.rules, 4));
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
	static const struct filter_pattern empty = S(""), zero = S("a\0b");

	EQ(exclude(&w, &empty, 1, &err), STATUS_USAGE);
	EQ(exclude(&w, &zero, 1, &err), STATUS_USAGE);
}

TESTS(CASE(without_rules_the_layout_decides), CASE(a_pattern_excludes_paths_and_what_is_below_them),
      CASE(a_pattern_with_a_slash_in_front_excludes_a_folder_and_those_below_it),
      CASE(the_name_of_a_projects_folder_only_may_be_that_of_an_excluded_one),
      CASE(a_name_that_the_client_has_cut_may_be_that_of_an_excluded_folder), CASE(everything_is_below_the_root),
      CASE(a_pattern_excludes_what_its_links_lead_to_as_well), CASE(which_patterns_were_of_use_is_known),
      CASE(one_project_only),
      CASE(one_session_only), CASE(large_files_do_not_fit), CASE(an_empty_pattern_is_refused))
