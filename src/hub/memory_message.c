/*
 * Messages in results: what memory.show and memory.log have in common.
 */
#include "hub/memory_message.h"

#include "claude/event.h"

static const char *const block_kinds[] = { "text",  "thinking", "tool_use", "tool_result",
					   "image", "other",	NULL };

const char *const message_roles[] = { "user", "assistant", NULL };

const struct field message_blocks[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the block" },
	{ .name = "kind", .type = VALUE_ENUM, .choices = block_kinds, .help = "what it is" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "what it says" },
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "tool_use: of the tool" },
	{ .name = "tool_id",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "tool_use, tool_result: what joins the two" },
	{ .name = "error", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, .help = "tool_result: it failed" },
	{ .name = "input",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL,
	  .help = "tool_use: what it was given" },
	{ 0 },
};

void put_message_block(struct json_writer *w, const struct record_reader *r, const struct node_name *name,
		       const struct record_block *b, struct buf *text)
{
	struct uuid id = node_id(name, (int)b->index);

	json_write_object_begin(w);
	put_uuid(w, "id", &id);
	put_text(w, "kind", str_of(block_kind_name(b->kind)));
	if (b->name.n)
		put_text(w, "name", b->name);
	if (b->tool.n)
		put_text(w, "tool_id", b->tool);
	if (b->is_error)
		put_bool(w, "error", true);
	if (b->kind == BLOCK_TOOL_USE) {
		uint32_t input = json_get(&r->json, b->node, STR("input"));

		if (input != JSON_NONE) {
			json_write_key(w, STR("input"));
			json_copy_valid(w, &r->json, input);
		}
	} else {
		buf_clear(text);
		block_text(r, b, text);
		put_text(w, "text", buf_as_str(text));
	}
	json_write_object_end(w);
}

void put_tree_id(struct json_writer *w, const struct grove *g, uint32_t tree)
{
	if (tree != FOREST_NONE)
		put_uuid(w, "tree_id", &g->trees[tree].id);
}

bool message_aside(const struct record_reader *r, const struct record *rec, struct arena *mem, struct buf *out)
{
	const struct json *j = &r->json;
	uint32_t attachment = json_get(j, json_root(j), STR("attachment"));
	struct str type = json_string_in(j, json_get(j, attachment, STR("type")), mem);
	struct str prompt = json_string_in(j, json_get(j, attachment, STR("prompt")), mem);

	if (rec->type == RECORD_SYSTEM)
		record_text(r, rec, out);
	else if (prompt.n)
		buf_str(out, prompt);
	else
		buf_printf(out, "[%.*s]", STR_ARG(str_sub(type, 0, 200)));
	return rec->type == RECORD_SYSTEM || prompt.n;
}

void put_event(struct json_writer *w, struct record_reader *r, const struct record *rec, const struct node_name *name,
	       struct str text)
{
	struct buf brief CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct uuid id = node_id(name, PART_LINE);
	struct str subtype = event_subtype(r, rec);

	put_text(w, "kind", STR("event"));
	put_uuid(w, "id", &id);
	if (rec->has_time)
		put_time(w, "at", rec->at);
	put_text(w, "type", rec->type_name.n ? rec->type_name : str_of(record_type_name(rec->type)));
	if (subtype.n)
		put_text(w, "subtype", subtype);
	event_brief(r, rec, &brief);
	if (brief.n)
		put_text(w, "brief", buf_as_str(&brief));
	if (text.n)
		put_text(w, "text", text);
}
