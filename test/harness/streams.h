/*
 * Streams for tests: a session, a run, and events that say their own number.
 */
#ifndef ARBOR_TEST_STREAMS_H
#define ARBOR_TEST_STREAMS_H

#include "store/cursor.h"
#include "store/event.h"
#include "store/named.h"
#include "store/run.h"

#include <stdio.h>
#include <stdlib.h>

static inline struct lease test_lease(int64_t pid)
{
	return (struct lease){ .host = STR("local"), .boot = STR("a boot"), .pid = pid, .start = 7 };
}

static inline struct event_new test_event(const char *type, const char *data)
{
	return (struct event_new){ .type = str_of(type), .data = str_of(data), .at = 5 };
}

/* Its row. */
static inline enum status test_session(struct store *s, const char *name, int64_t *row, struct err *err)
{
	struct named_new what = { .name = str_of(name),
				  .agent = STR("claude"),
				  .settings.working_dir = str_of(getenv("HOME")) };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct named named;
	struct uuid id;

	if (named_create(s, &what, &id, err) || named_find(s, str_of(name), &mem, &named, err))
		return err_failed(err->status);
	*row = named.row;
	return STATUS_OK;
}

/* A session with this name and a run that has one event. */
static inline enum status test_run(struct store *s, const char *name, struct arena *mem, struct run *out,
				   struct err *err)
{
	struct run_new what = {
		.prompt = STR("{\"uuid\":\"11111111-1111-4111-8111-111111111111\",\"content\":\"hi\"}"),
		.lease = test_lease(1),
		.first = test_event("start", "{}")
	};
	bool again;

	if (test_session(s, name, &what.session, err))
		return err_failed(err->status);
	return run_submit(s, &what, mem, out, &again, err);
}

/* Events first .. first + count - 1, whose data has their number. */
static inline enum status test_write(struct store *s, const struct stream_writer *w, int64_t first, int count,
				     struct err *err)
{
	struct event_new events[64];
	char data[64][32];

	for (int i = 0; i < count; i++) {
		snprintf(data[i], sizeof data[i], "{\"n\":%lld}", (long long)first + i);
		events[i] = test_event("content_delta", data[i]);
	}
	return stream_write(
		s, w, &(struct stream_change){ events, (size_t)count, STREAM_RUNNING, NULL, false }, err);
}

static inline enum status test_finish(struct store *s, const struct stream_writer *w, enum stream_state state,
				      struct err *err)
{
	struct event_new last = test_event(stream_state_names[state], "{}");
	struct stream_end end = { .cost_micro = -1 };

	return stream_write(s, w, &(struct stream_change){ &last, 1, state, &end, true }, err);
}

/* What examples name: a session 'fix-tests', whose last stream is over and has a cursor 'ui'; and one whose
 * run nobody drives yet; and 'broken', whose last stream was interrupted. */
static inline enum status test_plant(struct store *s, struct err *err)
{
	struct event_new events[] = {
		test_event("user_message", "{\"text\":\"Why do they fail?\"}"),
		test_event("content_start", "{\"block\":0}"),
		test_event("content_delta", "{\"block\":0,\"text\":\"The clock \"}"),
		test_event("content_delta", "{\"block\":0,\"text\":\"is wrong.\"}"),
		test_event("content_end", "{\"block\":0}"),
		test_event("complete", "{}"),
	};
	struct stream_end end = { .cost_micro = -1 };
	struct stream_change change = { events, COUNT(events), STREAM_COMPLETE, &end, true };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct stream stream;
	struct run run;

	if (test_run(s, "submitted", &mem, &run, err) || test_run(s, "broken", &mem, &run, err) ||
	    test_finish(s, &run.writer, STREAM_INTERRUPTED, err) ||
	    test_run(s, "fix-tests", &mem, &run, err) || stream_write(s, &run.writer, &change, err) ||
	    stream_get(s, &run.stream, &mem, &stream, err))
		return err_failed(err->status);
	return cursor_create(s, &stream, STR("ui"), &(struct stream_place){ 1, 2 }, err);
}

#endif
