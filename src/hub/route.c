/*
 * Reading and writing routes.
 */
#include "hub/route.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "hub/settings.h"

#include <sys/utsname.h>

bool scope_parse(struct str name, unsigned *scopes)
{
	for (int s = 0; s < SCOPES; s++)
		if (s != SCOPE_LOCAL && str_eq(name, str_of(scope_name((enum scope)s)))) {
			*scopes |= 1u << s;
			return true;
		}
	return false;
}

static enum status wrong(const char *what, struct err *err)
{
	return err_fail(err, STATUS_USAGE, "route: %s", what);
}

static enum status read_via(const struct json *j, uint32_t list, struct arena *mem, struct route *r,
			    struct err *err)
{
	if (list == JSON_NONE)
		return STATUS_OK;
	if (!json_is(j, list, JSON_ARRAY))
		return wrong("'via' is a list of texts", err);
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i)) {
		struct str id = json_string_in(j, i, mem);

		if (!id.n || id.n > UUID_TEXT)
			return wrong("'via' is a list of ids", err);
		if (r->count == LIMIT_HUB_HOPS)
			return err_fail(err, STATUS_LIMIT, "route: it has been at more than %d hubs",
					LIMIT_HUB_HOPS);
		r->via[r->count++] = arena_str(mem, id);
	}
	return STATUS_OK;
}

/* Scopes that nobody knows give nothing. */
static enum status read_scopes(const struct json *j, uint32_t list, struct arena *mem, unsigned *scopes,
			       struct err *err)
{
	if (list == JSON_NONE)
		return STATUS_OK;
	if (!json_is(j, list, JSON_ARRAY))
		return wrong("'scopes' is a list of texts", err);
	*scopes = 0;
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i))
		scope_parse(json_string_in(j, i, mem), scopes);
	return STATUS_OK;
}

enum status route_read(const struct json *j, uint32_t node, struct arena *mem, struct route_told *out,
		       struct err *err)
{
	uint32_t timeout = json_get(j, node, STR("timeout_ms"));

	*out = (struct route_told){ .scopes = ~0u };
	if (timeout != JSON_NONE && (!json_to_i64(j, timeout, &out->timeout_ms) || out->timeout_ms < 1))
		return wrong("'timeout_ms' is a whole number from 1 on", err);
	if (out->timeout_ms > INT32_MAX)
		out->timeout_ms = INT32_MAX;
	out->route.shallow = json_bool(j, json_get(j, node, STR("shallow")));
	if (read_via(j, json_get(j, node, STR("via")), mem, &out->route, err))
		return err_failed(err->status);
	return read_scopes(j, json_get(j, node, STR("scopes")), mem, &out->scopes, err);
}

static void write_via(struct json_writer *w, const struct route *r, struct str own)
{
	json_write_key(w, STR("via"));
	json_write_array_begin(w);
	for (size_t i = 0; r && i < r->count; i++)
		json_write_string(w, r->via[i]);
	if (own.n)
		json_write_string(w, own);
	json_write_array_end(w);
}

static void write_scopes(struct json_writer *w, unsigned scopes)
{
	json_write_key(w, STR("scopes"));
	json_write_array_begin(w);
	for (int s = 0; s < SCOPES; s++)
		if (s != SCOPE_LOCAL && (scopes & 1u << s))
			json_write_string(w, str_of(scope_name((enum scope)s)));
	json_write_array_end(w);
}

void route_write(struct buf *out, const struct hub_caller *who, struct str own, int64_t deadline_ns,
		 bool shallow)
{
	int64_t left = (deadline_ns - clock_monotonic_ns()) / 1000000;
	struct json_writer w;

	left -= left / 10;
	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	write_via(&w, who->route, own);
	if (deadline_ns)
		put_int(&w, "timeout_ms", left > 1 ? left : 1);
	write_scopes(&w, who->scopes);
	if (shallow)
		put_bool(&w, "shallow", true);
	json_write_object_end(&w);
}

bool route_has(const struct route *r, struct str id)
{
	for (size_t i = 0; r && i < r->count; i++)
		if (str_eq(r->via[i], id))
			return true;
	return false;
}

bool route_is_full(const struct route *r)
{
	return r && r->count == LIMIT_HUB_HOPS;
}

/* ---- Who we are ---------------------------------------------------------------------- */

static struct uuid id_without_store(const struct call *c)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_PATH);
	struct utsname machine;

	buf_text(&text, "arbor hub ");
	if (uname(&machine) == 0)
		buf_text(&text, machine.nodename);
	buf_byte(&text, ' ');
	if (c->settings && c->settings->user_file)
		buf_text(&text, c->settings->user_file);
	return uuid_v5(&uuid_ns_oid, buf_as_str(&text));
}

void hub_own_id_without_store(const struct call *c, char out[UUID_TEXT + 1])
{
	struct uuid id = id_without_store(c);

	uuid_print(&id, out);
}

enum status hub_own_id(struct call *c, char out[UUID_TEXT + 1], struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	struct uuid id;
	enum status status = STATUS_NOT_FOUND;

	if (c->who->open_store)
		status = call_need_store(c, err);
	if (status == STATUS_OK && store_setting_get(c->store, "store_id", &text, err))
		return err_failed(err->status);
	if (status != STATUS_OK && status != STATUS_NOT_FOUND)
		return status;
	if (status == STATUS_NOT_FOUND || !uuid_parse(buf_as_str(&text), &id))
		id = id_without_store(c);
	uuid_print(&id, out);
	return STATUS_OK;
}
