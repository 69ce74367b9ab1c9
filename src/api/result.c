/*
 * Looking into results, for programs that have no reader of JSON of their own.
 */
#include "api/api.h"

#include "base/json.h"
#include "base/term.h"

static uint32_t item_at(const struct json *j, uint32_t list, struct str number)
{
	uint64_t n;

	if (!str_to_u64(number, &n))
		return JSON_NONE;
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i))
		if (n-- == 0)
			return i;
	return JSON_NONE;
}

static uint32_t find(const struct json *j, struct str path)
{
	uint32_t node = json_root(j);

	while (path.n && node != JSON_NONE) {
		struct str name = str_cut(path, '.', &path);

		node = json_is(j, node, JSON_ARRAY) ? item_at(j, node, name) : json_get(j, node, name);
	}
	return node;
}

static enum status get(struct str json, struct str path, struct json *j, struct arena *mem, struct str *out,
		       struct err *err)
{
	uint32_t node;

	if (json_read(j, json, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	node = find(j, path);
	if (node == JSON_NONE || json_is(j, node, JSON_NULL))
		return err_fail(err, STATUS_NOT_FOUND, "there is no '%.*s'", (int)size_min(path.n, 100),
				path.p);
	*out = json_is(j, node, JSON_STRING) ? json_string_in(j, node, mem) : json_raw(j, node);
	return STATUS_OK;
}

int arbor_json_get(const char *json, size_t json_length, const char *path, char *room, size_t size,
		   size_t *length, struct arbor_error *e)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str found = { 0 };
	enum status status;
	struct err err;

	if (!json || !path || (size && !room))
		status = err_set(&err, STATUS_USAGE, "%s: may not be NULL",
				 !json	 ? "json"
				 : !path ? "path"
					 : "room");
	else
		status = get(str_from(json, json_length), str_of(path), &j, &mem, &found, &err);
	if (status == STATUS_OK)
		status = api_put_text(found, room, size, length, &err);
	return api_end(status, &err, e);
}

int arbor_printable(const char *text, size_t text_length, char *room, size_t size, size_t *length,
		    struct arbor_error *e)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 2);
	struct err err;

	if ((text_length && !text) || (size && !room))
		return api_end(err_set(&err, STATUS_USAGE, "%s: may not be NULL", text ? "room" : "text"),
			       &err, e);
	term_filter(&safe, str_from(text, text_length), TERM_TEXT);
	return api_end(api_put_text(buf_as_str(&safe), room, size, length, &err), &err, e);
}
