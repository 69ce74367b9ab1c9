/*
 * loopback.permit, pending, wait: asking, and hearing of questions.
 *
 * permit is over when the question is answered, and waits as long as its caller does: a caller that goes
 * withdraws the question. It holds no thread and no lock meanwhile.
 */
#include "hub/loopback_methods.h"

#include "base/clock.h"
#include "hub/asked.h"
#include "live/lease.h"
#include "live/question.h"
#include "store/named.h"

/* How long a wait lasts at most before somebody looks again whether who asked is still there. */
enum { LOOK_MS = 2000 };

/* ---- loopback.permit ---------------------------------------------------------- */

static const struct param permit_params[] = {
	{ .name = "tool_name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "TOOL",
	  .help = "the tool that wants to run" },
	{ .name = "input",
	  .type = VALUE_JSON,
	  .flags = PARAM_REQUIRED | PARAM_INPUT,
	  .help = "its input; '-' reads standard input" },
	{ .name = "tool_use_id", .type = VALUE_TEXT, .help = "the client's id of the call" },
	{ .name = "session", .type = VALUE_TEXT, .shown = "SESSION", .help = "the named session that asks" },
	{ .name = "claude_session", .type = VALUE_ID, .help = "the client's id of the session that asks" },
	{ .name = "cwd", .type = VALUE_PATH, .shown = "DIR", .help = "the folder it works in" },
	{ .name = "agent_id", .type = VALUE_TEXT, .help = "the sub-agent that asks" },
	{ .name = "suggestions", .type = VALUE_JSON, .help = "rules that the client offers" },
	{ .name = "expires",
	  .type = VALUE_INT,
	  .setting = "approvals.expire",
	  .least = 0,
	  .most = 86400 * 7,
	  .help = "seconds after which it is denied when nobody has answered; 0: never" },
	{ 0 },
};

static const struct field permit_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the question" },
	{ .name = "decision", .type = VALUE_ENUM, .choices = approval_decision_names, .help = "the answer" },
	{ .name = "by", .type = VALUE_ENUM, .choices = approval_by_names, .help = "who gave it" },
	{ .name = "answer",
	  .type = VALUE_JSON,
	  .help = "the answer as the client wants it: behavior, and updatedInput or message" },
	{ 0 },
};

/* Whose question it is. Ids and names are in the call's memory. */
static enum status find_asker(struct call *c, struct approval_new *what, struct uuid *claude, struct err *err)
{
	struct named named;
	struct run run;
	bool found;

	if (uuid_parse(call_text(c, "claude_session"), claude))
		what->claude_session = claude;
	if (asked_session(c, &what->session, err))
		return err_failed(err->status);
	if (what->session) {
		if (run_of_session(c->store, what->session, &c->mem, &run, &found, err))
			return err_failed(err->status);
		what->run = found ? run.row : 0;
	} else if (what->claude_session) {
		if (named_of_client(c->store, claude, &c->mem, &named, &found, err))
			return err_failed(err->status);
		what->session = found ? named.row : 0;
	}
	return STATUS_OK;
}

static enum status ask(struct call *c, struct approval *out, struct err *err)
{
	struct question_new q = {
		.what = { .tool_name = call_text(c, "tool_name"),
			  .input = asked_json(c, "input"),
			  .tool_use_id = call_text(c, "tool_use_id"),
			  .cwd = call_text(c, "cwd"),
			  .agent_id = call_text(c, "agent_id"),
			  .suggestions = asked_json(c, "suggestions") },
		.home = asked_home(),
	};
	char own[UUID_TEXT + 1];
	struct uuid claude, id;

	if (!q.what.tool_name.n || q.what.tool_name.n > LIMIT_RULE_TOOL)
		return err_fail(err, STATUS_USAGE, "tool_name: a name has 1 to %d bytes", LIMIT_RULE_TOOL);
	if (uuid_random(&id, err) || find_asker(c, &q.what, &claude, err))
		return err_failed(err->status);
	uuid_print(&id, own);
	q.what.request_id = q.what.tool_use_id.n ? q.what.tool_use_id : str_of(own);
	if (call_int(c, "expires"))
		q.what.expires_at = store_now(c->store) + call_int(c, "expires") * 1000;
	return question_ask(c->store, &q, &c->mem, out, err);
}

static enum status emit_answer(struct call *c, const struct approval *a, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_uuid(w, "id", &a->id);
	put_text(w, "decision", str_of(approval_decision_names[a->decision]));
	put_text(w, "by", str_of(approval_by_names[a->by]));
	json_write_key(w, STR("answer"));
	question_write_answer(w, a);
	return call_emit(c, err);
}

/* Nobody wants to know any more. */
static void withdraw(struct call *c)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval a = { .id = *(struct uuid *)c->state };
	struct err err;

	store_set_cancel(c->store, NULL); /* this is to be written all the same */
	if (question_withdraw(c->store, &a, NULL, &mem, &err) && err.status != STATUS_CONFLICT)
		log_warn(c->log, "withdrawing a question: %s", err.text);
}

static enum status begin_permit(struct call *c, struct err *err)
{
	struct approval a;

	if (ask(c, &a, err))
		return err_failed(err->status);
	c->state = arena_alloc(&c->mem, sizeof a.id);
	*(struct uuid *)c->state = a.id;
	c->leave = withdraw;
	return STATUS_OK;
}

/* Until when nothing can happen that the store does not tell. */
static int wait_ms(struct call *c, const struct approval *a)
{
	int64_t left = a->expires_at ? a->expires_at - store_now(c->store) : LEASE_RENEW_MS;

	return (int)(left < 1 ? 1 : left < LEASE_RENEW_MS ? left : LEASE_RENEW_MS);
}

static enum status run_permit(struct call *c, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval a;

	if (!c->state && begin_permit(c, err))
		return err_failed(err->status);
	a.id = *(struct uuid *)c->state;
	if (question_look(c->store, &a, &mem, err))
		return err_failed(err->status);
	if (a.state == APPROVAL_PENDING)
		return call_wait(c, wait_ms(c, &a));
	/* It may have been handed over, and its result not taken. */
	if (a.state != APPROVAL_DELIVERED && question_deliver(c->store, &a, NULL, &mem, err))
		return err_failed(err->status);
	return emit_answer(c, &a, err);
}

const struct method loopback_permit = {
	.name = "permit",
	.summary = "Ask whether a tool may run, and wait for the answer",
	.text = "What a client's permission tool does: the question is shown to whoever answers ('arbor "
		"approvals'), a rule may "
		"answer it at once, and the call ends with the answer. It waits as long as its caller does. "
		"Who "
		"cancels the call withdraws the question.\n\n"
		"Asking is no way to answer: for that there is 'loopback.respond', which needs another "
		"scope.\n",
	.params = permit_params,
	.kind = RESULT_ONE,
	.fields = permit_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE_MADE,
	.examples =
		(const struct example[]){
			{ "call loopback.permit Bash --input '{\"command\":\"git status\"}'",
			  "a rule allows this one" },
			{ 0 } },
	.run = run_permit,
};

/* ---- loopback.pending --------------------------------------------------------- */

static const struct param pending_params[] = {
	{ .name = "approval",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "ID",
	  .names = "loopback.pending",
	  .help = "only this one, whole, whatever became of it" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .letter = 's',
	  .shown = "SESSION",
	  .help = "only of this session" },
	{ .name = "all",
	  .type = VALUE_BOOL,
	  .letter = 'a',
	  .help = "also those that are answered or void, the newest first" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .setting = "list.limit",
	  .least = 0,
	  .most = 100000,
	  .help = "at most so many; 0 for all" },
	{ 0 },
};

struct listing {
	struct call *call;
	int64_t left;
};

static enum status list_one(void *ctx, const struct approval *a, bool *go_on, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct listing *l = ctx;

	*go_on = --l->left != 0; /* 0 = all */
	put_approval(call_begin(l->call), a, &mem);
	return call_emit(l->call, err);
}

static enum status run_pending(struct call *c, struct err *err)
{
	struct listing l = { c, call_int(c, "limit") };
	struct approval a;
	int64_t session;
	bool ignored;

	if (question_look_after(c->store, err) || asked_session(c, &session, err))
		return err_failed(err->status);
	if (call_text(c, "approval").p)
		return approval_find(c->store, call_text(c, "approval"), &c->mem, &a, err)
			       ? err_failed(err->status)
			       : list_one(&l, &a, &ignored, err);
	return call_flag(c, "all") ? approval_each(c->store, session, list_one, &l, err)
				   : approval_each_pending(c->store, session, list_one, &l, err);
}

const struct method loopback_pending = {
	.name = "pending",
	.verb = "approvals",
	.group = "agents",
	.summary = "List tools that wait for an approval",
	.text = "The oldest first. 'arbor approvals answer ID allow' lets one run, 'arbor approvals answer "
		"ID deny' does not; with "
		"an ID all of its input is shown, and what was answered.\n\n"
		"A question whose client is gone is void and is not listed; --all shows these and all that "
		"were answered.\n",
	.params = pending_params,
	.kind = RESULT_STREAM,
	.fields = asked_fields,
	.empty = "nothing waits for an approval",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "approvals", "all that wait" },
					      { "approvals a5ced000", "one of them, whole" },
					      { "approvals --session fix-tests --all",
						"everything that a session has asked" },
					      { 0 } },
	.run = run_pending,
};

/* ---- loopback.wait ------------------------------------------------------------ */

static const struct param wait_params[] = {
	{ .name = "approval",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "ID",
	  .names = "loopback.pending",
	  .help = "wait until this one is answered or void; left out: until something is asked" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .letter = 's',
	  .shown = "SESSION",
	  .help = "only what this session asks" },
	{ .name = "timeout",
	  .type = VALUE_INT,
	  .initial = "300",
	  .least = 0,
	  .most = 86400,
	  .help = "seconds to wait at most" },
	{ 0 },
};

static const struct field wait_fields[] = {
	{ .name = "timed_out", .type = VALUE_BOOL, .help = "nothing happened in time" },
	{ .name = "approvals",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST,
	  .fields = asked_fields,
	  .help = "the one that was waited for, or all that wait" },
	{ 0 },
};

struct waiting {
	struct json_writer *w;
	size_t count;
};

static enum status add_one(void *ctx, const struct approval *a, bool *go_on, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct waiting *x = ctx;

	(void)go_on;
	(void)err;
	x->count++;
	json_write_object_begin(x->w);
	put_approval(x->w, a, &mem);
	json_write_object_end(x->w);
	return STATUS_OK;
}

/* Whether it is enough; *over says that the time is up. */
static enum status add_all(struct call *c, struct waiting *x, bool over, bool *enough, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval a;
	int64_t session;
	bool ignored;

	if (call_text(c, "approval").p) {
		if (approval_find(c->store, call_text(c, "approval"), &mem, &a, err))
			return err_failed(err->status);
		*enough = a.state != APPROVAL_PENDING;
		return *enough || over ? add_one(x, &a, &ignored, err) : STATUS_OK;
	}
	if (asked_session(c, &session, err) || approval_each_pending(c->store, session, add_one, x, err))
		return err_failed(err->status);
	*enough = x->count > 0;
	return STATUS_OK;
}

static int64_t time_left(struct call *c)
{
	int64_t now = clock_monotonic_ns(), *until = c->state;

	if (!until) {
		c->state = until = arena_alloc(&c->mem, sizeof *until);
		*until = now + call_int(c, "timeout") * 1000000000;
	}
	return (*until - now) / 1000000;
}

static enum status run_wait(struct call *c, struct err *err)
{
	struct waiting x = { .w = call_begin(c) };
	int64_t left = time_left(c);
	bool enough;

	json_write_key(x.w, STR("approvals"));
	json_write_array_begin(x.w);
	if (question_look_after(c->store, err) || add_all(c, &x, left <= 0, &enough, err))
		return err_failed(err->status);
	if (!enough && left > 0)
		return call_wait(c, left < LOOK_MS ? (int)left : LOOK_MS);
	json_write_array_end(x.w);
	put_bool(x.w, "timed_out", !enough);
	return call_emit(c, err);
}

const struct method loopback_wait = {
	.name = "wait",
	.summary = "Wait until a tool wants to run, or until a question is answered",
	.text = "For who answers: the call ends as soon as something waits for an approval, at once if it "
		"does already. With an id "
		"it ends when that one is answered, or void. When nothing happens in time, 'timed_out' says "
		"so.\n",
	.params = wait_params,
	.kind = RESULT_ONE,
	.fields = wait_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE_MADE,
	.examples = (const struct example[]){ { "call loopback.wait --timeout 60",
						"until there is a question" },
					      { 0 } },
	.run = run_wait,
};
