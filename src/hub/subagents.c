/*
 * Finding sub-agents.
 *
 * What asked for one is told in different places, by the client's version: the file of
 * facts beside its transcript, the result of the call, the progress line that carries its
 * messages; inline ones of old clients only by having the prompt of a call.
 */
#include "hub/subagents.h"

#include "base/map.h"
#include "base/numbers.h"
#include "claude/record.h"
#include "hub/agent_meta.h"
#include "query/lines.h"

#include <string.h>

struct finding {
	struct call *call;
	const struct forest *forest;
	struct subagent *agents;
	uint32_t count, *of;
	struct map by_name; /* -> struct subagent */
	struct map taken;   /* calls that have asked for an inline one */
};

static void finding_release(struct finding *l)
{
	map_release(&l->by_name);
	map_release(&l->taken);
}

/* ---- Which ----------------------------------------------------------------------- */

static struct str name_of(struct finding *l, uint32_t message, uint32_t root)
{
	const struct forest *f = l->forest;
	char text[UUID_TEXT + 1];

	if (f->sources[f->messages[message].source].agent.n)
		return f->sources[f->messages[message].source].agent;
	uuid_print(&forest_line(f, f->messages[root].first)->key, text);
	return arena_str(&l->call->mem, str_of(text));
}

static void gather(struct finding *l)
{
	const struct forest *f = l->forest;
	uint32_t *roots = arena_alloc(&l->call->mem, (f->message_count + 1) * sizeof *roots);

	l->agents = arena_alloc(&l->call->mem, (f->message_count + 1) * sizeof *l->agents);
	l->of = memset(arena_alloc(&l->call->mem, (f->message_count + 1) * sizeof *l->of), 0xff,
		       (f->message_count + 1) * sizeof *l->of);
	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i], prev = f->messages[m].prev;
		struct subagent *a;
		struct str name;

		roots[m] = prev == FOREST_NONE ? m : roots[prev];
		if (!f->messages[m].sidechain)
			continue;
		name = name_of(l, m, roots[m]);
		a = map_get(&l->by_name, name);
		if (!a) {
			a = &l->agents[l->count++];
			*a = (struct subagent){ .name = name,
						.root = roots[m],
						.is_inline = !f->sources[f->messages[m].source].agent.n };
			map_put(&l->by_name, name, a);
		}
		l->of[m] = (uint32_t)(a - l->agents);
		a->messages += f->messages[m].role != FOREST_CLIENT;
		for (uint32_t n = f->messages[m].first;
		     n != FOREST_NONE && f->messages[m].role == FOREST_ASSISTANT; n = f->nodes[n].next)
			a->tools += forest_line(f, n)->tool_count;
	}
}

/* ---- What asked for them ------------------------------------------------------------ */

/* What lines of the conversations say, by agent or by prompt. */
struct askers {
	struct map by_agent;  /* agent -> call, as struct str */
	struct map by_prompt; /* prompt -> struct prompt_calls */
	struct map types;     /* agent -> type */
	struct map asked;     /* call -> type it asks for, where it does */
	struct arena mem;
};

struct prompt_call {
	struct str call;
	struct prompt_call *next;
};

/* With one prompt, in order. */
struct prompt_calls {
	struct prompt_call *first, **end;
};

static void askers_release(struct askers *a)
{
	map_release(&a->by_agent);
	map_release(&a->by_prompt);
	map_release(&a->types);
	map_release(&a->asked);
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
	struct prompt_calls *list;
	struct prompt_call *kept;

	if (!prompt.n || !call.n)
		return;
	list = map_get(&a->by_prompt, prompt);
	if (!list) {
		list = arena_alloc(&a->mem, sizeof *list);
		list->end = &list->first;
		map_put(&a->by_prompt, arena_str(&a->mem, prompt), list);
	}
	kept = arena_alloc(&a->mem, sizeof *kept);
	kept->call = arena_str(&a->mem, call);
	*list->end = kept;
	list->end = &kept->next;
}

static struct str text_in(const struct record_reader *r, uint32_t object, const char *key, struct arena *mem)
{
	return json_string_in(&r->json, json_get(&r->json, object, str_of(key)), mem);
}

static void read_call(struct askers *a, const struct record_reader *r, const struct record_block *b)
{
	uint32_t input = json_get(&r->json, b->node, STR("input"));

	note_prompt(a, text_in(r, input, "prompt", &a->mem), b->tool);
	note(&a->asked, &a->mem, b->tool, text_in(r, input, "subagent_type", &a->mem));
}

/* Lines of sub-agents have nothing beside a result, but its text names the agent in a line of
 * its own. */
static void read_result_text(struct askers *a, const struct record_reader *r, const struct record_block *b)
{
	static const struct str front = { "agentId: ", 9 };
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct str line, rest, ignored;

	if (!b->tool.n || !map_get(&a->asked, b->tool))
		return;
	block_text(r, b, &text);
	for (rest = buf_as_str(&text); rest.n;) {
		line = str_cut(rest, '\n', &rest);
		if (str_has_prefix(line, front))
			note(&a->by_agent, &a->mem, str_cut(str_sub(line, front.n, SIZE_MAX), ' ', &ignored),
			     b->tool);
	}
}

static void read_line(struct askers *a, struct record_reader *r, const struct record *rec)
{
	const struct json *j = &r->json;
	uint32_t result = json_get(j, json_root(j), STR("toolUseResult"));
	struct str agent = text_in(r, result, "agentId", &a->mem);
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(r, rec, &at, &b)) {
		if (b.kind == BLOCK_TOOL_RESULT && agent.n)
			note(&a->by_agent, &a->mem, agent, b.tool);
		else if (b.kind == BLOCK_TOOL_RESULT)
			read_result_text(a, r, &b);
		if (b.kind == BLOCK_TOOL_USE)
			read_call(a, r, &b);
	}
	note(&a->types, &a->mem, agent, text_in(r, result, "agentType", &a->mem));
}

static bool may_tell(const struct chain_line *l)
{
	return l->tool_count && (l->type == RECORD_ASSISTANT || l->type == RECORD_USER);
}

/* Every line with calls or results, of every file but sub-agents' told elsewhere. */
static enum status read_askers(struct finding *l, struct askers *a, struct err *err)
{
	const struct forest *f = l->forest;

	for (uint32_t s = 0; s < f->source_count; s++) {
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
static enum status read_told(struct finding *l, struct askers *a, const struct forest_source *told,
			     struct err *err)
{
	const struct forest *f = l->forest;
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

/* The file of facts beside a transcript. */
static enum status read_meta(struct finding *l, const struct session *session, struct askers *a,
			     struct str agent, struct err *err)
{
	struct agent_meta meta;

	if (agent_meta_read(l->call->store, session, &a->mem, &meta, err))
		return err_failed(err->status);
	note(&a->by_agent, &a->mem, agent, meta.call);
	note(&a->types, &a->mem, agent, meta.type);
	return STATUS_OK;
}

/* ---- All of it ------------------------------------------------------------------------- */

static struct str value_of(const struct map *m, struct str key)
{
	const struct str *v = map_get(m, key);

	return v ? *v : (struct str){ 0 };
}

/* Of several calls with one prompt the first that asked for no other. One may stand in several
 * files. */
static struct str asked_inline(struct finding *l, const struct askers *a, struct str prompt)
{
	struct prompt_calls *list = prompt.n ? map_get(&a->by_prompt, prompt) : NULL;

	while (list && list->first) {
		struct str call = list->first->call;

		list->first = list->first->next;
		if (!map_get(&l->taken, call)) {
			map_put(&l->taken, call, l);
			return call;
		}
	}
	return (struct str){ 0 };
}

static enum status first_text(struct finding *l, uint32_t message, struct buf *out, struct err *err)
{
	const struct forest *f = l->forest;
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

static enum status describe(struct finding *l, struct subagent *a, const struct askers *askers,
			    struct err *err)
{
	struct buf prompt CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	struct str call, type;

	if (first_text(l, a->root, &prompt, err))
		return err_failed(err->status);
	a->warmup = str_eq(buf_as_str(&prompt), STR("Warmup"));
	call = a->is_inline ? asked_inline(l, askers, buf_as_str(&prompt))
			    : value_of(&askers->by_agent, a->name);
	a->call = arena_str(&l->call->mem, call);
	type = value_of(&askers->types, a->name);
	a->type = arena_str(&l->call->mem, type.n ? type : value_of(&askers->asked, call));
	record_prompt_title(buf_as_str(&prompt), &title);
	a->prompt = arena_str(&l->call->mem, buf_as_str(&title));
	return STATUS_OK;
}

/* What files of facts say counts before what lines do. */
static enum status ask(struct finding *l, struct askers *askers, struct err *err)
{
	const struct forest *f = l->forest;

	for (uint32_t s = 0; s < f->source_count; s++)
		if (f->sources[s].agent.n && !f->sources[s].embedded &&
		    read_meta(l, &f->sources[s].session, askers, f->sources[s].agent, err))
			return err_failed(err->status);
	if (read_askers(l, askers, err))
		return err_failed(err->status);
	for (uint32_t s = 0; s < f->source_count; s++)
		if (f->sources[s].embedded && read_told(l, askers, &f->sources[s], err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status subagents_find(struct call *c, const struct forest *f, struct subagents *out, struct err *err)
{
	struct finding l CLEANUP(finding_release) = { .call = c, .forest = f };
	struct askers askers CLEANUP(askers_release) = { 0 };

	gather(&l);
	if (l.count && ask(&l, &askers, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < l.count; i++)
		if (describe(&l, &l.agents[i], &askers, err))
			return err_failed(err->status);
	*out = (struct subagents){ l.agents, l.count, l.of };
	return STATUS_OK;
}

/* ---- Where they hang --------------------------------------------------------------------- */

const struct subagent *subagents_at(const struct subagents *all, const struct forest *f, uint32_t message)
{
	uint32_t at = all->of ? all->of[message] : FOREST_NONE;

	return at != FOREST_NONE && f->messages[message].prev == FOREST_NONE ? &all->list[at] : NULL;
}

/* Calls by their hash, and the first message that has each. */
static struct numbers list_calls(const struct forest *f, struct arena *mem)
{
	struct numbers calls;
	size_t count = 0;

	for (uint32_t n = 0; n < f->node_count; n++)
		count += forest_line(f, n)->tool_count;
	calls = numbers_new(mem, count);
	for (uint32_t i = 0; i < f->order_count; i++) {
		const struct forest_message *m = &f->messages[f->order[i]];

		for (uint32_t n = m->first; n != FOREST_NONE && m->role == FOREST_ASSISTANT; n = f->nodes[n].next)
			for (uint32_t t = 0; t < forest_line(f, n)->tool_count; t++)
				numbers_add(&calls, forest_line(f, n)->tools[t], f->order[i]);
	}
	return calls;
}

uint32_t *subagents_askers(const struct subagents *all, const struct forest *f, struct arena *mem)
{
	uint32_t *out = memset(arena_alloc(mem, (f->message_count + 1) * sizeof *out), 0xff,
			       (f->message_count + 1) * sizeof *out);
	struct numbers calls = list_calls(f, mem);

	for (uint32_t i = 0; i < f->order_count; i++) {
		const struct subagent *a = subagents_at(all, f, f->order[i]);

		if (a && a->call.n)
			out[f->order[i]] = numbers_get(&calls, hash64(a->call.p, a->call.n));
	}
	return out;
}
