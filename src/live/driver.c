/*
 * The driver runs on one loop, in one thread:
 *
 *     client ──stdout──► lines ──► claude/chat ──► feed ──► store
 *        ▲                  └──► requests of the client, answered
 *        └──stdin─── prompt, requests of ours ◄── inbox (other processes, through the store)
 *
 * What waits in the feed is written after FEED_WAIT_MS, at once when somebody may wait for it, and before
 * anything more is read when it is much. While it cannot be written (the store is locked for long, the disk
 * is full) the client is not read from; its pipe fills and it waits with us. Nothing is thrown away.
 *
 * How it ends: the client has ended and so has its output (live/child.h). Only then the last event is
 * written, in the transaction that ends the stream and moves the session's head. Whoever kills us leaves the
 * stream to be closed by the next who looks (live/lease.c), and the guard kills the client.
 *
 * After a result the client's input is closed, and it ends by itself, unless there is more to come: a prompt
 * in the inbox, a question that waits (live/asking.h), or something that it has going in the background
 * (claude/background.h). Who works there may ask; when it is done, another turn follows, which may, too; and
 * meanwhile somebody may want to say something. How long that takes is not ours to know: what never ends is
 * ended by who interrupts, or by the silence that is allowed.
 */
#include "live/driver.h"

#include "base/file.h"
#include "base/json_write.h"
#include "base/split.h"
#include "claude/background.h"
#include "live/asking.h"
#include "live/child.h"
#include "live/client.h"
#include "live/compact.h"
#include "live/feed.h"
#include "live/keeper.h"
#include "live/lease.h"
#include "live/output.h"
#include "live/prompt.h"
#include "live/resume.h"
#include "live/secret.h"
#include "store/inbox.h"
#include "store/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOK_MS = 100,	  /* at the inbox */
	RETRY_MS = 500,	  /* after the store could not be written */
	STOP_MS = 2000,	  /* for a client that was told to stop, to write down where */
	KILL_MS = 5000,	  /* for one that was asked to end */
	IDLE_MS = 10000,  /* for one to begin with what it was told */
	LAST_TRIES = 120,  /* of writing the end, RETRY_MS apart */
};

/* What the client has said of itself and of its work. */
struct outcome {
	bool has_session, has_result, failed;
	bool is_written; /* there is a transcript of the session: it can be resumed */
	struct uuid session;
	struct str head;  /* uuid of the first line of its last answer */
	struct str text;  /* of a failure */
	struct str usage; /* raw; p NULL = unknown */
	struct str cost;  /* raw, dollars; so too */
	struct str models; /* usage of each, raw; so too */
};

struct driver {
	struct store *store;
	struct arena mem;
	struct run run;
	struct named session;
	struct loop *loop;
	struct child *child;
	struct split lines;
	struct chat_reader *chat;
	struct feed *feed;
	struct keeper *keeper;
	struct kept kept;      /* once it has ended */
	struct output *output; /* NULL: the client writes a transcript */
	struct asking *asking; /* NULL: questions are none of ours */
	struct loop_timer *flush, *look, *renew, *kill, *idle, *silence;
	int64_t silence_ms; /* for so long it may say nothing; 0 = for ever */
	struct outcome outcome;
	struct secret mcp, system_prompt; /* until the client has read them */
	bool paused;		   /* the client is not read from */
	bool closed;		   /* its input */
	bool looked;		   /* into the inbox, at all */
	int64_t told, taken;	   /* prompts, and those it said it has begun with */
	bool rests;		   /* its last turn is over */
	bool waits;		   /* for what it has in the background, and has said so */
	struct background background;
	bool interrupted, cancelled, silent, asked_to_end;
	bool lost; /* somebody else has the stream */
	int requests;
	struct {
		int request;
		int64_t command; /* row in the inbox */
	} unanswered[8]; /* of ours that a command waits for; request 0 = free */
	const struct prices *prices; /* NULL = those that are built in */
	struct child_end end;
	struct str last_words;
};

/* ---- Into the store ---------------------------------------------------------- */

static void stop_reading(struct driver *d, bool stop)
{
	if (d->paused == stop || !d->child)
		return;
	d->paused = stop;
	child_pause(d->child, stop);
}

/* Somebody thought us dead. Whatever the client does now, nobody will know: it must not. */
static void give_up(struct driver *d)
{
	d->lost = true;
	if (d->child)
		child_kill(d->child);
}

/* What the client printed, before what it means is told. */
static enum status write_both(struct driver *d, struct err *err)
{
	if (d->output && output_write(d->output, err))
		return err_failed(err->status);
	return feed_write(d->feed, feed_state(d->feed), NULL, err);
}

static void write_waiting(struct driver *d)
{
	struct err err;
	enum status status = d->lost ? STATUS_OK : write_both(d, &err);

	loop_timer_stop(d->flush);
	if (status == STATUS_CONFLICT) {
		give_up(d);
	} else if (status) {
		log_warn(store_log(d->store), "stream: %s", err.text);
		loop_timer_set(d->flush, RETRY_MS);
	}
	stop_reading(d, status != STATUS_OK);
}

static void on_flush(void *ctx)
{
	write_waiting(ctx);
}

/* After something was added. */
static void write_in_time(struct driver *d)
{
	if (feed_is_urgent(d->feed) || feed_is_full(d->feed))
		write_waiting(d);
	else if (feed_waiting(d->feed) && !loop_timer_is_set(d->flush))
		loop_timer_set(d->flush, FEED_WAIT_MS);
}

/* A passthrough of our own: what the client wrote that is no line of its protocol. */
static void pass_text(struct driver *d, const char *type, struct str text)
{
	struct buf data CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct json_writer w;

	json_write_init(&w, &data, 0);
	json_write_object_begin(&w);
	json_write_key(&w, STR("event_type"));
	json_write_string(&w, str_of(type));
	json_write_key(&w, STR("text"));
	json_write_string(&w, text);
	json_write_object_end(&w);
	feed_add(d->feed, CHAT_PASSTHROUGH, (struct str){ 0 }, 0, buf_as_str(&data));
}

/* ---- To the client ------------------------------------------------------------- */

static void tell(struct driver *d, const struct buf *lines)
{
	if (d->child && !d->closed)
		child_write(d->child, buf_as_str(lines));
}

static void close_input(struct driver *d)
{
	d->closed = true;
	if (d->child)
		child_close_input(d->child);
}

/* It may write down where it is, and is ended then. */
static void end_soon(struct driver *d)
{
	close_input(d);
	loop_timer_set(d->kill, STOP_MS);
}

/* Its number. */
static int request(struct driver *d, const char *subtype, const char *key, struct str value)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);
	char id[32];

	snprintf(id, sizeof id, "arbor-%d", ++d->requests);
	client_put_request(&line, id, subtype, key, value);
	tell(d, &line);
	return d->requests;
}

/* A client that gets no answer waits for ever. */
static void refuse(struct driver *d, const struct json *j)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);
	uint32_t id = json_get(j, json_root(j), STR("request_id"));

	if (id == JSON_NONE)
		return;
	client_put_refusal(&line, json_raw(j, id), "this request is not known here");
	tell(d, &line);
}

static void tell_prompt(struct driver *d, struct str prompt)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct prompt p;

	if (!prompt_read(prompt, &mem, &p))
		return;
	client_put_prompt(&line, p.content, &p.uuid);
	tell(d, &line);
	d->told++;
}

/* ---- Questions ------------------------------------------------------------------ */

static bool on_ready(void *ctx)
{
	struct driver *d = ctx;

	if (feed_waiting(d->feed))
		write_waiting(d);
	return d->child && !d->closed && !d->lost && !feed_waiting(d->feed);
}

static void on_tell(void *ctx, const struct buf *line)
{
	tell(ctx, line);
}

static void note_asked(struct driver *d)
{
	if (d->asking)
		feed_set_state(d->feed, asking_is_open(d->asking) ? STREAM_AWAITING : STREAM_RUNNING);
}

static void look_at_questions(struct driver *d, bool changed)
{
	if (d->asking && asking_is_waiting(d->asking) && d->child) {
		asking_look(d->asking, changed);
		note_asked(d);
	}
}

/* Only questions about tools are known here, and only where they are ours. */
static void on_asked(struct driver *d, const struct json *j)
{
	uint32_t root = json_root(j), id = json_get(j, root, STR("request_id")),
		 subtype = json_get(j, json_get(j, root, STR("request")), STR("subtype"));

	if (!d->asking || !json_string_eq(j, subtype, STR("can_use_tool")) || !json_is(j, id, JSON_STRING)) {
		refuse(d, j);
		return;
	}
	asking_add(d->asking, j, d->outcome.has_session ? &d->outcome.session : NULL);
	note_asked(d);
}

static void on_withdrawn(struct driver *d, const struct json *j)
{
	if (!d->asking)
		return;
	asking_withdraw(d->asking, j);
	note_asked(d);
}

/* ---- Rest ---------------------------------------------------------------------- */

/* Whether it was told something that it has not begun with. Not of the first prompt: it may say nothing of
 * that. */
static bool is_behind(const struct driver *d)
{
	return d->told > 1 && d->told > d->taken;
}

/* Whoever follows it would wonder. */
static void say_waiting(struct driver *d)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	if (d->waits)
		return;
	d->waits = true;
	buf_printf(&text, "its turn is over, and it waits for what it has in the background (%zu)",
		   d->background.count);
	pass_text(d, "waiting", buf_as_str(&text));
	write_in_time(d);
}

/* Somebody has ended its last turn. */
static bool was_stopped(const struct driver *d)
{
	return d->outcome.failed && (d->interrupted || (d->asking && asking_has_interrupted(d->asking)));
}

/* Whether it has to be able to hear us, for as long as it takes. */
static bool is_needed(const struct driver *d)
{
	return d->background.count || (d->asking && asking_is_waiting(d->asking));
}

/* A client that is told no more ends by itself. What it was told and has not begun with makes another turn,
 * and so does what has ended in the background. */
static void close_when_done(struct driver *d)
{
	if (!d->rests || d->closed || loop_timer_is_set(d->idle))
		return;
	if (d->background.count && was_stopped(d)) {
		end_soon(d);
		return;
	}
	if (d->background.count)
		say_waiting(d);
	if (is_needed(d))
		return;
	if (is_behind(d) || d->background.news)
		loop_timer_set(d->idle, IDLE_MS);
	else
		close_input(d);
}

static void on_idle(void *ctx)
{
	struct driver *d = ctx;

	if (!is_needed(d))
		close_input(d);
}

/* Another turn. */
static void stop_resting(struct driver *d)
{
	d->rests = d->waits = false;
	loop_timer_stop(d->idle);
}

/* ---- Commands ------------------------------------------------------------------ */

/* Each gives the request whose answer says what came of it; 0 = there is none. */

static int do_cancel(struct driver *d, struct str data)
{
	(void)data;
	d->cancelled = true;
	request(d, "interrupt", NULL, (struct str){ 0 });
	end_soon(d);
	return 0;
}

/* Behind its last turn there is only what goes on in the background, which no interrupt reaches. */
static int do_interrupt(struct driver *d, struct str data)
{
	if (d->rests && d->background.count)
		return do_cancel(d, data);
	d->interrupted = true;
	request(d, "interrupt", NULL, (struct str){ 0 });
	return 0;
}

static int do_queue(struct driver *d, struct str data)
{
	tell_prompt(d, data);
	return 0;
}

static int do_set_model(struct driver *d, struct str data)
{
	return request(d, "set_model", "model", data);
}

static int do_set_mode(struct driver *d, struct str data)
{
	return request(d, "set_permission_mode", "mode", data);
}

static const struct {
	const char *verb;
	int (*run)(struct driver *d, struct str data);
	bool to_client; /* it has to be able to hear it */
} verbs[] = {
	{ "interrupt", do_interrupt, true }, { "queue", do_queue, true },
	{ "set_model", do_set_model, true }, { "set_mode", do_set_mode, true },
	{ "cancel", do_cancel, false },
};

/* Until the client has answered; of too many it is not waited for. */
static bool wait_for_answer(struct driver *d, int number, int64_t command)
{
	for (size_t i = 0; number && i < COUNT(d->unanswered); i++)
		if (!d->unanswered[i].request) {
			d->unanswered[i].request = number;
			d->unanswered[i].command = command;
			return true;
		}
	return false;
}

/* What came of it, as JSON; NULL: the client has to say. */
static const char *do_command(struct driver *d, const struct inbox_command *c)
{
	for (size_t i = 0; i < COUNT(verbs); i++) {
		if (!str_eq(c->verb, str_of(verbs[i].verb)))
			continue;
		if (verbs[i].to_client && d->closed)
			return "{\"error\":\"the agent is about to end\"}";
		return wait_for_answer(d, verbs[i].run(d, c->data), c->row) ? NULL : "{}";
	}
	return "{\"error\":\"nobody knows this command\"}";
}

static enum status do_commands(struct driver *d, struct err *err)
{
	bool found = true;

	while (found && d->child) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct inbox_command c;
		const char *result;

		if (inbox_take(d->store, d->run.row, &mem, &c, &found, err))
			return err_failed(err->status);
		result = found ? do_command(d, &c) : NULL;
		if (result && inbox_done(d->store, c.row, str_of(result), err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* The client's answer to a request of ours: an error, or nothing of interest. */
static void on_answered(struct driver *d, const struct json *j)
{
	uint32_t response = json_get(j, json_root(j), STR("response"));
	struct buf result CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str error = json_raw(j, json_get(j, response, STR("error")));
	char id[32];
	struct err err;

	for (size_t i = 0; i < COUNT(d->unanswered); i++) {
		snprintf(id, sizeof id, "arbor-%d", d->unanswered[i].request);
		if (!d->unanswered[i].request ||
		    !json_string_eq(j, json_get(j, response, STR("request_id")), str_of(id)))
			continue;
		d->unanswered[i].request = 0;
		if (json_string_eq(j, json_get(j, response, STR("subtype")), STR("error")))
			buf_printf(&result, "{\"error\":%.*s}", STR_ARG(error));
		else
			buf_text(&result, "{}");
		if (inbox_done(d->store, d->unanswered[i].command, buf_as_str(&result), &err))
			log_warn(store_log(d->store), "commands: %s", err.text);
	}
}

static void on_look(void *ctx)
{
	struct driver *d = ctx;
	bool changed = false;
	struct err err;

	if (!d->lost &&
	    (store_wait(d->store, 0, &changed, &err) || ((changed || !d->looked) && do_commands(d, &err))))
		log_warn(store_log(d->store), "commands: %s", err.text);
	d->looked = true;
	look_at_questions(d, changed);
	close_when_done(d);
	loop_timer_set(d->look, LOOK_MS);
}

static void on_renew(void *ctx)
{
	struct driver *d = ctx;
	struct err err;

	/* A store that was removed goes on for who has it open, and nobody else will ever see it. */
	if (!d->lost && (store_is_outdated(d->store) || run_renew(d->store, &d->run, &err) == STATUS_CONFLICT))
		give_up(d);
	loop_timer_set(d->renew, LEASE_RENEW_MS);
}

static void on_kill(void *ctx)
{
	struct driver *d = ctx;

	if (!d->child)
		return;
	if (d->asked_to_end) {
		child_kill(d->child);
		return;
	}
	d->asked_to_end = true;
	child_ask_to_end(d->child);
	loop_timer_set(d->kill, KILL_MS);
}

/* Nothing was heard for long, and it is not us it waits for. */
static void on_silence(void *ctx)
{
	struct driver *d = ctx;

	if (feed_state(d->feed) == STREAM_AWAITING || d->paused) {
		loop_timer_set(d->silence, d->silence_ms);
		return;
	}
	d->silent = true;
	on_kill(d);
}

static void note_sound(struct driver *d)
{
	if (d->silence_ms)
		loop_timer_set(d->silence, d->silence_ms);
}

/* ---- From the client ------------------------------------------------------------- */

/* Every event; of answers of the agent itself the last is where the conversation goes on. */
static enum status on_event(void *ctx, const struct chat_event *e, struct err *err)
{
	struct driver *d = ctx;

	if (e->type == CHAT_ASSISTANT_MESSAGE && !e->inner && e->uuid.p)
		d->outcome.head = arena_str(&d->mem, e->uuid);
	return feed_chat(d->feed, e, err);
}

static void note_init(struct driver *d, const struct json *j)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct err err;

	secret_release(&d->mcp);
	secret_release(&d->system_prompt);
	d->outcome.has_session |= uuid_parse(
		json_string_in(j, json_get(j, json_root(j), STR("session_id")), &mem), &d->outcome.session);
	if (run_note(d->store, &d->run, (struct str){ 0 }, json_raw(j, json_root(j)), &err))
		log_warn(store_log(d->store), "run: %s", err.text);
}

/* From the first line in its transcript on the session can be resumed, whatever becomes of us. */
static void note_session(struct driver *d, const struct uuid *session)
{
	struct named_head head = d->session.head;
	struct err err;

	if (d->outcome.is_written || d->run.ephemeral)
		return;
	d->outcome.is_written = true;
	head.has_session = true;
	head.session = *session;
	if (named_set_head(d->store, d->session.row, &head, &err))
		log_warn(store_log(d->store), "session: %s", err.text);
}

/* It has written lines: the files are what counts, not what is said of them. */
static void note_written(struct driver *d, const struct json *j)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid session;

	if (keeper_touch(d->keeper, json_string_in(j, json_get(j, json_root(j), STR("filePath")), &mem),
			 &session))
		note_session(d, &session);
}

static struct str raw_in(struct driver *d, const struct json *j, uint32_t node)
{
	if (node == JSON_NONE || json_is(j, node, JSON_NULL))
		return (struct str){ 0 };
	return arena_str(&d->mem, json_raw(j, node));
}

/* The last one counts: `usage` is of its turn, the cost of all so far. */
static void note_result(struct driver *d, const struct json *j)
{
	uint32_t root = json_root(j), text = json_get(j, root, STR("result")),
		 errors = json_get(j, root, STR("errors"));
	struct outcome *o = &d->outcome;

	o->has_result = true;
	o->failed = json_bool(j, json_get(j, root, STR("is_error")));
	o->usage = raw_in(d, j, json_get(j, root, STR("usage")));
	o->cost = raw_in(d, j, json_get(j, root, STR("total_cost_usd")));
	o->models = raw_in(d, j, json_get(j, root, STR("modelUsage")));
	if (!json_is(j, text, JSON_STRING) && json_count(j, errors))
		text = json_first(j, errors);
	if (!json_is(j, text, JSON_STRING))
		text = json_get(j, root, STR("subtype"));
	o->text = o->failed ? arena_str(&d->mem, json_string_in(j, text, &d->mem)) : (struct str){ 0 };
}

static void after_result(struct driver *d)
{
	struct err err;

	if (do_commands(d, &err))
		log_warn(store_log(d->store), "commands: %s", err.text);
	d->rests = true;
	close_when_done(d);
}

static bool on_line(void *ctx, const struct split_line *line)
{
	struct driver *d = ctx;
	const struct json *j;
	enum chat_line what;
	struct err err;

	if (!line->text.p) {
		pass_text(d, "raw_output", STR("(a line that is too long)"));
		return true;
	}
	if (chat_read(d->chat, line->text, &what, &j, &err))
		log_warn(store_log(d->store), "%s", err.text);
	else if (what == CHAT_LINE_INIT)
		note_init(d, j);
	else if (what == CHAT_LINE_RESULT)
		note_result(d, j);
	else if (what == CHAT_LINE_MIRROR)
		note_written(d, j);
	else if (what == CHAT_LINE_ASKED)
		on_asked(d, j);
	else if (what == CHAT_LINE_WITHDRAWN)
		on_withdrawn(d, j);
	else if (what == CHAT_LINE_ANSWERED)
		on_answered(d, j);
	else if (what == CHAT_LINE_TAKEN && !background_is_news(j))
		d->taken++;
	background_hear(&d->background, j);
	if (what == CHAT_LINE_INIT || what == CHAT_LINE_TAKEN)
		stop_resting(d);
	if (what == CHAT_LINE_RESULT)
		after_result(d);
	return true;
}

static void on_output(void *ctx, struct str bytes)
{
	struct driver *d = ctx;

	note_sound(d);
	if (d->output)
		output_add(d->output, bytes);
	split_add(&d->lines, bytes);
	write_in_time(d);
}

static void on_errors(void *ctx, struct str bytes)
{
	struct driver *d = ctx;

	note_sound(d);
	pass_text(d, "stderr", bytes);
	write_in_time(d);
}

static void on_ended(void *ctx, const struct child_end *end)
{
	struct driver *d = ctx;

	d->end = *end;
	d->last_words = arena_str(&d->mem, child_last_words(d->child));
	loop_stop(d->loop);
}

/* ---- The end ------------------------------------------------------------------- */

static enum stream_state state_at_end(const struct driver *d)
{
	const struct outcome *o = &d->outcome;

	if (d->cancelled || was_stopped(d))
		return STREAM_CANCELLED;
	return o->has_result && !o->failed && d->end.code == 0 && !d->silent ? STREAM_COMPLETE
									     : STREAM_FAILED;
}

/* In a sentence. */
static struct str why_failed(struct driver *d)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	if (d->silent) {
		buf_printf(&text, "claude %ssaid nothing for %lld seconds, and was ended",
			   d->waits ? "waited for what it had in the background, " : "",
			   (long long)(d->silence_ms / 1000));
		return arena_str(&d->mem, buf_as_str(&text));
	}
	if (d->outcome.has_result && d->outcome.failed && d->outcome.text.n)
		return d->outcome.text;
	buf_text(&text, "claude ");
	child_end_text(&d->end, &text);
	if (!d->outcome.has_result)
		buf_text(&text, " before it was done");
	if (d->last_words.n)
		buf_printf(&text, ": %.*s", (int)size_min(d->last_words.n, KIB), d->last_words.p);
	return arena_str(&d->mem, buf_as_str(&text));
}

static struct uuid head_node(const struct driver *d)
{
	struct node_name name = { .uuid = d->outcome.head };

	return node_id(&name, PART_MESSAGE);
}

static void put_uuid_member(struct json_writer *w, const char *key, const struct uuid *id)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	json_write_key(w, str_of(key));
	json_write_string(w, str_of(text));
}

static void put_raw_member(struct json_writer *w, const char *key, struct str raw)
{
	if (!raw.p)
		return;
	json_write_key(w, str_of(key));
	json_write_raw(w, raw);
}

/* By the list of prices, beside what the client says; nothing where a price is not known. Lines count every answer
 * once; where there are none, the client's word is all there is. */
static void put_priced(struct json_writer *w, const struct driver *d)
{
	static const struct prices built_in = { 0 };
	enum { NANO = 1000000000 };
	char text[40];
	int64_t nano = d->kept.spent.nano;

	if (d->kept.spent.answers ? d->kept.spent.unpriced > 0
				  : !price_of_run(d->prices ? d->prices : &built_in, d->outcome.models,
						  d->outcome.usage, store_now(d->store), &nano))
		return;
	snprintf(text, sizeof text, "%" PRId64 ".%09" PRId64, nano / NANO, nano % NANO);
	put_raw_member(w, "priced_cost_usd", str_of(text));
}

/* What all its answers took. The client's own usage is of its last turn. */
static void put_spent(struct json_writer *w, const struct kept *k)
{
	const struct usage_sum *s = &k->spent;
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = { { "answers", s->answers },
			{ "input_tokens", s->input },
			{ "output_tokens", s->output },
			{ "cache_creation_input_tokens", s->written },
			{ "cache_read_input_tokens", s->read } };

	if (!k->has_spent)
		return;
	json_write_key(w, STR("spent"));
	json_write_object_begin(w);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		json_write_key(w, str_of(numbers[i].key));
		json_write_i64(w, numbers[i].value);
	}
	json_write_object_end(w);
}

static void say_end(struct driver *d, enum stream_state state, const struct stream_end *end)
{
	static const enum chat_type types[STREAM_STATES] = { [STREAM_COMPLETE] = CHAT_COMPLETE,
							     [STREAM_FAILED] = CHAT_ERROR,
							     [STREAM_CANCELLED] = CHAT_CANCELLED };
	struct buf data CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct json_writer w;

	json_write_init(&w, &data, 0);
	json_write_object_begin(&w);
	if (end->has_head)
		put_uuid_member(&w, "new_head", &end->head);
	if (d->outcome.has_session)
		put_uuid_member(&w, "claude_session_id", &d->outcome.session);
	put_raw_member(&w, "usage", d->outcome.usage);
	put_raw_member(&w, "total_cost_usd", d->outcome.cost);
	put_priced(&w, d);
	put_spent(&w, &d->kept);
	if (end->error.p) {
		json_write_key(&w, STR("message"));
		json_write_string(&w, end->error);
	}
	json_write_object_end(&w);
	feed_add(d->feed, types[state], d->outcome.head, CHAT_PART_MESSAGE, buf_as_str(&data));
}

static int64_t cost_micro(struct str dollars)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err ignored;
	double value;

	if (!dollars.p || json_read(&j, dollars, 1, &ignored) || !json_to_real(&j, 0, &value) || value < 0 ||
	    value > 1e9)
		return -1;
	return (int64_t)(value * 1e6 + 0.5);
}

/* The next prompt of the session follows what was said, also when that went wrong: as its file has it, or if
 * that could not be mirrored yet, as the client has told it. False: there is nothing that it could follow. */
static bool find_head(struct driver *d, struct named_head *head)
{
	const struct outcome *o = &d->outcome;

	*head = d->session.head;
	if (!o->has_session)
		return false;
	keeper_end(d->keeper, &o->session, &d->kept);
	*head = d->kept.head;
	if (head->has_head)
		return true;
	*head = d->session.head;
	head->has_session = head->has_session || o->is_written || o->has_result;
	head->session = o->session;
	if (o->head.p) {
		head->has_head = true;
		head->head = head_node(d);
		head->has_line = false;
	}
	return head->has_session;
}

static void nap(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/* Until it is written, or somebody else has closed the stream. */
static enum status write_end(struct driver *d, enum stream_state state, const struct stream_end *end,
			     struct err *err)
{
	enum status status;

	for (int i = 0;
	     (status = feed_write(d->feed, state, end, err)) && status != STATUS_CONFLICT && i < LAST_TRIES;
	     i++)
		nap(RETRY_MS);
	return status;
}

static enum status finish(struct driver *d, struct err *err)
{
	enum stream_state state = state_at_end(d);
	struct stream_end end = { .has_code = d->end.code >= 0,
				  .code = d->end.code,
				  .signal = d->end.signal,
				  .usage = d->outcome.usage,
				  .cost_micro = cost_micro(d->outcome.cost) };
	struct named_head head;

	if (state == STREAM_FAILED)
		end.error = why_failed(d);
	write_waiting(d);
	if (find_head(d, &head)) {
		end.has_head = head.has_head;
		end.head = head.head;
		end.session = d->run.ephemeral ? NULL : &head;
	}
	say_end(d, state, &end);
	return write_end(d, state, &end, err);
}

/* It never began. */
static enum status finish_unstarted(struct driver *d, const struct err *why, struct err *err)
{
	struct stream_end end = { .error = str_of(why->text), .cost_micro = -1 };

	say_end(d, STREAM_FAILED, &end);
	return write_end(d, STREAM_FAILED, &end, err);
}

/* ---- The beginning --------------------------------------------------------------- */

static void note_words(struct driver *d, const struct guard_start *what)
{
	struct buf argv CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json_writer w;
	struct err err;

	json_write_init(&w, &argv, 0);
	json_write_array_begin(&w);
	for (size_t i = 0; what->arguments[i]; i++)
		json_write_string(&w, str_of(what->arguments[i]));
	json_write_array_end(&w);
	if (run_note(d->store, &d->run, buf_as_str(&argv), (struct str){ 0 }, &err))
		log_warn(store_log(d->store), "run: %s", err.text);
}

static enum status start_client(struct driver *d, const struct drive_ask *ask, struct err *err)
{
	struct client_ask client = { .env = ask->env,
				     .program = ask->program,
				     .session = &d->session,
				     .ephemeral = d->run.ephemeral };
	struct child_hooks hooks = { .output = on_output, .errors = on_errors, .ended = on_ended, .ctx = d };
	struct guard_start what;
	struct str made;

	if (!prompt_read(d->run.prompt, &d->mem, &client.prompt))
		return err_fail(err, STATUS_FORMAT, "what was submitted cannot be read");
	if (resume_prepare(d->store, ask->env, &d->session, ask->beside, &d->mem, &made, err) ||
	    resume_begins(d->store, ask->env, &d->session, &client.begins, err))
		return err_failed(err->status);
	if (secret_make(&d->mcp, d->session.settings.mcp_config, err) ||
	    secret_make(&d->system_prompt, d->session.settings.system_prompt, err))
		return err_failed(err->status);
	client.mcp_file = d->mcp.fd < 0 ? NULL : d->mcp.path;
	client.system_file = d->system_prompt.fd < 0 ? NULL : d->system_prompt.path;
	if (client_prepare(&client, &d->mem, &what, err))
		return err_failed(err->status);
	what.alone = ask->alone;
	if (child_start(d->loop, &what, &hooks, &d->child, err))
		return err_failed(err->status);
	note_words(d, &what);
	tell_prompt(d, d->run.prompt);
	return STATUS_OK;
}

static void begin_asking(struct driver *d, const struct drive_ask *ask)
{
	const char *home = environment_get(ask->env, "HOME");

	d->asking = asking_new(&(struct asking_new){
		.store = d->store,
		.run = &d->run,
		.cwd = d->session.settings.working_dir,
		.home = home ? str_of(home) : (struct str){ 0 },
		.expire_ms = ask->expire_ms,
		.hooks = { .ready = on_ready, .tell = on_tell, .ctx = d },
	});
}

static enum status take(struct driver *d, const struct uuid *stream, const struct drive_ask *ask,
			struct err *err)
{
	struct lease own;

	if (lease_own(d->store, &d->mem, &own, err) || run_of_stream(d->store, stream, &d->mem, &d->run, err))
		return err_failed(err->status);
	if (d->run.ended_at)
		return err_fail(err, STATUS_CONFLICT, "this run is over");
	if (named_get(d->store, d->run.session, &d->mem, &d->session, err) ||
	    run_take(d->store, &d->run, &own, err))
		return err_failed(err->status);
	if (d->session.settings.loopback)
		begin_asking(d, ask);
	if (d->run.ephemeral)
		d->output = output_new(d->store, &d->run);
	d->chat = chat_new(on_event, d);
	d->feed = feed_new(d->store, &d->run.writer);
	split_begin(&d->lines, LIMIT_LINE_PARSED, 0, on_line, d);
	return STATUS_OK;
}

static void set_timers(struct driver *d)
{
	d->flush = loop_timer_new(d->loop, on_flush, d);
	d->look = loop_timer_new(d->loop, on_look, d);
	d->renew = loop_timer_new(d->loop, on_renew, d);
	d->kill = loop_timer_new(d->loop, on_kill, d);
	d->idle = loop_timer_new(d->loop, on_idle, d);
	d->silence = loop_timer_new(d->loop, on_silence, d);
	note_sound(d);
	loop_timer_set(d->look, LOOK_MS);
	loop_timer_set(d->renew, LEASE_RENEW_MS);
}

static void driver_release(struct driver *d)
{
	child_free(d->child);
	loop_free(d->loop);
	asking_free(d->asking);
	chat_free(d->chat);
	feed_free(d->feed);
	output_free(d->output);
	keeper_free(d->keeper);
	split_release(&d->lines);
	secret_release(&d->mcp);
	secret_release(&d->system_prompt);
	arena_release(&d->mem);
}

/* What is left when the loop has ended. One that was told to stop kills the client and says so. */
static enum status end_run(struct driver *d, const struct drive_ask *ask, struct err *err)
{
	if (ask->cancel && atomic_load(ask->cancel)) {
		d->cancelled = true;
		child_free(d->child);
		d->child = NULL;
	}
	split_end(&d->lines);
	if (chat_end(d->chat, err))
		return err_failed(err->status);
	if (d->lost)
		return err_fail(err, STATUS_CONFLICT, "somebody else has taken this run over");
	return finish(d, err);
}

/* A few, while the client takes its time to start: whoever waits for its end is not to wait for that. */
static void compact_old(struct driver *d, const struct drive_ask *ask)
{
	enum { A_FEW = 8 };
	int64_t streams, events;
	struct err err;

	if (compact_streams(d->store, ask->compact_before, A_FEW, &streams, &events, &err))
		log_warn(store_log(d->store), "old streams: %s", err.text);
}

enum status drive(struct store *s, const struct uuid *stream, const struct drive_ask *ask, struct err *err)
{
	struct driver d CLEANUP(driver_release) = { .store = s,
							 .mcp = SECRET_NONE,
							 .system_prompt = SECRET_NONE,
							 .end.code = -1,
							 .prices = ask->prices };
	struct err why;

	if (loop_new(ask->cancel, &d.loop, err) || take(&d, stream, ask, err))
		return err_failed(err->status);
	d.keeper = keeper_new(s, &(struct keeper_ask){ ask->filter, ask->prices, d.run.started_at });
	d.silence_ms = ask->silence_s * 1000;
	set_timers(&d);
	if (start_client(&d, ask, &why))
		return finish_unstarted(&d, &why, err);
	compact_old(&d, ask);
	loop_run(d.loop);
	return end_run(&d, ask, err);
}
