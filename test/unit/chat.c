/*
 * What the client prints as events: test/table/chat.test says what becomes of each kind of line; captured
 * streams (test/table/chat/, and all of the captures where they are) show that it all fits together.
 */
#include "claude/chat.h"

#include "base/file.h"
#include "chats.h"
#include "t.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ----------------------------------------------------------------- */

static const char *const line_names[] = {
	[CHAT_LINE_SAID] = NULL,	   [CHAT_LINE_INIT] = "init",		[CHAT_LINE_TAKEN] = "taken",
	[CHAT_LINE_RESULT] = "result",	   [CHAT_LINE_MIRROR] = "mirror",	[CHAT_LINE_ASKED] = "asked",
	[CHAT_LINE_ANSWERED] = "answered", [CHAT_LINE_WITHDRAWN] = "withdrawn",
};

static enum status print_event(void *ctx, const struct chat_event *e, struct err *err)
{
	struct buf *out = ctx;

	(void)err;
	buf_printf(out, "> %s ", chat_type_name(e->type));
	if (e->uuid.p && e->part == CHAT_PART_MESSAGE)
		buf_printf(out, "%.*s/message ", STR_ARG(e->uuid));
	else if (e->uuid.p && e->part == CHAT_PART_LINE)
		buf_printf(out, "%.*s/line ", STR_ARG(e->uuid));
	else if (e->uuid.p)
		buf_printf(out, "%.*s/%d ", STR_ARG(e->uuid), e->part);
	buf_str(out, e->data);
	buf_byte(out, '\n');
	return STATUS_OK;
}

static void read_line(struct t *t, struct chat_reader *r, struct str line, struct buf *out)
{
	const struct json *j;
	enum chat_line what;
	struct err err;

	OK(chat_read(r, line, &what, &j, &err));
	if (line_names[what])
		buf_printf(out, "= %s\n", line_names[what]);
}

/* A case: what it says is to come out, and what does. */
static void run_case(struct t *t, struct str text, int line)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB), want CLEANUP(buf_release) = BUF_INIT(MIB);
	struct chat_reader *r = chat_new(print_event, &got);
	struct err err;

	while (text.n) {
		struct str one = str_cut(text, '\n', &text);

		if (str_has_prefix(one, STR("< ")))
			read_line(t, r, str_sub(one, 2, SIZE_MAX), &got);
		else if (one.n && one.p[0] != '#')
			buf_printf(&want, "%.*s\n", STR_ARG(one));
	}
	if (chat_end(r, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	chat_free(r);
	if (!t_eq_str(t, "test/table/chat.test", line, buf_as_str(&got), buf_as_str(&want), "events"))
		return;
}

TEST(every_kind_of_line_becomes_the_events_of_the_table)
{
	struct buf table CLEANUP(buf_release) = BUF_INIT(MIB);
	int line = 1, cases = 0;
	struct str rest;

	NEED(t_read_file(t, "test/table/chat.test", &table));
	for (rest = buf_as_str(&table); rest.n;) {
		const char *end = memmem(rest.p, rest.n, "\n\n", 2);
		struct str one = str_sub(rest, 0, end ? (size_t)(end - rest.p) : SIZE_MAX);

		if (memmem(one.p, one.n, "\n< ", 3)) {
			run_case(t, one, line);
			cases++;
		}
		for (size_t i = 0; i < one.n + 2; i++)
			line += i < rest.n && rest.p[i] == '\n';
		rest = str_sub(rest, one.n + 2, SIZE_MAX);
	}
	CHECK(cases >= 20);
}

/* ---- Captures ------------------------------------------------------------------ */

/* In these a folder was renamed after the capture, but not where deltas cut its name in two. */
static bool is_changed(const char *path)
{
	return str_has_suffix(str_of(path), STR("/a31-compact/03.stream.jsonl")) ||
	       str_has_suffix(str_of(path), STR("/f04-hookoutput/02.stream.jsonl"));
}

/* One that was printed, or a trace of both sides, of which what came from the client. */
static void check_capture(struct t *t, const char *path)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct chats c;
	struct err err;
	struct str rest;

	if (file_read_all(path, &text, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return;
	}
	chats_begin(&c, !is_changed(path));
	for (rest = buf_as_str(&text); rest.n;) {
		struct json j CLEANUP(json_release) = JSON_INIT;
		struct str line = str_cut(rest, '\n', &rest);

		if (!json_read(&j, line, 0, &err) && json_get(&j, 0, STR("msg")) != JSON_NONE) {
			if (!json_string_eq(&j, json_get(&j, 0, STR("dir")), STR("out")))
				continue;
			line = json_raw(&j, json_get(&j, 0, STR("msg")));
		}
		chats_line(&c, line);
	}
	chats_end(&c);
	if (c.fault[0])
		t_fail(t, __FILE__, __LINE__, "%s: %s", path, c.fault);
	CHECK(c.events > 0 || c.count == 0);
	chats_release(&c);
}

static int is_capture(const struct dirent *e)
{
	struct str name = str_of(e->d_name);

	return str_has_suffix(name, STR(".stream.jsonl")) || str_has_suffix(name, STR(".trace.jsonl"));
}

static int check_folder(struct t *t, const char *folder)
{
	struct dirent **list = NULL;
	int count = scandir(folder, &list, is_capture, alphasort);

	for (int i = 0; i < count; i++) {
		char path[LIMIT_PATH];

		snprintf(path, sizeof path, "%.2000s/%.500s", folder, list[i]->d_name);
		check_capture(t, path);
		free(list[i]);
	}
	free(list);
	return count > 0 ? count : 0;
}

TEST(captured_streams_fit_together)
{
	CHECK(check_folder(t, "test/table/chat") >= 5);
}

static int is_folder(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

TEST(so_do_all_captures_of_the_client)
{
	const char *shared = getenv("ARBOR_SHARED");
	struct dirent **list = NULL;
	char root[1000];
	int count, checked = 0;

	snprintf(root, sizeof root, "%.900s/fixtures/claude-2.1.197", shared ? shared : "../shared");
	count = scandir(root, &list, is_folder, alphasort);
	if (count <= 0)
		SKIP("the captures of the client are not here");
	for (int i = 0; i < count; i++) {
		char folder[2000];

		snprintf(folder, sizeof folder, "%s/%.500s", root, list[i]->d_name);
		checked += check_folder(t, folder);
		free(list[i]);
	}
	free(list);
	CHECK(checked > 150);
}

/* ---- What no table shows ----------------------------------------------------------- */

static enum status count_event(void *ctx, const struct chat_event *e, struct err *err)
{
	(void)e;
	(void)err;
	++*(int *)ctx;
	return STATUS_OK;
}

TEST(bytes_that_are_no_text_become_text_that_is_json)
{
	struct chats c;

	chats_begin(&c, false);
	chats_line(&c, STR("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
			   "\"a\xff z\"}]},\"uuid\":\"u\xfe\"}"));
	chats_line(&c, STR("\xff\xfe no json \x01"));
	chats_line(&c, STR("{\"type\":\"x\xff\",\"k\":\"\xc3\"}"));
	chats_end(&c);
	EQS(str_of(c.fault), STR(""));
	EQ(c.events, 6);
	chats_release(&c);
}

TEST(sub_agents_without_number_cost_no_more_than_some)
{
	struct chat_reader *r;
	int events = 0;
	struct err err;

	r = chat_new(count_event, &events);
	for (int i = 0; i < 20000; i++) {
		char line[200];
		const struct json *j;
		enum chat_line what;

		snprintf(line, sizeof line,
			 "{\"type\":\"assistant\",\"parent_tool_use_id\":\"t%d\",\"message\":{\"content\":[{"
			 "\"type\":\"text\",\"text\":\"a\"}]},\"uuid\":\"u\"}",
			 i);
		OK(chat_read(r, str_of(line), &what, &j, &err));
	}
	OK(chat_end(r, &err));
	EQ(events, 20000 * 4); /* each is ended, those that were forgotten too */
	chat_free(r);
}

static enum status refuse(void *ctx, const struct chat_event *e, struct err *err)
{
	(void)ctx;
	(void)e;
	return err_fail(err, STATUS_FULL, "no room");
}

TEST(what_the_listener_says_is_passed_on)
{
	struct chat_reader *r = chat_new(refuse, NULL);
	const struct json *j;
	enum chat_line what;
	struct err err;

	EQ(chat_read(r, STR("{\"type\":\"x\"}"), &what, &j, &err), STATUS_FULL);
	EQ(chat_read(r,
		     STR("{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_start\",\"index\":0,"
			 "\"content_block\":{\"type\":\"text\"}}}"),
		     &what, &j, &err),
	   STATUS_FULL);
	EQ(chat_end(r, &err), STATUS_FULL);
	chat_free(r);
}

TEST(deltas_are_put_together_when_they_are_of_one_block)
{
	struct chat_merge *m = chat_merge_new();
	struct str text = STR("content_delta"), tool = STR("tool_use_delta");

	CHECK(!chat_merge_begin(m, STR("content_end"), STR("{\"block\":0,\"text\":\"a\"}")));
	CHECK(!chat_merge_begin(m, text, STR("{\"block\":0}")));
	CHECK(!chat_merge_begin(m, text, STR("no json")));
	CHECK(chat_merge_begin(m, text, STR("{\"block\":0,\"text\":\"a\\ud83d\"}")));
	CHECK(chat_merge_add(m, text, STR("{\"block\":0,\"text\":\"\\ude00\\n\"}")));
	CHECK(!chat_merge_add(m, text, STR("{\"block\":1,\"text\":\"x\"}")));
	CHECK(!chat_merge_add(m, STR("thinking_delta"), STR("{\"block\":0,\"text\":\"x\"}")));
	CHECK(!chat_merge_add(m, text, STR("{\"parent_tool_use_id\":\"t\",\"block\":0,\"text\":\"x\"}")));
	CHECK(chat_merge_add(m, text, STR("{\"block\":0,\"text\":\"\"}")));
	EQS(chat_merge_end(m), STR("{\"block\":0,\"text\":\"a\\ud83d\\ude00\\n\"}"));
	CHECK(chat_merge_begin(m, tool, STR("{\"block\":0,\"partial_json\":\"{\"}")));
	CHECK(chat_merge_add(m, tool, STR("{\"block\":0,\"partial_json\":\"\\\"a\\\":1}\"}")));
	EQS(chat_merge_end(m), STR("{\"block\":0,\"partial_json\":\"{\\\"a\\\":1}\"}"));
	chat_merge_free(m);
}

TESTS(CASE(every_kind_of_line_becomes_the_events_of_the_table), CASE(captured_streams_fit_together),
      CASE(so_do_all_captures_of_the_client), CASE(bytes_that_are_no_text_become_text_that_is_json),
      CASE(sub_agents_without_number_cost_no_more_than_some), CASE(what_the_listener_says_is_passed_on),
      CASE(deltas_are_put_together_when_they_are_of_one_block))
