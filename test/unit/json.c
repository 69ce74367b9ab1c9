/*
 * The JSON reader and writer. Grammar cases are data (test/table/json.test and,
 * where it is present, the public suite); what is here are properties: spans,
 * alignment, limits, decoding, and the two scanning variants against each other.
 */
#include "t.h"

#include "base/json.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/utf8.h"

#include <dirent.h>
#include <pthread.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FFFD "\xEF\xBF\xBD"

/* ---- Helpers ---- */

/* Reads or fails the test; for texts that are known to be good. */
static bool read_text(struct t *t, struct json *j, struct str text)
{
	struct err err;

	if (json_read(j, text, 0, &err) == STATUS_OK)
		return true;
	t_fail(t, __FILE__, __LINE__, "'%.*s': %s", STR_ARG(text), err.text);
	return false;
}

static struct str decoded(const struct json *j, uint32_t node, struct buf *out)
{
	buf_clear(out);
	json_string(j, node, out);
	return buf_as_str(out);
}

/* Writes the value again from what the tape knows. Recursive: test texts are
 * shallow. */
static void rewrite(const struct json *j, uint32_t node, struct json_writer *w)
{
	struct buf text = BUF_INIT(64 * MIB);
	bool object = json_is(j, node, JSON_OBJECT);

	if (json_is(j, node, JSON_STRING)) {
		json_write_string(w, decoded(j, node, &text));
	} else if (object || json_is(j, node, JSON_ARRAY)) {
		(object ? json_write_object_begin : json_write_array_begin)(w);
		for (uint32_t i = json_first(j, node); i != json_end(j, node); i = json_next(j, i)) {
			if (object)
				json_write_key(w, decoded(j, i++, &text));
			rewrite(j, i, w);
		}
		(object ? json_write_object_end : json_write_array_end)(w);
	} else {
		json_copy(w, j, node);
	}
	buf_release(&text);
}

/* xorshift: the same numbers every time. */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static const char sample[] =
    " {\"type\":\"user\",\"uuid\":\"0190a\\u002db\",\"message\":{\"role\":\"user\",\"content\":"
    "[{\"type\":\"text\",\"text\":\"caf\xC3\xA9 \\\"quoted\\\"\\n\\tand \xF0\x9F\x98\x80 some more text\"},"
    "{\"type\":\"image\",\"data\":null}]} , \"n\" : [ -0, 1.50, 6.02e23, 12345678901234567890 ],"
    "\"ok\":true,\"no\":false,\"empty\":[{},[],\"\"],\"cut\":\"\\ud83d\",\"n\":2}\n";

static struct str sample_text(void)
{
	return str_from(sample, sizeof sample - 1);
}

/* ---- Reading ---- */

TEST(every_kind_of_value_has_its_entry_and_span)
{
	static const struct {
		enum json_kind kind;
		const char *raw;
	} want[] = {
		{ JSON_ARRAY, "[null, true,false,-1.5e3,\"s\",{\"k\":[]}]" },
		{ JSON_NULL, "null" },
		{ JSON_TRUE, "true" },
		{ JSON_FALSE, "false" },
		{ JSON_NUMBER, "-1.5e3" },
		{ JSON_STRING, "\"s\"" },
		{ JSON_OBJECT, "{\"k\":[]}" },
		{ JSON_STRING, "\"k\"" },
		{ JSON_ARRAY, "[]" },
	};
	struct json j = JSON_INIT;

	NEED(read_text(t, &j, STR(" [null, true,false,-1.5e3,\"s\",{\"k\":[]}]\n")));
	EQ(sizeof(struct json_entry), 16);
	NEED(EQ(j.count, COUNT(want)));
	for (uint32_t i = 0; i < j.count; i++) {
		EQ(json_kind(&j, i), want[i].kind);
		EQS(json_raw(&j, i), str_of(want[i].raw));
	}
	EQ(json_count(&j, json_root(&j)), 6);
	EQ(json_count(&j, 6), 1);
	EQ(json_next(&j, 6), 9);
	json_release(&j);
}

/* Spans of the leaves and brackets of the containers, in order, with the text
 * between them: together they must be the whole text again. */
TEST(spans_and_the_gaps_between_them_are_the_text)
{
	struct str text = sample_text();
	struct json j = JSON_INIT;
	size_t at = 0;

	NEED(read_text(t, &j, text));
	EQS(json_raw(&j, json_root(&j)), str_trim(text));
	for (uint32_t i = 0; i < j.count; i++) {
		const struct json_entry *e = &j.tape[i];
		bool container = e->kind >= JSON_ARRAY;

		NEED(e->start >= at);
		for (; at < e->start; at++)
			CHECK(memchr(" \n:,]}", text.p[at], 6) != NULL);
		at = container ? e->start + 1 : e->start + e->length;
		NEED(e->next > i && e->next <= j.count);
		if (container)
			CHECK(text.p[e->start + e->length - 1] == (e->kind == JSON_ARRAY ? ']' : '}'));
	}
	for (; at < text.n; at++)
		CHECK(memchr(" \n]}", text.p[at], 4) != NULL);
	EQ(j.flags, JSON_ESCAPED | JSON_LONE_SURROGATE);
	json_release(&j);
}

TEST(an_object_gives_its_members_by_name)
{
	struct json j = JSON_INIT;
	uint32_t root, content;
	int64_t n = 0;

	NEED(read_text(t, &j, sample_text()));
	root = json_root(&j);
	CHECK(json_string_eq(&j, json_get(&j, root, STR("type")), STR("user")));
	CHECK(json_string_eq(&j, json_get(&j, root, STR("uuid")), STR("0190a-b")));
	content = json_get(&j, json_get(&j, root, STR("message")), STR("content"));
	EQ(json_count(&j, content), 2);
	CHECK(json_bool(&j, json_get(&j, root, STR("ok"))));
	CHECK(!json_bool(&j, json_get(&j, root, STR("no"))));
	CHECK(json_to_i64(&j, json_get(&j, root, STR("n")), &n) && n == 2);
	EQ(json_get(&j, root, STR("absent")), JSON_NONE);
	EQ(json_get(&j, root, STR("")), JSON_NONE);
	json_release(&j);
}

TEST(looking_into_nothing_gives_nothing)
{
	struct json j = JSON_INIT;
	struct buf out = BUF_INIT(100);
	struct arena a = ARENA_INIT;
	struct str s = STR("untouched");
	bool flag = true;
	int64_t n = 7;

	EQ(json_root(&j), JSON_NONE);
	EQ(json_get(&j, json_get(&j, JSON_NONE, STR("a")), STR("b")), JSON_NONE);
	EQ(json_count(&j, JSON_NONE), 0);
	EQ(json_first(&j, JSON_NONE), json_end(&j, JSON_NONE));
	EQ(json_raw(&j, JSON_NONE).n, 0);
	CHECK(!json_text(&j, JSON_NONE, &s) && !json_string(&j, JSON_NONE, &out) && !out.failed);
	CHECK(!json_string_in(&j, JSON_NONE, &a).p);
	CHECK(!json_string_eq(&j, JSON_NONE, STR("")) && !json_bool(&j, JSON_NONE));
	CHECK(!json_to_i64(&j, JSON_NONE, &n) && !json_to_bool(&j, JSON_NONE, &flag));
	NEED(read_text(t, &j, STR("[]")));
	EQ(json_get(&j, 0, STR("a")), JSON_NONE);
	CHECK(!json_text(&j, 0, &s) && !json_string(&j, 0, &out) && !json_to_i64(&j, 0, &n));
	EQS(s, STR("untouched"));
	CHECK(n == 7 && flag && out.n == 0);
	arena_release(&a);
	json_release(&j);
}

TEST(the_last_of_equal_keys_wins_and_all_stay_on_the_tape)
{
	struct json j = JSON_INIT;
	int64_t n = 0;

	NEED(read_text(t, &j, STR("{\"a\":1,\"b\":{\"a\":9},\"\\u0061\":2}")));
	CHECK(json_to_i64(&j, json_get(&j, 0, STR("a")), &n) && n == 2);
	EQ(json_count(&j, 0), 3);
	NEED(read_text(t, &j, STR("{\"\\u0061\":2,\"a\":3,\"ab\":4,\"\\u0061b\\u0000\":5}")));
	CHECK(json_to_i64(&j, json_get(&j, 0, STR("a")), &n) && n == 3);
	CHECK(json_to_i64(&j, json_get(&j, 0, STR("ab")), &n) && n == 4);
	CHECK(json_to_i64(&j, json_get(&j, 0, STR("ab\0")), &n) && n == 5);
	json_release(&j);
}

TEST(integers_are_read_only_when_they_are_integers_and_fit)
{
	static const struct {
		const char *text;
		bool fits;
		int64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "-0", true, 0 },
		{ "42", true, 42 },
		{ "-7", true, -7 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "1.0", false, 0 },
		{ "1e2", false, 0 },
		{ "-0.0", false, 0 },
		{ "\"1\"", false, 0 },
		{ "true", false, 0 },
	};
	struct json j = JSON_INIT;

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t got = 0;

		NEED(read_text(t, &j, str_of(cases[i].text)));
		EQ(json_to_i64(&j, 0, &got), cases[i].fits);
		EQ(got, cases[i].value);
	}
	json_release(&j);
}

static void *read_deep(void *arg)
{
	static const uint32_t levels = 1000 * 1000;
	struct t *t = arg;
	struct buf text = BUF_INIT(4 * MIB);
	struct json j = JSON_INIT;
	char *to = buf_reserve(&text, (size_t)2 * levels);
	struct err err;

	memset(to, '[', levels);
	memset(to + levels, ']', levels);
	buf_grew(&text, (size_t)2 * levels);
	if (!read_text(t, &j, buf_as_str(&text)))
		return NULL;
	EQ(j.count, levels);
	EQ(j.tape[levels - 1].length, 2);
	EQ(j.tape[levels / 2].next, levels);
	EQ(json_raw(&j, 0).n, (size_t)2 * levels);
	text.p[2 * levels - 1] = '}';
	EQ(json_read(&j, buf_as_str(&text), 0, &err), STATUS_FORMAT);
	EQ(j.error_at, 2 * levels - 1);
	EQ(json_read(&j, str_sub(buf_as_str(&text), 0, levels), 0, &err), STATUS_FORMAT);
	json_release(&j);
	buf_release(&text);
	return NULL;
}

/* In a thread whose stack could not hold a frame a level. */
TEST(a_million_nested_arrays_need_no_stack)
{
	pthread_attr_t attr;
	pthread_t thread;

	NEED(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, 256 * KIB) == 0);
	NEED(pthread_create(&thread, &attr, read_deep, t) == 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

TEST(the_depth_limit_counts_open_containers)
{
	struct json j = JSON_INIT;
	struct err err;

	OK(json_read(&j, STR("[{\"a\":[]},[[]]]"), 3, &err));
	EQ(json_read(&j, STR("[{\"a\":[]},[[]]]"), 2, &err), STATUS_LIMIT);
	EQ(j.error_at, 6);
	EQ(j.count, 0);
	EQS(str_of(err.text), STR("JSON, byte 6: nested more than 2 deep"));
	OK(json_read(&j, STR("[[],[],[],{},\"[[[\"]"), 2, &err));
	json_release(&j);
}

TEST(an_error_names_the_place_and_what_was_expected)
{
	struct json j = JSON_INIT;
	struct err err;

	EQ(json_read(&j, STR("{\"a\" 1}"), 0, &err), STATUS_FORMAT);
	EQS(str_of(err.text), STR("JSON, byte 5: expected ':', found '1'"));
	EQ(j.error_at, 5);
	EQ(json_read(&j, STR("[1,"), 0, &err), STATUS_FORMAT);
	EQS(str_of(err.text), STR("JSON, byte 3: expected a value, found the end"));
	EQ(json_read(&j, STR("[\xFF]"), 0, &err), STATUS_FORMAT);
	EQS(str_of(err.text), STR("JSON, byte 1: expected a value, found byte 0xff"));
	EQ(json_read(&j, (struct str){ 0 }, 0, &err), STATUS_FORMAT);
	EQS(str_of(err.text), STR("JSON, byte 0: expected a value, found the end"));
	EQ(json_root(&j), JSON_NONE);
	json_release(&j);
}

TEST(a_text_over_32_bits_is_refused_unread)
{
	struct json j = JSON_INIT;
	struct err err;

	EQ(json_read(&j, str_from("1", LIMIT_JSON_TEXT + 1), 0, &err), STATUS_LIMIT);
	EQ(j.count, 0);
	json_release(&j);
}

TEST(a_tape_is_used_again_and_again)
{
	struct json j = JSON_INIT;
	struct json_entry *tape;
	struct err err;
	uint32_t cap;

	NEED(read_text(t, &j, sample_text()));
	tape = j.tape;
	cap = j.cap;
	for (int i = 0; i < 100; i++) {
		NEED(read_text(t, &j, STR("[\"\\ud800\"]")));
		EQ(j.flags, JSON_ESCAPED | JSON_LONE_SURROGATE);
		NEED(read_text(t, &j, STR("[1]")));
		EQ(j.flags, 0);
		EQ(j.count, 2);
		EQ(json_read(&j, STR("[1"), 0, &err), STATUS_FORMAT);
		EQ(j.count, 0);
	}
	CHECK(j.tape == tape && j.cap == cap);
	json_release(&j);
	CHECK(!j.tape && !j.count);
	NEED(read_text(t, &j, STR("{}")));
	json_release(&j);
}

/* Exact allocations, so that ASan sees a read behind the end. */
TEST(every_proper_prefix_is_refused_within_its_bounds)
{
	struct str text = str_trim(sample_text());
	struct json j = JSON_INIT;
	struct err err;

	for (size_t n = 0; n < text.n; n++) {
		char *copy = mem_alloc(n + !n);

		memcpy(copy, text.p, n);
		EQ(json_read(&j, str_from(copy, n), 0, &err), STATUS_FORMAT);
		CHECK(j.error_at <= n);
		mem_free(copy);
	}
	json_release(&j);
}

/* ---- Strings ---- */

TEST(escapes_decode_to_what_they_stand_for)
{
	struct json j = JSON_INIT;
	struct buf out = BUF_INIT(1000);

	NEED(read_text(t, &j,
		       STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\uD83D\\uDE00\\u0000.\"")));
	EQS(decoded(&j, 0, &out), STR("\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\0."));
	EQ(j.tape[0].flags, JSON_ESCAPED);
	buf_release(&out);
	json_release(&j);
}

TEST(half_pairs_and_bad_bytes_become_one_replacement_each)
{
	static const struct {
		const char *text, *want;
		unsigned flags;
	} cases[] = {
		{ "\"\\ud800\"", FFFD, JSON_ESCAPED | JSON_LONE_SURROGATE },
		{ "\"a\\udc00\\ud800b\"", "a" FFFD FFFD "b", JSON_ESCAPED | JSON_LONE_SURROGATE },
		{ "\"\\ud83d\\ud83d\\ude00\"", FFFD "\xF0\x9F\x98\x80", JSON_ESCAPED | JSON_LONE_SURROGATE },
		{ "\"\xFF\"", FFFD, JSON_BAD_UTF8 },
		{ "\"\xE2\x82\\n\"", FFFD "\n", JSON_ESCAPED | JSON_BAD_UTF8 },
		{ "\"\xED\xA0\x80\"", FFFD FFFD FFFD, JSON_BAD_UTF8 },
		{ "\"\\uD800\xC3\xA9\xC3\"", FFFD "\xC3\xA9" FFFD,
		  JSON_ESCAPED | JSON_BAD_UTF8 | JSON_LONE_SURROGATE },
	};
	struct json j = JSON_INIT;
	struct buf out = BUF_INIT(1000);

	for (size_t i = 0; i < COUNT(cases); i++) {
		NEED(read_text(t, &j, str_of(cases[i].text)));
		EQ(j.flags, cases[i].flags);
		EQ(j.tape[0].flags, cases[i].flags);
		EQS(decoded(&j, 0, &out), str_of(cases[i].want));
		CHECK(json_string_eq(&j, 0, str_of(cases[i].want)));
		CHECK(!json_string_eq(&j, 0, STR("")) && !json_string_eq(&j, 0, STR(FFFD "x")));
	}
	buf_release(&out);
	json_release(&j);
}

TEST(clean_strings_are_borrowed_and_others_are_not)
{
	struct str text = STR("[\"plain \xC3\xA9\",\"esc\\n\",\"bad \xFF\",\"\",1]");
	struct json j = JSON_INIT;
	struct arena a = ARENA_INIT;
	struct str s = { 0 };

	NEED(read_text(t, &j, text));
	CHECK(json_text(&j, 1, &s) && s.p == text.p + 2);
	EQS(s, STR("plain \xC3\xA9"));
	CHECK(json_string_in(&j, 1, &a).p == text.p + 2);
	CHECK(!json_text(&j, 2, &s) && !json_text(&j, 3, &s) && !json_text(&j, 5, &s));
	EQS(json_string_in(&j, 2, &a), STR("esc\n"));
	EQS(json_string_in(&j, 3, &a), STR("bad " FFFD));
	CHECK(json_text(&j, 4, &s) && s.n == 0);
	CHECK(json_string_eq(&j, 4, STR("")));
	CHECK(!json_string_in(&j, 5, &a).p);
	arena_release(&a);
	json_release(&j);
}

TEST(decoding_respects_the_maximum_of_the_buffer)
{
	struct json j = JSON_INIT;
	struct buf out = BUF_INIT(3);

	NEED(read_text(t, &j, STR("[\"\\u0041\\u0042C\",\"\\u0041BCD\",\"\xFF\",\"\xFF\xFF\",\"abcd\"]")));
	EQS(decoded(&j, 1, &out), STR("ABC")); /* the bound is 13, the result 3 */
	CHECK(json_string(&j, 1, &out) == false && out.failed && out.n == 3);
	buf_clear(&out);
	CHECK(!json_string(&j, 2, &out) && out.failed && out.n == 0);
	EQS(decoded(&j, 3, &out), STR(FFFD));
	buf_clear(&out);
	CHECK(!json_string(&j, 4, &out) && !json_string(&j, 1, &out));
	buf_clear(&out);
	CHECK(!json_string(&j, 5, &out) && out.n == 0);
	buf_release(&out);
	json_release(&j);
}

/* ---- Scanning: both variants against the definition ---- */

static const char *scan_plainly(const char *p, const char *end)
{
	while (p < end && !json_is_special(*p))
		p++;
	return p;
}

static void check_scans(struct t *t, const char *p, const char *end)
{
	const char *want = scan_plainly(p, end);
	const char *backslash = memchr(p, '\\', (size_t)(end - p));
	size_t n = (size_t)(end - p), copied = backslash ? (size_t)(backslash - p) : n;
	char *fast = mem_alloc(n + !n), *words = mem_alloc(n + !n);

	CHECK(json_scan(p, end) == want);
	CHECK(json_scan_words(p, end) == want);
	CHECK(json_copy_plain(fast, p, end) == p + copied && memcmp(fast, p, copied) == 0);
	CHECK(json_copy_words(words, p, end) == p + copied && memcmp(words, p, copied) == 0);
	mem_free(fast);
	mem_free(words);
}

TEST(every_byte_is_special_to_both_scanners_or_to_none)
{
	char text[40];

	for (int byte = 0; byte < 256; byte++) {
		memset(text, 'x', sizeof text);
		for (size_t at = 0; at < sizeof text; at++) {
			text[at] = (char)byte;
			check_scans(t, text, text + sizeof text);
			check_scans(t, text, text + at);
			text[at] = 'x';
		}
	}
}

TEST(specials_are_found_at_every_position_and_alignment)
{
	static const char specials[] = { '"', '\\', '\n', '\x1F', '\0', '\x80', '\xFF' };
	enum { LONGEST = 80 };
	char *block = mem_alloc(64 + LONGEST);

	for (size_t align = 0; align < 64; align++)
		for (size_t at = 0; at < LONGEST; at++) {
			char *p = block + align;

			memset(block, '"', 64 + LONGEST); /* in front of p: not to be seen */
			memset(p, ' ', LONGEST);
			p[at] = specials[(align + at) % sizeof specials];
			check_scans(t, p, p + LONGEST);
			check_scans(t, p, p + at);
			if (at + 1 < LONGEST)
				p[at + 1] = '"'; /* a borrow must not hide or invent the neighbour */
			check_scans(t, p, p + LONGEST);
		}
	mem_free(block);
}

TEST(strings_are_read_at_every_alignment_with_specials_anywhere)
{
	static const char filler[] = "abcdefghijklmnopqrstuvwxyz0123456789{}[]:,/ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char *const pieces[] = {
		"\\n", "\\u0041", "\xC3\xA9", "\xF0\x9F\x98\x80", "\\\\", "\\\""
	};
	static const char *const values[] = { "\n", "A", "\xC3\xA9", "\xF0\x9F\x98\x80", "\\", "\"" };
	struct json j = JSON_INIT;
	struct buf out = BUF_INIT(1000);

	for (size_t align = 0; align < 64; align++)
		for (size_t at = 0; at < sizeof filler; at++) {
			size_t which = (align + at) % COUNT(pieces);
			char text[256], want[128];
			int n = snprintf(text, sizeof text, "%*s\"%.*s%s%s\"", (int)align, "", (int)at,
					 filler, pieces[which], filler + at);
			char *exact = mem_alloc((size_t)n);

			memcpy(exact, text, (size_t)n);
			snprintf(want, sizeof want, "%.*s%s%s", (int)at, filler, values[which], filler + at);
			NEED(read_text(t, &j, str_from(exact, (size_t)n)));
			EQS(decoded(&j, 0, &out), str_of(want));
			CHECK(json_string_eq(&j, 0, str_of(want)));
			mem_free(exact);
		}
	buf_release(&out);
	json_release(&j);
}

TEST(random_changes_are_scanned_alike_by_both_variants)
{
	static const char likely[] = "\"\\{}[]:,0e.-u\n\x1F\x80\xC3\xE2\xF0\xFF";
	uint32_t seed = 20240607;

	for (int round = 0; round < 20000; round++) {
		char text[sizeof sample - 1];
		size_t from = next_random(&seed) % sizeof text;

		memcpy(text, sample, sizeof text);
		for (uint32_t changes = next_random(&seed) % 8; changes; changes--) {
			uint32_t r = next_random(&seed);
			char with = r & 1 ? likely[(r >> 8) % (sizeof likely - 1)] : (char)(r >> 8);

			text[next_random(&seed) % sizeof text] = with;
		}
		for (const char *p = text + from; p < text + sizeof text;
		     p = scan_plainly(p, text + sizeof text) + 1)
			check_scans(t, p, text + sizeof text);
	}
}

/* Whatever happens to a text: it is refused inside its bounds or its rewriting
 * is read as the same value. */
TEST(random_changes_give_an_error_or_a_value_that_survives_rewriting)
{
	uint32_t seed = 4711;
	struct json j = JSON_INIT, again = JSON_INIT;
	struct buf one = BUF_INIT(1 * MIB), two = BUF_INIT(1 * MIB);
	struct err err;
	int accepted = 0;

	for (int round = 0; round < 20000; round++) {
		char text[sizeof sample - 1];
		struct json_writer w;

		memcpy(text, sample, sizeof text);
		for (uint32_t changes = 1 + next_random(&seed) % 2; changes; changes--)
			text[next_random(&seed) % sizeof text] = (char)(next_random(&seed) >> 8);
		if (json_read(&j, str_from(text, sizeof text), 0, &err) != STATUS_OK) {
			CHECK(j.error_at <= sizeof text);
			continue;
		}
		accepted++;
		buf_clear(&one);
		json_write_init(&w, &one, 0);
		rewrite(&j, 0, &w);
		OK(json_write_done(&w, &err));
		OK(json_read(&again, buf_as_str(&one), 0, &err));
		EQ(again.count, j.count);
		EQ(again.flags & (JSON_BAD_UTF8 | JSON_LONE_SURROGATE), 0);
		buf_clear(&two);
		json_write_init(&w, &two, 2);
		rewrite(&again, 0, &w);
		OK(json_write_done(&w, &err));
		OK(json_read(&j, buf_as_str(&two), 0, &err));
		buf_clear(&two);
		json_write_init(&w, &two, 0);
		rewrite(&j, 0, &w);
		EQS(buf_as_str(&two), buf_as_str(&one));
	}
	CHECK(accepted > 1000);
	buf_release(&one);
	buf_release(&two);
	json_release(&j);
	json_release(&again);
}

/* ---- Writing ---- */

TEST(a_real_number_is_written_with_the_digits_that_bring_it_back)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0.0" },
		{ 1.5, "1.5" },
		{ -3, "-3.0" },
		{ 0.1, "0.1" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 1e300, "1e+300" },
		{ -2.5e-7, "-2.5e-07" },
		{ HUGE_VAL, "\"Infinity\"" },
		{ -HUGE_VAL, "\"-Infinity\"" },
	};
	struct buf out CLEANUP(buf_release) = BUF_INIT(1000);
	struct json_writer w;
	struct err err;

	for (size_t i = 0; i < COUNT(cases); i++) {
		buf_clear(&out);
		json_write_init(&w, &out, 0);
		json_write_real(&w, cases[i].value);
		OK(json_write_done(&w, &err));
		EQS(buf_as_str(&out), str_of(cases[i].text));
	}
}

TEST(the_writer_puts_commas_and_colons_where_they_belong)
{
	struct buf out = BUF_INIT(1000);
	struct json_writer w;
	struct err err;

	json_write_init(&w, &out, 0);
	json_write_object_begin(&w);
	json_write_key(&w, STR("a"));
	json_write_i64(&w, INT64_MIN);
	json_write_key(&w, STR("b"));
	json_write_array_begin(&w);
	json_write_bool(&w, true);
	json_write_bool(&w, false);
	json_write_null(&w);
	json_write_array_begin(&w);
	json_write_array_end(&w);
	json_write_object_begin(&w);
	json_write_object_end(&w);
	json_write_string(&w, (struct str){ 0 });
	json_write_array_end(&w);
	json_write_key(&w, STR("c\n"));
	json_write_raw(&w, STR("1.50e+400"));
	json_write_object_end(&w);
	OK(json_write_done(&w, &err));
	EQS(buf_as_str(&out), STR("{\"a\":-9223372036854775808,\"b\":[true,false,null,[],{},\"\"],"
				  "\"c\\n\":1.50e+400}"));
	buf_release(&out);
}

TEST(indented_output_looks_as_json_stringify_makes_it)
{
	struct buf out = BUF_INIT(1000);
	struct json j = JSON_INIT;
	struct json_writer w;
	struct err err;

	NEED(read_text(t, &j, STR("{\"a\":[1,{\"b\":[]},{}],\"c\":\"d\"}")));
	json_write_init(&w, &out, 2);
	rewrite(&j, 0, &w);
	OK(json_write_done(&w, &err));
	EQS(buf_as_str(&out),
	    STR("{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    },\n    {}\n  ],\n  \"c\": \"d\"\n}"));
	buf_release(&out);
	json_release(&j);
}

TEST(only_what_must_be_escaped_is_escaped)
{
	struct buf out = BUF_INIT(1000);
	struct json_writer w;
	struct err err;

	json_write_init(&w, &out, 0);
	json_write_string(&w,
			  STR("\"\\/\b\f\n\r\t\0\x01\x1F\x7F\xC3\xA9\xE2\x80\xA8\xE2\x80\xA9\xF0\x9F\x98\x80"
			      "\xFF\xE2\x82|\xED\xA0\x80"));
	OK(json_write_done(&w, &err));
	EQS(buf_as_str(&out),
	    STR("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u0001\\u001f\x7F\xC3\xA9\xE2\x80\xA8\xE2\x80\xA9"
		"\xF0\x9F\x98\x80" FFFD FFFD "|" FFFD FFFD FFFD "\""));
	buf_release(&out);
}

TEST(copied_values_stay_byte_for_byte)
{
	struct str text = STR(
	    "{\"n\": 1.000000000000000000001 , \"s\":\"\\u0041\\/\\ud800\xFF\", \"o\":{ \"x\" :[ ]}}");
	struct buf out = BUF_INIT(1000);
	struct json j = JSON_INIT;
	struct json_writer w;
	struct err err;

	NEED(read_text(t, &j, text));
	json_write_init(&w, &out, 0);
	json_write_array_begin(&w);
	json_copy(&w, &j, json_get(&j, 0, STR("n")));
	json_copy(&w, &j, json_get(&j, 0, STR("s")));
	json_copy(&w, &j, json_get(&j, 0, STR("o")));
	json_write_array_end(&w);
	OK(json_write_done(&w, &err));
	EQS(buf_as_str(&out), STR("[1.000000000000000000001,\"\\u0041\\/\\ud800\xFF\",{ \"x\" :[ ]}]"));
	buf_clear(&out);
	json_write_init(&w, &out, 4);
	json_copy(&w, &j, 0);
	OK(json_write_done(&w, &err));
	EQS(buf_as_str(&out), text);
	buf_clear(&out);
	json_write_init(&w, &out, 0);
	json_copy_valid(&w, &j, json_get(&j, 0, STR("s")));
	OK(json_write_done(&w, &err));
	EQS(buf_as_str(&out), STR("\"\\u0041\\/\\ud800\xEF\xBF\xBD\""));
	json_write_init(&w, &out, 0);
	json_copy(&w, &j, JSON_NONE);
	EQ(json_write_done(&w, &err), STATUS_INTERNAL);
	json_write_init(&w, &out, 0);
	json_copy_valid(&w, &j, JSON_NONE);
	EQ(json_write_done(&w, &err), STATUS_INTERNAL);
	buf_release(&out);
	json_release(&j);
}

/* One letter a call: { } [ ] begin and end, k key, v value, e empty raw. */
static enum status write_calls(const char *calls, struct buf *out)
{
	struct json_writer w;
	struct err err;

	buf_clear(out);
	json_write_init(&w, out, 0);
	for (; *calls; calls++)
		switch (*calls) {
		case '{':
			json_write_object_begin(&w);
			break;
		case '}':
			json_write_object_end(&w);
			break;
		case '[':
			json_write_array_begin(&w);
			break;
		case ']':
			json_write_array_end(&w);
			break;
		case 'k':
			json_write_key(&w, STR("k"));
			break;
		case 'v':
			json_write_i64(&w, 1);
			break;
		default:
			json_write_raw(&w, STR(""));
		}
	return json_write_done(&w, &err);
}

TEST(misuse_of_the_writer_is_remembered)
{
	static const char *const right[] = { "v", "[]", "{}", "[vv]", "{kvkv}", "{k[v{}]k{}}", "[[][]]" };
	static const char *const wrong[] = { "",     "k",     "]",    "}",  "vv",  "[]v",  "[]]",
					     "[",    "{",     "[}",   "{]", "{v}", "{k}",  "{kk",
					     "[k]",  "{kv",   "{kvv", "e",  "[e]", "{k]v", "v[",
					     "{k{}", "{kvv}", "[]{}", "{}k" };
	struct buf out = BUF_INIT(1000);

	for (size_t i = 0; i < COUNT(right); i++)
		if (write_calls(right[i], &out) != STATUS_OK)
			t_fail(t, __FILE__, __LINE__, "%s was refused", right[i]);
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (write_calls(wrong[i], &out) != STATUS_INTERNAL)
			t_fail(t, __FILE__, __LINE__, "%s was accepted", wrong[i]);
	buf_release(&out);
}

TEST(the_writer_nests_as_deep_as_its_limit_and_no_deeper)
{
	struct buf out = BUF_INIT(64 * KIB);
	struct json j = JSON_INIT;
	struct json_writer w;
	struct err err;

	json_write_init(&w, &out, 0);
	for (int i = 0; i < LIMIT_JSON_DEPTH; i++) {
		(i % 3 ? json_write_array_begin : json_write_object_begin)(&w);
		if (i % 3 == 0)
			json_write_key(&w, STR("k"));
	}
	json_write_null(&w);
	for (int i = LIMIT_JSON_DEPTH - 1; i >= 0; i--)
		(i % 3 ? json_write_array_end : json_write_object_end)(&w);
	OK(json_write_done(&w, &err));
	OK(json_read(&j, buf_as_str(&out), LIMIT_JSON_DEPTH, &err));
	EQ(json_read(&j, buf_as_str(&out), LIMIT_JSON_DEPTH - 1, &err), STATUS_LIMIT);
	buf_clear(&out);
	json_write_init(&w, &out, 0);
	for (int i = 0; i <= LIMIT_JSON_DEPTH; i++)
		json_write_array_begin(&w);
	EQ(json_write_done(&w, &err), STATUS_INTERNAL);
	buf_release(&out);
	json_release(&j);
}

TEST(a_full_buffer_is_a_limit_and_not_misuse)
{
	struct buf out = BUF_INIT(5);
	struct json_writer w;
	struct err err;

	json_write_init(&w, &out, 0);
	json_write_array_begin(&w);
	json_write_string(&w, STR("too long"));
	json_write_array_end(&w);
	EQ(json_write_done(&w, &err), STATUS_LIMIT);
	buf_release(&out);
}

/* ---- The table ---- */

struct table_case {
	int line;
	struct str head, text, want;
};

static void unescape(struct str s, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < s.n; i++) {
		unsigned byte;

		if (s.n - i >= 4 && s.p[i] == '\\' && s.p[i + 1] == 'x' &&
		    sscanf(s.p + i + 2, "%2x", &byte) == 1) {
			buf_byte(out, (char)byte);
			i += 3;
		} else {
			buf_byte(out, s.p[i]);
		}
	}
}

/* The next three lines that are neither blank nor comment. */
static bool next_case(struct str *rest, int *line, struct table_case *c)
{
	struct str *part[] = { &c->head, &c->text, &c->want };
	size_t have = 0;

	while (have < COUNT(part) && rest->n) {
		struct str l = str_cut(*rest, '\n', rest);

		++*line;
		if (have == 0 && (l.n == 0 || l.p[0] == '#'))
			continue;
		if (have == 0)
			c->line = *line;
		*part[have++] = l;
	}
	return have == COUNT(part);
}

struct table_head {
	bool accept;
	unsigned flags;
	uint32_t depth;
};

static bool parse_head(struct str head, struct table_head *h)
{
	struct str word = str_cut(head, ' ', &head);

	*h = (struct table_head){ .accept = str_eq(word, STR("accept")) };
	if (!h->accept && !str_eq(word, STR("reject")))
		return false;
	while (head.n) {
		uint64_t depth;

		word = str_cut(head, ' ', &head);
		if (str_eq(word, STR("bad-utf8")))
			h->flags |= JSON_BAD_UTF8;
		else if (str_eq(word, STR("lone-surrogate")))
			h->flags |= JSON_LONE_SURROGATE;
		else if (str_has_prefix(word, STR("depth=")) &&
			 str_to_u64(str_sub(word, 6, SIZE_MAX), &depth))
			h->depth = (uint32_t)depth;
		else
			return false;
	}
	return true;
}

static void table_accept(struct t *t, const struct table_case *c, const struct table_head *h, struct json *j)
{
	struct buf got = BUF_INIT(1 * MIB), want = BUF_INIT(1 * MIB);
	struct json_writer w;
	struct err err;

	if ((j->flags & ~(unsigned)JSON_ESCAPED) != h->flags)
		t_fail(t, "json.test", c->line, "flags are %u", j->flags);
	json_write_init(&w, &got, 0);
	rewrite(j, 0, &w);
	OK(json_write_done(&w, &err));
	unescape(c->want, &want);
	if (!str_eq(buf_as_str(&got), buf_as_str(&want)))
		t_fail(t, "json.test", c->line, "rewritten as %.*s", STR_ARG(buf_as_str(&got)));
	buf_release(&got);
	buf_release(&want);
}

static void table_reject(struct t *t, const struct table_case *c, const struct json *j, const struct err *e)
{
	struct str words, number = str_cut(c->want, ' ', &words);
	char expected[200];
	uint64_t at;

	snprintf(expected, sizeof expected, "%.*s", STR_ARG(words));
	if (!str_to_u64(number, &at) || !words.n)
		t_fail(t, "json.test", c->line, "the third line needs an offset and what was expected");
	else if (j->error_at != at || !strstr(e->text, expected))
		t_fail(t, "json.test", c->line, "refused with: %s", e->text);
}

static void run_case(struct t *t, const struct table_case *c, struct json *j)
{
	struct buf text = BUF_INIT(1 * MIB);
	struct table_head h;
	struct err err;
	enum status s;
	char *exact;

	unescape(c->text, &text);
	exact = mem_alloc(text.n + !text.n);
	memcpy(exact, text.p, text.n);
	if (!parse_head(c->head, &h)) {
		t_fail(t, "json.test", c->line, "cannot understand '%.*s'", STR_ARG(c->head));
	} else {
		s = json_read(j, str_from(exact, text.n), h.depth, &err);
		if (h.accept != (s == STATUS_OK))
			t_fail(t, "json.test", c->line, "%s", s == STATUS_OK ? "was accepted" : err.text);
		else if (h.accept)
			table_accept(t, c, &h, j);
		else
			table_reject(t, c, j, &err);
	}
	mem_free(exact);
	buf_release(&text);
}

TEST(the_table_of_cases_holds)
{
	struct json j = JSON_INIT;
	struct table_case c;
	struct buf table;
	struct str rest;
	int line = 0, cases = 0;

	NEED(t_read_file(t, "test/table/json.test", &table));
	rest = buf_as_str(&table);
	for (; next_case(&rest, &line, &c); cases++)
		run_case(t, &c, &j);
	CHECK(cases >= 120);
	json_release(&j);
	buf_release(&table);
}

/* ---- The public suite ---- */

static const char *suite_dir(void)
{
	static char path[4096];
	const char *shared = getenv("ARBOR_SHARED");

	snprintf(path, sizeof path, "%s/fixtures/json-suite", shared ? shared : "../shared");
	return path;
}

static bool read_suite_file(struct t *t, const char *name, struct json *j, struct buf *text, enum status *s)
{
	char path[8192];
	struct err err;

	snprintf(path, sizeof path, "%s/%s", suite_dir(), name);
	if (!t_read_file(t, path, text))
		return false;
	*s = json_read(j, buf_as_str(text), 0, &err);
	return true;
}

TEST(the_public_suite_is_accepted_and_refused_as_it_says)
{
	DIR *dir = opendir(suite_dir());
	int accepted = 0, refused = 0;
	struct json j = JSON_INIT;
	struct dirent *entry;

	if (!dir)
		SKIP("no JSON suite: set ARBOR_SHARED to the folder that has fixtures/json-suite");
	while ((entry = readdir(dir))) {
		char kind = entry->d_name[0];
		struct buf text;
		enum status s;

		if ((kind != 'y' && kind != 'n') || !read_suite_file(t, entry->d_name, &j, &text, &s))
			continue;
		if ((kind == 'y') != (s == STATUS_OK))
			t_fail(t, __FILE__, __LINE__, "%s: %s", entry->d_name,
			       s == STATUS_OK ? "accepted" : "refused");
		accepted += s == STATUS_OK;
		refused += s != STATUS_OK;
		buf_release(&text);
	}
	closedir(dir);
	EQ(accepted, 95);
	EQ(refused, 188);
	json_release(&j);
}

static struct str verdict(enum status s, unsigned flags)
{
	if (s != STATUS_OK)
		return STR("rejected");
	if (flags & JSON_BAD_UTF8)
		return STR("accepted, bad UTF-8");
	return flags & JSON_LONE_SURROGATE ? STR("accepted, lone surrogate") : STR("accepted");
}

/* Rows of docs/JSON.md: | `i_name.json` | verdict | why | */
TEST(the_free_cases_are_decided_as_documented)
{
	struct json j = JSON_INIT;
	struct buf doc;
	struct str rest;
	int rows = 0;
	DIR *dir = opendir(suite_dir());

	if (!dir)
		SKIP("no JSON suite: set ARBOR_SHARED to the folder that has fixtures/json-suite");
	closedir(dir);
	NEED(t_read_file(t, "docs/JSON.md", &doc));
	for (rest = buf_as_str(&doc); rest.n;) {
		struct str line = str_cut(rest, '\n', &rest), cell;
		struct buf text;
		char name[256];
		enum status s;

		if (!str_has_prefix(line, STR("| `i_")))
			continue;
		cell = str_trim(str_cut(str_sub(line, 1, SIZE_MAX), '|', &line));
		snprintf(name, sizeof name, "%.*s", STR_ARG(str_sub(cell, 1, cell.n - 2)));
		NEED(read_suite_file(t, name, &j, &text, &s));
		if (!EQS(verdict(s, j.flags), str_trim(str_cut(line, '|', &line))))
			t_fail(t, __FILE__, __LINE__, "in the row of %s", name);
		buf_release(&text);
		rows++;
	}
	EQ(rows, 35);
	json_release(&j);
	buf_release(&doc);
}

TESTS(CASE(every_kind_of_value_has_its_entry_and_span), CASE(spans_and_the_gaps_between_them_are_the_text),
      CASE(an_object_gives_its_members_by_name), CASE(looking_into_nothing_gives_nothing),
      CASE(the_last_of_equal_keys_wins_and_all_stay_on_the_tape),
      CASE(integers_are_read_only_when_they_are_integers_and_fit),
      CASE(a_million_nested_arrays_need_no_stack), CASE(the_depth_limit_counts_open_containers),
      CASE(an_error_names_the_place_and_what_was_expected), CASE(a_text_over_32_bits_is_refused_unread),
      CASE(a_tape_is_used_again_and_again), CASE(every_proper_prefix_is_refused_within_its_bounds),
      CASE(escapes_decode_to_what_they_stand_for), CASE(half_pairs_and_bad_bytes_become_one_replacement_each),
      CASE(clean_strings_are_borrowed_and_others_are_not), CASE(decoding_respects_the_maximum_of_the_buffer),
      CASE(every_byte_is_special_to_both_scanners_or_to_none),
      CASE(specials_are_found_at_every_position_and_alignment),
      CASE(strings_are_read_at_every_alignment_with_specials_anywhere),
      CASE(random_changes_are_scanned_alike_by_both_variants),
      CASE(random_changes_give_an_error_or_a_value_that_survives_rewriting),
      CASE(a_real_number_is_written_with_the_digits_that_bring_it_back),
      CASE(the_writer_puts_commas_and_colons_where_they_belong),
      CASE(indented_output_looks_as_json_stringify_makes_it), CASE(only_what_must_be_escaped_is_escaped),
      CASE(copied_values_stay_byte_for_byte), CASE(misuse_of_the_writer_is_remembered),
      CASE(the_writer_nests_as_deep_as_its_limit_and_no_deeper),
      CASE(a_full_buffer_is_a_limit_and_not_misuse), CASE(the_table_of_cases_holds),
      CASE(the_public_suite_is_accepted_and_refused_as_it_says),
      CASE(the_free_cases_are_decided_as_documented))
