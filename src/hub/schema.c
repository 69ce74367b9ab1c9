/*
 * Printing schemas. The order is that of the tables, so that the text, and with
 * it hub.hash, is the same at every start.
 */
#include "hub/schema.h"

#include "base/handle.h"

#include <stdio.h>
#include <string.h>

static void put(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, str_of(key));
	json_write_string(w, str_of(value));
}

static void put_choices(struct json_writer *w, const char *const *choices)
{
	json_write_key(w, STR("enum"));
	json_write_array_begin(w);
	for (; choices && *choices; choices++)
		json_write_string(w, str_of(*choices));
	json_write_array_end(w);
}

/* The members that describe a value of this type, inside an open object. */
static void put_type(struct json_writer *w, enum value_type type, const char *const *choices)
{
	switch (type) {
	case VALUE_INT:
	case VALUE_BYTES:
		put(w, "type", "integer");
		break;
	case VALUE_BOOL:
		put(w, "type", "boolean");
		break;
	case VALUE_ENUM:
		put(w, "type", "string");
		put_choices(w, choices);
		break;
	case VALUE_TIME:
		put(w, "type", "string");
		put(w, "format", "date-time");
		break;
	case VALUE_ID:
		put(w, "type", "string");
		put(w, "format", "uuid");
		break;
	case VALUE_HANDLE:
		put(w, "type", "string");
		put(w, "format", "handle");
		break;
	case VALUE_TEXT:
	case VALUE_PATH:
		put(w, "type", "string");
		break;
	case VALUE_OBJECT:
		put(w, "type", "object");
		break;
	case VALUE_JSON:
	case VALUE_TYPES:
		break;
	}
}

static void put_number(struct json_writer *w, const char *key, int64_t value)
{
	json_write_key(w, str_of(key));
	json_write_i64(w, value);
}

static void put_initial(struct json_writer *w, const struct param *p)
{
	bool list = p->flags & PARAM_REST;

	json_write_key(w, STR("default"));
	if (list)
		json_write_array_begin(w);
	if (p->type == VALUE_INT || p->type == VALUE_BYTES || p->type == VALUE_BOOL || p->type == VALUE_JSON)
		json_write_raw(w, str_of(p->initial));
	else
		json_write_string(w, str_of(p->initial));
	if (list)
		json_write_array_end(w);
}

/* A time, a size or a handle may be given in other ways than results have it: 7d, yesterday; 10M;
 * its JSON form. */
static void put_param_type(struct json_writer *w, const struct param *p)
{
	if (p->type == VALUE_BYTES || p->type == VALUE_HANDLE) {
		json_write_key(w, STR("type"));
		json_write_array_begin(w);
		json_write_string(w, p->type == VALUE_BYTES ? STR("integer") : STR("object"));
		json_write_string(w, STR("string"));
		json_write_array_end(w);
		return;
	}
	put_type(w, p->type == VALUE_TIME ? VALUE_TEXT : p->type, p->choices);
}

static bool may_not_be_empty(const struct param *p)
{
	return (p->flags & PARAM_REQUIRED) && !(p->flags & PARAM_EMPTY) &&
	       (p->type == VALUE_TEXT || p->type == VALUE_PATH || p->type == VALUE_TIME);
}

static void put_param(struct json_writer *w, const struct param *p)
{
	bool list = p->flags & PARAM_REST;

	json_write_key(w, str_of(p->name));
	json_write_object_begin(w);
	if (list) {
		put(w, "type", "array");
		json_write_key(w, STR("items"));
		json_write_object_begin(w);
	}
	put_param_type(w, p);
	if (p->least < p->most) {
		put_number(w, "minimum", p->least);
		put_number(w, "maximum", p->most);
	}
	if (may_not_be_empty(p))
		put_number(w, "minLength", 1);
	if (list)
		json_write_object_end(w);
	if (p->initial)
		put_initial(w, p);
	put(w, "description", p->help);
	json_write_object_end(w);
}

void schema_params(struct json_writer *w, const struct method *m)
{
	json_write_object_begin(w);
	put(w, "type", "object");
	json_write_key(w, STR("properties"));
	json_write_object_begin(w);
	for (const struct param *p = m->params; p && p->name; p++)
		put_param(w, p);
	json_write_object_end(w);
	json_write_key(w, STR("required"));
	json_write_array_begin(w);
	for (const struct param *p = m->params; p && p->name; p++)
		if (p->flags & PARAM_REQUIRED)
			json_write_string(w, str_of(p->name));
	json_write_array_end(w);
	json_write_key(w, STR("additionalProperties"));
	json_write_bool(w, false);
	json_write_object_end(w);
}

/* Fields nest only as deep as the tables do, which a test bounds; a list of
 * fields and its object are one level each. */
static void put_fields(struct json_writer *w, const struct field *fields);

static void put_field(struct json_writer *w, const struct field *f)
{
	bool list = f->flags & FIELD_LIST;

	json_write_key(w, str_of(f->name));
	json_write_object_begin(w);
	if (list) {
		put(w, "type", "array");
		json_write_key(w, STR("items"));
		json_write_object_begin(w);
	}
	if (f->type == VALUE_OBJECT && f->fields)
		put_fields(w, f->fields);
	else
		put_type(w, f->type, f->choices);
	if (list)
		json_write_object_end(w);
	put(w, "description", f->help);
	json_write_object_end(w);
}

static void put_fields(struct json_writer *w, const struct field *fields)
{
	put(w, "type", "object");
	json_write_key(w, STR("properties"));
	json_write_object_begin(w);
	for (const struct field *f = fields; f && f->name; f++) {
		char hex[80];

		put_field(w, f);
		if (f->type != VALUE_PATH)
			continue;
		/* see put_path() */
		snprintf(hex, sizeof hex, "%s_hex", f->name);
		put_field(w, &(struct field){ .name = hex,
					      .type = VALUE_TEXT,
					      .help = "its bytes, when they are not UTF-8" });
	}
	json_write_object_end(w);
	json_write_key(w, STR("required"));
	json_write_array_begin(w);
	for (const struct field *f = fields; f && f->name; f++)
		if (!(f->flags & FIELD_OPTIONAL))
			json_write_string(w, str_of(f->name));
	json_write_array_end(w);
}

void schema_result(struct json_writer *w, const struct method *m)
{
	json_write_object_begin(w);
	if (m->kind == RESULT_RAW) {
		put(w, "type", "string");
		put(w, "contentEncoding", "base64");
	} else {
		put_fields(w, m->fields);
	}
	if (m->open) {
		json_write_key(w, STR("additionalProperties"));
		json_write_bool(w, true);
	}
	json_write_object_end(w);
}

/* What stands without a name on a command line, in its order. */
static void put_words(struct json_writer *w, const struct method *m)
{
	json_write_key(w, STR("words"));
	json_write_array_begin(w);
	for (const struct param *p = m->params; p && p->name; p++)
		if (p->flags & PARAM_WORD)
			json_write_string(w, str_of(p->name));
	json_write_array_end(w);
}

static void put_examples(struct json_writer *w, const struct method *m)
{
	json_write_key(w, STR("examples"));
	json_write_array_begin(w);
	for (const struct example *e = m->examples; e && e->line; e++) {
		json_write_object_begin(w);
		put(w, "command", e->line);
		put(w, "what", e->what);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

void schema_method(struct json_writer *w, const struct activation *a, const struct method *m)
{
	char name[128];

	snprintf(name, sizeof name, "%s.%s", a->name, m->name);
	json_write_object_begin(w);
	put(w, "name", name);
	if (m->verb)
		put(w, "verb", m->verb);
	put(w, "summary", m->summary);
	put(w, "scope", scope_name(m->scope));
	put_number(w, "version", method_version(m));
	json_write_key(w, STR("streaming"));
	json_write_bool(w, m->kind != RESULT_ONE);
	json_write_key(w, STR("params"));
	schema_params(w, m);
	put_words(w, m);
	json_write_key(w, STR("result"));
	schema_result(w, m);
	put_examples(w, m);
	json_write_object_end(w);
}

static void put_meta(struct json_writer *w, const struct meta_field *f)
{
	json_write_object_begin(w);
	put(w, "name", f->name);
	put_type(w, VALUE_TEXT, NULL);
	if (f->type == VALUE_ID)
		put(w, "format", "uuid");
	if (f->type == VALUE_INT)
		put(w, "pattern", "^[0-9]+$");
	if (f->type == VALUE_BOOL)
		put_choices(w, (const char *const[]){ "true", "false", NULL });
	json_write_key(w, STR("required"));
	json_write_bool(w, !(f->flags & META_OPTIONAL));
	put(w, "description", f->help);
	json_write_object_end(w);
}

/* The majors whose handles are still resolved, its own first. */
static void put_majors(struct json_writer *w, const struct activation *a)
{
	uint64_t own = 0;

	json_write_key(w, STR("majors"));
	json_write_array_begin(w);
	if (handle_major(str_of(a->version), &own))
		json_write_i64(w, (int64_t)own);
	for (const int *major = a->majors; major && *major >= 0; major++)
		json_write_i64(w, *major);
	json_write_array_end(w);
}

void schema_handle(struct json_writer *w, const struct activation *a, const struct handle_kind *k)
{
	char name[128];

	snprintf(name, sizeof name, "%s::%s", a->name, k->method);
	json_write_object_begin(w);
	put(w, "name", name);
	put(w, "summary", k->summary);
	put(w, "version", a->version);
	put_majors(w, a);
	put(w, "kind", content_kind_name(k->kind));
	json_write_key(w, STR("meta"));
	json_write_array_begin(w);
	for (const struct meta_field *f = k->meta; f->name; f++)
		put_meta(w, f);
	json_write_array_end(w);
	json_write_key(w, STR("data"));
	json_write_object_begin(w);
	put_fields(w, k->fields);
	json_write_object_end(w);
	json_write_object_end(w);
}
