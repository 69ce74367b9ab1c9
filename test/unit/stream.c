/*
 * Streams in the store: written, read from any place, taken over, put together.
 */
#include "store/cursor.h"
#include "store/db.h"
#include "streams.h"
#include "t.h"

#include <string.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static enum status open_store(struct t *t, const char *name, struct store **out, struct err *err)
{
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/%s", t_tmpdir(t), name);
	return store_open(&(struct store_options){ .path = path, .create = true }, out, err);
}

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static enum status page(struct store *s, const struct run *run, struct stream_place after, int64_t limit,
			struct arena *mem, struct stream *stream, struct event_page *out, struct err *err)
{
	struct event_ask ask = { .after = after, .limit = limit, .bytes = LIMIT_POLL_BYTES };

	stream->id = run->stream;
	return event_page(s, stream, &ask, mem, out, err);
}

/* ---- States ------------------------------------------------------------------ */

TEST(a_stream_that_is_over_never_changes_and_others_may_end_in_any_way)
{
	for (enum stream_state from = 0; from < STREAM_STATES; from++)
		for (enum stream_state to = 0; to < STREAM_STATES; to++)
			EQ(stream_may_become(from, to), !stream_is_over(from));
	CHECK(!stream_is_over(STREAM_RUNNING) && !stream_is_over(STREAM_AWAITING));
	CHECK(stream_is_over(STREAM_COMPLETE) && stream_is_over(STREAM_FAILED) &&
	      stream_is_over(STREAM_CANCELLED) && stream_is_over(STREAM_INTERRUPTED));
}

TEST(every_transition_is_made_or_refused_by_the_store_as_the_table_says)
{
	STORE *s = NULL;
	struct err err;
	int made = 0;

	OK(open_store(t, "a.db", &s, &err));
	for (enum stream_state from = 0; from < STREAM_STATES; from++)
		for (enum stream_state to = 0; to < STREAM_STATES; to++) {
			struct event_new e = test_event("x", "{}");
			struct stream_end end = { .cost_micro = -1 };
			struct stream_change change = { &e, 1, from, &end, false };
			char name[32];
			struct run run;
			enum status status;
			ARENA;

			snprintf(name, sizeof name, "s%d", made++);
			OK(test_run(s, name, &mem, &run, &err));
			OK(stream_write(s, &run.writer, &change, &err));
			change.state = to;
			status = stream_write(s, &run.writer, &change, &err);
			EQ(status == STATUS_OK, stream_may_become(from, to));
		}
	EQ(ask(s, "SELECT count(*) FROM stream WHERE (ended_at IS NULL) <> (state IN "
		  "('running','awaiting_permission'))"),
	   0);
	EQ(ask(s, "SELECT count(*) FROM stream t JOIN run r ON r.id = t.run WHERE (t.ended_at IS NULL) <> "
		  "(r.ended_at IS NULL)"),
	   0);
}

/* ---- Reading ------------------------------------------------------------------ */

TEST(a_store_without_streams_has_none_and_stays_as_it_is)
{
	STORE *s = NULL;
	struct stream stream;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	EQ(stream_find(s, STR("abcd"), &mem, &stream, &err), STATUS_NOT_FOUND);
	EQ(stream_find(s, STR("zz"), &mem, &stream, &err), STATUS_USAGE);
	EQ(ask(s, "PRAGMA user_version"), STORE_ARCHIVE);
}

TEST(events_come_back_as_they_were_written_numbered_from_one)
{
	STORE *s = NULL;
	struct event_new e = { .type = STR("tool_result"),
			       .has_node = true,
			       .data = STR("{\"a\":\"\\u0000 \xc3\xbc\"}"),
			       .at = 99 };
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(uuid_random(&e.node, &err));
	OK(stream_write(s, &run.writer, &(struct stream_change){ &e, 1, STREAM_AWAITING, NULL, true }, &err));
	OK(page(s, &run, (struct stream_place){ 0 }, 100, &mem, &stream, &p, &err));
	NEED(p.count == 2);
	EQS(p.events[0].type, STR("start"));
	EQ(p.events[1].seq, 2);
	EQ(p.events[1].seq_last, 2);
	EQS(p.events[1].type, e.type);
	EQS(p.events[1].data, e.data);
	EQ(p.events[1].at, 99);
	CHECK(p.events[1].has_node && uuid_eq(&p.events[1].node, &e.node) && !p.events[0].has_node);
	EQ(p.next.seq, 2);
	EQ(p.next.incarnation, 1);
	CHECK(!p.more && !p.reset);
	EQ(stream.state, STREAM_AWAITING);
	EQS(stream.session_name, STR("one"));
}

TEST(pages_of_any_size_give_every_event_once_in_order)
{
	STORE *s = NULL;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 60, &err));
	for (int64_t limit = 1; limit < 70; limit++) {
		struct stream_place at = { 0 };
		int64_t want = 1;
		bool more = true;

		while (more) {
			struct event_page p;
			struct stream stream;

			OK(page(s, &run, at, limit, &mem, &stream, &p, &err));
			NEED(p.count && p.count <= (size_t)limit);
			for (size_t i = 0; i < p.count; i++)
				EQ(p.events[i].seq, want++);
			at = p.next;
			more = p.more;
			EQ(more, want <= 61);
		}
		EQ(want, 62);
	}
}

TEST(a_page_ends_early_when_its_events_are_large_but_has_one)
{
	STORE *s = NULL;
	struct event_ask what = { .limit = 100, .bytes = 10 };
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 9, &err));
	stream.id = run.stream;
	OK(event_page(s, &stream, &what, &mem, &p, &err));
	EQ(p.count, 3); /* "{}", then seven bytes each */
	CHECK(p.more);
	what.bytes = 0;
	OK(event_page(s, &stream, &what, &mem, &p, &err));
	EQ(p.count, 1);
	CHECK(p.more);
}

TEST(behind_the_last_event_there_is_nothing_and_the_place_stays)
{
	STORE *s = NULL;
	struct stream_place end = { 1, 1 };
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(page(s, &run, end, 10, &mem, &stream, &p, &err));
	EQ(p.count, 0);
	CHECK(!p.more && !p.reset && p.next.seq == 1 && p.next.incarnation == 1);
}

TEST(a_place_that_nobody_can_have_is_answered_by_reset)
{
	STORE *s = NULL;
	static const struct stream_place places[] = {
		{ 1, 5 }, { 0, 5 }, { 2, 1 }, { 1, INT64_MAX }, { 7, 4 }
	};
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 3, &err));
	for (size_t i = 0; i < COUNT(places); i++) {
		OK(page(s, &run, places[i], 10, &mem, &stream, &p, &err));
		CHECK(p.reset && p.count == 0 && p.next.seq == 0 && p.next.incarnation == 0);
	}
}

TEST(who_read_events_that_were_lost_with_the_power_is_told_although_others_have_their_numbers)
{
	STORE *s = NULL;
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 9, &err));
	/* What comes back up after the power has failed. */
	OK(db_exec(s, "DELETE FROM event WHERE seq > 4; UPDATE stream SET last_seq = 4", &err));
	OK(run_take(s, &run, &(struct lease){ .host = STR("h"), .boot = STR("b") }, &err));
	OK(test_write(s, &run.writer, 5, 20, &err));
	OK(page(s, &run, (struct stream_place){ 1, 8 }, 10, &mem, &stream, &p, &err));
	CHECK(p.reset);
	OK(page(s, &run, (struct stream_place){ 1, 3 }, 10, &mem, &stream, &p, &err));
	CHECK(!p.reset && p.count == 10 && p.events[0].seq == 4);
	OK(page(s, &run, (struct stream_place){ 2, 8 }, 10, &mem, &stream, &p, &err));
	CHECK(!p.reset && p.events[0].seq == 9);
}

TEST(a_hole_is_a_damaged_store_and_not_a_shorter_stream)
{
	STORE *s = NULL;
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 9, &err));
	OK(db_exec(s, "DELETE FROM event WHERE seq = 5", &err));
	EQ(page(s, &run, (struct stream_place){ 0 }, 10, &mem, &stream, &p, &err), STATUS_CORRUPT);
	CHECK(strstr(err.text, "event 5 is missing"));
	OK(db_exec(s, "DELETE FROM event WHERE seq > 5", &err));
	EQ(page(s, &run, (struct stream_place){ 1, 4 }, 10, &mem, &stream, &p, &err), STATUS_CORRUPT);
}

TEST(places_are_printed_and_read_and_nothing_else_is_one)
{
	static const char *const good[] = { "0",   "1",	    "417",
					    "1.1", "2.417", "9223372036854775807.9223372036854775807" };
	static const char *const bad[] = { "",	".",	"1.",	".1", "-1",   "0.1", "1.2.3",
					   "a", "1.-2", "1 .2", " 1", "1.2 ", "+1",  "9223372036854775808" };
	struct stream_place p;
	char text[STREAM_PLACE_TEXT];

	for (size_t i = 0; i < COUNT(good); i++) {
		NEED(stream_place_parse(str_of(good[i]), &p));
		stream_place_print(&p, text);
		EQS(str_of(text), str_of(good[i]));
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		if (stream_place_parse(str_of(bad[i]), &p))
			t_fail(t, __FILE__, __LINE__, "'%s' is a place", bad[i]);
	CHECK(stream_place_parse(STR("3.0"), &p));
}

TEST(an_event_is_found_by_its_id_and_by_no_other)
{
	STORE *s = NULL;
	struct stream stream;
	struct run run, other;
	struct event e;
	struct uuid id;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_run(s, "two", &mem, &other, &err));
	OK(test_write(s, &run.writer, 2, 5, &err));
	for (int64_t seq = 1; seq <= 6; seq++) {
		id = event_id(&run.stream, seq);
		EQ(id.b[6] >> 4, 8);
		EQ(id.b[8] >> 6, 2);
		OK(event_get(s, &id, &mem, &stream, &e, &err));
		EQ(e.seq, seq);
		CHECK(uuid_eq(&stream.id, &run.stream));
	}
	id = event_id(&run.stream, 7);
	EQ(event_get(s, &id, &mem, &stream, &e, &err), STATUS_NOT_FOUND);
	id = event_id(&run.stream, 0);
	EQ(event_get(s, &id, &mem, &stream, &e, &err), STATUS_NOT_FOUND);
	EQ(event_get(s, &run.stream, &mem, &stream, &e, &err), STATUS_NOT_FOUND);
	OK(uuid_random(&id, &err));
	EQ(event_get(s, &id, &mem, &stream, &e, &err), STATUS_NOT_FOUND);
}

/* ---- Who may write ------------------------------------------------------------- */

TEST(whoever_was_taken_over_from_can_write_no_more)
{
	STORE *s = NULL;
	struct stream_writer old;
	struct run run, twin;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	old = run.writer;
	twin = run;
	OK(run_take(s, &run, &(struct lease){ .host = STR("h"), .boot = STR("b"), .pid = 2 }, &err));
	EQ(run_take(s, &twin, &(struct lease){ .host = STR("h"), .boot = STR("b"), .pid = 3 }, &err),
	   STATUS_CONFLICT);
	EQ(test_write(s, &old, 2, 1, &err), STATUS_CONFLICT);
	EQ(run_renew(s, &twin, &err), STATUS_CONFLICT);
	OK(run_renew(s, &run, &err));
	OK(test_write(s, &run.writer, 2, 1, &err));
	OK(test_finish(s, &run.writer, STREAM_COMPLETE, &err));
	EQ(test_write(s, &run.writer, 4, 1, &err), STATUS_CONFLICT);
	EQ(run_renew(s, &run, &err), STATUS_CONFLICT);
	EQ(run_take(s, &run, &(struct lease){ .host = STR("h"), .boot = STR("b") }, &err), STATUS_CONFLICT);
	EQ(ask(s, "SELECT count(*) FROM event"), 3);
	EQ(ask(s, "SELECT lease_pid FROM run"), 2);
}

TEST(a_change_that_fails_leaves_nothing_of_it)
{
	STORE *s = NULL;
	struct event_new events[2] = { test_event("a", "{}"),
				       { .type = STR("b"), .has_node = true, .data = STR("{}") } };
	struct stream_change change = { events, 2, STREAM_COMPLETE, NULL, false };
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	EQ(stream_write(s, &run.writer, &change, &err), STATUS_INTERNAL); /* ends without saying how */
	EQ(ask(s, "SELECT count(*) FROM event"), 1);
	EQ(ask(s, "SELECT last_seq FROM stream"), 1);
	EQ(ask(s, "SELECT count(*) FROM stream WHERE state = 'running'"), 1);
}

/* ---- Runs ---------------------------------------------------------------------- */

TEST(the_same_client_id_is_run_once_whatever_became_of_it)
{
	STORE *s = NULL;
	struct run_new what = { .client_id = STR("m1"),
				.prompt = STR("1"),
				.lease = test_lease(1),
				.first = test_event("start", "{}") };
	struct run first, second;
	struct err err;
	bool again;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_session(s, "one", &what.session, &err));
	OK(run_submit(s, &what, &mem, &first, &again, &err));
	CHECK(!again);
	OK(run_submit(s, &what, &mem, &second, &again, &err));
	CHECK(again && uuid_eq(&first.stream, &second.stream) && first.row == second.row);
	OK(test_finish(s, &first.writer, STREAM_INTERRUPTED, &err));
	OK(run_submit(s, &what, &mem, &second, &again, &err));
	CHECK(again && uuid_eq(&first.stream, &second.stream) && second.ended_at > 0);
	what.client_id = STR("m2");
	OK(run_submit(s, &what, &mem, &second, &again, &err));
	CHECK(!again && !uuid_eq(&first.stream, &second.stream));
	EQ(ask(s, "SELECT count(*) FROM run"), 2);
}

TEST(a_session_has_one_run_at_a_time_and_any_number_after_each_other)
{
	STORE *s = NULL;
	struct run_new what = { .prompt = STR("1"),
				.lease = test_lease(1),
				.first = test_event("start", "{}") };
	struct run run;
	struct err err;
	bool again;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_session(s, "one", &what.session, &err));
	for (int i = 0; i < 3; i++) {
		ARENA;

		OK(run_submit(s, &what, &mem, &run, &again, &err));
		EQ(run_submit(s, &what, &mem, &(struct run){ 0 }, &again, &err), STATUS_BUSY);
		OK(test_finish(s, &run.writer, STREAM_COMPLETE, &err));
	}
	EQ(ask(s, "SELECT count(*) FROM stream"), 3);
	EQ(ask(s, "SELECT count(*) FROM event"), 6);
}

static enum status count_open(void *ctx, const struct run *run, struct err *err)
{
	(void)err;
	*(int64_t *)ctx += run->lease.pid;
	return STATUS_OK;
}

TEST(open_runs_are_listed_with_who_holds_them)
{
	STORE *s = NULL;
	struct run a, b;
	struct err err;
	int64_t pids = 0;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &a, &err));
	OK(test_run(s, "two", &mem, &b, &err));
	OK(run_take(s, &b, &(struct lease){ .host = STR("h"), .boot = STR("b"), .pid = 40 }, &err));
	OK(run_note(s, &b, STR("[\"claude\"]"), (struct str){ 0 }, &err));
	OK(run_note(s, &b, (struct str){ 0 }, STR("{}"), &err));
	EQ(ask(s, "SELECT count(*) FROM run WHERE argv = '[\"claude\"]' AND init = '{}'"), 1);
	OK(run_each_open(s, count_open, &pids, &err));
	EQ(pids, 41);
	OK(test_finish(s, &a.writer, STREAM_FAILED, &err));
	pids = 0;
	OK(run_each_open(s, count_open, &pids, &err));
	EQ(pids, 40);
}

/* ---- Cursors -------------------------------------------------------------------- */

static enum status count_cursor(void *ctx, const struct cursor *c, struct err *err)
{
	(void)c;
	(void)err;
	++*(int *)ctx;
	return STATUS_OK;
}

TEST(a_cursor_moves_forward_when_told_and_never_otherwise)
{
	STORE *s = NULL;
	struct event_page p;
	struct stream stream;
	struct cursor c;
	struct run run;
	struct err err;
	int count = 0;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 9, &err));
	OK(page(s, &run, (struct stream_place){ 0 }, 4, &mem, &stream, &p, &err));
	OK(cursor_create(s, &stream, STR("ui"), &(struct stream_place){ 0 }, &err));
	EQ(cursor_create(s, &stream, STR("ui"), &(struct stream_place){ 0 }, &err), STATUS_CONFLICT);
	OK(cursor_get(s, &stream, STR("ui"), &mem, &c, &err));
	EQ(c.place.seq, 0);
	OK(cursor_advance(s, &stream, STR("ui"), &p.next, &err));
	OK(cursor_advance(s, &stream, STR("ui"), &p.next, &err));
	OK(cursor_get(s, &stream, STR("ui"), &mem, &c, &err));
	EQ(c.place.seq, 4);
	EQ(c.place.incarnation, 1);
	EQ(cursor_advance(s, &stream, STR("ui"), &(struct stream_place){ 1, 3 }, &err), STATUS_CONFLICT);
	EQ(cursor_advance(s, &stream, STR("ui"), &(struct stream_place){ 1, 11 }, &err), STATUS_USAGE);
	EQ(cursor_advance(s, &stream, STR("ui"), &(struct stream_place){ 2, 5 }, &err), STATUS_USAGE);
	OK(cursor_advance(s, &stream, STR("ui"), &(struct stream_place){ 0, 5 }, &err));
	OK(cursor_get(s, &stream, STR("ui"), &mem, &c, &err));
	EQ(c.place.incarnation, 1); /* found out */
	EQ(cursor_get(s, &stream, STR("no"), &mem, &c, &err), STATUS_NOT_FOUND);
	EQ(cursor_advance(s, &stream, STR("no"), &p.next, &err), STATUS_NOT_FOUND);
	EQ(cursor_create(s, &stream, STR("a b"), &p.next, &err), STATUS_USAGE);
	EQ(cursor_create(s, &stream, STR("far"), &(struct stream_place){ 1, 99 }, &err), STATUS_USAGE);
	OK(cursor_create(s, &stream, STR("b"), &p.next, &err));
	OK(cursor_each(s, &stream, count_cursor, &count, &err));
	EQ(count, 2);
}

TEST(a_cursor_that_is_deleted_is_remembered_until_it_is_made_again)
{
	STORE *s = NULL;
	struct stream stream;
	struct event_page p;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(page(s, &run, (struct stream_place){ 0 }, 4, &mem, &stream, &p, &err));
	OK(cursor_create(s, &stream, STR("ui"), &p.next, &err));
	OK(cursor_delete(s, &stream, STR("ui"), &err));
	EQ(cursor_delete(s, &stream, STR("ui"), &err), STATUS_NOT_FOUND);
	EQ(ask(s, "SELECT length(key) FROM deleted_row WHERE table_name = 'cursor'"), 18);
	OK(cursor_create(s, &stream, STR("ui"), &p.next, &err));
	EQ(ask(s, "SELECT count(*) FROM deleted_row"), 0);
}

TEST(a_cursor_at_events_that_were_lost_hears_of_it_and_may_then_go_anywhere)
{
	STORE *s = NULL;
	struct stream stream;
	struct event_page p;
	struct cursor c;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 9, &err));
	OK(page(s, &run, (struct stream_place){ 0 }, 100, &mem, &stream, &p, &err));
	OK(cursor_create(s, &stream, STR("ui"), &p.next, &err));
	OK(db_exec(s, "DELETE FROM event WHERE seq > 4; UPDATE stream SET last_seq = 4", &err));
	OK(cursor_get(s, &stream, STR("ui"), &mem, &c, &err));
	OK(page(s, &run, c.place, 100, &mem, &stream, &p, &err));
	CHECK(p.reset);
	OK(cursor_advance(s, &stream, STR("ui"), &(struct stream_place){ 1, 2 }, &err));
}

/* ---- Putting together -------------------------------------------------------------- */

/* Adds up the numbers of deltas that are below ten. */
struct sum {
	int64_t total;
	char text[32];
};

static int64_t number_of(const struct event *e)
{
	int64_t n = -1;

	str_to_i64(str_sub(e->data, 5, e->data.n - 6), &n);
	return n;
}

static bool sum_begin(void *ctx, const struct event *e)
{
	((struct sum *)ctx)->total = number_of(e);
	return str_eq(e->type, STR("content_delta")) && number_of(e) < 10;
}

static bool sum_add(void *ctx, const struct event *e)
{
	struct sum *sum = ctx;

	if (!str_eq(e->type, STR("content_delta")) || number_of(e) >= 10)
		return false;
	sum->total += number_of(e);
	return true;
}

static struct str sum_end(void *ctx)
{
	struct sum *sum = ctx;

	snprintf(sum->text, sizeof sum->text, "{\"n\":%lld}", (long long)sum->total);
	return str_of(sum->text);
}

TEST(deltas_are_put_together_and_every_place_stays_one)
{
	STORE *s = NULL;
	struct sum sum;
	struct event_merge how = { sum_begin, sum_add, sum_end, &sum };
	struct event_new odd = test_event("content_end", "{}");
	struct event_page p;
	struct stream stream;
	struct event e;
	struct uuid id;
	struct run run;
	struct err err;
	int64_t gone;
	bool found;
	ARENA;

	OK(open_store(t, "a.db", &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	OK(test_write(s, &run.writer, 2, 4, &err)); /* 2 .. 5 */
	OK(stream_write(s, &run.writer, &(struct stream_change){ &odd, 1, STREAM_RUNNING, NULL, false },
			&err));			    /* 6 */
	OK(test_write(s, &run.writer, 7, 2, &err)); /* 7, 8 */
	OK(run_take(s, &run, &(struct lease){ .host = STR("h"), .boot = STR("b") }, &err));
	OK(test_write(s, &run.writer, 9, 4, &err)); /* 9 by another, 10 .. 12 too large */
	OK(page(s, &run, (struct stream_place){ 0 }, 100, &mem, &stream, &p, &err));
	EQ(event_compact(s, &stream, &how, &gone, &err), STATUS_USAGE);
	OK(stream_uncompacted(s, INT64_MAX, &mem, &stream, &found, &err));
	CHECK(!found);
	OK(test_finish(s, &run.writer, STREAM_COMPLETE, &err)); /* 13 */
	OK(stream_uncompacted(s, 1, &mem, &stream, &found, &err));
	CHECK(!found);
	OK(stream_uncompacted(s, INT64_MAX, &mem, &stream, &found, &err));
	NEED(found);
	OK(event_compact(s, &stream, &how, &gone, &err));
	EQ(gone, 4);
	OK(page(s, &run, (struct stream_place){ 0 }, 100, &mem, &stream, &p, &err));
	NEED(p.count == 9);
	CHECK(p.events[1].seq == 2 && p.events[1].seq_last == 5 && number_of(&p.events[1]) == 14);
	CHECK(p.events[3].seq == 7 && p.events[3].seq_last == 8 && number_of(&p.events[3]) == 15);
	CHECK(p.events[4].seq == 9 && p.events[4].seq_last == 9);
	CHECK(!p.more && stream.compacted_at > 0);
	for (int64_t seq = 0; seq <= 13; seq++) {
		int64_t want = seq >= 2 && seq < 5 ? 2 : seq == 7 ? 7 : seq + 1;

		OK(page(s, &run, (struct stream_place){ seq ? (seq < 9 ? 1 : 2) : 0, seq }, 1, &mem, &stream,
			&p, &err));
		CHECK(!p.reset);
		if (seq < 13)
			EQ(p.events[0].seq, want);
		else
			EQ(p.count, 0);
	}
	id = event_id(&run.stream, 4);
	OK(event_get(s, &id, &mem, &stream, &e, &err));
	EQ(e.seq, 2);
	OK(event_compact(s, &stream, &how, &gone, &err));
	EQ(gone, 0);
	OK(stream_uncompacted(s, INT64_MAX, &mem, &stream, &found, &err));
	CHECK(!found);
}

TESTS(CASE(a_stream_that_is_over_never_changes_and_others_may_end_in_any_way),
      CASE(every_transition_is_made_or_refused_by_the_store_as_the_table_says),
      CASE(a_store_without_streams_has_none_and_stays_as_it_is),
      CASE(events_come_back_as_they_were_written_numbered_from_one),
      CASE(pages_of_any_size_give_every_event_once_in_order),
      CASE(a_page_ends_early_when_its_events_are_large_but_has_one),
      CASE(behind_the_last_event_there_is_nothing_and_the_place_stays),
      CASE(a_place_that_nobody_can_have_is_answered_by_reset),
      CASE(who_read_events_that_were_lost_with_the_power_is_told_although_others_have_their_numbers),
      CASE(a_hole_is_a_damaged_store_and_not_a_shorter_stream),
      CASE(places_are_printed_and_read_and_nothing_else_is_one),
      CASE(an_event_is_found_by_its_id_and_by_no_other), CASE(whoever_was_taken_over_from_can_write_no_more),
      CASE(a_change_that_fails_leaves_nothing_of_it),
      CASE(the_same_client_id_is_run_once_whatever_became_of_it),
      CASE(a_session_has_one_run_at_a_time_and_any_number_after_each_other),
      CASE(open_runs_are_listed_with_who_holds_them),
      CASE(a_cursor_moves_forward_when_told_and_never_otherwise),
      CASE(a_cursor_that_is_deleted_is_remembered_until_it_is_made_again),
      CASE(a_cursor_at_events_that_were_lost_hears_of_it_and_may_then_go_anywhere),
      CASE(deltas_are_put_together_and_every_place_stays_one))
