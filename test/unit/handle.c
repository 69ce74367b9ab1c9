/*
 * Handles: the table test/table/handle.test, and what holds for every handle, tried with 100,000 of
 * them that are made of what breaks such forms: ':' '%' '@' '.', line ends, NUL, emoji, nothing.
 */
#include "base/handle.h"

#include "base/utf8.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 100000 };

/* ---- Random handles ------------------------------------------------------------------- */

struct random {
	uint64_t state;
	struct arena mem;
};

static uint32_t next(struct random *r, uint32_t below)
{
	r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(r->state >> 33) % below;
}

static struct str random_text(struct random *r, bool some)
{
	static const char *const pieces[] = { ":",	    "::",
					      "%",	    "%3A",
					      "%25",	    "%",
					      "@",	    ".",
					      "\n",	    "\t",
					      "\x7f",	    "\"",
					      "\\",	    "{",
					      "}",	    " ",
					      "/",	    "a",
					      "B",	    "0",
					      "-",	    "ä",
					      "🌳",	    "漢",
					      "\xc2\x85",   "\xe2\x80\xa8",
					      "toolu_01AB", "1.0.0",
					      "null",	    "" };
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	uint32_t count = next(r, 5) + some;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = next(r, COUNT(pieces) + 1);

		if (at == COUNT(pieces))
			buf_byte(&text, '\0');
		else
			buf_text(&text, pieces[at]);
	}
	if (some && !text.n)
		buf_byte(&text, 'x');
	return arena_str(&r->mem, buf_as_str(&text));
}

static struct handle random_handle(struct random *r)
{
	struct handle h = { .plugin = random_text(r, true),
			    .version = random_text(r, true),
			    .method = random_text(r, true),
			    .meta_count = next(r, 6) };
	struct str *meta = arena_alloc(&r->mem, (h.meta_count + 1) * sizeof *meta);

	if (next(r, 4) == 0)
		h.hub = random_text(r, true);
	for (size_t i = 0; i < h.meta_count; i++)
		meta[i] = random_text(r, false);
	h.meta = meta;
	return h;
}

static bool same_parts(const struct handle *a, const struct handle *b)
{
	bool same = str_eq(a->hub, b->hub) && str_eq(a->version, b->version) &&
		    str_eq(a->method, b->method) && a->meta_count == b->meta_count;

	for (size_t i = 0; same && i < a->meta_count; i++)
		same = str_eq(a->meta[i], b->meta[i]);
	return same;
}

/* ---- What holds for all of them ---------------------------------------------------------- */

TEST(what_is_printed_as_text_is_read_again_whatever_it_holds)
{
	struct random r = { .state = 1 };
	struct err err;

	for (int i = 0; i < MANY; i++) {
		struct handle h = random_handle(&r), again;
		struct str text = handle_text(&h, &r.mem);

		OK(handle_check(&h, &err));
		OK(handle_parse(text, &r.mem, &again, &err));
		if (!same_parts(&h, &again) || !str_eq(h.plugin, again.plugin) || !handle_eq(&h, &again))
			t_fail(t, __FILE__, __LINE__, "'%.*s' is read as another", STR_ARG(text));
		CHECK(str_eq(handle_text(&again, &r.mem), text));
		if (i % 1000 == 999)
			arena_release(&r.mem);
	}
	arena_release(&r.mem);
}

TEST(the_text_of_a_handle_is_one_line_that_any_terminal_bears)
{
	struct random r = { .state = 2 };

	for (int i = 0; i < MANY; i++) {
		struct handle h = random_handle(&r);
		struct str text = handle_text(&h, &r.mem);

		CHECK(utf8_valid(text));
		for (size_t at = 0; at < text.n;) {
			int32_t c = utf8_next(text, &at);

			CHECK(c >= 0x20 && (c < 0x7f || c >= 0xa0));
		}
		CHECK(handle_is_like(text));
		if (i % 1000 == 999)
			arena_release(&r.mem);
	}
	arena_release(&r.mem);
}

TEST(what_is_written_as_json_is_read_again_and_empty_meta_left_out)
{
	struct random r = { .state = 3 };
	struct buf json CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	for (int i = 0; i < MANY; i++) {
		struct handle h = random_handle(&r), again;
		struct json_writer w;

		buf_clear(&json);
		json_write_init(&w, &json, 0);
		handle_write(&h, &w);
		OK(json_write_done(&w, &err));
		OK(handle_parse(buf_as_str(&json), &r.mem, &again, &err));
		if (!same_parts(&h, &again) || !handle_eq(&h, &again))
			t_fail(t, __FILE__, __LINE__, "%.*s is read as another", STR_ARG(buf_as_str(&json)));
		CHECK((h.meta_count == 0) == (strstr(json.p, "\"meta\":[") == NULL) ||
		      json.n != strlen(json.p));
		if (i % 1000 == 999)
			arena_release(&r.mem);
	}
	arena_release(&r.mem);
}

TEST(handles_are_equal_when_all_their_parts_are)
{
	struct random r = { .state = 4 };

	for (int i = 0; i < MANY; i++) {
		struct handle a = random_handle(&r), b = a;
		struct str *meta = arena_alloc(&r.mem, (a.meta_count + 2) * sizeof *meta);
		struct str more = arena_printf(&r.mem, "%.*s+", STR_ARG(a.method));

		memcpy(meta, a.meta, a.meta_count * sizeof *meta);
		b.meta = meta;
		CHECK(handle_eq(&a, &b) && handle_eq(&b, &a));
		switch (next(&r, 5)) {
		case 0:
			b.plugin = arena_printf(&r.mem, "%.*sx", STR_ARG(str_sub(a.plugin, 0, 1)));
			break;
		case 1:
			b.version = more;
			break;
		case 2:
			b.method = more;
			break;
		case 3:
			b.meta_count++; /* an empty one more is another */
			break;
		default:
			b.hub = more;
			break;
		}
		if (str_eq(a.plugin, b.plugin) && same_parts(&a, &b))
			continue;
		CHECK(!handle_eq(&a, &b) && !handle_eq(&b, &a));
		if (i % 1000 == 999)
			arena_release(&r.mem);
	}
	arena_release(&r.mem);
}

TEST(the_order_of_meta_is_kept_and_counts)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle a, b;
	struct err err;

	OK(handle_parse(STR("p@1::m:x:y:z"), &mem, &a, &err));
	OK(handle_parse(STR("p@1::m:z:y:x"), &mem, &b, &err));
	EQS(handle_meta(&a, 0), STR("x"));
	EQS(handle_meta(&a, 2), STR("z"));
	CHECK(!handle_meta(&a, 3).p);
	CHECK(!handle_eq(&a, &b));
}

/* Bytes changed at random: whatever still is a handle can be printed and read. */
TEST(no_bytes_at_all_break_reading)
{
	struct random r = { .state = 5 };
	struct err err;
	int read = 0;

	for (int i = 0; i < MANY; i++) {
		struct handle h = random_handle(&r), again;
		struct buf text CLEANUP(buf_release) = BUF_INIT(64 * KIB);

		handle_print(&h, &text);
		for (uint32_t n = next(&r, 4); n; n--)
			text.p[next(&r, (uint32_t)text.n)] = (char)next(&r, 256);
		if (handle_parse(buf_as_str(&text), &r.mem, &h, &err) == STATUS_OK) {
			read++;
			OK(handle_parse(handle_text(&h, &r.mem), &r.mem, &again, &err));
			CHECK(handle_eq(&h, &again));
		} else {
			CHECK(err.status == STATUS_FORMAT && strncmp(err.text, "handle", 6) == 0);
		}
		if (i % 1000 == 999)
			arena_release(&r.mem);
	}
	CHECK(read > MANY / 10 && read < MANY);
	arena_release(&r.mem);
}

/* ---- The table ------------------------------------------------------------------------- */

/* "\xNN" for bytes that do not show. */
static void show_bytes(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 0x20 || c == 0x7f || (c == 0x85 && i && (unsigned char)s.p[i - 1] == 0xc2) ||
		    (c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] == 0x85))
			buf_printf(out, "\\x%02X", c);
		else
			buf_byte(out, (char)c);
	}
}

static void show_handle(struct buf *out, const struct handle *h)
{
	const struct str parts[] = { h->hub, h->plugin, h->version, h->method };

	for (size_t i = 0; i < COUNT(parts); i++) {
		buf_text(out, i ? "|" : "");
		show_bytes(out, parts[i]);
	}
	for (size_t i = 0; i < h->meta_count; i++) {
		buf_byte(out, '|');
		show_bytes(out, h->meta[i]);
	}
}

static void check_case(struct t *t, struct str text, struct str want)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf got CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err = { 0 };
	struct handle h;
	enum status status = handle_parse(text, &mem, &h, &err);

	if (str_has_prefix(want, STR("! "))) {
		if (status == STATUS_OK || !strstr(err.text, arena_cstr(&mem, str_sub(want, 2, SIZE_MAX))))
			t_fail(t, __FILE__, __LINE__, "'%.*s': '%s', wanted '%.*s'", STR_ARG(text), err.text,
			       STR_ARG(want));
		return;
	}
	if (status != STATUS_OK) {
		t_fail(t, __FILE__, __LINE__, "'%.*s': %s", STR_ARG(text), err.text);
		return;
	}
	if (str_has_prefix(want, STR("= "))) {
		handle_print(&h, &got);
		want = str_sub(want, 2, SIZE_MAX);
	} else {
		show_handle(&got, &h);
	}
	if (!str_eq(buf_as_str(&got), want))
		t_fail(t, __FILE__, __LINE__, "'%.*s' is '%s', wanted '%.*s'", STR_ARG(text), got.p,
		       STR_ARG(want));
}

TEST(every_handle_in_the_table_is_what_it_says)
{
	struct buf file;
	struct str rest, line;
	int cases = 0;

	if (!t_read_file(t, "test/table/handle.test", &file))
		return;
	for (rest = buf_as_str(&file); rest.n; cases++) {
		const char *arrow;

		line = str_cut(rest, '\n', &rest);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		arrow = memmem(line.p, line.n, " => ", 4);
		NEED(arrow);
		check_case(t, str_sub(line, 0, (size_t)(arrow - line.p)),
			   str_sub(line, (size_t)(arrow - line.p) + 4, SIZE_MAX));
	}
	CHECK(cases > 90);
	buf_release(&file);
}

/* ---- Plugins --------------------------------------------------------------------------- */

static void check_id(struct t *t, const char *name, const char *want)
{
	struct uuid id = plugin_id_of(str_of(name), STR("1.0.0"));
	char text[UUID_TEXT + 1];

	uuid_print(&id, text);
	EQS(str_of(text), str_of(want));
}

TEST(plugin_ids_are_those_that_other_programs_compute)
{
	check_id(t, "health", "dc560257-b7c5-575b-b893-b448c87ca797");
	check_id(t, "cone", "11429815-0a5e-5fcc-baf2-842ab3666e77");
	check_id(t, "bash", "c425933b-2db7-5bb1-a608-9dd88143fce3");
	check_id(t, "arbor", "58fd2bc4-b477-509b-9568-c5aee56f1bc0");
	check_id(t, "claudecode", "51b330e5-ed88-5fe2-8b58-0c57f2b02ab3");
	check_id(t, "mustache", "66b81c90-4121-5795-bd5a-4927d9eed131");
	check_id(t, "loopback", "2f691db1-88f4-5dbd-8d30-73ca00abf9fd");
}

TEST(a_plugin_is_the_same_by_name_and_by_id_and_in_every_version_of_a_major)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle name, id, minor, major;
	struct uuid a, b;
	struct err err;

	OK(handle_parse(STR("claudecode@1.0.0::m:x"), &mem, &name, &err));
	OK(handle_parse(STR("51B330E5-ed88-5fe2-8b58-0c57f2b02ab3@1.0.0::m:x"), &mem, &id, &err));
	CHECK(handle_eq(&name, &id));
	OK(handle_parse(STR("claudecode@1.9::m:x"), &mem, &minor, &err));
	a = handle_plugin_id(&name);
	b = handle_plugin_id(&minor);
	CHECK(uuid_eq(&a, &b) && !handle_eq(&name, &minor));
	OK(handle_parse(STR("claudecode@2.0.0::m:x"), &mem, &major, &err));
	b = handle_plugin_id(&major);
	CHECK(!uuid_eq(&a, &b));
}

TEST(the_major_of_a_version_is_the_number_in_front)
{
	uint64_t n = 7;

	CHECK(handle_major(STR("1.0.0"), &n) && n == 1);
	CHECK(handle_major(STR("12"), &n) && n == 12);
	CHECK(handle_major(STR("0.1"), &n) && n == 0);
	CHECK(!handle_major(STR("v1.0"), &n) && !handle_major(STR(""), &n) && !handle_major(STR(".1"), &n));
}

/* ---- The older form, limits --------------------------------------------------------------- */

TEST(the_older_form_is_kept_as_it_was_given_on_one_line)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle h, again;
	struct err err;

	OK(handle_parse(STR(" {\"source\" : \"cone\",\n\t\"source_version\":\"1.0.0\", "
			    "\"identifier\":\"msg-1:user\"}\n"),
			&mem, &h, &err));
	EQS(h.plugin, STR("cone"));
	EQS(h.identifier, STR("msg-1:user"));
	EQS(handle_text(&h, &mem),
	    STR("{\"source\" : \"cone\",  \"source_version\":\"1.0.0\", \"identifier\":\"msg-1:user\"}"));
	OK(handle_parse(handle_text(&h, &mem), &mem, &again, &err));
	CHECK(handle_eq(&h, &again));
	OK(handle_parse(STR("cone@1.0.0::message:1"), &mem, &again, &err));
	CHECK(!handle_eq(&h, &again));
}

TEST(a_handle_has_a_longest_length_in_every_form)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_HANDLE_TEXT);
	struct handle h;
	struct err err;

	buf_text(&text, "p@1::m:");
	while (text.n < LIMIT_HANDLE)
		buf_byte(&text, 'x');
	OK(handle_parse(buf_as_str(&text), &mem, &h, &err));
	while (text.n < LIMIT_HANDLE + 8)
		buf_byte(&text, 'x');
	EQ(handle_parse(buf_as_str(&text), &mem, &h, &err), STATUS_LIMIT);
	while (text.n <= LIMIT_HANDLE_TEXT)
		buf_byte(&text, 'x');
	EQ(handle_parse(buf_as_str(&text), &mem, &h, &err), STATUS_LIMIT);

	buf_clear(&text);
	buf_text(&text, "p@1::m");
	for (int i = 0; i < LIMIT_HANDLE_META; i++)
		buf_byte(&text, ':');
	OK(handle_parse(buf_as_str(&text), &mem, &h, &err));
	EQ(h.meta_count, LIMIT_HANDLE_META);
	buf_byte(&text, ':');
	EQ(handle_parse(buf_as_str(&text), &mem, &h, &err), STATUS_LIMIT);

	/* Of the longest that there is, every form can be read again. */
	buf_clear(&text);
	buf_text(&text, "{\"plugin_id\":\"p\",\"version\":\"1\",\"method\":\"m\",\"meta\":[\"");
	for (size_t i = 0; i < LIMIT_HANDLE - 3; i++)
		buf_byte(&text, ':');
	buf_text(&text, "\"]}");
	OK(handle_parse(buf_as_str(&text), &mem, &h, &err));
	OK(handle_parse(handle_text(&h, &mem), &mem, &h, &err));
	EQ(handle_meta(&h, 0).n, LIMIT_HANDLE - 3);
}

TEST(ids_and_paths_are_not_taken_for_handles)
{
	static const char *const handles[] = { "p@1::m", "a.b.p@1.0.0::m:x/y", "p::m", " {\"plugin_id\":1}" };
	static const char *const others[] = { "",
					      "@",
					      "@~1",
					      "@@6f1c",
					      "6f1c@0b7f",
					      "toolu_01AB",
					      "claude:0b7f",
					      "projects/a::b.jsonl",
					      "/x/y::z",
					      "claude:projects/a::b" };

	for (size_t i = 0; i < COUNT(handles); i++)
		CHECK(handle_is_like(str_of(handles[i])));
	for (size_t i = 0; i < COUNT(others); i++)
		CHECK(!handle_is_like(str_of(others[i])));
}

TESTS(CASE(what_is_printed_as_text_is_read_again_whatever_it_holds),
      CASE(the_text_of_a_handle_is_one_line_that_any_terminal_bears),
      CASE(what_is_written_as_json_is_read_again_and_empty_meta_left_out),
      CASE(handles_are_equal_when_all_their_parts_are), CASE(the_order_of_meta_is_kept_and_counts),
      CASE(no_bytes_at_all_break_reading), CASE(every_handle_in_the_table_is_what_it_says),
      CASE(plugin_ids_are_those_that_other_programs_compute),
      CASE(a_plugin_is_the_same_by_name_and_by_id_and_in_every_version_of_a_major),
      CASE(the_major_of_a_version_is_the_number_in_front),
      CASE(the_older_form_is_kept_as_it_was_given_on_one_line),
      CASE(a_handle_has_a_longest_length_in_every_form), CASE(ids_and_paths_are_not_taken_for_handles))
