/*
 * Reading transcript lines.
 *
 * The client's lines are known by measurement, not by contract: fields come and
 * go with its versions. So nothing is required of a line. What is looked for is
 * taken when it has the right type, and everything else is left alone.
 *
 * Which user line is a person's prompt has no single mark in older versions: it
 * is one unless something says that it is not (tool result, isMeta, summary,
 * command envelope, interruption, notification, sub-agent).
 */
#include "claude/record.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "claude/command.h"
#include "claude/layout.h"
#include "claude/numbered.h"

#include <string.h>

static const struct {
	const char *name;
	enum record_type type;
} types[] = {
	{ "user", RECORD_USER },	 { "assistant", RECORD_ASSISTANT },
	{ "system", RECORD_SYSTEM },	 { "attachment", RECORD_ATTACHMENT },
	{ "progress", RECORD_PROGRESS }, { "summary", RECORD_SUMMARY },
	{ "ai-title", RECORD_AI_TITLE }, { "custom-title", RECORD_CUSTOM_TITLE },
	{ "last-prompt", RECORD_LAST_PROMPT }, { "file-history-snapshot", RECORD_SNAPSHOT },
};

void record_reader_release(struct record_reader *r)
{
	json_release(&r->json);
	arena_release(&r->mem);
}

struct str record_line(struct str line, int64_t offset)
{
	static const struct str mark = { "\xef\xbb\xbf", 3 };

	return offset == 0 && str_has_prefix(line, mark) ? str_sub(line, mark.n, SIZE_MAX) : line;
}

void record_begin(struct record_reader *r, struct str line)
{
	r->rest = line;
	r->count = 0;
}

/* ---- One record ------------------------------------------------------------ */

static struct str text_of(struct record_reader *r, uint32_t object, const char *key)
{
	return json_string_in(&r->json, json_get(&r->json, object, str_of(key)), &r->mem);
}

static enum record_type type_of(struct str name)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (str_eq(name, str_of(types[i].name)))
			return types[i].type;
	return RECORD_OTHER;
}

/* Of what texts are told apart by their first words: no front is longer. */
enum { LONGEST_FRONT = 64 };

/* Texts the client writes in a person's place. */
static bool is_envelope(struct str text)
{
	static const char *const fronts[] = {
		"<command-name>",
		"<command-message>",
		"<command-args>",
		"<local-command-",
		"<bash-input>",
		"<bash-stdout>",
		"<bash-stderr>",
		"<task-notification>",
		"<user-memory-input>",
		"<system-reminder>",
		"<ide_",
		"Caveat: The messages below",
		"[Request interrupted by user",
	};

	for (size_t i = 0; i < COUNT(fronts); i++)
		if (str_has_prefix(text, str_of(fronts[i])))
			return true;
	return false;
}

static bool is_typed(const struct record_reader *r, uint32_t text)
{
	char room[LONGEST_FRONT];

	return json_is(&r->json, text, JSON_STRING) && !is_envelope(json_front(&r->json, text, room, sizeof room));
}

/* Whether a content that is a string, or its first text, begins so. */
static bool starts_with(const struct record_reader *r, uint32_t content, const char *front)
{
	const struct json *j = &r->json;
	char room[LONGEST_FRONT];

	if (json_is(j, content, JSON_ARRAY) && json_count(j, content))
		content = json_get(j, json_first(j, content), STR("text"));
	return str_has_prefix(json_front(j, content, room, sizeof room), str_of(front));
}

/* One text that was typed is enough: the client likes to add its own beside it. */
static bool content_is_prompt(struct record_reader *r, uint32_t content)
{
	const struct json *j = &r->json;
	bool any = false;

	if (!json_is(j, content, JSON_ARRAY))
		return is_typed(r, content);
	for (uint32_t b = json_first(j, content); b != json_end(j, content); b = json_next(j, b)) {
		uint32_t type = json_get(j, b, STR("type"));

		if (json_string_eq(j, type, STR("tool_result")))
			return false;
		if (json_string_eq(j, type, STR("text")))
			any = any || is_typed(r, json_get(j, b, STR("text")));
		else
			any |= json_string_eq(j, type, STR("image"));
	}
	return any;
}

/* Whether its only text is a command with something behind it. */
static bool content_is_command(struct record_reader *r, uint32_t content)
{
	struct buf typed CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	const struct json *j = &r->json;
	bool words = false;

	if (!starts_with(r, content, "<command-") && !starts_with(r, content, "<bash-input>"))
		return false;
	if (json_is(j, content, JSON_ARRAY))
		content = json_count(j, content) == 1 ? json_get(j, json_first(j, content), STR("text")) : JSON_NONE;
	return command_typed(json_string_in(j, content, &r->mem), &typed, &words) && words;
}

/* The members of a line that are looked at, found in one pass: there are about
 * twenty in each of millions of lines. In the order of their length. */
enum {
	KEY_CWD,
	KEY_TYPE,
	KEY_UUID,
	KEY_DATA,
	KEY_SLUG,
	KEY_META,
	KEY_ORIGIN,
	KEY_MESSAGE,
	KEY_AGENT,
	KEY_SUBTYPE,
	KEY_LEAF,
	KEY_EXPLICIT,
	KEY_TIME,
	KEY_BRANCH,
	KEY_SESSION,
	KEY_REQUEST,
	KEY_PARENT,
	KEY_ATTACHMENT,
	KEY_FORKED,
	KEY_SIDECHAIN,
	KEY_PERMISSION,
	KEY_COMPACT,
	KEY_ERROR,
	KEY_LOGICAL,
	KEYS
};

#define NAME(text) { text, sizeof(text) - 1 }
static const struct str key_names[KEYS] = {
	[KEY_CWD] = NAME("cwd"),	       [KEY_TYPE] = NAME("type"),
	[KEY_UUID] = NAME("uuid"),	       [KEY_DATA] = NAME("data"),
	[KEY_SLUG] = NAME("slug"),
	[KEY_META] = NAME("isMeta"),	       [KEY_ORIGIN] = NAME("origin"),
	[KEY_MESSAGE] = NAME("message"),       [KEY_AGENT] = NAME("agentId"),
	[KEY_SUBTYPE] = NAME("subtype"),       [KEY_LEAF] = NAME("leafUuid"),
	[KEY_EXPLICIT] = NAME("explicit"),     [KEY_TIME] = NAME("timestamp"),
	[KEY_BRANCH] = NAME("gitBranch"),      [KEY_SESSION] = NAME("sessionId"),
	[KEY_REQUEST] = NAME("requestId"),     [KEY_PARENT] = NAME("parentUuid"),
	[KEY_ATTACHMENT] = NAME("attachment"), [KEY_FORKED] = NAME("forkedFrom"),
	[KEY_SIDECHAIN] = NAME("isSidechain"), [KEY_PERMISSION] = NAME("permissionMode"),
	[KEY_COMPACT] = NAME("isCompactSummary"), [KEY_ERROR] = NAME("isApiErrorMessage"),
	[KEY_LOGICAL] = NAME("logicalParentUuid"),
};

/* Where the names of a length begin in the list. */
static size_t first_of_length(size_t n)
{
	static const uint8_t begins[] = {
		[0] = KEYS,	     [1] = KEYS,	 [2] = KEYS,	    [3] = KEY_CWD,     [4] = KEY_TYPE,
		[5] = KEYS,	     [6] = KEY_META,	 [7] = KEY_MESSAGE, [8] = KEY_LEAF,    [9] = KEY_TIME,
		[10] = KEY_PARENT,   [11] = KEY_SIDECHAIN, [12] = KEYS,	    [13] = KEYS,       [14] = KEY_PERMISSION,
		[15] = KEYS,	     [16] = KEY_COMPACT, [17] = KEY_ERROR,
	};

	return n < COUNT(begins) ? begins[n] : KEYS;
}

static void find_members(const struct json *j, uint32_t object, uint32_t found[KEYS])
{
	struct str key;

	for (size_t i = 0; i < KEYS; i++)
		found[i] = JSON_NONE;
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		bool plain = json_text(j, k, &key);
		size_t i = plain ? first_of_length(key.n) : 0;

		for (; i < KEYS && (!plain || key_names[i].n == key.n); i++)
			if (plain ? memcmp(key.p, key_names[i].p, key.n) == 0 : json_string_eq(j, k, key_names[i]))
				found[i] = k + 1;
	}
}

/* ---- What is true of a line --------------------------------------------------- */

static unsigned flag_if(bool is, unsigned flag)
{
	return is ? flag : 0;
}

static bool member_is(const struct json *j, uint32_t object, const char *key, const char *value)
{
	return json_string_eq(j, json_get(j, object, str_of(key)), str_of(value));
}

static bool has_block(const struct json *j, uint32_t content, const char *type)
{
	if (json_is(j, content, JSON_ARRAY))
		for (uint32_t b = json_first(j, content); b != json_end(j, content); b = json_next(j, b))
			if (member_is(j, b, "type", type))
				return true;
	return false;
}

static bool is_blank_text(struct record_reader *r, uint32_t block)
{
	uint32_t text = json_get(&r->json, block, STR("text"));

	return member_is(&r->json, block, "type", "text") && json_is_blank(&r->json, text);
}

static bool is_mute(struct record_reader *r, uint32_t content)
{
	const struct json *j = &r->json;

	if (!json_is(j, content, JSON_ARRAY))
		return json_is_blank(j, content);
	for (uint32_t b = json_first(j, content); b != json_end(j, content); b = json_next(j, b))
		if (!member_is(j, b, "type", "thinking") && !member_is(j, b, "type", "redacted_thinking") &&
		    !is_blank_text(r, b))
			return false;
	return true;
}

static bool speaks(struct record_reader *r, uint32_t content)
{
	const struct json *j = &r->json;

	if (!json_is(j, content, JSON_ARRAY))
		return !json_is_blank(j, content);
	for (uint32_t b = json_first(j, content); b != json_end(j, content); b = json_next(j, b))
		if (member_is(j, b, "type", "text") && !is_blank_text(r, b))
			return true;
	return false;
}

/* Who speaks in a user line. Of several signs the strongest counts. */
static unsigned user_flags(struct record_reader *r, const struct record *rec, const uint32_t found[KEYS])
{
	const struct json *j = &r->json;
	uint32_t origin = json_get(j, found[KEY_ORIGIN], STR("kind"));

	if (has_block(j, rec->content, "tool_result"))
		return RECORD_RESULT;
	if (json_bool(j, found[KEY_COMPACT]))
		return RECORD_COMPACT;
	if (json_bool(j, found[KEY_META]))
		return RECORD_META;
	if (rec->flags & RECORD_SIDECHAIN)
		return flag_if(content_is_prompt(r, rec->content), RECORD_TASK);
	if (origin != JSON_NONE && !json_string_eq(j, origin, STR("human")))
		return RECORD_NOTICE;
	if (starts_with(r, rec->content, "<task-notification>"))
		return RECORD_NOTICE;
	if (content_is_prompt(r, rec->content))
		return RECORD_PROMPT;
	return flag_if(content_is_command(r, rec->content), RECORD_COMMAND);
}

/* A prompt that waited and went into the running turn; notifications of the client do so, too. */
static unsigned queued_flags(struct record_reader *r, uint32_t attachment)
{
	const struct json *j = &r->json;
	uint32_t prompt = json_get(j, attachment, STR("prompt"));
	uint32_t origin = json_get(j, json_get(j, attachment, STR("origin")), STR("kind"));
	bool told = member_is(j, attachment, "commandMode", "task-notification") ||
		    (origin != JSON_NONE && !json_string_eq(j, origin, STR("human"))) ||
		    starts_with(r, prompt, "<task-notification>");

	return RECORD_QUEUED | flag_if(told, RECORD_META);
}

static unsigned assistant_flags(struct record_reader *r, const struct record *rec, const uint32_t found[KEYS])
{
	const struct json *j = &r->json;
	uint32_t stop = json_get(j, rec->message, STR("stop_reason"));

	return flag_if(json_bool(j, found[KEY_ERROR]), RECORD_ERROR) |
	       flag_if(str_eq(rec->model, STR("<synthetic>")), RECORD_SYNTHETIC) |
	       flag_if(json_is(j, found[KEY_REQUEST], JSON_STRING), RECORD_REQUEST) |
	       flag_if(json_is(j, stop, JSON_STRING), RECORD_STOPPED) |
	       flag_if(json_string_eq(j, stop, STR("max_tokens")), RECORD_CUT) |
	       flag_if(is_mute(r, rec->content), RECORD_MUTE) | flag_if(speaks(r, rec->content), RECORD_SPEAKS);
}

static unsigned flags_of(struct record_reader *r, const struct record *rec, const uint32_t found[KEYS])
{
	const struct json *j = &r->json;

	switch (rec->type) {
	case RECORD_USER:
		return user_flags(r, rec, found);
	case RECORD_ASSISTANT:
		return assistant_flags(r, rec, found);
	case RECORD_SYSTEM:
		return flag_if(json_string_eq(j, found[KEY_SUBTYPE], STR("compact_boundary")), RECORD_BOUNDARY) |
		       flag_if(json_string_eq(j, found[KEY_SUBTYPE], STR("local_command")), RECORD_SENT);
	case RECORD_ATTACHMENT:
		return member_is(j, found[KEY_ATTACHMENT], "type", "queued_command")
			       ? queued_flags(r, found[KEY_ATTACHMENT])
			       : 0;
	case RECORD_LAST_PROMPT:
		return flag_if(json_bool(j, found[KEY_EXPLICIT]), RECORD_EXPLICIT);
	case RECORD_BROKEN:
	case RECORD_PROGRESS:
	case RECORD_SUMMARY:
	case RECORD_AI_TITLE:
	case RECORD_CUSTOM_TITLE:
	case RECORD_SNAPSHOT:
	case RECORD_TYPES:
		break;
	case RECORD_OTHER:
		return flag_if(record_queue(r, rec) == QUEUE_ADD &&
				       content_is_prompt(r, json_get(j, json_root(j), STR("content"))),
			       RECORD_ENQUEUED);
	}
	return 0;
}

static struct str link_of(struct record_reader *r, const struct record *rec, const uint32_t found[KEYS])
{
	const struct json *j = &r->json;

	if (rec->type == RECORD_LAST_PROMPT || rec->type == RECORD_SUMMARY)
		return json_string_in(j, found[KEY_LEAF], &r->mem);
	if (rec->flags & RECORD_BOUNDARY)
		return json_string_in(j, found[KEY_LOGICAL], &r->mem);
	return text_of(r, found[KEY_FORKED], "messageUuid");
}

static void read_object(struct record_reader *r, uint32_t object, struct record *out)
{
	const struct json *j = &r->json;
	uint32_t found[KEYS];
	struct str time;

	find_members(j, object, found);
	out->type_name = json_string_in(j, found[KEY_TYPE], &r->mem);
	out->type = type_of(out->type_name);
	out->uuid = json_string_in(j, found[KEY_UUID], &r->mem);
	out->parent = json_string_in(j, found[KEY_PARENT], &r->mem);
	out->cwd = json_string_in(j, found[KEY_CWD], &r->mem);
	out->branch = json_string_in(j, found[KEY_BRANCH], &r->mem);
	out->permission = json_string_in(j, found[KEY_PERMISSION], &r->mem);
	out->plan = json_string_in(j, found[KEY_SLUG], &r->mem);
	out->session = json_string_in(j, found[KEY_SESSION], &r->mem);
	out->agent = json_string_in(j, found[KEY_AGENT], &r->mem);
	time = json_string_in(j, found[KEY_TIME], &r->mem);
	out->has_time = time.n && time_parse(time, &out->at);
	out->flags = flag_if(json_bool(j, found[KEY_SIDECHAIN]), RECORD_SIDECHAIN);
	if (out->type == RECORD_USER || out->type == RECORD_ASSISTANT) {
		out->message = found[KEY_MESSAGE];
		out->message_id = text_of(r, found[KEY_MESSAGE], "id");
		out->model = text_of(r, found[KEY_MESSAGE], "model");
		out->content = json_get(j, found[KEY_MESSAGE], STR("content"));
	}
	out->flags |= flags_of(r, out, found);
	out->link = link_of(r, out, found);
}

bool record_embedded(struct record_reader *r, const struct record *rec, struct record *out)
{
	const struct json *j = &r->json;
	uint32_t data = json_get(j, json_root(j), STR("data"));
	uint32_t message = json_get(j, data, STR("message"));

	*out = (struct record){ .message = JSON_NONE, .content = JSON_NONE };
	if (rec->type != RECORD_PROGRESS || !member_is(j, data, "type", "agent_progress") ||
	    !json_is(j, message, JSON_OBJECT))
		return false;
	read_object(r, message, out);
	/* It does not say that it is a sub-agent's: what looks typed is its task. */
	out->flags |= flag_if(out->flags & RECORD_PROMPT, RECORD_TASK);
	out->flags = (out->flags & ~(unsigned)(RECORD_PROMPT | RECORD_NOTICE)) | RECORD_SIDECHAIN | RECORD_EMBEDDED;
	out->agent = text_of(r, data, "agentId");
	out->bytes = json_raw(j, message);
	return out->type == RECORD_USER || out->type == RECORD_ASSISTANT;
}

/* How much of the rest is one record: all of it, or an object before another. */
static size_t read_json(struct record_reader *r)
{
	struct err err;
	size_t end;

	if (json_read(&r->json, r->rest, LIMIT_JSON_DEPTH, &err) == STATUS_OK)
		return r->rest.n;
	end = r->json.error_at;
	/* The client glues two together by accident; a thousand are somebody's idea. */
	if (++r->count > LIMIT_LINE_RECORDS || err.status != STATUS_FORMAT || end == 0 || end >= r->rest.n ||
	    r->rest.p[end] != '{')
		return r->rest.n;
	return json_read(&r->json, str_sub(r->rest, 0, end), LIMIT_JSON_DEPTH, &err) == STATUS_OK ? end
												  : r->rest.n;
}

/* Looks no further than it must: there may be many records in front of many blanks. */
static bool is_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != ' ' && !(s.p[i] >= '\t' && s.p[i] <= '\r'))
			return false;
	return true;
}

bool record_next(struct record_reader *r, struct record *out)
{
	size_t end;

	*out = (struct record){ .message = JSON_NONE, .content = JSON_NONE };
	if (is_blank(r->rest))
		return false;
	arena_release(&r->mem);
	r->mem = (struct arena)ARENA_INIT;
	end = read_json(r);
	out->bytes = str_sub(r->rest, 0, end);
	r->rest = str_sub(r->rest, end, SIZE_MAX);
	if (json_is(&r->json, json_root(&r->json), JSON_OBJECT))
		read_object(r, json_root(&r->json), out);
	return true;
}

bool record_is_whole(struct record_reader *r, struct str line)
{
	struct err err;

	return line.n && json_read(&r->json, line, LIMIT_JSON_DEPTH, &err) == STATUS_OK &&
	       json_is(&r->json, json_root(&r->json), JSON_OBJECT);
}

enum record_queue record_queue(const struct record_reader *r, const struct record *rec)
{
	const struct json *j = &r->json;
	uint32_t operation;

	if (rec->type != RECORD_OTHER || !str_eq(rec->type_name, STR("queue-operation")))
		return QUEUE_NONE;
	operation = json_get(j, json_root(j), STR("operation"));
	return json_string_eq(j, operation, STR("enqueue"))   ? QUEUE_ADD
	       : json_string_eq(j, operation, STR("dequeue")) ? QUEUE_TAKE
	       : json_string_eq(j, operation, STR("remove"))  ? QUEUE_TAKE
	       : json_string_eq(j, operation, STR("popAll"))  ? QUEUE_BACK
							      : QUEUE_NONE;
}

/* ---- Blocks ---------------------------------------------------------------- */

/* Of a text in a user line. The client puts its own beside what was typed; and what somebody types while a tool runs
 * goes to the model beside the result, in a line that is no prompt. */
static enum record_place place_of_text(const struct record_reader *r, const struct record *rec, uint32_t node)
{
	const struct json *j = &r->json;
	uint32_t text = json_is(j, node, JSON_STRING) ? node : json_get(j, node, STR("text"));
	bool is_own = !(rec->flags & (RECORD_SIDECHAIN | RECORD_EMBEDDED));

	if (rec->flags & RECORD_COMMAND)
		return PLACE_PROMPT;
	if (!is_typed(r, text))
		return starts_with(r, text, "<") ? PLACE_CLIENT : PLACE_OTHER;
	if (rec->flags & RECORD_PROMPT)
		return PLACE_PROMPT;
	return is_own && !json_bool(j, json_get(j, json_root(j), STR("isMeta"))) ? PLACE_PROMPT : PLACE_OTHER;
}

static enum record_place place_of(const struct record_reader *r, const struct record *rec, enum block_kind kind,
				  uint32_t node)
{
	switch (kind) {
	case BLOCK_THINKING:
		return PLACE_THINKING;
	case BLOCK_TOOL_USE:
		return PLACE_INPUT;
	case BLOCK_TOOL_RESULT:
		return PLACE_OUTPUT;
	case BLOCK_TEXT:
		if (rec->flags & (RECORD_PROMPT | RECORD_COMMAND | RECORD_RESULT))
			return place_of_text(r, rec, node);
		break;
	case BLOCK_IMAGE:
	case BLOCK_OTHER:
	case BLOCK_KINDS:
		break;
	}
	if (rec->flags & (RECORD_PROMPT | RECORD_COMMAND))
		return PLACE_PROMPT;
	if (rec->flags & RECORD_META)
		return PLACE_CLIENT;
	return rec->type == RECORD_ASSISTANT && !(rec->flags & RECORD_ERROR) ? PLACE_ANSWER : PLACE_OTHER;
}

static enum block_kind kind_of(const struct json *j, uint32_t node)
{
	static const char *const names[BLOCK_OTHER] = {
		[BLOCK_TEXT] = "text",	       [BLOCK_THINKING] = "thinking",
		[BLOCK_TOOL_USE] = "tool_use", [BLOCK_TOOL_RESULT] = "tool_result",
		[BLOCK_IMAGE] = "image",
	};
	uint32_t type = json_get(j, node, STR("type"));

	for (size_t i = 0; i < COUNT(names); i++)
		if (json_string_eq(j, type, str_of(names[i])))
			return (enum block_kind)i;
	return BLOCK_OTHER;
}

/* A string without decoding; names and ids have no escapes. */
static struct str plain(const struct json *j, uint32_t object, const char *key)
{
	struct str text = { 0 };

	json_text(j, json_get(j, object, str_of(key)), &text);
	return text;
}

struct str block_file(struct record_reader *r, const struct record_block *b)
{
	static const char *const keys[] = { "file_path", "notebook_path", "path" };
	uint32_t input = json_get(&r->json, b->node, STR("input"));
	struct str text = { 0 };

	if (b->kind != BLOCK_TOOL_USE)
		return text;
	for (size_t i = 0; i < COUNT(keys) && !text.n; i++)
		text = text_of(r, input, keys[i]);
	return text;
}

bool record_block(const struct record_reader *r, const struct record *rec, struct block_cursor *at,
		  struct record_block *out)
{
	const struct json *j = &r->json;
	uint32_t node = at->node;

	if (json_is(j, rec->content, JSON_STRING) && at->index++ == 0) {
		*out = (struct record_block){ .node = rec->content };
		out->place = place_of(r, rec, BLOCK_TEXT, rec->content);
		return true;
	}
	if (!json_is(j, rec->content, JSON_ARRAY))
		return false;
	if (at->index == 0)
		node = json_first(j, rec->content);
	if (node == json_end(j, rec->content))
		return false;
	*out = (struct record_block){ .kind = kind_of(j, node), .index = at->index++, .node = node };
	at->node = json_next(j, node);
	out->place = place_of(r, rec, out->kind, node);
	out->is_error = json_bool(j, json_get(j, node, STR("is_error")));
	if (out->kind == BLOCK_TOOL_USE) {
		out->name = plain(j, node, "name");
		out->tool = plain(j, node, "id");
	} else if (out->kind == BLOCK_TOOL_RESULT) {
		out->tool = plain(j, node, "tool_use_id");
	}
	return true;
}

/* ---- Texts ----------------------------------------------------------------- */

static void add_string(const struct json *j, uint32_t node, struct buf *out)
{
	if (!json_is(j, node, JSON_STRING))
		return;
	if (out->n && out->p[out->n - 1] != '\n')
		buf_byte(out, '\n');
	json_string(j, node, out);
}

/* Every string below a node that is a value and not a key. */
static void add_strings(const struct json *j, uint32_t node, struct buf *out)
{
	uint32_t end;

	if (node == JSON_NONE)
		return;
	/* The tape is in the order of the text, so no recursion is needed. */
	end = json_next(j, node);
	for (uint32_t i = node; i < end; i++)
		if (json_is(j, i, JSON_STRING) && !json_is_key(j, i))
			add_string(j, i, out);
}

/* Whether a member says what its object is: of use to nobody who searches. */
static bool is_type_name(const struct json *j, uint32_t key)
{
	return json_string_eq(j, key, STR("type")) && json_is(j, key + 1, JSON_STRING);
}

/* What is in an attachment, but for the system prompt. */
static void add_attachment(const struct json *j, uint32_t node, struct buf *out)
{
	uint32_t type = json_get(j, node, STR("type"));

	if (node == JSON_NONE || json_string_eq(j, type, STR("prompt_snapshot")))
		return;
	for (uint32_t i = node, end = json_next(j, node); i < end;) {
		type = json_get(j, i, STR("type"));
		if (json_string_eq(j, type, STR("image")) || json_string_eq(j, type, STR("base64")))
			i = json_next(j, i);
		else if (json_is(j, i, JSON_STRING) && json_is_key(j, i))
			i += is_type_name(j, i) ? 2 : 1;
		else
			add_string(j, i++, out);
	}
}

/* A tool's output: a string, or a list of blocks of which the texts count. */
static void add_output(const struct json *j, uint32_t content, struct buf *out)
{
	if (!json_is(j, content, JSON_ARRAY)) {
		add_string(j, content, out);
		return;
	}
	for (uint32_t b = json_first(j, content); b != json_end(j, content); b = json_next(j, b))
		if (json_is(j, b, JSON_STRING))
			add_string(j, b, out);
		else
			add_string(j, json_get(j, b, STR("text")), out);
}

void block_text(const struct record_reader *r, const struct record_block *b, struct buf *out)
{
	const struct json *j = &r->json;

	if (json_is(j, b->node, JSON_STRING)) {
		add_string(j, b->node, out);
		return;
	}
	switch (b->kind) {
	case BLOCK_TEXT:
		add_string(j, json_get(j, b->node, STR("text")), out);
		break;
	case BLOCK_THINKING:
		add_string(j, json_get(j, b->node, STR("thinking")), out);
		break;
	case BLOCK_TOOL_USE:
		add_string(j, json_get(j, b->node, STR("name")), out);
		add_strings(j, json_get(j, b->node, STR("input")), out);
		break;
	case BLOCK_TOOL_RESULT:
		add_output(j, json_get(j, b->node, STR("content")), out);
		break;
	case BLOCK_IMAGE:
	case BLOCK_OTHER:
	case BLOCK_KINDS:
		break;
	}
}

void block_said(const struct record_reader *r, const struct record_block *b, struct buf *out)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	size_t at = out->n;

	block_text(r, b, out);
	if (b->kind == BLOCK_TOOL_RESULT)
		numbered_strip(out, at);
	if (b->place != PLACE_PROMPT || out->n == at || out->p[at] != '<')
		return;
	if (command_typed(str_sub(buf_as_str(out), at, SIZE_MAX), &text, NULL)) {
		out->n = at;
		buf_str(out, buf_as_str(&text));
	}
}

/* What a person typed while a turn was running: a text, or blocks. */
static void add_queued(const struct json *j, uint32_t attachment, struct buf *out)
{
	add_output(j, json_get(j, attachment, STR("prompt")), out);
}

void record_text(const struct record_reader *r, const struct record *rec, struct buf *out)
{
	const struct json *j = &r->json;
	uint32_t root = json_root(j);

	switch (rec->type) {
	case RECORD_SUMMARY:
		add_string(j, json_get(j, root, STR("summary")), out);
		break;
	case RECORD_AI_TITLE:
		add_string(j, json_get(j, root, STR("aiTitle")), out);
		break;
	case RECORD_CUSTOM_TITLE:
		add_string(j, json_get(j, root, STR("customTitle")), out);
		break;
	case RECORD_SYSTEM:
		add_string(j, json_get(j, root, STR("content")), out);
		break;
	case RECORD_ATTACHMENT:
		if (rec->flags & RECORD_QUEUED)
			add_queued(j, json_get(j, root, STR("attachment")), out);
		else
			add_attachment(j, json_get(j, root, STR("attachment")), out);
		break;
	case RECORD_OTHER:
		if (rec->flags & RECORD_ENQUEUED)
			add_string(j, json_get(j, root, STR("content")), out);
		break;
	case RECORD_BROKEN:
	case RECORD_USER:
	case RECORD_ASSISTANT:
	case RECORD_PROGRESS:
	case RECORD_LAST_PROMPT:
	case RECORD_SNAPSHOT:
	case RECORD_TYPES:
		break;
	}
}

void record_prompt_again(const struct record_reader *r, const struct record *rec, struct buf *out)
{
	const struct json *j = &r->json;

	if (rec->type == RECORD_LAST_PROMPT)
		add_string(j, json_get(j, json_root(j), STR("lastPrompt")), out);
	else if (record_queue(r, rec) == QUEUE_ADD)
		add_string(j, json_get(j, json_root(j), STR("content")), out);
}

/* ---- Content and usage --------------------------------------------------------- */

static uint64_t mix(uint64_t sum, uint64_t more)
{
	uint64_t both[2] = { sum, more };

	return hash64(both, sizeof both);
}

static uint64_t hash_node(const struct json *j, uint32_t node)
{
	struct str raw = json_raw(j, node);

	return hash64(raw.p, raw.n);
}

/* A text by its text alone, so that both ways of writing it are the same. */
static uint64_t hash_block(const struct json *j, uint32_t node)
{
	uint32_t text = member_is(j, node, "type", "text") ? json_get(j, node, STR("text")) : JSON_NONE;

	return text == JSON_NONE ? mix(2, hash_node(j, node)) : mix(1, hash_node(j, text));
}

static uint64_t hash_content(const struct json *j, uint32_t content, uint64_t sum)
{
	if (!json_is(j, content, JSON_ARRAY))
		return mix(sum, mix(1, hash_node(j, content)));
	for (uint32_t b = json_first(j, content); b != json_end(j, content); b = json_next(j, b))
		sum = mix(sum, json_is(j, b, JSON_STRING) ? mix(1, hash_node(j, b)) : hash_block(j, b));
	return sum;
}

uint64_t record_content(const struct record_reader *r, const struct record *rec)
{
	const struct json *j = &r->json;
	uint32_t root = json_root(j);

	switch (rec->type) {
	case RECORD_USER:
	case RECORD_ASSISTANT:
		return hash_content(j, rec->content, (uint64_t)rec->type);
	case RECORD_ATTACHMENT:
		return mix(RECORD_ATTACHMENT, hash_node(j, json_get(j, root, STR("attachment"))));
	case RECORD_SYSTEM:
		return mix(RECORD_SYSTEM, mix(hash_node(j, json_get(j, root, STR("subtype"))),
					      hash_node(j, json_get(j, root, STR("content")))));
	case RECORD_BROKEN:
	case RECORD_PROGRESS:
	case RECORD_SUMMARY:
	case RECORD_AI_TITLE:
	case RECORD_CUSTOM_TITLE:
	case RECORD_LAST_PROMPT:
	case RECORD_SNAPSHOT:
	case RECORD_OTHER:
	case RECORD_TYPES:
		break;
	}
	return 0;
}

static void add_digest(struct sha *sha, struct str bytes)
{
	sha256_add(sha, bytes.p, bytes.n);
}

static void add_text_digest(struct sha *sha, const struct json *j, uint32_t text)
{
	add_digest(sha, STR("{\"type\":\"text\",\"text\":"));
	add_digest(sha, json_raw(j, text));
	add_digest(sha, STR("}"));
}

static void add_block_digest(struct sha *sha, const struct json *j, uint32_t block)
{
	uint32_t text = member_is(j, block, "type", "text") ? json_get(j, block, STR("text")) : JSON_NONE;

	if (json_is(j, block, JSON_STRING) || text != JSON_NONE)
		add_text_digest(sha, j, text == JSON_NONE ? block : text);
	else
		add_digest(sha, json_raw(j, block));
}

static void add_blocks_digest(struct sha *sha, const struct json *j, uint32_t content)
{
	if (!json_is(j, content, JSON_ARRAY)) {
		add_text_digest(sha, j, content);
		return;
	}
	for (uint32_t b = json_first(j, content); b != json_end(j, content); b = json_next(j, b)) {
		if (b != json_first(j, content))
			add_digest(sha, STR(","));
		add_block_digest(sha, j, b);
	}
}

void record_digest(const struct record_reader *r, const struct record *rec, uint8_t out[SHA256_BYTES])
{
	const struct json *j = &r->json;
	uint32_t root = json_root(j);
	struct sha sha;

	sha256_init(&sha);
	add_digest(&sha, rec->type_name);
	add_digest(&sha, str_from("", 1));
	if (rec->type == RECORD_USER || rec->type == RECORD_ASSISTANT)
		add_blocks_digest(&sha, j, rec->content);
	else if (rec->type == RECORD_ATTACHMENT)
		add_digest(&sha, json_raw(j, json_get(j, root, STR("attachment"))));
	else if (rec->type == RECORD_SYSTEM) {
		add_digest(&sha, json_raw(j, json_get(j, root, STR("subtype"))));
		add_digest(&sha, json_raw(j, json_get(j, root, STR("content"))));
	}
	sha256_end(&sha, out);
}

/* Tokens; what is no number, or a silly one, is none. */
static int64_t tokens(const struct json *j, uint32_t object, const char *key)
{
	int64_t n = 0;

	return json_to_i64(j, json_get(j, object, str_of(key)), &n) && n > 0 && n < INT64_C(1) << 40 ? n : 0;
}

bool record_usage(const struct record_reader *r, const struct record *rec, struct record_usage *out)
{
	const struct json *j = &r->json;
	uint32_t usage = json_get(j, rec->message, STR("usage"));
	uint32_t written = json_get(j, usage, STR("cache_creation"));

	if (rec->type != RECORD_ASSISTANT || (rec->flags & (RECORD_SYNTHETIC | RECORD_ERROR)) ||
	    !json_is(j, usage, JSON_OBJECT))
		return false;
	*out = (struct record_usage){
		.input = tokens(j, usage, "input_tokens"),
		.output = tokens(j, usage, "output_tokens"),
		.read = tokens(j, usage, "cache_read_input_tokens"),
		.write_1h = tokens(j, written, "ephemeral_1h_input_tokens"),
		.fast = member_is(j, usage, "speed", "fast"),
	};
	out->write = json_is(j, written, JSON_OBJECT)
			     ? tokens(j, written, "ephemeral_5m_input_tokens") + out->write_1h
			     : tokens(j, usage, "cache_creation_input_tokens");
	return true;
}

/* ---- What the client notes of a conversation ------------------------------------ */

static void copy_text(struct json_writer *w, struct record_reader *r, const char *from, const char *to)
{
	enum { LONGEST = 1000 };
	struct str text = str_sub(text_of(r, json_root(&r->json), from), 0, LONGEST);

	if (!text.n)
		return;
	json_write_key(w, str_of(to));
	json_write_string(w, str_sub(text, 0, utf8_valid_prefix(text)));
}

/* Written anew, so that equal ones are equal text. */
static struct str pull_of(struct record_reader *r)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct json_writer w;
	int64_t number;

	json_write_init(&w, &out, 0);
	json_write_object_begin(&w);
	if (json_to_i64(&r->json, json_get(&r->json, json_root(&r->json), STR("prNumber")), &number)) {
		json_write_key(&w, STR("number"));
		json_write_i64(&w, number);
	}
	copy_text(&w, r, "prUrl", "url");
	copy_text(&w, r, "prRepository", "repository");
	json_write_object_end(&w);
	if (str_eq(buf_as_str(&out), STR("{}")))
		return (struct str){ 0 };
	return arena_str(&r->mem, buf_as_str(&out));
}

enum record_note record_note(struct record_reader *r, const struct record *rec, struct str *value)
{
	*value = (struct str){ 0 };
	if (rec->type != RECORD_OTHER)
		return NOTE_NONE;
	if (str_eq(rec->type_name, STR("tag"))) {
		*value = text_of(r, json_root(&r->json), "tag");
		return NOTE_TAG;
	}
	if (str_eq(rec->type_name, STR("mode")))
		*value = text_of(r, json_root(&r->json), "mode");
	if (value->n)
		return NOTE_MODE;
	if (str_eq(rec->type_name, STR("pr-link")))
		*value = pull_of(r);
	return value->n ? NOTE_PULL : NOTE_NONE;
}

/* ---- Titles ---------------------------------------------------------------- */

struct str record_title(struct record_reader *r, const struct record *rec)
{
	static const char *const keys[RECORD_TYPES] = {
		[RECORD_SUMMARY] = "summary",
		[RECORD_AI_TITLE] = "aiTitle",
		[RECORD_CUSTOM_TITLE] = "customTitle",
	};

	return keys[rec->type] ? text_of(r, json_root(&r->json), keys[rec->type]) : (struct str){ 0 };
}

bool record_text_is_typed(struct str text)
{
	return !is_envelope(text);
}

void record_short(struct str text, size_t most, struct buf *out)
{
	size_t at = 0, begin = out->n;
	bool space = false;

	while (at < text.n && out->n - begin < most) {
		char one[4];
		int32_t c = utf8_next(text, &at);

		if (utf8_is_blank(c)) {
			space = true;
			continue;
		}
		if (space && out->n > begin)
			buf_byte(out, ' ');
		space = false;
		buf_add(out, one, utf8_encode(c == UTF8_BAD ? 0xFFFD : (uint32_t)c, one));
	}
	if (str_trim(str_sub(text, at, SIZE_MAX)).n)
		buf_text(out, "…");
}

struct str record_headline(struct str prompt)
{
	static const struct str front = { "Implement the following plan:", 29 };
	struct str heading;
	const char *next;

	if (!str_has_prefix(prompt, front))
		return prompt;
	heading = str_trim(str_sub(prompt, front.n, SIZE_MAX));
	if (!str_has_prefix(heading, STR("#")))
		return prompt;
	while (str_has_prefix(heading, STR("#")))
		heading = str_sub(heading, 1, SIZE_MAX);
	heading = str_sub(heading, 0, size_min(str_find(heading, '\n'), heading.n));
	next = memmem(heading.p, heading.n, " ## ", 4);
	if (next)
		heading = str_sub(heading, 0, (size_t)(next - heading.p));
	heading = str_trim(heading);
	return heading.n ? heading : prompt;
}

void record_prompt_title(struct str prompt, struct buf *out)
{
	enum { LONGEST = 200 };

	record_short(record_headline(prompt), LONGEST, out);
}

/* .../SESSION/subagents/... */
static void find_owner(struct str path, struct uuid *out)
{
	struct str rest = path, before = { 0 };

	while (rest.n) {
		struct str part = str_cut(rest, '/', &rest);

		if (str_eq(part, STR("subagents")) && uuid_parse(before, out))
			return;
		before = part;
	}
}

bool record_transcript_of_path(struct str path, struct transcript_name *out)
{
	enum { FRONT = 6 }; /* "agent-" as long as ".jsonl" */
	struct str name = str_basename(path);

	*out = (struct transcript_name){ 0 };
	if (!str_has_suffix(name, STR(".jsonl")))
		return false;
	name = str_sub(name, 0, name.n - FRONT);
	if (claude_kind_of(path) == CLAUDE_TRANSCRIPT)
		return uuid_parse(name, &out->session);
	if (claude_kind_of(path) != CLAUDE_SUBAGENT)
		return false;
	out->agent = str_sub(name, FRONT, SIZE_MAX);
	find_owner(path, &out->session);
	return out->agent.n > 0;
}

/* ---- Names ----------------------------------------------------------------- */

const char *record_type_name(enum record_type type)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (types[i].type == type)
			return types[i].name;
	return type == RECORD_BROKEN ? "broken" : "other";
}

const char *record_place_name(enum record_place place)
{
	static const char *const names[PLACES] = {
		[PLACE_PROMPT] = "prompt", [PLACE_ANSWER] = "answer", [PLACE_THINKING] = "thinking",
		[PLACE_INPUT] = "input",   [PLACE_OUTPUT] = "output", [PLACE_OTHER] = "other",
		[PLACE_CLIENT] = "client",
	};

	return names[place];
}

const char *block_kind_name(enum block_kind kind)
{
	static const char *const names[BLOCK_KINDS] = {
		[BLOCK_TEXT] = "text",	       [BLOCK_THINKING] = "thinking",
		[BLOCK_TOOL_USE] = "tool_use", [BLOCK_TOOL_RESULT] = "tool_result",
		[BLOCK_IMAGE] = "image",       [BLOCK_OTHER] = "other",
	};

	return names[kind];
}
