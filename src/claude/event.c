/*
 * What a line says, by a table of shapes.
 *
 * A shape is made of parts, parted by '|'. Each names one member in braces, below the object
 * that holds what is said: an attachment, the data of progress, else the line itself. Where the
 * line has no such member, or it is empty, the whole part is left out; what the first part
 * that is left begins with of blanks and punctuation goes too. A part without braces is for
 * lines that have nothing of those before it. So
 *
 *     {operation}|: {content}|nothing        "enqueue: fix it", "dequeue", or "nothing"
 *
 * Types without a shape, of today or tomorrow, are told by their members, but for those that
 * every line has.
 */
#include "claude/event.h"

#include "base/utf8.h"

#include <string.h>

enum { LONG = 200, SHORT = 60, MOST_ITEMS = 5 };

static const struct shape {
	const char *type, *subtype, *text;
} shapes[] = {
	{ "queue-operation", NULL, "{operation}|: {content}" },
	{ "last-prompt", NULL, "{lastPrompt}" },
	{ "summary", NULL, "{summary}" },
	{ "ai-title", NULL, "{aiTitle}" },
	{ "custom-title", NULL, "{customTitle}" },
	{ "tag", NULL, "{tag}|none any more" },
	{ "mode", NULL, "{mode}" },
	{ "permission-mode", NULL, "{permissionMode}" },
	{ "agent-name", NULL, "{agentName}" },
	{ "agent-color", NULL, "{agentColor}" },
	{ "agent-setting", NULL, "{agentSetting}" },
	{ "file-history-snapshot", NULL, "{snapshot.trackedFileBackups}|no files" },
	{ "pr-link", NULL, "{prRepository}|#{prNumber}|  {prUrl}" },
	{ "tools-used", NULL, "{tools}" },
	{ "started", NULL, "{taskId}" },
	{ "result", NULL, "{taskId}|: {result}" },
	{ "system", "compact_boundary",
	  "{content}|, {compactMetadata.trigger}|, from {compactMetadata.preTokens} tokens|"
	  " to {compactMetadata.postTokens}" },
	{ "system", "microcompact_boundary",
	  "{content}|, {microcompactMetadata.trigger}|, {microcompactMetadata.tokensSaved} tokens saved" },
	{ "system", "turn_duration", "{durationMs}|, messages: {messageCount}" },
	{ "system", "stop_hook_summary", "hooks: {hookCount}|, {hookInfos}|, failed: {hookErrors}" },
	{ "system", "api_error",
	  "{error.message}|{error.error.message}|, attempt {retryAttempt}| of {maxRetries}" },
	{ "progress", "bash_progress", "{elapsedTimeSeconds} s|, lines: {totalLines}|, {output}" },
	{ "progress", "hook_progress", "{hookName}|: {command}" },
	{ "progress", "agent_progress", "{agentId}|: {message.message.content}" },
	{ "progress", "mcp_progress", "{serverName}| {toolName}|: {status}" },
	{ "progress", "query_update", "{query}" },
	{ "progress", "search_results_received", "results: {resultCount}|, {query}" },
	{ "progress", "waiting_for_task", "{taskDescription}" },
	{ "attachment", "queued_command", "{prompt}" },
	{ "attachment", "skill_listing", "{names}" },
	{ "attachment", "agent_listing_delta", "{addedTypes}|, gone: {removedTypes}" },
	{ "attachment", "hook_success", "{hookName}|, {durationMs}|: {stdout}" },
	{ "attachment", "hook_additional_context", "{hookName}|: {content}" },
	{ "attachment", "hook_blocking_error", "{hookName}|: {blockingError.blockingError}" },
	{ "attachment", "hook_permission_decision", "{hookEvent}|: {decision}" },
	{ "attachment", "file", "{displayPath}" },
	{ "attachment", "task_reminder", "tasks: {itemCount}" },
	{ "attachment", "todo_reminder", "todos: {itemCount}" },
	{ "attachment", "plan_mode", "{planFilePath}" },
	{ "attachment", "plan_mode_exit", "{planFilePath}" },
	{ "attachment", "command_permissions", "{allowedTools}" },
	{ "attachment", "max_turns_reached", "{turnCount}| of {maxTurns}" },
	{ "attachment", "budget_usd", "{used}| of {total} used" },
	{ "attachment", "structured_output", "{data}" },
	{ "attachment", "prompt_snapshot", "the system prompt" },
	{ "system", NULL, "{content}" },
};

/* ---- Values ------------------------------------------------------------------ */

static void add_value(struct record_reader *r, uint32_t node, size_t most, bool inside, struct buf *out);

static void add_text(struct record_reader *r, uint32_t node, size_t most, struct buf *out)
{
	record_short(json_string_in(&r->json, node, &r->mem), most, out);
}

/* "a, b, c and 4 more": values of a list, names of an object's members. */
static void add_items(struct record_reader *r, uint32_t node, size_t most, struct buf *out)
{
	const struct json *j = &r->json;
	bool named = json_is(j, node, JSON_OBJECT);
	uint32_t count = 0, all = json_count(j, node);

	for (uint32_t i = json_first(j, node); i != json_end(j, node) && count < MOST_ITEMS;
	     i = json_next(j, named ? i + 1 : i), count++) {
		buf_text(out, count ? ", " : "");
		if (named)
			add_text(r, i, SHORT, out);
		else
			add_value(r, i, most, true, out);
	}
	if (count < all)
		buf_printf(out, " and %u more", (unsigned)(all - count));
}

/* An object in a list by what it most likely wants to say. */
static void add_object(struct record_reader *r, uint32_t node, size_t most, struct buf *out)
{
	static const char *const telling[] = { "text",	  "thinking", "name",	"command",
					       "content", "message",  "subject" };
	const struct json *j = &r->json;

	for (size_t i = 0; i < COUNT(telling); i++) {
		uint32_t value = json_get(j, node, str_of(telling[i]));

		if (json_is(j, value, JSON_STRING)) {
			add_text(r, value, most, out);
			return;
		}
	}
	buf_text(out, "{…}");
}

/* `inside` a list things are told in fewer words. */
static void add_value(struct record_reader *r, uint32_t node, size_t most, bool inside, struct buf *out)
{
	const struct json *j = &r->json;

	if (json_is(j, node, JSON_STRING))
		add_text(r, node, most, out);
	else if (json_is(j, node, JSON_OBJECT) && inside)
		add_object(r, node, most, out);
	else if (json_is(j, node, JSON_ARRAY) && inside)
		buf_printf(out, "[%u]", (unsigned)json_count(j, node));
	else if (json_is(j, node, JSON_OBJECT) || json_is(j, node, JSON_ARRAY))
		add_items(r, node, most, out);
	else
		record_short(json_raw(j, node), SHORT, out);
}

static void add_duration(const struct json *j, uint32_t node, struct buf *out)
{
	int64_t ms = 0;

	if (!json_to_i64(j, node, &ms) || ms < 1000)
		buf_printf(out, "%" PRId64 " ms", ms);
	else
		buf_printf(out, "%" PRId64 ".%" PRId64 " s", ms / 1000, ms % 1000 / 100);
}

/* ---- Shapes ------------------------------------------------------------------ */

/* The object in which a line keeps what it says. */
static uint32_t said_in(const struct json *j, const struct record *rec)
{
	if (rec->type == RECORD_ATTACHMENT)
		return json_get(j, json_root(j), STR("attachment"));
	return rec->type == RECORD_PROGRESS ? json_get(j, json_root(j), STR("data")) : json_root(j);
}

static uint32_t find(const struct json *j, uint32_t object, struct str path)
{
	while (path.n)
		object = json_get(j, object, str_cut(path, '.', &path));
	return object;
}

static bool is_empty(const struct json *j, uint32_t node)
{
	if (node == JSON_NONE || json_is(j, node, JSON_NULL))
		return true;
	if (json_is(j, node, JSON_ARRAY) || json_is(j, node, JSON_OBJECT))
		return json_count(j, node) == 0;
	return str_eq(json_raw(j, node), STR("\"\""));
}

/* A part, with its text around the braces. */
static void add_part(struct record_reader *r, uint32_t object, struct str part, struct buf *out)
{
	struct str rest, name, front = str_cut(part, '{', &rest);
	uint32_t node;

	if (!rest.p) {
		if (!out->n)
			buf_str(out, part);
		return;
	}
	name = str_cut(rest, '}', &rest);
	node = find(&r->json, object, name);
	if (is_empty(&r->json, node))
		return;
	while (!out->n && front.n && strchr(" ,:", front.p[0]))
		front = str_sub(front, 1, SIZE_MAX);
	buf_str(out, front);
	if (str_has_suffix(name, STR("Ms")))
		add_duration(&r->json, node, out);
	else
		add_value(r, node, LONG, false, out);
	buf_str(out, rest);
}

static const struct shape *shape_of(struct str type, struct str subtype)
{
	for (size_t i = 0; i < COUNT(shapes); i++)
		if (str_eq(type, str_of(shapes[i].type)) &&
		    (!shapes[i].subtype || str_eq(subtype, str_of(shapes[i].subtype))))
			return &shapes[i];
	return NULL;
}

/* ---- Without a shape ----------------------------------------------------------- */

/* What nearly every line has, or has for the client alone. */
static bool is_common(const struct json *j, uint32_t key)
{
	static const char *const names[] = {
		"type",	     "subtype",	    "uuid",	  "parentUuid",	     "logicalParentUuid",
		"sessionId", "timestamp",   "cwd",	  "gitBranch",	     "version",
		"userType",  "isSidechain", "entrypoint", "isMeta",	     "slug",
		"level",     "messageId",   "forkedFrom", "parentToolUseID", "toolUseID",
		"promptId",  "requestId",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (json_string_eq(j, key, str_of(names[i])))
			return true;
	return false;
}

static void add_bracketed(struct record_reader *r, uint32_t node, struct buf *out)
{
	const char *around = json_is(&r->json, node, JSON_OBJECT) ? "{}" : "[]";
	bool many = json_is(&r->json, node, JSON_OBJECT) || json_is(&r->json, node, JSON_ARRAY);

	if (many)
		buf_byte(out, around[0]);
	add_value(r, node, SHORT, false, out);
	if (many)
		buf_byte(out, around[1]);
}

static void add_members(struct record_reader *r, uint32_t object, struct buf *out)
{
	const struct json *j = &r->json;
	int count = 0;

	if (!json_is(j, object, JSON_OBJECT))
		return;
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		if (is_common(j, k) || is_empty(j, k + 1))
			continue;
		if (count++ == MOST_ITEMS || out->n > LONG) {
			buf_text(out, ", …");
			return;
		}
		buf_text(out, out->n ? ", " : "");
		add_text(r, k, SHORT, out);
		buf_text(out, ": ");
		add_bracketed(r, k + 1, out);
	}
}

/* ---- A line ------------------------------------------------------------------ */

struct str event_subtype(struct record_reader *r, const struct record *rec)
{
	const struct json *j = &r->json;

	if (rec->type == RECORD_SYSTEM)
		return json_string_in(j, json_get(j, json_root(j), STR("subtype")), &r->mem);
	if (rec->type == RECORD_ATTACHMENT || rec->type == RECORD_PROGRESS)
		return json_string_in(j, json_get(j, said_in(j, rec), STR("type")), &r->mem);
	return (struct str){ 0 };
}

void event_brief(struct record_reader *r, const struct record *rec, struct buf *out)
{
	const struct shape *shape = shape_of(rec->type_name, event_subtype(r, rec));
	uint32_t object = said_in(&r->json, rec);

	if (rec->type == RECORD_BROKEN) {
		record_short(rec->bytes, LONG, out);
		return;
	}
	for (struct str rest = str_of(shape ? shape->text : ""); rest.n;)
		add_part(r, object, str_cut(rest, '|', &rest), out);
	if (!out->n)
		add_members(r, object, out);
}
