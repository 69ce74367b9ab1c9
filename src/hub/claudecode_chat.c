/*
 * claudecode.chat, chat_async and what can be done about a run: interrupt, cancel, queue, set; and drive,
 * which runs it.
 *
 * Nothing here runs an agent: a prompt is submitted, a driver of its own is started for it (drive, in a
 * process that goes on without us), and what comes of it is read from the stream, by us as by anybody.
 * Commands go through the store to the driver, and what came of them comes back the same way.
 */
#include "hub/claudecode_methods.h"

#include "base/clock.h"
#include "hub/excluded.h"
#include "hub/hub.h"
#include "hub/settings.h"
#include "hub/streamed.h"
#include "hub/where.h"
#include "live/detach.h"
#include "live/driver.h"
#include "live/lease.h"
#include "store/inbox.h"
#include "store/session.h"

#include <string.h>

#define PROMPT_PARAMS \
	{ .name = "session", \
	  .type = VALUE_TEXT, \
	  .flags = PARAM_REQUIRED | PARAM_WORD, \
	  .shown = "SESSION", \
	  .names = "claudecode.list", \
	  .help = "its name or id, or how either begins" }, \
		{ .name = "prompt", \
		  .type = VALUE_TEXT, \
		  .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_INPUT, \
		  .shown = "PROMPT", \
		  .help = "what to do; '-' reads standard input" }, \
		{ .name = "ephemeral", \
		  .type = VALUE_BOOL, \
		  .help = "only try: the session goes on as if it had not been said" }, \
	{ \
		.name = "client_id", .type = VALUE_TEXT, .shown = "ID", \
		.help = "your own id of this prompt: given again, it is not run again" \
	}

static const struct param chat_params[] = { PROMPT_PARAMS, { 0 } };

/* ---- Submitting --------------------------------------------------------------- */

static void put_json_string(struct buf *out, struct str text)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_string(&w, text);
}

static struct uuid node_of(const struct uuid *line, int part)
{
	struct node_name name = { 0 };

	uuid_print(line, name.room);
	name.uuid = str_of(name.room);
	return node_id(&name, part);
}

/* Its first event: whose turn begins. */
static struct str start_data(struct call *c, const struct named *n, bool ephemeral)
{
	struct buf data CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json_writer w;

	json_write_init(&w, &data, 0);
	json_write_object_begin(&w);
	put_uuid(&w, "id", &n->id);
	put_text(&w, "name", n->name);
	if (ephemeral)
		put_bool(&w, "ephemeral", true);
	json_write_object_end(&w);
	return arena_str(&c->mem, buf_as_str(&data));
}

static enum status submit(struct call *c, struct run *run, bool *again, struct err *err)
{
	struct buf content CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct buf prompt CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct run_new what = { .client_id = call_text(c, "client_id"),
				.ephemeral = call_flag(c, "ephemeral") };
	bool is_command = str_has_prefix(call_text(c, "prompt"), STR("/"));
	struct uuid line, root;
	struct named n;

	if (named_find(c->store, call_text(c, "session"), &c->mem, &n, err) || uuid_random(&line, err) ||
	    lease_look_after_all(c->store, err) || lease_own(c->store, &c->mem, &what.lease, err))
		return err_failed(err->status);
	put_json_string(&content, call_text(c, "prompt"));
	prompt_write(&prompt, buf_as_str(&content), &line);
	root = node_of(&line, PART_MESSAGE);
	what.session = n.row;
	what.prompt = buf_as_str(&prompt);
	/* A command of the client's becomes lines that are no prompt. */
	what.root = is_command ? NULL : &root;
	what.first = (struct event_new){ .type = STR("start"),
					 .has_node = !is_command,
					 .node = node_of(&line, PART_TURN),
					 .data = start_data(c, &n, what.ephemeral),
					 .at = store_now(c->store) };
	return run_submit(c->store, &what, &c->mem, run, again, err);
}

/* Says in the stream that nobody will run it. */
static enum status close_unstarted(struct call *c, struct run *run, const struct err *why, struct err *err)
{
	struct buf data CLEANUP(buf_release) = BUF_INIT(MIB);
	struct stream_end end = { .error = str_of(why->text), .cost_micro = -1 };
	struct event_new last = { .type = STR("error"), .at = store_now(c->store) };
	struct json_writer w;

	json_write_init(&w, &data, 0);
	json_write_object_begin(&w);
	put_text(&w, "message", end.error);
	json_write_object_end(&w);
	last.data = buf_as_str(&data);
	return stream_write(c->store, &run->writer,
			    &(struct stream_change){ &last, 1, STREAM_FAILED, &end, true }, err);
}

static enum status start_driver(struct call *c, const struct run *run, struct err *err)
{
	struct environment env;
	const char *program = c->who->program;
	char stream[UUID_TEXT + 1];

	uuid_print(&run->stream, stream);
	where_environment(c->settings, &env);
	if (!program && command_find(&env, STR("arbor"), &c->mem, &program, err))
		return err_pass(err, "agents are driven by the program");
	return detach_start(program,
			    (const char *[]){ "arbor", "call", "claudecode.drive", stream, "--store",
					      store_path(c->store), "--quiet", NULL },
			    err);
}

static enum status submit_and_start(struct call *c, struct run *run, bool *again, struct err *err)
{
	struct err other;

	if (submit(c, run, again, err))
		return err_failed(err->status);
	if (*again || !start_driver(c, run, err))
		return STATUS_OK;
	if (close_unstarted(c, run, err, &other))
		log_warn(c->log, "%s", other.text);
	return err_failed(err->status);
}

/* ---- claudecode.chat_async ------------------------------------------------------- */

static const struct field async_fields[] = {
	{ .name = "stream",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY,
	  .help = "of events: for 'claudecode.poll' and 'tail'" },
	{ .name = "name", .type = VALUE_TEXT, .title = "session", .help = "of its session" },
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "id of that" },
	{ .name = "state", .type = VALUE_ENUM, .choices = stream_state_names, .help = "of the stream" },
	{ .name = "again", .type = VALUE_BOOL, .help = "it was submitted before, with this client_id" },
	{ 0 },
};

/* Across waits: what was submitted, and until when a driver has to have it. */
struct submitted {
	struct run run;
	bool again;
	int64_t until_ns;
};

static enum status begin_async(struct call *c, struct err *err)
{
	enum { START_S = 10 };
	struct submitted *m = arena_alloc(&c->mem, sizeof *m);

	if (submit_and_start(c, &m->run, &m->again, err))
		return err_failed(err->status);
	m->until_ns = clock_monotonic_ns() + (int64_t)START_S * 1000000000;
	c->state = m;
	return STATUS_OK;
}

/* Until then the run is held by this process, which may end: whoever looked would take the run for dead. */
static bool is_taken(const struct submitted *m, const struct stream *stream)
{
	return m->again || stream_is_over(stream->state) || stream->incarnation != m->run.writer.incarnation;
}

static enum status not_taken(struct call *c, struct submitted *m, struct err *err)
{
	struct err other;

	err_set(err, STATUS_UNREACHABLE, "the program that drives agents was started, and does not answer");
	if (close_unstarted(c, &m->run, err, &other))
		log_warn(c->log, "%s", other.text);
	return err_failed(err->status);
}

static enum status run_chat_async(struct call *c, struct err *err)
{
	struct submitted *m;
	struct json_writer *w;
	struct stream stream;

	if (!c->state && begin_async(c, err))
		return err_failed(err->status);
	m = c->state;
	if (stream_get(c->store, &m->run.stream, &c->mem, &stream, err))
		return err_failed(err->status);
	if (!is_taken(m, &stream))
		return clock_monotonic_ns() < m->until_ns ? call_wait(c, 100) : not_taken(c, m, err);
	w = call_begin(c);
	put_uuid(w, "stream", &stream.id);
	put_text(w, "name", stream.session_name);
	put_uuid(w, "session", &stream.session_id);
	put_text(w, "state", str_of(stream_state_names[stream.state]));
	put_bool(w, "again", m->again);
	return call_emit(c, err);
}

const struct method claudecode_chat_async = {
	.name = "chat_async",
	.summary = "Have an agent do something, and do not wait",
	.text = "Starts Claude Code in the folder of a named session, where its conversation left off, and "
		"gives the stream in which all "
		"that it does can be read: 'claudecode.poll', 'claudecode.tail'. It goes on whatever becomes "
		"of who asked. A session "
		"has one agent at work at a time.\n\n"
		"With a client_id of your own a prompt is run at most once: given again, also after a crash, "
		"the stream "
		"of the first time is given.\n",
	.params = chat_params,
	.kind = RESULT_ONE,
	.fields = async_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.chat_async fix-tests 'Why do they fail?'",
						"and read its stream" },
					      { 0 } },
	.run = run_chat_async,
};

/* ---- claudecode.chat ------------------------------------------------------------- */

static enum status run_chat(struct call *c, struct err *err)
{
	struct tailing *t = c->state;
	struct run run;
	bool again;

	if (!t) {
		t = arena_alloc(&c->mem, sizeof *t);
		if (submit_and_start(c, &run, &again, err) ||
		    stream_get(c->store, &run.stream, &c->mem, &t->stream, err))
			return err_failed(err->status);
		c->state = t;
	}
	return streamed_follow(c, t, true, err);
}

const struct method claudecode_chat = {
	.name = "chat",
	.summary = "Have an agent do something, and follow it",
	.text = "As 'claudecode.chat_async', and gives every event until it is done. Whoever leaves before "
		"that leaves the agent at work: "
		"'claudecode.tail' goes on, 'claudecode.cancel' ends it.\n",
	.params = chat_params,
	.kind = RESULT_STREAM,
	.fields = event_item_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.chat fix-tests 'Why do they fail?'",
						"to the end" },
					      { 0 } },
	.run = run_chat,
};

/* ---- Commands -------------------------------------------------------------------- */

static const struct field command_fields[] = {
	{ .name = "stream", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the agent" },
	{ .name = "done",
	  .type = VALUE_BOOL,
	  .help = "the agent has it; else nobody took it in time, and it may yet" },
	{ 0 },
};

/* Across waits: what was commanded, and until when it is waited for. */
struct commanding {
	struct uuid id, stream;
	int64_t until_ns;
};

static enum status begin_command(struct call *c, const char *verb, struct str data, struct err *err)
{
	enum { WAIT_S = 5 };
	struct commanding *m = arena_alloc(&c->mem, sizeof *m);
	struct stream stream;

	if (streamed_find(c, call_text(c, "stream"), &stream, err) ||
	    inbox_add(c->store, stream.run, str_of(verb), data, &m->id, err))
		return err_failed(err->status);
	m->stream = stream.id;
	m->until_ns = clock_monotonic_ns() + (int64_t)WAIT_S * 1000000000;
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

static enum status run_command(struct call *c, const char *verb, struct str data, struct err *err)
{
	struct commanding *m;
	struct json_writer *w;
	struct str result;
	bool done, lost;

	if (!c->state && begin_command(c, verb, data, err))
		return err_failed(err->status);
	m = c->state;
	if (inbox_get(c->store, &m->id, &c->mem, &done, &lost, &result, err))
		return err_failed(err->status);
	if (lost)
		return err_fail(err, STATUS_CONFLICT, "the agent ended before it had that");
	if (!done && clock_monotonic_ns() < m->until_ns)
		return call_wait(c, 1000);
	if (done && check_result(result, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_uuid(w, "stream", &m->stream);
	put_bool(w, "done", done);
	return call_emit(c, err);
}

static const struct param stream_params[] = { STREAM_PARAM, { 0 } };

static enum status run_interrupt(struct call *c, struct err *err)
{
	return run_command(c, "interrupt", STR("{}"), err);
}

const struct method claudecode_interrupt = {
	.name = "interrupt",
	.summary = "Stop what an agent is doing just now",
	.text = "Its turn ends, and with it the stream, as 'cancelled'. What it said until then stays, and "
		"the session goes on from "
		"there.\n",
	.params = stream_params,
	.kind = RESULT_ONE,
	.fields = command_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.chat_async fix-tests 'wait for the build' "
						"&& arbor call claudecode.interrupt fix-tests",
						"a moment later" },
					      { 0 } },
	.run = run_interrupt,
};

static enum status run_cancel(struct call *c, struct err *err)
{
	return run_command(c, "cancel", STR("{}"), err);
}

const struct method claudecode_cancel = {
	.name = "cancel",
	.summary = "End an agent",
	.text = "With everything it has started. To stop only what it does just now there is "
		"'claudecode.interrupt'.\n",
	.params = stream_params,
	.kind = RESULT_ONE,
	.fields = command_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.chat_async fix-tests 'wait for the build' "
						"&& arbor call claudecode.cancel fix-tests",
						"a moment later" },
					      { 0 } },
	.run = run_cancel,
};

static const struct param queue_params[] = {
	STREAM_PARAM,
	{ .name = "prompt",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_INPUT,
	  .shown = "PROMPT",
	  .help = "what else to do; '-' reads standard input" },
	{ 0 },
};

static enum status run_queue(struct call *c, struct err *err)
{
	struct buf content CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct buf prompt CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct uuid line;

	if (uuid_random(&line, err))
		return err_failed(err->status);
	put_json_string(&content, call_text(c, "prompt"));
	prompt_write(&prompt, buf_as_str(&content), &line);
	return run_command(c, "queue", buf_as_str(&prompt), err);
}

const struct method claudecode_queue = {
	.name = "queue",
	.summary = "Tell an agent something more while it works",
	.text = "It takes it up in the turn that is going on, or in the next. What comes of it is in the "
		"same stream.\n",
	.params = queue_params,
	.kind = RESULT_ONE,
	.fields = command_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){ { "call claudecode.chat_async fix-tests 'wait for the build' && "
					    "arbor call claudecode.queue fix-tests 'and run the tests'",
					    "during a turn" },
					  { 0 } },
	.run = run_queue,
};

/* ---- claudecode.drive ------------------------------------------------------------ */

static const struct field drive_fields[] = {
	{ .name = "stream", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the run" },
	{ .name = "state", .type = VALUE_ENUM, .choices = stream_state_names, .help = "how it ended" },
	{ 0 },
};

static enum status run_drive(struct call *c, struct err *err)
{
	struct environment env;
	const struct filter_rules *filter CLEANUP(filter_release) = NULL;
	struct filter unwanted = { .max_size = settings_int(c->settings, "sync.max_size") };
	struct str own_prices = settings_text(c->settings, "usage.prices");
	struct prices prices = { 0 };
	struct drive_ask ask = { .env = &env,
				 .prices = &prices,
				 .program = settings_text(c->settings, "claude"),
				 .silence_s = settings_int(c->settings, "agent.silence"),
				 .cancel = c->cancel };
	struct json_writer *w;
	struct stream stream;
	struct uuid id;

	where_environment(c->settings, &env);
	excluded_take(c, NULL, &unwanted);
	if (streamed_find_as_it_is(c, call_text(c, "stream"), &stream, err) ||
	    filter_make(&unwanted, &c->mem, &filter, err) ||
	    (own_prices.p && prices_read(own_prices, &c->mem, &prices, err)))
		return err_failed(err->status);
	ask.filter = filter;
	id = stream.id;
	if (drive(c->store, &id, &ask, err) || stream_get(c->store, &id, &c->mem, &stream, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_uuid(w, "stream", &stream.id);
	put_text(w, "state", str_of(stream_state_names[stream.state]));
	return call_emit(c, err);
}

const struct method claudecode_drive = {
	.name = "drive",
	.summary = "Run an agent that was submitted",
	.text = "What 'claudecode.chat' starts in a process of its own; nobody has to call it. It ends when "
		"the agent has ended.\n",
	.params = stream_params,
	.kind = RESULT_ONE,
	.fields = drive_fields,
	.scope = SCOPE_LOCAL,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.drive submitted", "the last of a session" },
					      { 0 } },
	.run = run_drive,
};
