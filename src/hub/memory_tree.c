/*
 * memory.tree: the turns of a conversation and of all that share its beginning, where
 * they part, and where each file would go on.
 *
 * Turns come in the order they are drawn: each behind the one it follows; where several
 * follow one, the side ways first, one level deeper, and last the way that leads to where
 * the conversation asked for is now, on the same level. Before them, one level deeper too,
 * the sub-agents that were started in it; those of which nobody knows who asked for them
 * follow nothing.
 */
#include "hub/memory_find.h"

#include "hub/attached.h"
#include "hub/beginning.h"
#include "hub/call.h"
#include "hub/grown.h"
#include "hub/handle_node.h"
#include "hub/headed.h"
#include "hub/memory_made.h"
#include "hub/memory_message.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "hub/subagents.h"
#include "query/grove.h"
#include "query/lines.h"
#include "query/variant.h"

static const char *const kinds[] = { "session", "turn", "message", "continues", "head", "tree", "node", NULL };
static const char *const roles[] = { "user", "assistant", "results", "client", "system", "note", NULL };
static const char *const origins[] = { "none", "human", "notification", "compaction", NULL };

static const struct param tree_params[] = {
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .initial = PARAM_LAST_SESSION,
	  .shown = "SESSION",
	  .names = "memory.sessions",
	  .help = "a session, or anything in it; a tree of your own, or a node in it" },
	{ .name = "messages", .type = VALUE_BOOL, .letter = 'm', .help = "also every message of a turn" },
	{ .name = "agents", .type = VALUE_BOOL, .letter = 'a', .help = "also what sub-agents did" },
	{ 0 },
};

static const struct field here_fields[] = {
	HEADED_HERE_FIELDS,
	{ 0 },
};

static const struct field tree_fields[] = {
	{ .name = "kind", .type = VALUE_ENUM, .choices = kinds, .help = "what the item is" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY | FIELD_OPTIONAL,
	  .help = "of the session, turn or message, tree or node" },
	HANDLE_FIELD(""),
	{ .name = "uuid",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn, message, head: of its first line" },
	{ .name = "number",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: counted along its way" },
	{ .name = "depth",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: how many ways aside; node: steps from the root" },
	{ .name = "aside",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: a way aside begins here; so with every node" },
	{ .name = "last",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn, node: nothing more follows what it is aside of" },
	{ .name = "origin",
	  .type = VALUE_ENUM,
	  .choices = origins,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: why it begins" },
	{ .name = "at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn, message, tree, node: when" },
	{ .name = "says",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: how many messages it has, of either side, as 'list' counts them" },
	{ .name = "calls",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: how many calls of tools" },
	{ .name = "text",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn, message, node: how it begins" },
	{ .name = "in",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: session whose file it is in, where that of another ends above it" },
	{ .name = "heads",
	  .type = VALUE_ID,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "turn, message: sessions that would go on from it" },
	{ .name = "named",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "turn, message: sessions with a name that are there" },
	{ .name = "here",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .fields = here_fields,
	  .help = "turn, message: both, each session once, the one that was asked for first" },
	{ .name = "current",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: on the way of the session that was asked for" },
	{ .name = "role",
	  .type = VALUE_ENUM,
	  .choices = roles,
	  .flags = FIELD_OPTIONAL,
	  .help = "message, node: whose" },
	{ .name = "prev",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: first line of the one before" },
	{ .name = "lines",
	  .type = VALUE_ID,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "message: its lines' uuids" },
	VARIANT_FIELD,
	{ .name = "copies",
	  .type = VALUE_ID,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "message: first lines of copies with other uuids" },
	{ .name = "branches",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: how many ways lead on, when it is more than one" },
	{ .name = "agent",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn, message: of this sub-agent" },
	{ .name = "agent_type",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "first turn of a sub-agent: its type, where the client says it" },
	{ .name = "tool_id",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "first turn of a sub-agent: the call that asked for it" },
	{ .name = "warmup",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "first turn of a sub-agent: the client started it by itself; people are not shown it" },
	{ .name = "started_by",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "first turn of a sub-agent: the message with that call" },
	TREE_ID_FIELD("session, turn: "),
	{ .name = "failed",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: note of a failed request" },
	{ .name = "to",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "continues: the line it goes on from" },
	{ .name = "inferred",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "continues: nothing says so" },
	SESSION_PART_FIELDS,
	MADE_FIELDS,
	ATTACHED_FIELDS("session, turn, message, tree, node: "),
	{ 0 },
};

struct drawing {
	struct call *call;
	struct grove grove;
	struct forest forest; /* the grove's */
	struct turns turns;
	struct subagents subagents; /* when they are wanted */
	struct headed headed;
	struct str name;    /* by which the session was asked for; p NULL = by its file */
	uint32_t *told;	    /* by source: the last list it was in by its name */
	uint32_t told_last; /* of these lists */
	struct lines_set lines;
	struct attached attached; /* notes and the like */
	bool messages;
};

static void drawing_release(struct drawing *d)
{
	lines_set_release(&d->lines);
	grove_release(&d->grove);
}

/* ---- Items ------------------------------------------------------------------------- */

static void put_key(struct json_writer *w, const char *name, const struct forest *f, uint32_t node)
{
	put_uuid(w, name, &forest_line(f, node)->key);
}

static enum status put_beginning(struct drawing *d, uint32_t message, struct err *err)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

	if (beginning_of(&d->lines, &d->forest, message, &title, err))
		return err_failed(err->status);
	put_text(&d->call->writer, "text", buf_as_str(&title));
	return STATUS_OK;
}

/* Opens a list when its first member comes. */
static void put_listed(struct json_writer *w, const char *name, bool *any, struct str text)
{
	if (!*any) {
		json_write_key(w, str_of(name));
		json_write_array_begin(w);
	}
	*any = true;
	json_write_string(w, text);
}

/* Of a turn; or of one message of it, unless that is FOREST_NONE. */
static void put_heads(struct drawing *d, uint32_t turn, uint32_t message)
{
	struct json_writer *w = &d->call->writer;
	bool any = false;

	for (uint32_t s = d->turns.list[turn].head; s != FOREST_NONE; s = d->turns.next_head[s]) {
		char text[UUID_TEXT + 1];

		if (message != FOREST_NONE && d->turns.leaves[s] != message)
			continue;
		uuid_print(&d->forest.sources[s].session.id, text);
		put_listed(w, "heads", &any, str_of(text));
	}
	if (any)
		json_write_array_end(w);
}

static void put_named(struct drawing *d, uint32_t turn, uint32_t message)
{
	struct json_writer *w = &d->call->writer;
	bool any = false;

	for (uint32_t m = d->turns.first[turn]; d->headed.at && m != FOREST_NONE; m = d->turns.after[m])
		for (uint32_t i = d->headed.at[m]; i != FOREST_NONE; i = d->headed.list[i].next)
			if (message == FOREST_NONE || message == m)
				put_listed(w, "named", &any, d->headed.list[i].name);
	if (any)
		json_write_array_end(w);
}

/* Whether the file of a session would be continued in a turn; at a message of it, unless that is FOREST_NONE.
 */
static bool is_head(const struct drawing *d, uint32_t source, uint32_t turn, uint32_t message)
{
	uint32_t leaf = source == FOREST_NONE ? FOREST_NONE : d->turns.leaves[source];

	return leaf != FOREST_NONE && d->turns.of[leaf] == turn &&
	       (message == FOREST_NONE || leaf == message);
}

/* One more in the list; both may be missing. */
static void put_one_here(struct drawing *d, struct str name, uint32_t source, bool asked, bool *any)
{
	struct json_writer *w = &d->call->writer;

	if (!*any) {
		json_write_key(w, STR("here"));
		json_write_array_begin(w);
	}
	*any = true;
	json_write_object_begin(w);
	headed_put_here(w, &d->forest, name, source, asked);
	json_write_object_end(w);
}

/* Those that have a name by that, and so not by their files again. */
static void put_some_here(struct drawing *d, uint32_t turn, uint32_t message, bool asked, bool *any)
{
	for (uint32_t m = d->turns.first[turn]; d->headed.at && m != FOREST_NONE; m = d->turns.after[m])
		for (uint32_t i = d->headed.at[m]; i != FOREST_NONE; i = d->headed.list[i].next) {
			const struct headed_one *one = &d->headed.list[i];
			bool is_asked = d->name.p ? str_eq(one->name, d->name)
						  : one->source == d->turns.source &&
							    is_head(d, one->source, turn, message);

			if (message != FOREST_NONE && message != m)
				continue;
			if (one->source != FOREST_NONE)
				d->told[one->source] = d->told_last;
			if (is_asked == asked)
				put_one_here(d, one->name, one->source, asked, any);
		}
	for (uint32_t s = d->turns.list[turn].head; s != FOREST_NONE; s = d->turns.next_head[s])
		if (is_head(d, s, turn, message) && d->told[s] != d->told_last &&
		    (!d->name.p && s == d->turns.source) == asked)
			put_one_here(d, (struct str){ 0 }, s, asked, any);
}

static void put_here(struct drawing *d, uint32_t turn, uint32_t message)
{
	bool any = false;

	d->told_last++;
	put_some_here(d, turn, message, true, &any);
	put_some_here(d, turn, message, false, &any);
	if (any)
		json_write_array_end(&d->call->writer);
}

/* Whose file a turn is in, where another conversation stops before it: it is drawn straight on below that. */
static void put_file(struct drawing *d, uint32_t turn, bool aside)
{
	const struct forest_source *own = &d->forest.sources[d->forest.messages[turn].source];
	uint32_t above = d->turns.list[turn].parent, s = FOREST_NONE;

	if (aside || own->agent.n || above == FOREST_NONE || d->turns.list[above].head == FOREST_NONE)
		return;
	for (s = d->turns.list[above].head; s != FOREST_NONE; s = d->turns.next_head[s])
		if (uuid_eq(&d->forest.sources[s].session.id, &own->session.id))
			return;
	put_uuid(&d->call->writer, "in", &own->session.id);
}

static void put_agent(struct drawing *d, uint32_t message)
{
	struct str agent = d->forest.sources[d->forest.messages[message].source].agent;
	uint32_t at = d->subagents.of ? d->subagents.of[message] : FOREST_NONE;

	if (at != FOREST_NONE)
		agent = d->subagents.list[at].name;
	if (agent.n)
		put_text(&d->call->writer, "agent", agent);
}

static enum status find_id(struct drawing *d, uint32_t node, int part, struct uuid *out, struct err *err)
{
	struct node_name of;

	if (forest_name(d->call->store, &d->forest, node, &d->call->mem, &of, err))
		return err_failed(err->status);
	*out = node_id(&of, part);
	return STATUS_OK;
}

static enum status put_id(struct drawing *d, const char *name, uint32_t node, int part, struct err *err)
{
	struct uuid id;

	if (find_id(d, node, part, &id, err))
		return err_failed(err->status);
	put_uuid(&d->call->writer, name, &id);
	return STATUS_OK;
}

static enum status put_message_id(struct drawing *d, const char *name, uint32_t message, struct err *err)
{
	return put_id(d, name, d->forest.messages[message].first, PART_MESSAGE, err);
}

/* What started a sub-agent, at its first turn. */
static enum status put_start(struct drawing *d, uint32_t turn, struct err *err)
{
	const struct subagent *a = subagents_at(&d->subagents, &d->forest, turn);
	struct json_writer *w = &d->call->writer;

	if (a && a->type.n)
		put_text(w, "agent_type", a->type);
	if (a && a->call.n)
		put_text(w, "tool_id", a->call);
	if (a && a->warmup)
		put_bool(w, "warmup", true);
	if (d->turns.list[turn].asker == FOREST_NONE)
		return STATUS_OK;
	return put_message_id(d, "started_by", d->turns.list[turn].asker, err);
}

/* What is attached to a turn, and unless its messages follow, to these. */
static void put_attached_turn(struct drawing *d, uint32_t turn)
{
	struct attached_set set = { 0 };

	for (uint32_t m = d->turns.first[turn]; m != FOREST_NONE; m = d->turns.after[m])
		attached_take_message(&d->attached, &set, m, d->messages ? ATTACHED_TURNS : ATTACHED_ALL);
	put_attached(&d->call->writer, &set);
}

/* Where a turn is drawn. */
struct place {
	uint32_t turn;
	int64_t depth;
	bool aside, last;
};

static enum status emit_turn(struct drawing *d, const struct place *p, struct err *err)
{
	uint32_t turn = p->turn;
	const struct forest *f = &d->forest;
	const struct forest_message *m = &f->messages[turn];
	uint32_t first = d->turns.list[turn].line;
	struct json_writer *w = call_begin(d->call);
	struct node_handle handle;
	struct uuid id;

	if (find_id(d, first, PART_TURN, &id, err))
		return err_failed(err->status);
	handle = handle_of_turn(&id, d->turns.list[turn].number);
	put_text(w, "kind", STR("turn"));
	put_uuid(w, "id", &id);
	put_handle(w, &handle);
	put_key(w, "uuid", f, first);
	put_int(w, "number", d->turns.list[turn].number);
	put_int(w, "depth", p->depth);
	if (p->aside)
		put_bool(w, "aside", true);
	if (p->last)
		put_bool(w, "last", true);
	if (d->turns.list[turn].wanted)
		put_bool(w, "current", true);
	put_text(w, "origin", str_of(origins[m->origin]));
	if (forest_line(f, first)->at)
		put_time(w, "at", forest_line(f, first)->at);
	put_int(w, "says", d->turns.list[turn].messages);
	put_int(w, "calls", d->turns.list[turn].calls);
	put_tree_id(w, &d->grove, d->grove.spots[turn].tree);
	put_agent(d, turn);
	put_file(d, turn, p->aside);
	put_heads(d, turn, FOREST_NONE);
	put_named(d, turn, FOREST_NONE);
	put_here(d, turn, FOREST_NONE);
	if (put_start(d, turn, err) || put_beginning(d, turn, err))
		return err_failed(err->status);
	put_attached_turn(d, turn);
	return call_emit(d->call, err);
}

static void put_key_list(struct drawing *d, uint32_t node)
{
	char text[UUID_TEXT + 1];

	uuid_print(&forest_line(&d->forest, node)->key, text);
	json_write_string(&d->call->writer, str_of(text));
}

/* What its first line says of it: whose it is, when, and its own id where others have its uuid, too. */
static enum status put_first(struct drawing *d, const struct forest_message *m, struct err *err)
{
	const struct forest *f = &d->forest;
	uint32_t node = m->first;
	struct lines *lines = lines_set_of(&d->lines, &f->sources[f->nodes[node].canon.source].session);
	struct json_writer *w = &d->call->writer;
	struct node_handle handle;
	struct record rec;
	struct uuid id;

	if (lines_get(lines, forest_line(f, node), &rec, err) ||
	    find_id(d, node, record_is_message(&rec) ? PART_MESSAGE : PART_LINE, &id, err))
		return err_failed(err->status);
	if (forest_has_variants(f, node)) {
		id = variant_id(&lines->reader, &rec);
		put_uuid(w, "variant", &id);
	}
	handle = handle_of_message(&id, &rec);
	put_handle(w, &handle);
	return STATUS_OK;
}

static enum status emit_message(struct drawing *d, uint32_t message, struct err *err)
{
	const struct forest *f = &d->forest;
	const struct forest_message *m = &f->messages[message];
	struct json_writer *w = call_begin(d->call);
	struct attached_set attached = { 0 };

	put_text(w, "kind", STR("message"));
	if (put_message_id(d, "id", message, err))
		return err_failed(err->status);
	put_key(w, "uuid", f, m->first);
	put_text(w, "role", str_of(roles[m->role]));
	if (m->prev != FOREST_NONE)
		put_key(w, "prev", f, f->messages[m->prev].first);
	json_write_key(w, STR("lines"));
	json_write_array_begin(w);
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		put_key_list(d, n);
	json_write_array_end(w);
	if (m->next_copy != FOREST_NONE) {
		json_write_key(w, STR("copies"));
		json_write_array_begin(w);
		for (uint32_t c = m->next_copy; c != FOREST_NONE; c = f->messages[c].next_copy)
			put_key_list(d, f->messages[c].first);
		json_write_array_end(w);
	}
	if (m->branches > 1)
		put_int(w, "branches", m->branches);
	put_agent(d, message);
	if (forest_line(f, m->first)->flags & RECORD_ERROR)
		put_bool(w, "failed", true);
	if (forest_line(f, m->first)->at)
		put_time(w, "at", forest_line(f, m->first)->at);
	put_heads(d, d->turns.of[message], message);
	put_named(d, d->turns.of[message], message);
	put_here(d, d->turns.of[message], message);
	if (put_first(d, m, err) || put_beginning(d, message, err))
		return err_failed(err->status);
	attached_take_message(&d->attached, &attached, message, ATTACHED_NO_TURNS);
	put_attached(w, &attached);
	return call_emit(d->call, err);
}

/* ---- In order ---------------------------------------------------------------------- */

/* One level deeper, in the order of their times: the first has to lie on top. Without `main`. */
static void push_aside(struct drawing *d, uint32_t list, uint32_t main, int64_t depth, struct place *stack,
		       size_t *count)
{
	size_t start = *count;

	for (uint32_t t = list; t != FOREST_NONE; t = d->turns.list[t].next)
		if (t != main)
			stack[(*count)++] = (struct place){ t, depth + 1, true, false };
	for (size_t a = start, b = *count; a + 1 < b; a++) {
		struct place kept = stack[a];

		stack[a] = stack[--b];
		stack[b] = kept;
	}
}

/* What follows a turn onto the stack, so that the way that goes on comes off last. */
static void push_children(struct drawing *d, uint32_t list, int64_t depth, struct place *stack, size_t *count)
{
	uint32_t main = list;

	if (list == FOREST_NONE)
		return;
	for (uint32_t t = list; t != FOREST_NONE; t = d->turns.list[t].next)
		if (d->turns.list[t].wanted || (!d->turns.list[main].wanted && d->turns.list[t].next == FOREST_NONE))
			main = t;
	stack[(*count)++] = (struct place){ main, depth, false, false };
	push_aside(d, list, main, depth, stack, count);
}

static void push_started(struct drawing *d, const struct place *p, struct place *stack, size_t *count)
{
	size_t start = *count;

	push_aside(d, d->turns.list[p->turn].started, FOREST_NONE, p->depth, stack, count);
	if (*count > start)
		stack[start].last = d->turns.list[p->turn].child == FOREST_NONE;
}

static enum status emit_turns(struct drawing *d, struct err *err)
{
	struct place *stack = arena_alloc(&d->call->mem, (d->forest.message_count + 1) * sizeof *stack);
	size_t count = 0;

	push_children(d, d->turns.roots, 0, stack, &count);
	while (count) {
		struct place p = stack[--count];

		if (call_is_cancelled(d->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (emit_turn(d, &p, err))
			return err_failed(err->status);
		for (uint32_t m = d->turns.first[p.turn]; d->messages && m != FOREST_NONE; m = d->turns.after[m])
			if (emit_message(d, m, err))
				return err_failed(err->status);
		push_children(d, d->turns.list[p.turn].child, p.depth, stack, &count);
		push_started(d, &p, stack, &count);
	}
	return STATUS_OK;
}

static enum status emit_continues(struct drawing *d, struct err *err)
{
	const struct forest *f = &d->forest;

	for (uint32_t i = 0; d->messages && i < f->continues_count; i++) {
		struct json_writer *w = call_begin(d->call);

		put_text(w, "kind", STR("continues"));
		put_key(w, "uuid", f, f->continues[i].from);
		put_key(w, "to", f, f->continues[i].to);
		put_bool(w, "inferred", f->continues[i].inferred);
		if (call_emit(d->call, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status emit_heads(struct drawing *d, struct err *err)
{
	const struct forest *f = &d->forest;

	for (uint32_t s = 0; d->messages && s < f->source_count; s++) {
		struct json_writer *w;

		if (f->sources[s].embedded || f->sources[s].chain.line_count == 0 ||
		    (f->sources[s].agent.n && !d->turns.agents))
			continue;
		w = call_begin(d->call);
		put_text(w, "kind", STR("head"));
		put_path(w, "path", f->sources[s].session.path);
		if (d->turns.leaves[s] != FOREST_NONE) {
			if (put_message_id(d, "id", d->turns.leaves[s], err))
				return err_failed(err->status);
			put_key(w, "uuid", f, d->turns.leaf_nodes[s]);
		}
		if (call_emit(d->call, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* Sub-agents are found by what all lines say. A conversation of one is drawn with what it was asked for in. */
static enum status load_grove(struct drawing *d, const struct resolved *what, struct err *err)
{
	struct store *s = d->call->store;

	if (!d->turns.agents) {
		if (grove_load_brief(s, what->session.row, &d->grove, err))
			return err_failed(err->status);
		if (!forest_is_agents(&d->grove.forest, d->grove.source))
			return STATUS_OK;
		grove_release(&d->grove);
		d->turns.agents = true;
	}
	return grove_load(s, what->session.row, &d->grove, err);
}

/* A session that was asked for by its name is where its name is. */
static void find_asked(struct drawing *d, struct str name)
{
	for (uint32_t i = 0; name.p && i < d->headed.count; i++)
		if (str_eq(d->headed.list[i].name, name)) {
			d->name = name;
			turns_want(&d->turns, d->headed.list[i].message);
		}
}

static enum status draw_mirrored(struct call *c, const struct resolved *what, struct str name,
				 struct err *err)
{
	struct drawing d CLEANUP(drawing_release) = {
		.call = c,
		.turns = { .mem = &c->mem, .forest = &d.forest, .agents = call_flag(c, "agents") || what->agent.n },
		.lines = { .store = c->store },
		.messages = call_flag(c, "messages"),
	};
	struct json_writer *w;

	if (note_state(c, &what->session, err) || load_grove(&d, what, err) ||
	    attached_load_forest(&d.attached, c, &d.grove.forest, err))
		return err_failed(err->status);
	d.forest = d.grove.forest;
	d.turns.source = d.grove.source;
	warn_unread(c);
	if (!warn_grown(c, &d.forest))
		warn_grown_here(c);
	if (d.turns.agents) {
		if (subagents_find(c, &d.forest, &d.subagents, err))
			return err_failed(err->status);
		d.turns.askers = subagents_askers(&d.subagents, &d.forest, &c->mem);
	}
	turns_find(&d.turns);
	if (headed_load(c, &d.turns, &d.headed, err))
		return err_failed(err->status);
	d.told = arena_alloc(&c->mem, (d.forest.source_count + 1) * sizeof *d.told);
	find_asked(&d, name);
	w = call_begin(c);
	put_text(w, "kind", STR("session"));
	if (put_session(c, w, &what->session, err) || put_attached_session(c, &what->session, err))
		return err_failed(err->status);
	put_tree_id(w, &d.grove, grove_tree_of_source(&d.grove, d.grove.source));
	if (call_emit(c, err) || emit_turns(&d, err) ||
	    emit_continues(&d, err) || emit_heads(&d, err))
		return err_failed(err->status);
	return STATUS_OK;
}

/* What hangs on a conversation is in its tree. */
static enum status run_tree(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct made_path path;
	struct meant what;
	struct str name;

	if (read_begin(c->store, &snapshot, err) ||
	    headed_meant_by(c, call_text(c, "id"), MEANT_MIRRORED | MEANT_TREE | MEANT_NODE, &what, &name,
			    err))
		return err_failed(err->status);
	if (what.kind == MEANT_MIRRORED)
		return draw_mirrored(c, &what.mirrored, name, err);
	if (made_path_find(c, &what, &path, err) ||
	    (path.on.p && resolve_id(c->store, path.on, &c->mem, &what.mirrored, err)))
		return err_failed(err->status);
	return path.on.p ? draw_mirrored(c, &what.mirrored, name, err) : draw_made(c, &what, err);
}

const struct method memory_tree = {
	.name = "tree",
	.verb = "tree",
	.also = "graph",
	.group = "go back",
	.summary = "Draw the turns of a conversation, and where it branches",
	.text = "A turn is a prompt and all that followed until the next. Rewinding, forking and resuming "
		"make several "
		"ways: those aside come first, one step in; the way the conversation is on comes last. "
		"Conversations "
		"that were forked from it, or it from them, are in the same tree. An arrow says where a "
		"session "
		"would "
		"go on, a double one where the one that was asked for; what is straight below that and not "
		"in it says whose it is. With --agents what "
		"sub-agents did hangs on the turn they were started in.\n\n"
		"'arbor resume ID' goes back to before a turn, and on from there another way; 'arbor fork "
		"ID' "
		"makes that ready.\n\n"
		"A tree of your own is drawn node by node; 'arbor call arbor.tree_render' does that a page "
		"at a "
		"time.\n",
	.params = tree_params,
	.kind = RESULT_STREAM,
	.fields = tree_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "tree @", "the last conversation" },
					      { "tree @ --messages --json", "every message, for programs" },
					      { 0 } },
	.run = run_tree,
};
