/*
 * Lines of typed history: as clients write them, and as nobody should.
 */
#include "base/utf8.h"
#include "claude/typed.h"
#include "t.h"

static void check_text(struct t *t, const struct typed_reader *r, const struct typed *typed, const char *want)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	typed_text(r, typed, &text);
	EQS(buf_as_str(&text), str_of(want));
}

TEST(a_line_is_read_as_the_client_wrote_it)
{
	struct typed_reader r CLEANUP(typed_reader_release) = { 0 };
	struct typed typed;

	NEED(typed_read(
		&r,
		STR("{\"display\":\"/rename x\",\"pastedContents\":{},\"timestamp\":1794510681434,"
		    "\"project\":\"/home/dev/p\",\"sessionId\":\"0ea33764-9f05-462f-a1d4-51fb8fdac471\"}"),
		&typed));
	EQS(typed.display, STR("/rename x"));
	EQS(typed.project, STR("/home/dev/p"));
	EQS(typed.session, STR("0ea33764-9f05-462f-a1d4-51fb8fdac471"));
	CHECK(typed.has_time && typed.at == INT64_C(1794510681434));
	EQ(typed.pasted, JSON_NONE);
	check_text(t, &r, &typed, "/rename x");
}

TEST(what_was_pasted_belongs_to_the_text)
{
	struct typed_reader r CLEANUP(typed_reader_release) = { 0 };
	struct typed typed;

	NEED(typed_read(&r,
			STR("{\"display\":\"see [Pasted text "
			    "#1]\",\"pastedContents\":{\"1\":{\"id\":1,\"type\":\"text\","
			    "\"content\":\"a\\nb\"},\"2\":{\"contentHash\":\"ff\"},\"3\":7,\"4\":{"
			    "\"content\":null}}}"),
			&typed));
	CHECK(typed.pasted != JSON_NONE);
	check_text(t, &r, &typed, "see [Pasted text #1]\na\nb\n\n\n");
}

TEST(everything_but_what_was_typed_may_be_missing_or_odd)
{
	struct typed_reader r CLEANUP(typed_reader_release) = { 0 };
	struct typed typed;

	NEED(typed_read(&r, STR("{\"display\":\"\"}"), &typed));
	CHECK(!typed.has_time && !typed.project.p && !typed.session.p && typed.display.n == 0);
	NEED(typed_read(
		&r,
		STR("{\"display\":\"a\\ud83d\\u0000\xff\",\"timestamp\":1e99,\"project\":7,\"sessionId\":[],"
		    "\"pastedContents\":[1]}"),
		&typed));
	CHECK(!typed.has_time && !typed.project.p && !typed.session.p && typed.pasted == JSON_NONE);
	CHECK(utf8_valid(typed.display));
	NEED(typed_read(&r, STR("{\"display\":\"x\",\"timestamp\":\"2026-11-15T18:18:33.190Z\"}"), &typed));
	CHECK(typed.has_time && typed.at == INT64_C(1794766713190));
}

TEST(what_is_no_history_is_refused)
{
	static const char *const lines[] = { "",
					     " ",
					     "x",
					     "{",
					     "{}",
					     "[]",
					     "null",
					     "{\"display\":7}",
					     "{\"display\":",
					     "{\"display\":\"x\"",
					     "\"display\"" };
	struct typed_reader r CLEANUP(typed_reader_release) = { 0 };
	struct typed typed;

	for (size_t i = 0; i < COUNT(lines); i++)
		if (typed_read(&r, str_of(lines[i]), &typed))
			t_fail(t, __FILE__, __LINE__, "'%s' was taken", lines[i]);
}

TEST(megabytes_are_a_line_like_any_other)
{
	struct typed_reader r CLEANUP(typed_reader_release) = { 0 };
	struct buf line CLEANUP(buf_release) = BUF_INIT(8 * MIB);
	struct buf text CLEANUP(buf_release) = BUF_INIT(8 * MIB);
	struct typed typed;

	buf_text(&line, "{\"display\":\"");
	for (size_t i = 0; i < MIB; i++)
		buf_text(&line, "\\n");
	buf_text(&line, "\",\"pastedContents\":{\"1\":{\"content\":\"");
	for (size_t i = 0; i < MIB; i++)
		buf_byte(&line, 'y');
	buf_text(&line, "\"}}}");
	NEED(typed_read(&r, buf_as_str(&line), &typed));
	EQ(typed.display.n, MIB);
	typed_text(&r, &typed, &text);
	EQ(text.n, 2 * MIB + 1);
}

TESTS(CASE(a_line_is_read_as_the_client_wrote_it), CASE(what_was_pasted_belongs_to_the_text),
      CASE(everything_but_what_was_typed_may_be_missing_or_odd), CASE(what_is_no_history_is_refused),
      CASE(megabytes_are_a_line_like_any_other))
