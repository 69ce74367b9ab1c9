/*
 * memory.agents: the sub-agents of a conversation.
 */
#include "hub/memory_find.h"

#include "hub/grown.h"
#include "hub/handle_node.h"
#include "hub/memory_agents.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "query/forest_load.h"

static const struct param agent_params[] = {
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .initial = PARAM_LAST_SESSION,
	  .shown = "SESSION",
	  .names = "memory.sessions",
	  .help = "a session, or anything in it" },
	{ .name = "all",
	  .type = VALUE_BOOL,
	  .letter = 'a',
	  .help = "also those the client starts to warm up" },
	{ 0 },
};

const struct field agent_fields[] = {
	{ .name = "agent",
	  .type = VALUE_TEXT,
	  .flags = FIELD_KEY,
	  .help = "its id; of an inline one its first line" },
	HANDLE_FIELD(""),
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "whose it is" },
	{ .name = "started",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "first line" },
	{ .name = "messages", .type = VALUE_INT, .title = "msgs", .help = "of either side" },
	{ .name = "tools", .type = VALUE_INT, .help = "calls of tools" },
	{ .name = "type",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "of the agent, where the client says it" },
	{ .name = "tool_id",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the call that asked for it, where that is known" },
	{ .name = "warmup",
	  .type = VALUE_BOOL,
	  .flags = FIELD_HIDDEN,
	  .help = "started by the client alone" },
	{ .name = "root", .type = VALUE_ID, .flags = FIELD_HIDDEN | FIELD_OPTIONAL, .help = "uuid of its first line" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_HIDDEN | FIELD_OPTIONAL, .help = "its file" },
	{ .name = "prompt", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what it was asked" },
	{ 0 },
};

void put_subagent(struct json_writer *w, const struct forest *f, const struct subagent *a)
{
	const struct forest_message *root = &f->messages[a->root];
	const struct forest_source *source = &f->sources[root->source];
	const struct chain_line *first = forest_line(f, root->first);
	struct node_handle handle = handle_of_agent(a->name, &source->session.id);

	put_text(w, "agent", a->name);
	put_handle(w, &handle);
	put_uuid(w, "session", &source->session.id);
	if (first->at)
		put_time(w, "started", first->at);
	put_int(w, "messages", a->messages);
	put_int(w, "tools", a->tools);
	if (a->type.n)
		put_text(w, "type", a->type);
	if (a->call.n)
		put_text(w, "tool_id", a->call);
	put_bool(w, "warmup", a->warmup);
	put_uuid(w, "root", &first->key);
	if (!a->is_inline && !source->embedded)
		put_path(w, "path", source->session.path);
	put_text(w, "prompt", a->prompt);
}

static enum status emit_agent(struct call *c, const struct forest *f, const struct subagent *a, struct err *err)
{
	if (a->warmup && !call_flag(c, "all"))
		return STATUS_OK;
	put_subagent(call_begin(c), f, a);
	return call_emit(c, err);
}

static enum status run_agents(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct forest forest CLEANUP(forest_release) = FOREST_INIT;
	struct subagents agents;
	struct resolved what;
	uint32_t source;

	if (read_begin(c->store, &snapshot, err) ||
	    resolve_id(c->store, call_text(c, "session"), &c->mem, &what, err) ||
	    forest_load(c->store, what.session.row, &forest, &source, err))
		return err_failed(err->status);
	warn_unread(c);
	if (!warn_grown(c, &forest))
		warn_grown_here(c);
	if (subagents_find(c, &forest, &agents, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < agents.count; i++)
		if (emit_agent(c, &forest, &agents.list[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

const struct method memory_agents = {
	.name = "agents",
	.verb = "agents",
	.also = "subagents",
	.group = "about",
	.summary = "List the sub-agents of a conversation",
	.text = "Those with files of their own, those told in progress lines, and those old clients wrote "
		"into the "
		"conversation itself. Forks and copies of the conversation share them.\n",
	.params = agent_params,
	.kind = RESULT_STREAM,
	.fields = agent_fields,
	.empty = "this conversation has no sub-agents",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "agents 79f2f12c", "of a conversation" },
					      { "agents 79f2f12c --json",
						"with the call that asked for each" },
					      { 0 } },
	.run = run_agents,
};
