/*
 * Parameters, from text or from JSON, into values.
 *
 * Text is what people type; JSON is what programs send. Both end in the same
 * checks. A switch given as text without a value is true.
 */
#include "hub/params.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/near.h"
#include "base/when.h"
#include "hub/settings.h"

#include <string.h>

void params_begin(struct params *p, const struct method *m, struct arena *mem)
{
	size_t n = 0;

	while (m->params && m->params[n].name)
		n++;
	*p = (struct params){ .method = m,
			      .values = arena_alloc(mem, (n + 1) * sizeof *p->values),
			      .mem = mem };
}

static bool same_name(struct str given, const char *name)
{
	size_t n = strlen(name);

	if (given.n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((given.p[i] == '-' ? '_' : given.p[i]) != name[i])
			return false;
	return true;
}

const struct param *params_find(const struct params *p, struct str name)
{
	for (const struct param *q = p->method->params; q && q->name; q++)
		if (same_name(name, q->name))
			return q;
	return NULL;
}

enum status params_unknown(const struct params *p, struct str name, struct err *err)
{
	struct near near = near_begin(name);

	for (const struct param *q = p->method->params; q && q->name; q++)
		near_try(&near, q->name);
	return err_fail(err, STATUS_USAGE, "%s has no parameter '%.*s'%s%s%s", p->method->name,
			(int)size_min(name.n, 60), name.p, near.best ? "; did you mean '" : "",
			near.best ? near.best : "", near.best ? "'?" : "");
}

/* Puts what the parameter is called in front of what is wrong with its value. A word that is a
 * choice is called by its choices, which are told already. */
static enum status about(const struct params *p, const struct param *q, struct err *err)
{
	char typed[PARAM_TYPED];

	if (p->typed && q->type == VALUE_ENUM && (q->flags & PARAM_WORD) && !q->shown)
		return err_failed(err->status);
	return err_pass(err, "%s", p->typed ? param_typed(q, typed) : q->name);
}

/* ---- One value from text; about() completes the errors ---------------------- */

static enum status wrong(struct str text, const char *wanted, struct err *err)
{
	return err_fail(err, STATUS_USAGE, "'%.*s' is not %s", (int)size_min(text.n, 60), text.p ? text.p : "",
			wanted);
}

static enum status set_number(const struct param *q, struct value *v, struct str text, struct err *err)
{
	int64_t number;

	if (q->type == VALUE_BYTES && !str_to_bytes(text, &number))
		return wrong(text, BYTES_EXAMPLES, err);
	if (q->type == VALUE_INT && !str_to_i64(text, &number))
		return wrong(text, "a whole number", err);
	if (q->least < q->most && q->most == INT64_MAX && number < q->least)
		return err_fail(err, STATUS_USAGE, "%" PRId64 " is less than %" PRId64, number, q->least);
	if (q->least == INT64_MIN && number > q->most)
		return err_fail(err, STATUS_USAGE, "%" PRId64 " is more than %" PRId64, number, q->most);
	if (q->least < q->most && (number < q->least || number > q->most))
		return err_fail(err, STATUS_USAGE, "%" PRId64 " is not between %" PRId64 " and %" PRId64, number,
				q->least, q->most);
	v->number = number;
	return STATUS_OK;
}

static enum status set_bool(struct value *v, struct str text, struct err *err)
{
	if (!text.p || str_eq(text, STR("true")) || str_eq(text, STR("yes")) || str_eq(text, STR("1")))
		v->number = 1;
	else if (str_eq(text, STR("false")) || str_eq(text, STR("no")) || str_eq(text, STR("0")))
		v->number = 0;
	else
		return wrong(text, "true or false", err);
	return STATUS_OK;
}

static enum status set_enum(const struct param *q, struct value *v, struct str text, struct err *err)
{
	struct buf list CLEANUP(buf_release) = BUF_INIT(KIB);
	struct near near = near_begin(text);

	if (!text.p && (q->flags & PARAM_BARE))
		text = str_of(q->choices[0]);
	for (const char *const *c = q->choices; *c; c++) {
		if (str_eq(text, str_of(*c))) {
			v->text = str_of(*c);
			return STATUS_OK;
		}
		near_try(&near, *c);
		buf_printf(&list, "%s%s", list.n ? ", " : "", *c);
	}
	if (!q->choices[1])
		return err_fail(err, STATUS_USAGE, "'%.*s' is not there; there is only '%s'", (int)size_min(text.n, 60),
				text.p ? text.p : "", q->choices[0]);
	return err_fail(err, STATUS_USAGE, "'%.*s' is none of %s%s%s%s", (int)size_min(text.n, 60),
			text.p ? text.p : "", list.p ? list.p : "", near.best ? "; did you mean '" : "",
			near.best ? near.best : "", near.best ? "'?" : "");
}

static enum status check_json(struct str text, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;

	return json_read(&j, text, LIMIT_JSON_DEPTH, err);
}

enum status param_from_text(const struct param *q, struct str text, struct arena *mem, struct value *v,
			    struct err *err)
{
	struct clock clock = clock_system();
	struct uuid id;

	switch (q->type) {
	case VALUE_INT:
	case VALUE_BYTES:
		return set_number(q, v, text, err);
	case VALUE_BOOL:
		return set_bool(v, text, err);
	case VALUE_ENUM:
		return set_enum(q, v, text, err);
	case VALUE_TIME:
		if (!when_parse(text, clock_now(&clock), &v->number))
			return wrong(text, WHEN_EXAMPLES, err);
		break;
	case VALUE_ID:
		if (!uuid_parse(text, &id))
			return wrong(text, "an id", err);
		break;
	case VALUE_JSON:
	case VALUE_OBJECT:
		if (check_json(text, err))
			return err_failed(err->status);
		break;
	case VALUE_TEXT:
	case VALUE_PATH:
	case VALUE_HANDLE:
	case VALUE_TYPES:
		break;
	}
	if (!text.n && (q->flags & PARAM_REQUIRED) && !(q->flags & PARAM_EMPTY))
		return err_fail(err, STATUS_USAGE, "may not be empty");
	v->text = arena_str(mem, text);
	return STATUS_OK;
}

static void add_to_list(struct params *p, struct value *v, struct str text)
{
	/* Room doubles at powers of two. */
	if ((v->count & (v->count - 1)) == 0) {
		struct str *bigger = arena_alloc(p->mem, (v->count ? v->count * 2 : 1) * sizeof *bigger);

		if (v->count)
			memcpy(bigger, v->list, v->count * sizeof *bigger);
		v->list = bigger;
	}
	v->list[v->count++] = text;
}

static enum status set_one(struct params *p, const struct param *q, struct str text, struct err *err)
{
	struct value *v = &p->values[q - p->method->params];

	if (v->given && !(q->flags & PARAM_REST)) {
		err_set(err, STATUS_USAGE, "given twice, and only one can be taken");
		return about(p, q, err);
	}
	if (param_from_text(q, text, p->mem, v, err))
		return about(p, q, err);
	v->given = true;
	if (q->flags & PARAM_REST)
		add_to_list(p, v, v->text);
	return STATUS_OK;
}

enum status params_set_text(struct params *p, const struct param *q, struct str text, struct err *err)
{
	/* No choice has a comma in it, so people may part several by one. */
	bool parted = p->typed && q->type == VALUE_ENUM && (q->flags & PARAM_REST);

	while (parted && str_has_byte(text, ','))
		if (set_one(p, q, str_cut(text, ',', &text), err))
			return err_failed(err->status);
	return set_one(p, q, text, err);
}

void params_unset(struct params *p, const struct param *q)
{
	p->values[q - p->method->params] = (struct value){ 0 };
}

const struct value *params_value(const struct params *p, const struct param *q)
{
	return &p->values[q - p->method->params];
}

/* ---- From JSON ------------------------------------------------------------- */

static bool fits(const struct param *q, enum json_kind kind)
{
	switch (q->type) {
	case VALUE_INT:
		return kind == JSON_NUMBER;
	case VALUE_BYTES:
		return kind == JSON_NUMBER || kind == JSON_STRING;
	case VALUE_BOOL:
		return kind == JSON_TRUE || kind == JSON_FALSE;
	case VALUE_OBJECT:
		return kind == JSON_OBJECT;
	case VALUE_HANDLE:
		return kind == JSON_STRING || kind == JSON_OBJECT;
	case VALUE_JSON:
		return true;
	case VALUE_TEXT:
	case VALUE_ENUM:
	case VALUE_TIME:
	case VALUE_ID:
	case VALUE_PATH:
	case VALUE_TYPES:
		break;
	}
	return kind == JSON_STRING;
}

/* The text that param_from_text() would take for this value. */
static enum status node_text(const struct param *q, const struct json *j, uint32_t node, struct arena *mem,
			     struct str *text, struct err *err)
{
	enum json_kind kind = json_kind(j, node);

	if (!fits(q, kind))
		return err_fail(err, STATUS_USAGE, "wants %s, not %.*s", value_type_name(q->type),
				(int)size_min(json_raw(j, node).n, 40), json_raw(j, node).p);
	*text = kind == JSON_STRING && q->type != VALUE_JSON ? json_string_in(j, node, mem) : json_raw(j, node);
	return STATUS_OK;
}

enum status param_from_json(const struct param *q, const struct json *j, uint32_t node, struct arena *mem,
			    struct value *v, struct err *err)
{
	struct str text;

	if (node_text(q, j, node, mem, &text, err))
		return err_failed(err->status);
	return param_from_text(q, text, mem, v, err);
}

static enum status set_node(struct params *p, const struct param *q, const struct json *j, uint32_t node,
			    struct err *err)
{
	struct str text;

	if (node_text(q, j, node, p->mem, &text, err))
		return about(p, q, err);
	return params_set_text(p, q, text, err);
}

static enum status set_member(struct params *p, const struct json *j, uint32_t key, struct err *err)
{
	struct str name = json_string_in(j, key, p->mem);
	const struct param *q = params_find(p, name);
	uint32_t value = key + 1;

	if (!q)
		return params_unknown(p, name, err);
	if (json_is(j, value, JSON_NULL) && q->type != VALUE_JSON)
		return STATUS_OK; /* as if left out */
	if (!(q->flags & PARAM_REST))
		return set_node(p, q, j, value, err);
	if (!json_is(j, value, JSON_ARRAY))
		return err_fail(err, STATUS_USAGE, "%s: wants a list", q->name);
	for (uint32_t i = json_first(j, value); i != json_end(j, value); i = json_next(j, i))
		if (set_node(p, q, j, i, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status params_set_json(struct params *p, struct str json, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	/* Strings are borrowed from the text, so it has to live as long as they do. */
	struct str text = arena_str(p->mem, json);
	uint32_t root;

	if (json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_pass(err, "parameters");
	root = json_root(&j);
	if (!json_is(&j, root, JSON_OBJECT))
		return err_fail(err, STATUS_USAGE, "parameters: wants a JSON object");
	for (uint32_t k = json_first(&j, root); k != json_end(&j, root); k = json_next(&j, k + 1))
		if (set_member(p, &j, k, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static void write_value(struct json_writer *w, const struct param *q, const struct value *v, struct str text)
{
	switch (q->type) {
	case VALUE_INT:
	case VALUE_BYTES:
		json_write_i64(w, v->number);
		break;
	case VALUE_BOOL:
		json_write_bool(w, v->number != 0);
		break;
	case VALUE_JSON:
	case VALUE_OBJECT:
		json_write_raw(w, text);
		break;
	case VALUE_TEXT:
	case VALUE_ENUM:
	case VALUE_TIME:
	case VALUE_ID:
	case VALUE_PATH:
	case VALUE_HANDLE:
	case VALUE_TYPES:
		json_write_string(w, text);
		break;
	}
}

enum status params_to_json(const struct params *p, struct buf *out, struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	for (const struct param *q = p->method->params; q && q->name; q++) {
		const struct value *v = params_value(p, q);

		if (!v->given)
			continue;
		json_write_key(&w, str_of(q->name));
		if (!(q->flags & PARAM_REST)) {
			write_value(&w, q, v, v->text);
			continue;
		}
		json_write_array_begin(&w);
		for (size_t i = 0; i < v->count; i++)
			write_value(&w, q, v, v->list[i]);
		json_write_array_end(&w);
	}
	json_write_object_end(&w);
	return json_write_done(&w, err);
}

enum status params_end(struct params *p, struct err *err)
{
	for (const struct param *q = p->method->params; q && q->name; q++) {
		struct value *v = &p->values[q - p->method->params];

		if (v->given)
			continue;
		if (q->setting && settings_value(p->settings, q->setting, q->type, v))
			continue;
		if (q->flags & PARAM_REQUIRED) {
			err_set(err, STATUS_USAGE, "missing%s%s", *q->help ? "; " : "", q->help);
			return about(p, q, err);
		}
		if (q->initial && params_set_text(p, q, str_of(q->initial), err))
			return err_failed(err->status);
		v->given = false;
	}
	return STATUS_OK;
}
