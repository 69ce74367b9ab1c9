/*
 * From one transcript to all that belong to it: whoever is asked for, all are there; and what
 * is told of sub-agents twice is in the forest once.
 */
#include "query/forest_load.h"
#include "claude/record.h"
#include "files.h"
#include "t.h"

#include <string.h>
#include <time.h>

#define FILE_1 "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"
#define FILE_2 "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02"
#define FILE_3 "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03"
#define FILE_4 "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e04"

#define LINE_A "1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"
#define LINE_B "1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02"
#define LINE_C "1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03"

#define USER(id, parent, text) \
	"{\"type\":\"user\",\"uuid\":\"" id "\",\"parentUuid\":\"" parent \
	"\",\"message\":{\"content\":\"" text "\"}}\n"
#define TOLD(id, agent, uuid, text) \
	"{\"type\":\"progress\",\"uuid\":\"" id \
	"\",\"data\":{\"type\":\"agent_progress\",\"agentId\":\"" agent \
	"\",\"message\":{\"type\":\"user\",\"uuid\":\"" uuid "\",\"message\":{\"content\":\"" text \
	"\"}}}}\n"

#define FOREST struct forest CLEANUP(forest_release)

static enum status load(struct files *f, const char *session, struct forest *out, uint32_t *source,
			struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	int64_t row;

	*out = (struct forest)FOREST_INIT;
	if (files_find(f, session, &row, err) || read_begin(f->s, &snapshot, err))
		return err_failed(err->status);
	return forest_load(f->s, row, out, source, err);
}

static void check_sources(struct t *t, int line, struct files *f, const char *session, uint32_t want)
{
	struct err err;
	struct uuid id;
	uint32_t source;
	FOREST forest;

	if (load(f, session, &forest, &source, &err)) {
		t_fail(t, __FILE__, line, "%s: %s", session, err.text);
		return;
	}
	t_eq_int(t, __FILE__, line, forest.source_count, want, session);
	uuid_parse(str_of(session), &id);
	CHECK(uuid_eq(&forest.sources[source].session.id, &id) && !forest.sources[source].embedded);
}

#define SOURCES(session, want) check_sources(t, __LINE__, &f, session, want)

TEST(files_that_share_a_line_belong_together_whichever_is_rewritten)
{
	static const char *const files[] = { FILE_1, FILE_2, FILE_3 };

	for (size_t rewritten = 0; rewritten < COUNT(files); rewritten++) {
		struct err err;
		FILES f;

		OK(files_init(t, &f, &err));
		for (size_t i = 0; i < COUNT(files); i++)
			OK(files_put(&f, files[i], STR(USER("a", "", "all of them")), &err));
		OK(files_put(&f, FILE_4, STR(USER("x", "", "alone")), &err));
		OK(files_sync(&f, &err));
		for (size_t i = 0; i < COUNT(files); i++)
			SOURCES(files[i], 3);
		SOURCES(FILE_4, 1);
		OK(files_put(&f, files[rewritten], STR(USER("b", "", "another")), &err));
		OK(files_sync(&f, &err));
		for (size_t i = 0; i < COUNT(files); i++)
			SOURCES(files[i], i == rewritten ? 1 : 2);
	}
}

TEST(files_belong_together_in_whatever_order_they_come)
{
	struct err err;
	FILES f;

	OK(files_init(t, &f, &err));
	/* What hangs on a line is there before the line; then twice. */
	OK(files_put(&f, FILE_1, STR(USER(LINE_B, LINE_A, "1")), &err));
	OK(files_sync(&f, &err));
	OK(files_put(&f, FILE_2, STR(USER(LINE_C, LINE_A, "2")), &err));
	OK(files_sync(&f, &err));
	SOURCES(FILE_1, 1);
	OK(files_put(&f, FILE_3, STR(USER(LINE_A, "", "3")), &err));
	OK(files_sync(&f, &err));
	SOURCES(FILE_1, 3);
	SOURCES(FILE_2, 3);
	OK(files_put(&f, FILE_4, STR(USER(LINE_A, "", "3")), &err));
	OK(files_sync(&f, &err));
	SOURCES(FILE_4, 4);
	SOURCES(FILE_2, 4);
}

TEST(very_many_files_that_hang_on_one_line_belong_together)
{
	struct err err;
	FILES f;

	OK(files_init(t, &f, &err));
	for (int i = 0; i < 300; i++) {
		char name[64], line[512];

		snprintf(name, sizeof name, "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d5%03x", i);
		snprintf(line, sizeof line, USER("1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d5%03x", LINE_A, "%d"), i,
			 i);
		OK(files_put(&f, name, i == 150 ? STR(USER(LINE_A, "", "all")) : str_of(line), &err));
	}
	OK(files_sync(&f, &err));
	SOURCES("0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d5000", 300);
	SOURCES("0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d512b", 300);
}

static enum status put_agent(struct files *f, const char *name, struct str bytes, struct err *err)
{
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/projects/p/" FILE_1 "/subagents", f->tree);
	if (file_make_dirs(path, err))
		return err_failed(err->status);
	snprintf(path, sizeof path, "%.2000s/projects/p/" FILE_1 "/subagents/agent-%s.jsonl", f->tree, name);
	return file_write_atomic(path, bytes, 0644, err);
}

TEST(a_conversation_comes_with_all_its_sub_agents)
{
	struct err err;
	FILES f;

	OK(files_init(t, &f, &err));
	OK(files_put(&f, FILE_1, STR(USER("a", "", "hi")), &err));
	for (char name[] = "a"; *name <= 'e'; ++*name)
		OK(put_agent(&f, name, STR(USER("s", "", "go")), &err));
	OK(files_sync(&f, &err));
	SOURCES(FILE_1, 6);
}

TEST(what_is_told_of_a_sub_agent_is_a_source_without_what_its_file_has)
{
	struct err err;
	uint32_t source, told = 0;
	FILES f;
	FOREST forest;

	OK(files_init(t, &f, &err));
	OK(files_put(&f, FILE_1,
		     STR(USER("a", "", "hi") TOLD("p1", "one", "s", "go") TOLD("p2", "one", "t", "on")
				 TOLD("p3", "two", "u", "go") TOLD("p4", "one", "t", "on")
					 TOLD("p5", "two", "v", "done")),
		     &err));
	OK(put_agent(&f, "one", STR(USER("s", "", "go")), &err));
	OK(files_sync(&f, &err));
	OK(load(&f, FILE_1, &forest, &source, &err));
	EQ(forest.source_count, 4);
	EQ(forest.sources[source].chain.line_count, 6);
	for (uint32_t s = 0; s < forest.source_count; s++) {
		const struct chain *c = &forest.sources[s].chain;

		if (!forest.sources[s].embedded)
			continue;
		told++;
		/* One after the other. */
		EQ(c->line_count, str_eq(forest.sources[s].agent, STR("one")) ? 1 : 2);
		EQ(c->lines[0].parent, CHAIN_NONE);
		CHECK(c->line_count < 2 || c->lines[1].parent == 0);
	}
	EQ(told, 2);
}

/* ---- Time --------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double measure(struct t *t, uint32_t agents)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	double best = 1e9;
	struct err err;
	FILES f;

	for (uint32_t i = 0; i < agents; i++)
		buf_printf(&text, TOLD("p%u", "agent%u", "s%u", "go"), i, i, i);
	if (files_init(t, &f, &err) || files_put(&f, FILE_1, buf_as_str(&text), &err) || files_sync(&f, &err))
		return -1;
	for (int i = 0; i < 3; i++) {
		double start = seconds();
		uint32_t source;
		FOREST forest;

		if (load(&f, FILE_1, &forest, &source, &err) || forest.source_count != agents + 1)
			return -1;
		best = seconds() - start < best ? seconds() - start : best;
	}
	return best;
}

TEST(very_many_sub_agents_in_one_file_take_linear_time)
{
	enum { SMALL = 2000, TIMES = 10, MOST_RATIO = 60, TRIES = 5 };
	double small = 0, large = 0;

	for (int i = 0; i < TRIES; i++) {
		small = measure(t, SMALL);
		large = measure(t, TIMES * SMALL);
		if (small > 0 && large > 0 && large < MOST_RATIO * small)
			return;
	}
	t_fail(t, __FILE__, __LINE__, "%g s, and ten times as many %g s", small, large);
}

TESTS(CASE(files_that_share_a_line_belong_together_whichever_is_rewritten),
      CASE(files_belong_together_in_whatever_order_they_come),
      CASE(very_many_files_that_hang_on_one_line_belong_together),
      CASE(a_conversation_comes_with_all_its_sub_agents),
      CASE(what_is_told_of_a_sub_agent_is_a_source_without_what_its_file_has),
      CASE(very_many_sub_agents_in_one_file_take_linear_time))
