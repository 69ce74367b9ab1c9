/*
 * arbor mcp --approve: the permission tool of clients that Arbor did not start, as a server of MCP on
 * standard input and output.
 *
 *     claude -p --mcp-config ... --permission-prompt-tool mcp__arbor__permit
 *
 * It has one tool, which asks (loopback.permit) and waits for as long as the client does: until it is
 * answered, the client cancels the call, or it closes its end. It has the scope to ask and no other, so
 * whatever the model makes the client send here, nothing is approved by it.
 *
 * The client wants the answer as one text whose content is JSON, and takes everything else for a failure:
 * then the tool does not run.
 */
#include "face/serve.h"

#include "hub/where.h"

#include <unistd.h>

#define TOOL "permit"

/* Versions of the protocol that differ in nothing that is used here. */
static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };

enum { BAD_PARAMS = -32602 };

/* What is known of the client from where it has started us. */
struct client {
	struct str session;	   /* a named one; p NULL = none */
	struct str claude_session; /* the client's id; p NULL = it did not say */
	struct str cwd;
};

/* ---- What it has ------------------------------------------------------------ */

static void key(struct json_writer *w, const char *name)
{
	json_write_key(w, str_of(name));
}

static void text(struct json_writer *w, const char *name, struct str value)
{
	key(w, name);
	json_write_string(w, value);
}

static void write_initialized(struct json_writer *w, const struct json *j, uint32_t params)
{
	uint32_t wanted = json_get(j, params, STR("protocolVersion"));
	const char *version = versions[0];

	for (size_t i = 0; i < COUNT(versions); i++)
		if (json_string_eq(j, wanted, str_of(versions[i])))
			version = versions[i];
	text(w, "protocolVersion", str_of(version));
	key(w, "capabilities");
	json_write_raw(w, STR("{\"tools\":{}}"));
	key(w, "serverInfo");
	json_write_object_begin(w);
	text(w, "name", STR("arbor"));
	text(w, "version", STR(ARBOR_VERSION));
	json_write_object_end(w);
}

static void write_tools(struct json_writer *w)
{
	key(w, "tools");
	json_write_raw(w, STR("[{\"name\":\"" TOOL
			      "\",\"description\":\"Asks the user whether a tool may run, and waits for the "
			      "answer\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"tool_name\":{"
			      "\"type\":\"string\"},"
			      "\"input\":{\"type\":\"object\"},\"tool_use_id\":{\"type\":\"string\"}},"
			      "\"required\":[\"tool_name\",\"input\"]}}]"));
}

/* ---- Requests --------------------------------------------------------------- */

static bool write_reply(const struct json *j, const struct rpc_message *m, struct buf *out, struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	if (str_eq(m->method, STR("initialize")))
		write_initialized(&w, j, m->params);
	else if (str_eq(m->method, STR("tools/list")))
		write_tools(&w);
	else if (!str_eq(m->method, STR("ping")))
		return false;
	json_write_object_end(&w);
	return json_write_done(&w, err) == STATUS_OK;
}

/* The parameters of loopback.permit. */
static enum status write_question(const struct client *c, const struct json *j, uint32_t asked,
				  struct buf *out, struct err *err)
{
	static const char *const handed_on[] = { "tool_name", "input", "tool_use_id" };
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	for (size_t i = 0; i < COUNT(handed_on); i++) {
		uint32_t v = json_get(j, asked, str_of(handed_on[i]));

		if (v != JSON_NONE) {
			key(&w, handed_on[i]);
			json_copy_valid(&w, j, v);
		}
	}
	if (c->session.p)
		text(&w, "session", c->session);
	if (c->claude_session.p)
		text(&w, "claude_session", c->claude_session);
	if (c->cwd.p)
		text(&w, "cwd", c->cwd);
	json_write_object_end(&w);
	return json_write_done(&w, err);
}

static enum status read_question(const struct client *c, const struct json *j, const struct rpc_message *m,
				 struct arena *mem, struct asked_call *out, struct err *err)
{
	struct buf params CLEANUP(buf_release) = BUF_INIT(LIMIT_RPC_LINE);
	uint32_t asked = json_get(j, m->params, STR("arguments"));

	out->code = BAD_PARAMS;
	if (!json_string_eq(j, json_get(j, m->params, STR("name")), STR(TOOL)))
		return err_fail(err, STATUS_NOT_FOUND, "there is one tool here: " TOOL);
	if (!json_is(j, json_get(j, asked, STR("tool_name")), JSON_STRING) ||
	    !json_is(j, json_get(j, asked, STR("input")), JSON_OBJECT))
		return err_fail(err, STATUS_USAGE, TOOL " wants the text tool_name and the object input");
	if (write_question(c, j, asked, &params, err))
		return err_failed(err->status);
	out->method = STR("loopback.permit");
	out->params = arena_str(mem, buf_as_str(&params));
	out->code = 0;
	return STATUS_OK;
}

static enum status read_request(void *ctx, const struct json *j, const struct rpc_message *m,
				struct arena *mem, struct asked_call *out, struct buf *line, struct err *err)
{
	struct buf reply CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	if (str_eq(m->method, STR("tools/call")))
		return read_question(ctx, j, m, mem, out, err);
	if (write_reply(j, m, &reply, err)) {
		rpc_put_result(line, m->id, buf_as_str(&reply));
		return STATUS_OK;
	}
	out->code = RPC_NO_METHOD;
	return err_fail(err, STATUS_NOT_FOUND, "'%.*s' is not known here", (int)size_min(m->method.n, 60),
			m->method.p);
}

static struct str read_cancel(const struct json *j, const struct rpc_message *m)
{
	return str_eq(m->method, STR("notifications/cancelled"))
		       ? json_raw(j, json_get(j, m->params, STR("requestId")))
		       : (struct str){ 0 };
}

/* ---- Answers ---------------------------------------------------------------- */

static void put_content(struct buf *line, struct str id, struct str said, bool is_error)
{
	struct buf result CLEANUP(buf_release) = BUF_INIT(LIMIT_RPC_LINE);
	struct json_writer w;

	json_write_init(&w, &result, 0);
	json_write_object_begin(&w);
	key(&w, "content");
	json_write_array_begin(&w);
	json_write_object_begin(&w);
	text(&w, "type", STR("text"));
	text(&w, "text", said);
	json_write_object_end(&w);
	json_write_array_end(&w);
	if (is_error) {
		key(&w, "isError");
		json_write_bool(&w, true);
	}
	json_write_object_end(&w);
	rpc_put_result(line, id, buf_as_str(&result));
}

static void put_answer(struct buf *line, struct str id, struct str json)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err err;

	if (json_read(&j, json, LIMIT_JSON_DEPTH, &err))
		put_content(line, id, str_of(err.text), true);
	else
		put_content(line, id, json_raw(&j, json_get(&j, json_root(&j), STR("answer"))), false);
}

/* Who has cancelled a call does not want to hear of it. */
static void put_failed(struct buf *line, struct str id, int code, const struct err *why)
{
	(void)code;
	if (why->status != STATUS_CANCELLED)
		put_content(line, id, str_of(why->text), true);
}

/* ---- The verb --------------------------------------------------------------- */

enum status run_mcp(struct face *f, int argc, char **argv, const struct params *p, struct err *err)
{
	struct client client = { .session = params_value(p, params_find(p, STR("session")))->text };
	const struct dialect dialect = { .ctx = &client,
					 .request = read_request,
					 .cancelled = read_cancel,
					 .result = put_answer,
					 .failed = put_failed };
	struct str session = str_of(env_text("CLAUDE_CODE_SESSION_ID"));
	char cwd[LIMIT_PATH];
	struct uuid id;

	(void)argc;
	(void)argv;
	if (!params_value(p, params_find(p, STR("approve")))->number)
		return err_fail(err, STATUS_USAGE, "say what it is for: --approve");
	if (uuid_parse(session, &id))
		client.claude_session = session;
	if (getcwd(cwd, sizeof cwd))
		client.cwd = str_of(cwd);
	return serve(f, &dialect, 1u << SCOPE_WRITE, err);
}
