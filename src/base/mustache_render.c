/*
 * Rendering Mustache templates.
 *
 * A loop over operations with a stack of frames: the value that is rendered, one for each
 * section that is open, one for each partial that is being printed. A name is looked for in
 * the values of the frames, the innermost first; its first part decides, and the others are
 * looked for in what that gave.
 *
 * What bounds it: the stack is an array; the output has its maximum; and what costs time is
 * counted as steps, one for each operation, one for each frame and member of an object that
 * is looked at. A section inside of itself runs as often as there are ways through the
 * list, without printing anything: steps end that.
 *
 * A partial that is alone on its line adds the blanks in front of it to the indentation of
 * all its lines. One inside of a line starts without any, also where what is around it is
 * indented. Values are printed as they are, whatever lines they have.
 */
#include "base/mustache.h"

#include <string.h>

struct frame {
	uint32_t node;		       /* where names are looked for, too; JSON_NONE = nowhere else */
	uint32_t next, end;	       /* section: items of its list that are left */
	const struct mustache *caller; /* partial: who goes on behind it; NULL = a section */
	uint32_t at;		       /* partial: with which operation */
	size_t indent_from, indent_n;  /* partial: the indentation around it */
};

struct renderer {
	const struct json *data;
	const struct mustache_partials *partials;
	struct buf *out;
	const struct mustache *m; /* what runs just now */
	uint32_t at;		  /* its next operation */
	uint64_t steps;
	struct frame frames[LIMIT_TEMPLATE_DEPTH + 1];
	size_t depth;	    /* of them in use */
	struct buf indent;  /* what lines begin with, ... */
	size_t indent_from; /* ... from here on */
	struct buf text;    /* room for decoding */
};

static enum status push(struct renderer *r, const struct frame *f, struct err *err)
{
	if (r->depth == COUNT(r->frames))
		return err_fail(err, STATUS_LIMIT,
				"nested more than %d deep: a template that contains itself?",
				LIMIT_TEMPLATE_DEPTH);
	r->frames[r->depth++] = *f;
	return STATUS_OK;
}

static bool is_over(const struct renderer *r)
{
	return r->steps > LIMIT_TEMPLATE_STEPS;
}

/* ---- Names ---- */

static uint32_t member(struct renderer *r, uint32_t object, struct str key)
{
	if (!json_is(r->data, object, JSON_OBJECT))
		return JSON_NONE;
	r->steps += json_count(r->data, object);
	return json_get(r->data, object, key);
}

/* The innermost value that has it. */
static uint32_t look_up_first(struct renderer *r, struct str key)
{
	uint32_t found = JSON_NONE;

	for (size_t i = r->depth; i-- && found == JSON_NONE && !is_over(r); r->steps++)
		found = member(r, r->frames[i].node, key);
	return found;
}

static uint32_t innermost(const struct renderer *r)
{
	size_t i = r->depth - 1;

	while (i && r->frames[i].node == JSON_NONE)
		i--;
	return r->frames[i].node;
}

static uint32_t look_up(struct renderer *r, struct str name)
{
	struct str rest;
	uint32_t node;

	if (str_eq(name, STR(".")))
		return innermost(r);
	node = look_up_first(r, str_cut(name, '.', &rest));
	while (rest.p && node != JSON_NONE)
		node = member(r, node, str_cut(rest, '.', &rest));
	return node;
}

static bool is_something(const struct json *j, uint32_t node)
{
	if (node == JSON_NONE)
		return false;
	switch (json_kind(j, node)) {
	case JSON_NULL:
	case JSON_FALSE:
		return false;
	case JSON_STRING:
		return json_raw(j, node).n > 2;
	case JSON_ARRAY:
		return json_first(j, node) != json_end(j, node);
	case JSON_TRUE:
	case JSON_NUMBER:
	case JSON_OBJECT:
		break;
	}
	return true;
}

/* ---- Values ---- */

static void put_escaped(struct buf *out, struct str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		const char *as = s.p[i] == '&'	 ? "&amp;"
				 : s.p[i] == '"' ? "&quot;"
				 : s.p[i] == '<' ? "&lt;"
				 : s.p[i] == '>' ? "&gt;"
						 : NULL;

		if (!as)
			continue;
		buf_str(out, str_sub(s, from, i - from));
		buf_text(out, as);
		from = i + 1;
	}
	buf_str(out, str_sub(s, from, SIZE_MAX));
}

static void put_value(struct renderer *r, uint32_t node, bool escaped)
{
	struct str text;

	if (node == JSON_NONE || json_is(r->data, node, JSON_NULL))
		return;
	if (!json_is(r->data, node, JSON_STRING)) {
		text = json_raw(r->data, node);
	} else if (!json_text(r->data, node, &text)) {
		buf_clear(&r->text);
		json_string(r->data, node, &r->text);
		r->out->failed |= r->text.failed;
		text = buf_as_str(&r->text);
	}
	if (escaped)
		put_escaped(r->out, text);
	else
		buf_str(r->out, text);
}

/* ---- Operations ---- */

static enum status begin_section(struct renderer *r, const struct mustache_op *op, struct err *err)
{
	uint32_t node = look_up(r, mustache_name(r->m, op));
	struct frame f = { .node = node };

	if (!is_something(r->data, node)) {
		r->at = op->other + 1;
		return STATUS_OK;
	}
	if (json_is(r->data, node, JSON_ARRAY)) {
		f.node = json_first(r->data, node);
		f.next = json_next(r->data, f.node);
		f.end = json_end(r->data, node);
	}
	return push(r, &f, err);
}

static void end_section(struct renderer *r, const struct mustache_op *op)
{
	struct frame *f = &r->frames[r->depth - 1];

	if (r->m->ops[op->other].kind == MUSTACHE_INVERTED)
		return;
	if (f->next == f->end) {
		r->depth--;
		return;
	}
	f->node = f->next;
	f->next = json_next(r->data, f->node);
	r->at = op->other + 1;
}

static enum status begin_partial(struct renderer *r, const struct mustache_op *op, struct err *err)
{
	const struct mustache *found = NULL;
	struct frame f = { .node = JSON_NONE,
			   .caller = r->m,
			   .at = r->at,
			   .indent_from = r->indent_from,
			   .indent_n = r->indent.n };

	if (r->partials && r->partials->find(r->partials->ctx, r->m, mustache_name(r->m, op), &found, err))
		return err_failed(err->status);
	if (!found)
		return STATUS_OK;
	if (push(r, &f, err))
		return err_failed(err->status);
	if (op->kind == MUSTACHE_LONE_PARTIAL)
		buf_str(&r->indent, str_sub(r->m->text, op->at - op->other, op->other));
	else
		r->indent_from = r->indent.n;
	r->m = found;
	r->at = 0;
	return STATUS_OK;
}

static void end_partial(struct renderer *r)
{
	const struct frame *f = &r->frames[--r->depth];

	r->m = f->caller;
	r->at = f->at;
	r->indent.n = f->indent_n;
	r->indent_from = f->indent_from;
}

static enum status run(struct renderer *r, const struct mustache_op *op, struct err *err)
{
	switch (op->kind) {
	case MUSTACHE_TEXT:
		buf_str(r->out, str_sub(r->m->text, op->at, op->length));
		break;
	case MUSTACHE_LINE:
		buf_str(r->out, str_sub(buf_as_str(&r->indent), r->indent_from, SIZE_MAX));
		break;
	case MUSTACHE_ESCAPED:
	case MUSTACHE_RAW:
		put_value(r, look_up(r, mustache_name(r->m, op)), op->kind == MUSTACHE_ESCAPED);
		break;
	case MUSTACHE_SECTION:
		return begin_section(r, op, err);
	case MUSTACHE_INVERTED:
		if (is_something(r->data, look_up(r, mustache_name(r->m, op))))
			r->at = op->other + 1;
		break;
	case MUSTACHE_END:
		end_section(r, op);
		break;
	case MUSTACHE_PARTIAL:
	case MUSTACHE_LONE_PARTIAL:
		return begin_partial(r, op, err);
	}
	return STATUS_OK;
}

static enum status run_all(struct renderer *r, struct err *err)
{
	for (;;) {
		while (r->at == r->m->count) {
			/* Its sections are closed: what is open is a partial, or the value alone. */
			if (!r->frames[r->depth - 1].caller)
				return STATUS_OK;
			end_partial(r);
		}
		if (run(r, &r->m->ops[r->at++], err))
			return err_failed(err->status);
		if (r->out->failed || r->indent.failed)
			return err_fail(err, STATUS_LIMIT, "more than %zu bytes would be printed",
					r->out->max);
		r->steps++;
		if (is_over(r))
			return err_fail(err, STATUS_LIMIT, "this takes too long: more than %d steps",
					LIMIT_TEMPLATE_STEPS);
	}
}

enum status mustache_render(const struct mustache *m, const struct json *data, uint32_t node,
			    const struct mustache_partials *partials, struct buf *out, struct err *err)
{
	struct renderer r = { .data = data, .partials = partials, .out = out, .m = m };
	enum status status;

	r.frames[r.depth++] = (struct frame){ .node = node };
	buf_init(&r.indent, out->max);
	buf_init(&r.text, out->max);
	status = run_all(&r, err);
	buf_release(&r.indent);
	buf_release(&r.text);
	return status;
}
