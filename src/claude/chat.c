/*
 * Lines of the client, told apart; and all that is no answer of a model.
 *
 * Keys may come in any order, and any line may be of a type nobody has heard of. So a line is read as a
 * whole, looked at by what it has, and copied where it is not understood.
 *
 * Sub-agents speak in lines that name the call they were started by. Each is a speaker of its own, since
 * several can be at work at once, in the middle of an answer of the agent itself, and go on in the background
 * when that is done.
 */
#include "claude/chat_inside.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

static const char *const names[CHAT_TYPES] = {
#define CHAT_NAME(id, name) [CHAT_##id] = (name),
	CHAT_EVENTS(CHAT_NAME)
#undef CHAT_NAME
};

const char *chat_type_name(enum chat_type type)
{
	return names[type];
}

/* ---- Events ------------------------------------------------------------------ */

struct json_writer *chat_begin(struct chat_reader *r, const struct chat_speaker *who)
{
	buf_clear(&r->data);
	json_write_init(&r->w, &r->data, 0);
	json_write_object_begin(&r->w);
	r->inner = who && who->call.p;
	if (r->inner)
		chat_put_raw(r, "parent_tool_use_id", who->call);
	if (who && who->agent.p)
		chat_put_raw(r, "agent", who->agent);
	return &r->w;
}

enum status chat_say(struct chat_reader *r, enum chat_type type, struct str uuid, int part, struct err *err)
{
	struct chat_event e = { .type = type, .uuid = uuid, .part = part, .inner = r->inner };

	json_write_object_end(&r->w);
	if (json_write_done(&r->w, err))
		return err_pass(err, "an event '%s'", chat_type_name(type));
	e.data = buf_as_str(&r->data);
	return r->fn(r->ctx, &e, err);
}

void chat_copy(struct chat_reader *r, const char *key, uint32_t node)
{
	if (node == JSON_NONE)
		return;
	json_write_key(&r->w, str_of(key));
	json_copy_valid(&r->w, &r->j, node); /* half a character in an escape stays, to meet the other half */
}

void chat_put_raw(struct chat_reader *r, const char *key, struct str raw)
{
	if (!raw.p)
		return;
	json_write_key(&r->w, str_of(key));
	json_write_raw(&r->w, raw);
}

void chat_put_int(struct chat_reader *r, const char *key, int64_t value)
{
	json_write_key(&r->w, str_of(key));
	json_write_i64(&r->w, value);
}

static uint32_t member(const struct chat_reader *r, const char *key)
{
	return json_get(&r->j, json_root(&r->j), str_of(key));
}

struct str chat_raw_in(const struct chat_reader *r, uint32_t node, struct arena *mem)
{
	struct buf valid CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);

	if (node == JSON_NONE || json_is(&r->j, node, JSON_NULL))
		return (struct str){ 0 };
	if (!(r->j.flags & JSON_BAD_UTF8))
		return arena_str(mem, json_raw(&r->j, node));
	utf8_repair(&valid, json_raw(&r->j, node));
	return arena_str(mem, buf_as_str(&valid));
}

/* "system/status": what it is called, of two parts. */
static void put_event_type(struct chat_reader *r, const char *prefix, uint32_t kind)
{
	char name[200], second[100];
	struct str rest = json_front(&r->j, kind, second, sizeof second);

	snprintf(name, sizeof name, "%s%s%.*s", prefix, prefix[0] && rest.n ? "/" : "", STR_ARG(rest));
	json_write_key(&r->w, STR("event_type"));
	json_write_string(&r->w, str_of(name));
}

enum status chat_pass(struct chat_reader *r, const struct chat_speaker *who, const char *prefix,
		      uint32_t kind, uint32_t what, struct str uuid, int part, struct err *err)
{
	chat_begin(r, who);
	put_event_type(r, prefix, kind);
	chat_copy(r, "data", what);
	return chat_say(r, CHAT_PASSTHROUGH, uuid, part, err);
}

/* ---- Speakers ---------------------------------------------------------------- */

static bool is_speaker(const struct chat_speaker *s, struct str call)
{
	return !s->call.p == !call.p && str_eq(s->call, call);
}

static void free_speaker(struct chat_speaker *s)
{
	chat_answer_release(&s->answer);
	arena_release(&s->mem);
	mem_free(s);
}

/* The newest in front. */
static struct chat_speaker *add_speaker(struct chat_reader *r, struct str call)
{
	struct chat_speaker *s = mem_alloc(sizeof *s);

	if (call.p)
		s->call = arena_str(&s->mem, call);
	s->next = r->speakers;
	r->speakers = s;
	r->speaker_count++;
	return s;
}

static struct chat_speaker *find_speaker(struct chat_reader *r, struct str call)
{
	for (struct chat_speaker *s = r->speakers; s; s = s->next)
		if (is_speaker(s, call))
			return s;
	return add_speaker(r, call);
}

/* By a member that names a call, as it stands there. */
static struct chat_speaker *speaker_of(struct chat_reader *r, const char *key)
{
	uint32_t call = member(r, key);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;

	return find_speaker(r, json_is(&r->j, call, JSON_STRING) ? chat_raw_in(r, call, &mem)
								 : (struct str){ 0 });
}

/* Of too many sub-agents the older ones are taken to have ended. */
static enum status forget_some(struct chat_reader *r, struct err *err)
{
	struct chat_speaker **at = &r->speakers;

	if (r->speaker_count <= LIMIT_CHAT_SPEAKERS)
		return STATUS_OK;
	for (size_t i = 0; i < LIMIT_CHAT_SPEAKERS / 2; i++)
		at = &(*at)->next;
	while (*at) {
		struct chat_speaker *s = *at;

		if (!s->call.p) {
			at = &s->next;
			continue;
		}
		if (chat_answer_end(r, s, err))
			return err_failed(err->status);
		*at = s->next;
		free_speaker(s);
		r->speaker_count--;
	}
	return STATUS_OK;
}

/* What a sub-agent has to say is over, or at least its answer: the call that started it has its result. */
static enum status end_agent(struct chat_reader *r, uint32_t call, const struct chat_speaker *who,
			     struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str raw = json_is(&r->j, call, JSON_STRING) ? chat_raw_in(r, call, &mem) : (struct str){ 0 };

	for (struct chat_speaker *s = r->speakers; s && raw.p; s = s->next)
		if (s != who && is_speaker(s, raw))
			return chat_answer_end(r, s, err);
	return STATUS_OK;
}

/* ---- What tools gave back, and what was said to a model ------------------------------ */

static void put_blocks_text(struct chat_reader *r, uint32_t list)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	bool other = false;

	for (uint32_t i = json_first(&r->j, list); i != json_end(&r->j, list); i = json_next(&r->j, i)) {
		uint32_t t = json_get(&r->j, i, STR("text"));

		if (text.n && t != JSON_NONE)
			buf_byte(&text, '\n');
		if (!json_string(&r->j, t, &text))
			other = true;
	}
	json_write_key(&r->w, STR("output"));
	json_write_string(&r->w, buf_as_str(&text));
	if (other)
		chat_copy(r, "content", list); /* pictures, say */
}

enum status chat_tool_result(struct chat_reader *r, const struct chat_speaker *who, uint32_t block,
			     struct str uuid, int part, struct err *err)
{
	uint32_t call = json_get(&r->j, block, STR("tool_use_id")),
		 content = json_get(&r->j, block, STR("content"));

	if (end_agent(r, call, who, err))
		return err_failed(err->status);
	chat_begin(r, who);
	chat_copy(r, "tool_use_id", call);
	json_write_key(&r->w, STR("is_error"));
	json_write_bool(&r->w, json_bool(&r->j, json_get(&r->j, block, STR("is_error"))));
	if (json_is(&r->j, content, JSON_STRING))
		chat_copy(r, "output", content);
	else
		put_blocks_text(r, content);
	return chat_say(r, CHAT_TOOL_RESULT, uuid, part, err);
}

static enum status say_user_text(struct chat_reader *r, const struct chat_speaker *who, uint32_t text,
				 struct str uuid, struct err *err)
{
	chat_begin(r, who);
	chat_copy(r, "text", text);
	if (json_bool(&r->j, member(r, "isReplay")))
		chat_copy(r, "replay", member(r, "isReplay"));
	if (json_bool(&r->j, member(r, "isSynthetic")))
		chat_copy(r, "synthetic", member(r, "isSynthetic"));
	return chat_say(r, CHAT_USER_MESSAGE, uuid, CHAT_PART_MESSAGE, err);
}

static enum status user_block(struct chat_reader *r, const struct chat_speaker *who, uint32_t block,
			      struct str uuid, int part, struct err *err)
{
	uint32_t type = json_get(&r->j, block, STR("type"));
	char room[64];
	struct str kind = json_front(&r->j, type, room, sizeof room);

	if (str_has_suffix(kind, STR("tool_result")))
		return chat_tool_result(r, who, block, uuid, part, err);
	if (str_eq(kind, STR("text")))
		return say_user_text(r, who, json_get(&r->j, block, STR("text")), uuid, err);
	return chat_pass(r, who, "user", type, block, uuid, part, err);
}

/* The uuid of the line that a user's line becomes in the transcript. What is said during a turn is put into
 * it as another line, whose uuid nobody tells. */
static struct str user_uuid(struct chat_reader *r, const struct chat_speaker *who, struct arena *mem)
{
	bool during = r->prompted;

	if (who->call.p || !json_bool(&r->j, member(r, "isReplay")))
		return json_string_in(&r->j, member(r, "uuid"), mem);
	r->prompted = true;
	if (during)
		return (struct str){ 0 };
	return json_string_in(&r->j, member(r, "uuid"), mem);
}

static enum status user_line(struct chat_reader *r, struct chat_speaker *who, struct err *err)
{
	uint32_t content = json_get(&r->j, member(r, "message"), STR("content"));
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str uuid = user_uuid(r, who, &mem);
	int part = 0;

	if (who->answer.stopped && chat_answer_end(r, who, err))
		return err_failed(err->status);
	if (json_is(&r->j, content, JSON_STRING))
		return say_user_text(r, who, content, uuid, err);
	if (!json_is(&r->j, content, JSON_ARRAY))
		return chat_pass(r, who, "user", JSON_NONE, json_root(&r->j), (struct str){ 0 }, 0, err);
	for (uint32_t i = json_first(&r->j, content); i != json_end(&r->j, content); i = json_next(&r->j, i))
		if (user_block(r, who, i, uuid, part++, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- What the client says itself --------------------------------------------------------- */

static enum status init_line(struct chat_reader *r, struct err *err)
{
	static const char *const facts[] = { "session_id", "model", "cwd", "claude_code_version",
					     "permissionMode" };

	chat_begin(r, NULL);
	for (size_t i = 0; i < COUNT(facts); i++)
		chat_copy(r, facts[i], member(r, facts[i]));
	return chat_say(r, CHAT_INIT, (struct str){ 0 }, 0, err);
}

/* Which sub-agent a call has started. */
static void note_agent(struct chat_reader *r)
{
	struct chat_speaker *who;

	if (!json_is(&r->j, member(r, "tool_use_id"), JSON_STRING) ||
	    !json_is(&r->j, member(r, "task_id"), JSON_STRING) ||
	    !json_string_eq(&r->j, member(r, "task_type"), STR("local_agent")))
		return;
	who = speaker_of(r, "tool_use_id");
	who->agent = chat_raw_in(r, member(r, "task_id"), &who->mem);
}

static enum status system_line(struct chat_reader *r, enum chat_line *what, struct err *err)
{
	uint32_t subtype = member(r, "subtype");

	if (json_string_eq(&r->j, subtype, STR("init"))) {
		r->prompted = false;
		*what = CHAT_LINE_INIT;
		return init_line(r, err);
	}
	if (json_string_eq(&r->j, subtype, STR("task_started")))
		note_agent(r);
	if (json_string_eq(&r->j, subtype, STR("task_notification")) &&
	    end_agent(r, member(r, "tool_use_id"), NULL, err))
		return err_failed(err->status);
	return chat_pass(r, NULL, "system", subtype, json_root(&r->j), (struct str){ 0 }, 0, err);
}

static enum status end_all(struct chat_reader *r, struct err *err)
{
	for (struct chat_speaker *s = r->speakers; s; s = s->next)
		if (chat_answer_end(r, s, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* All of it but what every line has. Sub-agents in the background go on. */
static enum status result_line(struct chat_reader *r, struct err *err)
{
	uint32_t root = json_root(&r->j);
	struct str key;

	if (chat_answer_end(r, find_speaker(r, (struct str){ 0 }), err))
		return err_failed(err->status);
	chat_begin(r, NULL);
	for (uint32_t k = json_first(&r->j, root); k != json_end(&r->j, root); k = json_next(&r->j, k + 1))
		if (json_text(&r->j, k, &key) && !str_eq(key, STR("type")) && !str_eq(key, STR("uuid"))) {
			json_write_key(&r->w, key);
			json_copy_valid(&r->w, &r->j, k + 1);
		}
	return chat_say(r, CHAT_RESULT, (struct str){ 0 }, 0, err);
}

/* ---- Lines ------------------------------------------------------------------- */

static enum status raw_line(struct chat_reader *r, struct str line, struct err *err)
{
	chat_begin(r, NULL);
	json_write_key(&r->w, STR("event_type"));
	json_write_string(&r->w, STR("raw_output"));
	json_write_key(&r->w, STR("text"));
	json_write_string(&r->w, line);
	return chat_say(r, CHAT_PASSTHROUGH, (struct str){ 0 }, 0, err);
}

static const struct {
	const char *type;
	enum chat_line what;
} for_the_driver[] = {
	{ "transcript_mirror", CHAT_LINE_MIRROR },
	{ "control_request", CHAT_LINE_ASKED },
	{ "control_response", CHAT_LINE_ANSWERED },
	{ "control_cancel_request", CHAT_LINE_WITHDRAWN },
};

static enum status object_line(struct chat_reader *r, enum chat_line *what, struct err *err)
{
	uint32_t type = member(r, "type"), event = member(r, "event");

	for (size_t i = 0; i < COUNT(for_the_driver); i++)
		if (json_string_eq(&r->j, type, str_of(for_the_driver[i].type))) {
			*what = for_the_driver[i].what;
			return STATUS_OK;
		}
	if (json_string_eq(&r->j, type, STR("stream_event")) && json_is(&r->j, event, JSON_OBJECT))
		return chat_piece(r, speaker_of(r, "parent_tool_use_id"), event, err);
	if (json_string_eq(&r->j, type, STR("assistant")))
		return chat_answer_line(r, speaker_of(r, "parent_tool_use_id"), err);
	if (json_string_eq(&r->j, type, STR("user"))) {
		*what = json_bool(&r->j, member(r, "isReplay")) ? CHAT_LINE_TAKEN : CHAT_LINE_SAID;
		return user_line(r, speaker_of(r, "parent_tool_use_id"), err);
	}
	if (json_string_eq(&r->j, type, STR("system")))
		return system_line(r, what, err);
	if (json_string_eq(&r->j, type, STR("result"))) {
		*what = CHAT_LINE_RESULT;
		return result_line(r, err);
	}
	return chat_pass(r, NULL, "", type, json_root(&r->j), (struct str){ 0 }, 0, err);
}

enum status chat_read(struct chat_reader *r, struct str line, enum chat_line *what, const struct json **j,
		      struct err *err)
{
	enum { OUTSIDE = 8 }; /* what results put around it */
	struct err ignored;

	*what = CHAT_LINE_SAID;
	*j = &r->j;
	if (forget_some(r, err))
		return err_failed(err->status);
	if (json_read(&r->j, line, LIMIT_JSON_DEPTH - OUTSIDE, &ignored) ||
	    !json_is(&r->j, json_root(&r->j), JSON_OBJECT)) {
		r->j.count = 0;
		return str_trim(line).n ? raw_line(r, line, err) : STATUS_OK;
	}
	return object_line(r, what, err);
}

enum status chat_end(struct chat_reader *r, struct err *err)
{
	r->j.count = 0;
	return end_all(r, err);
}

struct chat_reader *chat_new(chat_fn *fn, void *ctx)
{
	struct chat_reader *r = mem_alloc(sizeof *r);

	r->fn = fn;
	r->ctx = ctx;
	json_init(&r->j);
	buf_init(&r->data, SIZE_MAX / 4);
	return r;
}

void chat_free(struct chat_reader *r)
{
	if (!r)
		return;
	while (r->speakers) {
		struct chat_speaker *next = r->speakers->next;

		free_speaker(r->speakers);
		r->speakers = next;
	}
	json_release(&r->j);
	buf_release(&r->data);
	mem_free(r);
}
