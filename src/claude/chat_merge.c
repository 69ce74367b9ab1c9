/*
 * Deltas of one block, put together.
 *
 * Each has its text as one string among members that are the same in all of them. What stands between the
 * quotes is put one behind the other as it is, escapes included: halves of a character that was cut in two
 * find each other.
 */
#include "claude/chat.h"

struct chat_merge {
	struct json j;
	struct buf type, front, text, back; /* of the first: before, between and behind the quotes */
	struct buf data;
};

struct chat_merge *chat_merge_new(void)
{
	struct chat_merge *m = mem_alloc(sizeof *m);

	json_init(&m->j);
	buf_init(&m->type, KIB);
	buf_init(&m->front, LIMIT_LINE_PARSED);
	buf_init(&m->text, LIMIT_LINE_PARSED);
	buf_init(&m->back, LIMIT_LINE_PARSED);
	buf_init(&m->data, 3 * LIMIT_LINE_PARSED);
	return m;
}

void chat_merge_free(struct chat_merge *m)
{
	if (!m)
		return;
	json_release(&m->j);
	buf_release(&m->type);
	buf_release(&m->front);
	buf_release(&m->text);
	buf_release(&m->back);
	buf_release(&m->data);
	mem_free(m);
}

struct parts {
	struct str front, text, back;
};

static bool take_apart(struct chat_merge *m, struct str type, struct str data, struct parts *out)
{
	struct err ignored;
	uint32_t text;
	size_t from, n;

	if (!str_has_suffix(type, STR("_delta")) || json_read(&m->j, data, LIMIT_JSON_DEPTH, &ignored))
		return false;
	text = json_get(&m->j, json_root(&m->j), STR("text"));
	if (text == JSON_NONE)
		text = json_get(&m->j, json_root(&m->j), STR("partial_json"));
	if (!json_is(&m->j, text, JSON_STRING))
		return false;
	from = m->j.tape[text].start + 1;
	n = m->j.tape[text].length - 2;
	*out = (struct parts){ str_sub(data, 0, from), str_sub(data, from, n),
			       str_sub(data, from + n, SIZE_MAX) };
	return true;
}

static void set(struct buf *b, struct str s)
{
	buf_clear(b);
	buf_str(b, s);
}

bool chat_merge_begin(struct chat_merge *m, struct str type, struct str data)
{
	struct parts p;

	if (!take_apart(m, type, data, &p))
		return false;
	set(&m->type, type);
	set(&m->front, p.front);
	set(&m->text, p.text);
	set(&m->back, p.back);
	return true;
}

bool chat_merge_add(struct chat_merge *m, struct str type, struct str data)
{
	struct parts p;

	if (!str_eq(type, buf_as_str(&m->type)) || !take_apart(m, type, data, &p) ||
	    !str_eq(p.front, buf_as_str(&m->front)) || !str_eq(p.back, buf_as_str(&m->back)) ||
	    m->text.n + p.text.n > LIMIT_LINE_PARSED)
		return false;
	buf_str(&m->text, p.text);
	return true;
}

struct str chat_merge_end(struct chat_merge *m)
{
	buf_clear(&m->data);
	buf_str(&m->data, buf_as_str(&m->front));
	buf_str(&m->data, buf_as_str(&m->text));
	buf_str(&m->data, buf_as_str(&m->back));
	return buf_as_str(&m->data);
}
