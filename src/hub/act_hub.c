/*
 * hub.*: the table describes itself.
 */
#include "hub/activations.h"

#include "hub/hub.h"
#include "hub/schema.h"

#include <stdio.h>

static const struct field method_fields[] = {
	{ .name = "name", .type = VALUE_TEXT, .help = "activation and method" },
	{ .name = "summary", .type = VALUE_TEXT, .help = "what it does" },
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
	put_text(w, "summary", str_of(m->summary));
	put_text(w, "scope", str_of(scope_name(m->scope)));
	put_bool(w, "streaming", m->kind != RESULT_ONE);
	return call_emit(c, err);
}

static enum status run_methods(struct call *c, struct err *err)
{
	return each_method(c, emit_method, err);
}

static const struct method methods_method = {
	.name = "methods",
	.summary = "List everything that can be called",
	.text = "",
	.kind = RESULT_STREAM,
	.fields = method_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.methods", "every method, a line each" }, { 0 } },
	.run = run_methods,
};

static const struct field schema_fields[] = {
	{ .name = "name", .type = VALUE_TEXT, .help = "activation and method" },
	{ .name = "schema",
	  .type = VALUE_JSON,
	  .help = "its parameters and results as JSON Schema (2020-12)" },
	{ 0 },
};

static enum status emit_schema(struct call *c, const struct activation *a, const struct method *m,
			       struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_text(w, "name", arena_printf(&c->mem, "%s.%s", a->name, m->name));
	json_write_key(w, STR("schema"));
	schema_method(w, a, m);
	return call_emit(c, err);
}

static enum status run_schema(struct call *c, struct err *err)
{
	return each_method(c, emit_schema, err);
}

static const struct method schema = {
	.name = "schema",
	.summary = "Describe every method's parameters and results",
	.text = "",
	.kind = RESULT_STREAM,
	.fields = schema_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.schema", "JSON Schema of everything" }, { 0 } },
	.run = run_schema,
};

static const struct field hash_fields[] = {
	{ .name = "hash", .type = VALUE_TEXT, .help = "SHA-256 over all schemas" },
	{ 0 },
};

static enum status run_hash(struct call *c, struct err *err)
{
	char hash[HUB_HASH_TEXT + 1];

	if (hub_hash(c->hub, hash, err))
		return err_failed(err->status);
	put_text(call_begin(c), "hash", str_of(hash));
	return call_emit(c, err);
}

static const struct method hash = {
	.name = "hash",
	.summary = "Name this set of methods, the same at every start",
	.text = "",
	.kind = RESULT_ONE,
	.fields = hash_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.hash", "changes when any method does" }, { 0 } },
	.run = run_hash,
};

static const struct method *const methods[] = { &methods_method, &schema, &hash, NULL };

const struct activation activation_hub = { "hub", "1.0.0", "What can be called, described by itself",
					   methods };

static const struct activation *const activations[] = {
	&activation_memory, &activation_storage,
	&activation_arbor,
	&activation_hub,
	NULL,
};

const struct hub arbor_hub = { activations };
