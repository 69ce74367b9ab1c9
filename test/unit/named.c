/*
 * Named sessions in the store.
 */
#include "store/named.h"
#include "streams.h"
#include "t.h"

#include <string.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static enum status open_store(struct t *t, struct store **out, struct err *err)
{
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/a.db", t_tmpdir(t));
	return store_open(&(struct store_options){ .path = path, .create = true }, out, err);
}

TEST(a_session_is_kept_as_it_was_made)
{
	struct named_new what = {
		.name = STR("fix-tests"),
		.agent = STR("claude"),
		.settings = { .working_dir = STR("/w"),
			      .model = STR("opus"),
			      .system_prompt = STR("be brief\n"),
			      .permission_mode = STR("plan"),
			      .mcp_config = STR("{}"),
			      .allowed_tools = STR("[\"Bash\"]"),
			      .disallowed_tools = STR("[]"),
			      .loopback = true,
			      .metadata = STR("{\"a\":1}") },
	};
	STORE *s = NULL;
	struct named n;
	struct uuid id;
	struct err err;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(named_create(s, &what, &id, &err));
	OK(named_find(s, STR("fix-tests"), &mem, &n, &err));
	CHECK(uuid_eq(&n.id, &id));
	EQS(n.agent, what.agent);
	EQS(n.settings.working_dir, what.settings.working_dir);
	EQS(n.settings.model, what.settings.model);
	EQS(n.settings.system_prompt, what.settings.system_prompt);
	EQS(n.settings.permission_mode, what.settings.permission_mode);
	EQS(n.settings.mcp_config, what.settings.mcp_config);
	EQS(n.settings.allowed_tools, what.settings.allowed_tools);
	EQS(n.settings.disallowed_tools, what.settings.disallowed_tools);
	EQS(n.settings.metadata, what.settings.metadata);
	CHECK(n.settings.loopback && !n.has_origin && !n.head.has_head && !n.head.has_session);
	CHECK(n.created_at > 0 && n.created_at == n.updated_at);
}

TEST(what_was_not_said_of_a_session_is_not_there)
{
	STORE *s = NULL;
	struct named n;
	struct err err;
	int64_t row;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_session(s, "plain", &row, &err));
	OK(named_find(s, STR("plain"), &mem, &n, &err));
	CHECK(!n.settings.model.p && !n.settings.system_prompt.p && !n.settings.mcp_config.p &&
	      !n.settings.metadata.p);
	CHECK(!n.settings.loopback);
}

TEST(a_session_is_found_by_name_by_id_and_by_the_beginning_of_either)
{
	STORE *s = NULL;
	char id[UUID_TEXT + 1];
	struct named n, m;
	struct err err;
	int64_t row;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_session(s, "web", &row, &err));
	OK(test_session(s, "web-shop", &row, &err));
	OK(test_session(s, "web-site", &row, &err));
	EQ(test_session(s, "a*b", &row, &err), STATUS_USAGE);
	OK(named_find(s, STR("web"), &mem, &n, &err));
	EQS(n.name, STR("web"));
	OK(named_find(s, STR("web-sh"), &mem, &n, &err));
	EQS(n.name, STR("web-shop"));
	EQ(named_find(s, STR("web-s"), &mem, &m, &err), STATUS_AMBIGUOUS);
	CHECK(strstr(err.text, "web-shop") && strstr(err.text, "web-site"));
	uuid_print(&n.id, id);
	OK(named_find(s, str_of(id), &mem, &m, &err));
	EQ(m.row, n.row);
	OK(named_find(s, str_from(id, 8), &mem, &m, &err));
	EQ(m.row, n.row);
	EQ(named_find(s, STR("nobody"), &mem, &m, &err), STATUS_NOT_FOUND);
	EQ(named_find(s, STR(""), &mem, &m, &err), STATUS_NOT_FOUND);
	EQ(named_find(s, STR("%"), &mem, &m, &err), STATUS_NOT_FOUND);
}

TEST(a_name_is_one_session_until_that_is_deleted)
{
	STORE *s = NULL;
	struct named a, b;
	struct err err;
	int64_t row;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_session(s, "a", &row, &err));
	EQ(test_session(s, "a", &row, &err), STATUS_CONFLICT);
	CHECK(strstr(err.text, "called 'a' already"));
	OK(test_session(s, "b", &row, &err));
	OK(named_find(s, STR("a"), &mem, &a, &err));
	OK(named_find(s, STR("b"), &mem, &b, &err));
	EQ(named_rename(s, &b, STR("a"), &err), STATUS_CONFLICT);
	EQ(named_rename(s, &b, STR("a b"), &err), STATUS_USAGE);
	OK(named_delete(s, &a, &err));
	EQ(named_delete(s, &a, &err), STATUS_BUSY);
	OK(named_rename(s, &b, STR("a"), &err));
	OK(named_find(s, STR("a"), &mem, &a, &err));
	EQ(a.row, b.row);
	EQ(named_find(s, STR("b"), &mem, &a, &err), STATUS_NOT_FOUND);
}

TEST(a_session_at_work_is_not_deleted_and_its_streams_outlive_it)
{
	STORE *s = NULL;
	struct stream stream;
	struct named n;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_run(s, "a", &mem, &run, &err));
	OK(named_find(s, STR("a"), &mem, &n, &err));
	EQ(named_delete(s, &n, &err), STATUS_BUSY);
	OK(test_finish(s, &run.writer, STREAM_COMPLETE, &err));
	OK(named_delete(s, &n, &err));
	OK(stream_get(s, &run.stream, &mem, &stream, &err));
	EQS(stream.session_name, STR("a"));
}

TEST(a_head_is_where_it_was_set)
{
	STORE *s = NULL;
	struct named_head head = { .has_tree = true, .has_head = true, .has_session = true };
	struct named n;
	struct err err;
	int64_t row;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_session(s, "a", &row, &err));
	OK(uuid_random(&head.tree, &err));
	OK(uuid_random(&head.head, &err));
	OK(uuid_random(&head.session, &err));
	OK(named_set_head(s, row, &head, &err));
	OK(named_find(s, STR("a"), &mem, &n, &err));
	CHECK(n.head.has_tree && n.head.has_head && !n.head.has_line && n.head.has_session);
	CHECK(uuid_eq(&n.head.tree, &head.tree) && uuid_eq(&n.head.head, &head.head) &&
	      uuid_eq(&n.head.session, &head.session));
}

static enum status add_name(void *ctx, const struct named *n, struct err *err)
{
	(void)err;
	buf_str(ctx, n->name);
	return STATUS_OK;
}

TEST(sessions_are_listed_by_name)
{
	struct buf names CLEANUP(buf_release) = BUF_INIT(KIB);
	STORE *s = NULL;
	struct err err;
	int64_t row;

	OK(open_store(t, &s, &err));
	OK(test_session(s, "c", &row, &err));
	OK(test_session(s, "a", &row, &err));
	OK(test_session(s, "b", &row, &err));
	OK(named_each(s, add_name, &names, &err));
	EQS(buf_as_str(&names), STR("abc"));
}

TESTS(CASE(a_session_is_kept_as_it_was_made), CASE(what_was_not_said_of_a_session_is_not_there),
      CASE(a_session_is_found_by_name_by_id_and_by_the_beginning_of_either),
      CASE(a_name_is_one_session_until_that_is_deleted),
      CASE(a_session_at_work_is_not_deleted_and_its_streams_outlive_it), CASE(a_head_is_where_it_was_set),
      CASE(sessions_are_listed_by_name))
