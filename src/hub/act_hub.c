/*
 * hub.*: the table describes itself.
 */
#include "hub/activations.h"

#include "hub/hub.h"
#include "hub/hub_children.h"
#include "hub/hub_resolve.h"
#include "hub/schema.h"

static const struct field method_fields[] = {
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "activation and method" },
	{ .name = "verb",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "what it is called on the command line" },
	{ .name = "summary", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what it does" },
	{ .name = "scope",
	  .type = VALUE_TEXT,
	  .help = "what a caller must be allowed: read, write, drive, approve" },
	{ .name = "streaming", .type = VALUE_BOOL, .help = "whether it gives several results" },
	{ 0 },
};

/* Calls `fn` for every method of the hub. */
static enum status each_method(struct call *c,
			       enum status (*fn)(struct call *, const struct activation *,
						 const struct method *, struct err *),
			       struct err *err)
{
	for (const struct activation *const *a = c->hub->activations; *a; a++)
		for (const struct method *const *m = (*a)->methods; *m; m++)
			if (fn(c, *a, *m, err))
				return err_failed(err->status);
	return STATUS_OK;
}

static enum status emit_method(struct call *c, const struct activation *a, const struct method *m,
			       struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_text(w, "name", arena_printf(&c->mem, "%s.%s", a->name, m->name));
	if (m->verb)
		put_text(w, "verb", str_of(m->verb));
	put_text(w, "summary", str_of(m->summary));
	put_text(w, "scope", str_of(scope_name(m->scope)));
	put_bool(w, "streaming", m->kind != RESULT_ONE);
	return call_emit(c, err);
}

/* The same of a child's, out of what it describes. */
static enum status emit_far_method(struct call *c, const struct far_schema *f, struct err *err)
{
	struct json_writer *w;

	if (f->is_handle)
		return STATUS_OK;
	w = call_begin(c);
	put_text(w, "name", f->name);
	put_text(w, "summary", f->summary);
	put_text(w, "scope", f->scope);
	put_bool(w, "streaming", f->streaming);
	return call_emit(c, err);
}

static enum status run_methods(struct call *c, struct err *err)
{
	if (each_method(c, emit_method, err))
		return err_failed(err->status);
	return call_flag(c, "own") ? STATUS_OK : each_far_schema(c, emit_far_method, err);
}

#define OWN_PARAM \
	{ .name = "own", .type = VALUE_BOOL, .help = "only what this hub has itself; no other one is started" }

static const struct param methods_params[] = { OWN_PARAM, { 0 } };

static const struct method methods_method = {
	.name = "methods",
	.summary = "List everything that can be called",
	.text = "Every method of every activation, and of the hubs that the settings name; of one that cannot be "
		"reached, that is said. 'hub.schema' has what each takes and gives.\n",
	.params = methods_params,
	.kind = RESULT_STREAM,
	.fields = method_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.methods", "every method, a line each" }, { 0 } },
	.run = run_methods,
};

static const char *const schema_types[] = { "method", "handle", NULL };

static const struct field schema_fields[] = {
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .help = "activation and method: 'memory.show'; of a handle 'storage::file'" },
	{ .name = "type", .type = VALUE_ENUM, .choices = schema_types, .help = "what is described" },
	{ .name = "schema",
	  .type = VALUE_JSON,
	  .help = "parameters and results of a method, meta and data of a handle, as JSON Schema (2020-12)" },
	{ .name = "plugin_id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "names its activation in handles, the same for all versions of a major" },
	{ 0 },
};

/* Whether it is wanted: all are, or this one. */
static bool is_wanted(struct call *c, struct str name)
{
	struct str wanted = call_text(c, "method");

	return !wanted.p || str_eq(wanted, name);
}

static enum status emit_schema(struct call *c, const struct activation *a, const struct method *m,
			       struct err *err)
{
	struct str name = arena_printf(&c->mem, "%s.%s", a->name, m->name);
	struct uuid id = activation_id(a);
	struct json_writer *w;

	if (!is_wanted(c, name))
		return STATUS_OK;
	w = call_begin(c);
	put_text(w, "name", name);
	put_text(w, "type", STR("method"));
	json_write_key(w, STR("schema"));
	schema_method(w, a, m);
	put_uuid(w, "plugin_id", &id);
	return call_emit(c, err);
}

static enum status emit_handle(struct call *c, const struct activation *a, const struct handle_kind *k, struct err *err)
{
	struct str name = arena_printf(&c->mem, "%s::%s", a->name, k->method);
	struct uuid id = activation_id(a);
	struct json_writer *w;

	if (!is_wanted(c, name))
		return STATUS_OK;
	w = call_begin(c);
	put_text(w, "name", name);
	put_text(w, "type", STR("handle"));
	json_write_key(w, STR("schema"));
	schema_handle(w, a, k);
	put_uuid(w, "plugin_id", &id);
	return call_emit(c, err);
}

static enum status emit_far_schema(struct call *c, const struct far_schema *f, struct err *err)
{
	put_far_schema(call_begin(c), f);
	return call_emit(c, err);
}

static enum status run_schema(struct call *c, struct err *err)
{
	if (each_method(c, emit_schema, err))
		return err_failed(err->status);
	for (const struct activation *const *a = c->hub->activations; *a; a++)
		for (const struct handle_kind *k = (*a)->handles; k && k->method; k++)
			if (emit_handle(c, *a, k, err))
				return err_failed(err->status);
	return call_flag(c, "own") ? STATUS_OK : each_far_schema(c, emit_far_schema, err);
}

static const struct param describe_params[] = {
	{ .name = "method",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .names = "hub.methods",
	  .help = "only this one" },
	OWN_PARAM,
	{ 0 },
};

static const struct method schema = {
	.name = "schema",
	.summary = "Describe every method and every kind of handle",
	.text = "As JSON Schema (2020-12), in the order of the tables: first what can be called, then what can be "
		"resolved; then the same of the hubs that the settings name.\n",
	.params = describe_params,
	.kind = RESULT_STREAM,
	.fields = schema_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.schema", "JSON Schema of everything" }, { 0 } },
	.run = run_schema,
};

static const struct field hash_fields[] = {
	{ .name = "hash", .type = VALUE_TEXT, .help = "SHA-256 over all schemas of this hub itself" },
	{ .name = "hubs",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_OPTIONAL | FIELD_LIST,
	  .fields = far_hash_fields,
	  .help = "the same of each hub that the settings name" },
	{ 0 },
};

static const struct param hash_params[] = { OWN_PARAM, { 0 } };

static enum status run_hash(struct call *c, struct err *err)
{
	char hash[HUB_HASH_TEXT + 1];

	if (hub_hash(c->hub, hash, err))
		return err_failed(err->status);
	put_text(call_begin(c), "hash", str_of(hash));
	if (!call_flag(c, "own") && put_far_hashes(c, &c->writer, err))
		return err_failed(err->status);
	return call_emit(c, err);
}

static const struct method hash = {
	.name = "hash",
	.summary = "Name this set of methods, the same at every start",
	.text = "A client that keeps schemas knows by it whether they are still right. The hash is of this hub's own; "
		"what other hubs give has hashes of its own beside it, and one that cannot be reached has none.\n",
	.params = hash_params,
	.kind = RESULT_ONE,
	.fields = hash_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.hash", "changes when any method does" }, { 0 } },
	.run = run_hash,
};

/* ---- hub.call --------------------------------------------------------------- */

static const struct param call_params[] = {
	{ .name = "method", .type = VALUE_TEXT, .flags = PARAM_REQUIRED, .help = "activation and method" },
	{ .name = "params", .type = VALUE_OBJECT, .initial = "{}", .help = "its parameters" },
	{ 0 },
};

static const struct field call_fields[] = {
	{ .name = "item", .type = VALUE_JSON, .help = "a result, as the method's schema describes it" },
	{ 0 },
};

/* A result of the called method becomes one of hub.call. */
static enum status pass_item(void *ctx, struct str json, struct err *err)
{
	struct json_writer *w = call_begin(ctx);

	json_write_key(w, STR("item"));
	json_write_raw(w, json);
	return call_emit(ctx, err);
}

static void pass_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	struct call *c = ctx;

	if (c->sink.progress)
		c->sink.progress(c->sink.ctx, what, done, total);
}

static void pass_note(void *ctx, struct str text)
{
	struct call *c = ctx;

	if (c->sink.note)
		c->sink.note(c->sink.ctx, text);
}

static enum status run_call(struct call *c, struct err *err)
{
	struct hub_caller who = *c->who;
	const struct activation *a = NULL;
	const struct method *m = NULL;
	struct str rest;
	size_t which;

	if (!children_find(who.children, call_text(c, "method"), &which, &rest) &&
	    hub_find(c->hub, call_text(c, "method"), &a, &m, err))
		return err_failed(err->status);
	if (m == c->method)
		return err_fail(err, STATUS_USAGE, "method: a call does not call itself");
	if (m && m->kind == RESULT_RAW)
		return err_fail(err, STATUS_USAGE, "method: %s.%s gives bytes and not JSON; call it directly",
				a->name, m->name);
	who.sink = (struct sink){ .item = pass_item, .progress = pass_progress, .note = pass_note, .ctx = c };
	return hub_call(c->hub, call_text(c, "method"), call_text(c, "params"), &who, err);
}

static const struct method call_method = {
	.name = "call",
	.summary = "Call any method by its name",
	.text = "Gives the results of the called method, each wrapped as 'item'. The caller needs the scope "
		"of "
		"the called method.\n",
	.params = call_params,
	.kind = RESULT_STREAM,
	.fields = call_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.call --method hub.hash", "the same as hub.hash" },
					      { 0 } },
	.run = run_call,
};

static const struct method *const methods[] = {
	&methods_method,   &schema,	       &hash,	  &call_method, &hub_resolve_method,
	&hub_resolve_many, &hub_render_method, &hub_info, &hub_hubs,    NULL,
};

const struct activation activation_hub = {
	.name = "hub",
	.version = "1.0.0",
	.summary = "What can be called, described by itself",
	.methods = methods,
};

static const struct activation *const activations[] = {
	&activation_memory,   &activation_storage, &activation_arbor, &activation_claudecode,
	&activation_loopback, &activation_mustache, &activation_hub,	   NULL,
};

const struct hub arbor_hub = { activations };
