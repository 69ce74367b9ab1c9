/*
 * What a method sees of its call.
 */
#include "hub/call.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "hub/hub.h"
#include "hub/settings.h"

#include <stdarg.h>
#include <string.h>

const struct value *call_value(const struct call *c, const char *name)
{
	const struct param *p = c->method->params;

	for (size_t i = 0; p && p[i].name; i++)
		if (strcmp(p[i].name, name) == 0)
			return &c->values[i];
	bug("a method asks for a parameter it does not declare");
}

struct str call_text(const struct call *c, const char *name)
{
	return call_value(c, name)->text;
}

int64_t call_int(const struct call *c, const char *name)
{
	return call_value(c, name)->number;
}

bool call_flag(const struct call *c, const char *name)
{
	return call_value(c, name)->number != 0;
}

struct str call_names(struct call *c, const char *name)
{
	const struct value *v = call_value(c, name);
	struct buf json CLEANUP(buf_release) = BUF_INIT(LIMIT_METADATA);
	struct json_writer w;

	if (!v->count)
		return (struct str){ 0 };
	json_write_init(&w, &json, 0);
	json_write_array_begin(&w);
	for (size_t i = 0; i < v->count; i++)
		json_write_string(&w, v->list[i]);
	json_write_array_end(&w);
	return arena_str(&c->mem, buf_as_str(&json));
}

struct str call_real_path(struct call *c, struct str path)
{
	return file_real_path(&c->mem, path);
}

struct str call_from_home(struct call *c, struct str path)
{
	const char *home = c->settings ? c->settings->home : NULL;

	if (!home || (!str_eq(path, STR("~")) && !str_has_prefix(path, STR("~/"))))
		return path;
	return arena_printf(&c->mem, "%s%.*s", home, STR_ARG(str_sub(path, 1, SIZE_MAX)));
}

struct str call_real_front(struct call *c, struct str path, size_t n)
{
	return file_real_front(&c->mem, path, n);
}

enum status call_need_store(struct call *c, struct err *err)
{
	if (c->store)
		return STATUS_OK;
	if (!c->who->open_store)
		return err_fail(err, STATUS_INTERNAL, "%s needs a store and the caller has none", c->method->name);
	return c->who->open_store(c->who->ctx, false, &c->store, err);
}

bool call_is_cancelled(const struct call *c)
{
	return (c->cancel && atomic_load(c->cancel)) ||
	       (c->deadline_ns && clock_monotonic_ns() >= c->deadline_ns);
}

void call_note(struct call *c, const char *format, ...)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	va_list args;

	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (c->sink.note && text.n)
		c->sink.note(c->sink.ctx, buf_as_str(&text));
}

struct json_writer *call_begin(struct call *c)
{
	buf_clear(&c->item);
	json_write_init(&c->writer, &c->item, 0);
	json_write_object_begin(&c->writer);
	return &c->writer;
}

enum status call_emit(struct call *c, struct err *err)
{
	json_write_object_end(&c->writer);
	if (json_write_done(&c->writer, err))
		return err_failed(err->status);
	return c->sink.item(c->sink.ctx, buf_as_str(&c->item), err);
}

enum status call_bytes(struct call *c, struct str bytes, struct err *err)
{
	return c->sink.bytes(c->sink.ctx, bytes, err);
}

void call_sub_init(struct call *sub, const struct call *of, struct sink sink)
{
	*sub = *of;
	sub->sink = sink;
	sub->mem = (struct arena)ARENA_INIT;
	sub->state = NULL;
	buf_init(&sub->item, of->item.max);
}

void call_sub_release(struct call *sub)
{
	buf_release(&sub->item);
	arena_release(&sub->mem);
}

void call_flush(struct call *c)
{
	if (c->sink.flush)
		c->sink.flush(c->sink.ctx);
}

enum status call_wait(struct call *c, int timeout_ms)
{
	c->wait_until_ns = clock_monotonic_ns() + (int64_t)timeout_ms * 1000000;
	return STATUS_WAIT;
}

/* ---- Fields ---------------------------------------------------------------- */

void put_text(struct json_writer *w, const char *key, struct str value)
{
	json_write_key(w, str_of(key));
	json_write_string(w, value);
}

void put_text_if(struct json_writer *w, const char *key, struct str value)
{
	if (value.p)
		put_text(w, key, value);
}

void put_json_if(struct json_writer *w, const char *key, struct str json)
{
	if (!json.p)
		return;
	json_write_key(w, str_of(key));
	json_write_raw(w, json);
}

void put_int(struct json_writer *w, const char *key, int64_t value)
{
	json_write_key(w, str_of(key));
	json_write_i64(w, value);
}

void put_bool(struct json_writer *w, const char *key, bool value)
{
	json_write_key(w, str_of(key));
	json_write_bool(w, value);
}

void put_time(struct json_writer *w, const char *key, int64_t ms)
{
	char text[TIME_TEXT + 1];

	time_print(ms, text);
	put_text(w, key, str_of(text));
}

void put_uuid(struct json_writer *w, const char *key, const struct uuid *id)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	put_text(w, key, str_of(text));
}

void put_path(struct json_writer *w, const char *key, struct str path)
{
	struct buf hex CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);
	struct buf name CLEANUP(buf_release) = BUF_INIT(KIB);
	char *to;

	put_text(w, key, path);
	if (utf8_valid(path))
		return;
	to = buf_reserve(&hex, 2 * path.n);
	if (!to)
		return;
	hex_encode((const uint8_t *)path.p, path.n, to);
	buf_grew(&hex, 2 * path.n);
	buf_printf(&name, "%s_hex", key);
	put_text(w, name.p, buf_as_str(&hex));
}
