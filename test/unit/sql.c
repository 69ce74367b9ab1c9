/*
 * SQL over transcripts that are written here: what the tables make of odd lines, what stops a query,
 * and what happens when the store is damaged. What people see is in test/cli/4201-sql.sh.
 */
#include "base/file.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "query/sql.h"
#include "store/db.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

#define ONE	   "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"
#define TWO	   "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02"
#define UUID	   "11111111-2222-4333-8444-55555555550"
#define AT(second) "\"timestamp\":\"2026-01-01T00:00:0" second ".000Z\""

struct world {
	char tree[LIMIT_PATH];
	struct store *s;
	struct buf rows;	   /* a line each, '|' between values */
	int64_t count, stop_after; /* 0 = never */
	struct sql_report report;
};

static void world_release(struct world *w)
{
	store_close(w->s);
	buf_release(&w->rows);
}

#define WORLD struct world CLEANUP(world_release)

static enum status write_session(const struct world *w, const char *session, const char *lines,
				 struct err *err)
{
	char path[2 * LIMIT_PATH];

	snprintf(path, sizeof path, "%s/projects/p/%s.jsonl", w->tree, session);
	return file_write_atomic(path, str_of(lines), 0644, err);
}

static const char first_lines[] =
	"{\"type\":\"user\",\"uuid\":\"" UUID "1\",\"parentUuid\":null,\"cwd\":\"/work/shop\"," AT(
		"1") ","
		     "\"message\":{\"role\":\"user\",\"content\":\"count the walrus\"}}\n"
		     "{\"type\":\"assistant\",\"uuid\":\"" UUID "2\",\"parentUuid\":\"" UUID
		     "1\",\"requestId\":\"req_1\"," AT(
			     "2") ","
				  "\"message\":{\"id\":\"msg_1\",\"role\":\"assistant\",\"model\":\"m-1\","
				  "\"usage\":{\"input_tokens\":3,"
				  "\"output_tokens\":5,\"cache_read_input_tokens\":7},\"content\":[{\"type\":"
				  "\"thinking\",\"thinking\":\"a zebra\"}]}}\n"
				  "{\"type\":\"assistant\",\"uuid\":\"" UUID "3\",\"parentUuid\":\"" UUID
				  "2\",\"requestId\":\"req_1\"," AT(
					  "3") ","
					       "\"message\":{\"id\":\"msg_1\",\"role\":\"assistant\","
					       "\"model\":\"m-1\",\"content\":["
					       "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Bash\","
					       "\"input\":{\"command\":\"ls\"}},"
					       "{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"Read\","
					       "\"input\":{}},"
					       "{\"type\":\"tool_use\",\"id\":\"toolu_3\",\"name\":\"Read\","
					       "\"input\":{}}]}}\n"
					       "{\"type\":\"user\",\"uuid\":\"" UUID
					       "4\",\"parentUuid\":\"" UUID "3\"," AT(
						       "4") ",\"message\":{\"role\":\"user\","
							    "\"content\":[{\"type\":\"tool_result\",\"tool_"
							    "use_id\":\"toolu_1\",\"content\":\"a file\"},"
							    "{\"type\":\"tool_result\",\"tool_use_id\":"
							    "\"toolu_2\",\"is_error\":true,\"content\":\"no "
							    "such file\"}]}}\n"
							    "{\"type\":\"user\",\"uuid\":\"odd "
							    "one\",\"parentUuid\":\"" UUID
							    "4\",\"isMeta\":true," AT(
								    "5") ","
									 "\"message\":{\"role\":\"user\","
									 "\"content\":\"put in\"}}\n"
									 "not json\n"
									 "{\"type\":\"summary\",\"summary\":"
									 "\"A walrus\",\"leafUuid\":\"" UUID
									 "4\"}\n"
									 "{\"type\":\"file-history-"
									 "snapshot\",\"messageId\":\"" UUID
									 "1\",\"snapshot\":{\"messageId\":"
									 "\"" UUID "1\","
									 "\"trackedFileBackups\":{\"a.c\":{"
									 "\"backupFileName\":\"ff@v2\","
									 "\"version\":2,"
									 "\"backupTime\":\"2026-01-01T00:00:"
									 "06.000Z\"}}}}\n"
									 "{\"type\":\"file-history-"
									 "snapshot\",\"messageId\":\"" UUID
									 "4\",\"snapshot\":{\"messageId\":"
									 "\"" UUID "4\","
									 "\"trackedFileBackups\":{\"a.c\":{"
									 "\"backupFileName\":\"ff@v2\","
									 "\"version\":2,"
									 "\"backupTime\":\"2026-01-01T00:00:"
									 "06.000Z\"}}}}\n";

static enum status world_init(struct t *t, struct world *w, struct err *err)
{
	char path[2 * LIMIT_PATH];
	const char *dir = t_tmpdir(t);
	struct sync_report report;
	bool done;

	*w = (struct world){ .rows = BUF_INIT(16 * MIB) };
	snprintf(w->tree, sizeof w->tree, "%s/claude", dir);
	snprintf(path, sizeof path, "%s/projects/p", w->tree);
	if (file_make_dirs(path, err) || write_session(w, ONE, first_lines, err))
		return err_failed(err->status);
	snprintf(path, sizeof path, "%s/store.db", dir);
	if (store_open(&(struct store_options){ .path = path, .create = true }, &w->s, err) ||
	    rebuild_if_stale(w->s, NULL, &done, err))
		return err_failed(err->status);
	return sync_run(w->s, &(struct sync_options){ .dir = w->tree }, &report, err);
}

static void print_value(struct buf *out, const struct sql_value *v)
{
	switch (v->type) {
	case SQL_NULL:
		buf_text(out, "NULL");
		break;
	case SQL_INT:
		buf_printf(out, "%" PRId64, v->number);
		break;
	case SQL_REAL:
		buf_printf(out, "%g", v->real);
		break;
	case SQL_TEXT:
		buf_str(out, v->bytes);
		break;
	case SQL_BLOB:
		buf_printf(out, "%zu bytes", v->bytes.n);
		break;
	}
}

static enum status take_row(void *ctx, const struct sql_row *row, struct err *err)
{
	struct world *w = ctx;

	for (size_t i = 0; i < row->count; i++) {
		if (i)
			buf_byte(&w->rows, '|');
		print_value(&w->rows, &row->values[i]);
	}
	buf_byte(&w->rows, '\n');
	if (++w->count == w->stop_after)
		return err_fail(err, STATUS_FULL, "enough");
	return STATUS_OK;
}

static enum status ask(struct world *w, struct sql_query q, struct err *err)
{
	buf_clear(&w->rows);
	w->count = 0;
	return sql_run(w->s, &q, take_row, w, &w->report, err);
}

static void check_rows(struct t *t, int line, struct world *w, const char *text, const char *want)
{
	struct err err;

	if (ask(w, (struct sql_query){ .text = str_of(text) }, &err))
		t_fail(t, __FILE__, line, "%s: %s", text, err.text);
	else
		t_eq_str(t, __FILE__, line, buf_as_str(&w->rows), str_of(want), text);
}

#define ROWS(text, want) check_rows(t, __LINE__, &w, text, want)

TEST(values_of_every_type_arrive)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	ROWS("SELECT NULL, 7, -1.5, 'text', x'0011', ''", "NULL|7|-1.5|text|2 bytes|\n");
	ROWS("SELECT id, project_name, message_count, tool_use_count, prompt_count, model, summary FROM "
	     "sessions",
	     ONE "|shop|4|3|1|m-1|A walrus\n");
}

TEST(roles_tell_what_people_typed_from_all_that_is_called_user)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	ROWS("SELECT role, content, thinking FROM messages", "user|count the walrus|NULL\n"
							     "assistant|NULL|a zebra\n"
							     "assistant|Bash\nls\nRead\nRead|NULL\n"
							     "tool|a file\nno such file|NULL\n"
							     "system|put in|NULL\n"
							     "system|A walrus|NULL\n");
	ROWS("SELECT role FROM messages WHERE uuid = 'odd one'", "system\n");
	ROWS("SELECT content('odd one'), content('" UUID "1'), content(x'00'), content(5)",
	     "put in|count the walrus|NULL|NULL\n");
}

TEST(words_are_found_where_they_are_looked_for)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	ROWS("SELECT count(*) FROM messages WHERE messages MATCH 'walrus'", "2\n");
	ROWS("SELECT count(*) FROM messages WHERE content MATCH 'zebra'", "0\n");
	ROWS("SELECT uuid, snippet(messages, -1, '<', '>') FROM messages WHERE thinking MATCH 'zebra'",
	     UUID "2|a <zebra>\n");
	ROWS("SELECT count(*) FROM messages a, messages b WHERE a.messages MATCH 'walrus' AND b.messages "
	     "MATCH 'file'",
	     "2\n");
	ROWS("SELECT count(*) FROM messages WHERE messages MATCH NULL", "0\n");
	ROWS("SELECT role FROM messages('walrus') ORDER BY rank DESC LIMIT 1", "system\n");
}

TEST(tokens_stand_once_and_parents_are_named)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	ROWS("SELECT uuid, parent_uuid, model, request_id, input_tokens, output_tokens, cache_tokens FROM "
	     "messages_meta"
	     " WHERE role = 'assistant'",
	     UUID "2|" UUID "1|m-1|req_1|3|5|7\n" UUID "3|" UUID "2|m-1|req_1|NULL|NULL|NULL\n");
	ROWS("SELECT count(DISTINCT message_id) FROM messages_meta WHERE role = 'assistant'", "1\n");
}

TEST(calls_have_their_results_errors_apart)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	ROWS("SELECT tool_id, tool_name, input_json, output_text, error_text, is_error FROM tool_uses",
	     "toolu_1|Bash|{\"command\":\"ls\"}|a file|NULL|0\n"
	     "toolu_2|Read|{}|NULL|no such file|1\n"
	     "toolu_3|Read|{}|NULL|NULL|NULL\n");
	ROWS("SELECT message_uuid FROM tool_uses WHERE tool_id = 'toolu_2'", UUID "3\n");
}

TEST(a_backup_that_is_noted_twice_is_one)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	ROWS("SELECT file_path, backup_file, version, modified_at, change FROM file_modifications",
	     "/work/shop/a.c|ff@v2|2|2026-01-01T00:00:06.000Z|backup\n");
	ROWS("SELECT count(*) FROM file_modifications", "1\n");
}

TEST(copies_of_lines_are_in_each_session_and_linked)
{
	struct sync_report report;
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	OK(write_session(&w, TWO, first_lines, &err));
	OK(sync_run(w.s, &(struct sync_options){ .dir = w.tree }, &report, &err));
	ROWS("SELECT session_id FROM messages WHERE uuid = '" UUID "1' ORDER BY 1", ONE "\n" TWO "\n");
	ROWS("SELECT count(*) FROM links WHERE relationship = 'shares_lines'", "2\n");
	ROWS("SELECT sum(n) FROM (SELECT max(output_tokens) AS n FROM messages_meta GROUP BY message_id)",
	     "5\n");
}

/* Puts a second session beside the first. */
static enum status add_session(struct world *w, const char *lines, struct err *err)
{
	struct sync_report report;

	return write_session(w, TWO, lines, err)
		       ? err_failed(err->status)
		       : sync_run(w->s, &(struct sync_options){ .dir = w->tree, .force = true }, &report, err);
}

#define SAYS(type, name, second, message) \
	"{\"type\":\"" type "\",\"uuid\":\"" UUID name "\"," AT(second) ",\"message\":{\"role\":\"" type \
	"\"," message "}}"

TEST(what_is_no_answer_counts_once_by_its_answer_id)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	ROWS("SELECT role, count(*), count(DISTINCT answer_id), count(message_id) FROM messages_meta GROUP BY role",
	     "assistant|2|1|2\n"
	     "system|2|2|1\n"
	     "tool|1|1|1\n"
	     "user|1|1|1\n");
	ROWS("SELECT count(*) FROM messages_meta WHERE answer_id = coalesce(message_id, id)", "4\n");
}

TEST(a_last_line_counts_when_it_has_been_read)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	OK(add_session(&w,
		       SAYS("user", "a", "1", "\"content\":\"one\"") "\n"
		       SAYS("user", "b", "2", "\"content\":\"two\""),
		       &err));
	ROWS("SELECT last_sync_line FROM sessions WHERE id = '" TWO "'", "2\n");
	ROWS("SELECT last_line, last_byte = file_size FROM extraction_state WHERE session_id = '" TWO "'", "2|1\n");
	ROWS("SELECT count(*) FROM messages WHERE session_id = '" TWO "'", "2\n");
	OK(add_session(&w, SAYS("user", "a", "1", "\"content\":\"one\"") "\n{\"type\":\"us", &err));
	ROWS("SELECT last_sync_line FROM sessions WHERE id = '" TWO "'", "2\n");
	ROWS("SELECT last_line, last_byte < file_size FROM extraction_state WHERE session_id = '" TWO "'", "1|1\n");
}

TEST(a_session_has_the_version_and_the_model_of_its_own_lines)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	OK(add_session(&w,
		       SAYS("assistant", "a", "1",
			    "\"id\":\"m1\",\"model\":\"own\",\"content\":[],\"usage\":{\"output_tokens\":1}") "\n"
		       "{\"type\":\"progress\",\"uuid\":\"" UUID "b\",\"version\":\"2.1.0\"," AT("2") ",\"data\":{"
		       "\"type\":\"agent_progress\",\"agentId\":\"a1\",\"message\":"
		       SAYS("assistant", "c", "3",
			    "\"id\":\"m2\",\"model\":\"other\",\"content\":[],\"usage\":{\"output_tokens\":1}") "}}\n"
		       "{\"type\":\"progress\",\"uuid\":\"" UUID "d\",\"version\":\"2.1.1\"," AT("4") ",\"data\":{"
		       "\"type\":\"agent_progress\",\"agentId\":\"a1\",\"message\":"
		       SAYS("assistant", "e", "5",
			    "\"id\":\"m3\",\"model\":\"other\",\"content\":[],\"usage\":{\"output_tokens\":1}") "}}\n",
		       &err));
	ROWS("SELECT claude_version, model FROM sessions WHERE id = '" TWO "'", "2.1.1|own\n");
}

TEST(calls_with_one_id_have_each_its_own_result)
{
#define CALL(name, second) \
	SAYS("assistant", name, second, \
	     "\"content\":[{\"type\":\"tool_use\",\"id\":\"toolu_9\",\"name\":\"Bash\",\"input\":{}}]") "\n"
#define RESULT(name, second, text) \
	SAYS("user", name, second, \
	     "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_9\",\"content\":\"" text "\"}]") "\n"
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	OK(add_session(&w, CALL("a", "1") RESULT("b", "2", "first") CALL("c", "3") RESULT("d", "4", "second"), &err));
	ROWS("SELECT message_uuid, output_text FROM tool_uses WHERE tool_id = 'toolu_9'",
	     UUID "a|first\n" UUID "c|second\n");
}

TEST(names_with_signs_are_found_as_they_were_typed)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	OK(add_session(&w,
		       SAYS("user", "a", "1", "\"content\":\"written in C++ mostly\"") "\n"
		       SAYS("user", "b", "2", "\"content\":\"or in c, and c again\"") "\n",
		       &err));
	ROWS("SELECT uuid FROM messages WHERE messages MATCH 'C++'", UUID "a\n");
	ROWS("SELECT count(*) FROM messages WHERE messages MATCH 'c'", "2\n");
	/* Where it stands nowhere, lines that have its words. */
	ROWS("SELECT count(*) FROM messages WHERE messages MATCH 'C#'", "2\n");
}

TEST(a_query_ends_at_its_limit_at_its_time_and_when_told)
{
	static const char forever[] =
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT ";
	atomic_bool cancel = true;
	char text[256];
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	snprintf(text, sizeof text, "%sn FROM c", forever);
	OK(ask(&w, (struct sql_query){ .text = str_of(text), .rows = 4 }, &err));
	EQ(w.count, 4);
	CHECK(w.report.more);
	w.stop_after = 2;
	EQ(ask(&w, (struct sql_query){ .text = str_of(text) }, &err), STATUS_FULL);
	w.stop_after = 0;
	snprintf(text, sizeof text, "%scount(*) FROM c", forever);
	EQ(ask(&w, (struct sql_query){ .text = str_of(text), .timeout_ms = 20 }, &err), STATUS_LIMIT);
	EQ(ask(&w, (struct sql_query){ .text = str_of(text), .cancel = &cancel }, &err), STATUS_CANCELLED);
	OK(ask(&w, (struct sql_query){ .text = STR("SELECT 1 LIMIT 1"), .rows = 1 }, &err));
	CHECK(!w.report.more);
}

TEST(what_is_typed_can_do_nothing_but_read)
{
	static const char *const refused[] = {
		"ATTACH ':memory:' AS x",
		"PRAGMA writable_schema = 1",
		"PRAGMA query_only = 0",
		"DELETE FROM entry",
		"CREATE TEMP TABLE x(y)",
		"SELECT * FROM entry",
		"SELECT arbor_uuid(x'00')",
		"SELECT 1; SELECT 2",
		"SELECT",
		"",
		"SELECT ?1, ?2 FROM nowhere",
	};
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	for (size_t i = 0; i < COUNT(refused); i++)
		if (ask(&w, (struct sql_query){ .text = str_of(refused[i]) }, &err) != STATUS_USAGE)
			t_fail(t, __FILE__, __LINE__, "%s: not refused", refused[i]);
	EQ(ask(&w, (struct sql_query){ .text = STR("SELECT zeroblob(1000000000)") }, &err), STATUS_LIMIT);
	ROWS("SELECT ?1", "NULL\n");
}

TEST(a_damaged_archive_is_told_as_what_it_is)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(t, &w, &err));
	OK(db_exec(w.s, "UPDATE block_data SET bytes = x'00'", &err));
	EQ(ask(&w, (struct sql_query){ .text = STR("SELECT content FROM messages") }, &err), STATUS_CORRUPT);
	EQ(ask(&w, (struct sql_query){ .text = STR("SELECT * FROM tool_uses") }, &err), STATUS_CORRUPT);
	EQ(ask(&w, (struct sql_query){ .text = STR("SELECT * FROM file_modifications") }, &err),
	   STATUS_CORRUPT);
	EQ(ask(&w, (struct sql_query){ .text = STR("SELECT content('" UUID "1')") }, &err), STATUS_CORRUPT);
	ROWS("SELECT count(*), count(timestamp) FROM messages", "6|5\n");
}

TESTS(CASE(values_of_every_type_arrive), CASE(roles_tell_what_people_typed_from_all_that_is_called_user),
      CASE(words_are_found_where_they_are_looked_for), CASE(tokens_stand_once_and_parents_are_named),
      CASE(calls_have_their_results_errors_apart), CASE(a_backup_that_is_noted_twice_is_one),
      CASE(copies_of_lines_are_in_each_session_and_linked),
      CASE(what_is_no_answer_counts_once_by_its_answer_id), CASE(a_last_line_counts_when_it_has_been_read),
      CASE(a_session_has_the_version_and_the_model_of_its_own_lines), CASE(calls_with_one_id_have_each_its_own_result),
      CASE(names_with_signs_are_found_as_they_were_typed),
      CASE(a_query_ends_at_its_limit_at_its_time_and_when_told), CASE(what_is_typed_can_do_nothing_but_read),
      CASE(a_damaged_archive_is_told_as_what_it_is))
