/*
 * What people mean by the ids they type.
 */
#include "hub/resolve.h"

#include "t.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

static const char main_text[] = "{\"type\":\"user\",\"uuid\":\"11111111-2222-4333-8444-555555555555\","
				"\"timestamp\":\"2026-05-01T00:00:00Z\","
				"\"message\":{\"content\":\"find the \\u001b[31mbug\"}}\n"
				"{\"type\":\"assistant\",\"uuid\":\"aaaaaaaa-2222-4333-8444-555555555555\","
				"\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n";
static const char old_text[] = "{\"type\":\"user\",\"uuid\":\"99999999-2222-4333-8444-555555555555\","
			       "\"timestamp\":\"2026-04-01T00:00:00Z\","
			       "\"message\":{\"content\":\"an older one\"}}\n";

struct fixture {
	struct store *s;
	struct arena mem;
	struct resolved r;
};

static void fixture_release(struct fixture *f)
{
	store_close(f->s);
	arena_release(&f->mem);
}

#define FIXTURE struct fixture CLEANUP(fixture_release)

/* Sessions 12340001 (the last), 12340002 and feed0001. */
static enum status make_fixture(const char *dir, struct fixture *f, struct err *err)
{
	if (!tree_write(dir, "tree", 0x12340001, str_of(main_text), O_TRUNC) ||
	    !tree_write(dir, "tree", 0x12340002, str_of(old_text), O_TRUNC) ||
	    !tree_write(dir, "tree", 0xfeed0001, STR("{}\n"), O_TRUNC))
		return err_fail(err, STATUS_IO, "writing transcripts");
	if (tree_store(dir, "s", NULL, NULL, &f->s, err))
		return err_failed(err->status);
	return tree_sync(dir, "tree", f->s, NULL, err);
}

static enum status resolve(struct fixture *f, const char *text, struct err *err)
{
	*err = (struct err){ 0 };
	return resolve_id(f->s, str_of(text), &f->mem, &f->r, err);
}

/* The id of a line with this uuid, or of its message or a block. */
static const char *id_of(const char *uuid, int part, size_t digits, char out[UUID_TEXT + 1])
{
	struct node_name name = { .uuid = str_of(uuid) };
	struct uuid id = node_id(&name, part);

	uuid_print(&id, out);
	out[digits] = '\0';
	return out;
}

static const char prompt_uuid[] = "11111111-2222-4333-8444-555555555555";
static const char answer_uuid[] = "aaaaaaaa-2222-4333-8444-555555555555";
static const char old_uuid[] = "99999999-2222-4333-8444-555555555555";

TEST(sessions_are_meant_by_a_beginning_or_as_the_last)
{
	FIXTURE f = { 0 };
	struct err err;

	OK(make_fixture(t_tmpdir(t), &f, &err));
	OK(resolve(&f, "@", &err));
	CHECK(f.r.is_session);
	EQ(f.r.session.id.b[3], 1);
	OK(resolve(&f, "feed", &err));
	CHECK(f.r.is_session);
	EQS(f.r.session.path, STR("projects/p/feed0001-0000-4000-8000-000000000000.jsonl"));
	OK(resolve(&f, "FEED0001-0000-4000-8000-000000000000", &err));
	OK(resolve(&f, "12340002", &err));
	EQ(f.r.session.id.b[3], 2);
}

TEST(sessions_before_the_last_are_counted_back)
{
	char id[UUID_TEXT + 1], text[128];
	FIXTURE f = { 0 };
	struct err err;

	OK(make_fixture(t_tmpdir(t), &f, &err));
	OK(resolve(&f, "@~0", &err));
	EQ(f.r.session.id.b[3], 1);
	OK(resolve(&f, "@~1", &err));
	EQ(f.r.session.id.b[3], 2);
	OK(resolve(&f, "@~", &err));
	EQ(f.r.session.id.b[3], 2);
	OK(resolve(&f, "@~2", &err));
	EQ(f.r.session.id.b[0], 0xfe);
	EQ(resolve(&f, "@~3", &err), STATUS_NOT_FOUND);
	CHECK(strstr(err.text, "the oldest is @~2"));
	snprintf(text, sizeof text, "@~1@%s", id_of(old_uuid, PART_LINE, 8, id));
	OK(resolve(&f, text, &err));
	CHECK(!f.r.is_session);
	EQ(f.r.session.id.b[3], 2);
}

TEST(nodes_are_meant_by_id_session_and_own_uuid)
{
	char id[UUID_TEXT + 1], text[128];
	FIXTURE f = { 0 };
	struct err err;

	OK(make_fixture(t_tmpdir(t), &f, &err));
	OK(resolve(&f, id_of(prompt_uuid, PART_LINE, 36, id), &err));
	CHECK(!f.r.is_session);
	EQ(f.r.node.part, PART_LINE);
	OK(resolve(&f, id_of(answer_uuid, 0, 8, id), &err));
	EQ(f.r.node.part, 0);
	snprintf(text, sizeof text, "@@%s", id_of(answer_uuid, PART_MESSAGE, 8, id));
	OK(resolve(&f, text, &err));
	EQ(f.r.node.part, PART_MESSAGE);
	EQ(f.r.session.id.b[3], 1);
	snprintf(text, sizeof text, "12340002@%s", id_of(old_uuid, PART_LINE, 4, id));
	OK(resolve(&f, text, &err));
	EQ(f.r.session.id.b[3], 2);
	CHECK(!f.r.is_session);
	/* A line's own uuid, in either case, also inside a session. */
	OK(resolve(&f, "AAAAAAAA-2222-4333-8444-555555555555", &err));
	EQ(f.r.node.part, PART_LINE);
	OK(resolve(&f, "12340002@99999999-2222-4333-8444-555555555555", &err));
	EQ(resolve(&f, "@@99999999-2222-4333-8444-555555555555", &err),
	   STATUS_NOT_FOUND); /* it is in another */
	EQ(resolve(&f, "12340002@aaaaaaaa-2222-4333-8444-555555555555", &err), STATUS_NOT_FOUND);
}

TEST(what_means_nothing_is_said_so)
{
	static const struct {
		const char *text;
		enum status status;
	} cases[] = {
		{ "", STATUS_USAGE },
		{ "abc", STATUS_USAGE },
		{ "@abc", STATUS_NOT_FOUND }, /* a bookmark could be called so */
		{ "@feed", STATUS_NOT_FOUND },
		{ "@~x", STATUS_USAGE },
		{ "@~-1", STATUS_USAGE },
		{ "@~~", STATUS_USAGE },
		{ "@~99999999999999999999", STATUS_USAGE },
		{ "@~18446744073709551615", STATUS_NOT_FOUND },
		{ "@@", STATUS_USAGE },
		{ "@@abc", STATUS_USAGE },
		{ "feed@", STATUS_USAGE },
		{ "feed@1", STATUS_USAGE },
		{ "feedfeed", STATUS_NOT_FOUND },
		{ "hello", STATUS_USAGE },
		{ "feed@hello", STATUS_USAGE },
		{ "@@feed", STATUS_NOT_FOUND },
		{ "feed@@abcd", STATUS_USAGE },
		{ "a-b-c", STATUS_USAGE },
		{ "----", STATUS_USAGE },
		{ "feed0001000040008000000000000000ff", STATUS_USAGE },
	};
	FIXTURE f = { 0 };
	struct err err;

	OK(make_fixture(t_tmpdir(t), &f, &err));
	for (size_t i = 0; i < COUNT(cases); i++)
		if (resolve(&f, cases[i].text, &err) != cases[i].status || !err.text[0])
			t_fail(t, __FILE__, __LINE__, "'%s' gives %d: %s", cases[i].text, err.status,
			       err.text);
}

TEST(several_are_listed_and_safe_to_show)
{
	FIXTURE f = { 0 };
	struct err err;

	OK(make_fixture(t_tmpdir(t), &f, &err));
	EQ(resolve(&f, "1234", &err), STATUS_AMBIGUOUS);
	CHECK(strstr(err.text, "12340001-0000-4000-8000-000000000000  find the"));
	CHECK(strstr(err.text, "12340002-0000-4000-8000-000000000000  an older one"));
	CHECK(!strchr(err.text, '\x1b'));
	CHECK(!strstr(err.text, "and others"));
}

TEST(many_are_not_all_listed)
{
	const char *dir = t_tmpdir(t);
	FIXTURE f = { 0 };
	struct err err;
	int lines = 0;

	for (uint32_t i = 0; i < 20; i++)
		NEED(tree_write(dir, "tree", 0xbeef0000 + i, STR("{}\n"), O_TRUNC));
	OK(make_fixture(dir, &f, &err));
	EQ(resolve(&f, "beef", &err), STATUS_AMBIGUOUS);
	for (const char *p = err.text; *p; p++)
		lines += *p == '\n';
	EQ(lines, 8 + 1);
	CHECK(strstr(err.text, "and others"));
}

TEST(a_session_wins_over_nodes_that_begin_alike)
{
	const char *dir = t_tmpdir(t);
	char id[UUID_TEXT + 1], text[128];
	FIXTURE f = { 0 };
	uint32_t digits;
	struct err err;

	id_of(prompt_uuid, PART_LINE, 8, id);
	digits = (uint32_t)strtoul(id, NULL, 16);
	NEED(tree_write(dir, "tree", digits, STR("{}\n"), O_TRUNC));
	OK(make_fixture(dir, &f, &err));
	OK(resolve(&f, id, &err));
	CHECK(f.r.is_session);
	snprintf(text, sizeof text, "@@%s", id);
	OK(resolve(&f, text, &err));
	CHECK(!f.r.is_session);
	snprintf(text, sizeof text, "%s@%s", id, id);
	EQ(resolve(&f, text, &err), STATUS_NOT_FOUND);
}

TEST(as_much_of_an_id_is_shown_as_tells_it_from_others)
{
	const char *dir = t_tmpdir(t);
	char id[UUID_TEXT + 1], twin[LIMIT_PATH], path[LIMIT_PATH];
	FIXTURE f = { 0 };
	uint32_t digits;
	struct err err;

	/* A session that begins like a node, and two that begin alike. */
	id_of(prompt_uuid, PART_LINE, 8, id);
	digits = (uint32_t)strtoul(id, NULL, 16);
	NEED(tree_write(dir, "tree", digits, STR("{}\n"), O_TRUNC));
	NEED(tree_write(dir, "tree", 0xbeef0001, STR("{}\n"), O_TRUNC));
	snprintf(twin, sizeof twin, "%s/tree/projects/p/beef0001-0002-4000-8000-000000000000.jsonl", dir);
	NEED(link(tree_path(dir, "tree", 0xbeef0001, path), twin) == 0);
	OK(make_fixture(dir, &f, &err));
	EQ(resolve_digits(f.s, STR("feed0001-0000-4000-8000-000000000000")), 8);
	EQ(resolve_digits(f.s, STR("beef0001-0000-4000-8000-000000000000")), 13);
	EQ(resolve_digits(f.s, STR("beef0001-0002-4000-8000-000000000000")), 13);
	snprintf(path, sizeof path, "%s-0000-4000-8000-000000000000", id);
	EQ(resolve_digits(f.s, str_of(path)), 8);
	id_of(prompt_uuid, PART_LINE, UUID_TEXT, id);
	EQ(resolve_digits(f.s, str_of(id)), 10);
	EQ(resolve_digits(f.s, STR("00000000-0000-4000-8000-000000000000")), 8);
	EQ(resolve_digits(f.s, STR("no id")), 8);
}

TEST(copies_that_went_on_are_told_apart_by_their_folders)
{
	static const char id[] = "12340002-0000-4000-8000-000000000000";
	const char *dir = t_tmpdir(t);
	struct err err;
	FIXTURE f = { 0 };

	OK(make_fixture(dir, &f, &err));
	NEED(tree_write(dir, "copy", 0x12340002, str_of(old_text), O_TRUNC));
	OK(tree_sync(dir, "copy", f.s, NULL, &err));
	OK(resolve(&f, id, &err)); /* it says the same */
	NEED(tree_write(dir, "copy", 0x12340002, str_of(main_text), O_APPEND));
	OK(tree_sync(dir, "copy", f.s, NULL, &err));
	EQ(resolve(&f, "12340002", &err), STATUS_AMBIGUOUS);
	CHECK(strstr(err.text, "\n  claude:12340002-0000-4000-8000-000000000000  an older one"));
	CHECK(strstr(err.text, "\n  claude-2:12340002-0000-4000-8000-000000000000  an older one"));
	OK(resolve(&f, "claude-2:12340002", &err));
	EQS(f.r.session.root, STR("claude-2"));
	OK(resolve(&f, "claude:1234000200004000", &err));
	EQS(f.r.session.root, STR("claude"));
	EQ(resolve(&f, "claude-3:12340002", &err), STATUS_NOT_FOUND);
	EQ(resolve(&f, "claude-2:feed", &err), STATUS_NOT_FOUND);
	OK(resolve(&f, "claude-2:12340002@11111111-2222-4333-8444-555555555555", &err));
	EQS(f.r.session.root, STR("claude-2"));
	/* That file has not got the line. It belongs to another that has, which is not the other copy. */
	OK(resolve(&f, "claude:12340002@11111111-2222-4333-8444-555555555555", &err));
	EQS(f.r.session.root, STR("claude"));
	CHECK(strstr(arena_cstr(&f.mem, f.r.session.path), "12340001"));
}

TEST(copies_in_one_folder_are_told_apart_by_their_paths)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH], other[LIMIT_PATH];
	struct err err;
	FIXTURE f = { 0 };

	OK(make_fixture(dir, &f, &err));
	NEED(tree_write(dir, "tree", 0xfeed0001, str_of(old_text), O_APPEND));
	snprintf(other, sizeof other, "%s/tree/projects/q", dir);
	OK(file_make_dirs(other, &err));
	snprintf(other, sizeof other, "%s/tree/projects/q/12340002-0000-4000-8000-000000000000.jsonl", dir);
	NEED(rename(tree_path(dir, "tree", 0xfeed0001, path), other) == 0);
	OK(tree_sync(dir, "tree", f.s, NULL, &err));
	EQ(resolve(&f, "12340002", &err), STATUS_AMBIGUOUS);
	CHECK(strstr(err.text, "\n  claude:projects/q/12340002-0000-4000-8000-000000000000.jsonl  an older"));
	OK(resolve(&f, "claude:projects/q/12340002-0000-4000-8000-000000000000.jsonl", &err));
	CHECK(f.r.is_session);
	EQS(f.r.session.path, STR("projects/q/12340002-0000-4000-8000-000000000000.jsonl"));
	OK(resolve(&f, other, &err));
	EQ(resolve(&f, "claude:projects/q/none.jsonl", &err), STATUS_NOT_FOUND);
}

TEST(only_a_session_will_do)
{
	struct session session;
	char id[UUID_TEXT + 1], text[64];
	FIXTURE f = { 0 };
	struct err err;

	OK(make_fixture(t_tmpdir(t), &f, &err));
	OK(resolve_session(f.s, STR("feed"), &f.mem, &session, &err));
	id_of(prompt_uuid, PART_LINE, 36, id);
	EQ(resolve_session(f.s, str_of(id), &f.mem, &session, &err), STATUS_USAGE);
	snprintf(text, sizeof text, "%.8s@%.8s", id, id);
	EQ(resolve(&f, text, &err), STATUS_USAGE); /* a node has no nodes of its own */
}

TEST(an_empty_store_has_no_last_session)
{
	FIXTURE f = { 0 };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &f.s, &err));
	EQ(resolve(&f, "@", &err), STATUS_NOT_FOUND);
	EQ(resolve(&f, "@@abcd", &err), STATUS_NOT_FOUND);
	EQ(resolve(&f, "abcd", &err), STATUS_NOT_FOUND);
}

TESTS(CASE(sessions_are_meant_by_a_beginning_or_as_the_last),
      CASE(sessions_before_the_last_are_counted_back),
      CASE(nodes_are_meant_by_id_session_and_own_uuid), CASE(what_means_nothing_is_said_so),
      CASE(several_are_listed_and_safe_to_show), CASE(many_are_not_all_listed),
      CASE(a_session_wins_over_nodes_that_begin_alike),
      CASE(as_much_of_an_id_is_shown_as_tells_it_from_others),
      CASE(copies_that_went_on_are_told_apart_by_their_folders),
      CASE(copies_in_one_folder_are_told_apart_by_their_paths), CASE(only_a_session_will_do),
      CASE(an_empty_store_has_no_last_session))
