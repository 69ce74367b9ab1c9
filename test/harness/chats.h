/*
 * Judges events of a chat by what must hold whatever the client prints:
 *
 *   - data is a JSON object of good UTF-8;
 *   - a block has one start, one end, and its deltas in between.
 *
 * And, of what a real client has printed (`strict`), by its lines:
 *
 *   - the deltas of a text together are the text of the line that its end names, a tool's input is that of
 * the line;
 *   - every block of a line is named by one event.
 */
#ifndef ARBOR_TEST_CHATS_H
#define ARBOR_TEST_CHATS_H

#include "base/map.h"
#include "base/utf8.h"
#include "claude/chat.h"

#include <inttypes.h>
#include <stdio.h>

struct chats_block {
	struct buf text; /* between quotes, escapes as they came */
	bool open;
};

struct chats_line {
	struct str block; /* JSON */
	int named;
};

struct chats {
	struct chat_reader *reader;
	bool strict;
	struct arena mem;
	struct map blocks; /* "speaker block" -> struct chats_block */
	struct map lines;  /* "uuid/part" -> struct chats_line */
	int events, count;
	char fault[300]; /* the first; empty = none */
};

#define CHATS_FAULT(c, ...) ((c)->fault[0] ? 0 : snprintf((c)->fault, sizeof(c)->fault, __VA_ARGS__))

static inline struct str chats_key(struct chats *c, struct str uuid, int part)
{
	return arena_printf(&c->mem, "%.*s/%d", STR_ARG(uuid), part);
}

static inline struct chats_block *chats_block(struct chats *c, const struct json *j)
{
	struct str speaker = json_raw(j, json_get(j, 0, STR("parent_tool_use_id")));
	struct str block = json_raw(j, json_get(j, 0, STR("block")));
	struct str key = arena_printf(&c->mem, "%.*s %.*s", STR_ARG(speaker), STR_ARG(block));
	struct chats_block *b = map_get(&c->blocks, key);

	if (!b) {
		b = arena_alloc(&c->mem, sizeof *b);
		buf_init(&b->text, SIZE_MAX / 4);
		map_put(&c->blocks, key, b);
	}
	return b;
}

/* Whether text that came in deltas is a member of a line's block. */
static inline bool chats_same_text(const struct chats_block *b, const struct json *line, const char *member)
{
	struct buf quoted CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4),
			  text CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err err;

	buf_printf(&quoted, "\"%.*s\"", STR_ARG(buf_as_str(&b->text)));
	return !json_read(&j, buf_as_str(&quoted), 0, &err) && json_string(&j, 0, &text) &&
	       json_string_eq(line, json_get(line, 0, str_of(member)), buf_as_str(&text));
}

static inline void chats_compare(struct chats *c, const struct chat_event *e, const struct json *data,
				 const struct chats_block *b)
{
	const struct chats_line *l = map_get(&c->lines, chats_key(c, e->uuid, e->part));
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err err;
	bool same = false;

	if (!l || json_read(&j, l->block, 0, &err)) {
		CHATS_FAULT(c, "an end names no line: %.*s", (int)size_min(e->data.n, 200), e->data.p);
		return;
	}
	if (e->type == CHAT_CONTENT_END)
		same = chats_same_text(b, &j, "text");
	else if (e->type == CHAT_THINKING_END)
		same = chats_same_text(b, &j, "thinking");
	else
		same = str_eq(json_raw(&j, json_get(&j, 0, STR("input"))),
			      json_raw(data, json_get(data, 0, STR("input"))));
	if (!same && !json_bool(data, json_get(data, 0, STR("partial"))))
		CHATS_FAULT(c, "a block is not what its line says: %.*s", (int)size_min(e->data.n, 200),
			    e->data.p);
}

static inline void chats_name(struct chats *c, const struct chat_event *e)
{
	struct chats_line *l = e->uuid.p
				       ? map_get(&c->lines, chats_key(c, e->uuid, e->part < 0 ? 0 : e->part))
				       : NULL;

	if (l && (e->part >= 0 || e->type == CHAT_USER_MESSAGE))
		l->named++;
}

static inline void chats_step(struct chats *c, const struct chat_event *e, const struct json *data)
{
	struct str name = str_of(chat_type_name(e->type)), text;
	struct chats_block *b = chats_block(c, data);
	uint32_t t = json_get(data, 0, e->type == CHAT_TOOL_USE_DELTA ? STR("partial_json") : STR("text"));

	if (str_has_suffix(name, STR("_start"))) {
		if (b->open)
			CHATS_FAULT(c, "a block begins twice: %.*s", (int)size_min(e->data.n, 200),
				    e->data.p);
		b->open = true;
		buf_clear(&b->text);
		return;
	}
	if (!b->open)
		CHATS_FAULT(c, "%s outside of a block", chat_type_name(e->type));
	if (str_has_suffix(name, STR("_delta"))) {
		text = json_raw(data, t);
		if (!json_is(data, t, JSON_STRING))
			CHATS_FAULT(c, "a delta without text");
		else
			buf_str(&b->text, str_sub(text, 1, text.n - 2));
		return;
	}
	b->open = false;
	if (c->strict && e->uuid.p)
		chats_compare(c, e, data, b);
}

static inline enum status chats_event(void *ctx, const struct chat_event *e, struct err *err)
{
	struct chats *c = ctx;
	struct json j CLEANUP(json_release) = JSON_INIT;

	c->events++;
	if (json_read(&j, e->data, LIMIT_JSON_DEPTH, err) || !json_is(&j, 0, JSON_OBJECT) ||
	    !utf8_valid(e->data)) {
		CHATS_FAULT(c, "data is no object: %.*s", (int)size_min(e->data.n, 200), e->data.p);
		return STATUS_OK;
	}
	chats_name(c, e);
	if (e->type >= CHAT_THINKING_START && e->type <= CHAT_TOOL_USE_END)
		chats_step(c, e, &j);
	return STATUS_OK;
}

static inline void chats_note_line(struct chats *c, const struct json *j)
{
	uint32_t content = json_get(j, json_get(j, 0, STR("message")), STR("content")),
		 type = json_get(j, 0, STR("type"));
	struct str uuid = json_string_in(j, json_get(j, 0, STR("uuid")), &c->mem);
	int part = 0;

	if (!uuid.p || !json_is(j, content, JSON_ARRAY) ||
	    !(json_string_eq(j, type, STR("assistant")) || json_string_eq(j, type, STR("user"))))
		return;
	for (uint32_t i = json_first(j, content); i != json_end(j, content); i = json_next(j, i)) {
		struct chats_line *l = arena_alloc(&c->mem, sizeof *l);

		l->block = arena_str(&c->mem, json_raw(j, i));
		map_put(&c->lines, chats_key(c, uuid, part++), l);
	}
}

static inline void chats_begin(struct chats *c, bool strict)
{
	*c = (struct chats){ .strict = strict };
	c->reader = chat_new(chats_event, c);
}

static inline void chats_line(struct chats *c, struct str line)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	const struct json *same;
	enum chat_line what;
	struct err err;

	c->count++;
	if (c->strict && !json_read(&j, line, LIMIT_JSON_DEPTH, &err))
		chats_note_line(c, &j);
	if (chat_read(c->reader, line, &what, &same, &err))
		CHATS_FAULT(c, "%.200s", err.text);
}

static inline void chats_end(struct chats *c)
{
	struct err err;

	if (chat_end(c->reader, &err))
		CHATS_FAULT(c, "%.200s", err.text);
	for (size_t i = 0; i < c->blocks.cap; i++) {
		const struct chats_block *b = c->blocks.slots[i].value;

		if (b && b->open)
			CHATS_FAULT(c, "a block has no end");
	}
	for (size_t i = 0; i < c->lines.cap; i++) {
		const struct chats_line *l = c->lines.slots[i].value;

		if (l && l->named != 1)
			CHATS_FAULT(c, "named by %d events: %.*s", l->named, (int)size_min(l->block.n, 200),
				    l->block.p);
	}
}

static inline void chats_release(struct chats *c)
{
	for (size_t i = 0; i < c->blocks.cap; i++)
		if (c->blocks.slots[i].value)
			buf_release(&((struct chats_block *)c->blocks.slots[i].value)->text);
	chat_free(c->reader);
	map_release(&c->blocks);
	map_release(&c->lines);
	arena_release(&c->mem);
}

#endif
