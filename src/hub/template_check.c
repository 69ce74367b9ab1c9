/*
 * Looking up the names of a template in the table of fields, as rendering will in the data.
 *
 * A section adds what its name stands for to where names are looked for. Whatever the table
 * leaves open, JSON of any shape, can have any name; and of a section that is wrong itself
 * only that is told.
 */
#include "hub/template_check.h"

#include "base/near.h"
#include "base/place.h"
#include "hub/handle_resolve.h"

#include <stdio.h>
#include <string.h>

/* What a name stands for. */
struct meaning {
	bool known;		    /* it can be there */
	bool any;		    /* with parts of any name */
	bool list;		    /* parts are not its own but its items'; not known: that is the trouble */
	const struct field *fields; /* its parts; NULL = none */
};

struct checker {
	struct renderer *renderer;
	const struct template_of *of;
	const struct mustache *m;
	template_warn *warn;
	void *ctx;
	struct meaning scopes[LIMIT_TEMPLATE_DEPTH + 1];
	size_t depth;
};

/* NULL = nobody says. A plugin that is here and has no such handles is told of. */
static const struct field *find_fields(const struct checker *c)
{
	const struct activation *a = hub_owner(c->renderer->call->hub, &c->of->plugin);
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	struct near near = near_begin(c->of->method);

	if (!a)
		return NULL;
	for (const struct handle_kind *k = a->handles; k->method; k++) {
		if (str_eq(str_of(k->method), c->of->method))
			return k->fields;
		near_try(&near, k->method);
	}
	buf_printf(&text, "%s has no handles '%.*s'", a->name, (int)size_min(c->of->method.n, 60),
		   c->of->method.p);
	if (near.best)
		buf_printf(&text, "; did you mean '%s'?", near.best);
	c->warn(c->ctx, buf_as_str(&text));
	return NULL;
}

static struct meaning meaning_of(const struct field *f)
{
	return (struct meaning){
		.known = true,
		.any = f->type == VALUE_JSON || (f->type == VALUE_OBJECT && !f->fields),
		.list = f->flags & FIELD_LIST,
		.fields = f->type == VALUE_OBJECT ? f->fields : NULL,
	};
}

/* A path that is not UTF-8 has its bytes beside it (put_path()). */
static bool is_called(const struct field *f, struct str name)
{
	struct str own = str_of(f->name);

	return str_eq(own, name) || (f->type == VALUE_PATH && str_has_prefix(name, own) &&
				     str_eq(str_sub(name, own.n, SIZE_MAX), STR("_hex")));
}

static struct meaning look_into(const struct meaning *in, struct str name)
{
	if (in->any)
		return (struct meaning){ .known = true, .any = true };
	for (const struct field *f = in->fields; f && f->name; f++)
		if (is_called(f, name))
			return meaning_of(f);
	return (struct meaning){ 0 };
}

/* As look_up() in base/mustache_render.c does it. */
static struct meaning look_up(const struct checker *c, struct str name)
{
	struct meaning found = { 0 };
	struct str rest, part;

	if (str_eq(name, STR(".")))
		return c->scopes[c->depth - 1];
	part = str_cut(name, '.', &rest);
	for (size_t i = c->depth; i-- && !found.known;)
		found = look_into(&c->scopes[i], part);
	while (rest.p && found.known) {
		if (found.list)
			return (struct meaning){ .list = true };
		found = look_into(&found, str_cut(rest, '.', &rest));
	}
	return found;
}

/* ---- Telling ------------------------------------------------------------------- */

static const char *nearest(const struct checker *c, struct str name)
{
	struct near near = near_begin(name);

	for (size_t i = c->depth; i--;)
		for (const struct field *f = c->scopes[i].fields; f && f->name; f++)
			near_try(&near, f->name);
	return near.best;
}

static void tell(const struct checker *c, const struct mustache_op *op, const char *what, const char *better)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	struct place place = place_of(c->m->text, op->at);
	struct str name = mustache_name(c->m, op);

	buf_printf(&text, "%zu:%zu: %s '%.*s'", place.line, place.column, what, (int)size_min(name.n, 60),
		   name.p);
	if (better)
		buf_printf(&text, "; did you mean '%s'?", better);
	c->warn(c->ctx, buf_as_str(&text));
}

static enum status check_partial(struct checker *c, const struct mustache_op *op, struct err *err)
{
	bool found;

	if (render_has_partial(c->renderer, c->of, mustache_name(c->m, op), &found, err))
		return err_failed(err->status);
	if (!found)
		tell(c, op, "there is no template", NULL);
	return STATUS_OK;
}

static struct meaning check_name(struct checker *c, const struct mustache_op *op)
{
	struct meaning found = look_up(c, mustache_name(c->m, op));

	if (found.known)
		return found;
	if (found.list)
		tell(c, op, "this looks into a list, which only a section does:", NULL);
	else
		tell(c, op, "the data never has", nearest(c, mustache_name(c->m, op)));
	return (struct meaning){ .known = true, .any = true };
}

enum status template_check(struct renderer *r, const struct template_of *of, const struct mustache *m,
			   template_warn *warn, void *ctx, struct err *err)
{
	struct checker c = { .renderer = r, .of = of, .m = m, .warn = warn, .ctx = ctx, .depth = 1 };

	c.scopes[0].fields = find_fields(&c);
	c.scopes[0].any = !c.scopes[0].fields;
	c.scopes[0].known = true;
	for (uint32_t i = 0; i < m->count; i++) {
		const struct mustache_op *op = &m->ops[i];
		struct meaning found;

		if (op->kind == MUSTACHE_PARTIAL || op->kind == MUSTACHE_LONE_PARTIAL) {
			if (check_partial(&c, op, err))
				return err_failed(err->status);
		} else if (op->kind == MUSTACHE_END) {
			c.depth -= m->ops[op->other].kind == MUSTACHE_SECTION;
		} else if (op->kind != MUSTACHE_TEXT && op->kind != MUSTACHE_LINE) {
			found = check_name(&c, op);
			found.list = false; /* inside, it is one item */
			if (op->kind == MUSTACHE_SECTION)
				c.scopes[c.depth++] = found;
		}
	}
	return STATUS_OK;
}
