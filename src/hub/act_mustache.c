/*
 * mustache.*: the templates that render handles, set and tried.
 *
 * A template that does not compile is never stored. One with a name that its data cannot have
 * is stored and warned about: a resolver of another program may know more than its table says.
 */
#include "hub/activations.h"

#include "hub/handle_resolve.h"
#include "hub/mustache_methods.h"
#include "hub/template_check.h"


#define METHOD_PARAM(f) \
	{ \
		.name = "method", .type = VALUE_TEXT, .flags = PARAM_WORD | (f), \
		.help = "which of its handles: message, say" \
	}
#define NAME_PARAM \
	{ \
		.name = "name", .type = VALUE_TEXT, .flags = PARAM_WORD, .initial = "default", \
		.help = "of the template: default, compact, markdown, or any other" \
	}
#define STRICT_PARAM \
	{ \
		.name = "strict", .type = VALUE_BOOL, .help = "take what is warned about for an error" \
	}

#define WARNINGS_FIELD \
	{ \
		.name = "warnings", .type = VALUE_TEXT, .flags = FIELD_LIST, \
		.help = "names that the data never has, and templates that are not there" \
	}

static const struct param key_params[] = {
	PLUGIN_PARAM(PARAM_REQUIRED), METHOD_PARAM(PARAM_REQUIRED), NAME_PARAM, { 0 }
};

void put_template(struct call *c, struct json_writer *w, const struct template_of *of, struct str name)
{
	char id[UUID_TEXT + 1];
	struct str plugin = of->plugin_name;

	uuid_print(&of->plugin, id);
	if (!plugin.n)
		plugin = str_of(id);
	put_text(
		w, "template",
		arena_printf(&c->mem, "%.*s.%.*s.%.*s", STR_ARG(plugin), STR_ARG(of->method), STR_ARG(name)));
	put_text(w, "plugin", plugin);
	put_uuid(w, "plugin_id", &of->plugin);
	put_text(w, "method", of->method);
	put_text(w, "name", name);
}

static enum status read_of(struct call *c, struct template_of *out, struct err *err)
{
	out->method = call_text(c, "method");
	return template_plugin(c->hub, call_text(c, "plugin"), out, err);
}

/* ---- Warnings ------------------------------------------------------------------ */

struct warnings {
	struct call *call;
	struct buf json; /* an array of them */
	struct json_writer writer;
	size_t count;
	struct str first;
};

static void warnings_release(struct warnings *w)
{
	buf_release(&w->json);
}

static void take_warning(void *ctx, struct str text)
{
	struct warnings *w = ctx;

	if (!w->count++)
		w->first = arena_str(&w->call->mem, text);
	json_write_string(&w->writer, text);
	log_warn(w->call->log, "template: %.*s", STR_ARG(text));
}

/* What is to be said about a template; an error when it does not compile, or the caller is strict. */
static enum status check_template(struct warnings *w, struct renderer *r, const struct template_of *of,
				  struct str text, struct err *err)
{
	struct mustache m CLEANUP(mustache_release) = MUSTACHE_INIT;

	buf_init(&w->json, LIMIT_RENDERED);
	json_write_init(&w->writer, &w->json, 0);
	if (mustache_compile(&m, text, err))
		return err_pass(err, "template");
	json_write_array_begin(&w->writer);
	if (template_check(r, of, &m, take_warning, w, err))
		return err_failed(err->status);
	json_write_array_end(&w->writer);
	if (w->count && call_flag(w->call, "strict"))
		return err_fail(err, STATUS_FORMAT, "template: %.*s%s", STR_ARG(w->first),
				w->count > 1 ? "; and more" : "");
	return json_write_done(&w->writer, err);
}

static void put_warnings(struct json_writer *w, const struct warnings *warnings)
{
	json_write_key(w, STR("warnings"));
	json_write_raw(w, buf_as_str(&warnings->json));
}

/* ---- mustache.get -------------------------------------------------------------- */

static const struct field get_fields[] = {
	TEMPLATE_FIELDS,
	{ .name = "origin",
	  .type = VALUE_ENUM,
	  .choices = template_origins,
	  .help = "whether somebody set it or it came with the program" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "the template itself" },
	{ 0 },
};

static enum status no_such_template(const struct template_of *of, struct str name, struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND,
			"there is no template '%.*s' for %.*s::%.*s; 'arbor templates' lists all",
			(int)size_min(name.n, 60), name.p, (int)size_min(of->plugin_name.n, 60),
			of->plugin_name.p, (int)size_min(of->method.n, 60), of->method.p);
}

static enum status run_get(struct call *c, struct err *err)
{
	struct str name = call_text(c, "name");
	struct template_found found;
	struct template_of of;
	struct json_writer *w;

	if (read_of(c, &of, err))
		return err_failed(err->status);
	if (template_exact(c, &of, name, &c->mem, &found, err))
		return err->status == STATUS_NOT_FOUND ? no_such_template(&of, name, err)
						       : err_failed(err->status);
	w = call_begin(c);
	put_template(c, w, &of, name);
	put_text(w, "origin", str_of(template_origins[found.origin]));
	put_text(w, "text", found.text);
	return call_emit(c, err);
}

static const struct method get = {
	.name = "get",
	.summary = "Show one template",
	.text = "The one that somebody set, else the one that came with the program.\n",
	.params = key_params,
	.kind = RESULT_ONE,
	.fields = get_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call mustache.get claudecode message compact",
						"a message on one line" },
					      { 0 } },
	.run = run_get,
};

/* ---- mustache.set -------------------------------------------------------------- */

static const struct param set_params[] = {
	PLUGIN_PARAM(PARAM_REQUIRED),
	METHOD_PARAM(PARAM_REQUIRED),
	NAME_PARAM,
	{ .name = "template",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_INPUT,
	  .help = "its text; '-' reads standard input" },
	STRICT_PARAM,
	{ 0 },
};

static const struct field set_fields[] = { TEMPLATE_FIELDS, WARNINGS_FIELD, { 0 } };

/* A dot parts names where templates call each other, and a blank where they are remembered. */
static enum status check_name(const char *param, struct str name, struct err *err)
{
	bool good = name.n && name.n <= LIMIT_LABEL;

	for (size_t i = 0; good && i < name.n; i++)
		good = is_ascii_alnum(name.p[i]) || name.p[i] == '_' || name.p[i] == '-';
	if (good)
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE, "%s: '%.*s' is no name: up to %d letters, digits, '_' and '-'",
			param, (int)size_min(name.n, 60), name.p, LIMIT_LABEL);
}

static enum status run_set(struct call *c, struct err *err)
{
	struct renderer r CLEANUP(renderer_release) = RENDERER_INIT(c);
	struct warnings warnings CLEANUP(warnings_release) = { .call = c };
	struct str text = call_text(c, "template"), name = call_text(c, "name");
	struct json_writer *w;
	struct template_of of;

	if (read_of(c, &of, err) || check_name("method", of.method, err) || check_name("name", name, err) ||
	    check_template(&warnings, &r, &of, text, err) ||
	    template_put(c->store, &(struct template_key){ of.plugin, of.method, name }, text, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_template(c, w, &of, name);
	put_warnings(w, &warnings);
	return call_emit(c, err);
}

static const struct method set = {
	.name = "set",
	.summary = "Set the template for a kind of handle",
	.text = "From then on it is used in the place of the one that came with the program, until "
		"'mustache.reset'. "
		"A text that is no template is refused with line and column; names that the data never has "
		"are "
		"warned about.\n",
	.params = set_params,
	.kind = RESULT_ONE,
	.fields = set_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE_MADE,
	.examples =
		(const struct example[]){
			{ "call mustache.set claudecode session short --template '{{{title}}}'",
			  "a session by its title alone" },
			{ 0 } },
	.run = run_set,
};

/* ---- mustache.reset ------------------------------------------------------------ */

static const struct field reset_fields[] = {
	TEMPLATE_FIELDS,
	{ .name = "deleted", .type = VALUE_BOOL, .help = "whether there was one that somebody had set" },
	{ .name = "origin",
	  .type = VALUE_ENUM,
	  .choices = template_origins,
	  .help = "what is used from now on" },
	{ 0 },
};

static enum status run_reset(struct call *c, struct err *err)
{
	struct str name = call_text(c, "name");
	struct template_found now;
	struct template_of of;
	struct json_writer *w;
	bool deleted;

	if (read_of(c, &of, err))
		return err_failed(err->status);
	deleted = template_delete(c->store, &(struct template_key){ of.plugin, of.method, name }, err) ==
		  STATUS_OK;
	if ((!deleted && err->status != STATUS_NOT_FOUND) || template_find(c, &of, name, &c->mem, &now, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_template(c, w, &of, name);
	put_bool(w, "deleted", deleted);
	put_text(w, "origin", str_of(template_origins[now.origin]));
	return call_emit(c, err);
}

static const struct method reset = {
	.name = "reset",
	.summary = "Forget a template that was set",
	.text = "The one that came with the program is used again, if there is one.\n",
	.params = key_params,
	.kind = RESULT_ONE,
	.fields = reset_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call mustache.reset claudecode session",
						"back to the shipped one" },
					      { 0 } },
	.run = run_reset,
};

/* ---- mustache.render ----------------------------------------------------------- */

static const struct param render_params[] = {
	PLUGIN_PARAM(PARAM_REQUIRED),
	METHOD_PARAM(PARAM_REQUIRED),
	NAME_PARAM,
	{ .name = "value",
	  .type = VALUE_JSON,
	  .flags = PARAM_REQUIRED | PARAM_INPUT,
	  .help = "what to render; '-' reads standard input" },
	{ 0 },
};

static const struct field render_fields[] = { RENDERED_FIELDS, { 0 } };

static enum status run_render(struct call *c, struct err *err)
{
	struct renderer r CLEANUP(renderer_release) = RENDERER_INIT(c);
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_RENDERED);
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct template_of of;
	struct rendered how;

	if (read_of(c, &of, err) || json_read(&j, call_text(c, "value"), LIMIT_JSON_DEPTH, err) ||
	    render_value(&r, &of, call_text(c, "name"), &j, json_root(&j), &text, &how, err))
		return err_failed(err->status);
	put_rendered(call_begin(c), buf_as_str(&text), &how);
	return call_emit(c, err);
}

static const struct method render = {
	.name = "render",
	.summary = "Render a value as a kind of handle would be",
	.text = "By the template of this name, else by 'default', else as any JSON is printed. 'arbor "
		"render' does the same "
		"with what a handle stands for.\n",
	.params = render_params,
	.kind = RESULT_ONE,
	.fields = render_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples =
		(const struct example[]){
			{ "call mustache.render notes@1 note --value '{\"title\":\"Milk\"}'",
			  "as text, of a plugin that has no templates" },
			{ 0 } },
	.run = run_render,
};

/* ---- mustache.test ------------------------------------------------------------- */

static const struct param test_params[] = {
	{ .name = "template",
	  .type = VALUE_TEXT,
	  .flags = PARAM_INPUT,
	  .help = "its text; '-' reads standard input; left out: the one that is used now" },
	{ .name = "value", .type = VALUE_JSON, .initial = "{}", .help = "what to render" },
	{ .name = "handle", .type = VALUE_HANDLE, .help = "instead of a value: what this stands for" },
	{ .name = "plugin", .type = VALUE_TEXT, .help = "of a value: as whose handles" },
	{ .name = "method", .type = VALUE_TEXT, .help = "of a value: as which of them" },
	NAME_PARAM,
	STRICT_PARAM,
	{ 0 },
};

static const struct field test_fields[] = { RENDERED_FIELDS, WARNINGS_FIELD, { 0 } };

/* What is to be rendered, and what kind of thing that is. */
static enum status read_subject(struct call *c, struct resolution *x, struct template_of *of,
				struct str *json, struct err *err)
{
	bool kind = call_text(c, "plugin").p && call_text(c, "method").p;

	*of = (struct template_of){ 0 };
	*json = call_text(c, "value");
	if (call_text(c, "handle").p) {
		if (hub_resolve_handle(c, call_text(c, "handle"), x, err))
			return err_failed(err->status);
		*of = (struct template_of){ x->plugin_id, x->plugin, x->method };
		*json = x->data;
		return STATUS_OK;
	}
	if (!kind && !call_text(c, "template").p)
		return err_fail(err, STATUS_USAGE, "give a template, or a handle, or plugin and method");
	return kind ? read_of(c, of, err) : STATUS_OK;
}

/* The template that is tried; one that is not given is found. */
static enum status read_template(struct call *c, const struct template_of *of, struct str *text,
				 struct rendered *how, struct err *err)
{
	struct template_found found;

	*text = call_text(c, "template");
	if (text->p)
		return STATUS_OK;
	if (template_find(c, of, call_text(c, "name"), &c->mem, &found, err))
		return err_failed(err->status);
	*text = found.text;
	*how = (struct rendered){ found.name, found.origin };
	return STATUS_OK;
}

static enum status run_test(struct call *c, struct err *err)
{
	struct renderer r CLEANUP(renderer_release) = RENDERER_INIT(c);
	struct warnings warnings CLEANUP(warnings_release) = { .call = c };
	struct resolution x CLEANUP(resolution_release) = RESOLUTION_INIT;
	struct buf out CLEANUP(buf_release) = BUF_INIT(LIMIT_RENDERED);
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct rendered how = { .origin = TEMPLATE_GIVEN };
	struct str text, json;
	struct template_of of;

	if (read_subject(c, &x, &of, &json, err) || json_read(&j, json, LIMIT_JSON_DEPTH, err) ||
	    read_template(c, &of, &text, &how, err) || check_template(&warnings, &r, &of, text, err))
		return err_failed(err->status);
	if (how.origin == TEMPLATE_GENERIC
		    ? render_value(&r, &of, call_text(c, "name"), &j, json_root(&j), &out, &how, err)
		    : render_with(&r, &of, text, &j, json_root(&j), &out, err))
		return err_failed(err->status);
	put_rendered(call_begin(c), buf_as_str(&out), &how);
	put_warnings(&c->writer, &warnings);
	return call_emit(c, err);
}

static const struct method test = {
	.name = "test",
	.summary = "Try a template without keeping it",
	.text = "Renders a value, or what a handle stands for, and warns about names that the data never "
		"has. With "
		"--strict these are errors, and nothing is printed.\n",
	.params = test_params,
	.kind = RESULT_ONE,
	.fields = test_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples =
		(const struct example[]){
			{ "call mustache.test --template 'Hello {{{name}}}!' --value '{\"name\":\"Ada\"}'",
			  "a template and a value" },
			{ "call mustache.test --template '{{{title}}}' --handle @",
			  "a template and the last session" },
			{ 0 } },
	.run = run_test,
};

static const struct method *const methods[] = { &mustache_list, &get, &set, &test, &render, &reset, NULL };

const struct activation activation_mustache = {
	.name = "mustache",
	.version = "1.0.0",
	.summary = "Templates that turn handles into text",
	.methods = methods,
};
