/*
 * Clients that run. When it started (base/proc.h) a client notes as `procStart`; one that notes none
 * is believed.
 */
#include "claude/live.h"

#include "base/json.h"
#include "base/proc.h"

static struct str member(const struct json *j, struct str name, struct arena *mem)
{
	struct str text = json_string_in(j, json_get(j, json_root(j), name), mem);

	return text.p ? arena_str(mem, text) : text;
}

/* The client writes a text; a number would mean the same. */
static struct str read_start(const struct json *j, struct arena *mem)
{
	uint32_t node = json_get(j, json_root(j), STR("procStart"));

	return json_is(j, node, JSON_NUMBER) ? arena_str(mem, json_raw(j, node))
					     : member(j, STR("procStart"), mem);
}

bool live_read(struct str text, struct arena *mem, struct live *out)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err ignored;
	uint32_t root;

	if (json_read(&j, text, LIMIT_JSON_DEPTH, &ignored))
		return false;
	root = json_root(&j);
	*out = (struct live){
		.proc_start = read_start(&j, mem),
		.cwd = member(&j, STR("cwd"), mem),
		.version = member(&j, STR("version"), mem),
		.kind = member(&j, STR("kind"), mem),
		.name = member(&j, STR("name"), mem),
		.status = member(&j, STR("status"), mem),
	};
	json_to_i64(&j, json_get(&j, root, STR("startedAt")), &out->started_at);
	return json_to_i64(&j, json_get(&j, root, STR("pid")), &out->pid) && out->pid > 0 &&
	       out->pid <= INT32_MAX && uuid_parse(member(&j, STR("sessionId"), mem), &out->session);
}

bool live_is_process(const struct live *l, struct str stat)
{
	return proc_stat_is(stat, l->proc_start);
}
