/*
 * What records tell of files, and edits applied: as the clients write them, as nobody
 * should, and against really replacing.
 */
#include "claude/change.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>

#define RESULT(result) \
	"{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_" \
	"result\"," \
	"\"tool_use_id\":\"t\",\"content\":\"ok\"}]},\"toolUseResult\":" result "}"

/* A change on one line: kind tool path was(before) -> after, or its edits. */
static void describe(const struct change *c, struct buf *out)
{
	static const char *const kinds[] = { "create", "update", "edit", "read", "alien" };
	static const char *const states[] = { "?", "absent", "" };

	buf_printf(out, "%s %s %.*s %s", kinds[c->kind], c->tool, STR_ARG(c->path), states[c->was]);
	if (c->was == FILE_KNOWN)
		buf_printf(out, "'%.*s'", STR_ARG(c->before));
	if (c->is_whole)
		buf_printf(out, " -> '%.*s'", STR_ARG(c->after));
	for (size_t i = 0; i < c->edit_count; i++)
		buf_printf(out, " %s'%.*s'='%.*s'", c->edits[i].all ? "all " : "", STR_ARG(c->edits[i].old),
			   STR_ARG(c->edits[i].new));
	if (c->has_delta)
		buf_printf(out, " %+d", (int)c->delta);
}

static const struct {
	const char *line, *want; /* NULL = it tells of no file */
} told[] = {
	{ RESULT("{\"type\":\"create\",\"filePath\":\"/"
		 "a\",\"content\":\"x\",\"structuredPatch\":[],\"originalFile\":null}"),
	  "create Write /a absent -> 'x'" },
	{ RESULT("{\"type\":\"update\",\"filePath\":\"/a\",\"content\":\"x\",\"originalFile\":\"y\"}"),
	  "update Write /a 'y' -> 'x'" },
	{ RESULT("{\"type\":\"update\",\"filePath\":\"/a\",\"content\":\"\"}"), "update Write /a ? -> ''" },
	{ RESULT("{\"filePath\":\"/"
		 "a\",\"oldString\":\"b\",\"newString\":\"c\",\"originalFile\":\"abc\",\"replaceAll\":true,"
		 "\"structuredPatch\":[{\"oldLines\":3,\"newLines\":5},{\"oldLines\":2,\"newLines\":1}]}"),
	  "edit Edit /a 'abc' all 'b'='c' +1" },
	{ RESULT("{\"filePath\":\"/a\",\"oldString\":\"b\",\"newString\":\"c\",\"originalFile\":null}"),
	  "edit Edit /a ? 'b'='c'" },
	{ RESULT("{\"filePath\":\"/a\",\"oldString\":\"\",\"newString\":\"c\",\"originalFile\":null}"),
	  "create Edit /a absent ''='c'" },
	{ RESULT("{\"filePath\":\"/"
		 "a\",\"edits\":[{\"old_string\":\"b\",\"new_string\":\"c\"},{\"old_string\":\"d\","
		 "\"new_string\":\"e\",\"replace_all\":true}],\"originalFileContents\":\"bd\"}"),
	  "edit MultiEdit /a 'bd' 'b'='c' all 'd'='e'" },
	{ RESULT("{\"notebook_path\":\"/"
		 "n\",\"new_source\":\"s\",\"original_file\":\"{}\",\"updated_file\":\"{1}\"}"),
	  "edit NotebookEdit /n '{}' -> '{1}'" },
	{ RESULT("{\"notebook_path\":\"/n\",\"new_source\":\"s\"}"), "edit NotebookEdit /n ?" },
	{ RESULT("{\"notebook_path\":\"/n\",\"error\":\"no such cell\"}"), NULL },
	{ RESULT("{\"type\":\"text\",\"file\":{\"filePath\":\"/"
		 "a\",\"content\":\"x\\ny\\n\",\"numLines\":3,\"startLine\":1,"
		 "\"totalLines\":3}}"),
	  "read Read /a ? -> 'x\ny\n'" },
	{ RESULT("{\"type\":\"text\",\"file\":{\"filePath\":\"/"
		 "a\",\"content\":\"x\",\"numLines\":1,\"startLine\":1,"
		 "\"totalLines\":9}}"),
	  NULL },
	{ RESULT("{\"type\":\"text\",\"file\":{\"filePath\":\"/"
		 "a\",\"content\":\"x\",\"numLines\":5,\"startLine\":1,"
		 "\"totalLines\":5}}"),
	  NULL },
	{ RESULT("{\"type\":\"image\",\"file\":{\"base64\":\"eA==\"}}"), NULL },
	{ RESULT("\"Error: no\""), NULL },
	{ RESULT("[{\"type\":\"text\",\"text\":\"{}\"}]"), NULL },
	{ RESULT("null"), NULL },
	{ RESULT("{\"stdout\":\"\"}"), NULL },
	{ RESULT("{\"type\":\"create\",\"filePath\":\"\",\"content\":\"x\"}"), NULL },
	{ RESULT("{\"type\":\"create\",\"content\":\"x\"}"), NULL },
	{ RESULT("{\"type\":\"create\",\"filePath\":\"/a\",\"content\":7}"), NULL },
	{ RESULT("{\"filePath\":\"/a\",\"oldString\":\"b\"}"), NULL },
	{ RESULT("{\"filePath\":\"/a\",\"edits\":[]}"), NULL },
	{ RESULT("{\"filePath\":\"/a\",\"edits\":[7]}"), NULL },
	{ RESULT("{\"filePath\":7,\"oldString\":\"b\",\"newString\":\"c\"}"), NULL },
	{ "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"is_error\":true}]},"
	  "\"toolUseResult\":"
	  "{\"type\":\"create\",\"filePath\":\"/a\",\"content\":\"x\"}}",
	  NULL },
	{ "{\"type\":\"assistant\",\"toolUseResult\":{\"type\":\"create\",\"filePath\":\"/"
	  "a\",\"content\":\"x\"}}",
	  NULL },
	{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"edited_text_file\",\"filename\":\"/"
	  "a\",\"snippet\":\"x\"}}",
	  "alien  /a ?" },
	{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"file\",\"filename\":\"/"
	  "a\",\"content\":{\"type\":\"text\","
	  "\"file\":{\"filePath\":\"/"
	  "a\",\"content\":\"x\",\"numLines\":1,\"startLine\":1,\"totalLines\":1}}}}",
	  "read Read /a ? -> 'x'" },
	{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"file\",\"filename\":\"/"
	  "a\",\"truncated\":true,\"content\":"
	  "{\"type\":\"text\",\"file\":{\"filePath\":\"/a\",\"content\":\"x\",\"numLines\":1,\"startLine\":1,"
	  "\"totalLines\":1}}}}",
	  NULL },
	{ "{\"type\":\"attachment\",\"attachment\":7}", NULL },
	{ "[]", NULL },
	{ "{", NULL },
};

TEST(a_record_tells_of_a_file_what_it_says_and_no_more)
{
	for (size_t i = 0; i < COUNT(told); i++) {
		struct record_reader r CLEANUP(record_reader_release) = RECORD_READER_INIT;
		struct buf got CLEANUP(buf_release) = BUF_INIT(KIB);
		struct record rec;
		struct change c;

		record_begin(&r, str_of(told[i].line));
		NEED(record_next(&r, &rec));
		if (change_read(&r, &rec, &c))
			describe(&c, &got);
		if (!t_eq_str(t, __FILE__, __LINE__, buf_as_str(&got),
			      str_of(told[i].want ? told[i].want : ""), "change"))
			t_fail(t, __FILE__, __LINE__, "%s", told[i].line);
	}
}

TEST(a_call_says_what_it_meant_to_do)
{
	static const char *const lines[][2] = {
		{ "\"name\":\"Write\",\"input\":{\"file_path\":\"/a\",\"content\":\"x\"}",
		  "update Write /a ? -> 'x'" },
		{ "\"name\":\"Edit\",\"input\":{\"file_path\":\"/"
		  "a\",\"old_string\":\"x\",\"new_string\":\"\"}",
		  "edit Edit /a ? 'x'=''" },
		{ "\"name\":\"NotebookEdit\",\"input\":{\"notebook_path\":\"/a\"}",
		  "edit NotebookEdit /a ?" },
		{ "\"name\":\"Bash\",\"input\":{\"file_path\":\"/a\",\"content\":\"x\"}", "" },
		{ "\"name\":\"Write\",\"input\":\"x\"", "" },
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		struct record_reader r CLEANUP(record_reader_release) = RECORD_READER_INIT;
		struct buf line CLEANUP(buf_release) = BUF_INIT(KIB),
				got CLEANUP(buf_release) = BUF_INIT(KIB);
		struct block_cursor at = { 0 };
		struct record_block b;
		struct record rec;
		struct change c;

		buf_printf(&line,
			   "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":"
			   "\"t\",%s}]}}",
			   lines[i][0]);
		record_begin(&r, buf_as_str(&line));
		NEED(record_next(&r, &rec) && record_block(&r, &rec, &at, &b));
		if (change_of_call(&r, &b, false, &c))
			describe(&c, &got);
		EQS(buf_as_str(&got), str_of(lines[i][1]));
	}
}

/* ---- Applying --------------------------------------------------------------------------- */

static void becomes(struct t *t, const char *before, struct change_edit e, const char *want)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);
	struct change c = { .kind = CHANGE_EDIT, .edits = &e, .edit_count = 1 };
	bool fits = change_apply(&c, str_of(before), &out);

	EQ(fits, want != NULL);
	if (want)
		EQS(buf_as_str(&out), str_of(want));
}

TEST(an_edit_replaces_as_the_client_does)
{
	becomes(t, "abcb", (struct change_edit){ STR("b"), STR("x"), false }, "axcb");
	becomes(t, "abcb", (struct change_edit){ STR("b"), STR("x"), true }, "axcx");
	becomes(t, "aaa", (struct change_edit){ STR("aa"), STR("a"), true }, "aa");
	becomes(t, "a\nb\nc\n", (struct change_edit){ STR("b"), STR(""), false }, "a\nc\n");
	becomes(t, "a\nb c\n", (struct change_edit){ STR("b"), STR(""), false }, "a\n c\n");
	becomes(t, "", (struct change_edit){ STR(""), STR("new"), false }, "new");
	becomes(t, "old", (struct change_edit){ STR(""), STR("new"), false }, NULL);
	becomes(t, "abc", (struct change_edit){ STR("x"), STR("y"), false }, NULL);
	becomes(t, "$&", (struct change_edit){ STR("$&"), STR("$1$$"), false }, "$1$$");
}

TEST(the_clients_count_of_lines_tells_how_an_edit_was_meant)
{
	struct change_edit e = { STR("b"), STR(""), false };
	struct change c = { .kind = CHANGE_EDIT, .edits = &e, .edit_count = 1, .has_delta = true };
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	/* A client that leaves the end of the line. */
	CHECK(change_apply(&c, STR("a\nb\nc\n"), &out));
	EQS(buf_as_str(&out), STR("a\n\nc\n"));
	c.delta = 7;
	CHECK(!change_apply(&c, STR("a\nb\nc\n"), &out));
}

TEST(an_edit_that_grows_beyond_all_bounds_does_not_fit)
{
	struct buf many CLEANUP(buf_release) = BUF_INIT(2 * MIB),
			large CLEANUP(buf_release) = BUF_INIT(2 * MIB);
	struct buf out CLEANUP(buf_release) = BUF_INIT(LIMIT_FILE_REBUILT);
	struct change_edit e = { .old = STR("a"), .all = true };
	struct change c = { .kind = CHANGE_EDIT, .edits = &e, .edit_count = 1 };

	memset(buf_reserve(&many, MIB), 'a', MIB);
	buf_grew(&many, MIB);
	memset(buf_reserve(&large, MIB), 'b', MIB);
	buf_grew(&large, MIB);
	e.new = buf_as_str(&large);
	CHECK(!change_apply(&c, buf_as_str(&many), &out));
}

/* The slow way, byte by byte. */
static void really_replace(struct str text, const struct change_edit *e, struct buf *out)
{
	bool done = false;

	for (size_t i = 0; i < text.n;) {
		if ((!done || e->all) && str_has_prefix(str_sub(text, i, SIZE_MAX), e->old)) {
			buf_str(out, e->new);
			i += e->old.n;
			done = true;
		} else {
			buf_byte(out, text.p[i++]);
		}
	}
}

TEST(sequences_of_edits_give_what_replacing_gives)
{
	unsigned seed = 3;

	for (int round = 0; round < 2000; round++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(64 * KIB);
		struct buf want CLEANUP(buf_release) = BUF_INIT(64 * KIB),
				got CLEANUP(buf_release) = BUF_INIT(64 * KIB);
		struct change_edit edits[4] = { 0 };
		char words[4][8];
		struct change c = { .kind = CHANGE_EDIT, .edits = edits };
		int letters = rand_r(&seed) % 200;

		for (int i = 0; i < letters; i++)
			buf_byte(&text, "abc\n"[rand_r(&seed) % 4]);
		buf_str(&want, buf_as_str(&text));
		for (int i = rand_r(&seed) % 4; i >= 0 && want.n; i--) {
			struct buf next CLEANUP(buf_release) = BUF_INIT(64 * KIB);
			struct change_edit *e = &edits[c.edit_count];
			size_t from = (size_t)rand_r(&seed) % want.n;
			struct str old = str_sub(buf_as_str(&want), from, 1 + (size_t)rand_r(&seed) % 4);

			memcpy(words[c.edit_count], old.p, old.n);
			*e = (struct change_edit){ { words[c.edit_count], old.n },
						   STR("xy\n"),
						   rand_r(&seed) % 2 };
			really_replace(buf_as_str(&want), e, &next);
			buf_clear(&want);
			buf_str(&want, buf_as_str(&next));
			c.edit_count++;
		}
		if (!c.edit_count)
			continue;
		CHECK(change_apply(&c, buf_as_str(&text), &got));
		EQS(buf_as_str(&got), buf_as_str(&want));
	}
}

/* ---- Snapshots ---------------------------------------------------------------------------- */

TEST(a_snapshot_names_copies_and_what_was_not_there)
{
	struct record_reader r CLEANUP(record_reader_release) = RECORD_READER_INIT;
	struct snapshot_file f;
	struct snapshot s;
	struct record rec;
	uint32_t at = 0;

	record_begin(
		&r,
		STR("{\"type\":\"file-history-snapshot\",\"messageId\":\"call\",\"isSnapshotUpdate\":true,"
		    "\"snapshot\":{\"messageId\":\"prompt\",\"trackedFileBackups\":{"
		    "\"a\":{\"backupFileName\":\"x@v2\",\"version\":2},\"b\":{\"backupFileName\":null},"
		    "\"c\":{},\"\":{\"backupFileName\":null},\"d\":7}}}"));
	NEED(record_next(&r, &rec) && snapshot_read(&r, &rec, &s));
	EQS(s.prompt, STR("prompt"));
	EQS(s.at, STR("call"));
	NEED(snapshot_next(&r, &s, &at, &f));
	EQS(f.path, STR("a"));
	EQS(f.backup, STR("x@v2"));
	NEED(snapshot_next(&r, &s, &at, &f));
	EQS(f.path, STR("b"));
	CHECK(f.absent);
	CHECK(!snapshot_next(&r, &s, &at, &f));
	CHECK(!snapshot_next(&r, &s, &at, &f));
}

TESTS(CASE(a_record_tells_of_a_file_what_it_says_and_no_more), CASE(a_call_says_what_it_meant_to_do),
      CASE(an_edit_replaces_as_the_client_does), CASE(the_clients_count_of_lines_tells_how_an_edit_was_meant),
      CASE(an_edit_that_grows_beyond_all_bounds_does_not_fit),
      CASE(sequences_of_edits_give_what_replacing_gives),
      CASE(a_snapshot_names_copies_and_what_was_not_there))
