/*
 * loopback.respond, configure: answering, and how questions get here.
 *
 * Who answers is a person at a terminal, or a program. A program may answer only for sessions that have a
 * name here, and an agent never for itself.
 */
#include "hub/loopback_methods.h"

#include "claude/permission.h"
#include "hub/asked.h"
#include "hub/decider.h"
#include "hub/hub.h"
#include "live/question.h"
#include "store/annotation.h"

/* ---- loopback.respond --------------------------------------------------------- */

enum { ALWAYS_SESSION, ALWAYS_EVERYWHERE };

static const char *const always_choices[] = {
	[ALWAYS_SESSION] = "session",
	[ALWAYS_EVERYWHERE] = "everywhere",
	NULL,
};

static const struct param respond_params[] = {
	{ .name = "approval",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "ID",
	  .names = "loopback.pending",
	  .help = "the question" },
	{ .name = "decision",
	  .type = VALUE_ENUM,
	  .choices = approval_decision_names,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .help = "allow or deny" },
	{ .name = "input",
	  .type = VALUE_JSON,
	  .flags = PARAM_INPUT,
	  .help = "with allow: what is to run instead, all of the tool's input; '-' reads standard input" },
	{ .name = "answers",
	  .type = VALUE_JSON,
	  .help = "with allow, of a question to a person: what they say, by question" },
	{ .name = "message", .type = VALUE_TEXT, .letter = 'm', .help = "with deny: why, for the model" },
	{ .name = "interrupt", .type = VALUE_BOOL, .help = "with deny: the turn ends, too" },
	{ .name = "always",
	  .type = VALUE_ENUM,
	  .choices = always_choices,
	  .flags = PARAM_BARE,
	  .help = "answer the same from now on without asking, in this session or everywhere" },
	{ .name = "pattern",
	  .type = VALUE_TEXT,
	  .help = "with always: for all that this means, as in 'git *'; '*': whatever the tool wants; "
		  "left out: for exactly this" },
	{ .name = "author", .type = VALUE_TEXT, .setting = "author", .help = "who answers" },
	{ 0 },
};

static const struct field respond_fields[] = {
	ASKED_FIELDS,
	{ .name = "rule_made",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "the rule that answers from now on" },
	{ .name = "also_answered",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "others that waited, and were answered by that rule" },
	{ 0 },
};

/* The input with what a person said to its questions. */
static enum status add_answers(struct call *c, const struct approval *a, struct str answers, struct str *out,
			       struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct json_writer w;

	if (json_read(&j, a->input, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	json_write_init(&w, &text, 0);
	json_write_object_begin(&w);
	for (uint32_t k = json_first(&j, 0); k != json_end(&j, 0) && json_is(&j, 0, JSON_OBJECT);
	     k = json_next(&j, k + 1))
		if (!json_string_eq(&j, k, STR("answers"))) {
			json_write_key(&w, json_string_in(&j, k, &c->mem));
			json_copy(&w, &j, k + 1);
		}
	json_write_key(&w, STR("answers"));
	json_write_raw(&w, answers);
	json_write_object_end(&w);
	if (json_write_done(&w, err))
		return err_failed(err->status);
	*out = arena_str(&c->mem, buf_as_str(&text));
	return STATUS_OK;
}

static enum status read_input(struct call *c, const struct approval *a, struct approval_answer *answer,
			      struct err *err)
{
	struct str input = asked_json(c, "input"), answers = asked_json(c, "answers");

	if ((input.p && answers.p) || (input.p && !str_has_prefix(input, STR("{"))) ||
	    (answers.p && !str_has_prefix(answers, STR("{"))))
		return err_fail(err, STATUS_USAGE, "input or answers, not both, and each is a JSON object");
	if (answers.p)
		return add_answers(c, a, answers, &answer->edited_input, err);
	answer->edited_input = input;
	if (answer->decision == APPROVAL_ALLOW && !input.p && permission_is_question(a->tool_name))
		return err_fail(err, STATUS_USAGE,
				"it asks a person something: say what with --answers "
				"'{\"the question\":\"the answer\"}'");
	return STATUS_OK;
}

static enum status read_answer(struct call *c, const struct approval *a, const struct decider *who,
			       struct approval_answer *out, struct err *err)
{
	struct str author = call_text(c, "author");

	*out = (struct approval_answer){
		.by = who->person ? APPROVAL_BY_PERSON : APPROVAL_BY_PROGRAM,
		.decision = str_eq(call_text(c, "decision"), STR("allow")) ? APPROVAL_ALLOW : APPROVAL_DENY,
		.by_name = author.n ? author : (struct str){ 0 },
		.message = call_text(c, "message"),
		.interrupt = call_flag(c, "interrupt"),
	};
	if (out->message.n > LIMIT_NOTE)
		return err_fail(err, STATUS_LIMIT, "message: at most %zu bytes", LIMIT_NOTE);
	if (author.n && annotation_check_author(author, err))
		return err_failed(err->status);
	return read_input(c, a, out, err)
		       ? err_failed(err->status)
		       : decider_check(who, a->session, a->has_claude_session ? &a->claude_session : NULL,
				       err);
}

/* The rule that "always" means; `rule->tool` stays empty without it. */
static enum status read_rule(struct call *c, const struct approval *a, const struct approval_answer *answer,
			     struct rule *rule, struct err *err)
{
	struct str always = call_text(c, "always"), pattern = call_text(c, "pattern");
	struct permission p = { a->tool_name, pattern };
	bool everywhere = str_eq(always, str_of(always_choices[ALWAYS_EVERYWHERE]));

	*rule = (struct rule){ .decision = answer->decision == APPROVAL_ALLOW ? RULE_ALLOW : RULE_DENY,
			       .message = answer->message,
			       .created_by = answer->by_name };
	if (!always.p)
		return pattern.p ? err_fail(err, STATUS_USAGE, "a pattern is for --always") : STATUS_OK;
	if (permission_is_for_once(a->tool_name))
		return err_fail(err, STATUS_USAGE, "what a person is asked cannot be answered always");
	if (answer->edited_input.p)
		return err_fail(err, STATUS_USAGE, "what was changed by hand can not be allowed always");
	if (!everywhere && !a->session && !a->has_claude_session)
		return err_fail(err, STATUS_USAGE,
				"which session asks is not known; --always=everywhere, or once");
	if (everywhere && answer->by != APPROVAL_BY_PERSON && answer->decision == APPROVAL_ALLOW)
		return err_fail(err, STATUS_DENIED, "a program may allow something always only in a session");
	if (str_eq(pattern, STR("*")))
		p.pattern = (struct str){ 0 };
	if (pattern.p ? permission_check(&p, err) : question_rule(a, asked_home(), &c->mem, &p, err))
		return err_failed(err->status);
	rule->tool = p.tool;
	rule->pattern = p.pattern;
	rule->session = everywhere ? 0 : a->session;
	rule->has_claude_session = !everywhere && !a->session;
	rule->claude_session = a->claude_session;
	return STATUS_OK;
}

static enum status run_respond(struct call *c, struct err *err)
{
	struct approval_answer answer;
	struct decider who;
	struct json_writer *w;
	int64_t others = 0;
	struct approval a;
	struct rule rule;

	if (question_look_after(c->store, err) ||
	    approval_find(c->store, call_text(c, "approval"), &c->mem, &a, err) ||
	    decider_find(c, &who, err) || read_answer(c, &a, &who, &answer, err) ||
	    read_rule(c, &a, &answer, &rule, err) ||
	    question_answer(c->store, &a, &answer, rule.tool.n ? &rule : NULL, asked_home(), &c->mem, err) ||
	    (rule.tool.n && question_apply_rules(c->store, asked_home(), &others, err)))
		return err_failed(err->status);
	w = call_begin(c);
	put_approval(w, &a, &c->mem);
	if (rule.tool.n) {
		put_uuid(w, "rule_made", &rule.id);
		put_int(w, "also_answered", others);
	}
	return call_emit(c, err);
}

const struct method loopback_respond = {
	.name = "respond",
	.verb = "answer",
	.under = "approvals",
	.group = "agents",
	.summary = "Answer a tool that wants to run: allow or deny",
	.text = "The first answer counts; whoever comes later is told who was first. With --input something "
		"else runs than was "
		"asked for, and only this record says so: the client's own keeps what the model wanted.\n\n"
		"--always makes a rule of it ('arbor rules'), which also answers what waits just now. It is "
		"for exactly this command, file, folder or search, unless --pattern says more; of other "
		"tools no "
		"rule says so much, and --pattern has to. A plan is approved by itself.\n\n"
		"A program, and an agent that runs this command, can answer only for sessions that have a "
		"name here, and never "
		"for itself.\n",
	.params = respond_params,
	.kind = RESULT_ONE,
	.fields = respond_fields,
	.scope = SCOPE_APPROVE,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "approvals answer a5ced000 allow", "let it run" },
			{ "answer a5ced000 deny -m 'use the staging server'", "not so; the model hears why" },
			{ "answer a5ced000 allow --input '{\"command\":\"npm test -- --dry-run\"}'",
			  "something else instead" },
			{ "answer a5ced000 allow --always --pattern 'npm test *'",
			  "and all like it in this session" },
			{ 0 } },
	.run = run_respond,
};

/* ---- loopback.configure ------------------------------------------------------- */

static const struct param configure_params[] = {
	{ .name = "command", .type = VALUE_TEXT, .initial = "arbor", .help = "how the client finds arbor" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .shown = "SESSION",
	  .help = "for a session that has a name here" },
	{ 0 },
};

#define SERVER "arbor"
#define TOOL   "mcp__" SERVER "__permit"

static const struct field configure_fields[] = {
	{ .name = "mcp_config",
	  .type = VALUE_JSON,
	  .help = "for the client's --mcp-config, or its file .mcp.json" },
	{ .name = "permission_prompt_tool",
	  .type = VALUE_TEXT,
	  .help = "for the client's --permission-prompt-tool" },
	{ .name = "arguments",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST,
	  .help = "both, as they follow 'claude -p'" },
	{ 0 },
};

static enum status write_config(struct call *c, struct buf *out, struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	json_write_key(&w, STR("mcpServers"));
	json_write_object_begin(&w);
	json_write_key(&w, STR(SERVER));
	json_write_object_begin(&w);
	put_text(&w, "command", call_text(c, "command"));
	json_write_key(&w, STR("args"));
	json_write_array_begin(&w);
	json_write_string(&w, STR("mcp"));
	json_write_string(&w, STR("--approve"));
	if (call_text(c, "session").p) {
		json_write_string(&w, STR("--session"));
		json_write_string(&w, call_text(c, "session"));
	}
	json_write_array_end(&w);
	json_write_object_end(&w);
	json_write_object_end(&w);
	json_write_object_end(&w);
	return json_write_done(&w, err);
}

static enum status run_configure(struct call *c, struct err *err)
{
	struct buf config CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct json_writer *w;

	if (write_config(c, &config, err))
		return err_failed(err->status);
	w = call_begin(c);
	json_write_key(w, STR("mcp_config"));
	json_write_raw(w, buf_as_str(&config));
	put_text(w, "permission_prompt_tool", STR(TOOL));
	json_write_key(w, STR("arguments"));
	json_write_array_begin(w);
	json_write_string(w, STR("--mcp-config"));
	json_write_string(w, buf_as_str(&config));
	json_write_string(w, STR("--permission-prompt-tool"));
	json_write_string(w, STR(TOOL));
	json_write_array_end(w);
	return call_emit(c, err);
}

const struct method loopback_configure = {
	.name = "configure",
	.summary = "Say how a client is told to ask Arbor for approvals",
	.text = "For clients that Arbor does not start. Their questions come through 'arbor mcp --approve', "
		"a server with one tool: "
		"it asks and waits. It cannot answer.\n",
	.params = configure_params,
	.kind = RESULT_ONE,
	.fields = configure_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call loopback.configure",
						"what 'claude -p' has to be given" },
					      { 0 } },
	.run = run_configure,
};
