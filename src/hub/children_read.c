/*
 * The setting 'hubs', checked member by member: a mistake here would be a program that is
 * started with something else than was meant.
 */
#include "hub/children.h"

#include "base/json.h"
#include "hub/activations.h"

enum {
	TIMEOUT_MS = 10000,
	LEAST_TIMEOUT_MS = 100,
	MOST_TIMEOUT_MS = 3600000,
	NAME_MOST = 32,
	WORDS_MOST = 100
};

static bool is_hub_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(i && ((c >= '0' && c <= '9') || c == '_' || c == '-')))
			return false;
	}
	return s.n && s.n <= NAME_MOST;
}

static bool is_activation(struct str name)
{
	for (const struct activation *const *a = arbor_hub.activations; *a; a++)
		if (str_eq(name, str_of((*a)->name)))
			return true;
	return false;
}

static enum status check_name(struct str name, struct err *err)
{
	if (!is_hub_name(name))
		return err_fail(
			err, STATUS_FORMAT,
			"'%.*s' cannot be the name of a hub: small letters, digits, '_' and '-', at most %d",
			(int)size_min(name.n, 60), name.p ? name.p : "", NAME_MOST);
	if (is_activation(name))
		return err_fail(err, STATUS_FORMAT,
				"'%.*s' is an activation of arbor itself; the hub needs another name",
				STR_ARG(name));
	return STATUS_OK;
}

/* A text for the system: no NUL. */
static bool text_of(const struct json *j, uint32_t node, struct arena *mem, struct str *out)
{
	*out = json_string_in(j, node, mem);
	return json_is(j, node, JSON_STRING) && !str_has_byte(*out, '\0');
}

static enum status read_command(const struct json *j, uint32_t list, struct arena *mem,
				struct child_setting *s, struct err *err)
{
	uint32_t count = json_is(j, list, JSON_ARRAY) ? json_count(j, list) : 0;
	const char **words;
	struct str text;
	size_t n = 0;

	if (!count || count > WORDS_MOST)
		return err_fail(err, STATUS_FORMAT,
				"'command' is a list of words, the program first; there is no shell");
	words = arena_alloc(mem, (count + 1) * sizeof *words);
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i)) {
		if (!text_of(j, i, mem, &text))
			return err_fail(err, STATUS_FORMAT, "'command': every word is a text");
		words[n++] = arena_cstr(mem, text);
	}
	if (!command_is_name(str_of(words[0])))
		return err_fail(
			err, STATUS_FORMAT,
			"'command': '%.60s' is no name of a program, nor a path that begins with / or ~/",
			words[0]);
	s->command = words;
	return STATUS_OK;
}

/* A value true hands on what our own environment has. */
static enum status read_variables(const struct json *j, uint32_t object, struct arena *mem,
				  struct child_setting *s, struct err *err)
{
	if (!json_is(j, object, JSON_OBJECT))
		return err_fail(err, STATUS_FORMAT, "'env' is an object: names, and texts or true");
	s->variables = arena_alloc(mem, (json_count(j, object) + 1) * sizeof *s->variables);
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		struct variable *v = &s->variables[s->variable_count++];

		v->name = arena_str(mem, json_string_in(j, k, mem));
		if (!variable_is_name(v->name))
			return err_fail(err, STATUS_FORMAT, "'env': '%.*s' is no name of a variable",
					(int)size_min(v->name.n, 60), v->name.p);
		if (json_is(j, k + 1, JSON_TRUE))
			continue;
		if (!text_of(j, k + 1, mem, &v->value))
			return err_fail(err, STATUS_FORMAT,
					"'env': '%.*s' is a text, or true to hand on your own",
					(int)size_min(v->name.n, 60), v->name.p);
		v->value = arena_str(mem, v->value);
	}
	return STATUS_OK;
}

static enum status read_timeout(const struct json *j, uint32_t node, struct child_setting *s, struct err *err)
{
	if (!json_to_i64(j, node, &s->timeout_ms) || s->timeout_ms < LEAST_TIMEOUT_MS ||
	    s->timeout_ms > MOST_TIMEOUT_MS)
		return err_fail(err, STATUS_FORMAT, "'timeout_ms' is a whole number from %d to %d",
				LEAST_TIMEOUT_MS, MOST_TIMEOUT_MS);
	return STATUS_OK;
}

static enum status read_member(const struct json *j, uint32_t key, struct arena *mem, struct child_setting *s,
			       struct err *err)
{
	struct str name = json_string_in(j, key, mem);

	if (str_eq(name, STR("command")))
		return read_command(j, key + 1, mem, s, err);
	if (str_eq(name, STR("env")))
		return read_variables(j, key + 1, mem, s, err);
	if (str_eq(name, STR("timeout_ms")))
		return read_timeout(j, key + 1, s, err);
	return err_fail(err, STATUS_FORMAT, "'%.*s' is none of command, env, timeout_ms",
			(int)size_min(name.n, 60), name.p ? name.p : "");
}

static enum status read_child(const struct json *j, uint32_t object, struct arena *mem,
			      struct child_setting *s, struct err *err)
{
	s->timeout_ms = TIMEOUT_MS;
	if (!json_is(j, object, JSON_OBJECT))
		return err_fail(err, STATUS_FORMAT, "is an object with 'command'");
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1))
		if (read_member(j, k, mem, s, err))
			return err_failed(err->status);
	if (!s->command)
		return err_fail(err, STATUS_FORMAT, "'command' is missing");
	return STATUS_OK;
}

enum status children_read(struct str text, struct arena *mem, struct child_setting **out, size_t *count,
			  struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct child_setting *list;
	size_t n = 0;

	if (json_read(&j, arena_str(mem, text), LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (!json_is(&j, json_root(&j), JSON_OBJECT))
		return err_fail(err, STATUS_FORMAT, "hubs are an object such as " CHILDREN_EXAMPLE);
	if (json_count(&j, 0) > LIMIT_HUBS)
		return err_fail(err, STATUS_LIMIT, "more than %d hubs", LIMIT_HUBS);
	list = arena_alloc(mem, (json_count(&j, 0) + 1) * sizeof *list);
	for (uint32_t k = json_first(&j, 0); k != json_end(&j, 0); k = json_next(&j, k + 1)) {
		struct str name = json_string_in(&j, k, mem);

		if (check_name(name, err))
			return err_failed(err->status);
		list[n].name = arena_cstr(mem, name);
		for (size_t i = 0; i < n; i++)
			if (str_eq(name, str_of(list[i].name)))
				return err_fail(err, STATUS_FORMAT, "'%s' is there twice", list[i].name);
		if (read_child(&j, k + 1, mem, &list[n], err))
			return err_pass(err, "%s", list[n].name);
		n++;
	}
	*out = list;
	*count = n;
	return STATUS_OK;
}
