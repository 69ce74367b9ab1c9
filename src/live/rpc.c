/*
 * Reading and writing messages. Nothing here waits or knows a method.
 *
 * Values are handed on as they are, by their span. JSON that somebody wrote may have
 * line ends between its values, and a line may not: they become blanks, which mean
 * the same there, since inside of a string they cannot stand.
 *
 * Of a message that is read, what is not understood is ignored, as the protocol wants
 * it; what is understood has to be right.
 */
#include "live/rpc.h"

#include "base/base64.h"
#include "base/json_write.h"

#include <string.h>

/* ---- Reading ------------------------------------------------------------------- */

enum { ID_MOST = 128 };

/* Numbers are whole ones: 1 and 1.0 would be the same to some, and not to us. */
static struct str id_text(const struct json *j, uint32_t node)
{
	struct str none = { 0 }, raw = json_raw(j, node);
	int64_t number;

	if (node == JSON_NONE || raw.n > ID_MOST)
		return none;
	return json_is(j, node, JSON_STRING) || json_to_i64(j, node, &number) ? raw : none;
}

static enum status no_message(const char *why, struct err *err)
{
	return err_fail(err, STATUS_USAGE, "this is no message of JSON-RPC 2.0: %s", why);
}

static enum status read_request(const struct json *j, uint32_t method, struct arena *mem,
				struct rpc_message *m, struct err *err)
{
	bool has_id = json_get(j, 0, STR("id")) != JSON_NONE;

	if (!json_is(j, method, JSON_STRING))
		return no_message("its method is no text", err);
	if (has_id && !m->id.n)
		return no_message("its id is no whole number or text", err);
	if (m->params != JSON_NONE && !json_is(j, m->params, JSON_OBJECT))
		return no_message("its parameters are no object", err);
	if (m->route != JSON_NONE && !json_is(j, m->route, JSON_OBJECT))
		return no_message("its route is no object", err);
	m->kind = has_id ? RPC_REQUEST : RPC_NOTICE;
	m->method = json_string_in(j, method, mem);
	return STATUS_OK;
}

/* An error about a message whose id nobody could read has none. */
static enum status read_answer(const struct json *j, struct rpc_message *m, struct err *err)
{
	if (m->result != JSON_NONE && m->error != JSON_NONE)
		return no_message("it has a result and an error", err);
	if (m->result == JSON_NONE && m->error == JSON_NONE)
		return no_message("it has neither a method nor a result nor an error", err);
	if (m->result != JSON_NONE && !m->id.n)
		return no_message("a result without id", err);
	if (m->error != JSON_NONE && !json_is(j, m->error, JSON_OBJECT))
		return no_message("its error is no object", err);
	m->kind = m->result != JSON_NONE ? RPC_RESULT : RPC_ERROR;
	return STATUS_OK;
}

enum status rpc_read(struct json *j, struct str line, struct arena *mem, struct rpc_message *out,
		     struct err *err)
{
	uint32_t method;

	*out = (struct rpc_message){
		.params = JSON_NONE, .route = JSON_NONE, .result = JSON_NONE, .error = JSON_NONE
	};
	if (json_read(j, line, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (json_is(j, 0, JSON_ARRAY))
		return no_message("several in one line are not taken", err);
	if (!json_is(j, 0, JSON_OBJECT))
		return no_message("no object", err);
	out->id = id_text(j, json_get(j, 0, STR("id")));
	if (!json_string_eq(j, json_get(j, 0, STR("jsonrpc")), STR("2.0")))
		return no_message("\"jsonrpc\" is not \"2.0\"", err);
	out->params = json_get(j, 0, STR("params"));
	out->route = json_get(j, 0, STR("route"));
	out->result = json_get(j, 0, STR("result"));
	out->error = json_get(j, 0, STR("error"));
	method = json_get(j, 0, STR("method"));
	return method != JSON_NONE ? read_request(j, method, mem, out, err) : read_answer(j, out, err);
}

struct str rpc_subject(const struct json *j, const struct rpc_message *m)
{
	return id_text(j, json_get(j, m->params, STR("id")));
}

/* ---- Errors -------------------------------------------------------------------- */

int rpc_code(enum status status)
{
	return status_info(status)->json_rpc;
}

static enum status status_of_code(int64_t code)
{
	switch (code) {
	case RPC_NO_METHOD:
		return STATUS_NOT_FOUND;
	case RPC_NO_REQUEST:
		return STATUS_USAGE;
	case RPC_NOT_JSON:
		return STATUS_FORMAT;
	default:
		break;
	}
	for (int s = STATUS_OK + 1; s < STATUS_COUNT; s++)
		if (code == rpc_code((enum status)s))
			return (enum status)s;
	return STATUS_IO;
}

/* By name where the other side is an Arbor, which may have more of them than codes tell. What is no
 * failure is no status of an error. A bug over there is none here. */
static enum status status_of(const struct json *j, uint32_t error)
{
	uint32_t name = json_get(j, json_get(j, error, STR("data")), STR("status"));
	int64_t code = 0;
	enum status found;

	json_to_i64(j, json_get(j, error, STR("code")), &code);
	found = status_of_code(code);
	for (int s = STATUS_OK + 1; s < STATUS_COUNT; s++)
		if (json_string_eq(j, name, str_of(status_info((enum status)s)->name)))
			found = (enum status)s;
	return found == STATUS_WAIT ? STATUS_BUSY : found == STATUS_INTERNAL ? STATUS_IO : found;
}

void rpc_error(const struct json *j, const struct rpc_message *m, struct err *out)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str text = json_string_in(j, json_get(j, m->error, STR("message")), &mem);

	if (!text.n)
		text = STR("an error without a message");
	err_set(out, status_of(j, m->error), "%.*s", (int)size_min(text.n, LIMIT_ERR_TEXT), text.p);
	out->telling = json_bool(j, json_get(j, json_get(j, m->error, STR("data")), STR("telling")));
}

/* ---- Writing ------------------------------------------------------------------- */

static void put_string(struct buf *out, struct str text)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_string(&w, text);
}

/* JSON as it is, but for line ends. */
static void put_json(struct buf *out, struct str json)
{
	size_t from = out->n;

	buf_str(out, json);
	if (out->failed || !memchr(out->p + from, '\n', out->n - from))
		return;
	for (size_t i = from; i < out->n; i++)
		if (out->p[i] == '\n')
			out->p[i] = ' ';
}

static void put_id(struct buf *out, struct str id)
{
	buf_str(out, id.n ? id : STR("null"));
}

void rpc_put_request(struct buf *out, struct str id, struct str method, struct str params, struct str route)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	put_id(out, id);
	buf_text(out, ",\"method\":");
	put_string(out, method);
	buf_text(out, ",\"params\":");
	put_json(out, params.n ? params : STR("{}"));
	if (route.n) {
		buf_text(out, ",\"route\":");
		put_json(out, route);
	}
	buf_text(out, "}\n");
}

void rpc_put_result(struct buf *out, struct str id, struct str result)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	put_id(out, id);
	buf_text(out, ",\"result\":");
	put_json(out, result);
	buf_text(out, "}\n");
}

void rpc_put_error(struct buf *out, struct str id, int code, const struct err *why)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	put_id(out, id);
	buf_printf(out, ",\"error\":{\"code\":%d,\"message\":", code);
	put_string(out, str_of(why->text));
	buf_printf(out, ",\"data\":{\"status\":\"%s\"%s}}}\n", status_info(why->status)->name,
		   why->telling ? ",\"telling\":true" : "");
}

/* A notice up to the members behind the id. */
static void begin_notice(struct buf *out, const char *method, struct str id)
{
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"id\":", method);
	put_id(out, id);
}

void rpc_put_item(struct buf *out, struct str id, struct str item)
{
	begin_notice(out, RPC_ITEM, id);
	buf_text(out, ",\"item\":");
	put_json(out, item);
	buf_text(out, "}}\n");
}

void rpc_put_bytes(struct buf *out, struct str id, struct str bytes)
{
	begin_notice(out, RPC_BYTES, id);
	buf_text(out, ",\"base64\":\"");
	base64_encode(out, bytes);
	buf_text(out, "\"}}\n");
}

void rpc_put_progress(struct buf *out, struct str id, struct str what, int64_t done, int64_t total)
{
	begin_notice(out, RPC_PROGRESS, id);
	buf_text(out, ",\"what\":");
	put_string(out, what);
	buf_printf(out, ",\"done\":%" PRId64 ",\"total\":%" PRId64 "}}\n", done, total);
}

void rpc_put_note(struct buf *out, struct str id, struct str text)
{
	begin_notice(out, RPC_NOTE, id);
	buf_text(out, ",\"text\":");
	put_string(out, text);
	buf_text(out, "}}\n");
}

void rpc_put_cancel(struct buf *out, struct str id)
{
	begin_notice(out, RPC_CANCEL, id);
	buf_text(out, "}}\n");
}
