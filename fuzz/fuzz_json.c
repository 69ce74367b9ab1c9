/*
 * Fuzzes the JSON reader and writer. What is accepted must have a sound tape,
 * read the same again from its own span, survive copying byte for byte, and
 * decode to UTF-8 that the writer and the reader give back unchanged.
 */
#include "base/json.h"
#include "base/json_write.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void check_children(const struct json *j, uint32_t node)
{
	const struct json_entry *e = &j->tape[node];
	uint64_t at = e->start + 1, end = (uint64_t)e->start + e->length - 1;
	bool key = e->kind == JSON_OBJECT;

	for (uint32_t i = json_first(j, node); i != json_end(j, node); i = json_next(j, i)) {
		const struct json_entry *child = &j->tape[i];

		must(i < e->next && child->next > i && child->next <= e->next);
		must(child->start >= at && (uint64_t)child->start + child->length <= end);
		at = (uint64_t)child->start + child->length;
		if (e->kind == JSON_OBJECT) {
			must(!key || child->kind == JSON_STRING);
			key = !key;
		}
	}
	must(key == (e->kind == JSON_OBJECT));
}

static void check_string(const struct json *j, uint32_t node)
{
	struct json again = JSON_INIT;
	struct buf value = BUF_INIT(16 * MIB), written = BUF_INIT(64 * MIB), back = BUF_INIT(16 * MIB);
	struct arena arena = ARENA_INIT;
	struct json_writer w;
	struct str borrowed;
	struct err err;

	must(json_string(j, node, &value));
	must(utf8_valid(buf_as_str(&value)));
	must(json_string_eq(j, node, buf_as_str(&value)));
	must(str_eq(json_string_in(j, node, &arena), buf_as_str(&value)));
	if (json_text(j, node, &borrowed))
		must(str_eq(borrowed, buf_as_str(&value)));
	json_write_init(&w, &written, 0);
	json_write_string(&w, buf_as_str(&value));
	must(json_write_done(&w, &err) == STATUS_OK);
	must(json_read(&again, buf_as_str(&written), 0, &err) == STATUS_OK);
	must(again.count == 1 && !(again.flags & (JSON_BAD_UTF8 | JSON_LONE_SURROGATE)));
	must(json_string(&again, 0, &back) && str_eq(buf_as_str(&back), buf_as_str(&value)));
	arena_release(&arena);
	buf_release(&value);
	buf_release(&written);
	buf_release(&back);
	json_release(&again);
}

static void check_tape(const struct json *j)
{
	unsigned flags = 0;

	must(j->count > 0 && j->tape[0].next == j->count);
	for (uint32_t i = 0; i < j->count; i++) {
		const struct json_entry *e = &j->tape[i];
		int64_t n;

		must(e->length > 0 && (uint64_t)e->start + e->length <= j->text.n);
		must(e->next > i && e->next <= j->count);
		must(e->kind >= JSON_ARRAY || e->next == i + 1);
		must(e->kind == JSON_STRING || !e->flags);
		flags |= e->flags;
		if (e->kind >= JSON_ARRAY)
			check_children(j, i);
		if (e->kind == JSON_STRING)
			check_string(j, i);
		if (json_to_i64(j, i, &n))
			must(e->length <= 20);
	}
	must(flags == j->flags);
}

/* The root's span alone gives the same tape, moved by the blanks before it. */
static void check_again(const struct json *j)
{
	struct json again = JSON_INIT;
	struct buf copy = BUF_INIT(16 * MIB);
	struct json_writer w;
	struct err err;

	json_write_init(&w, &copy, 0);
	json_copy(&w, j, 0);
	must(json_write_done(&w, &err) == STATUS_OK);
	must(str_eq(buf_as_str(&copy), json_raw(j, 0)));
	must(json_read(&again, buf_as_str(&copy), 0, &err) == STATUS_OK);
	must(again.count == j->count && again.flags == j->flags);
	for (uint32_t i = 0; i < j->count; i++) {
		struct json_entry e = again.tape[i];

		e.start += j->tape[0].start;
		must(memcmp(&e, &j->tape[i], sizeof e) == 0);
	}
	json_release(&again);
	buf_release(&copy);
}

/* Every member can be found by its name, the last of a name by all of them. */
static void check_members(const struct json *j)
{
	struct buf key = BUF_INIT(16 * MIB);
	uint32_t root = json_root(j), members = 0;

	if (!json_is(j, root, JSON_OBJECT))
		return;
	for (uint32_t k = json_first(j, root); k != json_end(j, root) && members < 64;
	     k = json_next(j, k + 1)) {
		uint32_t found;

		buf_clear(&key);
		must(json_string(j, k, &key));
		found = json_get(j, root, buf_as_str(&key));
		must(found != JSON_NONE && found >= k + 1 && json_string_eq(j, found - 1, buf_as_str(&key)));
		members++;
	}
	buf_release(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_from((const char *)data, size);
	struct json j = JSON_INIT;
	struct err err;

	if (json_read(&j, text, 0, &err) == STATUS_OK) {
		check_tape(&j);
		check_again(&j);
		check_members(&j);
		/* A limit refuses with its own status or changes nothing. */
		enum status s = json_read(&j, text, 8, &err);
		must(s == STATUS_OK || (s == STATUS_LIMIT && j.error_at < size));
	} else {
		must(err.status == STATUS_FORMAT && j.error_at <= size && j.count == 0);
	}
	/* Any bytes can be written as a string. */
	struct buf out = BUF_INIT(64 * MIB);
	struct json_writer w;

	json_write_init(&w, &out, 0);
	json_write_string(&w, text);
	must(json_write_done(&w, &err) == STATUS_OK);
	must(json_read(&j, buf_as_str(&out), 0, &err) == STATUS_OK && j.count == 1);
	buf_release(&out);
	json_release(&j);
	return 0;
}
