/*
 * claudecode.list_branches: the ways that lead on from a message, or those that leave a conversation's own.
 *
 * A way is called by the message it ends with, which stands for it in 'log', 'diff' and 'merge', and told by
 * what it leaves, how it begins, all that lies on it, and the sessions that would go on from there. Of a
 * conversation every way in its tree is told but its own, which comes first and as one: at each branch it would
 * be told again. A session that stopped where another went on has a way without messages.
 */
#include "hub/claudecode_methods.h"

#include "hub/beginning.h"
#include "hub/call.h"
#include "hub/handle_node.h"
#include "hub/headed.h"
#include "hub/memory_message.h"
#include "hub/memory_place.h"
#include "hub/memory_session.h"
#include "query/ways.h"

#include <stdlib.h>

static const struct param branch_params[] = {
	HEADED_PARAM("a session: all that branches off it; a message: the ways that lead on from it"),
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "0",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "at most so many; 0 for all" },
	{ 0 },
};

static const struct field branch_fields[] = {
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY,
	  .help = "of its last message, which stands for it in 'log', 'diff', 'merge' and 'fork'; where it "
		  "branches again, of the last touched" },
	HANDLE_FIELD(""),
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "when something was last said on it" },
	{ .name = "current",
	  .type = VALUE_BOOL,
	  .usual = "no",
	  .help = "the session that was asked for is on it" },
	{ .name = "turn", .type = VALUE_INT, .help = "number of the turn it begins in" },
	{ .name = "messages",
	  .type = VALUE_INT,
	  .help = "on it, as 'list' counts them, and on what branches off it in turn" },
	{ .name = "turns", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "that begin there" },
	{ .name = "started",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when it begins" },
	{ .name = "first",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the message it begins with" },
	{ .name = "from",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "message it leads on from; absent: it begins a conversation. Of sessions that stopped "
		  "where others went "
		  "on, the message they stopped at, and 'messages' is 0" },
	{ .name = "head",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the last message on it that a session is at" },
	{ .name = "sessions",
	  .type = VALUE_ID,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "that would go on from somewhere on it" },
	{ .name = "names",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "named sessions that are on it" },
	{ .name = "tree_id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of the tree it is in" },
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "how it begins" },
	{ 0 },
};

/* A way that is told; or a place where sessions stopped from which others went on. */
struct branch {
	uint32_t message; /* that it begins with; that they stopped at */
	uint32_t from;	  /* what it leads on from */
	bool stopped;
	bool own; /* of a session: its own way, all of it */
};

struct branching {
	struct call *call;
	struct ground ground;
	struct headed headed;
	struct lines_set lines;
	struct branch *list;
	uint32_t count;
	/* By message: its place among all in the order of ways, and the last of those behind it. */
	uint32_t *first, *last;
	bool *heads;	   /* by message: a session would go on from it */
	struct way own;	   /* of a session: its own way, as if there were no others */
	uint32_t own_head; /* where that ends; FOREST_NONE = a message was asked for */
};

static void branching_release(struct branching *b)
{
	lines_set_release(&b->lines);
	ground_release(&b->ground);
}

/* ---- What is told of a way ----------------------------------------------------------- */

/* What was asked for on it says more than the answer it may begin with. */
static uint32_t telling(const struct branching *b, uint32_t message)
{
	const struct forest *f = &b->ground.grove.forest;

	for (uint32_t m = message; m != FOREST_NONE; m = b->ground.ways.list[m].child) {
		if (f->messages[m].role == FOREST_USER && !f->messages[m].through)
			return m;
		if (b->ground.ways.list[m].child == FOREST_NONE ||
		    b->ground.ways.list[b->ground.ways.list[m].child].next != FOREST_NONE)
			break;
	}
	return message;
}

/* On a session's own way only what is where that ends: the rest is told by itself. */
static bool is_on(const struct branching *b, uint32_t message, const struct branch *x)
{
	if (x->own)
		return message == b->own_head;
	if (x->stopped)
		return message == x->message;
	return message != FOREST_NONE && b->first[message] >= b->first[x->message] &&
	       b->first[message] <= b->last[x->message];
}

static enum status put_sessions(struct branching *b, const struct branch *x, struct err *err)
{
	struct json_writer *w = &b->call->writer;
	const struct forest *f = &b->ground.grove.forest;
	struct grove_ref head = { .kind = GROVE_MESSAGE, .at = FOREST_NONE };
	char text[UUID_TEXT + 1];
	struct uuid id;

	json_write_key(w, STR("sessions"));
	json_write_array_begin(w);
	for (uint32_t s = 0; s < f->source_count; s++) {
		if (f->sources[s].agent.n || !is_on(b, b->ground.turns.leaves[s], x))
			continue;
		uuid_print(&f->sources[s].session.id, text);
		json_write_string(w, str_of(text));
		if (head.at == FOREST_NONE || b->ground.ways.list[b->ground.turns.leaves[s]].updated >
						      b->ground.ways.list[head.at].updated)
			head.at = b->ground.turns.leaves[s];
	}
	json_write_array_end(w);
	if (head.at == FOREST_NONE)
		return STATUS_OK;
	if (grove_id(&b->ground.grove, head, &id, err))
		return err_failed(err->status);
	put_uuid(w, "head", &id);
	return STATUS_OK;
}

static void put_names(struct branching *b, const struct branch *x)
{
	struct json_writer *w = &b->call->writer;
	bool any = false;

	for (uint32_t i = 0; i < b->headed.count; i++) {
		if (!is_on(b, b->headed.list[i].message, x))
			continue;
		if (!any) {
			json_write_key(w, STR("names"));
			json_write_array_begin(w);
		}
		any = true;
		json_write_string(w, b->headed.list[i].name);
	}
	if (any)
		json_write_array_end(w);
}

static enum status put_place(struct branching *b, const char *name, uint32_t message, struct err *err)
{
	struct grove_ref at = { .kind = GROVE_MESSAGE, .at = message };
	struct uuid id;

	if (message == FOREST_NONE)
		return STATUS_OK;
	if (grove_id(&b->ground.grove, at, &id, err))
		return err_failed(err->status);
	put_uuid(&b->call->writer, name, &id);
	return STATUS_OK;
}

static uint32_t end_of(const struct branching *b, const struct branch *x)
{
	return x->own ? b->own_head : x->stopped ? x->message : ways_end(&b->ground.ways, x->message, false);
}

static struct way sum_of(const struct branching *b, const struct branch *x)
{
	struct way sum = b->ground.ways.list[x->message];

	if (x->stopped)
		sum = (struct way){ .updated = sum.said, .wanted = b->own_head == x->message };
	return x->own ? b->own : sum;
}

static enum status emit_branch(struct branching *b, const struct branch *x, struct err *err)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	const struct forest *f = &b->ground.grove.forest;
	struct way sum = sum_of(b, x);
	int64_t at = forest_line(f, f->messages[x->message].first)->at;
	struct json_writer *w;

	if (call_is_cancelled(b->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	w = call_begin(b->call);
	if (put_message_name(b->call, &b->lines, &b->ground.grove, end_of(b, x), err) ||
	    beginning_of(&b->lines, f, x->stopped ? x->message : telling(b, x->message), &title, err))
		return err_failed(err->status);
	if (sum.updated)
		put_time(w, "updated", sum.updated);
	put_bool(w, "current", sum.wanted);
	put_int(w, "turn", b->ground.turns.list[b->ground.turns.of[x->message]].number);
	put_int(w, "messages", sum.messages);
	put_int(w, "turns", sum.turns);
	if (at)
		put_time(w, "started", at);
	if (put_place(b, "first", x->stopped ? FOREST_NONE : x->message, err) || put_place(b, "from", x->from, err) ||
	    put_sessions(b, x, err))
		return err_failed(err->status);
	put_names(b, x);
	put_tree_id(w, &b->ground.grove, b->ground.grove.spots[x->message].tree);
	put_text(w, "title", buf_as_str(&title));
	return call_emit(b->call, err);
}

/* ---- Which are told ------------------------------------------------------------------- */

/* The ways on from a message, with the arena used again for each. */
static void add_from(struct branching *b, uint32_t message, bool all)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	uint32_t count, *on = ways_on(&b->ground.ways, message, &mem, &count);

	for (uint32_t i = 0; i < count && (all || count > 1 || (message != FOREST_NONE && b->heads[message]));
	     i++)
		if (all || !b->ground.ways.list[on[i]].wanted)
			b->list[b->count++] = (struct branch){ .message = on[i], .from = message };
}

/* Where sessions stopped, each place once; `at` FOREST_NONE = anywhere. At the end of a way they are told
 * with that. */
static void add_stopped(struct branching *b, uint32_t at)
{
	const struct forest *f = &b->ground.grove.forest;

	for (uint32_t m = 0; m < f->message_count; m++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		uint32_t count;

		if (!b->heads[m] || (at != FOREST_NONE && m != at))
			continue;
		ways_on(&b->ground.ways, m, &mem, &count);
		if (count && m != b->own_head)
			b->list[b->count++] = (struct branch){ .message = m, .from = m, .stopped = true };
	}
}

static bool may_branch(const struct branching *b, uint32_t message)
{
	uint32_t child = b->ground.ways.list[message].child;

	if (b->ground.grove.forest.messages[message].through || child == FOREST_NONE)
		return false;
	return b->heads[message] || b->ground.ways.list[child].next != FOREST_NONE ||
	       b->ground.grove.forest.messages[child].through;
}

static void add_all(struct branching *b)
{
	add_from(b, FOREST_NONE, false);
	for (uint32_t i = 0; i < b->ground.ways.count; i++)
		if (may_branch(b, b->ground.ways.order[i]))
			add_from(b, b->ground.ways.order[i], false);
	add_stopped(b, FOREST_NONE);
}

static int last_first(const void *x, const void *y, void *branching)
{
	const struct branching *b = branching;
	const struct branch *m = x, *n = y;
	int64_t tm = sum_of(b, m).updated, tn = sum_of(b, n).updated;
	uint32_t pm = b->first[m->message], pn = b->first[n->message];

	if (tm != tn)
		return tm > tn ? -1 : 1;
	return pm != pn ? (pm < pn ? -1 : 1) : (int)n->stopped - (int)m->stopped;
}

/* ways.order is such that what follows a message stands behind it, together. */
static void find_spans(struct branching *b)
{
	size_t room = (b->ground.grove.forest.message_count + 1) * sizeof *b->first;

	b->first = arena_alloc(&b->call->mem, room);
	b->last = arena_alloc(&b->call->mem, room);
	b->list = arena_alloc(&b->call->mem,
			      (2 * (size_t)b->ground.grove.forest.message_count + 1) * sizeof *b->list);
	b->heads = arena_alloc(&b->call->mem, b->ground.grove.forest.message_count + 1);
	for (uint32_t m = 0; m < b->ground.grove.forest.message_count; m++)
		b->first[m] = FOREST_NONE;
	for (uint32_t i = b->ground.ways.count; i-- > 0;) {
		uint32_t m = b->ground.ways.order[i], from = b->ground.ways.list[m].from;

		b->first[m] = i;
		b->last[m] = b->last[m] > i ? b->last[m] : i;
		if (from != FOREST_NONE && b->last[from] < b->last[m])
			b->last[from] = b->last[m];
	}
	for (uint32_t s = 0; s < b->ground.grove.forest.source_count; s++) {
		uint32_t leaf = b->ground.turns.leaves[s];

		if (leaf != FOREST_NONE && b->first[leaf] != FOREST_NONE &&
		    !b->ground.grove.forest.sources[s].agent.n)
			b->heads[leaf] = true;
	}
}

/* A session's own way: to its head, which may be another than that of its file. */
static struct branch take_own(struct branching *b, uint32_t head)
{
	const struct forest *f = &b->ground.grove.forest;
	uint32_t m = head;

	b->own = (struct way){ .wanted = true, .updated = b->ground.ways.list[head].said };
	b->own_head = head;
	for (uint32_t i = 0; i < b->ground.ways.count; i++)
		b->ground.ways.list[b->ground.ways.order[i]].wanted = false;
	for (;; m = b->ground.ways.list[m].from) {
		b->own.messages += turns_messages_in(f, &f->messages[m]);
		b->own.turns += f->messages[m].origin != ORIGIN_NONE;
		b->ground.ways.list[m].wanted = true;
		if (b->ground.ways.list[m].from == FOREST_NONE)
			break;
	}
	return (struct branch){ .message = m, .from = FOREST_NONE, .own = true };
}

static enum status load(struct branching *b, const struct resolved *what, struct err *err)
{
	struct call *c = b->call;

	if (note_state(c, &what->session, err) ||
	    ground_load_brief(c->store, what->session.row, &b->ground, err))
		return err_failed(err->status);
	warn_unread(c);
	find_spans(b);
	if (headed_load(c, &b->ground.turns, &b->headed, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < b->headed.count; i++)
		if (b->first[b->headed.list[i].message] != FOREST_NONE)
			b->heads[b->headed.list[i].message] = true;
	return STATUS_OK;
}

static enum status run_branches(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct branching b CLEANUP(
		branching_release) = { .call = c, .lines = { .store = c->store }, .own_head = FOREST_NONE };
	uint32_t most = call_int(c, "limit") ? (uint32_t)call_int(c, "limit") : UINT32_MAX;
	struct branch own = { 0 };
	struct resolved what;
	bool whole;
	struct place at;

	if (read_begin(c->store, &snapshot, err) ||
	    headed_find_whole(c, call_text(c, "id"), &what, &whole, err) || load(&b, &what, err) ||
	    place_find(&b.ground.grove.forest, &what, &at, err))
		return err_failed(err->status);
	if (whole) {
		own = take_own(&b, at.message);
		add_all(&b);
	} else {
		add_from(&b, at.message, true);
		add_stopped(&b, at.message);
	}
	qsort_r(b.list, b.count, sizeof *b.list, last_first, &b);
	if (own.own && emit_branch(&b, &own, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < b.count && i + own.own < most; i++)
		if (emit_branch(&b, &b.list[i], err))
			return err_failed(err->status);
	if (b.count + own.own > most)
		call_note(c, "%u of %u branches; -n 0 lists all", most, b.count + own.own);
	else if (whole && !b.count)
		call_note(c, "it has no branches");
	return STATUS_OK;
}

const struct method claudecode_list_branches = {
	.name = "list_branches",
	.verb = "branches",
	.also = "branch forks",
	.group = "find",
	.summary = "List the branches of a conversation, or the ways that lead on from a message",
	.text = "A conversation branches where it was rewound, forked or continued twice. Each branch is "
		"told by the "
		"id of its last message, how it begins, how many messages lie on it, when something was last said "
		"there, and which "
		"sessions would go on from it. Of a session its own way comes first, then all others of its "
		"tree, the "
		"last touched first; with --json 'first' is the message each begins with, and 'from' where it "
		"leaves.\n\n"
		"'arbor tree' draws them, 'arbor log ID' reads one, 'arbor diff ID ID' compares two, 'arbor "
		"fork ID' goes on with one.\n",
	.params = branch_params,
	.kind = RESULT_STREAM,
	.fields = branch_fields,
	.empty = "nothing follows this message",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "branches 24bf71fb", "of a conversation" },
					      { "branches @ -n 5 --json", "the last five, for programs" },
					      { 0 } },
	.run = run_branches,
};
