/*
 * Compiling Mustache templates.
 *
 * Debian has no Mustache for C (kainjow is C++, mustach is not packaged), and the ones
 * there are elsewhere copy the data into values of their own or read partials from files.
 *
 * One pass from tag to tag makes a list of operations: runs of text, and tags with the
 * span of their name. A section knows where it ends and an end where its section
 * is, so rendering (mustache_render.c) is a loop over the list.
 *
 * A tag that prints nothing by itself and has only blanks beside it is alone: its line
 * vanishes, blanks, line end and all. That is decided from the text alone, since whatever
 * else is on the line is no blank. Lines that do not vanish and are not empty begin with
 * MUSTACHE_LINE, in front of whatever is first on them; so an indented partial is what
 * it would be had every line of its text been indented before.
 *
 * Invariants of what was compiled:
 *   - spans lie inside the text, and texts are in order
 *   - sections nest: ops[ops[s].other].other == s, and s < ops[s].other
 *   - every name is one or more non-empty parts without blanks, or "."
 */
#include "base/mustache.h"

#include "base/place.h"

#include <string.h>

enum { OPS_FIRST = 32, NAME_SHOWN = 60 };
#define NO_SECTION UINT32_MAX

struct compiler {
	struct mustache *m;
	struct str text;
	struct str open, close; /* delimiters */
	size_t at;		/* everything in front of it is done */
	uint32_t section;	/* innermost open one; its `other` is the one around it */
	uint32_t depth;		/* how many are open */
};

struct tag {
	size_t start, end; /* delimiters included */
	char sign;	   /* what kind: one of #^/>!=&{ or 0 */
	struct str name;   /* what is between, without the blanks around it */
	size_t line;	   /* alone on its line: where that begins; else `start` */
	size_t next;	   /* where the text goes on: behind the line, or `end` */
	bool alone;
};

void mustache_release(struct mustache *m)
{
	mem_free(m->ops);
	*m = (struct mustache)MUSTACHE_INIT;
}

struct str mustache_name(const struct mustache *m, const struct mustache_op *op)
{
	return str_sub(m->text, op->name, op->length);
}

/* Sets what is wrong at a place; `name` follows the text in quotes, unless it is empty. */
static enum status fail(const struct compiler *c, size_t at, struct err *err, const char *what,
			struct str name)
{
	struct place place = place_of(c->text, at);

	if (!name.n)
		return err_fail(err, STATUS_FORMAT, "%zu:%zu: %s", place.line, place.column, what);
	return err_fail(err, STATUS_FORMAT, "%zu:%zu: %s: '%.*s'", place.line, place.column, what,
			(int)size_min(name.n, NAME_SHOWN), name.p);
}

/* ---- Operations ---- */

static struct mustache_op *add(struct compiler *c, enum mustache_kind kind, size_t at)
{
	struct mustache *m = c->m;
	struct mustache_op *op;

	if (m->count == m->cap) {
		m->cap = m->cap ? 2 * m->cap : OPS_FIRST;
		m->ops = mem_resize(m->ops, m->cap * sizeof *m->ops);
	}
	op = &m->ops[m->count++];
	*op = (struct mustache_op){ .kind = kind, .at = (uint32_t)at };
	return op;
}

static bool begins_line(struct str text, size_t at)
{
	return at == 0 || text.p[at - 1] == '\n';
}

static bool is_empty_line(struct str text, size_t at)
{
	struct str rest = str_sub(text, at, 2);

	return str_has_prefix(rest, STR("\n")) || str_eq(rest, STR("\r\n"));
}

/* Line by line, because a line may have to be indented. */
static void add_text(struct compiler *c, size_t from, size_t to)
{
	while (from < to) {
		size_t feed = str_find(str_sub(c->text, from, to - from), '\n');
		size_t n = feed == SIZE_MAX ? to - from : feed + 1;

		if (begins_line(c->text, from) && !is_empty_line(c->text, from))
			add(c, MUSTACHE_LINE, from);
		add(c, MUSTACHE_TEXT, from)->length = (uint32_t)n;
		from += n;
	}
}

static struct mustache_op *add_tag(struct compiler *c, enum mustache_kind kind, const struct tag *t)
{
	struct mustache_op *op = add(c, kind, t->start);

	op->name = (uint32_t)(t->name.p - c->text.p);
	op->length = (uint32_t)t->name.n;
	return op;
}

/* ---- Tags ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t find(struct str text, size_t from, struct str what)
{
	const char *found = from < text.n ? memmem(text.p + from, text.n - from, what.p, what.n) : NULL;

	return found ? (size_t)(found - text.p) : SIZE_MAX;
}

/* Whether nothing but blanks is beside the tag, and then where its line is. */
static void find_line(const struct compiler *c, struct tag *t)
{
	size_t first = t->start, behind = t->end;

	t->line = t->start;
	t->next = t->end;
	if (!t->sign || t->sign == '&' || t->sign == '{')
		return;
	while (first && is_blank(c->text.p[first - 1]))
		first--;
	while (behind < c->text.n && is_blank(c->text.p[behind]))
		behind++;
	if (str_has_prefix(str_sub(c->text, behind, 2), STR("\r\n")))
		behind++;
	t->alone = begins_line(c->text, first) && (behind == c->text.n || c->text.p[behind] == '\n');
	if (!t->alone)
		return;
	t->line = first;
	t->next = size_min(behind + 1, c->text.n);
}

/* What closes a tag with this sign: }} or }}} or =}}. */
static struct str closing(const struct compiler *c, char sign, char room[LIMIT_DELIMITER + 1])
{
	if (sign != '{' && sign != '=')
		return c->close;
	room[0] = sign == '{' ? '}' : '=';
	memcpy(room + 1, c->close.p, c->close.n);
	return str_from(room, c->close.n + 1);
}

/* The next tag; *found is false when there is none. */
static enum status next_tag(const struct compiler *c, struct tag *t, bool *found, struct err *err)
{
	char room[LIMIT_DELIMITER + 1];
	size_t from, end;
	struct str behind;

	*t = (struct tag){ .start = find(c->text, c->at, c->open) };
	*found = t->start != SIZE_MAX;
	if (!*found)
		return STATUS_OK;
	from = t->start + c->open.n;
	while (from < c->text.n && is_space(c->text.p[from]))
		from++;
	if (from < c->text.n && memchr("#^/>!=&{", c->text.p[from], 8))
		t->sign = c->text.p[from++];
	behind = closing(c, t->sign, room);
	end = find(c->text, from, behind);
	if (end == SIZE_MAX)
		return fail(c, t->start, err, "this tag is not closed; missing is", behind);
	t->name = str_trim(str_sub(c->text, from, end - from));
	t->end = end + behind.n;
	find_line(c, t);
	return STATUS_OK;
}

static bool has_space(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (is_space(name.p[i]))
			return true;
	return false;
}

static bool has_empty_part(struct str name)
{
	struct str rest = name;

	if (str_eq(name, STR(".")))
		return false;
	do
		if (!str_cut(rest, '.', &rest).n)
			return true;
	while (rest.p);
	return false;
}

static enum status check_name(const struct compiler *c, const struct tag *t, struct err *err)
{
	if (!t->name.n)
		return fail(c, t->start, err, "this tag has no name", (struct str){ 0 });
	if (has_space(t->name))
		return fail(c, t->start, err, "a name has no blanks in it", t->name);
	if (t->sign == '>' && t->name.p[0] == '*')
		return fail(c, t->start, err, "names of templates that come from the data are not supported",
			    t->name);
	if (!t->sign && (t->name.p[0] == '<' || t->name.p[0] == '$'))
		return fail(c, t->start, err, "inheritance of templates is not supported", t->name);
	if (has_empty_part(t->name))
		return fail(c, t->start, err, "a part of this name is empty", t->name);
	return STATUS_OK;
}

/* {{=<% %>=}} */
static enum status set_delimiters(struct compiler *c, const struct tag *t, struct err *err)
{
	size_t n = 0;
	struct str open, close;

	while (n < t->name.n && !is_space(t->name.p[n]))
		n++;
	open = str_sub(t->name, 0, n);
	close = str_trim(str_sub(t->name, n, SIZE_MAX));
	if (!open.n || !close.n || has_space(close) || str_has_byte(t->name, '='))
		return fail(c, t->start, err,
			    "two delimiters with a blank between, as in {{=<% %>=}}, are expected", t->name);
	if (open.n > LIMIT_DELIMITER || close.n > LIMIT_DELIMITER)
		return fail(c, t->start, err, "this delimiter is too long", t->name);
	c->open = open;
	c->close = close;
	return STATUS_OK;
}

static enum status open_section(struct compiler *c, const struct tag *t, struct err *err)
{
	struct mustache_op *op;

	if (c->depth == LIMIT_TEMPLATE_DEPTH) {
		struct place place = place_of(c->text, t->start);

		return err_fail(err, STATUS_LIMIT, "%zu:%zu: nested more than %d deep", place.line,
				place.column, LIMIT_TEMPLATE_DEPTH);
	}
	op = add_tag(c, t->sign == '#' ? MUSTACHE_SECTION : MUSTACHE_INVERTED, t);
	op->other = c->section;
	c->section = c->m->count - 1;
	c->depth++;
	return STATUS_OK;
}

static enum status close_section(struct compiler *c, const struct tag *t, struct err *err)
{
	struct mustache_op *section, *end;
	uint32_t outer;

	if (c->section == NO_SECTION)
		return fail(c, t->start, err, "no section is open that this could end", t->name);
	section = &c->m->ops[c->section];
	if (!str_eq(mustache_name(c->m, section), t->name))
		return fail(c, t->start, err, "another section is open here", mustache_name(c->m, section));
	outer = section->other;
	section->other = c->m->count;
	end = add_tag(c, MUSTACHE_END, t);
	end->other = c->section;
	c->section = outer;
	c->depth--;
	return STATUS_OK;
}

static void add_partial(struct compiler *c, const struct tag *t)
{
	struct mustache_op *op = add_tag(c, t->alone ? MUSTACHE_LONE_PARTIAL : MUSTACHE_PARTIAL, t);

	op->other = (uint32_t)(t->start - t->line);
}

static enum status take_tag(struct compiler *c, const struct tag *t, struct err *err)
{
	if (t->sign == '!')
		return STATUS_OK;
	if (t->sign == '=')
		return set_delimiters(c, t, err);
	if (check_name(c, t, err))
		return err_failed(err->status);
	switch (t->sign) {
	case '#':
	case '^':
		return open_section(c, t, err);
	case '/':
		return close_section(c, t, err);
	case '>':
		add_partial(c, t);
		return STATUS_OK;
	default:
		add_tag(c, t->sign ? MUSTACHE_RAW : MUSTACHE_ESCAPED, t);
		return STATUS_OK;
	}
}

static enum status compile(struct compiler *c, struct err *err)
{
	struct tag t;
	bool found;

	while (next_tag(c, &t, &found, err) == STATUS_OK && found) {
		add_text(c, c->at, t.line);
		if (!t.alone && begins_line(c->text, t.start))
			add(c, MUSTACHE_LINE, t.start);
		if (take_tag(c, &t, err))
			return err_failed(err->status);
		c->at = t.next;
	}
	if (found)
		return err_failed(err->status);
	add_text(c, c->at, c->text.n);
	if (c->section != NO_SECTION)
		return fail(c, c->m->ops[c->section].at, err, "this section is not closed",
			    mustache_name(c->m, &c->m->ops[c->section]));
	return STATUS_OK;
}

enum status mustache_compile(struct mustache *m, struct str text, struct err *err)
{
	struct compiler c = {
		.m = m, .text = text, .open = STR("{{"), .close = STR("}}"), .section = NO_SECTION
	};

	m->text = text;
	m->count = 0;
	if (text.n > LIMIT_TEMPLATE)
		return err_fail(err, STATUS_LIMIT, "%zu bytes: a template has at most %zu", text.n,
				LIMIT_TEMPLATE);
	if (compile(&c, err) == STATUS_OK)
		return STATUS_OK;
	m->count = 0;
	return err_failed(err->status);
}
