/*
 * Handles read in any form and written in one. Which thing a handle stands for is the hub's affair.
 */
#include "api/api.h"

#include "base/handle.h"

static enum status write_json(const struct handle *h, struct buf *out, struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	handle_write(h, &w);
	return json_write_done(&w, err);
}

static int rewrite(const char *handle, bool json, char *room, size_t size, size_t *length,
		   struct arbor_error *e)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_HANDLE_TEXT);
	enum status status;
	struct handle h;
	struct err err;

	if (!handle || (size && !room))
		return api_end(err_set(&err, STATUS_USAGE, "%s: may not be NULL", handle ? "room" : "handle"),
			       &err, e);
	status = handle_parse(str_of(handle), &mem, &h, &err);
	if (status == STATUS_OK && json)
		status = write_json(&h, &text, &err);
	else if (status == STATUS_OK)
		handle_print(&h, &text);
	if (status == STATUS_OK)
		status = api_put_text(buf_as_str(&text), room, size, length, &err);
	return api_end(status, &err, e);
}

int arbor_handle_text(const char *handle, char *room, size_t size, size_t *length, struct arbor_error *e)
{
	return rewrite(handle, false, room, size, length, e);
}

int arbor_handle_json(const char *handle, char *room, size_t size, size_t *length, struct arbor_error *e)
{
	return rewrite(handle, true, room, size, length, e);
}
