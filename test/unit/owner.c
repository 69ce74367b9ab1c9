/*
 * Whose files are, and which of them an excluded folder takes along.
 */
#include "base/file.h"
#include "ingest/owner.h"
#include "t.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define A "0aaaaaaa-0000-4000-8000-000000000000"
#define B "0bbbbbbb-0000-4000-8000-000000000000"

struct world {
	struct arena mem;
	struct filter f;
	struct filter_pattern pattern;
	const struct filter_rules *rules;
	const char *dir;
	int root_fd;
};

static void world_release(struct world *w)
{
	filter_release(&w->rules);
	file_close(&w->root_fd);
	arena_release(&w->mem);
}

/* Everything in /home/u/priv is excluded. */
#define WORLD \
	struct world w CLEANUP(world_release) = { .pattern = { .glob = STR("/home/u/priv") }, .dir = t_tmpdir(t) }; \
	struct err err; \
	w.f = (struct filter){ .exclude = &w.pattern, .exclude_count = 1 }; \
	OK(filter_make(&w.f, &w.mem, &w.rules, &err)); \
	w.root_fd = open(w.dir, O_RDONLY | O_DIRECTORY)

static bool is_out(const struct world *w, const char *path)
{
	return owner_is_excluded(w->rules, str_of(path));
}

static void note(const struct world *w, const char *path, const char *folder)
{
	owner_note(w->rules, str_of(path), str_of(folder));
}

static enum status look(struct world *w, const char *path, const char *text, struct err *err)
{
	const char *full = arena_printf(&w->mem, "%s/%s", w->dir, path).p;
	const char *folder = arena_cstr(&w->mem, str_sub(str_of(full), 0, str_rfind(str_of(full), '/')));

	if (file_make_dirs(folder, err) || file_write_atomic(full, str_of(text), 0600, err))
		return err_failed(err->status);
	return owner_look(w->rules, w->root_fd, str_of(path), err);
}

TEST(the_folder_a_transcript_names_decides)
{
	WORLD;
	note(&w, "projects/-home-u-priv/" A ".jsonl", "/home/u/priv");
	note(&w, "projects/-home-u-priv-x/" A ".jsonl", "/home/u/priv/x");
	note(&w, "projects/-home-u-priv/" B ".jsonl", "/home/u-priv");
	note(&w, "projects/-home-u-work/" A ".jsonl", "/home/u/priv/y");
	note(&w, "projects/-home-u-work/" B ".jsonl", "/home/u/work");
	CHECK(is_out(&w, "projects/-home-u-priv/" A ".jsonl") && is_out(&w, "projects/-home-u-priv-x/" A ".jsonl"));
	CHECK(!is_out(&w, "projects/-home-u-priv/" B ".jsonl"));
	CHECK(is_out(&w, "projects/-home-u-work/" A ".jsonl") && !is_out(&w, "projects/-home-u-work/" B ".jsonl"));
}

TEST(without_it_the_name_does)
{
	WORLD;
	note(&w, "projects/-home-u-priv/" A ".jsonl", NULL);
	note(&w, "projects/-home-u-work/" A ".jsonl", "");
	CHECK(is_out(&w, "projects/-home-u-priv/" A ".jsonl") && is_out(&w, "projects/-home-u-priv-x/" B ".jsonl"));
	CHECK(!is_out(&w, "projects/-home-u-work/" A ".jsonl") && !is_out(&w, "projects/-home-u/" B ".jsonl"));
}

TEST(a_conversation_that_went_on_in_an_excluded_folder_is_excluded)
{
	WORLD;
	/* The name was not made of the folder it began in. */
	note(&w, "projects/-home-u-priv/" A ".jsonl", "/home/u/work");
	CHECK(is_out(&w, "projects/-home-u-priv/" A ".jsonl"));
}

TEST(what_belongs_to_a_conversation_goes_with_it)
{
	WORLD;
	note(&w, "projects/-home-u-priv/" A ".jsonl", "/home/u/priv");
	note(&w, "projects/-home-u-priv/" B ".jsonl", "/home/u-priv");
	CHECK(is_out(&w, "projects/-home-u-priv/" A "/tool-results/x.txt"));
	CHECK(is_out(&w, "projects/-home-u-priv/" A "/subagents/agent-1.meta.json"));
	CHECK(!is_out(&w, "projects/-home-u-priv/" B "/tool-results/x.txt"));
	CHECK(is_out(&w, "todos/" A "-agent-" A ".json") && !is_out(&w, "todos/" B "-agent-" B ".json"));
	CHECK(is_out(&w, "tasks/" A "/1.json") && !is_out(&w, "tasks/" B "/1.json"));
	CHECK(is_out(&w, "file-history/" A "/x@v1") && !is_out(&w, "file-history/" B "/x@v1"));
	CHECK(!is_out(&w, "plans/" A ".md") && !is_out(&w, "history.jsonl") && !is_out(&w, "tasks/team/1.json"));
}

TEST(a_sub_agent_goes_with_its_conversation_unless_it_was_in_an_excluded_folder_itself)
{
	WORLD;
	note(&w, "projects/-home-u-work/" A ".jsonl", "/home/u/work");
	note(&w, "projects/-home-u-work/" A "/subagents/agent-1.jsonl", "/home/u/priv");
	note(&w, "projects/-home-u-work/" A "/subagents/agent-2.jsonl", "/elsewhere");
	note(&w, "projects/-home-u-priv/" B ".jsonl", "/home/u/priv");
	note(&w, "projects/-home-u-priv/" B "/subagents/agent-3.jsonl", "/elsewhere");
	note(&w, "projects/-home-u-priv/agent-4.jsonl", "/home/u-priv");
	CHECK(is_out(&w, "projects/-home-u-work/" A "/subagents/agent-1.jsonl"));
	CHECK(!is_out(&w, "projects/-home-u-work/" A "/subagents/agent-2.jsonl"));
	CHECK(is_out(&w, "projects/-home-u-priv/" B "/subagents/agent-3.jsonl"));
	CHECK(!is_out(&w, "projects/-home-u-priv/agent-4.jsonl") && !is_out(&w, "tasks/" A "/1.json"));
}

TEST(the_memory_of_a_project_goes_with_its_transcripts_when_they_agree)
{
	WORLD;
	CHECK(is_out(&w, "projects/-home-u-priv/memory/m.md") && !is_out(&w, "projects/-x/memory/m.md"));
	note(&w, "projects/-home-u-priv/" A ".jsonl", "/home/u-priv");
	note(&w, "projects/-x/" A ".jsonl", "/home/u/priv");
	CHECK(!is_out(&w, "projects/-home-u-priv/memory/m.md") && is_out(&w, "projects/-x/memory/m.md"));
	note(&w, "projects/-home-u-priv/" B ".jsonl", "/home/u/priv");
	note(&w, "projects/-x/" B ".jsonl", "/x");
	CHECK(is_out(&w, "projects/-home-u-priv/memory/m.md") && !is_out(&w, "projects/-x/memory/m.md"));
}

TEST(what_is_learned_later_counts)
{
	WORLD;
	note(&w, "projects/-home-u-priv/" A ".jsonl", NULL);
	CHECK(is_out(&w, "tasks/" A "/1.json"));
	for (int i = 0; i < 3; i++)
		note(&w, "projects/-home-u-priv/" A ".jsonl", "/home/u-priv");
	CHECK(!is_out(&w, "tasks/" A "/1.json") && !is_out(&w, "projects/-home-u-priv/memory/m.md"));
	note(&w, "projects/-home-u-priv/" A ".jsonl", "/home/u/priv");
	CHECK(is_out(&w, "tasks/" A "/1.json") && is_out(&w, "projects/-home-u-priv/memory/m.md"));
}

TEST(the_first_line_with_a_folder_is_looked_for)
{
	WORLD;
	OK(look(&w, "projects/-x/" A ".jsonl",
		"\n{\"type\":\"mode\",\"mode\":\"normal\"}\nnot JSON\n"
		"{\"type\":\"user\",\"message\":{\"content\":\"x\",\"cwd\":\"/home/u\"},\"cwd\":\"/home\\/u/priv\"}\n"
		"{\"type\":\"user\",\"cwd\":\"/x\"}\n",
		&err));
	OK(look(&w, "projects/-x/" B ".jsonl", "{\"cwd\":\"/x\"}{\"cwd\":\"/home/u/priv\"}", &err));
	OK(look(&w, "projects/-home-u-priv/" B ".jsonl", "", &err));
	CHECK(is_out(&w, "projects/-x/" A ".jsonl") && !is_out(&w, "projects/-x/" B ".jsonl"));
	CHECK(is_out(&w, "projects/-home-u-priv/" B ".jsonl"));
	EQ(owner_look(w.rules, w.root_fd, STR("projects/-x/none.jsonl"), &err), STATUS_NOT_FOUND);
}

TEST(it_may_stand_far_behind)
{
	WORLD;
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	buf_text(&text, "{\"a\":\"");
	for (int i = 0; i < 100000; i++)
		buf_byte(&text, 'x');
	buf_text(&text, "\"}\n");
	for (int i = 0; i < 3000; i++)
		buf_text(&text, "{\"type\":\"ai-title\",\"aiTitle\":\"something\"}\n");
	buf_text(&text, "{\"cwd\":\"/home/u/priv/z\"}");
	OK(look(&w, "projects/-x/" A ".jsonl", text.p, &err));
	CHECK(is_out(&w, "projects/-x/" A ".jsonl"));
}

TEST(a_running_client_names_its_folder_and_its_session)
{
	WORLD;
	note(&w, "projects/-x/" B ".jsonl", "/home/u/priv");
	OK(look(&w, "sessions/1.json", "{\"pid\":1,\"sessionId\":\"" A "\",\"cwd\":\"/home/u/priv\"}", &err));
	OK(look(&w, "sessions/2.json", "{\"pid\":2,\"sessionId\":\"" B "\",\"cwd\":\"/x\"}", &err));
	OK(look(&w, "sessions/3.json", "{\"pid\":3,\"sessionId\":\"" A "\",\"cwd\":\"/x\"}", &err));
	OK(look(&w, "sessions/4.json", "[", &err));
	CHECK(is_out(&w, "sessions/1.json") && is_out(&w, "sessions/2.json"));
	CHECK(!is_out(&w, "sessions/3.json") && !is_out(&w, "sessions/4.json"));
}

TESTS(CASE(the_folder_a_transcript_names_decides), CASE(without_it_the_name_does),
      CASE(a_conversation_that_went_on_in_an_excluded_folder_is_excluded),
      CASE(what_belongs_to_a_conversation_goes_with_it),
      CASE(a_sub_agent_goes_with_its_conversation_unless_it_was_in_an_excluded_folder_itself),
      CASE(the_memory_of_a_project_goes_with_its_transcripts_when_they_agree), CASE(what_is_learned_later_counts),
      CASE(the_first_line_with_a_folder_is_looked_for), CASE(it_may_stand_far_behind),
      CASE(a_running_client_names_its_folder_and_its_session))
