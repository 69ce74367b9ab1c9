/*
 * Messages of JSON-RPC: which lines are messages, what errors mean, and that whatever is
 * written can be read.
 */
#include "live/rpc.h"
#include "base/base64.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

struct read {
	struct json json;
	struct arena mem;
	struct rpc_message m;
	struct err err;
};

static void read_release(struct read *r)
{
	json_release(&r->json);
	arena_release(&r->mem);
}

static enum status take(struct read *r, const char *line)
{
	return rpc_read(&r->json, str_of(line), &r->mem, &r->m, &r->err);
}

#define READ struct read r CLEANUP(read_release) = { 0 }

TEST(requests_notices_results_and_errors_are_told_apart)
{
	READ;

	EQ(take(&r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a.b\"}"), STATUS_OK);
	EQ(r.m.kind, RPC_REQUEST);
	EQS(r.m.id, STR("1"));
	EQS(r.m.method, STR("a.b"));
	EQ(r.m.params, JSON_NONE);
	EQ(take(&r, " {\"params\":{\"x\":1},\"method\":\"\\u0061\",\"id\":\"i\",\"jsonrpc\":\"2.0\",\"new\":["
		    "]} \r"),
	   STATUS_OK);
	EQS(r.m.id, STR("\"i\""));
	EQS(r.m.method, STR("a"));
	EQS(json_raw(&r.json, r.m.params), STR("{\"x\":1}"));
	EQ(take(&r, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel\",\"params\":{\"id\":-7}}"), STATUS_OK);
	EQ(r.m.kind, RPC_NOTICE);
	EQS(rpc_subject(&r.json, &r.m), STR("-7"));
	EQ(take(&r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}"), STATUS_OK);
	EQ(r.m.kind, RPC_RESULT);
	EQ(take(&r, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700}}"), STATUS_OK);
	EQ(r.m.kind, RPC_ERROR);
	EQS(r.m.id, STR(""));
}

TEST(what_is_no_message_is_refused_with_its_id_where_it_has_one)
{
	static const struct {
		const char *line;
		enum status status;
		const char *id;
	} cases[] = {
		{ "", STATUS_FORMAT, "" },
		{ "{", STATUS_FORMAT, "" },
		{ "Hello", STATUS_FORMAT, "" },
		{ "1", STATUS_USAGE, "" },
		{ "[]", STATUS_USAGE, "" },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}]", STATUS_USAGE, "" },
		{ "{}", STATUS_USAGE, "" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"}", STATUS_USAGE, "1" },
		{ "{\"id\":1,\"method\":\"a\"}", STATUS_USAGE, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", STATUS_USAGE, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":2}", STATUS_USAGE, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}", STATUS_USAGE, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", STATUS_USAGE, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"a\"}", STATUS_USAGE, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[1]}", STATUS_USAGE, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"route\":1}", STATUS_USAGE, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{}}", STATUS_USAGE, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"result\":1}", STATUS_USAGE, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"x\"}", STATUS_USAGE, "1" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		READ;

		if (take(&r, cases[i].line) != cases[i].status)
			t_fail(t, __FILE__, __LINE__, "%s", cases[i].line);
		EQS(r.m.id, str_of(cases[i].id));
	}
}

TEST(an_id_has_a_most)
{
	char line[400];
	READ;

	snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":\"%0200d\",\"method\":\"a\"}", 1);
	EQ(take(&r, line), STATUS_USAGE);
	EQS(r.m.id, STR(""));
}

TEST(errors_become_statuses_by_name_and_by_code)
{
	static const struct {
		const char *error;
		enum status status;
		const char *text;
	} cases[] = {
		{ "{\"code\":-32601,\"message\":\"m\"}", STATUS_NOT_FOUND, "m" },
		{ "{\"code\":-32602,\"message\":\"m\"}", STATUS_USAGE, "m" },
		{ "{\"code\":-32600,\"message\":\"m\"}", STATUS_USAGE, "m" },
		{ "{\"code\":-32700,\"message\":\"m\"}", STATUS_FORMAT, "m" },
		{ "{\"code\":-32016,\"message\":\"m\"}", STATUS_GONE, "m" },
		{ "{\"code\":5,\"message\":\"m\",\"data\":{\"status\":\"denied\"}}", STATUS_DENIED, "m" },
		{ "{\"code\":5,\"message\":\"m\",\"data\":{\"status\":\"ok\"}}", STATUS_IO, "m" },
		{ "{\"code\":0,\"message\":\"m\"}", STATUS_IO, "m" },
		{ "{\"code\":-32015,\"message\":\"m\"}", STATUS_BUSY, "m" },
		{ "{\"code\":-32603,\"message\":\"m\"}", STATUS_IO, "m" }, /* their bug is none of ours */
		{ "{\"code\":-32000,\"message\":7}", STATUS_IO, "an error without a message" },
		{ "{}", STATUS_IO, "an error without a message" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char line[200];
		READ;

		snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":%s}", cases[i].error);
		EQ(take(&r, line), STATUS_OK);
		rpc_error(&r.json, &r.m, &r.err);
		EQ(r.err.status, cases[i].status);
		EQS(str_of(r.err.text), str_of(cases[i].text));
	}
}

/* Every status but those that are none of an error's. */
TEST(every_status_comes_back_from_its_own_error)
{
	for (int s = STATUS_OK + 1; s < STATUS_COUNT; s++) {
		struct buf line CLEANUP(buf_release) = BUF_INIT(KIB);
		struct err why;
		READ;

		err_set(&why, (enum status)s, "why \"\n\x1b\"");
		why.telling = s % 2;
		rpc_put_error(&line, STR("1"), rpc_code((enum status)s), &why);
		CHECK(line.n && line.p[line.n - 1] == '\n' &&
		      memchr(line.p, '\n', line.n) == line.p + line.n - 1);
		EQ(take(&r, line.p), STATUS_OK);
		rpc_error(&r.json, &r.m, &r.err);
		EQ(r.err.status, s == STATUS_WAIT	? STATUS_BUSY
				 : s == STATUS_INTERNAL ? STATUS_IO
							: (enum status)s);
		EQ(r.err.telling, why.telling);
		EQS(str_of(r.err.text), STR("why \"\n\x1b\""));
	}
}

TEST(what_is_written_is_one_line_and_can_be_read)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(KIB);
	READ;

	rpc_put_request(&line, STR("9"), STR("a\"b"), STR("{\n\"x\":\n1}"), STR("{\"via\":[]}"));
	EQS(buf_as_str(&line),
	    STR("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"a\\\"b\",\"params\":{ \"x\": 1},"
		"\"route\":{\"via\":[]}}\n"));
	EQ(take(&r, line.p), STATUS_OK);
	EQS(r.m.method, STR("a\"b"));
	buf_clear(&line);
	rpc_put_item(&line, STR("\"i\""), STR("{\"a\":1}"));
	EQ(take(&r, line.p), STATUS_OK);
	EQS(r.m.method, STR(RPC_ITEM));
	EQS(rpc_subject(&r.json, &r.m), STR("\"i\""));
	buf_clear(&line);
	rpc_put_bytes(&line, STR("1"), STR("\0\xff"));
	EQ(take(&r, line.p), STATUS_OK);
	CHECK(base64_decode(&bytes,
			    json_string_in(&r.json, json_get(&r.json, r.m.params, STR("base64")), &r.mem)));
	EQS(buf_as_str(&bytes), STR("\0\xff"));
	buf_clear(&line);
	rpc_put_progress(&line, STR("1"), STR("x\n"), 1, -2);
	EQ(take(&r, line.p), STATUS_OK);
	buf_clear(&line);
	rpc_put_note(&line, STR("1"), STR("\xff\n"));
	EQ(take(&r, line.p), STATUS_OK);
	buf_clear(&line);
	rpc_put_result(&line, STR("1"), STR("{}"));
	EQ(take(&r, line.p), STATUS_OK);
	EQ(r.m.kind, RPC_RESULT);
	buf_clear(&line);
	rpc_put_cancel(&line, STR("1"));
	EQ(take(&r, line.p), STATUS_OK);
	EQ(r.m.kind, RPC_NOTICE);
}

TEST(the_page_about_it_has_the_rows_of_the_table)
{
	struct buf page CLEANUP(buf_release) = BUF_INIT(MIB);

	NEED(t_read_file(t, "docs/RPC.md", &page));
	for (int s = STATUS_OK + 1; s < STATUS_COUNT; s++) {
		const struct status_info *i = status_info((enum status)s);
		char row[200];

		snprintf(row, sizeof row, "| `%s` | %d | %s |\n", i->name, i->json_rpc, i->sentence);
		if (!memmem(page.p, page.n, row, strlen(row)))
			t_fail(t, __FILE__, __LINE__, "docs/RPC.md lacks: %s", row);
	}
}

TESTS(CASE(requests_notices_results_and_errors_are_told_apart),
      CASE(what_is_no_message_is_refused_with_its_id_where_it_has_one), CASE(an_id_has_a_most),
      CASE(errors_become_statuses_by_name_and_by_code), CASE(every_status_comes_back_from_its_own_error),
      CASE(what_is_written_is_one_line_and_can_be_read), CASE(the_page_about_it_has_the_rows_of_the_table))
