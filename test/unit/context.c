/*
 * What the model is sent, rule by rule. Whether it is what the client really sends is asked of
 * the captures (test/cli/5001-context.sh); here is each rule alone, and what takes how long.
 */
#include "query/context.h"
#include "files.h"
#include "t.h"

#include <string.h>
#include <time.h>

#define SESSION "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"

/* ---- Lines ------------------------------------------------------------------------ */

#define LINE(type, id, parent, rest) \
	"{\"type\":\"" type "\",\"uuid\":\"" id "\",\"parentUuid\":\"" parent "\"," rest "}\n"
#define USER(id, parent, text) \
	LINE("user", id, parent, "\"message\":{\"role\":\"user\",\"content\":\"" text "\"}")
#define META(id, parent, text) \
	LINE("user", id, parent, "\"isMeta\":true,\"message\":{\"role\":\"user\",\"content\":\"" text "\"}")
#define RESULT(id, parent, call) \
	LINE("user", id, parent, \
	     "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" call \
	     "\",\"content\":\"r\"}]}")
#define ANSWER(id, parent, api, block) \
	LINE("assistant", id, parent, \
	     "\"message\":{\"id\":\"" api "\",\"role\":\"assistant\",\"content\":[" block "]}")
#define TEXT(text)	     "{\"type\":\"text\",\"text\":\"" text "\"}"
#define CALL(call)	     "{\"type\":\"tool_use\",\"id\":\"" call "\",\"name\":\"Bash\",\"input\":{}}"
#define THINKING	     "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}"
#define PROGRESS(id, parent) LINE("progress", id, parent, "\"data\":{}")
#define BOUNDARY(id, metadata) \
	"{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"" id \
	"\",\"parentUuid\":null,\"compactMetadata\":{" metadata "}}\n"

/* ---- A conversation ----------------------------------------------------------------- */

struct talk {
	struct files files;
	struct arena mem;
	struct session session;
	struct chain c;
	struct buf said; /* messages as text */
	uint32_t count;
};

static void talk_release(struct talk *k)
{
	chain_release(&k->c);
	files_release(&k->files);
	arena_release(&k->mem);
	buf_release(&k->said);
}

#define TALK struct talk CLEANUP(talk_release)

static enum status talk_load(struct t *t, struct talk *k, struct str text, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	int64_t row;

	*k = (struct talk){ .said = BUF_INIT(64 * MIB) };
	if (files_init(t, &k->files, err) || files_put(&k->files, SESSION, text, err) ||
	    files_sync(&k->files, err) || files_find(&k->files, SESSION, &row, err) ||
	    read_begin(k->files.s, &snapshot, err) || session_get(k->files.s, row, &k->mem, &k->session, err))
		return err_failed(err->status);
	return chain_load(k->files.s, &k->session, &k->c, err);
}

static void put_block(struct talk *k, const struct json *j, uint32_t block)
{
	static const char *const names[] = { "text", "id", "tool_use_id" };
	struct str type = json_string_in(j, json_get(j, block, STR("type")), &k->mem);

	buf_printf(&k->said, " %s", str_eq(type, STR("text")) ? "" : arena_cstr(&k->mem, type));
	for (size_t i = 0; i < COUNT(names); i++)
		buf_str(&k->said, json_string_in(j, json_get(j, block, str_of(names[i])), &k->mem));
	if (json_get(j, block, STR("client")) != JSON_NONE)
		buf_text(&k->said, "*");
}

static enum status take(void *ctx, const struct context_message *m, struct err *err)
{
	struct talk *k = ctx;
	struct json j;

	json_init(&j);
	if (json_read(&j, m->content, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	buf_str(&k->said, str_sub(m->role, 0, 1));
	buf_byte(&k->said, ':');
	for (uint32_t b = json_first(&j, json_root(&j)); b != json_end(&j, json_root(&j));
	     b = json_next(&j, b))
		put_block(k, &j, b);
	buf_byte(&k->said, '\n');
	json_release(&j);
	k->count++;
	return STATUS_OK;
}

static enum status send(struct talk *k, const char *line, bool before, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct lines lines CLEANUP(lines_release) = { 0 };
	struct uuid key = line_key(str_of(line));

	buf_clear(&k->said);
	k->count = 0;
	if (read_begin(k->files.s, &snapshot, err))
		return err_failed(err->status);
	lines_init(&lines, k->files.s, &k->session);
	return context_each(&lines, &k->c, chain_find(&k->c, &key), before, take, k, err);
}

static void check_sent(struct t *t, int line, struct talk *k, const char *to, bool before, const char *want)
{
	struct err err;

	if (send(k, to, before, &err))
		t_fail(t, __FILE__, line, "%s", err.text);
	else
		t_eq_str(t, __FILE__, line, buf_as_str(&k->said), str_of(want), to);
}

#define LOAD(text) \
	struct err err; \
	TALK k; \
	OK(talk_load(t, &k, STR(text), &err))
#define SENT(to, want)	 check_sent(t, __LINE__, &k, to, false, want)
#define BEFORE(to, want) check_sent(t, __LINE__, &k, to, true, want)

/* ---- Rules ------------------------------------------------------------------------------ */

#define SIDE_BY_SIDE \
	USER("A", "", "hi") \
	ANSWER("B", "A", "1", CALL("x")) \
	ANSWER("C", "B", "1", CALL("y")) RESULT("R", "B", "x") RESULT("S", "C", "y")

TEST(the_way_to_a_line_is_sent_and_nothing_beside_it)
{
	LOAD(USER("A", "", "hi") ANSWER("B", "A", "1", TEXT("b")) USER("C", "B", "c")
		     ANSWER("D", "C", "2", TEXT("d")) USER("E", "B", "e"));
	SENT("D", "u: hi\na: b\nu: c\na: d\n");
	SENT("E", "u: hi\na: b\nu: e\n");
	BEFORE("D", "u: hi\na: b\nu: c\n");
}

TEST(parts_and_results_that_are_not_on_the_way_are_put_back)
{
	LOAD(SIDE_BY_SIDE ANSWER("D", "S", "2", TEXT("d")));
	SENT("D", "u: hi\na: tool_usex tool_usey\nu: tool_resultx tool_resulty\na: d\n");
	BEFORE("D", "u: hi\na: tool_usex tool_usey\nu: tool_resultx tool_resulty\n");
	/* The message itself is not, whichever of its lines is meant. */
	BEFORE("C", "u: hi\n");
}

TEST(a_call_on_the_first_result_is_the_same_answer)
{
	LOAD(USER("A", "", "hi") ANSWER("B", "A", "1", CALL("x")) RESULT("R", "B", "x")
		     ANSWER("C", "R", "1", CALL("y")) RESULT("S", "C", "y") ANSWER("D", "S", "2", TEXT("d")));
	SENT("D", "u: hi\na: tool_usex tool_usey\nu: tool_resultx tool_resulty\na: d\n");
}

TEST(results_are_found_through_progress)
{
	LOAD(USER("A", "", "hi") ANSWER("B", "A", "1", CALL("x")) ANSWER("C", "B", "1", CALL("y"))
		     PROGRESS("P", "B") PROGRESS("Q", "P") RESULT("R", "Q", "x") RESULT("S", "C", "y")
			     ANSWER("D", "S", "2", TEXT("d")));
	SENT("D", "u: hi\na: tool_usex tool_usey\nu: tool_resultx tool_resulty\na: d\n");
}

TEST(a_call_without_result_is_left_out_and_a_result_without_call)
{
	LOAD(USER("A", "", "hi") ANSWER("B", "A", "1", TEXT("b")) ANSWER("C", "B", "1", CALL("x")) USER(
		"D", "C", "d") ANSWER("E", "D", "2", TEXT("e")) RESULT("R", "E", "lost") USER("F", "R", "f"));
	SENT("F", "u: hi\na: b\nu: d\na: e\nu: f\n");
}

TEST(a_call_in_an_answer_that_is_left_out_has_no_result)
{
	LOAD(USER("A", "", "hi")
		     LINE("assistant", "B", "A",
			  "\"isApiErrorMessage\":true,\"message\":{\"id\":\"1\",\"content\":[" CALL("x") "]}")
			     RESULT("R", "B", "x") USER("C", "R", "c"));
	SENT("C", "u: hi c\n");
}

TEST(of_several_results_the_first_counts)
{
	LOAD(USER("A", "", "hi") ANSWER("B", "A", "1", CALL("x")) RESULT("R", "B", "x") RESULT("S", "R", "x")
		     USER("D", "S", "d"));
	SENT("D", "u: hi\na: tool_usex\nu: tool_resultx d\n");
}

TEST(thinking_alone_is_left_out)
{
	LOAD(USER("A", "", "hi") ANSWER("B", "A", "1", THINKING) USER("C", "B", "c")
		     ANSWER("D", "C", "2", THINKING) ANSWER("E", "D", "2", TEXT("e")));
	SENT("E", "u: hi\nu: c\na: thinking e\n");
}

TEST(neighbouring_user_messages_are_one_results_first)
{
	LOAD(USER("A", "", "hi") META("M", "A", "m") ANSWER("B", "M", "1", CALL("x")) USER("C", "B", "c")
		     RESULT("R", "C", "x") USER("D", "R", "d"));
	SENT("D", "u: hi m\na: tool_usex\nu: tool_resultx c d\n");
}

TEST(an_answer_goes_on_across_results_but_not_across_a_prompt)
{
	LOAD(USER("A", "", "hi") ANSWER("B", "A", "1", CALL("x")) RESULT("R", "B", "x")
		     ANSWER("C", "R", "1", TEXT("c")) USER("D", "C", "d") ANSWER("E", "D", "1", TEXT("e")));
	SENT("E", "u: hi\na: tool_usex c\nu: tool_resultx d\na: e\n");
}

TEST(a_circle_is_sent_once)
{
	LOAD(USER("A", "C", "hi") ANSWER("B", "A", "1", TEXT("b")) USER("C", "B", "c"));
	SENT("C", "u: hi\na: b\nu: c\n");
	SENT("A", "a: b\nu: c hi\n");
}

/* ---- Compaction --------------------------------------------------------------------------- */

#define OLD \
	USER("A", "", "hi") \
	ANSWER("B", "A", "1", TEXT("b")) USER("C", "B", "c") ANSWER("D", "C", "2", TEXT("d"))
#define SUMMARY \
	LINE("user", "S", "K", \
	     "\"isCompactSummary\":true,\"message\":{\"role\":\"user\",\"content\":\"summary\"}")

TEST(a_compaction_cuts_what_was_before_it)
{
	LOAD(OLD BOUNDARY("K", "\"trigger\":\"auto\"") SUMMARY ANSWER("E", "S", "3", TEXT("e")));
	SENT("E", "u: summary\na: e\n");
	SENT("D", "u: hi\na: b\nu: c\na: d\n");
}

TEST(preserved_messages_come_behind_the_summary_in_their_order)
{
	LOAD(OLD BOUNDARY("K",
			  "\"preservedMessages\":{\"anchorUuid\":\"S\",\"uuids\":[\"D\",\"C\",\"lost\",7]}")
		     SUMMARY ANSWER("E", "S", "3", TEXT("e")));
	SENT("E", "u: summary\na: d\nu: c\na: e\n");
}

TEST(a_preserved_segment_is_the_way_from_its_head_to_its_tail)
{
	LOAD(OLD BOUNDARY("K",
			  "\"preservedSegment\":{\"anchorUuid\":\"S\",\"headUuid\":\"B\",\"tailUuid\":\"D\"}")
		     SUMMARY ANSWER("E", "S", "3", TEXT("e")));
	SENT("E", "u: summary\na: b\nu: c\na: d\na: e\n");
}

TEST(what_is_preserved_is_sent_once_however_often_it_is_named)
{
	LOAD(OLD BOUNDARY(
		"K", "\"preservedMessages\":{\"anchorUuid\":\"S\",\"uuids\":[\"D\",\"D\",\"S\",\"E\",\"D\"]}")
		     SUMMARY ANSWER("E", "S", "3", TEXT("e")));
	SENT("E", "u: summary\na: d\na: e\n");
}

TEST(a_compaction_that_names_what_is_not_there_preserves_nothing)
{
	LOAD(OLD BOUNDARY("K", "\"preservedMessages\":{\"anchorUuid\":\"lost\",\"uuids\":[\"D\"]}") SUMMARY);
	SENT("S", "u: summary\n");
}

/* ---- Time --------------------------------------------------------------------------------- */

typedef void write_fn(struct buf *out, uint32_t n);

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The shortest of some; -1 = it failed. */
static double measure(struct t *t, write_fn *write, uint32_t n, uint32_t *count)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	double best = 1e9;
	struct err err;
	TALK k;

	write(&text, n);
	if (talk_load(t, &k, buf_as_str(&text), &err))
		return -1;
	for (int i = 0; i < 3; i++) {
		double start = seconds();

		if (send(&k, "end", false, &err))
			return -1;
		best = seconds() - start < best ? seconds() - start : best;
	}
	*count = k.count;
	return best;
}

/* Ten times as many lines: what is quadratic takes a hundred times as long. */
static void check_growth(struct t *t, int line, write_fn *write, uint32_t *count)
{
	enum { SMALL = 2000, TIMES = 10, MOST_RATIO = 60, TRIES = 5 };
	double small = 0, large = 0;

	for (int i = 0; i < TRIES; i++) {
		small = measure(t, write, SMALL, count);
		large = measure(t, write, TIMES * SMALL, count);
		if (small > 0 && large > 0 && large < MOST_RATIO * small)
			return;
	}
	t_fail(t, __FILE__, line, "%g s, and with ten times as many lines %g s", small, large);
}

static void write_loop(struct buf *out, uint32_t n)
{
	buf_text(out, USER("r0", "", "go"));
	for (uint32_t i = 1; i <= n; i++) {
		buf_printf(out, ANSWER("a%u", "r%u", "m%u", CALL("c%u")), i, i - 1, i, i);
		buf_printf(out, RESULT("r%u", "a%u", "c%u"), i, i, i);
	}
	buf_printf(out, ANSWER("end", "r%u", "last", TEXT("done")), n);
}

TEST(a_turn_of_very_many_calls_takes_linear_time)
{
	uint32_t count = 0;

	check_growth(t, __LINE__, write_loop, &count);
	EQ(count, 2 * 20000 + 2);
}

static void write_progress(struct buf *out, uint32_t n)
{
	buf_text(out, USER("p0", "", "go"));
	buf_text(out, ANSWER("a", "p0", "m", CALL("x")));
	buf_text(out, PROGRESS("p1", "a"));
	for (uint32_t i = 2; i <= n; i++)
		buf_printf(out, PROGRESS("p%u", "p%u"), i, i - 1);
	for (uint32_t i = 1; i <= n; i++)
		buf_printf(out, RESULT("r%u", "p%u", "x"), i, n);
	buf_text(out, ANSWER("end", "a", "last", TEXT("done")));
}

TEST(very_many_results_behind_much_progress_take_linear_time)
{
	uint32_t count = 0;

	check_growth(t, __LINE__, write_progress, &count);
	EQ(count, 4);
}

static void write_circle(struct buf *out, uint32_t n)
{
	buf_text(out, USER("u", "", "go"));
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, PROGRESS("p%u", "p%u"), i, (i + 1) % n);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, RESULT("r%u", "p%u", "x"), i, i);
	buf_text(out, ANSWER("end", "u", "last", TEXT("done")));
}

TEST(results_on_a_circle_of_progress_take_linear_time)
{
	uint32_t count = 0;

	check_growth(t, __LINE__, write_circle, &count);
	EQ(count, 2);
}

TESTS(CASE(the_way_to_a_line_is_sent_and_nothing_beside_it),
      CASE(parts_and_results_that_are_not_on_the_way_are_put_back),
      CASE(a_call_on_the_first_result_is_the_same_answer), CASE(results_are_found_through_progress),
      CASE(a_call_without_result_is_left_out_and_a_result_without_call),
      CASE(a_call_in_an_answer_that_is_left_out_has_no_result), CASE(of_several_results_the_first_counts),
      CASE(thinking_alone_is_left_out), CASE(neighbouring_user_messages_are_one_results_first),
      CASE(an_answer_goes_on_across_results_but_not_across_a_prompt), CASE(a_circle_is_sent_once),
      CASE(a_compaction_cuts_what_was_before_it),
      CASE(preserved_messages_come_behind_the_summary_in_their_order),
      CASE(a_preserved_segment_is_the_way_from_its_head_to_its_tail),
      CASE(what_is_preserved_is_sent_once_however_often_it_is_named),
      CASE(a_compaction_that_names_what_is_not_there_preserves_nothing),
      CASE(a_turn_of_very_many_calls_takes_linear_time),
      CASE(very_many_results_behind_much_progress_take_linear_time),
      CASE(results_on_a_circle_of_progress_take_linear_time))
