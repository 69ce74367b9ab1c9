/*
 * Resolving handles of claudecode.
 *
 * A part of a conversation is what memory.show gives for its id, so the two never differ. What
 * else a handle says of it (a role, a call's id, the number of a block) is compared with what is
 * found: a handle that contradicts it is refused, and not believed. Only a turn's number is not,
 * because it changes when files are joined.
 *
 * Lines without a uuid have one id for all of their parts, and so have those whose uuid
 * stands elsewhere with other contents. There it is the rest of the meta that says which part is meant.
 */
#include "hub/claudecode_resolve.h"

#include "hub/handle_node.h"
#include "hub/kept.h"
#include "hub/memory_agents.h"
#include "hub/memory_session.h"
#include "hub/memory_show.h"
#include "query/forest_load.h"
#include "store/lifecycle.h"

static struct str id_text(const struct resolving *r)
{
	return handle_meta(r->handle, 0);
}

static enum status not_here(const struct resolving *r, struct err *err)
{
	return err_fail(
		err, STATUS_NOT_FOUND,
		"handle: this %.*s is not in this store: it was never mirrored here, or is newer than the"
		" last 'arbor sync'",
		STR_ARG(r->handle->method));
}

/* What it means here. */
static enum status find(struct resolving *r, struct resolved *out, struct err *err)
{
	enum status status = resolve_handle(r->call->store, r->handle, r->mem, out, err);
	struct subject what = { .kind = SUBJECT_NODE };
	struct life life;

	if (status != STATUS_NOT_FOUND)
		return status;
	if (uuid_parse(id_text(r), &what.id)) {
		if (life_get(r->call->store, &what.id, &life, err))
			return err_failed(err->status);
		if (life.state == LIFE_PURGED)
			return life_alive(&what, &life, err);
	}
	return not_here(r, err);
}

/* The id of a session, or a part of another kind. */
static enum status wrong_kind(const struct resolving *r, const char *is, struct err *err)
{
	return err_fail(err, STATUS_FORMAT, "handle: %.*s is %s and no %.*s", STR_ARG(id_text(r)), is,
			STR_ARG(r->handle->method));
}

static const char *kind_of_part(const struct resolved *what)
{
	if (what->is_session)
		return what->session.agent.n ? "a sub-agent" : "a session";
	switch (what->node.part) {
	case PART_TURN:
		return "a turn";
	case PART_MESSAGE:
		return "a message";
	case PART_LINE:
		return "a line";
	default:
		return "a part of a message";
	}
}

/* ---- What it says and what is found -------------------------------------------------- */

static enum status compare_meta(const struct resolving *r, const struct handle *found, struct err *err)
{
	if (!r->handle->older.p && !str_eq(r->handle->method, found->method))
		return err_fail(err, STATUS_FORMAT, "handle: what has this id is a %.*s and no %.*s",
				STR_ARG(found->method), STR_ARG(r->handle->method));
	for (size_t i = 1; i < r->handle->meta_count && i < NODE_HANDLE_META; i++) {
		struct str said = r->handle->meta[i], is = handle_meta(found, i);

		if (said.n && !str_eq(said, is))
			return err_fail(err, STATUS_FORMAT,
					"handle: meta[%zu] is '%.*s', and what has this id has '%.*s'; take "
					"the handle"
					" as it was given",
					i, (int)size_min(said.n, 60), said.p, (int)size_min(is.n, 60),
					is.p ? is.p : "");
	}
	return STATUS_OK;
}

/* By the handle that an object has. */
static enum status compare(const struct resolving *r, const struct json *j, uint32_t object, struct err *err)
{
	struct str text = json_string_in(j, json_get(j, object, STR("handle")), r->mem);
	struct handle found;

	return handle_parse(text, r->mem, &found, err) ? err_failed(err->status)
						       : compare_meta(r, &found, err);
}

/* ---- Items of memory.show ------------------------------------------------------------- */

struct collecting {
	struct json_writer *w; /* into a list; NULL = the last one is kept */
	struct buf item;
	size_t count;
};

static void collecting_release(struct collecting *y)
{
	buf_release(&y->item);
}

static enum status collect(void *ctx, struct str json, struct err *err)
{
	struct collecting *y = ctx;

	(void)err;
	y->count++;
	if (y->w) {
		json_write_raw(y->w, json);
		return STATUS_OK;
	}
	buf_clear(&y->item);
	buf_str(&y->item, json);
	return STATUS_OK;
}

/* A part as memory.show gives it. */
static enum status show_part(struct resolving *r, const struct resolved *what, const struct show_manner *how,
			     struct collecting *to, struct err *err)
{
	struct call sub CLEANUP(call_sub_release);

	call_sub_init(&sub, r->call, (struct sink){ .item = collect, .ctx = to });
	if (show_what(&sub, what, how, err))
		return err_failed(err->status);
	if (!to->count && !to->w)
		return err_fail(err, STATUS_NOT_FOUND, "handle: nothing of this %.*s can be read",
				STR_ARG(r->handle->method));
	return STATUS_OK;
}

/* Where it was said. */
static void put_place(struct json_writer *w, const struct session *s)
{
	put_uuid(w, "session", &s->id);
	if (s->agent.n)
		put_text(w, "agent", s->agent);
	put_path(w, "project", s->project);
	put_text(w, "title", s->title);
}

void put_members(struct json_writer *w, const struct json *j, uint32_t object, struct str but)
{
	struct str key;

	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		if (!json_text(j, k, &key) || str_eq(key, but))
			continue;
		json_write_key(w, key);
		json_copy(w, j, k + 1);
	}
}

static struct window window_of(const struct resolving *r)
{
	return (struct window){ .from = (size_t)r->from, .left = (size_t)r->most };
}

/* One item, read. */
static enum status read_part(struct resolving *r, const struct resolved *what, struct show_manner *how,
			     struct collecting *to, struct json *j, struct err *err)
{
	if (show_part(r, what, how, to, err))
		return err_failed(err->status);
	return json_read(j, buf_as_str(&to->item), 0, err);
}

enum status claudecode_message(struct resolving *r, struct err *err)
{
	struct collecting item CLEANUP(collecting_release) = { .item = BUF_INIT(r->call->item.max) };
	struct json j CLEANUP(json_release) = JSON_INIT;
	/* Each block's text by its own handle; of all together only the beginnings. */
	struct window window = { .left = (size_t)r->most };
	struct show_manner how = { .bare = true, .block = -1, .window = &window };
	struct resolved what;

	if (find(r, &what, err))
		return err_failed(err->status);
	if (what.is_session || (what.node.part != PART_MESSAGE && what.node.part != PART_LINE))
		return wrong_kind(r, kind_of_part(&what), err);
	if (read_part(r, &what, &how, &item, &j, err) || compare(r, &j, 0, err))
		return err_failed(err->status);
	put_place(r->w, &what.session);
	put_members(r->w, &j, 0, STR("kind"));
	if (window.cut)
		put_bool(r->w, "truncated", true);
	return STATUS_OK;
}

enum status claudecode_event(struct resolving *r, struct err *err)
{
	struct collecting item CLEANUP(collecting_release) = { .item = BUF_INIT(r->call->item.max) };
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct window window = window_of(r);
	struct show_manner how = { .bare = true, .block = -1, .window = &window };
	struct resolved what;

	if (find(r, &what, err))
		return err_failed(err->status);
	/* What the client put in has the id of a message, too. */
	if (what.is_session || (what.node.part != PART_LINE && what.node.part != PART_MESSAGE))
		return wrong_kind(r, kind_of_part(&what), err);
	what.node.part = PART_LINE;
	if (read_part(r, &what, &how, &item, &j, err) || compare(r, &j, 0, err))
		return err_failed(err->status);
	put_place(r->w, &what.session);
	put_members(r->w, &j, 0, STR("kind"));
	return STATUS_OK;
}

/* ---- Blocks -------------------------------------------------------------------------- */

/* Of a line whose parts have no ids of their own, which one. */
static void choose_block(const struct resolving *r, const struct resolved *what, struct show_manner *how)
{
	bool is_call = str_has_prefix(r->handle->method, STR("tool_"));
	uint64_t index = 0;

	if (what->node.part >= 0)
		return;
	if (is_call)
		how->tool = handle_meta(r->handle, 1);
	else if (str_to_u64(handle_meta(r->handle, 1), &index))
		how->block = index <= LIMIT_LINE_BLOCKS ? (int)index : INT32_MAX;
}

/* The message it is in, as far as a part needs it. */
static void put_message_of(struct json_writer *w, const struct json *j)
{
	static const char *const copied[] = { "at", "role", "prompt", "model" };

	json_write_key(w, STR("message"));
	json_copy(w, j, json_get(j, 0, STR("id")));
	json_write_key(w, STR("message_handle"));
	json_copy(w, j, json_get(j, 0, STR("handle")));
	for (size_t i = 0; i < COUNT(copied); i++) {
		uint32_t node = json_get(j, 0, str_of(copied[i]));

		if (node == JSON_NONE)
			continue;
		json_write_key(w, str_of(copied[i]));
		json_copy(w, j, node);
	}
}

enum status claudecode_block(struct resolving *r, struct err *err)
{
	struct collecting item CLEANUP(collecting_release) = { .item = BUF_INIT(r->call->item.max) };
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct window window = window_of(r);
	struct show_manner how = { .bare = true, .block = -1, .window = &window };
	struct resolved what;
	uint32_t list, block;

	if (find(r, &what, err))
		return err_failed(err->status);
	if (what.is_session || what.node.part < PART_LINE)
		return wrong_kind(r, kind_of_part(&what), err);
	choose_block(r, &what, &how);
	if (read_part(r, &what, &how, &item, &j, err))
		return err_failed(err->status);
	list = json_get(&j, 0, STR("blocks"));
	block = json_first(&j, list);
	if (list == JSON_NONE || block == json_end(&j, list))
		return wrong_kind(r, kind_of_part(&what), err);
	if (compare(r, &j, block, err))
		return err_failed(err->status);
	put_place(r->w, &what.session);
	put_message_of(r->w, &j);
	put_members(r->w, &j, block, STR(""));
	if (json_get(&j, block, STR("base64")) != JSON_NONE)
		r->kind = CONTENT_BINARY;
	return STATUS_OK;
}

/* ---- Turns --------------------------------------------------------------------------- */

enum status claudecode_turn(struct resolving *r, struct err *err)
{
	struct window window = { .left = (size_t)r->most };
	struct show_manner how = { .bare = true, .block = -1, .window = &window };
	struct collecting items = { .w = r->w };
	struct resolved what;

	if (find(r, &what, err))
		return err_failed(err->status);
	if (what.is_session || what.node.part != PART_TURN)
		return wrong_kind(r, kind_of_part(&what), err);
	put_uuid(r->w, "id", &what.node.id);
	put_place(r->w, &what.session);
	if (what.node.at)
		put_time(r->w, "at", what.node.at);
	json_write_key(r->w, STR("messages"));
	json_write_array_begin(r->w);
	if (show_part(r, &what, &how, &items, err))
		return err_failed(err->status);
	json_write_array_end(r->w);
	if (window.cut)
		put_bool(r->w, "truncated", true);
	return STATUS_OK;
}

/* ---- Lines --------------------------------------------------------------------------- */

enum status claudecode_line(struct resolving *r, struct err *err)
{
	struct window window = window_of(r);
	struct node_handle file;
	struct generation g;
	struct resolved what;
	bool binary = false;

	if (find(r, &what, err))
		return err_failed(err->status);
	if (what.is_session || what.node.part != PART_LINE)
		return wrong_kind(r, kind_of_part(&what), err);
	if (generation_get(r->call->store, what.session.generation, &g, err))
		return err_failed(err->status);
	put_uuid(r->w, "id", &what.node.id);
	put_place(r->w, &what.session);
	if (what.node.at)
		put_time(r->w, "at", what.node.at);
	put_text(r->w, "type", str_of(record_type_name((enum record_type)what.node.type)));
	file = handle_of_file(&what.session.source_id, g.number);
	put_handle_as(r->w, "file", &file);
	put_path(r->w, "path", what.session.path);
	put_int(r->w, "offset", what.node.offset);
	if (kept_window(r->call, r->w, &(struct kept_span){ g.row, what.node.offset, what.node.length },
			&window, &binary, err))
		return err_failed(err->status);
	if (binary)
		r->kind = CONTENT_BINARY;
	return STATUS_OK;
}

/* ---- Sessions and sub-agents ------------------------------------------------------------ */

enum status claudecode_session(struct resolving *r, struct err *err)
{
	struct node_handle file;
	struct resolved what;

	if (find(r, &what, err))
		return err_failed(err->status);
	if (!what.is_session)
		return wrong_kind(r, kind_of_part(&what), err);
	file = handle_of_file(&what.session.source_id, 0);
	put_handle_as(r->w, "file", &file);
	return put_session(r->call, r->w, &what.session, err);
}

/* What is known of one whose lines do not say that it is one. */
static void put_transcript_of_agent(struct json_writer *w, const struct session *s)
{
	struct node_handle handle = handle_of_agent(s->agent, &s->id);

	put_text(w, "agent", s->agent);
	put_handle(w, &handle);
	put_uuid(w, "session", &s->id);
	if (s->started_at)
		put_time(w, "started", s->started_at);
	put_int(w, "messages", s->messages);
	put_int(w, "tools", s->tools);
	put_bool(w, "warmup", false);
	put_path(w, "path", s->path);
	put_text(w, "prompt", s->title);
}

enum status claudecode_agent(struct resolving *r, struct err *err)
{
	struct forest forest CLEANUP(forest_release) = FOREST_INIT;
	struct subagents agents;
	struct resolved what;
	uint32_t source;

	if (find(r, &what, err) || forest_load(r->call->store, what.session.row, &forest, &source, err) ||
	    subagents_find(r->call, &forest, &agents, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < agents.count; i++)
		if (str_eq(agents.list[i].name, id_text(r))) {
			put_subagent(r->w, &forest, &agents.list[i]);
			return STATUS_OK;
		}
	if (!str_eq(what.session.agent, id_text(r)))
		return not_here(r, err);
	put_transcript_of_agent(r->w, &what.session);
	return STATUS_OK;
}
