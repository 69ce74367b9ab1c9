/*
 * memory.agents: the sub-agents of a conversation.
 *
 * What asked for one is told in different places, by the client's version: the file of
 * facts beside its transcript, the result of the call, the progress line that carries its
 * messages; inline ones of old clients only by having the prompt of a call.
 */
#include "hub/memory_find.h"

#include "base/map.h"
#include "hub/call.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "query/forest_load.h"
#include "query/lines.h"
#include "store/find.h"

#include <string.h>

static const struct param agent_params[] = {
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_REQUIRED,
	  .shown = "SESSION",
	  .names = "memory.sessions",
	  .help = "a session, or anything in it" },
	{ .name = "all",
	  .type = VALUE_BOOL,
	  .letter = 'a',
	  .help = "also those the client starts to warm up" },
	{ 0 },
};

static const struct field agent_fields[] = {
	{ .name = "agent",
	  .type = VALUE_TEXT,
	  .flags = FIELD_KEY,
	  .help = "its id; of an inline one its first line" },
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
	{ .name = "root", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "uuid of its first line" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_HIDDEN | FIELD_OPTIONAL, .help = "its file" },
	{ .name = "prompt", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what it was asked" },
	{ 0 },
};

struct agent {
	struct str name;
	uint32_t root; /* message it begins with */
	bool is_inline;
	int64_t messages, tools;
};

struct listing {
	struct call *call;
	struct forest forest;
	uint32_t source;
	struct agent *agents;
	size_t count;
	struct map by_name; /* -> struct agent */
	struct map taken;   /* calls that have asked for an inline one */
};

static void listing_release(struct listing *l)
{
	map_release(&l->by_name);
	map_release(&l->taken);
	forest_release(&l->forest);
}

/* ---- Which ----------------------------------------------------------------------- */

static struct str name_of(struct listing *l, uint32_t message, uint32_t root)
{
	const struct forest *f = &l->forest;
	char text[UUID_TEXT + 1];

	if (f->sources[f->messages[message].source].agent.n)
		return f->sources[f->messages[message].source].agent;
	uuid_print(&forest_line(f, f->messages[root].first)->key, text);
	return arena_str(&l->call->mem, str_of(text));
}

static void gather(struct listing *l)
{
	const struct forest *f = &l->forest;
	uint32_t *roots = arena_alloc(&l->call->mem, (f->message_count + 1) * sizeof *roots);

	l->agents = arena_alloc(&l->call->mem, (f->message_count + 1) * sizeof *l->agents);
	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i], prev = f->messages[m].prev;
		struct agent *a;
		struct str name;

		roots[m] = prev == FOREST_NONE ? m : roots[prev];
		if (!f->messages[m].sidechain)
			continue;
		name = name_of(l, m, roots[m]);
		a = map_get(&l->by_name, name);
		if (!a) {
			a = &l->agents[l->count++];
			*a = (struct agent){ .name = name,
					     .root = roots[m],
					     .is_inline = !f->sources[f->messages[m].source].agent.n };
			map_put(&l->by_name, name, a);
		}
		a->messages++;
		for (uint32_t n = f->messages[m].first;
		     n != FOREST_NONE && f->messages[m].role == FOREST_ASSISTANT; n = f->nodes[n].next)
			a->tools += forest_line(f, n)->tool_count;
	}
}

/* ---- What asked for them ------------------------------------------------------------ */

/* What lines of the conversations say, by agent or by prompt. */
struct askers {
	struct map by_agent;  /* agent -> call, as struct str */
	struct map by_prompt; /* prompt -> struct prompt_call */
	struct map types;     /* agent -> type */
	struct arena mem;
};

struct prompt_call {
	struct str call;
	struct prompt_call *next;
};

static void askers_release(struct askers *a)
{
	map_release(&a->by_agent);
	map_release(&a->by_prompt);
	map_release(&a->types);
	arena_release(&a->mem);
}

static void note(struct map *m, struct arena *mem, struct str key, struct str value)
{
	struct str *kept;

	if (!key.n || !value.n || map_get(m, key))
		return;
	kept = arena_alloc(mem, sizeof *kept);
	*kept = arena_str(mem, value);
	map_put(m, arena_str(mem, key), kept);
}

static void note_prompt(struct askers *a, struct str prompt, struct str call)
{
	struct prompt_call *kept, *first;

	if (!prompt.n || !call.n)
		return;
	kept = arena_alloc(&a->mem, sizeof *kept);
	kept->call = arena_str(&a->mem, call);
	first = map_get(&a->by_prompt, prompt);
	if (!first) {
		map_put(&a->by_prompt, arena_str(&a->mem, prompt), kept);
		return;
	}
	while (first->next)
		first = first->next;
	first->next = kept;
}

static struct str text_in(const struct record_reader *r, uint32_t object, const char *key, struct arena *mem)
{
	return json_string_in(&r->json, json_get(&r->json, object, str_of(key)), mem);
}

static void read_line(struct askers *a, struct record_reader *r, const struct record *rec)
{
	const struct json *j = &r->json;
	uint32_t result = json_get(j, json_root(j), STR("toolUseResult"));
	struct str agent = text_in(r, result, "agentId", &a->mem);
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(r, rec, &at, &b)) {
		if (b.kind == BLOCK_TOOL_RESULT)
			note(&a->by_agent, &a->mem, agent, b.tool);
		if (b.kind == BLOCK_TOOL_USE)
			note_prompt(a, text_in(r, json_get(j, b.node, STR("input")), "prompt", &a->mem),
				    b.tool);
	}
	note(&a->types, &a->mem, agent, text_in(r, result, "agentType", &a->mem));
}

static bool may_tell(const struct chain_line *l)
{
	return l->tool_count && (l->type == RECORD_ASSISTANT || l->type == RECORD_USER);
}

/* Every line with calls or results, of every file but sub-agents' told elsewhere. */
static enum status read_askers(struct listing *l, struct askers *a, struct err *err)
{
	const struct forest *f = &l->forest;

	for (uint32_t s = 0; l->count && s < f->source_count; s++) {
		struct lines lines CLEANUP(lines_release) = { 0 };
		struct record rec;

		lines_init(&lines, l->call->store, &f->sources[s].session);
		for (uint32_t i = 0; !f->sources[s].embedded && i < f->sources[s].chain.line_count; i++) {
			if (!may_tell(&f->sources[s].chain.lines[i]))
				continue;
			if (call_is_cancelled(l->call))
				return err_fail(err, STATUS_CANCELLED, "stopped");
			if (lines_get(&lines, &f->sources[s].chain.lines[i], &rec, err))
				return err_failed(err->status);
			read_line(a, &lines.reader, &rec);
		}
	}
	return STATUS_OK;
}

/* The line of a file that these bytes are in. */
static const struct chain_line *line_around(const struct chain *c, int64_t offset)
{
	uint32_t low = 0, high = c->line_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (c->lines[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &c->lines[low - 1] : NULL;
}

/* Of one that was stopped there may be nothing but progress lines, which name the call. */
static enum status read_told(struct listing *l, struct askers *a, const struct forest_source *told, struct err *err)
{
	const struct forest *f = &l->forest;
	struct lines lines CLEANUP(lines_release) = { 0 };
	const struct chain_line *line = NULL;
	struct record rec;

	for (uint32_t s = 0; !line && told->chain.line_count && s < f->source_count; s++)
		if (!f->sources[s].embedded && f->sources[s].session.row == told->session.row)
			line = line_around(&f->sources[s].chain, told->chain.lines[0].offset);
	if (!line || map_get(&a->by_agent, told->agent))
		return STATUS_OK;
	lines_init(&lines, l->call->store, &told->session);
	if (lines_get(&lines, line, &rec, err))
		return err_failed(err->status);
	note(&a->by_agent, &a->mem, told->agent,
	     text_in(&lines.reader, json_root(&lines.reader.json), "parentToolUseID", &a->mem));
	return STATUS_OK;
}

/* ---- The file of facts beside a transcript ------------------------------------------- */

static enum status add_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

/* Missing or broken it says nothing. */
static enum status read_meta(struct listing *l, const struct session *session, struct askers *a,
			     struct str agent, struct err *err)
{
	enum { META_MOST = 1024 * 1024 };
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(META_MOST);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct source_info info;
	struct err ignored;
	struct str name = arena_printf(&mem, "%.*s:%.*s.meta.json", STR_ARG(session->root),
				       (int)(session->path.n - STR(".jsonl").n), session->path.p);

	if (source_find(l->call->store, name, &mem, &info, &ignored) != STATUS_OK || !info.generation)
		return STATUS_OK;
	if (archive_read(l->call->store, info.generation, 0, info.bytes < META_MOST ? info.bytes : 0,
			 add_bytes, &bytes, err))
		return err_failed(err->status);
	if (json_read(&j, buf_as_str(&bytes), LIMIT_JSON_DEPTH, &ignored) != STATUS_OK)
		return STATUS_OK;
	note(&a->by_agent, &a->mem, agent, json_string_in(&j, json_get(&j, 0, STR("toolUseId")), &a->mem));
	note(&a->types, &a->mem, agent, json_string_in(&j, json_get(&j, 0, STR("agentType")), &a->mem));
	return STATUS_OK;
}

/* ---- Results --------------------------------------------------------------------------- */

static struct str value_of(const struct map *m, struct str key)
{
	const struct str *v = map_get(m, key);

	return v ? *v : (struct str){ 0 };
}

/* Of several calls with one prompt the first that asked for no other. */
static struct str asked_inline(struct listing *l, const struct askers *a, struct str prompt)
{
	for (const struct prompt_call *p = prompt.n ? map_get(&a->by_prompt, prompt) : NULL; p; p = p->next)
		if (!map_get(&l->taken, p->call)) {
			map_put(&l->taken, p->call, l);
			return p->call;
		}
	return (struct str){ 0 };
}

static enum status first_text(struct listing *l, uint32_t message, struct buf *out, struct err *err)
{
	const struct forest *f = &l->forest;
	uint32_t n = f->messages[message].first;
	struct lines lines CLEANUP(lines_release) = { 0 };
	struct block_cursor at = { 0 };
	struct record_block b;
	struct record rec;

	lines_init(&lines, l->call->store, &f->sources[f->nodes[n].canon.source].session);
	if (lines_get(&lines, forest_line(f, n), &rec, err))
		return err_failed(err->status);
	if (record_block(&lines.reader, &rec, &at, &b))
		block_text(&lines.reader, &b, out);
	return STATUS_OK;
}

static enum status emit_agent(struct listing *l, const struct agent *a, const struct askers *askers,
			      struct err *err)
{
	const struct forest *f = &l->forest;
	const struct forest_message *root = &f->messages[a->root];
	const struct forest_source *source = &f->sources[root->source];
	struct buf prompt CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	struct str call, type = value_of(&askers->types, a->name);
	struct json_writer *w;
	bool warmup;

	if (first_text(l, a->root, &prompt, err))
		return err_failed(err->status);
	warmup = str_eq(buf_as_str(&prompt), STR("Warmup"));
	if (warmup && !call_flag(l->call, "all"))
		return STATUS_OK;
	call = a->is_inline ? asked_inline(l, askers, buf_as_str(&prompt))
			    : value_of(&askers->by_agent, a->name);
	record_prompt_title(buf_as_str(&prompt), &title);
	w = call_begin(l->call);
	put_text(w, "agent", a->name);
	if (forest_line(f, root->first)->at)
		put_time(w, "started", forest_line(f, root->first)->at);
	put_int(w, "messages", a->messages);
	put_int(w, "tools", a->tools);
	if (type.n)
		put_text(w, "type", type);
	if (call.n)
		put_text(w, "tool_id", call);
	put_bool(w, "warmup", warmup);
	put_uuid(w, "root", &forest_line(f, root->first)->key);
	if (!a->is_inline && !source->embedded)
		put_path(w, "path", source->session.path);
	put_text(w, "prompt", buf_as_str(&title));
	return call_emit(l->call, err);
}

static enum status run_agents(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l CLEANUP(listing_release) = { .call = c };
	struct askers askers CLEANUP(askers_release) = { 0 };
	struct resolved what;

	if (read_begin(c->store, &snapshot, err) ||
	    resolve_id(c->store, call_text(c, "session"), &c->mem, &what, err) ||
	    forest_load(c->store, what.session.row, &l.forest, &l.source, err))
		return err_failed(err->status);
	warn_unread(c);
	gather(&l);
	for (uint32_t s = 0; l.count && s < l.forest.source_count; s++)
		if (l.forest.sources[s].agent.n && !l.forest.sources[s].embedded &&
		    read_meta(&l, &l.forest.sources[s].session, &askers, l.forest.sources[s].agent, err))
			return err_failed(err->status);
	if (read_askers(&l, &askers, err))
		return err_failed(err->status);
	for (uint32_t s = 0; s < l.forest.source_count; s++)
		if (l.forest.sources[s].embedded && read_told(&l, &askers, &l.forest.sources[s], err))
			return err_failed(err->status);
	for (size_t i = 0; i < l.count; i++)
		if (emit_agent(&l, &l.agents[i], &askers, err))
			return err_failed(err->status);
	return STATUS_OK;
}

const struct method memory_agents = {
	.name = "agents",
	.verb = "agents",
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
