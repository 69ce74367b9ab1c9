/*
 * Transcript lines: test/table/record.test says what each kind of line is; here is
 * what cannot be written in a table, and what holds for any bytes.
 */
#include "base/clock.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "claude/record.h"
#include "t.h"

#include <string.h>

/* ---- Records as text ---------------------------------------------------------- */

static void put_string(struct buf *out, const char *name, struct str s)
{
	struct json_writer w;

	if (!s.p)
		return;
	buf_text(out, name);
	json_write_init(&w, out, 0);
	json_write_string(&w, s);
}

static void put_blocks(struct buf *out, const struct record_reader *r, const struct record *rec)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(r, rec, &at, &b)) {
		buf_clear(&text);
		block_text(r, &b, &text);
		buf_printf(out, "  %" PRIu32 " %s/%s", b.index, block_kind_name(b.kind),
			   record_place_name(b.place));
		put_string(out, " name=", b.name);
		put_string(out, " tool=", b.tool);
		buf_text(out, b.is_error ? " error" : "");
		put_string(out, " ", text.n ? buf_as_str(&text) : (struct str){ 0 });
		buf_byte(out, '\n');
	}
}

/* In the order of enum record_flag. */
static const char *const flag_names[] = {
	"prompt",   "queued", "notice",	 "meta",    "compact", "boundary", "sent",	"result",  "sidechain",
	"embedded", "asked",  "stopped", "cut-off", "failed",  "synthetic", "mute",    "explicit",
	"speaks",   "task",   "command", "enqueued",
};

static void put_record(struct buf *out, struct record_reader *r, const struct record *rec)
{
	static const char *const notes[] = { [NOTE_TAG] = " tag=", [NOTE_MODE] = " mode=", [NOTE_PULL] = " pull=" };
	struct buf text CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	enum record_note note;
	char time[TIME_TEXT + 1];
	struct str noted;

	buf_text(out, record_type_name(rec->type));
	for (unsigned i = 0; i < COUNT(flag_names); i++)
		if (rec->flags & 1u << i)
			buf_printf(out, " %s", flag_names[i]);
	if (rec->type == RECORD_OTHER)
		put_string(out, " type=", rec->type_name);
	put_string(out, " uuid=", rec->uuid);
	put_string(out, " parent=", rec->parent);
	put_string(out, " link=", rec->link);
	put_string(out, " agent=", rec->agent);
	put_string(out, " message=", rec->message_id);
	put_string(out, " model=", rec->model);
	put_string(out, " cwd=", rec->cwd);
	put_string(out, " branch=", rec->branch);
	put_string(out, " permission=", rec->permission);
	if (rec->has_time) {
		time_print(rec->at, time);
		buf_printf(out, " at=%s", time);
	}
	put_string(out, " title=", record_title(r, rec));
	note = record_note(r, rec, &noted);
	if (note != NOTE_NONE)
		put_string(out, notes[note], noted);
	record_text(r, rec, &text);
	put_string(out, " says=", text.n ? buf_as_str(&text) : (struct str){ 0 });
	buf_byte(out, '\n');
	put_blocks(out, r, rec);
}

/* All records of a line. Says so when they are not the whole line, in order. */
static void put_line(struct buf *out, struct record_reader *r, struct str line)
{
	struct record rec;
	size_t at = 0;

	record_begin(r, line);
	while (record_next(r, &rec)) {
		if (rec.bytes.p != line.p + at || rec.bytes.n == 0)
			buf_text(out, "NOT WHERE IT SHOULD BE: ");
		at += rec.bytes.n;
		put_record(out, r, &rec);
	}
	if (at < line.n && str_trim(str_sub(line, at, SIZE_MAX)).n)
		buf_text(out, "SOMETHING IS MISSING\n");
}

#define READER struct record_reader CLEANUP(record_reader_release)

static void check_line(struct t *t, int number, struct str line, struct str want)
{
	READER r = RECORD_READER_INIT;
	struct buf got CLEANUP(buf_release) = BUF_INIT(256 * MIB);

	put_line(&got, &r, line);
	if (!str_eq(buf_as_str(&got), want))
		t_fail(t, __FILE__, number, "%.*s\n# gives\n%.*s# wanted\n%.*s", (int)size_min(line.n, 400),
		       line.p, STR_ARG(buf_as_str(&got)), STR_ARG(want));
}

#define LINE(line, want) check_line(t, __LINE__, STR(line), STR(want))

TEST(every_line_in_the_table_is_what_it_says)
{
	struct buf file;
	struct str rest, line;
	int cases = 0;

	if (!t_read_file(t, "test/table/record.test", &file))
		return;
	for (rest = buf_as_str(&file); rest.n;) {
		struct str start, want;

		line = str_cut(rest, '\n', &rest);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		for (start = rest; rest.n && rest.p[0] != '\n';)
			str_cut(rest, '\n', &rest);
		want = rest.p ? str_from(start.p, (size_t)(rest.p - start.p)) : start;
		check_line(t, __LINE__, line, want);
		cases++;
	}
	CHECK(cases > 100);
	buf_release(&file);
}

/* ---- What a table cannot hold --------------------------------------------------- */

TEST(white_space_alone_is_no_record_and_white_space_around_one_belongs_to_it)
{
	READER r = RECORD_READER_INIT;
	struct record rec;

	LINE("", "");
	LINE(" \t\r", "");
	LINE("\v\f", "");
	check_line(t, __LINE__, (struct str){ 0 }, STR(""));
	record_begin(&r, STR(" {} \t{} \r"));
	NEED(record_next(&r, &rec));
	EQS(rec.bytes, STR(" {} \t"));
	NEED(record_next(&r, &rec));
	EQS(rec.bytes, STR("{} \r"));
	CHECK(!record_next(&r, &rec));
	CHECK(!record_next(&r, &rec));
}

TEST(bytes_that_are_no_text_break_a_line_or_become_replacements)
{
	LINE("\0\0\0{\"type\":\"user\"}", "broken\n");
	LINE("{\"type\":\"user\"\0}", "broken\n");
	LINE("{\"type\":\"us\0er\"}", "broken\n");
	LINE("\xef\xbb\xbf{\"type\":\"user\"}", "broken\n");
	LINE("{\"type\":\"user\",\"message\":{\"content\":\"a\x80z\"}}",
	     "user prompt\n  0 text/prompt \"a\xef\xbf\xbdz\"\n");
	LINE("{\"type\":\"user\",\"uuid\":\"\xff\xfe\"}", "user uuid=\"\xef\xbf\xbd\xef\xbf\xbd\"\n");
	LINE("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\xf0\x9f\x98\"}"
	     "]}}",
	     "assistant speaks\n  0 text/answer \"\xef\xbf\xbd\"\n");
}

static void nest(struct buf *out, int depth, const char *open, const char *inner, const char *close)
{
	for (int i = 0; i < depth; i++)
		buf_text(out, open);
	buf_text(out, inner);
	for (int i = 0; i < depth; i++)
		buf_text(out, close);
}

TEST(a_line_may_be_nested_as_deep_as_the_limit_and_is_broken_beyond)
{
	static const int beyond[] = { -1, 0, 1, 100 };

	for (size_t i = 0; i < COUNT(beyond); i++) {
		struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);
		struct buf want CLEANUP(buf_release) = BUF_INIT(MIB);
		int depth = LIMIT_JSON_DEPTH - 4 + beyond[i]; /* root, message, content, block */

		buf_text(&line, "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\","
				"\"input\":");
		nest(&line, depth, "[", "\"x\"", "]");
		buf_text(&line, "}]}}");
		buf_text(&want, beyond[i] <= 0 ? "assistant\n  0 tool_use/input \"x\"\n" : "broken\n");
		check_line(t, __LINE__, buf_as_str(&line), buf_as_str(&want));
		/* Another object behind it is not lost with it. */
		buf_text(&line, "{\"type\":\"system\"}");
		if (beyond[i] <= 0) {
			buf_text(&want, "system\n");
			check_line(t, __LINE__, buf_as_str(&line), buf_as_str(&want));
		}
	}
}

TEST(the_first_of_two_glued_objects_is_read_when_the_second_is_broken)
{
	LINE("{\"type\":\"system\"}{\"type\":\"user\",\"mess", "system\nbroken\n");
	LINE("{\"type\":\"system\"}{", "system\nbroken\n");
	LINE("{\"type\":\"system\"}{}{\"type\":\"user\"}{\"a\":1,}", "system\nother\nuser\nbroken\n");
	LINE("{\"type\":\"us{\"type\":\"user\"}", "broken\n");
	LINE("{\"type\":\"user\"},{\"type\":\"user\"}", "broken\n");
}

TEST(many_glued_objects_and_blanks_take_time_in_proportion)
{
	enum { OBJECTS = 300000, BLANKS = 8 * 1024 * 1024 };
	READER r = RECORD_READER_INIT;
	struct buf line CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct record rec;
	size_t count = 0;

	for (int i = 0; i < OBJECTS; i++)
		buf_text(&line, "{}");
	memset(buf_reserve(&line, BLANKS), ' ', BLANKS);
	buf_grew(&line, BLANKS);
	/* So many and no more; the rest is one that cannot be read. */
	for (record_begin(&r, buf_as_str(&line)); record_next(&r, &rec); count++)
		CHECK(rec.type == (count < LIMIT_LINE_RECORDS ? RECORD_OTHER : RECORD_BROKEN));
	EQ(count, LIMIT_LINE_RECORDS + 1);
}

TEST(a_message_of_many_blocks_takes_time_in_proportion)
{
	enum { BLOCKS = 200000 };
	READER r = RECORD_READER_INIT;
	struct buf line CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct block_cursor at = { 0 };
	struct record_block b;
	struct record rec;
	uint32_t count = 0;

	buf_text(&line, "{\"type\":\"user\",\"message\":{\"content\":[");
	for (int i = 0; i < BLOCKS; i++)
		buf_printf(&line, "%s{\"type\":\"text\",\"text\":\"w\\n\"}", i ? "," : "");
	buf_text(&line, "]}}");
	record_begin(&r, buf_as_str(&line));
	NEED(record_next(&r, &rec));
	CHECK(rec.flags & RECORD_PROMPT);
	for (; record_block(&r, &rec, &at, &b); count++) {
		CHECK(b.index == count);
		block_text(&r, &b, &text);
	}
	EQ(count, BLOCKS);
	EQ(text.n, 2 * BLOCKS);
	CHECK(!record_block(&r, &rec, &at, &b));
}

TEST(a_reader_is_used_again_and_again_and_forgets_what_was)
{
	READER r = RECORD_READER_INIT;
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);

	put_line(&got, &r, STR("{\"type\":\"user\",\"uuid\":\"\\u0041\",\"message\":{\"content\":\"hi\"}}"));
	put_line(&got, &r, STR("nothing"));
	put_line(&got, &r, STR("{}"));
	put_line(&got, &r, STR("{\"type\":\"user\"}"));
	EQS(buf_as_str(&got), STR("user prompt uuid=\"A\"\n  0 text/prompt \"hi\"\nbroken\nother\nuser\n"));
}

TEST(only_a_complete_object_is_whole)
{
	READER r = RECORD_READER_INIT;
	struct str line = STR("{\"type\":\"user\",\"a\":[\"\\u0041\",{\"b\":1}]}");

	for (size_t n = 0; n < line.n; n++)
		CHECK(!record_is_whole(&r, str_sub(line, 0, n)));
	CHECK(record_is_whole(&r, line));
	CHECK(!record_is_whole(&r, (struct str){ 0 }));
	CHECK(!record_is_whole(&r, STR("[1]")));
	CHECK(!record_is_whole(&r, STR("12"))); /* could go on */
	CHECK(!record_is_whole(&r, STR("{}{")));
	CHECK(!record_is_whole(&r, STR("{}{}"))); /* the second could not be told from a part */
}

TEST(a_mark_before_the_first_line_of_a_file_is_no_part_of_it)
{
	EQS(record_line(STR("\xef\xbb\xbf{}"), 0), STR("{}"));
	EQS(record_line(STR("\xef\xbb\xbf{}"), 9), STR("\xef\xbb\xbf{}"));
	EQS(record_line(STR("\xef\xbb"), 0), STR("\xef\xbb"));
	EQ(record_line((struct str){ 0 }, 0).n, 0);
}

/* The values come from another program: SHA-256 of what docs/DATA.md says. */
TEST(a_digest_is_of_type_and_blocks_alone)
{
	static const struct {
		const char *line, *digest;
	} list[] = {
		{ "{\"type\":\"user\",\"message\":{\"content\":\"a \\u0041\"}}",
		  "5011d6e5ec96362df5f3abad208920fcc8304688483ca4ec16c5053e4586e28b" },
		{ "{\"uuid\":\"u\",\"type\":\"user\",\"message\":{\"content\":[{\"text\":\"a \\u0041\",\"x\":1,"
		  "\"type\":\"text\"}]}}",
		  "5011d6e5ec96362df5f3abad208920fcc8304688483ca4ec16c5053e4586e28b" },
		{ "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"b\"},"
		  " {\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{\"x\": 1}},\"c\"]}}",
		  "0d1969d1cdad0d822d51ad7f9cf9d289360ad65e6657cb661b23e107625b0b60" },
		{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"file\"}}",
		  "6494440cbdc9806febf83db6162d3a025bcd17843ff736374cb50e971e115fae" },
		{ "{\"type\":\"system\",\"content\":\"done\",\"subtype\":\"informational\"}",
		  "f51fbe7a574bf18b8af8b16255cc002b602c3b7c35338f14568ece4535ddf375" },
		{ "{\"type\":\"progress\",\"data\":1}",
		  "5a1aebe37580cdef8e1588219c1fbcbb24d0b2555b47db3c1f8246d9436d7b69" },
	};

	for (size_t i = 0; i < COUNT(list); i++) {
		READER r = RECORD_READER_INIT;
		uint8_t digest[SHA256_BYTES];
		char hex[2 * SHA256_BYTES + 1];
		struct record rec;

		record_begin(&r, str_of(list[i].line));
		CHECK(record_next(&r, &rec));
		record_digest(&r, &rec, digest);
		hex_encode(digest, sizeof digest, hex);
		EQS(str_of(hex), str_of(list[i].digest));
	}
}

/* ---- Keys ------------------------------------------------------------------------ */

TEST(a_string_is_a_key_when_a_colon_follows_it)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str text = STR(
		"{\"a\":\"b\",\"c\" \t\r\n:\":\",\"\":[\"d:\",{\"e\" :\"f\"},\"g\" ],\":\":\"\"}");
	struct buf keys CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;

	OK(json_read(&j, text, 0, &err));
	for (uint32_t i = 0; i < j.count; i++)
		if (json_is(&j, i, JSON_STRING))
			buf_printf(&keys, "%.*s%s ", STR_ARG(json_raw(&j, i)), json_is_key(&j, i) ? "=" : "");
	EQS(buf_as_str(&keys), STR("\"a\"= \"b\" \"c\"= \":\" \"\"= \"d:\" \"e\"= \"f\" \"g\" \":\"= \"\" "));
	OK(json_read(&j, STR("\"x\""), 0, &err));
	CHECK(!json_is_key(&j, 0));
	OK(json_read(&j, STR(" \"x\"  "), 0, &err));
	CHECK(!json_is_key(&j, 0));
	OK(json_read(&j, STR("{\"n\":1}"), 0, &err));
	CHECK(json_is_key(&j, 1) && !json_is_key(&j, 2) && !json_is_key(&j, 0));
	/* What follows the text in memory is not looked at. */
	OK(json_read(&j, str_sub(STR("\"x\":"), 0, 3), 0, &err));
	CHECK(!json_is_key(&j, 0));
}

/* ---- Titles ----------------------------------------------------------------------- */

static void check_title(struct t *t, int number, struct str prompt, struct str want)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

	record_prompt_title(prompt, &title);
	if (!str_eq(buf_as_str(&title), want))
		t_fail(t, __FILE__, number, "'%.*s', wanted '%.*s'", STR_ARG(buf_as_str(&title)),
		       STR_ARG(want));
}

#define TITLE(prompt, want) check_title(t, __LINE__, STR(prompt), STR(want))

TEST(a_title_is_the_beginning_of_its_prompt_on_one_line)
{
	TITLE("", "");
	check_title(t, __LINE__, (struct str){ 0 }, STR(""));
	TITLE(" \n\t\r\v\f ", "");
	TITLE("fix it", "fix it");
	TITLE("  fix\n\n\tit \r\n now  ", "fix it now");
	TITLE("a\vb\fc", "a b c");
	TITLE("a\0b\x1b[31mred\x7f.", "a b [31mred .");
	TITLE("a\u2028b\u2029c\xc2\x85"
	      "d",
	      "a b c d");
	TITLE("\u00fcber \u691c\u7d22", "\u00fcber \u691c\u7d22");
	TITLE("a\x80\xffz", "a\ufffd\ufffdz");
}

TEST(a_prompt_that_hands_over_a_plan_is_called_as_the_plan_is)
{
	TITLE("Implement the following plan:\n\n# Fix `x` in merges\n\n## Context\n\nwhy", "Fix `x` in merges");
	TITLE("Implement the following plan: # Fix x ## Context why", "Fix x");
	TITLE("Implement the following plan:\n\n## Deeper\r\nmore", "Deeper");
	TITLE("Implement the following plan:\n\nthis\n# Later", "Implement the following plan: this # Later");
	TITLE("Implement the following plan:", "Implement the following plan:");
	TITLE("Implement the following plan:\n\n#\nfirst", "Implement the following plan: # first");
	TITLE("Please implement the following plan:\n# X", "Please implement the following plan: # X");
}

TEST(a_title_is_cut_behind_a_character)
{
	static const char *const one[] = { "x", "\u00e9", "\u691c", "\U0001F600", " y", "\xff" };

	for (size_t i = 0; i < COUNT(one); i++)
		for (int before = 0; before < 4; before++) {
			struct buf prompt CLEANUP(buf_release) = BUF_INIT(MIB);
			struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

			for (int k = 0; k < before; k++)
				buf_byte(&prompt, 'x');
			for (int k = 0; k < 10000; k++)
				buf_text(&prompt, one[i]);
			record_prompt_title(buf_as_str(&prompt), &title);
			CHECK(title.n >= 200 && title.n <= 204 + strlen("…"));
			CHECK(utf8_valid(buf_as_str(&title)));
		}
}

static bool is_transcript(const char *path, const char *session, const char *agent)
{
	char text[UUID_TEXT + 1];
	struct transcript_name name;

	if (!record_transcript_of_path(str_of(path), &name))
		return false;
	uuid_print(&name.session, text);
	return strcmp(text, session) == 0 && str_eq(name.agent, str_of(agent));
}

#define ID "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e5f"
#define NOBODY "00000000-0000-0000-0000-000000000000"

TEST(a_path_says_whose_a_transcript_is)
{
	CHECK(is_transcript("projects/p/0B7F3C1E-8f5a-4f0c-9d53-0a1b2c3d4e5f.jsonl", ID, ""));
	CHECK(is_transcript("projects/p/" ID "/subagents/agent-a12.jsonl", ID, "a12"));
	CHECK(is_transcript("projects/p/" ID "/subagents/workflows/r1/agent-b.jsonl", ID, "b"));
	CHECK(is_transcript("projects/p/agent-0b7f3c1e.jsonl", NOBODY, "0b7f3c1e"));
	CHECK(is_transcript("projects/p/x/subagents/agent-a.jsonl", NOBODY, "a"));
	CHECK(!is_transcript("projects/p/agent-.jsonl", NOBODY, ""));
	CHECK(!is_transcript("projects/p/" ID "/subagents/agent-a12.meta.json", ID, "a12"));
	CHECK(!is_transcript("projects/p/" ID ".jsonl/x", ID, ""));
	CHECK(!is_transcript("projects/p/" ID ".json", ID, ""));
	CHECK(!is_transcript("projects/p/0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e5.jsonl", NOBODY, ""));
	CHECK(!is_transcript("projects/p/.jsonl", NOBODY, ""));
	CHECK(!is_transcript("", NOBODY, ""));
}

TEST(every_type_place_and_kind_has_its_own_name)
{
	for (int i = 0; i < RECORD_TYPES; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(record_type_name((enum record_type)i),
				     record_type_name((enum record_type)k)));
	for (int i = 0; i < PLACES; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(record_place_name((enum record_place)i),
				     record_place_name((enum record_place)k)));
	for (int i = 0; i < BLOCK_KINDS; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(block_kind_name((enum block_kind)i),
				     block_kind_name((enum block_kind)k)));
}

/* ---- Changed lines ------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Structure is what a random byte rarely hits. */
static char random_byte(uint64_t *state)
{
	static const char wanted[] = "{}[]\",:\\ue01tfn \n\x80\xed";

	return next_random(state) % 3 ? wanted[next_random(state) % (sizeof wanted - 1)]
				      : (char)next_random(state);
}

TEST(lines_with_random_changes_give_valid_text_and_lose_no_byte)
{
	READER r = RECORD_READER_INIT;
	struct buf file, got CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);
	uint64_t state = 4;

	if (!t_read_file(t, "test/table/record.test", &file))
		return;
	for (struct str rest = buf_as_str(&file); rest.n;) {
		struct str original = str_cut(rest, '\n', &rest);

		if (original.n == 0 || original.p[0] != '{')
			continue;
		for (int round = 0; round < 60; round++) {
			buf_clear(&line);
			buf_str(&line, original);
			for (uint64_t k = next_random(&state) % 4; k; k--)
				line.p[next_random(&state) % line.n] = random_byte(&state);
			buf_clear(&got);
			put_line(&got, &r, buf_as_str(&line));
			if (!utf8_valid(buf_as_str(&got)) || strstr(got.p, "NOT WHERE") ||
			    strstr(got.p, "MISSING"))
				t_fail(t, __FILE__, __LINE__, "%.*s\n# gives %s", STR_ARG(buf_as_str(&line)),
				       got.p);
		}
	}
	buf_release(&file);
}

TESTS(CASE(every_line_in_the_table_is_what_it_says),
      CASE(white_space_alone_is_no_record_and_white_space_around_one_belongs_to_it),
      CASE(bytes_that_are_no_text_break_a_line_or_become_replacements),
      CASE(a_line_may_be_nested_as_deep_as_the_limit_and_is_broken_beyond),
      CASE(the_first_of_two_glued_objects_is_read_when_the_second_is_broken),
      CASE(many_glued_objects_and_blanks_take_time_in_proportion),
      CASE(a_message_of_many_blocks_takes_time_in_proportion),
      CASE(a_reader_is_used_again_and_again_and_forgets_what_was), CASE(only_a_complete_object_is_whole),
      CASE(a_mark_before_the_first_line_of_a_file_is_no_part_of_it), CASE(a_digest_is_of_type_and_blocks_alone),
      CASE(a_string_is_a_key_when_a_colon_follows_it),
      CASE(a_title_is_the_beginning_of_its_prompt_on_one_line), CASE(a_title_is_cut_behind_a_character),
      CASE(a_prompt_that_hands_over_a_plan_is_called_as_the_plan_is),
      CASE(a_path_says_whose_a_transcript_is), CASE(every_type_place_and_kind_has_its_own_name),
      CASE(lines_with_random_changes_give_valid_text_and_lose_no_byte))
