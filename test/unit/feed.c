/*
 * Events on their way from a client into a stream, and old ones put together.
 */
#include "live/feed.h"

#include "live/compact.h"
#include "store/event.h"
#include "store/session.h"
#include "streams.h"
#include "t.h"

#include <string.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static int64_t set_time(void *ctx)
{
	return *(int64_t *)ctx;
}

static enum status open_store(struct t *t, int64_t *now, struct store **out, struct err *err)
{
	char path[LIMIT_PATH];
	struct store_options o = { .path = path, .create = true };

	if (now)
		o.clock = (struct clock){ set_time, now };
	snprintf(path, sizeof path, "%.2000s/a.db", t_tmpdir(t));
	return store_open(&o, out, err);
}

static enum status read_all(struct store *s, const struct run *run, struct arena *mem, struct stream *stream,
			    struct event_page *p, struct err *err)
{
	struct event_ask ask = { .limit = 100000, .bytes = 64 * MIB };

	stream->id = run->stream;
	return event_page(s, stream, &ask, mem, p, err);
}

static void feed_freep(struct feed **f)
{
	feed_free(*f);
}

#define FEED struct feed CLEANUP(feed_freep)

TEST(events_wait_until_they_are_written_together)
{
	STORE *s = NULL;
	FEED *f = NULL;
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, NULL, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	f = feed_new(s, &run.writer);
	for (int i = 0; i < 500; i++) {
		char data[32];

		snprintf(data, sizeof data, "{\"n\":%d}", i);
		feed_add(f, CHAT_CONTENT_DELTA, (struct str){ 0 }, 0, str_of(data));
	}
	EQ(feed_waiting(f), 500);
	CHECK(!feed_is_urgent(f) && !feed_is_full(f));
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	EQ(p.count, 1);
	OK(feed_write(f, STREAM_RUNNING, NULL, &err));
	EQ(feed_waiting(f), 0);
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	NEED(p.count == 501);
	EQS(p.events[500].data, STR("{\"n\":499}"));
	EQS(p.events[500].type, STR("content_delta"));
}

TEST(what_somebody_waits_for_is_urgent)
{
	STORE *s = NULL;
	FEED *f = NULL;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, NULL, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	f = feed_new(s, &run.writer);
	feed_add(f, CHAT_CONTENT_DELTA, (struct str){ 0 }, 0, STR("{}"));
	feed_add(f, CHAT_AWAITING_APPROVAL, (struct str){ 0 }, 0, STR("{}"));
	CHECK(feed_is_urgent(f));
	OK(feed_write(f, STREAM_AWAITING, NULL, &err));
	CHECK(!feed_is_urgent(f));
	EQ(feed_state(f), STREAM_AWAITING);
}

TEST(a_feed_is_full_before_it_is_large)
{
	STORE *s = NULL;
	FEED *f = NULL;
	struct buf large CLEANUP(buf_release) = BUF_INIT(MIB);
	struct run run;
	struct err err;
	int count = 0;
	ARENA;

	OK(open_store(t, NULL, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	f = feed_new(s, &run.writer);
	buf_text(&large, "{\"text\":\"");
	for (int i = 0; i < 10000; i++)
		buf_byte(&large, 'x');
	buf_text(&large, "\"}");
	while (!feed_is_full(f)) {
		feed_add(f, CHAT_CONTENT_DELTA, (struct str){ 0 }, 0, buf_as_str(&large));
		count++;
	}
	CHECK(count > 10 && (size_t)count * large.n <= LIMIT_FEED + large.n);
	OK(feed_write(f, STREAM_RUNNING, NULL, &err));
	CHECK(!feed_is_full(f));
	/* Nothing but many small ones fill it, too. */
	for (count = 0; !feed_is_full(f); count++)
		feed_add(f, CHAT_CONTENT_DELTA, (struct str){ 0 }, 0, STR("{}"));
	CHECK(count < 100000);
}

TEST(what_cannot_be_written_still_waits)
{
	STORE *s = NULL;
	FEED *f = NULL;
	struct stream_end end = { .cost_micro = -1 };
	struct run run, other;
	struct err err;
	ARENA;

	OK(open_store(t, NULL, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	other = run;
	f = feed_new(s, &run.writer);
	feed_add(f, CHAT_CONTENT_DELTA, (struct str){ 0 }, 0, STR("{}"));
	OK(run_take(s, &other, &(struct lease){ .host = STR("h"), .boot = STR("b") }, &err));
	EQ(feed_write(f, STREAM_RUNNING, NULL, &err), STATUS_CONFLICT);
	EQ(feed_write(f, STREAM_COMPLETE, &end, &err), STATUS_CONFLICT);
	EQ(feed_waiting(f), 1);
	EQ(feed_state(f), STREAM_RUNNING);
}

/* The ids that a mirror of the same lines gives. */
TEST(events_name_the_nodes_of_the_lines_they_are_about)
{
	STORE *s = NULL;
	FEED *f = NULL;
	struct node_name name = { .uuid = STR("974ee86f-9640-40fe-93de-64aee86f9640") };
	struct chat_event e = { .type = CHAT_CONTENT_END, .uuid = name.uuid, .part = 3, .data = STR("{}") };
	struct uuid block = node_id(&name, 3), message = node_id(&name, PART_MESSAGE);
	struct event_page p;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, NULL, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	f = feed_new(s, &run.writer);
	OK(feed_chat(f, &e, &err));
	e.part = CHAT_PART_MESSAGE;
	OK(feed_chat(f, &e, &err));
	e.uuid = (struct str){ 0 };
	OK(feed_chat(f, &e, &err));
	OK(feed_write(f, STREAM_RUNNING, NULL, &err));
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	NEED(p.count == 4);
	CHECK(p.events[1].has_node && uuid_eq(&p.events[1].node, &block));
	CHECK(p.events[2].has_node && uuid_eq(&p.events[2].node, &message));
	CHECK(!p.events[3].has_node);
}

/* ---- A whole capture ------------------------------------------------------------------- */

static enum status feed_capture(struct t *t, struct feed *f, const char *path, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct chat_reader *r = chat_new(feed_chat, f);
	enum status status = STATUS_OK;
	const struct json *j;
	enum chat_line what;
	struct str rest;

	if (!t_read_file(t, path, &text))
		return err_fail(err, STATUS_NOT_FOUND, "%s", path);
	for (rest = buf_as_str(&text); rest.n && !status;)
		status = chat_read(r, str_cut(rest, '\n', &rest), &what, &j, err);
	if (!status)
		status = chat_end(r, err);
	chat_free(r);
	return status;
}

/* Texts of deltas, one behind the other, each block on a line. */
static void say_all(const struct event_page *p, struct buf *out)
{
	for (size_t i = 0; i < p->count; i++) {
		struct json j CLEANUP(json_release) = JSON_INIT;
		struct err err;
		uint32_t text;

		if (!str_has_suffix(p->events[i].type, STR("_delta")) ||
		    json_read(&j, p->events[i].data, 0, &err)) {
			buf_printf(out, "\n%.*s ", STR_ARG(p->events[i].type));
			continue;
		}
		text = json_get(&j, 0, STR("text"));
		json_string(&j, text == JSON_NONE ? json_get(&j, 0, STR("partial_json")) : text, out);
	}
}

TEST(a_captured_stream_says_the_same_when_its_deltas_are_put_together)
{
	struct buf before CLEANUP(buf_release) = BUF_INIT(MIB), after CLEANUP(buf_release) = BUF_INIT(MIB);
	STORE *s = NULL;
	FEED *f = NULL;
	struct stream_end end = { .cost_micro = -1 };
	int64_t now = 1000000000000, streams, events;
	struct event_page p;
	struct stream stream;
	struct run run;
	size_t count;
	struct err err;
	ARENA;

	OK(open_store(t, &now, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	f = feed_new(s, &run.writer);
	OK(feed_capture(t, f, "test/table/chat/a10-agent-01.stream.jsonl", &err));
	OK(feed_write(f, STREAM_COMPLETE, &end, &err));
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	count = p.count;
	CHECK(count > 20);
	say_all(&p, &before);
	OK(compact_streams(s, now, 9, &streams, &events, &err));
	EQ(streams, 0); /* it ended just now */
	now += 1000;
	OK(compact_streams(s, now, 0, &streams, &events, &err));
	EQ(streams, 0); /* as many as were asked for */
	OK(compact_streams(s, now, 9, &streams, &events, &err));
	EQ(streams, 1);
	CHECK(events > 3);
	OK(read_all(s, &run, &mem, &stream, &p, &err));
	EQ(p.count, count - (size_t)events);
	EQ(p.events[p.count - 1].seq_last, count);
	say_all(&p, &after);
	EQS(buf_as_str(&after), buf_as_str(&before));
	OK(compact_streams(s, now, 9, &streams, &events, &err));
	EQ(streams, 0);
}

TESTS(CASE(events_wait_until_they_are_written_together), CASE(what_somebody_waits_for_is_urgent),
      CASE(a_feed_is_full_before_it_is_large), CASE(what_cannot_be_written_still_waits),
      CASE(events_name_the_nodes_of_the_lines_they_are_about),
      CASE(a_captured_stream_says_the_same_when_its_deltas_are_put_together))
