/*
 * Sessions with a name, as parameters make them and results show them: for all methods that make or change
 * one.
 */
#include "hub/naming.h"

#include "live/resume.h"

const char *const naming_switches[] = { "on", "off", NULL };

enum { MODE_DEFAULT, MODE_ACCEPT_EDITS, MODE_PLAN, MODE_BYPASS, MODE_DONT_ASK, MODE_AUTO, MODES };

const char *const permission_modes[] = {
	[MODE_DEFAULT] = "default",
	[MODE_ACCEPT_EDITS] = "acceptEdits",
	[MODE_PLAN] = "plan",
	[MODE_BYPASS] = "bypassPermissions",
	[MODE_DONT_ASK] = "dontAsk",
	[MODE_AUTO] = "auto",
	[MODES] = NULL,
};

/* How much tools may do in it without a question; 'dontAsk' means that the answer is no. */
static const int freedom[MODES] = {
	[MODE_PLAN] = 0,	 [MODE_DONT_ASK] = 1, [MODE_DEFAULT] = 1,
	[MODE_ACCEPT_EDITS] = 2, [MODE_AUTO] = 3,     [MODE_BYPASS] = 4,
};

int permission_freedom(struct str mode)
{
	for (int i = 0; mode.p && i < MODES; i++)
		if (str_eq(mode, str_of(permission_modes[i])))
			return freedom[i];
	return freedom[MODE_DEFAULT]; /* none was said */
}

const struct field named_fields[] = { NAMED_FIELDS, { 0 } };

void put_named(struct json_writer *w, const struct named *n)
{
	put_text(w, "name", n->name);
	put_uuid(w, "id", &n->id);
	put_text_if(w, "model", n->settings.model);
	put_time(w, "updated", n->updated_at);
	put_time(w, "created", n->created_at);
	put_text_if(w, "permission_mode", n->settings.permission_mode);
	if (n->has_origin)
		put_uuid(w, "made_of", &n->origin);
	put_text_if(w, "system_prompt", n->settings.system_prompt);
	put_json_if(w, "mcp_config", n->settings.mcp_config);
	put_json_if(w, "allowed_tools", n->settings.allowed_tools);
	put_json_if(w, "disallowed_tools", n->settings.disallowed_tools);
	put_bool(w, "loopback", n->settings.loopback);
	put_json_if(w, "metadata", n->settings.metadata);
	if (n->head.has_head)
		put_uuid(w, "head", &n->head.head);
	if (n->head.has_session)
		put_uuid(w, "claude_session_id", &n->head.session);
	put_path(w, "working_dir", n->settings.working_dir);
}

enum status emit_named(struct call *c, struct str name, struct err *err)
{
	struct named n;

	if (named_find(c->store, name, &c->mem, &n, err) || resume_head(c->store, &n, &n.head, err))
		return err_failed(err->status);
	put_named(call_begin(c), &n);
	return call_emit(c, err);
}

bool naming_loosens(const struct named_settings *s)
{
	return s->allowed_tools.p || s->mcp_config.p ||
	       permission_freedom(s->permission_mode) > freedom[MODE_DEFAULT];
}
