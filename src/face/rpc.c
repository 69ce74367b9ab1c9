/*
 * arbor rpc --stdio: calls of another program, by JSON-RPC as hubs speak it (live/rpc.h, docs/RPC.md).
 */
#include "face/serve.h"

enum { LINGER_MS = 10000 };

static enum status read_request(void *ctx, const struct json *j, const struct rpc_message *m,
				struct arena *mem, struct asked_call *out, struct buf *line, struct err *err)
{
	(void)ctx;
	(void)line;
	out->method = arena_str(mem, m->method);
	out->params = arena_str(mem, json_raw(j, m->params));
	return route_read(j, m->route, mem, &out->told, err);
}

static struct str read_cancel(const struct json *j, const struct rpc_message *m)
{
	return str_eq(m->method, STR(RPC_CANCEL)) ? rpc_subject(j, m) : (struct str){ 0 };
}

static void put_failed(struct buf *line, struct str id, int code, const struct err *why)
{
	rpc_put_error(line, id, code, why);
}

enum status run_rpc(struct face *f, int argc, char **argv, const struct params *p, struct err *err)
{
	static const struct dialect dialect = { .linger_ms = LINGER_MS,
						.tells = true,
						.request = read_request,
						.cancelled = read_cancel,
						.result = rpc_put_result,
						.failed = put_failed };
	const struct value *given = params_value(p, params_find(p, STR("scopes")));
	unsigned scopes = given->count ? 0 : 1u << SCOPE_READ;

	(void)argc;
	(void)argv;
	if (!params_value(p, params_find(p, STR("stdio")))->number)
		return err_fail(err, STATUS_USAGE, "say where to speak: --stdio");
	for (size_t i = 0; i < given->count; i++)
		scope_parse(given->list[i], &scopes);
	return serve(f, &dialect, scopes, err);
}
