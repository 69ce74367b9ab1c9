/*
 * Searching, from files to snippets: a folder is written, synced and searched, and
 * the hits are what the files say.
 */
#include "base/file.h"
#include "base/utf8.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "query/search.h"
#include "query/transcript.h"
#include "t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ONE "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"
#define TWO "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02"
#define THREE "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03"

struct world {
	char tree[LIMIT_PATH];
	struct store *s;
	struct buf log; /* what the last search gave, a hit a line */
	struct search_report report;
	bool cut; /* its query was */
	size_t hits, stop_after; /* 0 = never */
	struct uuid ids[16], messages[16];
	int64_t offsets[16], sessions[16];
};

static void world_release(struct world *w)
{
	store_close(w->s);
	buf_release(&w->log);
}

#define WORLD struct world CLEANUP(world_release)

/* What dates mean does not depend on where the test runs. */
static void use_utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

static enum status world_init(struct t *t, struct world *w, struct err *err)
{
	char path[LIMIT_PATH];
	const char *dir = t_tmpdir(t);
	bool done;

	use_utc();
	*w = (struct world){ .log = BUF_INIT(16 * MIB) };
	snprintf(w->tree, sizeof w->tree, "%s/claude", dir);
	snprintf(path, sizeof path, "%s/claude/projects/p", dir);
	if (file_make_dirs(path, err))
		return err_failed(err->status);
	snprintf(path, sizeof path, "%s/store.db", dir);
	if (store_open(&(struct store_options){ .path = path, .create = true }, &w->s, err))
		return err_failed(err->status);
	return rebuild_if_stale(w->s, NULL, &done, err);
}

/* Writes a session's file and syncs. */
static enum status put(struct world *w, const char *session, struct str bytes, struct err *err)
{
	struct sync_report report;
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/projects/p/%s.jsonl", w->tree, session);
	if (file_write_atomic(path, bytes, 0644, err))
		return err_failed(err->status);
	return sync_run(w->s, &(struct sync_options){ .dir = w->tree, .force = true }, &report, err);
}

static void put_marked(struct buf *out, const struct snippet *s)
{
	struct str text = buf_as_str(&s->text);
	size_t at = 0;

	for (size_t i = 0; i < s->mark_count; i++) {
		buf_str(out, str_sub(text, at, s->marks[i].start - at));
		buf_byte(out, '[');
		buf_str(out, str_sub(text, s->marks[i].start, s->marks[i].length));
		buf_byte(out, ']');
		at = s->marks[i].start + s->marks[i].length;
	}
	buf_str(out, str_sub(text, at, SIZE_MAX));
}

/* place [tool] line: snippet */
static enum status take_hit(void *ctx, const struct search_hit *hit, struct err *err)
{
	struct world *w = ctx;

	buf_printf(&w->log, "%s", search_place_name(hit->place));
	if (hit->block && hit->block->name.n)
		buf_printf(&w->log, " %.*s", STR_ARG(hit->block->name));
	buf_printf(&w->log, " %.*s: ", STR_ARG(hit->line.p ? hit->line : STR("-")));
	put_marked(&w->log, hit->snippet);
	buf_byte(&w->log, '\n');
	if (w->hits < COUNT(w->ids)) {
		w->ids[w->hits] = hit->id;
		w->messages[w->hits] = hit->message;
		w->offsets[w->hits] = hit->offset;
		w->sessions[w->hits] = hit->session->row;
	}
	if (++w->hits == w->stop_after)
		return err_fail(err, STATUS_CONFLICT, "enough");
	return STATUS_OK;
}

/* A query as typed, and what narrows it beside. */
struct asked {
	struct str text;
	size_t limit, offset;
	struct conditions filter;
	enum rank_order order;
};

static enum status search(struct world *w, struct asked a, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct expr e CLEANUP(expr_release) = { 0 };
	struct search_query q = {
		.expr = &e, .limit = a.limit, .offset = a.offset, .filter = a.filter, .order = a.order
	};

	buf_clear(&w->log);
	w->hits = 0;
	w->report = (struct search_report){ .total = -1 };
	if (expr_read(&e, a.text, true, &mem, err) || read_begin(w->s, &snapshot, err))
		return err_failed(err->status);
	w->cut = e.cut;
	return search_run(w->s, &q, take_hit, w, &w->report, err);
}

static void check_hits(struct t *t, int line, struct world *w, struct asked q, const char *want)
{
	struct err err;

	if (search(w, q, &err))
		t_fail(t, __FILE__, line, "'%.*s': %s", STR_ARG(q.text), err.text);
	else if (!str_eq(buf_as_str(&w->log), str_of(want)))
		t_fail(t, __FILE__, line, "'%.*s' gives\n%.*s# wanted\n%s", STR_ARG(q.text),
		       STR_ARG(buf_as_str(&w->log)), want);
	if (!q.limit)
		EQ(w->report.total, w->hits + q.offset);
}

#define HITS(words, want) check_hits(t, __LINE__, &w, (struct asked){ .text = STR(words) }, want)
#define HITS_IN(want, ...) check_hits(t, __LINE__, &w, (struct asked){ __VA_ARGS__ }, want)

#define LINE(type, uuid, rest) "{\"type\":\"" type "\",\"uuid\":\"" uuid "\"," rest "}\n"
#define SAYS(text) "\"message\":{\"content\":\"" text "\"}"
#define BLOCKS(id, blocks) "\"message\":{\"id\":\"" id "\",\"content\":[" blocks "]}"

static const char first_file[] =
	LINE("user", "u1", "\"cwd\":\"/home/dev/shop\"," SAYS("please find the walrus"))
	LINE("assistant", "u2", BLOCKS("m1", "{\"type\":\"thinking\",\"thinking\":\"a walrus is a mammal\"}"))
	LINE("assistant", "u3",
	     BLOCKS("m1", "{\"type\":\"text\",\"text\":\"I look.\"},"
			  "{\"type\":\"tool_use\",\"name\":\"Grep\",\"input\":{\"pattern\":\"walrus\"}}"))
	LINE("user", "u4", BLOCKS("", "{\"type\":\"tool_result\",\"content\":\"zoo.c: walrus_count\"}"))
	LINE("system", "u5", "\"content\":\"compacted the walrus\"")
	"{\"type\":\"summary\",\"summary\":\"On the walrus\"}\n"
	LINE("user", "u6", "\"isMeta\":true," SAYS("walrus caveat"));

TEST(a_word_is_found_wherever_it_was_said_and_shown_where)
{
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, str_of(first_file), &err));
	HITS_IN("prompt u1: please find the [walrus]\n", .text = STR("walrus"), .filter.places = 1u << PLACE_PROMPT);
	HITS_IN("thinking u2: a [walrus] is a mammal\n", .text = STR("walrus"), .filter.places = 1u << PLACE_THINKING);
	HITS_IN("input Grep u3: Grep [walrus]\n", .text = STR("walrus"), .filter.places = 1u << PLACE_INPUT);
	HITS_IN("output u4: zoo.c: [walrus]_count\n", .text = STR("walrus"), .filter.places = 1u << PLACE_OUTPUT);
	HITS_IN("", .text = STR("walrus"), .filter.places = 1u << PLACE_ANSWER);
	HITS("compacted", "other u5: [compacted] the walrus\n");
	HITS("on the walrus", "other -: [On] [the] [walrus]\n");
	HITS("caveat", "other u6: walrus [caveat]\n");
	HITS("look", "answer u3: I [look].\n");
	OK(search(&w, (struct asked){ .text = STR("walrus") }, &err));
	EQ(w.report.total, 7);
	EQ(w.hits, 7);
	CHECK(str_has_prefix(buf_as_str(&w.log), STR("prompt ")));
}

TEST(a_hit_names_its_line_its_block_and_its_message)
{
	struct uuid thinking, input, message;
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, str_of(first_file), &err));
	HITS("mammal", "thinking u2: a walrus is a [mammal]\n");
	thinking = w.ids[0];
	message = w.messages[0];
	EQ(w.offsets[0], strchr(first_file, '\n') + 1 - first_file);
	HITS("grep", "input Grep u3: [Grep] walrus\n");
	input = w.ids[0];
	CHECK(uuid_eq(&message, &w.messages[0])); /* another line of the same message */
	HITS("look", "answer u3: I [look].\n");
	CHECK(uuid_eq(&message, &w.messages[0]));
	CHECK(!uuid_eq(&thinking, &input) && !uuid_eq(&input, &w.ids[0]) && !uuid_eq(&message, &thinking));
	HITS("please", "prompt u1: [please] find the walrus\n");
	CHECK(!uuid_eq(&message, &w.messages[0]));
	HITS("compacted", "other u5: [compacted] the walrus\n");
	CHECK(uuid_eq(&w.ids[0], &w.messages[0])); /* in no message: the line itself */
}

TEST(glued_torn_and_broken_lines_are_found_as_far_as_they_can_be_read)
{
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE,
	       STR("{\"type\":\"user\",\"uuid\":\"a\"," SAYS("first octopus") "}{\"type\":\"user\",\"uuid\":\"b\","
		   SAYS("second octopus") "}\n"
		   "{\"type\":\"user\",\"uuid\":\"c\"," SAYS("broken octopus") ",}\n"
		   "\n"
		   "octopus\n"
		   "{\"type\":\"user\",\"uuid\":\"d\"," SAYS("whole octopus") "}"),
	       &err));
	HITS("first", "prompt a: [first] octopus\n");
	HITS("second", "prompt b: [second] octopus\n");
	HITS("whole", "prompt d: [whole] octopus\n");
	HITS("broken", "");
	OK(search(&w, (struct asked){ .text = STR("octopus") }, &err));
	EQ(w.report.total, 3);
	OK(put(&w, TWO, STR("{\"type\":\"user\",\"uuid\":\"e\"," SAYS("torn octopus")), &err));
	HITS("torn", "");
	OK(put(&w, TWO, STR("{\"type\":\"user\",\"uuid\":\"e\"," SAYS("torn octopus") "}\n"), &err));
	HITS("torn", "prompt e: [torn] octopus\n");
}

TEST(what_is_appended_is_found_and_so_is_what_was_withdrawn)
{
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, STR(LINE("user", "a", SAYS("old heron"))), &err));
	HITS("heron", "prompt a: old [heron]\n");
	OK(put(&w, ONE, STR(LINE("user", "a", SAYS("old heron")) LINE("user", "b", SAYS("new crane"))), &err));
	HITS("heron", "prompt a: old [heron]\n");
	HITS("crane", "prompt b: new [crane]\n");
	OK(put(&w, ONE, STR(LINE("user", "c", SAYS("other stork"))), &err));
	HITS("heron", "prompt a: old [heron]\n");
	HITS("crane", "prompt b: new [crane]\n");
	HITS("stork", "prompt c: other [stork]\n");
	EQ(w.report.total, 1);
}

TEST(an_identifier_typed_in_one_word_begins_or_ends_a_phrase)
{
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, STR(LINE("user", "a", SAYS("the JavaScript heron"))), &err));
	OK(put(&w, TWO, STR(LINE("user", "b", SAYS("the ÉcoleNormaleSupérieure crane"))), &err));
	HITS("\"the javascript\"", "prompt a: [the JavaScript] heron\n");
	HITS("\"javascript heron\"", "prompt a: the [JavaScript heron]\n");
	HITS("\"the java script heron\"", "prompt a: [the JavaScript heron]\n");
	HITS("\"the ecolenormalesuperieure\"", "prompt b: [the ÉcoleNormaleSupérieure] crane\n");
	HITS("\"javascript the\"", "");
}

TEST(projects_sessions_places_and_limits_narrow_a_search)
{
	struct err err;
	int64_t one, two;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, STR(LINE("user", "a", "\"cwd\":\"/home/dev/shop\"," SAYS("lynx one"))), &err));
	OK(put(&w, TWO, STR(LINE("user", "b", "\"cwd\":\"/home/dev/shop/sub\"," SAYS("lynx two"))), &err));
	OK(put(&w, THREE, STR(LINE("user", "c", "\"cwd\":\"/home/dev/shopping\"," SAYS("lynx three"))), &err));
	HITS("one", "prompt a: lynx [one]\n");
	one = w.sessions[0];
	HITS("two", "prompt b: lynx [two]\n");
	two = w.sessions[0];
	OK(search(&w, (struct asked){ .text = STR("lynx"), .filter.project = STR("/home/dev/shop") }, &err));
	EQ(w.report.total, 2);
	HITS_IN("prompt b: [lynx] two\n", .text = STR("lynx"), .filter.project = STR("/home/dev/shop/sub"));
	HITS_IN("prompt c: [lynx] three\n", .text = STR("lynx"), .filter.project = STR("/home/dev/shopping"));
	HITS_IN("", .text = STR("lynx"), .filter.project = STR("/home/dev/shop/none"));
	HITS_IN("prompt a: [lynx] one\n", .text = STR("lynx"), .filter.session = one);
	HITS_IN("", .text = STR("lynx"), .filter.session = 1000);
	HITS_IN("", .text = STR("lynx"), .filter.session = one, .filter.places = 1u << PLACE_ANSWER);
	/* Both have to hold. */
	HITS_IN("prompt b: [lynx] two\n", .text = STR("lynx"), .filter.session = two,
		.filter.project = STR("/home/dev/shop"));
	HITS_IN("", .text = STR("lynx"), .filter.session = one, .filter.project = STR("/home/dev/shop/sub"));
	OK(search(&w, (struct asked){ .text = STR("lynx"), .limit = 2 }, &err));
	EQ(w.hits, 2);
	EQ(w.report.total, 3);
}

static const char told[] =
	LINE("user", "p1", "\"timestamp\":\"2026-01-31T12:00:00Z\",\"cwd\":\"/home/dev/shop\",\"gitBranch\":\"main\","
			   SAYS("heron prompt"))
	LINE("assistant", "a1", "\"timestamp\":\"2026-02-01T12:00:00Z\","
	     BLOCKS("m1", "{\"type\":\"tool_use\",\"name\":\"Edit\",\"input\":{\"file_path\":"
			  "\"/home/dev/shop/src/heron.c\",\"old_string\":\"wing\"}},"
			  "{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{\"command\":\"make heron.c\"}}"))
	LINE("user", "r1", "\"timestamp\":\"2026-02-02T12:00:00Z\","
	     BLOCKS("", "{\"type\":\"tool_result\",\"is_error\":true,\"content\":\"heron failed\"},"
			"{\"type\":\"tool_result\",\"content\":\"heron built\"}"))
	LINE("user", "s1", "\"isSidechain\":true,\"timestamp\":\"2026-02-03T12:00:00Z\"," SAYS("heron aside"))
	LINE("system", "s2", "\"content\":\"heron without a time\"");

TEST(conditions_are_true_of_what_is_found_and_alone_they_list_it)
{
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, str_of(told), &err));
	OK(put(&w, TWO, STR(LINE("user", "q1", "\"timestamp\":\"2026-03-01T12:00:00Z\",\"cwd\":\"/home/dev/other\","
						"\"gitBranch\":\"topic/x\"," SAYS("another heron"))),
	       &err));
	HITS("heron tool:Edit", "input Edit a1: Edit /home/dev/shop/src/[heron].c wing\n");
	HITS("heron tool:edit,Nope", "input Edit a1: Edit /home/dev/shop/src/[heron].c wing\n");
	HITS("tool:B*", "input Bash a1: Bash make heron.c\n");
	HITS("make -tool:Bash", "");
	/* The command says its name, too, but is no call that names it. */
	HITS("file:heron.c", "input Edit a1: Edit /home/dev/shop/src/[heron.c] wing\n");
	HITS("file:src/heron.c wing", "input Edit a1: Edit /home/dev/shop/[src/heron.c] [wing]\n");
	HITS("file:lib/heron.c", "");
	HITS("file:her*", "input Edit a1: Edit /home/dev/shop/src/[heron].c wing\n");
	HITS("is:error", "output r1: heron failed\n");
	HITS("heron in:output -is:error", "output r1: [heron] built\n");
	HITS("is:subagent", "other s1: heron aside\n");
	HITS("branch:topic/*", "prompt q1: another heron\n");
	HITS("heron branch:main role:user", "prompt p1: [heron] prompt\n");
	HITS("role:user -branch:main", "prompt q1: another heron\n");
	HITS("role:user project:/home/dev/shop", "prompt p1: heron prompt\n");
	HITS("role:user in:output", "");
	HITS("before:2026-02 heron", "prompt p1: [heron] prompt\n");
	HITS("day:2026-02-02 role:tool", "output r1: heron built\noutput r1: heron failed\n");
	HITS("day:2026-02 is:subagent", "other s1: heron aside\n");
	HITS("after:2026-03-01", "prompt q1: another heron\n");
	HITS("after:2026-01-31 before:2026-02-01", "prompt p1: heron prompt\n");
	HITS("role:user", "prompt q1: another heron\nprompt p1: heron prompt\n");
	HITS_IN("prompt p1: heron prompt\nprompt q1: another heron\n", .text = STR("role:user"), .order = RANK_OLD);
	HITS_IN("prompt p1: heron prompt\n", .text = STR("role:user"), .offset = 1);
	HITS_IN("prompt q1: another [heron]\n", .text = STR("heron"), .order = RANK_RECENT, .limit = 1);
	HITS_IN("other s1: [heron] aside\n", .text = STR("heron"), .order = RANK_RECENT, .limit = 1, .offset = 1);
	HITS("is:withdrawn", "");
	HITS("model:none heron", "");
	HITS("\"role:user\"", "");
	OK(search(&w, (struct asked){ .text = STR("heron -after:2026-02-03") }, &err));
	EQ(w.hits, 5);
}

#define CALL(id, name, what) \
	"{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{\"command\":\"" what "\"}}"
#define RESULT(id, is_error, what) \
	"{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"is_error\":" is_error ",\"content\":\"" what "\"}"

TEST(a_tool_is_asked_of_its_results_where_results_are_asked_for)
{
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE,
	       STR(LINE("assistant", "a1", BLOCKS("m1", CALL("t1", "Bash", "make otter")))
		   LINE("user", "r1", BLOCKS("", RESULT("t1", "true", "otter failed")))
		   LINE("assistant", "a2",
			BLOCKS("m2", "{\"type\":\"text\",\"text\":\"both\"}," CALL("t2", "Read", "otter.c") ","
				     CALL("t3", "Bash", "ls otter")))
		   LINE("user", "r2",
			BLOCKS("", RESULT("t2", "true", "no otter.c") "," RESULT("t3", "false", "an otter")))
		   LINE("user", "r3", BLOCKS("", RESULT("t9", "true", "whose otter")))),
	       &err));
	/* The same id in another conversation is another call. */
	OK(put(&w, TWO, STR(LINE("user", "x1", BLOCKS("", RESULT("t1", "true", "another otter")))), &err));
	HITS("is:error tool:Bash", "output r1: otter failed\n");
	HITS("is:error tool:bash failed", "output r1: otter [failed]\n");
	HITS("is:error tool:Re*", "output r2: no otter.c\n");
	HITS("in:output tool:Bash an", "output r2: [an] otter\n");
	HITS("role:tool tool:Read", "output r2: no otter.c\n");
	HITS("in:output tool:Bash -failed", "output r2: an otter\n");
	HITS("in:output,input tool:Read", "output r2: no otter.c\ninput Read a2: Read otter.c\n");
	HITS("is:error -tool:Bash -tool:Read -another", "output r3: whose otter\n");
	HITS("is:error tool:Grep", "");
	HITS("tool:Read", "input Read a2: Read otter.c\n");
	HITS_IN("output r2: an otter\noutput r1: otter failed\n", .text = STR("tool:Bash"),
		.filter.places = 1u << PLACE_OUTPUT);
}

TEST(a_condition_that_cannot_be_is_refused_with_what_could)
{
	static const struct {
		const char *query, *says;
	} rows[] = {
		{ "role:usr", "did you mean user" },
		{ "in:everything", "it is one of prompt, answer," },
		{ "is:erorr", "did you mean error" },
		{ "after:soon", "give a time" },
		{ "day:", NULL },
		{ "x day:2026-13", "give a time" },
		{ "x -day:2026-01", "cannot be left out" },
		{ "x model:\"\"", "which one?" },
		{ "-x", "add a word" },
		{ "-x -role:user", "add a word" },
		{ "-x role:user", NULL },
	};
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	for (size_t i = 0; i < COUNT(rows); i++) {
		enum status status = search(&w, (struct asked){ .text = str_of(rows[i].query) }, &err);

		if (status != (rows[i].says ? STATUS_USAGE : STATUS_OK) ||
		    (rows[i].says && !strstr(err.text, rows[i].says)))
			t_fail(t, __FILE__, __LINE__, "'%s': %s", rows[i].query, status ? err.text : "accepted");
	}
}

TEST(a_word_at_the_end_of_a_line_of_megabytes_is_found_and_shown)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	buf_text(&file, "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":"
			"[{\"type\":\"tool_result\",\"content\":\"");
	while (file.n < 3 * MIB)
		buf_text(&file, "some words and \\u00e9\\n");
	buf_text(&file, "then a narwhal at last\"}]}}\n" LINE("user", "b", SAYS("another narwhal")));
	OK(put(&w, ONE, buf_as_str(&file), &err));
	OK(search(&w, (struct asked){ .text = STR("narwhal last") }, &err));
	EQ(w.report.total, 1);
	CHECK(w.log.p && strstr(w.log.p, "then a [narwhal] at [last]\n"));
	HITS("another", "prompt b: [another] narwhal\n");
}

TEST(a_run_of_a_megabyte_is_shown_in_part)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	buf_text(&file, "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"");
	for (int i = 0; i < 1 << 20; i++)
		buf_byte(&file, 'q');
	buf_text(&file, "\"}}\n");
	OK(put(&w, ONE, buf_as_str(&file), &err));
	OK(search(&w, (struct asked){ .text = STR("qqq*") }, &err));
	EQ(w.hits, 1);
	CHECK(w.log.n < 400);
}

TEST(a_query_without_words_is_refused_and_a_long_one_is_cut)
{
	struct buf query CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	EQ(search(&w, (struct asked){ .text = STR("\"*") }, &err), STATUS_USAGE);
	CHECK(!strstr(err.text, "fts5") && !strstr(err.text, "MATCH"));
	EQ(search(&w, (struct asked){ .text = { 0 } }, &err), STATUS_USAGE);
	for (int i = 0; i < 10000; i++)
		buf_text(&query, "newt ");
	OK(search(&w, (struct asked){ .text = buf_as_str(&query) }, &err));
	CHECK(w.cut);
	OK(search(&w, (struct asked){ .text = STR("newt") }, &err));
	CHECK(!w.cut);
}

TEST(whoever_takes_the_hits_may_stop_with_an_error)
{
	struct err err;
	WORLD w;

	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, str_of(first_file), &err));
	w.stop_after = 2;
	EQ(search(&w, (struct asked){ .text = STR("walrus") }, &err), STATUS_CONFLICT);
	EQ(w.hits, 2);
	EQS(str_of(err.text), STR("enough"));
}

/* ---- Transcripts ----------------------------------------------------------------------- */

struct taking {
	int lines, stop_at;
	bool fail;
};

static enum status take_record(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct taking *y = ctx;

	(void)line;
	if (++y->lines != y->stop_at)
		return STATUS_OK;
	*go_on = false;
	return y->fail ? err_fail(err, STATUS_CONFLICT, "enough") : STATUS_OK;
}

TEST(a_transcript_is_read_until_somebody_has_enough_and_errors_arrive)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct transcript transcript CLEANUP(transcript_release);
	struct session session;
	struct err err;
	WORLD w;

	transcript_init(&transcript);
	OK(world_init(t, &w, &err));
	OK(put(&w, ONE, str_of(first_file), &err));
	HITS("look", "answer u3: I [look].\n");
	OK(session_get(w.s, w.sessions[0], &mem, &session, &err));
	for (int stop = 1; stop <= 8; stop++)
		for (int cut = 0; cut <= 1; cut++) { /* with and without the last line feed */
			int64_t to = session.read_to - cut;
			struct taking y = { .stop_at = stop }, z = { .stop_at = stop, .fail = true };

			OK(transcript_each(&transcript, w.s, &session, 0, to, take_record, &y, &err));
			EQ(y.lines, stop < 7 ? stop : 7);
			EQ(transcript_each(&transcript, w.s, &session, 0, to, take_record, &z, &err),
			   stop <= 7 ? STATUS_CONFLICT : STATUS_OK);
		}
}

TESTS(CASE(a_word_is_found_wherever_it_was_said_and_shown_where),
      CASE(a_hit_names_its_line_its_block_and_its_message),
      CASE(glued_torn_and_broken_lines_are_found_as_far_as_they_can_be_read),
      CASE(what_is_appended_is_found_and_so_is_what_was_withdrawn),
      CASE(an_identifier_typed_in_one_word_begins_or_ends_a_phrase),
      CASE(projects_sessions_places_and_limits_narrow_a_search),
      CASE(conditions_are_true_of_what_is_found_and_alone_they_list_it),
      CASE(a_tool_is_asked_of_its_results_where_results_are_asked_for),
      CASE(a_condition_that_cannot_be_is_refused_with_what_could),
      CASE(a_word_at_the_end_of_a_line_of_megabytes_is_found_and_shown),
      CASE(a_run_of_a_megabyte_is_shown_in_part),
      CASE(a_query_without_words_is_refused_and_a_long_one_is_cut),
      CASE(whoever_takes_the_hits_may_stop_with_an_error),
      CASE(a_transcript_is_read_until_somebody_has_enough_and_errors_arrive))
