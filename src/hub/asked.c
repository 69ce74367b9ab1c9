/*
 * Writing approvals and rules into results.
 */
#include "hub/asked.h"

#include "claude/permission.h"
#include "hub/handle_node.h"
#include "hub/handle_resolve.h"
#include "hub/where.h"
#include "store/named.h"

const struct field asked_fields[] = { ASKED_FIELDS, { 0 } };

static void put_time_if(struct json_writer *w, const char *key, int64_t at)
{
	if (at)
		put_time(w, key, at);
}

static struct str what_of(const struct approval *a, struct arena *mem)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str subject = { 0 };
	struct err ignored;

	if (json_read(&j, a->input, LIMIT_JSON_DEPTH, &ignored) == STATUS_OK)
		subject = permission_subject(a->tool_name, &j, mem);
	return subject.p ? arena_str(mem, subject) : a->input;
}

static void put_answer(struct json_writer *w, const struct approval *a)
{
	put_text(w, "decision", str_of(approval_decision_names[a->decision]));
	put_text(w, "by", str_of(approval_by_names[a->by]));
	put_text_if(w, "by_name", a->by_name);
	if (a->has_rule)
		put_uuid(w, "rule", &a->rule);
	put_json_if(w, "edited_input", a->edited_input);
	put_text_if(w, "message", a->message);
	if (a->interrupt)
		put_bool(w, "interrupt", true);
}

static void put_asker(struct json_writer *w, const struct approval *a)
{
	put_text_if(w, "tool_use_id", a->tool_use_id);
	put_text_if(w, "agent_id", a->agent_id);
	if (a->has_claude_session)
		put_uuid(w, "claude_session", &a->claude_session);
	if (a->cwd.p)
		put_path(w, "cwd", a->cwd);
	put_json_if(w, "suggestions", a->suggestions);
}

void put_approval(struct json_writer *w, const struct approval *a, struct arena *mem)
{
	struct node_handle handle = handle_of_approval(&a->id, a->tool_name);

	put_uuid(w, "id", &a->id);
	put_handle(w, &handle);
	put_text(w, "state", str_of(approval_state_names[a->state]));
	put_time(w, "asked", a->asked_at);
	put_text_if(w, "name", a->session_name);
	put_text(w, "tool", a->tool_name);
	put_text(w, "what", what_of(a, mem));
	put_json_if(w, "input", a->input);
	if (a->is_decided)
		put_answer(w, a);
	put_text_if(w, "void_reason", a->void_reason);
	put_asker(w, a);
	put_time_if(w, "expires", a->expires_at);
	put_time_if(w, "decided", a->decided_at);
	put_time_if(w, "delivered", a->delivered_at);
}

void put_rule(struct json_writer *w, const struct rule *r, struct arena *mem)
{
	put_uuid(w, "id", &r->id);
	put_text(w, "decision", str_of(rule_decision_names[r->decision]));
	put_text_if(w, "name", r->session_name);
	if (r->has_claude_session)
		put_uuid(w, "claude_session", &r->claude_session);
	put_text(w, "rule", permission_text(&(struct permission){ r->tool, r->pattern }, mem));
	put_text_if(w, "message", r->message);
	put_text_if(w, "created_by", r->created_by);
	put_time(w, "created", r->created_at);
	put_time_if(w, "expires", r->expires_at);
}

enum status asked_session(struct call *c, int64_t *row, struct err *err)
{
	struct named named = { 0 };

	if (call_text(c, "session").p && named_find(c->store, call_text(c, "session"), &c->mem, &named, err))
		return err_failed(err->status);
	*row = named.row;
	return STATUS_OK;
}

struct str asked_json(struct call *c, const char *name)
{
	struct str text = call_text(c, name);
	struct buf line CLEANUP(buf_release) = BUF_INIT(LIMIT_RPC_LINE);

	if (!text.p)
		return text;
	text = str_trim(text);
	for (size_t i = 0; i < text.n; i++) /* inside of strings they are escaped */
		buf_byte(&line, str_has_byte(STR("\n\r"), text.p[i]) ? ' ' : text.p[i]);
	return arena_str(&c->mem, buf_as_str(&line));
}

struct str asked_home(void)
{
	return str_of(env_text("HOME"));
}

enum status asked_resolve(struct resolving *r, struct err *err)
{
	struct str tool = handle_meta(r->handle, 1);
	struct uuid id = { 0 };
	struct approval a;

	uuid_parse(handle_meta(r->handle, 0), &id);
	if (approval_get(r->call->store, &id, r->mem, &a, err))
		return err_pass(err, "handle");
	if (tool.n && !str_eq(tool, a.tool_name))
		return err_fail(err, STATUS_FORMAT, "handle: this is about '%.*s' and not about '%.*s'",
				(int)size_min(a.tool_name.n, 60), a.tool_name.p, (int)size_min(tool.n, 60),
				tool.p);
	put_approval(r->w, &a, r->mem);
	return STATUS_OK;
}
