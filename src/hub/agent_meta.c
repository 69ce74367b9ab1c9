/*
 * Facts about a sub-agent: agent-ID.meta.json beside agent-ID.jsonl, as archived.
 */
#include "hub/agent_meta.h"

#include "base/json.h"
#include "store/archive.h"
#include "store/find.h"

enum { META_MOST = 1024 * 1024 };

static enum status add_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

enum status agent_meta_read(struct store *s, const struct session *session, struct arena *mem,
			    struct agent_meta *out, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(META_MOST);
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str stem = session->path;
	struct source_info info;
	struct err ignored;

	*out = (struct agent_meta){ 0 };
	if (!str_has_suffix(stem, STR(".jsonl")))
		return STATUS_OK;
	stem.n -= STR(".jsonl").n;
	if (source_find(s, arena_printf(mem, "%.*s:%.*s.meta.json", STR_ARG(session->root), STR_ARG(stem)),
			mem, &info, &ignored) != STATUS_OK ||
	    !info.generation)
		return STATUS_OK;
	if (archive_read(s, info.generation, 0, info.bytes < META_MOST ? info.bytes : 0, add_bytes, &bytes,
			 err))
		return err_failed(err->status);
	if (json_read(&j, buf_as_str(&bytes), LIMIT_JSON_DEPTH, &ignored) != STATUS_OK)
		return STATUS_OK;
	out->call = arena_str(mem, json_string_in(&j, json_get(&j, 0, STR("toolUseId")), mem));
	out->type = arena_str(mem, json_string_in(&j, json_get(&j, 0, STR("agentType")), mem));
	return STATUS_OK;
}
