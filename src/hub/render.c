/*
 * Rendering values.
 *
 * A template may call others: {{>name}} of what it renders itself, {{>method.name}} of another
 * kind of the same plugin, {{>plugin.method.name}} of any. What is called by a template is
 * looked for from where that one stands, not from where rendering began. Nothing stands in
 * for one that is not there.
 *
 * Compiled templates are kept with what was found, a missing one included, by plugin, method, name
 * and whether another might stand in for it.
 */
#include "hub/render.h"

#include "base/json_plain.h"
#include "claude/record.h"
#include "hub/handle_resolve.h"

struct compiled {
	struct mustache m; /* first: from it the rest is found */
	struct template_of of;
	struct template_found found;
	bool missing;
	struct compiled *older;
};

void renderer_release(struct renderer *r)
{
	for (struct compiled *c = r->newest; c; c = c->older)
		mustache_release(&c->m);
	map_release(&r->templates);
	buf_release(&r->key);
	arena_release(&r->mem);
}

/* ---- Templates ----------------------------------------------------------------- */

/* In r->key. */
static struct str key_of(struct renderer *r, const struct template_of *of, struct str name, bool exact)
{
	char plugin[UUID_TEXT + 1];

	uuid_print(&of->plugin, plugin);
	buf_clear(&r->key);
	buf_text(&r->key, plugin);
	buf_byte(&r->key, '\0');
	buf_str(&r->key, of->method);
	buf_byte(&r->key, '\0');
	buf_str(&r->key, name);
	buf_byte(&r->key, exact ? '=' : '~');
	return buf_as_str(&r->key);
}

static struct template_of keep(struct renderer *r, const struct template_of *of)
{
	return (struct template_of){ of->plugin, arena_str(&r->mem, of->plugin_name),
				     arena_str(&r->mem, of->method) };
}

static enum status compile(struct renderer *r, struct compiled *c, struct err *err)
{
	c->older = r->newest;
	r->newest = c;
	if (mustache_compile(&c->m, c->found.text, err) == STATUS_OK)
		return STATUS_OK;
	if (!c->found.name.n) /* one that was given */
		return err_pass(err, "template");
	return err_pass(err, "template %.*s of %.*s::%.*s", STR_ARG(c->found.name),
			STR_ARG(c->of.plugin_name), STR_ARG(c->of.method));
}

/* `exact`: nothing stands in for one that is missing. */
static enum status find(struct renderer *r, const struct template_of *of, struct str name, bool exact,
			const struct compiled **out, struct err *err)
{
	struct compiled *c = map_get(&r->templates, key_of(r, of, name, exact));
	enum status status = STATUS_OK;

	*out = c;
	if (c)
		return STATUS_OK;
	*out = c = arena_alloc(&r->mem, sizeof *c);
	c->of = keep(r, of);
	if (exact)
		status = template_exact(r->call, of, name, &r->mem, &c->found, err);
	else
		status = template_find(r->call, of, name, &r->mem, &c->found, err);
	c->missing = status == STATUS_NOT_FOUND;
	if ((status && !c->missing) || (!c->missing && compile(r, c, err)))
		return err_failed(err->status);
	map_put(&r->templates, arena_str(&r->mem, key_of(r, of, name, exact)), c);
	return STATUS_OK;
}

/* ---- Partials ------------------------------------------------------------------ */

/* Which template is meant by a name that one of `of` calls; false when it can be none. */
static bool place_partial(const struct hub *h, const struct template_of *of, struct str name,
			  struct template_of *out, struct str *last)
{
	struct str parts[3] = { 0 }, rest = name;
	size_t n = 0;
	struct err ignored;

	while (rest.p && n < COUNT(parts))
		parts[n++] = str_cut(rest, '.', &rest);
	*out = *of;
	*last = parts[n - 1];
	if (n > 1)
		out->method = parts[n - 2];
	return !rest.p && (n < 3 || template_plugin(h, parts[0], out, &ignored) == STATUS_OK);
}

static enum status find_partial(struct renderer *r, const struct template_of *from, struct str name,
				const struct mustache **out, struct err *err)
{
	const struct compiled *c;
	struct template_of of;
	struct str last;

	if (!place_partial(r->call->hub, from, name, &of, &last))
		return STATUS_OK;
	if (find(r, &of, last, true, &c, err))
		return err_failed(err->status);
	*out = c->missing ? NULL : &c->m;
	return STATUS_OK;
}

static enum status call_partial(void *ctx, const struct mustache *from, struct str name,
				const struct mustache **out, struct err *err)
{
	return find_partial(ctx, &((const struct compiled *)(const void *)from)->of, name, out, err);
}

enum status render_has_partial(struct renderer *r, const struct template_of *of, struct str name, bool *out,
			       struct err *err)
{
	const struct mustache *found = NULL;

	if (find_partial(r, of, name, &found, err))
		return err_failed(err->status);
	*out = found != NULL;
	return STATUS_OK;
}

/* ---- Rendering ----------------------------------------------------------------- */

static enum status run(struct renderer *r, const struct compiled *c, const struct json *j, uint32_t node,
		       struct buf *out, struct err *err)
{
	struct mustache_partials partials = { call_partial, r };

	if (c->found.origin != TEMPLATE_GENERIC) {
		if (mustache_render(&c->m, j, node, &partials, out, err))
			return err_pass(err, "rendering");
		return STATUS_OK;
	}
	json_plain(j, node, out);
	if (out->failed)
		return err_fail(err, STATUS_LIMIT, "rendering: more than %zu bytes would be printed",
				out->max);
	return STATUS_OK;
}

/* The same on one line. */
static enum status run_compact(struct renderer *r, const struct compiled *c, const struct json *j,
			       uint32_t node, struct buf *out, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(out->max);

	if (run(r, c, j, node, &text, err))
		return err_failed(err->status);
	record_short(buf_as_str(&text), SIZE_MAX, out);
	return STATUS_OK;
}

enum status render_value(struct renderer *r, const struct template_of *of, struct str name,
			 const struct json *j, uint32_t node, struct buf *out, struct rendered *how,
			 struct err *err)
{
	const struct compiled *c;

	if (find(r, of, name, false, &c, err))
		return err_failed(err->status);
	*how = (struct rendered){ c->found.name, c->found.origin };
	return (str_eq(name, TEMPLATE_COMPACT) ? run_compact : run)(r, c, j, node, out, err);
}

enum status render_with(struct renderer *r, const struct template_of *of, struct str template,
			const struct json *j, uint32_t node, struct buf *out, struct err *err)
{
	struct compiled *c = arena_alloc(&r->mem, sizeof *c);

	c->of = keep(r, of);
	c->found = (struct template_found){ .origin = TEMPLATE_GIVEN, .text = template };
	if (compile(r, c, err))
		return err_failed(err->status);
	return run(r, c, j, node, out, err);
}

enum status render_resolution(struct renderer *r, const struct resolution *x, struct str name,
			      struct buf *out, struct rendered *how, struct err *err)
{
	struct template_of of = { x->plugin_id, x->plugin, x->method };
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (json_read(&j, x->data, LIMIT_JSON_DEPTH, err))
		return err_pass(err, "%.*s: its data", STR_ARG(x->method));
	return render_value(r, &of, name, &j, json_root(&j), out, how, err);
}

enum status render_line(struct renderer *r, const struct resolution *x, size_t most, struct buf *out,
			struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_RENDERED);
	struct rendered how;

	if (render_resolution(r, x, TEMPLATE_COMPACT, &text, &how, err))
		return err_failed(err->status);
	record_short(buf_as_str(&text), most, out);
	return STATUS_OK;
}

/* Whether it is only this handle that cannot be rendered. Whoever knows it may fail in any way, and takes
 * nothing from the others; a store of ours that is no good does. */
static bool is_none(enum status s)
{
	return s != STATUS_CORRUPT && s != STATUS_TOO_NEW && s != STATUS_NOT_A_STORE && s != STATUS_FULL &&
	       s != STATUS_CANCELLED && s != STATUS_INTERNAL;
}

enum status render_handle(struct renderer *r, struct str handle, size_t most, struct buf *out, bool *found,
			  struct err *err)
{
	struct resolution x CLEANUP(resolution_release) = RESOLUTION_INIT;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle parsed;

	/* All of it, though a line is wanted: what a tool was given is whole or no JSON. */
	*found = handle_parse(handle, &mem, &parsed, err) == STATUS_OK &&
		 hub_resolve(r->call, &(struct resolve_ask){ &parsed, 0, (int64_t)LIMIT_RESOLVED }, &x,
			     err) == STATUS_OK &&
		 render_line(r, &x, most, out, err) == STATUS_OK;
	return *found || is_none(err->status) ? STATUS_OK : err_failed(err->status);
}

void put_rendered(struct json_writer *w, struct str text, const struct rendered *how)
{
	put_text(w, "text", text);
	if (how->name.n)
		put_text(w, "template", how->name);
	put_text(w, "origin", str_of(template_origins[how->origin]));
}
