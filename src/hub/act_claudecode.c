/*
 * claudecode.*: conversations with Claude Code.
 *
 * Its handles are those of what was mirrored, and of streams (streamed.c); how each is made stands in handle_node.c,
 * and what those of the first kind stand for is found in claudecode_resolve.c.
 */
#include "hub/activations.h"

#include "hub/claudecode_methods.h"
#include "hub/claudecode_resolve.h"
#include "hub/handle_node.h"
#include "hub/memory_agents.h"
#include "hub/memory_message.h"
#include "hub/memory_session.h"
#include "hub/streamed.h"

/* ---- What it takes to find them ---------------------------------------------------------- */

static const struct meta_field session_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the session" },
	{ .name = "source",
	  .type = VALUE_ID,
	  .flags = META_OPTIONAL,
	  .help = "of its file, where several have this id" },
	{ 0 },
};

static const struct meta_field agent_meta[] = {
	{ .name = "agent",
	  .type = VALUE_TEXT,
	  .help = "id of the sub-agent; of an inline one, uuid of its first line" },
	{ .name = "session", .type = VALUE_ID, .help = "whose it is" },
	{ 0 },
};

static const struct meta_field turn_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the turn" },
	{ .name = "index",
	  .type = VALUE_INT,
	  .flags = META_OPTIONAL,
	  .help = "its number, for people: it changes when files are joined" },
	{ 0 },
};

static const struct meta_field message_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the message" },
	{ .name = "role", .type = VALUE_TEXT, .help = "user or assistant" },
	{ .name = "api_id", .type = VALUE_TEXT, .flags = META_OPTIONAL, .help = "its id for the API, if it has one" },
	{ 0 },
};

static const struct meta_field block_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the block" },
	{ .name = "index", .type = VALUE_INT, .help = "of the block in its line" },
	{ 0 },
};

static const struct meta_field call_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the block" },
	{ .name = "tool_id", .type = VALUE_TEXT, .help = "of the call" },
	{ .name = "name", .type = VALUE_TEXT, .flags = META_OPTIONAL, .help = "of the tool" },
	{ 0 },
};

static const struct meta_field result_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the block" },
	{ .name = "tool_id", .type = VALUE_TEXT, .help = "of the call" },
	{ .name = "is_error", .type = VALUE_BOOL, .flags = META_OPTIONAL, .help = "whether it failed" },
	{ 0 },
};

static const struct meta_field line_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the line" },
	{ 0 },
};

static const struct meta_field stream_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the stream" },
	{ 0 },
};

static const struct meta_field chat_event_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the event" },
	{ .name = "type", .type = VALUE_TEXT, .flags = META_OPTIONAL, .help = "what happened" },
	{ 0 },
};

/* ---- What they stand for ----------------------------------------------------------------- */

#define PLACE_FIELDS \
	{ .name = "session", .type = VALUE_ID, .help = "it was said in" }, \
	{ .name = "agent", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "the sub-agent's, if it is one" }, \
	{ .name = "project", .type = VALUE_PATH, .help = "folder the session worked in" }, \
	{ .name = "title", .type = VALUE_TEXT, .help = "of the session" }, \
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when" }

#define SAID_FIELDS \
	{ .name = "role", .type = VALUE_ENUM, .choices = message_roles, .help = "whose it is for the model" }, \
	{ .name = "prompt", .type = VALUE_BOOL, .help = "typed by a person" }, \
	{ .name = "model", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "who answered" }

#define TRUNCATED_FIELD \
	{ .name = "truncated", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, \
	  .help = "texts of its blocks are not whole; ask for their handles" }

static const struct field message_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the message" },
	{ .name = "handle", .type = VALUE_HANDLE, .help = "with all of its meta" },
	PLACE_FIELDS,
	SAID_FIELDS,
	API_ID_FIELD,
	VARIANT_FIELD,
	{ .name = "blocks", .type = VALUE_OBJECT, .flags = FIELD_LIST, .fields = message_blocks, .help = "its parts" },
	TRUNCATED_FIELD,
	{ 0 },
};

static const struct field turn_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the turn" },
	PLACE_FIELDS,
	{ .name = "messages",
	  .type = VALUE_JSON,
	  .flags = FIELD_LIST,
	  .help = "messages and events of it, as 'memory.show' gives them" },
	TRUNCATED_FIELD,
	{ 0 },
};

const struct field claudecode_block_fields[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the block" },
	{ .name = "handle", .type = VALUE_HANDLE, .help = "with all of its meta" },
	PLACE_FIELDS,
	{ .name = "message", .type = VALUE_ID, .help = "it is a part of" },
	{ .name = "message_handle", .type = VALUE_HANDLE, .help = "of that" },
	SAID_FIELDS,
	{ .name = "kind", .type = VALUE_TEXT, .help = "text, thinking, tool_use, tool_result, image or other" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "what it says" },
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "tool_use: of the tool" },
	{ .name = "tool_id", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "of the call" },
	{ .name = "error", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, .help = "tool_result: it failed" },
	{ .name = "input",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL,
	  .help = "tool_use: what it was given; as 'text', where it is too long" },
	BLOCK_PART_FIELDS,
	{ 0 },
};

static const struct field event_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the line" },
	{ .name = "handle", .type = VALUE_HANDLE, .help = "the same" },
	PLACE_FIELDS,
	EVENT_FIELDS,
	WINDOW_FIELDS,
	{ 0 },
};

static const struct field line_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the line" },
	PLACE_FIELDS,
	{ .name = "type", .type = VALUE_TEXT, .help = "of the line" },
	{ .name = "file", .type = VALUE_HANDLE, .help = "it stands in, with its version" },
	{ .name = "path", .type = VALUE_PATH, .help = "of that" },
	{ .name = "offset", .type = VALUE_INT, .help = "at which byte" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "the line as it is" },
	{ .name = "base64", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "the same where it is not UTF-8" },
	WINDOW_FIELDS,
	{ 0 },
};

static const struct field session_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "as the client knows it" },
	{ .name = "handle", .type = VALUE_HANDLE, .help = "with all of its meta" },
	{ .name = "file", .type = VALUE_HANDLE, .help = "of its transcript" },
	SESSION_PART_FIELDS,
	{ 0 },
};

static const struct field chat_event_data[] = {
	{ .name = "stream", .type = VALUE_ID, .help = "it is in" },
	{ .name = "session", .type = VALUE_ID, .help = "whose stream that is" },
	EVENT_ITEM_FIELDS,
	{ 0 },
};

/* ---- The table --------------------------------------------------------------------------- */

#define BLOCK_KIND(name, what, is, takes) \
	{ \
		.method = (name), .summary = (what), .kind = (is), .meta = (takes), .fields = claudecode_block_fields, \
		.need = NEED_STORE, .resolve = claudecode_block \
	}

static const struct handle_kind kinds[] = {
	{ .method = "session",
	  .summary = "a conversation",
	  .kind = CONTENT_DOCUMENT,
	  .meta = session_meta,
	  .fields = session_data,
	  .need = NEED_STORE,
	  .resolve = claudecode_session },
	{ .method = "agent",
	  .summary = "a sub-agent of one",
	  .kind = CONTENT_DOCUMENT,
	  .meta = agent_meta,
	  .fields = agent_fields,
	  .need = NEED_STORE,
	  .resolve = claudecode_agent },
	{ .method = "turn",
	  .summary = "what a prompt led to",
	  .kind = CONTENT_DOCUMENT,
	  .meta = turn_meta,
	  .fields = turn_data,
	  .need = NEED_STORE,
	  .resolve = claudecode_turn },
	{ .method = "message",
	  .summary = "a prompt, an answer, or results of tools",
	  .kind = CONTENT_MESSAGE,
	  .meta = message_meta,
	  .fields = message_data,
	  .older = "msg-",
	  .need = NEED_STORE,
	  .resolve = claudecode_message },
	BLOCK_KIND("content", "a text, a picture or another part of a message", CONTENT_MESSAGE, block_meta),
	BLOCK_KIND("thinking", "what a model thought", CONTENT_MESSAGE, block_meta),
	BLOCK_KIND("tool_use", "a call of a tool", CONTENT_MESSAGE, call_meta),
	BLOCK_KIND("tool_result", "what a tool gave back", CONTENT_OUTPUT, result_meta),
	{ .method = "event",
	  .summary = "a line that is no message",
	  .kind = CONTENT_DOCUMENT,
	  .meta = line_meta,
	  .fields = event_data,
	  .need = NEED_STORE,
	  .resolve = claudecode_event },
	{ .method = "line",
	  .summary = "any line, as its file has it",
	  .kind = CONTENT_DOCUMENT,
	  .meta = line_meta,
	  .fields = line_data,
	  .need = NEED_STORE,
	  .resolve = claudecode_line },
	{ .method = "stream",
	  .summary = "what an agent did, from its start to its end",
	  .kind = CONTENT_DOCUMENT,
	  .meta = stream_meta,
	  .fields = streamed_fields,
	  .need = NEED_STORE,
	  .resolve = streamed_resolve },
	{ .method = "chat_event",
	  .summary = "something that happened in it",
	  .kind = CONTENT_DOCUMENT,
	  .meta = chat_event_meta,
	  .fields = chat_event_data,
	  .need = NEED_STORE,
	  .resolve = chat_event_resolve },
	{ 0 },
};

static const struct method *const methods[] = {
	&claudecode_create,	 &claudecode_get,	    &claudecode_list,
	&claudecode_rename,	 &claudecode_delete,	    &claudecode_adopt,
	&claudecode_set_model,	 &claudecode_set_mode,	    &claudecode_chat,
	&claudecode_chat_async,	 &claudecode_interrupt,	    &claudecode_cancel,
	&claudecode_queue,	 &claudecode_drive,	    &claudecode_continue,
	&claudecode_streams,	 &claudecode_poll,	    &claudecode_tail,
	&claudecode_compact,	 &claudecode_cursor_create, &claudecode_cursor_advance,
	&claudecode_cursor_list, &claudecode_cursor_delete, &claudecode_fork,
	&claudecode_create_from_tree, &claudecode_resume, &claudecode_set_head,
	&claudecode_list_branches, &claudecode_compare, &claudecode_get_conversation,
	&claudecode_get_block,	 &claudecode_render_context, &claudecode_merge_note,
	NULL,
};

const struct activation activation_claudecode = {
	.name = "claudecode",
	.version = "1.0.0",
	.summary = "Conversations with Claude Code",
	.methods = methods,
	.handles = kinds,
};
