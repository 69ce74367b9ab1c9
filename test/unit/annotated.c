/*
 * What notes are on, told by the methods: parts of conversations, nodes and trees that were made, and what is
 * not here.
 */
#include "hub/activations.h"
#include "hub/resolve.h"
#include "store/annotation.h"
#include "t.h"
#include "tree.h"

#include <string.h>

#define MADE_NODE "11110000-0000-4000-8000-000000000001"
#define MADE_TREE "22220000-0000-4000-8000-000000000002"
#define NOWHERE	  "33330000-0000-4000-8000-000000000003"

static const char said[] = "{\"type\":\"user\",\"uuid\":\"aaaaaaaa-2222-4333-8444-555555555555\","
			   "\"timestamp\":\"2026-05-01T00:00:00Z\",\"cwd\":\"/"
			   "w\",\"message\":{\"content\":\"find the walrus\"}}\n";

struct world {
	const char *dir;
	char path[LIMIT_PATH];
	struct buf out; /* of the last call, a line an item */
};

static void world_release(struct world *w)
{
	buf_release(&w->out);
}

#define WORLD struct world CLEANUP(world_release)

static enum status open_it(void *ctx, bool make, struct store **out, struct err *err)
{
	struct world *w = ctx;

	return store_open(&(struct store_options){ .path = w->path, .create = make }, out, err);
}

static enum status take_item(void *ctx, struct str json, struct err *err)
{
	struct world *w = ctx;

	(void)err;
	buf_str(&w->out, json);
	buf_byte(&w->out, '\n');
	return STATUS_OK;
}

static enum status call(struct world *w, const char *method, const char *params, struct err *err)
{
	struct hub_caller who = {
		.sink = { .item = take_item, .ctx = w }, .scopes = ~0u, .open_store = open_it, .ctx = w
	};

	buf_clear(&w->out);
	return hub_call(&arbor_hub, str_of(method), str_of(params), &who, err);
}

static bool says(const struct world *w, const char *text)
{
	return w->out.p && strstr(w->out.p, text);
}

static enum status make(struct t *t, struct world *w, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;

	*w = (struct world){ .dir = t_tmpdir(t), .out = BUF_INIT(MIB) };
	snprintf(w->path, sizeof w->path, "%s/s.db", w->dir);
	if (!tree_write(w->dir, "tree", 0x12340001, str_of(said), O_TRUNC))
		return err_fail(err, STATUS_IO, "writing a transcript");
	if (tree_store(w->dir, "s", NULL, NULL, &s, err) || tree_sync(w->dir, "tree", s, NULL, err) ||
	    store_reach(s, STORE_TREES, err))
		return err_failed(err->status);
	return db_exec(
		s,
		"INSERT INTO tree VALUES (1, x'22220000000040008000000000000002', '',"
		" x'55550000000040008000000000000005', NULL, 1, 1, 1);"
		"INSERT INTO node(id, node_id, tree, depth, position, kind, created_at, rev) VALUES (1,"
		" x'55550000000040008000000000000005', 1, 0, 1, 'root', 1, 1);"
		"INSERT INTO node(id, node_id, tree, parent, depth, position, kind, content, created_at, rev)"
		" VALUES (2, x'11110000000040008000000000000001', 1, 1, 1, 1, 'text', 'made by\nhand', 1, 1)",
		err);
}

TEST(nodes_and_trees_that_were_made_are_meant_by_their_ids)
{
	WORLD w = { 0 };
	struct err err;

	OK(make(t, &w, &err));
	OK(call(&w, "arbor.note_set", "{\"on\":\"" MADE_NODE "\",\"text\":\"on a seal\"}", &err));
	CHECK(says(&w, "\"on\":\"node\"") && says(&w, "\"what\":\"made by hand\"") &&
	      !says(&w, "\"session\""));
	OK(call(&w, "arbor.note_set", "{\"on\":\"2222\",\"text\":\"on a tree\"}", &err));
	CHECK(says(&w, "\"on\":\"tree\"") && says(&w, "\"subject\":\"" MADE_TREE "\""));
	OK(call(&w, "arbor.tag_set", "{\"on\":\"1111\",\"tags\":[\"own\"]}", &err));
	OK(call(&w, "arbor.bookmark_set", "{\"on\":\"1111\",\"name\":\"mine\"}", &err));
	OK(call(&w, "arbor.note_set", "{\"on\":\"@mine\",\"text\":\"another seal\"}", &err));
	CHECK(says(&w, "\"subject\":\"" MADE_NODE "\""));
	OK(call(&w, "arbor.note_list", "{\"on\":\"@mine\"}", &err));
	CHECK(says(&w, "on a seal") && says(&w, "another seal") && !says(&w, "on a tree"));
	/* It is found; conditions on sessions leave it out, since it is in none. */
	OK(call(&w, "memory.search", "{\"words\":[\"seal\"]}", &err));
	CHECK(says(&w, "\"id\":\"" MADE_NODE "\"") && !says(&w, "\"session\"") && !says(&w, "\"path\""));
	OK(call(&w, "memory.search", "{\"words\":[\"seal\",\"tag:own\"]}", &err));
	EQ(call(&w, "memory.search", "{\"words\":[\"seal\",\"session:1234\"]}", &err), STATUS_NOT_FOUND);
	OK(call(&w, "memory.show", "{\"id\":[\"@mine\"]}", &err));
	CHECK(says(&w, "\"kind\":\"node\"") && says(&w, "made by\\nhand") && says(&w, "another seal"));
	/* What wants a conversation cannot do with it, and says so. */
	EQ(call(&w, "memory.agents", "{\"session\":\"@mine\"}", &err), STATUS_USAGE);
	CHECK(strstr(err.text, "no part of a conversation"));
	EQ(call(&w, "arbor.note_set", "{\"on\":\"" NOWHERE "\",\"text\":\"x\"}", &err), STATUS_NOT_FOUND);
}

static enum status add_gone(struct world *w, const char *kind, bool in_session, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct annotation a = { .kind = ANNOTATION_NOTE,
				.on = { .kind = str_of(kind), .in_session = in_session },
				.text = STR("a memory of the seal") };
	enum annotation_done done;

	uuid_parse(STR(NOWHERE), &a.on.id);
	a.on.session = a.on.id;
	return open_it(w, false, &s, err) ? err_failed(err->status)
					  : annotation_add(s, &a, false, &mem, &done, err);
}

TEST(a_note_on_what_is_not_here_is_listed_and_found_and_says_so)
{
	static const struct {
		const char *kind;
		bool in_session;
	} cases[] = { { "session", true },
		      { "block", true },
		      { "turn", false },
		      { "node", false },
		      { "tree", false } };
	struct err err;

	for (size_t i = 0; i < COUNT(cases); i++) {
		WORLD w = { 0 };

		OK(make(t, &w, &err));
		OK(add_gone(&w, cases[i].kind, cases[i].in_session, &err));
		OK(call(&w, "arbor.note_list", "{}", &err));
		CHECK(says(&w, "a memory of the seal") && says(&w, "\"gone\":true") && !says(&w, "\"what\""));
		CHECK(says(&w, "\"session\":\"" NOWHERE "\"") == cases[i].in_session);
		OK(call(&w, "memory.search", "{\"words\":[\"seal\"]}", &err));
		CHECK(says(&w, "\"id\":\"" NOWHERE "\"") && !says(&w, "\"session\""));
		OK(call(&w, "memory.search", "{\"words\":[\"is:noted\"]}", &err));
		EQ(call(&w, "arbor.note_list", "{\"project\":\"/w\"}", &err), STATUS_OK);
		CHECK(!says(&w, "seal"));
	}
}

TEST(what_was_made_and_is_gone_is_still_noted)
{
	WORLD w = { 0 };
	struct err err;

	OK(make(t, &w, &err));
	OK(call(&w, "arbor.note_set", "{\"on\":\"" MADE_NODE "\",\"text\":\"on a seal\"}", &err));
	OK(call(&w, "arbor.bookmark_set", "{\"on\":\"" MADE_NODE "\",\"name\":\"mine\"}", &err));
	{
		struct store *s CLEANUP(store_closep) = NULL;

		OK(open_it(&w, false, &s, &err));
		OK(db_exec(s, "DELETE FROM node WHERE id = 2", &err));
	}
	OK(call(&w, "arbor.note_list", "{}", &err));
	CHECK(says(&w, "on a seal") && says(&w, "\"gone\":true"));
	OK(call(&w, "arbor.bookmark_list", "{}", &err));
	CHECK(says(&w, "\"gone\":true"));
	/* By its name it can still be noted and the note taken away. */
	OK(call(&w, "arbor.note_delete", "{\"note\":\"@mine\"}", &err));
	CHECK(says(&w, "\"done\":\"deleted\""));
	OK(call(&w, "arbor.bookmark_delete", "{\"name\":\"MINE\"}", &err));
}

TEST(a_note_and_a_message_that_begin_alike_are_told_apart)
{
	WORLD w = { 0 };
	struct err err;

	OK(make(t, &w, &err));
	OK(call(&w, "arbor.note_set", "{\"on\":\"1234\",\"text\":\"first\"}", &err));
	{
		struct store *s CLEANUP(store_closep) = NULL;

		OK(open_it(&w, false, &s, &err));
		OK(db_exec(s, "UPDATE annotation SET annotation_id = x'12340001999940008000000000000009'",
			   &err));
	}
	EQ(call(&w, "arbor.note_set", "{\"on\":\"12340001\",\"text\":\"instead?\"}", &err), STATUS_AMBIGUOUS);
	EQ(call(&w, "arbor.note_set", "{\"on\":\"1234\",\"text\":\"instead?\"}", &err), STATUS_AMBIGUOUS);
	OK(call(&w, "arbor.note_set", "{\"on\":\"12340001-9999\",\"text\":\"instead\"}", &err));
	CHECK(says(&w, "\"done\":\"changed\""));
	OK(call(&w, "arbor.note_set", "{\"on\":\"12340001-0000\",\"text\":\"besides\"}", &err));
	CHECK(says(&w, "\"done\":\"added\""));
}

TESTS(CASE(nodes_and_trees_that_were_made_are_meant_by_their_ids),
      CASE(a_note_on_what_is_not_here_is_listed_and_found_and_says_so),
      CASE(what_was_made_and_is_gone_is_still_noted),
      CASE(a_note_and_a_message_that_begin_alike_are_told_apart))
