/*
 * A command goes into the inbox of the agent's driver (store/inbox.h), and what came of it is read from
 * there.
 */
#include "hub/commanded.h"

#include "base/clock.h"
#include "hub/streamed.h"
#include "store/inbox.h"

const struct field command_fields[] = {
	{ .name = "stream", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the agent" },
	{ .name = "done",
	  .type = VALUE_BOOL,
	  .help = "the agent has it; else nobody took it in time, and it may yet" },
	{ 0 },
};

/* Across waits: what was commanded, and until when it is waited for. */
struct commanding {
	struct uuid id, stream;
	int64_t until_ns, end_ns; /* for its acknowledgement; for the end */
};

enum { WAIT_S = 5, END_S = 15 /* a driver that is to end its client takes half of that */ };

static enum status begin(struct call *c, struct str text, const char *verb, struct str data, struct err *err)
{
	struct commanding *m = arena_alloc(&c->mem, sizeof *m);
	struct stream stream;

	if (streamed_find(c, text, &stream, err) ||
	    inbox_add(c->store, stream.run, str_of(verb), data, &m->id, err))
		return err_failed(err->status);
	m->stream = stream.id;
	m->until_ns = clock_monotonic_ns() + (int64_t)WAIT_S * 1000000000;
	m->end_ns = clock_monotonic_ns() + (int64_t)END_S * 1000000000;
	c->state = m;
	return STATUS_OK;
}

/* What the driver says of it. */
static enum status check_result(struct str result, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str why;

	if (json_read(&j, result, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	why = json_string_in(&j, json_get(&j, 0, STR("error")), &mem);
	return why.p ? err_fail(err, STATUS_CONFLICT, "%.*s", (int)size_min(why.n, 200), why.p) : STATUS_OK;
}

enum status command_give(struct call *c, struct str stream, const char *verb, struct str data,
			 struct uuid *id, bool *done, struct err *err)
{
	struct commanding *m;
	struct str result;
	bool lost;

	if (!c->state && begin(c, stream, verb, data, err))
		return err_failed(err->status);
	m = c->state;
	*id = m->stream;
	if (inbox_get(c->store, &m->id, &c->mem, done, &lost, &result, err))
		return err_failed(err->status);
	if (lost)
		return err_fail(err, STATUS_CONFLICT, "the agent ended before it had that");
	if (!*done && clock_monotonic_ns() < m->until_ns)
		return call_wait(c, 1000);
	return *done ? check_result(result, err) : STATUS_OK;
}

static enum status emit(struct call *c, const struct uuid *stream, bool done, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_uuid(w, "stream", stream);
	put_bool(w, "done", done);
	return call_emit(c, err);
}

enum status command_run(struct call *c, struct str stream, const char *verb, struct str data, struct err *err)
{
	struct uuid id;
	bool done;
	enum status status = command_give(c, stream, verb, data, &id, &done, err);

	return status ? status : emit(c, &id, done, err);
}

enum status command_run_to_end(struct call *c, struct str stream, const char *verb, struct str data,
			       struct err *err)
{
	struct uuid id;
	bool done;
	enum status status = command_give(c, stream, verb, data, &id, &done, err);
	struct stream now;

	if (status)
		return status;
	if (done && stream_get(c->store, &id, &c->mem, &now, err))
		return err_failed(err->status);
	if (done && !stream_is_over(now.state) &&
	    clock_monotonic_ns() < ((const struct commanding *)c->state)->end_ns)
		return call_wait(c, 100);
	return emit(c, &id, done, err);
}
