/*
 * claudecode.create, adopt, get, list, rename, delete, set_model, set_mode: sessions with a name, which
 * agents work in.
 */
#include "hub/claudecode_methods.h"

#include "hub/commanded.h"
#include "hub/decider.h"
#include "hub/naming.h"
#include "hub/resolve.h"
#include "live/lease.h"
#include "live/resume.h"
#include "query/head.h"
#include "store/run.h"

#define SESSION_PARAM \
	{ \
		.name = "session", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD, \
		.shown = "SESSION", .names = "claudecode.list", \
		.help = "its name or id, or how either begins" \
	}

/* ---- create --------------------------------------------------------------------- */

static const struct param create_params[] = {
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "NAME",
	  .help = "what it is called" },
	{ .name = "working_dir",
	  .type = VALUE_PATH,
	  .initial = ".",
	  .shown = "FOLDER",
	  .help = "where its agents work" },
	MODEL_PARAM,
	{ .name = "system_prompt",
	  .type = VALUE_TEXT,
	  .flags = PARAM_INPUT | PARAM_PRIVATE,
	  .help = "instead of the client's own; '-' reads standard input" },
	{ .name = "mcp_config",
	  .type = VALUE_JSON,
	  .flags = PARAM_INPUT | PARAM_PRIVATE,
	  .help = "MCP servers, as the client's --mcp-config takes them; '-' reads standard input" },
	{ .name = "allowed_tools",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REST,
	  .shown = "TOOL",
	  .help = "needs no permission" },
	{ .name = "disallowed_tools",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REST,
	  .shown = "TOOL",
	  .help = "is not there" },
	MODE_PARAM,
	LOOPBACK_PARAM,
	{ .name = "metadata", .type = VALUE_JSON, .help = "whatever you want to remember" },
	{ 0 },
};

static enum status run_create(struct call *c, struct err *err)
{
	struct named_new what = {
		.name = call_text(c, "name"),
		.agent = STR("claude"),
		.settings = { .working_dir = call_real_path(c, call_text(c, "working_dir")),
			      .model = call_text(c, "model"),
			      .system_prompt = call_text(c, "system_prompt"),
			      .mcp_config = call_text(c, "mcp_config"),
			      .allowed_tools = call_names(c, "allowed_tools"),
			      .disallowed_tools = call_names(c, "disallowed_tools"),
			      .permission_mode = call_text(c, "permission_mode"),
			      .loopback = str_eq(call_text(c, "loopback"), STR("on")),
			      .metadata = call_text(c, "metadata") },
	};
	struct uuid id;

	if (!what.settings.working_dir.p)
		return err_fail(err, STATUS_NOT_FOUND, "there is no folder '%.*s'",
				(int)size_min(call_text(c, "working_dir").n, 200),
				call_text(c, "working_dir").p);
	if ((naming_loosens(&what.settings) && decider_may_loosen(c, 0, NULL, err)) ||
	    named_create(c->store, &what, &id, err))
		return err_failed(err->status);
	return emit_named(c, what.name, err);
}

const struct method claudecode_create = {
	.name = "create",
	.verb = "new",
	.also = "create",
	.group = "agents",
	.summary = "Make a session that agents work in",
	.text = "A name for a conversation with Claude Code that is continued prompt by prompt: "
		"'arbor chat'. It remembers "
		"the folder, the model and what tools may do.\n\n"
		"Where it lets tools run unasked, or starts servers, a program needs the scope 'approve', "
		"too.\n",
	.params = create_params,
	.kind = RESULT_ONE,
	.fields = named_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE_MADE,
	.examples = (const struct example[]){ { "new docs --model sonnet", "in the folder you are in" },
					      { 0 } },
	.run = run_create,
};

/* ---- adopt ---------------------------------------------------------------------- */

static const struct param adopt_params[] = {
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "NAME",
	  .help = "what it is called from now on" },
	{ .name = "conversation",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "SESSION",
	  .names = "memory.sessions",
	  .help = "the mirrored one, as 'arbor show' takes it" },
	{ .name = "working_dir",
	  .type = VALUE_PATH,
	  .shown = "FOLDER",
	  .help = "where its agents work; left out: where it did" },
	MODEL_PARAM,
	MODE_PARAM,
	LOOPBACK_PARAM,
	{ 0 },
};

static enum status run_adopt(struct call *c, struct err *err)
{
	struct str folder = call_text(c, "working_dir");
	struct named_new what = { .name = call_text(c, "name"), .agent = STR("claude") };
	struct session of;
	struct uuid id;

	if (resolve_session(c->store, call_text(c, "conversation"), &c->mem, &of, err))
		return err_failed(err->status);
	if (of.agent.n || of.old)
		return err_fail(err, STATUS_USAGE, "only a conversation can be continued, not a sub-agent's");
	what.settings = (struct named_settings){ .working_dir = call_real_path(c, folder.p ? folder
											   : of.project),
						 .model = call_text(c, "model"),
						 .permission_mode = call_text(c, "permission_mode"),
						 .loopback = str_eq(call_text(c, "loopback"), STR("on")) };
	if (head_of_session(c->store, &of.id, &what.head, err))
		return err_failed(err->status);
	what.origin = &of.id;
	if (!what.settings.working_dir.p)
		return err_fail(err, STATUS_NOT_FOUND,
				"the folder it worked in is not here: %.*s; --working-dir names another",
				(int)size_min(of.project.n, 200), of.project.p ? of.project.p : "");
	if ((naming_loosens(&what.settings) && decider_may_loosen(c, 0, &of.id, err)) ||
	    resume_share(c->store, &of.id, err) || named_create(c->store, &what, &id, err))
		return err_failed(err->status);
	return emit_named(c, what.name, err);
}

const struct method claudecode_adopt = {
	.name = "adopt",
	.verb = "adopt",
	.group = "agents",
	.summary = "Give a mirrored session a name, and go on with it",
	.text = "The next prompt ('arbor chat NAME') follows the last message of that conversation, in its "
		"folder. "
		"The client has to have its file still: what it has deleted, 'arbor export' can write "
		"back.\n",
	.params = adopt_params,
	.kind = RESULT_ONE,
	.fields = named_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "adopt shop @ --working-dir /tmp",
						"the one last touched, in another folder" },
					      { 0 } },
	.run = run_adopt,
};

/* ---- get, list ------------------------------------------------------------------ */

static const struct param one_params[] = { SESSION_PARAM, { 0 } };

static enum status run_get(struct call *c, struct err *err)
{
	return emit_named(c, call_text(c, "session"), err);
}

const struct method claudecode_get = {
	.name = "get",
	.summary = "Show a named session",
	.text = "With all it was made with, and where its next prompt goes.\n",
	.params = one_params,
	.kind = RESULT_ONE,
	.fields = named_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.get fix-tests", "by its name" }, { 0 } },
	.run = run_get,
};

static enum status list_one(void *ctx, const struct named *n, struct err *err)
{
	struct call *c = ctx;
	struct named now = *n;

	if (resume_head(c->store, n, &now.head, err))
		return err_failed(err->status);
	put_named(call_begin(c), &now);
	return call_emit(c, err);
}

static enum status run_list(struct call *c, struct err *err)
{
	return named_each(c->store, list_one, c, err);
}

const struct method claudecode_list = {
	.name = "list",
	.verb = "chats",
	.group = "agents",
	.summary = "List named sessions",
	.text = "By name. What was only mirrored is in 'arbor list'.\n",
	.params = NULL,
	.kind = RESULT_STREAM,
	.fields = named_fields,
	.empty = "no session was made yet; 'arbor chat NAME PROMPT' makes one",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "chats", "all of them" }, { 0 } },
	.run = run_list,
};

/* ---- rename, delete ------------------------------------------------------------- */

static const struct param rename_params[] = {
	SESSION_PARAM,
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "NAME",
	  .help = "what it is called from now on" },
	{ 0 },
};

static enum status run_rename(struct call *c, struct err *err)
{
	struct named n;

	if (named_find(c->store, call_text(c, "session"), &c->mem, &n, err) || resume_follow(c->store, &n, err) ||
	    named_rename(c->store, &n, call_text(c, "name"), err))
		return err_failed(err->status);
	return emit_named(c, call_text(c, "name"), err);
}

const struct method claudecode_rename = {
	.name = "rename",
	.verb = "rename",
	.also = "mv",
	.under = "chats",
	.group = "agents",
	.summary = "Give a named session another name",
	.text = "Its streams and its conversation stay with it, also while it is at work.\n",
	.params = rename_params,
	.kind = RESULT_ONE,
	.fields = named_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "rename fix-tests fix-clock",
						"from the old to the new" },
					      { 0 } },
	.run = run_rename,
};

/* Whoever wants to be rid of a conversation that nobody gave a name. */
static enum status no_name(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct str text = call_text(c, "session");
	struct resolved r;
	struct err ignored;

	if (err->status == STATUS_NOT_FOUND && !read_begin(c->store, &snapshot, &ignored) &&
	    !resolve_id(c->store, text, &c->mem, &r, &ignored))
		return err_fail(err, STATUS_NOT_FOUND,
				"no session is called '%.*s'; it is %s conversation: 'arbor purge %.*s' removes "
				"it from the store",
				STR_ARG(text), r.is_session ? "the id of a" : "in a", STR_ARG(text));
	return err_failed(err->status);
}

static enum status run_delete(struct call *c, struct err *err)
{
	struct named n;

	if (named_find(c->store, call_text(c, "session"), &c->mem, &n, err))
		return no_name(c, err);
	if (named_delete(c->store, &n, err))
		return err_failed(err->status);
	put_named(call_begin(c), &n);
	return call_emit(c, err);
}

const struct method claudecode_delete = {
	.name = "delete",
	.verb = "delete",
	.also = "rm remove del",
	.under = "chats",
	.group = "agents",
	.summary = "Let a named session go; what was said in it stays",
	.text = "The name is free again, and what the session was made with is forgotten. What was said stays: its "
		"streams here, its conversation where it was mirrored, which 'arbor adopt' can give a name again and "
		"'arbor purge' deletes. One that is at work has to end first.\n",
	.params = one_params,
	.kind = RESULT_ONE,
	.fields = named_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "delete fix-tests", "by its name" }, { 0 } },
	.run = run_delete,
};

/* ---- set_model, set_mode --------------------------------------------------------- */

static const struct param model_params[] = {
	SESSION_PARAM,
	{ .name = "model",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "MODEL",
	  .help = "who answers from now on: opus, sonnet, or a whole name" },
	{ 0 },
};

static const struct param mode_params[] = {
	SESSION_PARAM,
	{ .name = "mode",
	  .type = VALUE_ENUM,
	  .choices = permission_modes,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .help = "what tools may do without being asked for from now on" },
	{ 0 },
};

/* To the agent that is at work, if one is; and kept for the next. One that does not want it keeps both as
 * they were. */
static enum status set(struct call *c, const char *verb, struct str value, const struct named_settings *what,
		       struct err *err)
{
	struct buf json CLEANUP(buf_release) = BUF_INIT(MIB);
	enum status status = STATUS_OK;
	bool at_work, done;
	struct json_writer w;
	struct uuid stream;
	struct named n;
	struct run run;

	if (named_find(c->store, call_text(c, "session"), &c->mem, &n, err) ||
	    lease_look_after_all(c->store, err) ||
	    run_of_session(c->store, n.row, &c->mem, &run, &at_work, err))
		return err_failed(err->status);
	json_write_init(&w, &json, 0);
	json_write_string(&w, value);
	if (at_work || c->state)
		status = command_give(c, n.name, verb, buf_as_str(&json), &stream, &done, err);
	if (status)
		return status;
	if (resume_follow(c->store, &n, err) || named_set(c->store, n.row, what, err))
		return err_failed(err->status);
	return emit_named(c, n.name, err);
}

static enum status run_set_model(struct call *c, struct err *err)
{
	struct str model = call_text(c, "model");

	return set(c, "set_model", model, &(struct named_settings){ .model = model }, err);
}

const struct method claudecode_set_model = {
	.name = "set_model",
	.verb = "model",
	.also = "models",
	.group = "agents",
	.summary = "Have another model answer in a session",
	.text = "From now on: an agent at work takes it with its next request, that of an older client with its next "
		"turn.\n",
	.params = model_params,
	.kind = RESULT_ONE,
	.fields = named_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "model fix-tests opus",
						"by its short name" },
					      { 0 } },
	.run = run_set_model,
};

static enum status run_set_mode(struct call *c, struct err *err)
{
	struct str mode = call_text(c, "mode");
	struct named n;

	if (named_find(c->store, call_text(c, "session"), &c->mem, &n, err) ||
	    (permission_freedom(mode) > permission_freedom(n.settings.permission_mode) &&
	     decider_may_loosen(c, n.row, n.head.has_session ? &n.head.session : NULL, err)))
		return err_failed(err->status);
	return set(c, "set_mode", mode, &(struct named_settings){ .permission_mode = mode }, err);
}

const struct method claudecode_set_mode = {
	.name = "set_mode",
	.verb = "mode",
	.also = "permissions permission-mode",
	.group = "agents",
	.summary = "Say what the tools of a session may do without being asked for",
	.text = "From now on, in the turn that is going on, too. 'default' asks for what changes something, "
		"'acceptEdits' lets files be changed, 'plan' lets nothing be. 'bypassPermissions' asks for "
		"nothing, "
		"and an agent at work takes it only if it was started with it.\n\n"
		"To let tools do more than before, a program needs the scope 'approve', too; an agent cannot "
		"say so for "
		"itself.\n",
	.params = mode_params,
	.kind = RESULT_ONE,
	.fields = named_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "mode fix-tests plan", "only plans from now on" }, { 0 } },
	.run = run_set_mode,
};
