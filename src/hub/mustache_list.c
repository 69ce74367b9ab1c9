/*
 * mustache.list: which templates there are.
 *
 * One that somebody set stands in the place of the shipped one of that name. The order is that
 * of their names, so that what belongs together stands together.
 */
#include "hub/mustache_methods.h"

#include "hub/handle_resolve.h"

#include <stdlib.h>
#include <string.h>

static const struct param list_params[] = { PLUGIN_PARAM(0), { 0 } };

static const struct field list_fields[] = {
	TEMPLATE_FIELDS,
	{ .name = "origin",
	  .type = VALUE_ENUM,
	  .choices = template_origins,
	  .help = "whether somebody set it or it came with the program" },
	{ .name = "updated_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .title = "set",
	  .help = "custom: when it was set" },
	{ .name = "overrides",
	  .type = VALUE_BOOL,
	  .flags = FIELD_HIDDEN,
	  .help = "custom: whether there is a shipped one, which 'mustache.reset' brings back" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "the template itself" },
	{ 0 },
};

struct listed {
	struct template_of of;
	struct str name, text;
	int64_t updated_at;
	enum template_origin origin;
	bool overrides;
};

struct listing {
	struct call *call;
	bool of_one; /* only those of `plugin` */
	struct uuid plugin;
	struct str plugin_name; /* as it was asked for: only ids are stored */
	struct listed *list;
	size_t count, room;
};

static void listing_release(struct listing *l)
{
	mem_free(l->list);
}

static bool is_wanted(const struct listing *l, const struct uuid *plugin)
{
	return !l->of_one || uuid_eq(&l->plugin, plugin);
}

static void add(struct listing *l, const struct listed *t)
{
	if (!is_wanted(l, &t->of.plugin))
		return;
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->list = mem_resize(l->list, l->room * sizeof *l->list);
	}
	l->list[l->count++] = *t;
}

static enum status add_custom(void *ctx, const struct template_row *row, struct err *err)
{
	struct listing *l = ctx;
	struct arena *mem = &l->call->mem;
	const struct activation *a = hub_owner(l->call->hub, &row->key.plugin);

	(void)err;
	add(l, &(struct listed){
		       .of = { row->key.plugin, a ? str_of(a->name) : l->plugin_name, arena_str(mem, row->key.method) },
		       .name = arena_str(mem, row->key.name),
		       .text = arena_str(mem, row->body),
		       .updated_at = row->updated_at,
		       .origin = TEMPLATE_CUSTOM });
	return STATUS_OK;
}

static struct listed *find_custom(struct listing *l, size_t customs, const struct listed *t)
{
	for (size_t i = 0; i < customs; i++)
		if (uuid_eq(&l->list[i].of.plugin, &t->of.plugin) &&
		    str_eq(l->list[i].of.method, t->of.method) && str_eq(l->list[i].name, t->name))
			return &l->list[i];
	return NULL;
}

static enum status add_shipped(struct listing *l, struct err *err)
{
	struct template_shipped s;
	size_t customs = l->count;

	for (size_t i = 0; template_shipped(i, &s); i++) {
		struct listed t = { .name = s.name, .text = s.text, .origin = TEMPLATE_SHIPPED }, *custom;

		if (template_plugin(l->call->hub, s.plugin, &t.of, err))
			return err_failed(err->status);
		t.of.method = s.method;
		custom = find_custom(l, customs, &t);
		if (custom)
			custom->overrides = true;
		else
			add(l, &t);
	}
	return STATUS_OK;
}

static int by_name(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;
	int order = str_cmp(a->of.plugin_name, b->of.plugin_name);

	order = order ? order : memcmp(a->of.plugin.b, b->of.plugin.b, UUID_BYTES);
	order = order ? order : str_cmp(a->of.method, b->of.method);
	return order ? order : str_cmp(a->name, b->name);
}

static enum status emit(struct call *c, const struct listed *t, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_template(c, w, &t->of, t->name);
	put_text(w, "origin", str_of(template_origins[t->origin]));
	if (t->origin == TEMPLATE_CUSTOM)
		put_time(w, "updated_at", t->updated_at);
	put_bool(w, "overrides", t->overrides);
	put_text(w, "text", t->text);
	return call_emit(c, err);
}

static enum status run_list(struct call *c, struct err *err)
{
	struct listing l CLEANUP(listing_release) = { .call = c, .plugin_name = STR("") };
	struct template_of of;
	bool any;

	l.of_one = call_text(c, "plugin").p;
	if (l.of_one && template_plugin(c->hub, call_text(c, "plugin"), &of, err))
		return err_failed(err->status);
	if (l.of_one) {
		l.plugin = of.plugin;
		if (of.plugin_name.n)
			l.plugin_name = of.plugin_name;
	}
	if (template_store(c, &any, err) || (any && template_each(c->store, add_custom, &l, err)) ||
	    add_shipped(&l, err))
		return err_failed(err->status);
	if (l.count)
		qsort(l.list, l.count, sizeof *l.list, by_name);
	for (size_t i = 0; i < l.count; i++)
		if (emit(c, &l.list[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

const struct method mustache_list = {
	.name = "list",
	.verb = "templates",
	.also = "formats",
	.group = "programs",
	.summary = "List the templates that render handles",
	.text = "Those that came with the program, and those that somebody set with 'arbor call "
		"mustache.set', which "
		"stand in their place. 'arbor render --template' takes a name; docs/RENDERING.md has the "
		"rest.\n",
	.params = list_params,
	.kind = RESULT_STREAM,
	.fields = list_fields,
	.empty = "there are none",
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "templates", "all of them" },
					      { "templates claudecode", "those of one plugin" },
					      { 0 } },
	.run = run_list,
};
