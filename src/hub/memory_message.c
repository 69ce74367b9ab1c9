/*
 * Messages in results: what memory.show and memory.log have in common.
 */
#include "hub/memory_message.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "claude/event.h"
#include "hub/handle_node.h"

static const char *const block_kinds[] = { "text",  "thinking", "tool_use", "tool_result",
					   "image", "other",	NULL };

const char *const message_roles[] = { "user", "assistant", NULL };

const struct field message_blocks[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the block" },
	HANDLE_FIELD(""),
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
	BLOCK_PART_FIELDS,
	{ 0 },
};

/* ---- Blocks ------------------------------------------------------------------------ */

/* Bytes that stand in a block, as pictures and documents do: in base64 three of them are four
 * characters, so a part is cut out as it stands. False when there are none. */
static bool put_binary(struct json_writer *w, const struct json *j, uint32_t block, struct window *window)
{
	uint32_t source = json_get(j, block, STR("source")), type = json_get(j, source, STR("media_type"));
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str data = json_string_in(j, json_get(j, source, STR("data")), &mem), part;
	size_t all;

	if (!json_string_eq(j, json_get(j, source, STR("type")), STR("base64")) || !data.n || !base64_is(data, &all))
		return false;
	part = str_sub(data, size_min(window->from, all) / 3 * 4, window->left / 3 * 4);
	if (json_is(j, type, JSON_STRING))
		put_text(w, "media_type", json_string_in(j, type, &mem));
	put_text(w, "base64", part);
	put_window_size(w, all, part.n == data.n ? all : part.n / 4 * 3, window);
	return true;
}

/* What a tool was given is JSON, and only as a whole: what does not fit is given as text. */
static void put_input(struct json_writer *w, const struct json *j, uint32_t block, struct window *window)
{
	uint32_t input = json_get(j, block, STR("input"));
	struct str raw = json_raw(j, input);

	if (input == JSON_NONE)
		return;
	if (window && (raw.n > window->left || window->from)) {
		put_window(w, "text", raw, window);
		return;
	}
	json_write_key(w, STR("input"));
	json_copy_valid(w, j, input);
	if (window)
		put_window_size(w, raw.n, raw.n, window);
}

static void put_said(struct json_writer *w, const struct record_reader *r, const struct record_block *b,
		     const struct block_manner *how)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str signature;

	if (how->window && put_binary(w, &r->json, b->node, how->window))
		return;
	buf_clear(how->text);
	block_text(r, b, how->text);
	if (!how->window) {
		put_text(w, "text", buf_as_str(how->text));
		return;
	}
	put_window(w, "text", buf_as_str(how->text), how->window);
	signature = json_string_in(&r->json, json_get(&r->json, b->node, STR("signature")), &mem);
	if (signature.n && signature.n <= how->window->left)
		put_text(w, "signature", signature);
}

void put_message_block(struct json_writer *w, const struct record_reader *r, const struct record_block *b,
		       const struct block_manner *how)
{
	struct uuid id = node_id(how->name, (int)b->index);
	struct uuid line_id = how->variant ? *how->variant : node_id(how->name, PART_LINE);
	struct node_handle handle = handle_of_block(how->variant ? how->variant : &id, b);
	struct node_handle line = handle_of_line(&line_id);

	json_write_object_begin(w);
	put_uuid(w, "id", &id);
	put_handle(w, &handle);
	put_text(w, "kind", str_of(block_kind_name(b->kind)));
	if (how->window) {
		put_int(w, "index", b->index);
		put_handle_as(w, "line", &line);
	}
	if (b->name.n)
		put_text(w, "name", b->name);
	if (b->tool.n)
		put_text(w, "tool_id", b->tool);
	if (b->is_error)
		put_bool(w, "error", true);
	if (b->kind == BLOCK_TOOL_USE)
		put_input(w, &r->json, b->node, how->window);
	else
		put_said(w, r, b, how);
	json_write_object_end(w);
}

/* ---- Lines that are no message ----------------------------------------------------- */

void put_message(struct json_writer *w, const struct uuid *id, const struct record *rec)
{
	struct str role = rec->type == RECORD_ASSISTANT ? STR("assistant") : STR("user");
	struct node_handle handle = handle_of_message(id, rec);

	put_handle(w, &handle);
	if (rec->has_time)
		put_time(w, "at", rec->at);
	put_text(w, "role", role);
	if (rec->model.n)
		put_text(w, "model", rec->model);
	if (rec->message_id.n)
		put_text(w, "api_id", rec->message_id);
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

const char *const queue_states[] = { "waiting", "sent", "taken-back", NULL };

bool message_is_queued(unsigned flags)
{
	return record_is_typed(flags) && (flags & RECORD_QUEUED);
}

/* An attachment is how it was sent. */
void put_queued(struct json_writer *w, unsigned flags)
{
	bool sent = !(flags & RECORD_ENQUEUED) || (flags & ENTRY_SENT);

	if (message_is_queued(flags))
		put_text(w, "queued", str_of(queue_states[sent ? 1 : flags & ENTRY_BACK ? 2 : 0]));
}

void put_event(struct json_writer *w, struct record_reader *r, const struct record *rec, const struct node_name *name,
	       struct str text, struct window *window)
{
	struct buf brief CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct uuid id = node_id(name, PART_LINE);
	struct node_handle handle = handle_of_event(&id);
	struct str subtype = event_subtype(r, rec);

	put_text(w, "kind", STR("event"));
	put_uuid(w, "id", &id);
	put_handle(w, &handle);
	if (rec->has_time)
		put_time(w, "at", rec->at);
	put_text(w, "type", rec->type_name.n ? rec->type_name : str_of(record_type_name(rec->type)));
	if (subtype.n)
		put_text(w, "subtype", subtype);
	event_brief(r, rec, &brief);
	if (brief.n)
		put_text(w, "brief", buf_as_str(&brief));
	if (text.n && window)
		put_window(w, "text", text, window);
	else if (text.n)
		put_text(w, "text", text);
}
