/*
 * memory.tree: the turns of a conversation and of all that share its beginning, where
 * they part, and where each file would go on.
 *
 * Turns come in the order they are drawn: each behind the one it follows; where several
 * follow one, the side ways first, one level deeper, and last the way that leads to where
 * the conversation asked for is now, on the same level.
 */
#include "hub/memory_find.h"

#include "hub/call.h"
#include "hub/memory_message.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "query/forest_load.h"
#include "query/lines.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = { "session", "turn", "message", "continues", "head", NULL };
static const char *const roles[] = { "user", "assistant", "results", "client", NULL };
static const char *const origins[] = { "none", "human", "notification", "compaction", NULL };

static const struct param tree_params[] = {
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .initial = "@",
	  .shown = "SESSION",
	  .names = "memory.sessions",
	  .help = "a session, or anything in it" },
	{ .name = "messages", .type = VALUE_BOOL, .letter = 'm', .help = "also every message of a turn" },
	{ .name = "agents", .type = VALUE_BOOL, .letter = 'a', .help = "also what sub-agents did" },
	{ 0 },
};

static const struct field tree_fields[] = {
	{ .name = "kind", .type = VALUE_ENUM, .choices = kinds, .help = "what the item is" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY | FIELD_OPTIONAL,
	  .help = "of the session, turn or message" },
	{ .name = "uuid",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn, message, head: of its first line" },
	{ .name = "number",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: counted along its way" },
	{ .name = "depth", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "turn: how many ways aside" },
	{ .name = "aside",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: a way aside begins here" },
	{ .name = "origin",
	  .type = VALUE_ENUM,
	  .choices = origins,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: why it begins" },
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "turn, message: when" },
	{ .name = "says",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: how many messages it has, of either side, as 'list' counts them" },
	{ .name = "calls",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: how many calls of tools" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "turn, message: how it begins" },
	{ .name = "heads",
	  .type = VALUE_ID,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "turn: sessions that would go on from it" },
	{ .name = "role",
	  .type = VALUE_ENUM,
	  .choices = roles,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: whose" },
	{ .name = "prev",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: first line of the one before" },
	{ .name = "lines",
	  .type = VALUE_ID,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "message: its lines' uuids" },
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
	{ 0 },
};

/* By message, for those that begin a turn or stand before the first. */
struct turn {
	uint32_t parent;      /* turn it follows */
	uint32_t child, next; /* turns that follow it; their list */
	uint32_t messages, calls;
	int64_t number;
	bool wanted;   /* on the way to where the conversation is now */
	uint32_t head; /* first of the list of sources that would go on from it */
};

struct drawing {
	struct call *call;
	struct forest forest;
	uint32_t source;
	struct turn *turns;	 /* by message */
	uint32_t *next_head;	 /* by source */
	uint32_t *leaves;	 /* by source: message, FOREST_NONE */
	uint32_t *leaf_lines;	 /* by source */
	uint32_t *first, *after; /* messages of each turn: list */
	uint32_t roots;		 /* turns that follow none */
	struct lines_set lines;
	bool messages, agents;
};

static void drawing_release(struct drawing *d)
{
	lines_set_release(&d->lines);
	forest_release(&d->forest);
}

/* ---- Turns ----------------------------------------------------------------------- */

/* The turn of a message; those before the first turn belong to the root they follow. */
static uint32_t *find_turns(struct drawing *d)
{
	const struct forest *f = &d->forest;
	uint32_t *of = arena_alloc(&d->call->mem, (f->message_count + 1) * sizeof *of);

	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i];

		if (f->messages[m].turn != FOREST_NONE)
			of[m] = f->messages[m].turn;
		else
			of[m] = f->messages[m].prev == FOREST_NONE ? m : of[f->messages[m].prev];
	}
	return of;
}

static bool is_shown(const struct drawing *d, uint32_t m)
{
	return d->agents || !d->forest.messages[m].sidechain || d->forest.sources[d->source].agent.n;
}

static int latest_first(const void *a, const void *b, void *drawing)
{
	const struct drawing *d = drawing;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t tx = forest_line(&d->forest, d->forest.messages[x].first)->at;
	int64_t ty = forest_line(&d->forest, d->forest.messages[y].first)->at;

	if (tx != ty)
		return tx > ty ? -1 : 1;
	return x > y ? -1 : x < y;
}

/* Where turns go on from one another in a circle, as in a file whose lines are out of order,
 * the earliest follows none. */
static void cut_circles(struct drawing *d, const uint32_t *list, uint32_t count)
{
	uint32_t *seen = memset(arena_alloc(&d->call->mem, (d->forest.message_count + 1) * sizeof *seen), 0xff,
				(d->forest.message_count + 1) * sizeof *seen);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = list[i], first;

		while (at != FOREST_NONE && seen[at] == FOREST_NONE) {
			seen[at] = i;
			at = d->turns[at].parent;
		}
		if (at == FOREST_NONE || seen[at] != i)
			continue;
		first = at;
		for (uint32_t t = d->turns[at].parent; t != at; t = d->turns[t].parent)
			first = latest_first(&t, &first, d) > 0 ? t : first;
		d->turns[first].parent = FOREST_NONE;
	}
}

/* The turns that follow each, in the order of their times. */
static void link_turns(struct drawing *d, uint32_t *list, uint32_t count)
{
	qsort_r(list, count, sizeof *list, latest_first, d);
	cut_circles(d, list, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = d->turns[list[i]].parent;
		uint32_t *at = parent == FOREST_NONE ? &d->roots : &d->turns[parent].child;

		d->turns[list[i]].next = *at;
		*at = list[i];
	}
}

/* As a session counts them: what the model said, and each line of the other side, results
 * of tools included; not what the client put beside them. */
static uint32_t messages_in(const struct forest *f, const struct forest_message *m)
{
	uint32_t lines = 0;

	if (m->role == FOREST_ASSISTANT)
		return 1;
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		lines += forest_line(f, n)->type == RECORD_USER;
	return lines;
}

static void gather_turns(struct drawing *d, const uint32_t *of)
{
	const struct forest *f = &d->forest;
	uint32_t *last = memset(arena_alloc(&d->call->mem, (f->message_count + 1) * sizeof *last), 0xff,
				(f->message_count + 1) * sizeof *last);
	uint32_t *list = arena_alloc(&d->call->mem, (f->message_count + 1) * sizeof *list), count = 0;

	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i], turn = of[m];
		const struct forest_message *x = &f->messages[m];

		if (!is_shown(d, m))
			continue;
		if (turn == m) {
			uint32_t before = x->prev != FOREST_NONE ? x->prev : forest_goes_on_from(f, m);

			d->turns[m].child = d->turns[m].head = FOREST_NONE;
			d->turns[m].parent = before == FOREST_NONE || !is_shown(d, before) ? FOREST_NONE
											   : of[before];
			list[count++] = m;
		}
		d->turns[turn].messages += messages_in(f, x);
		for (uint32_t n = x->first; n != FOREST_NONE && x->role == FOREST_ASSISTANT;
		     n = f->nodes[n].next)
			d->turns[turn].calls += forest_line(f, n)->tool_count;
		if (last[turn] == FOREST_NONE)
			d->first[turn] = m;
		else
			d->after[last[turn]] = m;
		d->after[m] = FOREST_NONE;
		last[turn] = m;
	}
	link_turns(d, list, count);
}

static void gather_heads(struct drawing *d, const uint32_t *of)
{
	const struct forest *f = &d->forest;

	for (uint32_t s = f->source_count; s-- > 0;) {
		uint32_t m = FOREST_NONE;

		d->leaf_lines[s] = f->sources[s].embedded ? CHAIN_NONE : chain_leaf(&f->sources[s].chain);
		if (d->leaf_lines[s] != CHAIN_NONE)
			m = forest_message_of(f, s, d->leaf_lines[s]);
		d->leaves[s] = m;
		if (m == FOREST_NONE || !is_shown(d, m))
			continue;
		d->next_head[s] = d->turns[of[m]].head;
		d->turns[of[m]].head = s;
		if (s == d->source)
			for (uint32_t t = of[m]; t != FOREST_NONE && !d->turns[t].wanted;
			     t = d->turns[t].parent)
				d->turns[t].wanted = true;
	}
}

/* ---- Items ------------------------------------------------------------------------- */

static void put_key(struct json_writer *w, const char *name, const struct forest *f, uint32_t node)
{
	put_uuid(w, name, &forest_line(f, node)->key);
}

static struct node_name name_of(const struct forest *f, uint32_t node, char text[UUID_TEXT + 1])
{
	uuid_print(&forest_line(f, node)->key, text);
	return (struct node_name){ .uuid = { text, UUID_TEXT } };
}

/* How a message begins, on one line. */
struct beginning {
	struct buf text; /* of a block, whole */
	struct buf title;
	int worth; /* of what it was made of */
};

static void beginning_release(struct beginning *b)
{
	buf_release(&b->text);
	buf_release(&b->title);
}

/* A text says more than what a tool was given or gave, and that more than thinking. */
static int worth_of(enum block_kind kind)
{
	return kind == BLOCK_TEXT ? 3 : kind == BLOCK_TOOL_USE || kind == BLOCK_TOOL_RESULT ? 2 : 1;
}

static void try_block(struct beginning *b, const struct record_reader *r, const struct record_block *block)
{
	struct str text;

	if (worth_of(block->kind) <= b->worth)
		return;
	buf_clear(&b->text);
	block_text(r, block, &b->text);
	text = buf_as_str(&b->text);
	if (!str_trim(text).n)
		return;
	buf_clear(&b->title);
	record_prompt_title(text, &b->title);
	b->worth = worth_of(block->kind);
}

static enum status put_beginning(struct drawing *d, uint32_t message, struct err *err)
{
	const struct forest *f = &d->forest;
	struct beginning b CLEANUP(beginning_release) = { .text = BUF_INIT(2 * LIMIT_LINE_PARSED),
							  .title = BUF_INIT(KIB) };

	for (uint32_t n = f->messages[message].first; n != FOREST_NONE && b.worth < worth_of(BLOCK_TEXT);
	     n = f->nodes[n].next) {
		struct lines *lines = lines_set_of(&d->lines, &f->sources[f->nodes[n].canon.source].session);
		struct block_cursor at = { 0 };
		struct record_block block;
		struct record rec;

		if (lines_get(lines, forest_line(f, n), &rec, err))
			return err_failed(err->status);
		while (record_block(&lines->reader, &rec, &at, &block))
			try_block(&b, &lines->reader, &block);
		if (rec.type == RECORD_ATTACHMENT || rec.type == RECORD_SYSTEM) {
			buf_clear(&b.text);
			message_aside(&lines->reader, &rec, &d->call->mem, &b.text);
			record_prompt_title(buf_as_str(&b.text), &b.title);
			break;
		}
	}
	put_text(&d->call->writer, "text", buf_as_str(&b.title));
	return STATUS_OK;
}

static void put_heads(struct drawing *d, uint32_t turn)
{
	struct json_writer *w = &d->call->writer;

	if (d->turns[turn].head == FOREST_NONE)
		return;
	json_write_key(w, STR("heads"));
	json_write_array_begin(w);
	for (uint32_t s = d->turns[turn].head; s != FOREST_NONE; s = d->next_head[s]) {
		char text[UUID_TEXT + 1];

		uuid_print(&d->forest.sources[s].session.id, text);
		json_write_string(w, str_of(text));
	}
	json_write_array_end(w);
}

static void put_agent(struct drawing *d, const struct forest_message *m)
{
	if (d->forest.sources[m->source].agent.n)
		put_text(&d->call->writer, "agent", d->forest.sources[m->source].agent);
}

static enum status emit_turn(struct drawing *d, uint32_t turn, int64_t depth, bool aside, struct err *err)
{
	const struct forest *f = &d->forest;
	const struct forest_message *m = &f->messages[turn];
	uint32_t first = m->boundary != FOREST_NONE && m->origin == ORIGIN_COMPACTION ? m->boundary
										      : m->first;
	struct json_writer *w = call_begin(d->call);
	char text[UUID_TEXT + 1];
	struct node_name name = name_of(f, first, text);
	struct uuid id = uuid_of_parts((struct str[]){ STR("t"), name.uuid }, 2);

	put_text(w, "kind", STR("turn"));
	put_uuid(w, "id", &id);
	put_key(w, "uuid", f, first);
	put_int(w, "number", d->turns[turn].number);
	put_int(w, "depth", depth);
	if (aside)
		put_bool(w, "aside", true);
	put_text(w, "origin", str_of(origins[m->origin]));
	if (forest_line(f, first)->at)
		put_time(w, "at", forest_line(f, first)->at);
	put_int(w, "says", d->turns[turn].messages);
	put_int(w, "calls", d->turns[turn].calls);
	put_agent(d, m);
	put_heads(d, turn);
	if (put_beginning(d, turn, err))
		return err_failed(err->status);
	return call_emit(d->call, err);
}

static void put_key_list(struct drawing *d, uint32_t node)
{
	char text[UUID_TEXT + 1];

	uuid_print(&forest_line(&d->forest, node)->key, text);
	json_write_string(&d->call->writer, str_of(text));
}

static enum status emit_message(struct drawing *d, uint32_t message, struct err *err)
{
	const struct forest *f = &d->forest;
	const struct forest_message *m = &f->messages[message];
	struct json_writer *w = call_begin(d->call);
	char text[UUID_TEXT + 1];
	struct node_name name = name_of(f, m->first, text);
	struct uuid id = node_id(&name, PART_MESSAGE);

	put_text(w, "kind", STR("message"));
	put_uuid(w, "id", &id);
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
	put_agent(d, m);
	if (forest_line(f, m->first)->flags & RECORD_ERROR)
		put_bool(w, "failed", true);
	if (forest_line(f, m->first)->at)
		put_time(w, "at", forest_line(f, m->first)->at);
	if (put_beginning(d, message, err))
		return err_failed(err->status);
	return call_emit(d->call, err);
}

/* ---- In order ---------------------------------------------------------------------- */

struct place {
	uint32_t turn;
	int64_t depth;
	bool aside;
};

/* The children of a turn onto the stack, so that the last one comes off last. */
static void push_children(struct drawing *d, uint32_t list, int64_t depth, int64_t number,
			  struct place *stack, size_t *count)
{
	uint32_t main = list;
	size_t start = *count;

	if (list == FOREST_NONE)
		return;
	for (uint32_t t = list; t != FOREST_NONE; t = d->turns[t].next)
		if (d->turns[t].wanted || (!d->turns[main].wanted && d->turns[t].next == FOREST_NONE))
			main = t;
	stack[(*count)++] = (struct place){ main, depth, false };
	for (uint32_t t = list; t != FOREST_NONE; t = d->turns[t].next) {
		d->turns[t].number = number + (d->forest.messages[t].origin != ORIGIN_NONE);
		if (t != main)
			stack[(*count)++] = (struct place){ t, depth + 1, true };
	}
	/* Side ways in the order of their times: the first has to lie on top. */
	for (size_t a = start + 1, b = *count; a + 1 < b; a++) {
		struct place kept = stack[a];

		stack[a] = stack[--b];
		stack[b] = kept;
	}
}

static enum status emit_turns(struct drawing *d, struct err *err)
{
	struct place *stack = arena_alloc(&d->call->mem, (d->forest.message_count + 1) * sizeof *stack);
	size_t count = 0;

	push_children(d, d->roots, 0, 0, stack, &count);
	while (count) {
		struct place p = stack[--count];

		if (call_is_cancelled(d->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (emit_turn(d, p.turn, p.depth, p.aside, err))
			return err_failed(err->status);
		for (uint32_t m = d->first[p.turn]; d->messages && m != FOREST_NONE; m = d->after[m])
			if (emit_message(d, m, err))
				return err_failed(err->status);
		push_children(d, d->turns[p.turn].child, p.depth, d->turns[p.turn].number, stack, &count);
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
		    (f->sources[s].agent.n && !d->agents))
			continue;
		w = call_begin(d->call);
		put_text(w, "kind", STR("head"));
		put_path(w, "path", f->sources[s].session.path);
		if (d->leaves[s] != FOREST_NONE) {
			char text[UUID_TEXT + 1];
			struct node_name name = name_of(f, f->messages[d->leaves[s]].first, text);
			struct uuid id = node_id(&name, PART_MESSAGE);

			put_uuid(w, "id", &id);
			put_uuid(w, "uuid", &f->sources[s].chain.lines[d->leaf_lines[s]].key);
		}
		if (call_emit(d->call, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static void prepare(struct drawing *d)
{
	const struct forest *f = &d->forest;
	struct arena *mem = &d->call->mem;
	uint32_t *of;

	d->roots = FOREST_NONE;
	d->turns = arena_alloc(mem, (f->message_count + 1) * sizeof *d->turns);
	d->first = arena_alloc(mem, (f->message_count + 1) * sizeof *d->first);
	d->after = arena_alloc(mem, (f->message_count + 1) * sizeof *d->after);
	d->next_head = arena_alloc(mem, (f->source_count + 1) * sizeof *d->next_head);
	d->leaves = arena_alloc(mem, (f->source_count + 1) * sizeof *d->leaves);
	d->leaf_lines = arena_alloc(mem, (f->source_count + 1) * sizeof *d->leaf_lines);
	of = find_turns(d);
	gather_turns(d, of);
	gather_heads(d, of);
}

static enum status run_tree(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct drawing d CLEANUP(drawing_release) = {
		.call = c,
		.lines = { .store = c->store },
		.messages = call_flag(c, "messages"),
		.agents = call_flag(c, "agents"),
	};
	struct resolved what;
	struct json_writer *w;

	if (read_begin(c->store, &snapshot, err) ||
	    resolve_id(c->store, call_text(c, "id"), &c->mem, &what, err) ||
	    forest_load(c->store, what.session.row, &d.forest, &d.source, err))
		return err_failed(err->status);
	warn_unread(c);
	prepare(&d);
	w = call_begin(c);
	put_text(w, "kind", STR("session"));
	if (put_session(c, &what.session, err) || call_emit(c, err) || emit_turns(&d, err) ||
	    emit_continues(&d, err) || emit_heads(&d, err))
		return err_failed(err->status);
	return STATUS_OK;
}

const struct method memory_tree = {
	.name = "tree",
	.verb = "tree",
	.group = "find",
	.summary = "Draw the turns of a conversation, and where it branches",
	.text = "A turn is a prompt and all that followed until the next. Rewinding, forking and resuming "
		"make several "
		"ways: those aside come first, one step in; the way the conversation is on comes last. "
		"Conversations "
		"that were forked from it, or it from them, are in the same tree. An arrow says where a file "
		"would "
		"be continued.\n",
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
