/*
 * Printing JSON for people.
 *
 * A walk along the tape with a stack of open containers. A container's lines stand at its
 * level; an item of a list is one level further in, and "- " stands in the gap. Marks of
 * lists that begin in the same place are remembered until something is printed behind
 * them. What is nested deeper than the stack is printed as it is.
 */
#include "base/json_plain.h"

enum { LEVELS = 64 };

struct container {
	uint32_t end;
	unsigned level;
	bool object;
};

struct plain {
	const struct json *j;
	struct buf *out;
	struct container open[LEVELS];
	size_t depth;
	unsigned marks; /* "- " to be printed */
};

static void begin_line(struct plain *p, unsigned level)
{
	for (; level > p->marks; level--)
		buf_text(p->out, "  ");
	for (; p->marks; p->marks--)
		buf_text(p->out, "- ");
}

static void put_lines(struct plain *p, struct str text, unsigned level)
{
	while (str_has_suffix(text, STR("\n")))
		text.n--;
	while (text.p) {
		begin_line(p, level);
		buf_str(p->out, str_cut(text, '\n', &text));
		buf_byte(p->out, '\n');
	}
}

static bool is_open(const struct plain *p, uint32_t node)
{
	return json_kind(p->j, node) >= JSON_ARRAY && json_first(p->j, node) != json_end(p->j, node) &&
	       p->depth < LEVELS;
}

static struct str text_of(const struct plain *p, uint32_t node, struct arena *mem)
{
	return json_is(p->j, node, JSON_STRING) ? json_string_in(p->j, node, mem) : json_raw(p->j, node);
}

static void put_key(struct plain *p, uint32_t key, unsigned level, struct arena *mem)
{
	begin_line(p, level);
	buf_str(p->out, json_string_in(p->j, key, mem));
	buf_byte(p->out, ':');
}

/* What is no container, or an empty one; behind a key on its line, if it has only one. */
static void put_scalar(struct plain *p, uint32_t node, unsigned level, bool keyed, struct arena *mem)
{
	struct str text = text_of(p, node, mem);

	if (!keyed) {
		put_lines(p, text, level);
	} else if (str_has_byte(text, '\n')) {
		buf_byte(p->out, '\n');
		put_lines(p, text, level + 1);
	} else {
		buf_text(p->out, text.n ? " " : "");
		buf_str(p->out, text);
		buf_byte(p->out, '\n');
	}
}

/* A value at `level`, or the key there and its value behind it. Returns what comes next on the
 * tape. */
static uint32_t put_value(struct plain *p, uint32_t node, uint32_t key, unsigned level)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	bool keyed = key != JSON_NONE;

	if (keyed)
		put_key(p, key, level, &mem);
	if (!is_open(p, node)) {
		put_scalar(p, node, level, keyed, &mem);
		return json_next(p->j, node);
	}
	if (keyed)
		buf_byte(p->out, '\n');
	p->open[p->depth++] = (struct container){ .end = json_end(p->j, node),
						  .level = level + keyed,
						  .object = json_is(p->j, node, JSON_OBJECT) };
	return json_first(p->j, node);
}

void json_plain(const struct json *j, uint32_t node, struct buf *out)
{
	struct plain p = { .j = j, .out = out };
	uint32_t at = node == JSON_NONE ? JSON_NONE : put_value(&p, node, JSON_NONE, 0);

	while (p.depth && !out->failed) {
		const struct container *c = &p.open[p.depth - 1];

		if (at == c->end) {
			p.depth--;
		} else if (c->object) {
			at = put_value(&p, at + 1, at, c->level);
		} else {
			p.marks++;
			at = put_value(&p, at, JSON_NONE, c->level + 1);
		}
	}
}
