/*
 * JSON Schema back into parameters, the inverse of schema.c as far as other programs keep
 * to the same few words. Nothing depends on it being complete: the other hub checks what
 * it gets.
 */
#include "hub/far_method.h"

#include "base/json.h"

#include <string.h>

struct reading {
	const struct json *j;
	struct arena *mem;
};

static const char *text_of(const struct reading *r, uint32_t object, const char *name)
{
	struct str text = json_string_in(r->j, json_get(r->j, object, str_of(name)), r->mem);

	return text.p ? arena_cstr(r->mem, text) : NULL;
}

static bool has_type(const struct reading *r, uint32_t types, const char *wanted)
{
	if (json_string_eq(r->j, types, str_of(wanted)))
		return true;
	if (!json_is(r->j, types, JSON_ARRAY))
		return false;
	for (uint32_t i = json_first(r->j, types); i != json_end(r->j, types); i = json_next(r->j, i))
		if (json_string_eq(r->j, i, str_of(wanted)))
			return true;
	return false;
}

/* ---- Parameters -------------------------------------------------------------------- */

static const char *const *choices_of(const struct reading *r, uint32_t list)
{
	const char **out = arena_alloc(r->mem, (json_count(r->j, list) + 1) * sizeof *out);
	size_t n = 0;

	for (uint32_t i = json_first(r->j, list); i != json_end(r->j, list); i = json_next(r->j, i)) {
		if (!json_is(r->j, i, JSON_STRING))
			return NULL;
		out[n++] = arena_cstr(r->mem, json_string_in(r->j, i, r->mem));
	}
	return n ? out : NULL;
}

static void read_string(const struct reading *r, uint32_t schema, struct param *p)
{
	uint32_t list = json_get(r->j, schema, STR("enum")), format = json_get(r->j, schema, STR("format"));

	p->type = VALUE_TEXT;
	if (json_is(r->j, list, JSON_ARRAY) && (p->choices = choices_of(r, list)))
		p->type = VALUE_ENUM;
	else if (json_string_eq(r->j, format, STR("uuid")))
		p->type = VALUE_ID;
}

static void read_bounds(const struct reading *r, uint32_t schema, struct param *p)
{
	bool least = json_to_i64(r->j, json_get(r->j, schema, STR("minimum")), &p->least),
	     most = json_to_i64(r->j, json_get(r->j, schema, STR("maximum")), &p->most);

	if (!least)
		p->least = most ? INT64_MIN : 0;
	if (!most)
		p->most = least ? INT64_MAX : 0;
}

static void read_type(const struct reading *r, uint32_t schema, struct param *p)
{
	uint32_t types = json_get(r->j, schema, STR("type"));
	bool text = has_type(r, types, "string"), whole = has_type(r, types, "integer");

	p->type = VALUE_JSON;
	if (text && whole)
		p->type = VALUE_BYTES;
	else if (text && has_type(r, types, "object"))
		p->type = VALUE_HANDLE;
	else if (text)
		read_string(r, schema, p);
	else if (whole)
		p->type = VALUE_INT;
	else if (has_type(r, types, "boolean"))
		p->type = VALUE_BOOL;
	else if (has_type(r, types, "object"))
		p->type = VALUE_OBJECT;
	if (whole)
		read_bounds(r, schema, p);
}

static bool is_listed(const struct reading *r, uint32_t list, const char *name)
{
	return json_is(r->j, list, JSON_ARRAY) && has_type(r, list, name);
}

/* `names`: of those that are required. */
static void read_param(const struct reading *r, uint32_t key, uint32_t names, struct param *p)
{
	uint32_t schema = key + 1;
	const char *help = text_of(r, schema, "description");
	bool required;
	int64_t least;

	*p = (struct param){ .name = arena_cstr(r->mem, json_string_in(r->j, key, r->mem)),
			     .help = help ? help : "" };
	required = is_listed(r, names, p->name);
	if (json_string_eq(r->j, json_get(r->j, schema, STR("type")), STR("array"))) {
		p->flags |= PARAM_REST;
		schema = json_get(r->j, schema, STR("items"));
	}
	read_type(r, schema, p);
	if (required)
		p->flags |= PARAM_REQUIRED;
	if (required && p->type == VALUE_TEXT &&
	    (!json_to_i64(r->j, json_get(r->j, schema, STR("minLength")), &least) || least < 1))
		p->flags |= PARAM_EMPTY;
	/* Lists keep texts. */
	if ((p->flags & PARAM_REST) &&
	    (p->type == VALUE_INT || p->type == VALUE_BYTES || p->type == VALUE_BOOL))
		p->type = VALUE_JSON;
}

static struct param *take_word(struct param *list, struct str name)
{
	for (struct param *q = list; q->name; q++)
		if ((q->flags & PARAM_WORD) && str_eq(str_of(q->name), name))
			return q;
	return NULL;
}

/* Many languages keep members of an object in no order, so that of the words is said by `words` alone.
 * Each takes the next place that is a word's. */
static void order_words(const struct reading *r, uint32_t words, struct param *list, size_t count)
{
	struct param *left = arena_alloc(r->mem, (count + 1) * sizeof *left), *place = list, *q;

	if (!json_is(r->j, words, JSON_ARRAY))
		return;
	memcpy(left, list, count * sizeof *left);
	for (uint32_t i = json_first(r->j, words); i != json_end(r->j, words); i = json_next(r->j, i)) {
		if (!(q = take_word(left, json_string_in(r->j, i, r->mem))))
			continue;
		while (!(place->flags & PARAM_WORD))
			place++;
		*place++ = *q;
		q->flags = 0; /* named again it is nothing new */
	}
}

/* In the order in which they are described, but for the words. */
static const struct param *read_params(const struct reading *r, uint32_t method)
{
	uint32_t schema = json_get(r->j, method, STR("params")), words = json_get(r->j, method, STR("words"));
	uint32_t all = json_get(r->j, schema, STR("properties")),
		 required = json_get(r->j, schema, STR("required"));
	struct param *out;
	size_t n = 0;

	if (!json_is(r->j, all, JSON_OBJECT))
		return NULL;
	out = arena_alloc(r->mem, (json_count(r->j, all) + 1) * sizeof *out);
	for (uint32_t k = json_first(r->j, all); k != json_end(r->j, all); k = json_next(r->j, k + 1), n++) {
		read_param(r, k, required, &out[n]);
		if (is_listed(r, words, out[n].name))
			out[n].flags |= PARAM_WORD;
	}
	order_words(r, words, out, n);
	return out;
}

/* ---- Methods ------------------------------------------------------------------------- */

enum status far_method_read(struct str item, struct str name, struct arena *mem, struct method *out,
			    struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct reading r = { .j = &j, .mem = mem };
	uint32_t schema, result;
	int64_t version = 1;
	const char *summary;

	if (json_read(&j, arena_str(mem, item), LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	schema = json_get(&j, 0, STR("schema"));
	result = json_get(&j, schema, STR("result"));
	json_to_i64(&j, json_get(&j, schema, STR("version")), &version);
	summary = text_of(&r, schema, "summary");
	*out = (struct method){
		.name = arena_cstr(mem, name),
		.summary = summary ? summary : "",
		.text = "",
		.params = read_params(&r, schema),
		.kind = json_string_eq(&j, json_get(&j, result, STR("contentEncoding")), STR("base64"))
				? RESULT_RAW
			: json_bool(&j, json_get(&j, schema, STR("streaming"))) ? RESULT_STREAM
										: RESULT_ONE,
		.open = true,
		.version = version > 0 && version < INT16_MAX ? (int)version : 1,
	};
	return STATUS_OK;
}

void far_method_unknown(struct str name, struct arena *mem, struct method *out)
{
	*out = (struct method){
		.name = arena_cstr(mem, name), .summary = "", .text = "", .kind = RESULT_STREAM, .open = true
	};
}
