/*
 * claudecode.chat, chat_async and what can be done about a run: interrupt, cancel, queue, set; and drive,
 * which runs it.
 *
 * Nothing here runs an agent: a prompt is submitted, a driver of its own is started for it (drive, in a
 * process that goes on without us), and what comes of it is read from the stream, by us as by anybody.
 * Commands go through the store to the driver, and what came of them comes back the same way.
 */
#include "hub/claudecode_methods.h"

#include "hub/commanded.h"
#include "hub/decider.h"
#include "hub/excluded.h"
#include "hub/forkable.h"
#include "hub/mirror_now.h"
#include "hub/settings.h"
#include "hub/streamed.h"
#include "hub/submitted.h"
#include "hub/where.h"
#include "live/compact.h"
#include "live/driver.h"
#include "live/lease.h"
#include "live/prompt.h"

#define PROMPT_PARAM \
	{ \
		.name = "prompt", .type = VALUE_TEXT, .flags = PROMPT_FLAGS, .shown = "PROMPT", \
		.help = "what to do; '-' reads standard input" \
	}
#define PROMPT_PARAMS \
	{ .name = "session", \
	  .type = VALUE_TEXT, \
	  .flags = PARAM_REQUIRED | PARAM_WORD, \
	  .shown = "SESSION", \
	  .names = "claudecode.list", \
	  .help = "its name or id, or how either begins" }, \
		PROMPT_PARAM, ATTACH_PARAM, \
		{ .name = "ephemeral", \
		  .type = VALUE_BOOL, \
		  .help = "only try: the session goes on as if it had not been said" }, \
		{ .name = "max_turns", \
		  .type = VALUE_INT, \
		  .shown = "N", \
		  .least = 1, \
		  .most = 1000000, \
		  .help = "at most so many requests to the model; who has not done it by then has failed" }, \
		{ .name = "allowed_tools", \
		  .type = VALUE_TEXT, \
		  .flags = PARAM_REST, \
		  .shown = "TOOL", \
		  .help = "needs no permission this time; may be given several times" }, \
	{ \
		.name = "client_id", .type = VALUE_TEXT, .shown = "ID", \
		.help = "your own id of this prompt: given again, it is not run again" \
	}

#define PROMPT_FLAGS (PARAM_WORD | PARAM_INPUT | PARAM_PRIVATE) /* at a terminal it may be typed later */
static const struct param chat_params[] = { PROMPT_PARAMS, { 0 } };
#undef PROMPT_FLAGS
#define PROMPT_FLAGS (PARAM_REQUIRED | PARAM_WORD | PARAM_INPUT | PARAM_PRIVATE)
static const struct param async_params[] = { PROMPT_PARAMS, { 0 } };

/* ---- Submitting --------------------------------------------------------------- */

/* What says nothing costs as much as what does. */
static enum status check_words(struct str prompt, struct err *err)
{
	return str_trim(prompt).n ? STATUS_OK : err_fail(err, STATUS_USAGE, "PROMPT is missing");
}

/* What was said in its file until now was said in this session; not by the agent that is at work in it, of which
 * the driver knows. */
static enum status catch_up(struct call *c, struct named *n, struct err *err)
{
	struct session file = { 0 };
	int64_t *rows;
	size_t count = 0;
	bool at_work;
	struct run run;

	if (!n->head.has_session)
		return STATUS_OK;
	if (lease_look_after_all(c->store, err) || run_of_session(c->store, n->row, &c->mem, &run, &at_work, err) ||
	    session_rows(c->store, &n->head.session, STR(""), &c->mem, &rows, &count, err) ||
	    (count && session_get(c->store, rows[0], &c->mem, &file, err)))
		return err_failed(err->status);
	if (at_work)
		return STATUS_OK;
	mirror_session(c, &file);
	return resume_follow(c->store, n, err);
}

static enum status submit(struct call *c, struct submitted **out, struct err *err)
{
	struct buf content CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct submitting what = { .client_id = call_text(c, "client_id"),
				   .ephemeral = call_flag(c, "ephemeral"),
				   .max_turns = call_int(c, "max_turns"),
				   .allowed_tools = call_names(c, "allowed_tools") };

	if (check_words(call_text(c, "prompt"), err) ||
	    named_find(c->store, call_text(c, "session"), &c->mem, &what.session, err) ||
	    (what.allowed_tools.p && decider_may_loosen(c, what.session.row, NULL, err)) ||
	    prompt_content(c, call_text(c, "prompt"), call_value(c, "attach"), &content, err) ||
	    catch_up(c, &what.session, err))
		return err_failed(err->status);
	what.content = buf_as_str(&content);
	return submit_and_start(c, &what, out, err);
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

static enum status run_chat_async(struct call *c, struct err *err)
{
	struct submitted *m = c->state;
	const struct stream *stream;
	struct json_writer *w;
	enum status status = m ? STATUS_OK : submit(c, &m, err);

	if (!status)
		status = submit_wait(c, m, err);
	if (status)
		return status;
	stream = &m->tail.stream;
	w = call_begin(c);
	put_uuid(w, "stream", &stream->id);
	put_text(w, "name", stream->session_name);
	put_uuid(w, "session", &stream->session_id);
	put_text(w, "state", str_of(stream_state_names[stream->state]));
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
	.params = async_params,
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
	struct submitted *m = c->state;

	if (!m && submit(c, &m, err))
		return err_failed(err->status);
	return submit_follow(c, m, err);
}

const struct method claudecode_chat = {
	.name = "chat",
	.verb = "chat",
	.also = "prompt say talk",
	.group = "agents",
	.summary = "Have an agent do something, and follow it",
	.text = "Starts Claude Code in the folder of a session, where its conversation left off, and shows "
		"what it "
		"thinks, says and does until it is done. It goes on whatever becomes of who follows it: "
		"'arbor "
		"attach' comes back, 'arbor stop' ends it.\n\n"
		"At a terminal, what its tools want to do is asked where it comes up: y allows it, n does "
		"not, e lets "
		"you change it, a allows exactly this from now on, s ends the turn. Ctrl-C ends the turn, a "
		"second "
		"one leaves. A session that is not there yet is made, in the folder you are in. Without a "
		"prompt, "
		"each line you type is one.\n",
	.params = chat_params,
	.kind = RESULT_STREAM,
	.fields = event_item_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "chat fix-tests 'Why do they fail?'", "to the end" },
					      { "chat fix-tests 'And now?' --json",
						"its events, a line each" },
					      { "chat fix-tests 'Clean up' --max-turns 5 --allowed-tools 'Bash(make *)'",
						"not for long, and make may run unasked" },
					      { 0 } },
	.run = run_chat,
};

/* ---- claudecode.continue --------------------------------------------------------- */

static const struct param continue_params[] = {
	STREAM_PARAM,
	{ .name = "prompt",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_INPUT | PARAM_PRIVATE,
	  .shown = "PROMPT",
	  .help = "what to tell it; '-' reads standard input; left out: to go on" },
	{ 0 },
};

/* What is said when nothing is given. An agent that had not begun gets its prompt again. */
static enum status continue_content(struct call *c, const struct submitting *what, const struct run *before,
				    struct buf *out, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str given = call_text(c, "prompt");
	struct environment env;
	bool begins;

	where_environment(c->settings, &env);
	if ((given.p && check_words(given, err)) || resume_begins(c->store, &env, &what->session, &begins, err))
		return err_failed(err->status);
	if (!given.p && (begins || !what->session.head.has_session)) {
		if (json_read(&j, before->prompt, LIMIT_JSON_DEPTH, err))
			return err_failed(err->status);
		buf_str(out, json_raw(&j, json_get(&j, 0, STR("content"))));
		return STATUS_OK;
	}
	return prompt_content(c, given.p ? given : STR("Continue from where you left off."),
			      &(struct value){ .count = 0 }, out, err);
}

static enum status check_continue(struct call *c, const struct stream *stream, struct err *err)
{
	struct stream last;

	if (!stream_is_over(stream->state))
		return err_fail(err, STATUS_BUSY, "it goes on: 'arbor attach %.*s' follows it",
				STR_ARG(stream->session_name));
	if (stream->state == STREAM_COMPLETE)
		return err_fail(err, STATUS_CONFLICT, "it is complete: 'arbor chat %.*s' says something more",
				STR_ARG(stream->session_name));
	if (streamed_find_as_it_is(c, stream->session_name, &last, err))
		return err_failed(err->status);
	return uuid_eq(&last.id, &stream->id)
		       ? STATUS_OK
		       : err_fail(err, STATUS_CONFLICT, "something was said in '%.*s' since",
				  STR_ARG(stream->session_name));
}

static enum status begin_continue(struct call *c, struct submitted **out, struct err *err)
{
	struct buf content CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct submitting what = { 0 };
	struct stream stream;
	struct run before;

	if (streamed_find(c, call_text(c, "stream"), &stream, err) ||
	    stream_get(c->store, &stream.id, &c->mem, &stream, err) || check_continue(c, &stream, err) ||
	    named_get(c->store, stream.session, &c->mem, &what.session, err) || catch_up(c, &what.session, err) ||
	    run_of_stream(c->store, &stream.id, &c->mem, &before, err) ||
	    continue_content(c, &what, &before, &content, err))
		return err_failed(err->status);
	what.content = buf_as_str(&content);
	what.continues = &stream.id;
	return submit_and_start(c, &what, out, err);
}

static enum status run_continue(struct call *c, struct err *err)
{
	struct submitted *m = c->state;

	if (!m && begin_continue(c, &m, err))
		return err_failed(err->status);
	return submit_follow(c, m, err);
}

const struct method claudecode_continue = {
	.name = "continue",
	.verb = "continue",
	.group = "agents",
	.summary = "Go on with an agent that was interrupted",
	.text = "One whose driver was killed, that failed, or was stopped: the same conversation is taken up "
		"where it "
		"ended, in a stream of its own that names the first, and followed as 'arbor chat' does. One "
		"that had not "
		"begun gets its prompt again.\n",
	.params = continue_params,
	.kind = RESULT_STREAM,
	.fields = event_item_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "continue broken", "the last of a session" }, { 0 } },
	.run = run_continue,
};

/* ---- Commands -------------------------------------------------------------------- */

static const struct param stream_params[] = { STREAM_PARAM, { 0 } };

static enum status run_interrupt(struct call *c, struct err *err)
{
	return command_run(c, call_text(c, "stream"), "interrupt", STR("{}"), err);
}

const struct method claudecode_interrupt = {
	.name = "interrupt",
	.verb = "interrupt",
	.group = "agents",
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
						"&& arbor interrupt fix-tests",
						"a moment later" },
					      { 0 } },
	.run = run_interrupt,
};

static enum status run_cancel(struct call *c, struct err *err)
{
	return command_run_to_end(c, call_text(c, "stream"), "cancel", STR("{}"), err);
}

const struct method claudecode_cancel = {
	.name = "cancel",
	.verb = "stop",
	.also = "cancel kill abort",
	.group = "agents",
	.summary = "End an agent",
	.text = "With everything it has started. To stop only what it does just now there is "
		"'arbor interrupt'.\n",
	.params = stream_params,
	.kind = RESULT_ONE,
	.fields = command_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.chat_async fix-tests 'wait for the build' "
						"&& arbor stop fix-tests",
						"a moment later" },
					      { 0 } },
	.run = run_cancel,
};

static const struct param queue_params[] = {
	STREAM_PARAM,
	{ .name = "prompt",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_INPUT | PARAM_PRIVATE,
	  .shown = "PROMPT",
	  .help = "what else to do; '-' reads standard input" },
	ATTACH_PARAM,
	{ 0 },
};

static enum status run_queue(struct call *c, struct err *err)
{
	struct buf content CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct buf prompt CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct uuid line;

	if (check_words(call_text(c, "prompt"), err) || uuid_random(&line, err))
		return err_failed(err->status);
	if (prompt_content(c, call_text(c, "prompt"), call_value(c, "attach"), &content, err))
		return err_failed(err->status);
	prompt_write(&prompt, &(struct prompt){ .content = buf_as_str(&content), .uuid = line });
	return command_run(c, call_text(c, "stream"), "queue", buf_as_str(&prompt), err);
}

const struct method claudecode_queue = {
	.name = "queue",
	.verb = "queue",
	.also = "tell",
	.group = "agents",
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
					    "arbor queue fix-tests 'and run the tests'",
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

static const struct param drive_params[] = {
	STREAM_PARAM,
	{ .name = "alone",
	  .type = VALUE_BOOL,
	  .help = "this process does nothing else: whatever its agent leaves behind is killed" },
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
				 .cancel = c->cancel,
				 .compact_before = compact_before(
					 c->store, settings_int(c->settings, "streams.delta_days")),
				 .alone = call_flag(c, "alone"),
				 .expire_ms = settings_int(c->settings, "approvals.expire") * 1000 };
	struct json_writer *w;
	struct stream stream;
	struct named session;
	struct uuid id;

	where_environment(c->settings, &env);
	excluded_take(c, NULL, &unwanted);
	if (streamed_find_as_it_is(c, call_text(c, "stream"), &stream, err) ||
	    filter_make(&unwanted, &c->mem, &filter, err) ||
	    (own_prices.p && prices_read(own_prices, &c->mem, &prices, err)))
		return err_failed(err->status);
	if (named_get(c->store, stream.session, &c->mem, &session, err) ||
	    (session.head.has_session && forkable_is_open(c, &session.head.session, &ask.beside, err)))
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
	.params = drive_params,
	.kind = RESULT_ONE,
	.fields = drive_fields,
	.scope = SCOPE_LOCAL,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.drive submitted", "the last of a session" },
					      { 0 } },
	.run = run_drive,
};
