/*
 * loopback.rules, rule_add, rule_delete: answers that are given without asking.
 *
 * To let tools run unasked is to answer for all time, so rules are made with the scope of answers. What they
 * mean is in claude/permission.h, and which of several counts in live/question.c.
 */
#include "hub/loopback_methods.h"

#include "claude/permission.h"
#include "hub/asked.h"
#include "hub/decider.h"
#include "hub/hub.h"
#include "live/question.h"
#include "store/annotation.h"

/* ---- loopback.rules ----------------------------------------------------------- */

static const struct field rule_fields[] = { RULE_FIELDS, { 0 } };

static enum status list_one(void *ctx, const struct rule *r, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct call *c = ctx;

	put_rule(call_begin(c), r, &mem);
	return call_emit(c, err);
}

static enum status run_rules(struct call *c, struct err *err)
{
	return rule_each(c->store, list_one, c, err);
}

static const struct param no_params[] = { { 0 } };

const struct method loopback_rules = {
	.name = "rules",
	.verb = "rules",
	.group = "agents",
	.summary = "List rules that answer tools without asking",
	.text = "Of all rules that mean a question, one that denies comes first, then one that wants you to "
		"be asked, then one that "
		"allows; their order does not count, nor how exact they are. What no rule means is asked. "
		"docs/APPROVALS.md "
		"says what patterns mean.\n",
	.params = no_params,
	.kind = RESULT_STREAM,
	.fields = rule_fields,
	.empty = "no rules; 'arbor rule RULE allow|deny|ask' makes one",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "rules", "all of them" }, { 0 } },
	.run = run_rules,
};

/* ---- loopback.rule_add -------------------------------------------------------- */

static const struct param add_params[] = {
	{ .name = "rule",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "RULE",
	  .help = "a tool, or a tool with a pattern: 'Bash(git *)', 'Edit(src/**)', 'mcp__github'; with "
		  "--delete "
		  "the id of a rule" },
	{ .name = "decision",
	  .type = VALUE_ENUM,
	  .choices = rule_decision_names,
	  .flags = PARAM_WORD,
	  .help = "allow, deny, or ask in any case" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .letter = 's',
	  .shown = "SESSION",
	  .help = "only for this session" },
	{ .name = "message", .type = VALUE_TEXT, .letter = 'm', .help = "with deny: why, for the model" },
	{ .name = "minutes",
	  .type = VALUE_INT,
	  .least = 1,
	  .most = 60 * 24 * 366,
	  .help = "for so long; left out: for good" },
	{ .name = "delete", .type = VALUE_BOOL, .letter = 'd', .help = "take a rule away instead" },
	{ .name = "author", .type = VALUE_TEXT, .setting = "author", .help = "who says so" },
	{ 0 },
};

static const struct field add_fields[] = {
	RULE_FIELDS,
	{ .name = "answered",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "questions that waited, and were answered by it" },
	{ 0 },
};

static enum rule_decision decision_of(struct str name)
{
	enum rule_decision d = 0;

	while (d < RULE_ASK && !str_eq(name, str_of(rule_decision_names[d])))
		d++;
	return d;
}

/* A program answers for sessions that have a name, and so do its rules; an agent never for itself. What
 * narrows is anybody's. */
static enum status check_program(struct call *c, const struct rule *r, bool loosens, struct err *err)
{
	struct decider who;

	if (!loosens)
		return STATUS_OK;
	if (decider_find(c, &who, err))
		return err_failed(err->status);
	if (!who.person && !r->session)
		return err_fail(err, STATUS_DENIED,
				"a program may do this only for a session that has a name here");
	return decider_check(&who, r->session, r->has_claude_session ? &r->claude_session : NULL, err);
}

static enum status check_rule(const struct rule *r, const struct permission *p, struct err *err)
{
	if (r->decision == RULE_ALLOW && !permission_may_allow(p, p->tool))
		return err_fail(err, STATUS_USAGE, "'%.*s' asks a person, and no rule can answer for one",
				STR_ARG(p->tool));
	if (r->message.p && r->decision != RULE_DENY)
		return err_fail(err, STATUS_USAGE, "a message is for rules that deny");
	if (r->message.n > LIMIT_NOTE)
		return err_fail(err, STATUS_LIMIT, "message: at most %zu bytes", LIMIT_NOTE);
	return r->created_by.n ? annotation_check_author(r->created_by, err) : STATUS_OK;
}

static enum status delete_rule(struct call *c, struct str id, struct err *err)
{
	struct rule r;

	if (rule_find(c->store, id, &c->mem, &r, err) ||
	    check_program(c, &r, r.decision != RULE_ALLOW, err) || rule_remove(c->store, &r, err))
		return err_failed(err->status);
	put_rule(call_begin(c), &r, &c->mem);
	return call_emit(c, err);
}

static enum status run_add(struct call *c, struct err *err)
{
	struct rule r = { .decision = decision_of(call_text(c, "decision")),
			  .message = call_text(c, "message"),
			  .session_name = call_text(c, "session"),
			  .created_by = call_text(c, "author") };
	struct json_writer *w;
	struct permission p;
	int64_t answered;

	if (call_flag(c, "delete"))
		return delete_rule(c, call_text(c, "rule"), err);
	if (!call_text(c, "decision").p)
		return err_fail(err, STATUS_USAGE, "what is answered? arbor rule RULE allow|deny|ask");
	if (permission_read(call_text(c, "rule"), &p, err) || check_rule(&r, &p, err) ||
	    asked_session(c, &r.session, err) || check_program(c, &r, r.decision == RULE_ALLOW, err))
		return err_failed(err->status);
	r.tool = p.tool;
	r.pattern = p.pattern;
	if (call_int(c, "minutes"))
		r.expires_at = store_now(c->store) + call_int(c, "minutes") * 60000;
	if (rule_add(c->store, &r, err) || question_apply_rules(c->store, asked_home(), &answered, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_rule(w, &r, &c->mem);
	put_int(w, "answered", answered);
	return call_emit(c, err);
}

const struct method loopback_rule_add = {
	.name = "rule_add",
	.verb = "rule",
	.group = "agents",
	.summary = "Answer tools without asking: allow, deny, or ask in any case",
	.text = "Rules look like those of Claude Code. A rule that allows means only what it surely means: "
		"nothing that could be "
		"another command behind the one it names, and no link that leads elsewhere. A rule that "
		"denies also means what "
		"plainly hides the same. It helps against mistakes; it is no wall against a program that "
		"wants to "
		"get around it.\n\n"
		"It answers what waits just now, too. --delete takes one away.\n",
	.params = add_params,
	.kind = RESULT_ONE,
	.fields = add_fields,
	.scope = SCOPE_APPROVE,
	.need = NEED_STORE_MADE,
	.examples = (const struct example[]){ { "rule 'Bash(git status)' allow",
						"this command and no other" },
					      { "rule 'Bash(git push *)' deny -m 'ask me first'", "never" },
					      { "rule 'Edit(src/**)' allow --session fix-tests",
						"in one session" },
					      { "rule --delete 4e1e0000", "take one away" },
					      { 0 } },
	.run = run_add,
};

/* ---- loopback.rule_delete ----------------------------------------------------- */

static const struct param delete_params[] = {
	{ .name = "rule",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "ID",
	  .names = "loopback.rules",
	  .help = "the rule" },
	{ 0 },
};

static enum status run_delete(struct call *c, struct err *err)
{
	return delete_rule(c, call_text(c, "rule"), err);
}

const struct method loopback_rule_delete = {
	.name = "rule_delete",
	.summary = "Take a rule away",
	.text = "The same as rule_add with 'delete'. What it has answered stays answered.\n",
	.params = delete_params,
	.kind = RESULT_ONE,
	.fields = rule_fields,
	.scope = SCOPE_APPROVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call loopback.rule_delete 4e1e0000", "by its id" }, { 0 } },
	.run = run_delete,
};
