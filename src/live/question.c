/*
 * Asking is one transaction: the question, what rules say to it, and the events that tell of it; so is
 * handing over the answer. What takes long or may hang, reading the input and resolving links, is done
 * before.
 *
 * Rules: of all that mean the question, one that denies comes first, then one that wants a person to be
 * asked, then one that allows. Neither their order nor how exact they are counts, nor whether they are of one
 * session or of all. The oldest of the strongest is the one that is named.
 */
#include "live/question.h"

#include "base/clock.h"
#include "base/file.h"
#include "claude/chat.h"
#include "claude/permission.h"
#include "live/lease.h"
#include "store/rule.h"

/* ---- Events ------------------------------------------------------------------ */

static void write_text(struct json_writer *w, const char *key, struct str value)
{
	if (!value.p)
		return;
	json_write_key(w, str_of(key));
	json_write_string(w, value);
}

static void write_raw(struct json_writer *w, const char *key, struct str json)
{
	if (!json.p)
		return;
	json_write_key(w, str_of(key));
	json_write_raw(w, json);
}

static void write_id(struct json_writer *w, const char *key, const struct uuid *id)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	write_text(w, key, str_of(text));
}

static void write_asked(struct json_writer *w, const struct approval *a)
{
	char until[TIME_TEXT + 1];

	write_raw(w, "input", a->input);
	write_raw(w, "suggestions", a->suggestions);
	if (!a->expires_at)
		return;
	time_print(a->expires_at, until);
	write_text(w, "expires", str_of(until));
}

static void write_resolved(struct json_writer *w, const struct approval *a)
{
	write_text(w, "state", str_of(approval_state_names[a->state]));
	json_write_key(w, STR("approved"));
	json_write_bool(w, a->state == APPROVAL_DELIVERED && a->decision == APPROVAL_ALLOW);
	write_text(w, "void", a->void_reason);
	if (!a->is_decided)
		return;
	write_text(w, "decision", str_of(approval_decision_names[a->decision]));
	write_text(w, "by", str_of(approval_by_names[a->by]));
	write_text(w, "by_name", a->by_name);
	if (a->has_rule)
		write_id(w, "rule", &a->rule);
	write_raw(w, "edited_input", a->edited_input);
	write_text(w, "message", a->message);
}

static enum status write_data(const struct approval *a, struct buf *out, struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	write_id(&w, "approval_id", &a->id);
	write_text(&w, "tool_name", a->tool_name);
	write_text(&w, "tool_use_id", a->tool_use_id);
	write_text(&w, "agent_id", a->agent_id);
	if (a->state == APPROVAL_DELIVERED || a->state == APPROVAL_VOID)
		write_resolved(&w, a);
	else
		write_asked(&w, a);
	json_write_object_end(&w);
	return json_write_done(&w, err);
}

/* Into the stream of its run, if it has one; which awaits permission exactly as long as a question is open.
 */
static enum status tell(struct store *s, const struct approval *a, const char *type,
			const struct stream_writer *writer, struct err *err)
{
	struct buf data CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct event_new e = { .type = str_of(type), .at = store_now(s) };
	struct stream_change change = { .events = &e, .count = 1, .synced = true };
	struct stream_writer own;
	bool awaited;

	if (!a->run)
		return STATUS_OK;
	if (write_data(a, &data, err) || approval_is_awaited(s, a->run, &awaited, err) ||
	    (!writer && run_writer(s, a->run, &own, err)))
		return err_failed(err->status);
	e.data = buf_as_str(&data);
	change.state = awaited ? STREAM_AWAITING : STREAM_RUNNING;
	return stream_write(s, writer ? writer : &own, &change, err);
}

/* ---- Rules ------------------------------------------------------------------- */

/* A question as rules see it. */
struct seen {
	struct json json;
	struct permission_question q;
};

static void seen_release(struct seen *v)
{
	json_release(&v->json);
}

static enum status see(struct seen *v, struct str tool, struct str input, struct str cwd, struct str home,
		       struct arena *mem, struct err *err)
{
	struct str path;

	if (json_read(&v->json, input, LIMIT_JSON_DEPTH, err))
		return err_pass(err, "input of %.*s", (int)size_min(tool.n, LIMIT_RULE_TOOL),
				tool.p ? tool.p : "");
	v->q = (struct permission_question){ .tool = tool, .input = &v->json, .cwd = cwd, .home = home };
	path = permission_path(&v->q, mem);
	if (path.n)
		v->q.real_path = file_real_front(mem, path, path.n);
	if (path.n && cwd.n)
		v->q.real_cwd = file_real_front(mem, cwd, cwd.n);
	return STATUS_OK;
}

struct verdict {
	const struct permission_question *question;
	struct arena *mem;
	bool found;
	struct rule rule; /* the strongest */
};

static int strength(enum rule_decision d)
{
	static const int strengths[RULE_DECISIONS] = { [RULE_ALLOW] = 1, [RULE_ASK] = 2, [RULE_DENY] = 3 };

	return strengths[d];
}

static enum status weigh(void *ctx, const struct rule *r, struct err *err)
{
	struct permission p = { r->tool, r->pattern };
	bool allows = r->decision == RULE_ALLOW;
	struct verdict *v = ctx;

	(void)err;
	if ((v->found && strength(r->decision) <= strength(v->rule.decision)) ||
	    (allows && !permission_may_allow(&p, v->question->tool)) ||
	    !permission_means(&p, v->question, allows))
		return STATUS_OK;
	v->found = true;
	v->rule = *r;
	v->rule.tool = arena_str(v->mem, r->tool);
	v->rule.pattern = r->pattern.p ? arena_str(v->mem, r->pattern) : r->pattern;
	v->rule.message = r->message.p ? arena_str(v->mem, r->message) : r->message;
	return STATUS_OK;
}

static struct str rule_text(const struct rule *r, struct arena *mem)
{
	return permission_text(&(struct permission){ r->tool, r->pattern }, mem);
}

static struct str why_denied(const struct rule *r, struct arena *mem)
{
	return r->message.p ? r->message
			    : arena_printf(mem, "denied by a rule: %.*s", STR_ARG(rule_text(r, mem)));
}

/* What rules say to one that is pending; *answered when they say anything but to ask. In a write transaction.
 */
static enum status answer_by_rules(struct store *s, struct approval *a, const struct permission_question *q,
				   struct arena *mem, bool *answered, struct err *err)
{
	struct verdict v = { .question = q, .mem = mem };
	struct approval_answer answer = { .by = APPROVAL_BY_RULE };

	*answered = false;
	if (rule_each_for(s, a->session, a->has_claude_session ? &a->claude_session : NULL, weigh, &v, err))
		return err_failed(err->status);
	if (!v.found || v.rule.decision == RULE_ASK)
		return STATUS_OK;
	answer.rule = v.rule.row;
	answer.decision = v.rule.decision == RULE_ALLOW ? APPROVAL_ALLOW : APPROVAL_DENY;
	if (answer.decision == APPROVAL_DENY)
		answer.message = why_denied(&v.rule, mem);
	*answered = true;
	return approval_decide(s, a, &answer, mem, err);
}

enum status question_rule(const struct approval *a, struct str home, struct arena *mem,
			  struct permission *out, struct err *err)
{
	struct seen v CLEANUP(seen_release) = { 0 };

	if (see(&v, a->tool_name, a->input, a->cwd, home, mem, err))
		return err_failed(err->status);
	return permission_exact(&v.q, mem, out, err);
}

/* ---- Asking ------------------------------------------------------------------ */

/* A synced write transaction around several steps. */
static enum status begin_synced(struct store *s, struct txn *txn, struct err *err)
{
	if (store_reach(s, STORE_LIVE, err) || store_sync_next_commit(s, err))
		return err_failed(err->status);
	return txn_begin(s, txn, err);
}

enum status question_ask(struct store *s, const struct question_new *q, struct arena *mem,
			 struct approval *out, struct err *err)
{
	struct seen v CLEANUP(seen_release) = { 0 };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct approval_new what = q->what;
	bool answered;

	if (see(&v, what.tool_name, what.input, what.cwd, q->home, mem, err) ||
	    lease_own(s, mem, &what.asker, err) || begin_synced(s, &txn, err) ||
	    approval_ask(s, &what, mem, out, err) ||
	    tell(s, out, chat_type_name(CHAT_AWAITING_APPROVAL), q->writer, err) ||
	    answer_by_rules(s, out, &v.q, mem, &answered, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* ---- Answering ---------------------------------------------------------------- */

/* What is to run instead may be what a rule does not want. */
static enum status check_denied(struct store *s, const struct approval *a,
				const struct permission_question *q, struct arena *mem, struct err *err)
{
	struct verdict v = { .question = q, .mem = mem };
	char id[UUID_TEXT + 1];
	struct str which;

	if (rule_each_for(s, a->session, a->has_claude_session ? &a->claude_session : NULL, weigh, &v, err))
		return err_failed(err->status);
	if (!v.found || v.rule.decision != RULE_DENY)
		return STATUS_OK;
	uuid_print(&v.rule.id, id);
	which = rule_text(&v.rule, mem);
	return err_fail(err, STATUS_DENIED,
			"a rule denies that: %.*s; 'arbor rule --delete %.8s' takes it away",
			(int)size_min(which.n, 200), which.p, id);
}

enum status question_answer(struct store *s, struct approval *a, const struct approval_answer *answer,
			    struct rule *rule, struct str home, struct arena *mem, struct err *err)
{
	struct seen v CLEANUP(seen_release) = { 0 };
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool changed = answer->edited_input.p;

	if (!rule && !changed)
		return approval_decide(s, a, answer, mem, err);
	if ((changed && see(&v, a->tool_name, answer->edited_input, a->cwd, home, mem, err)) ||
	    begin_synced(s, &txn, err) || (changed && check_denied(s, a, &v.q, mem, err)) ||
	    approval_decide(s, a, answer, mem, err) || (rule && rule_add(s, rule, err)))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status question_look(struct store *s, struct approval *a, struct arena *mem, struct err *err)
{
	int64_t now = store_now(s);

	if (approval_get(s, &a->id, mem, a, err))
		return err_failed(err->status);
	if (a->state != APPROVAL_PENDING)
		return STATUS_OK;
	if (a->expires_at && a->expires_at <= now && approval_expire(s, err))
		return err_failed(err->status);
	if (now - a->asker.at > LEASE_RENEW_MS && approval_renew(s, a, err))
		return err_failed(err->status);
	return approval_get(s, &a->id, mem, a, err);
}

static enum status finish(struct store *s, struct approval *a, enum approval_deed deed,
			  const struct stream_writer *writer, struct arena *mem, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (begin_synced(s, &txn, err) || approval_do(s, a, deed, mem, err) ||
	    tell(s, a, chat_type_name(CHAT_APPROVAL_RESOLVED), writer, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status question_deliver(struct store *s, struct approval *a, const struct stream_writer *writer,
			     struct arena *mem, struct err *err)
{
	return finish(s, a, APPROVAL_DELIVER, writer, mem, err);
}

enum status question_withdraw(struct store *s, struct approval *a, const struct stream_writer *writer,
			      struct arena *mem, struct err *err)
{
	return finish(s, a, APPROVAL_WITHDRAW, writer, mem, err);
}

/* With "allow" the client wants the input in any case, and with "deny" a reason. */
void question_write_answer(struct json_writer *w, const struct approval *a)
{
	bool allow = a->decision == APPROVAL_ALLOW;

	json_write_object_begin(w);
	write_text(w, "behavior", str_of(approval_decision_names[a->decision]));
	if (allow)
		write_raw(w, "updatedInput", approval_input(a));
	else
		write_text(w, "message",
			   a->message.n ? a->message : STR("the user does not want this to run"));
	if (a->interrupt) {
		json_write_key(w, STR("interrupt"));
		json_write_bool(w, true);
	}
	json_write_object_end(w);
}

/* ---- Looking after all of them ------------------------------------------------ */

struct ids {
	struct arena mem;
	struct store *store;
	struct lease own;
	bool all; /* not only of those who are gone */
	struct uuid *list;
	size_t count, room;
};

static void ids_release(struct ids *ids)
{
	arena_release(&ids->mem);
}

static enum status note_id(void *ctx, const struct approval *a, bool *go_on, struct err *err)
{
	struct ids *ids = ctx;

	(void)err;
	(void)go_on;
	if (!ids->all && !lease_is_dead(&a->asker, &ids->own, store_now(ids->store)))
		return STATUS_OK;
	if (ids->count == ids->room) {
		struct uuid *more = arena_alloc(&ids->mem, (2 * ids->room + 16) * sizeof *more);

		for (size_t i = 0; i < ids->count; i++)
			more[i] = ids->list[i];
		ids->list = more;
		ids->room = 2 * ids->room + 16;
	}
	ids->list[ids->count++] = a->id;
	return STATUS_OK;
}

/* Somebody else may do the same, and some cannot write. */
static enum status unless_harmless(enum status status)
{
	return status == STATUS_CONFLICT || status == STATUS_DENIED ? STATUS_OK : status;
}

static enum status lose_one(struct store *s, const struct uuid *id, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval a;

	if (approval_get(s, id, &mem, &a, err))
		return err_failed(err->status);
	return unless_harmless(finish(s, &a, APPROVAL_LOSE, NULL, &mem, err));
}

enum status question_look_after(struct store *s, struct err *err)
{
	struct ids gone CLEANUP(ids_release) = { .mem = ARENA_INIT, .store = s };

	if (lease_look_after_all(s, err) || lease_own(s, &gone.mem, &gone.own, err) ||
	    approval_each_open(s, note_id, &gone, err))
		return err_failed(err->status);
	for (size_t i = 0; i < gone.count; i++)
		if (lose_one(s, &gone.list[i], err))
			return err_failed(err->status);
	return unless_harmless(approval_expire(s, err));
}

static enum status apply_to(struct store *s, const struct uuid *id, struct str home, int64_t *answered,
			    struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct seen v CLEANUP(seen_release) = { 0 };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct approval a;
	bool done = false;

	if (approval_get(s, id, &mem, &a, err) || see(&v, a.tool_name, a.input, a.cwd, home, &mem, err) ||
	    begin_synced(s, &txn, err) || approval_get(s, id, &mem, &a, err))
		return err_failed(err->status);
	if (a.state == APPROVAL_PENDING && answer_by_rules(s, &a, &v.q, &mem, &done, err))
		return unless_harmless(err->status);
	*answered += done;
	return txn_commit(&txn, err);
}

enum status question_apply_rules(struct store *s, struct str home, int64_t *answered, struct err *err)
{
	struct ids pending CLEANUP(ids_release) = { .mem = ARENA_INIT, .store = s, .all = true };

	*answered = 0;
	if (approval_each_pending(s, 0, note_id, &pending, err))
		return err_failed(err->status);
	for (size_t i = 0; i < pending.count; i++)
		if (apply_to(s, &pending.list[i], home, answered, err))
			return err_failed(err->status);
	return STATUS_OK;
}
