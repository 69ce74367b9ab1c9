/*
 * Claude Code's folder: the table test/table/layout.test, and that what is
 * never opened stays so wherever it lies.
 */
#include "claude/layout.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

static void check_folder(struct t *t, struct str path, struct str want)
{
	bool enters = claude_wants_folder(path);

	if (enters != str_eq(want, STR("enter")) || (!enters && !str_eq(want, STR("never"))))
		t_fail(t, __FILE__, __LINE__, "folder '%.*s': wanted %.*s", STR_ARG(path), STR_ARG(want));
}

static void check_file(struct t *t, struct str path, struct str want)
{
	enum claude_kind kind = claude_kind_of(path);
	char got[64];

	if (kind == CLAUDE_NONE)
		snprintf(got, sizeof got, "never");
	else
		snprintf(got, sizeof got, "%s%s", claude_kind_name(kind), claude_file_grows(path) ? "+grows" : "");
	if (!str_eq(str_of(got), want))
		t_fail(t, __FILE__, __LINE__, "'%.*s' is %s, wanted %.*s", STR_ARG(path), got, STR_ARG(want));
}

TEST(every_path_in_the_table_is_what_it_says)
{
	struct buf file;
	struct str rest, line, path, want;
	int cases = 0;

	if (!t_read_file(t, "test/table/layout.test", &file))
		return;
	for (rest = buf_as_str(&file); rest.n;) {
		size_t arrow;

		line = str_cut(rest, '\n', &rest);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		for (arrow = 0; arrow < line.n && !str_has_prefix(str_sub(line, arrow, 4), STR(" => ")); arrow++)
			;
		NEED(arrow < line.n);
		path = str_sub(line, 0, arrow);
		want = str_sub(line, arrow + 4, SIZE_MAX);
		if (str_has_suffix(path, STR("/")))
			check_folder(t, str_sub(path, 0, path.n - 1), want);
		else
			check_file(t, path, want);
		cases++;
	}
	CHECK(cases > 120);
	buf_release(&file);
}

TEST(names_with_secrets_are_refused_below_every_folder)
{
	static const char *const folders[] = {
		"",
		"projects/",
		"projects/p/",
		"projects/p/s/subagents/",
		"projects/p/s/tool-results/",
		"projects/p/memory/",
		"tasks/",
		"tasks/s/",
		"todos/",
		"plans/",
		"file-history/s/",
		"sessions/",
		"backups/",
		"unknown/",
	};
	static const char *const secrets[] = {
		".credentials.json", ".claude.json", ".claude.json.backup", ".claude.json.corrupted.1", "settings.json",
		"settings.local.json", "settings.json.lock", "x.lock", ".lock",
	};

	for (size_t i = 0; i < COUNT(folders); i++)
		for (size_t k = 0; k < COUNT(secrets); k++) {
			char path[100];

			snprintf(path, sizeof path, "%s%s", folders[i], secrets[k]);
			if (claude_kind_of(str_of(path)) != CLAUDE_NONE || claude_wants_folder(str_of(path)))
				t_fail(t, __FILE__, __LINE__, "%s would be opened", path);
		}
}

/* A file is wanted only where the walk would get to it. */
TEST(the_folders_of_a_wanted_file_are_wanted)
{
	struct buf file;
	struct str rest, line;

	if (!t_read_file(t, "test/table/layout.test", &file))
		return;
	for (rest = buf_as_str(&file); rest.n;) {
		line = str_cut(rest, '\n', &rest);
		line = str_cut(line, ' ', &(struct str){ 0 });
		if (line.n == 0 || line.p[0] == '#' || claude_kind_of(line) == CLAUDE_NONE)
			continue;
		for (size_t i = 0; i + 1 < line.n; i++)
			if (line.p[i] == '/' && !claude_wants_folder(str_sub(line, 0, i)))
				t_fail(t, __FILE__, __LINE__, "%.*s is not reached", STR_ARG(line));
	}
	buf_release(&file);
}

TEST(strange_paths_do_no_harm)
{
	static const struct str paths[] = { { NULL, 0 }, { "", 0 },   { "/", 1 },
					    { "//", 2 }, { "\0", 1 }, { "\xff", 1 } };

	for (size_t i = 0; i < COUNT(paths); i++) {
		EQ(claude_kind_of(paths[i]), CLAUDE_NONE);
		CHECK(!claude_wants_folder(paths[i]));
	}
}

TEST(every_kind_has_its_own_name)
{
	for (int i = 0; i < CLAUDE_KINDS; i++) {
		NEED(claude_kind_name((enum claude_kind)i));
		for (int k = 0; k < i; k++)
			CHECK(strcmp(claude_kind_name((enum claude_kind)i), claude_kind_name((enum claude_kind)k)));
	}
}

TEST(what_is_kept_for_a_session_names_it)
{
#define S "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e5f"
	static const char *const its[] = {
		"projects/p/" S ".jsonl",
		"projects/p/" S ".jsonl.bak",
		"projects/p/" S "/tool-results/x.txt",
		"projects/p/" S "/subagents/agent-1.jsonl",
		"projects/p/" S "/subagents/agent-1.meta.json",
		"tasks/" S "/1.json",
		"todos/" S "-agent-" S ".json",
		"file-history/" S "/x@v1",
	};
	static const char *const nobodys[] = {
		"history.jsonl",
		"projects/p/agent-1.jsonl",
		"projects/p/memory/MEMORY.md",
		"plans/" S ".md",
		"todos/x.json",
		"projects/" S "/x.jsonl",
		"tasks/1.json",
		"",
	};
	struct uuid want, got;

	uuid_parse(STR(S), &want);
#undef S
	for (size_t i = 0; i < COUNT(its); i++)
		if (!claude_session_of(str_of(its[i]), &got) || !uuid_eq(&got, &want))
			t_fail(t, __FILE__, __LINE__, "%s is not its", its[i]);
	for (size_t i = 0; i < COUNT(nobodys); i++)
		if (claude_session_of(str_of(nobodys[i]), &got))
			t_fail(t, __FILE__, __LINE__, "%s is a session's", nobodys[i]);
}

TESTS(CASE(every_path_in_the_table_is_what_it_says), CASE(what_is_kept_for_a_session_names_it),
      CASE(names_with_secrets_are_refused_below_every_folder), CASE(the_folders_of_a_wanted_file_are_wanted),
      CASE(strange_paths_do_no_harm), CASE(every_kind_has_its_own_name))
