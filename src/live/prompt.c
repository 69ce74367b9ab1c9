/*
 * A prompt as it waits in the store. What holds for this one alone (how many turns, which tools) stands
 * beside it and not in its session, whose next prompt knows nothing of it.
 */
#include "live/prompt.h"

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"

void prompt_write(struct buf *out, const struct prompt *p)
{
	char id[UUID_TEXT + 1];
	struct json_writer w;

	uuid_print(&p->uuid, id);
	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	json_write_key(&w, STR("uuid"));
	json_write_string(&w, str_of(id));
	if (p->max_turns) {
		json_write_key(&w, STR("max_turns"));
		json_write_i64(&w, p->max_turns);
	}
	if (p->allowed_tools.p) {
		json_write_key(&w, STR("allowed_tools"));
		json_write_raw(&w, p->allowed_tools);
	}
	json_write_key(&w, STR("content"));
	json_write_raw(&w, p->content);
	json_write_object_end(&w);
}

bool prompt_read(struct str text, struct arena *mem, struct prompt *out)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	uint32_t content, tools;
	struct err ignored;

	*out = (struct prompt){ 0 };
	if (json_read(&j, text, LIMIT_JSON_DEPTH, &ignored) ||
	    !uuid_parse(json_string_in(&j, json_get(&j, 0, STR("uuid")), mem), &out->uuid))
		return false;
	content = json_get(&j, 0, STR("content"));
	tools = json_get(&j, 0, STR("allowed_tools"));
	if (content == JSON_NONE)
		return false;
	out->content = arena_str(mem, json_raw(&j, content));
	if (tools != JSON_NONE)
		out->allowed_tools = arena_str(mem, json_raw(&j, tools));
	json_to_i64(&j, json_get(&j, 0, STR("max_turns")), &out->max_turns);
	return true;
}
