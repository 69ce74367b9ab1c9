/*
 * Reading and printing handles.
 *
 *     text   = [ hub "." ] plugin "@" version "::" method *( ":" meta )
 *
 * Every part is written with as few escapes as it takes to find its end again: the marks that
 * end it, '%', control characters, and bytes that are no UTF-8. Reading decodes any %XX, and
 * refuses what printing would never write: a control character as it is, an escape that is
 * none, bytes that are no UTF-8 once decoded. Nothing is recursive, and everything is bounded
 * by the length of the text, which is looked at first.
 */
#include "base/handle.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* What ends each part, and so has to be escaped in it; in front of "::" also what would make it look like
 * an object or a path. */
#define HUB_MARKS     "%:@/{"
#define PLUGIN_MARKS  "%:@./{"
#define VERSION_MARKS "%:/"
#define META_MARKS    "%:"

struct str handle_meta(const struct handle *h, size_t index)
{
	return index < h->meta_count ? h->meta[index] : (struct str){ 0 };
}

static bool is_control(int32_t c)
{
	return (c >= 0 && c < 0x20) || (c >= 0x7f && c < 0xa0);
}

/* ---- Printing ------------------------------------------------------------------ */

static void print_part(struct buf *out, struct str part, const char *marks)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t at = 0;

	while (at < part.n) {
		size_t from = at;
		int32_t c = utf8_next(part, &at);

		if (c != UTF8_BAD && !is_control(c) && (c > 0x7f || !strchr(marks, (char)c))) {
			buf_add(out, part.p + from, at - from);
			continue;
		}
		for (; from < at; from++) {
			unsigned char byte = (unsigned char)part.p[from];

			buf_add(out, (char[]){ '%', digits[byte >> 4], digits[byte & 15] }, 3);
		}
	}
}

void handle_print(const struct handle *h, struct buf *out)
{
	if (h->older.p) {
		buf_str(out, h->older);
		return;
	}
	if (h->hub.n) {
		print_part(out, h->hub, HUB_MARKS);
		buf_byte(out, '.');
	}
	print_part(out, h->plugin, PLUGIN_MARKS);
	buf_byte(out, '@');
	print_part(out, h->version, VERSION_MARKS);
	buf_text(out, "::");
	print_part(out, h->method, META_MARKS);
	for (size_t i = 0; i < h->meta_count; i++) {
		buf_byte(out, ':');
		print_part(out, h->meta[i], META_MARKS);
	}
}

struct str handle_text(const struct handle *h, struct arena *mem)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_HANDLE_TEXT);

	handle_print(h, &text);
	return arena_str(mem, buf_as_str(&text));
}

static void put(struct json_writer *w, const char *key, struct str value)
{
	json_write_key(w, str_of(key));
	json_write_string(w, value);
}

void handle_write(const struct handle *h, struct json_writer *w)
{
	struct uuid plugin = handle_plugin_id(h);
	char id[UUID_TEXT + 1];

	if (h->older.p) {
		json_write_raw(w, h->older);
		return;
	}
	uuid_print(&plugin, id);
	json_write_object_begin(w);
	if (h->hub.n)
		put(w, "hub", h->hub);
	put(w, "plugin_id", str_of(id));
	put(w, "version", h->version);
	put(w, "method", h->method);
	if (h->meta_count) {
		json_write_key(w, STR("meta"));
		json_write_array_begin(w);
		for (size_t i = 0; i < h->meta_count; i++)
			json_write_string(w, h->meta[i]);
		json_write_array_end(w);
	}
	json_write_object_end(w);
}

/* ---- Reading text ---------------------------------------------------------------- */

struct reading {
	struct str text; /* in the arena */
	struct arena *mem;
	struct err *err;
};

static size_t place_of(const struct reading *r, struct str part)
{
	return (size_t)(part.p - r->text.p);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The byte that "%XX" stands for; -1 = it is no escape. */
static int escaped_byte(struct str from)
{
	int high = from.n >= 3 ? hex_digit(from.p[1]) : -1;
	int low = from.n >= 3 ? hex_digit(from.p[2]) : -1;

	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* A part without its escapes. */
static enum status decode(struct reading *r, struct str part, const char *what, struct str *out)
{
	char *to = arena_alloc(r->mem, part.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < part.n; i++) {
		int byte = part.p[i] == '%' ? escaped_byte(str_sub(part, i, 3)) : (unsigned char)part.p[i];

		if (byte < 0)
			return err_fail(r->err, STATUS_FORMAT,
					"handle, byte %zu: '%%' needs two hex digits behind it; a '%%' "
					"itself is %%25",
					place_of(r, part) + i);
		i += part.p[i] == '%' ? 2 : 0;
		to[n++] = (char)byte;
	}
	*out = str_from(to, n);
	if (!utf8_valid(*out))
		return err_fail(r->err, STATUS_FORMAT, "handle, byte %zu: the %s is not UTF-8",
				place_of(r, part), what);
	return STATUS_OK;
}

/* The same where something has to be. */
static enum status decode_some(struct reading *r, struct str part, const char *what, struct str *out)
{
	if (!part.n)
		return err_fail(r->err, STATUS_FORMAT, "handle, byte %zu: the %s is empty", place_of(r, part),
				what);
	return decode(r, part, what, out);
}

/* Whoever wrote these did not mean them, or wants a terminal to obey them. */
static enum status refuse_controls(struct reading *r)
{
	for (size_t at = 0; at < r->text.n;) {
		size_t from = at;
		int32_t c = utf8_next(r->text, &at);

		if (is_control(c))
			return err_fail(r->err, STATUS_FORMAT,
					"handle, byte %zu: a control character has to be written as %%%02X",
					from, (unsigned)(unsigned char)r->text.p[from]);
	}
	return STATUS_OK;
}

static enum status read_plugin(struct reading *r, struct str front, struct handle *out)
{
	size_t dot = str_rfind(front, '.');

	if (dot != SIZE_MAX && decode_some(r, str_sub(front, 0, dot), "hub in front of the '.'", &out->hub))
		return err_failed(r->err->status);
	return decode_some(r, dot == SIZE_MAX ? front : str_sub(front, dot + 1, SIZE_MAX), "plugin",
			   &out->plugin);
}

static enum status too_many(size_t count, struct err *err)
{
	return err_fail(err, STATUS_LIMIT, "handle: it has %zu fields of meta; %d are the most", count,
			LIMIT_HANDLE_META);
}

/* What stands behind "::": the method and its meta. */
static enum status read_method(struct reading *r, struct str rest, struct handle *out)
{
	struct str next, method = str_cut(rest, ':', &next);
	size_t count = 0;
	struct str *meta;

	for (size_t i = 0; i < next.n; i++)
		count += next.p[i] == ':';
	count += next.p != NULL;
	if (count > LIMIT_HANDLE_META)
		return too_many(count, r->err);
	meta = arena_alloc(r->mem, (count + 1) * sizeof *meta);
	for (size_t i = 0; i < count; i++) {
		struct str part = str_cut(next, ':', &next);

		if (decode(r, part, "meta", &meta[i]))
			return err_failed(r->err->status);
	}
	out->meta = meta;
	out->meta_count = count;
	return decode_some(r, method, "method behind '::'", &out->method);
}

static enum status read_text(struct reading *r, struct handle *out)
{
	size_t at = str_find(r->text, '@'), colon;
	struct str rest;

	if (refuse_controls(r))
		return err_failed(r->err->status);
	if (at == SIZE_MAX || str_find(r->text, ':') < at)
		return err_fail(r->err, STATUS_FORMAT,
				"handle: there is no '@' behind the plugin; it is PLUGIN@VERSION::METHOD:ID");
	rest = str_sub(r->text, at + 1, SIZE_MAX);
	colon = str_find(rest, ':');
	if (colon == SIZE_MAX || colon + 1 >= rest.n || rest.p[colon + 1] != ':')
		return err_fail(r->err, STATUS_FORMAT,
				"handle, byte %zu: expected '::' between the version and the method",
				at + 1 + size_min(colon, rest.n));
	if (read_plugin(r, str_sub(r->text, 0, at), out) ||
	    decode_some(r, str_sub(rest, 0, colon), "version", &out->version))
		return err_failed(r->err->status);
	return read_method(r, str_sub(rest, colon + 2, SIZE_MAX), out);
}

/* ---- Reading JSON ---------------------------------------------------------------- */

/* A string, every character of which can be told again. */
static enum status take_text(struct reading *r, const struct json *j, uint32_t node, const char *name,
			     struct str *out)
{
	if (!json_is(j, node, JSON_STRING))
		return err_fail(r->err, STATUS_FORMAT, "handle: '%s' %s", name,
				node == JSON_NONE ? "is missing" : "has to be a string");
	if (j->tape[node].flags & (JSON_BAD_UTF8 | JSON_LONE_SURROGATE))
		return err_fail(r->err, STATUS_FORMAT, "handle: '%s' has half a character in it", name);
	*out = json_string_in(j, node, r->mem);
	return STATUS_OK;
}

static enum status take_member(struct reading *r, const struct json *j, const char *name, struct str *out)
{
	if (take_text(r, j, json_get(j, json_root(j), str_of(name)), name, out))
		return err_failed(r->err->status);
	if (!out->n)
		return err_fail(r->err, STATUS_FORMAT, "handle: '%s' is empty", name);
	return STATUS_OK;
}

static enum status take_meta(struct reading *r, const struct json *j, struct handle *out)
{
	uint32_t list = json_get(j, json_root(j), STR("meta"));
	size_t count = list == JSON_NONE ? 0 : json_count(j, list);
	struct str *meta;

	if (list != JSON_NONE && !json_is(j, list, JSON_ARRAY))
		return err_fail(r->err, STATUS_FORMAT, "handle: 'meta' has to be a list of strings");
	if (count > LIMIT_HANDLE_META)
		return too_many(count, r->err);
	meta = arena_alloc(r->mem, (count + 1) * sizeof *meta);
	out->meta = meta;
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i)) {
		char name[32];

		snprintf(name, sizeof name, "meta[%zu]", out->meta_count);
		if (take_text(r, j, i, name, &meta[out->meta_count++]))
			return err_failed(r->err->status);
	}
	return STATUS_OK;
}

static enum status take_new(struct reading *r, const struct json *j, struct handle *out)
{
	if (json_get(j, json_root(j), STR("hub")) != JSON_NONE && take_member(r, j, "hub", &out->hub))
		return err_failed(r->err->status);
	if (take_member(r, j, "plugin_id", &out->plugin) || take_member(r, j, "version", &out->version) ||
	    take_member(r, j, "method", &out->method))
		return err_failed(r->err->status);
	return take_meta(r, j, out);
}

/* Kept as it is, but on one line: where JSON has line ends and tabs they are blanks. */
static struct str keep_older(struct reading *r, struct str raw)
{
	char *to = arena_alloc(r->mem, raw.n + 1);

	for (size_t i = 0; i < raw.n; i++)
		to[i] = (unsigned char)raw.p[i] < 0x20 ? ' ' : raw.p[i];
	return str_from(to, raw.n);
}

static enum status take_older(struct reading *r, const struct json *j, struct handle *out)
{
	if (take_member(r, j, "source", &out->plugin) || take_member(r, j, "source_version", &out->version) ||
	    take_member(r, j, "identifier", &out->identifier))
		return err_failed(r->err->status);
	if (j->flags & JSON_BAD_UTF8)
		return err_fail(r->err, STATUS_FORMAT, "handle: it is not UTF-8");
	out->older = keep_older(r, json_raw(j, json_root(j)));
	return STATUS_OK;
}

static enum status read_json(struct reading *r, struct handle *out)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	uint32_t root;

	if (json_read(&j, r->text, LIMIT_JSON_DEPTH, r->err))
		return err_pass(r->err, "handle");
	root = json_root(&j);
	if (json_get(&j, root, STR("plugin_id")) != JSON_NONE)
		return take_new(r, &j, out);
	if (json_get(&j, root, STR("source")) != JSON_NONE)
		return take_older(r, &j, out);
	return err_fail(r->err, STATUS_FORMAT,
			"handle: an object needs 'plugin_id', 'version' and 'method', or in the older form"
			" 'source', 'source_version' and 'identifier'");
}

enum status handle_parse(struct str text, struct arena *mem, struct handle *out, struct err *err)
{
	struct reading r = { .mem = mem, .err = err };
	struct handle h = { 0 };

	if (text.n > LIMIT_HANDLE_TEXT)
		return err_fail(err, STATUS_LIMIT, "handle: it has %zu bytes; %zu are the most", text.n,
				LIMIT_HANDLE_TEXT);
	r.text = arena_str(mem, text);
	if (!text.n)
		return err_fail(err, STATUS_FORMAT, "handle: it is empty");
	if (str_has_prefix(str_trim(text), STR("{")) ? read_json(&r, &h) : read_text(&r, &h))
		return err_failed(err->status);
	if (handle_check(&h, err))
		return err_failed(err->status);
	*out = h;
	return STATUS_OK;
}

bool handle_is_like(struct str text)
{
	const char *mark = text.n ? memmem(text.p, text.n, "::", 2) : NULL;

	return str_has_prefix(str_trim(text), STR("{")) ||
	       (mark && !str_has_byte(str_sub(text, 0, (size_t)(mark - text.p)), '/'));
}

/* ---- What holds of one ------------------------------------------------------------ */

static enum status check_part(struct str part, bool needed, const char *what, size_t *total, struct err *err)
{
	*total += part.n;
	if (needed && !part.n)
		return err_fail(err, STATUS_FORMAT, "handle: the %s is empty", what);
	if (!utf8_valid(part))
		return err_fail(err, STATUS_FORMAT, "handle: the %s is not UTF-8", what);
	return STATUS_OK;
}

enum status handle_check(const struct handle *h, struct err *err)
{
	size_t total = h->older.n;

	if (check_part(h->hub, false, "hub", &total, err) ||
	    check_part(h->plugin, true, "plugin", &total, err) ||
	    check_part(h->version, true, "version", &total, err) ||
	    check_part(h->method, !h->older.p, "method", &total, err))
		return err_failed(err->status);
	if (h->meta_count > LIMIT_HANDLE_META)
		return too_many(h->meta_count, err);
	for (size_t i = 0; i < h->meta_count; i++)
		if (check_part(h->meta[i], false, "meta", &total, err))
			return err_failed(err->status);
	if (total > LIMIT_HANDLE)
		return err_fail(err, STATUS_LIMIT, "handle: its parts have %zu bytes; %zu are the most",
				total, LIMIT_HANDLE);
	return STATUS_OK;
}

bool handle_eq(const struct handle *a, const struct handle *b)
{
	struct uuid mine = handle_plugin_id(a), theirs = handle_plugin_id(b);

	if (a->older.p || b->older.p)
		return a->older.p && b->older.p && str_eq(a->older, b->older);
	if (!str_eq(a->hub, b->hub) || !uuid_eq(&mine, &theirs) || !str_eq(a->version, b->version) ||
	    !str_eq(a->method, b->method) || a->meta_count != b->meta_count)
		return false;
	for (size_t i = 0; i < a->meta_count; i++)
		if (!str_eq(a->meta[i], b->meta[i]))
			return false;
	return true;
}

static struct str major_of(struct str version)
{
	return str_sub(version, 0, str_find(version, '.'));
}

bool handle_major(struct str version, uint64_t *out)
{
	return str_to_u64(major_of(version), out);
}

struct uuid plugin_id_of(struct str name, struct str version)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_HANDLE_TEXT);

	buf_str(&text, name);
	buf_byte(&text, '@');
	buf_str(&text, major_of(version));
	return uuid_v5(&uuid_ns_oid, buf_as_str(&text));
}

struct uuid handle_plugin_id(const struct handle *h)
{
	struct uuid id;

	return uuid_parse(h->plugin, &id) ? id : plugin_id_of(h->plugin, h->version);
}
